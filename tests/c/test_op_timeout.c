/* Time limits of kernels: of the process, of one launch, and that a kernel within its limit is left alone. */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "check.h"

static aclrtFuncHandle spin, wait_flag, set_flag, vector_spin;
static aclrtStream stream;

#define MS 1000000ULL /* in ns */

static aclrtFuncHandle load(uint32_t magic, const char *name) {
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_MAGIC, .value = {.magic = magic}};
    aclrtBinaryLoadOptions options = {&option, 1};
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), &options, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, name, &function));
    return function;
}

static void launch(aclrtFuncHandle kernel, uint64_t value, aclrtLaunchKernelCfg *config) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, config, &value, sizeof(value), NULL, 0));
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000U + (uint64_t)now.tv_nsec / 1000000U;
}

static void arguments(void) {
    uint64_t actual, interval;
    uint32_t ms;
    EXPECT(100000, aclrtSetOpExecuteTimeOutV2(1000, NULL));
    EXPECT(100000, aclrtGetOpTimeOutInterval(NULL));
    EXPECT(100000, aclrtGetOpExecuteTimeout(NULL));
    EXPECT(0, aclrtGetOpTimeOutInterval(&interval));
    CHECK(interval > 0);
    EXPECT(0, aclrtSetOpExecuteTimeOutV2(0, &actual)); /* the maximum */
    uint64_t most = actual;
    CHECK(most > 60 * 1000000ULL);
    EXPECT(0, aclrtSetOpExecuteTimeOutV2(most + 1, &actual));
    CHECK(actual == most);
    EXPECT(0, aclrtSetOpExecuteTimeOutV2(interval + 1, &actual));
    CHECK(actual == 2 * interval);
    EXPECT(0, aclrtSetOpExecuteTimeOut(3));
    EXPECT(0, aclrtGetOpExecuteTimeout(&ms));
    CHECK(ms == 3000);
    EXPECT(0, aclrtSetOpExecuteTimeOutWithMs(50));
    EXPECT(0, aclrtGetOpExecuteTimeout(&ms));
    CHECK(ms == 50);
}

static void a_kernel_that_outlives_the_limit_fails(void) {
    EXPECT(0, aclrtSetOpExecuteTimeOutWithMs(50));
    uint64_t start = now_ms();
    launch(spin, 20000 * MS, NULL);
    EXPECT(507014, aclrtSynchronizeStream(stream));
    uint64_t took = now_ms() - start;
    CHECK(took >= 49 && took < 10000);
    launch(vector_spin, 20000 * MS, NULL);
    EXPECT(507034, aclrtSynchronizeStream(stream));
    launch(spin, 1 * MS, NULL);
    EXPECT(0, aclrtSynchronizeStream(stream));
}

/* Only the running time counts, not the time in the queue. */
static void waiting_is_free(void) {
    EXPECT(0, aclrtSetOpExecuteTimeOutWithMs(100));
    for (int i = 0; i < 5; i++) { launch(spin, 40 * MS, NULL); }
    EXPECT(0, aclrtSynchronizeStream(stream));
}

static void a_launch_may_have_its_own_limit(void) {
    aclrtLaunchKernelAttr attribute = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, .value = {.timeoutUs = {30000, 0}}};
    aclrtLaunchKernelCfg config = {&attribute, 1};
    EXPECT(0, aclrtSetOpExecuteTimeOut(0));
    launch(spin, 20000 * MS, &config);
    launch(spin, 50 * MS, NULL);
    EXPECT(507014, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtSetOpExecuteTimeOutWithMs(30));
    attribute = (aclrtLaunchKernelAttr){.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, .value = {.timeout = 5}};
    launch(spin, 60 * MS, &config);
    EXPECT(0, aclrtSynchronizeStream(stream));
    attribute.value.timeout = 0; /* for ever */
    launch(spin, 60 * MS, &config);
    EXPECT(0, aclrtSynchronizeStream(stream));
    aclrtLaunchKernelAttr both[] = {attribute, {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US}};
    config = (aclrtLaunchKernelCfg){both, 2};
    uint64_t value = 0;
    EXPECT(107000, aclrtLaunchKernelWithHostArgs(spin, 1, stream, &config, &value, sizeof(value), NULL, 0));
}

/* The limit of one stream's kernel is nobody else's, and its arguments arrive as ever. */
static void others_go_on(void) {
    aclrtStream other;
    uint64_t args[40] = {0}; /* more than fit into a task */
    void *flag;
    uint32_t zero = 0;
    EXPECT(0, aclrtSetOpExecuteTimeOutWithMs(60));
    EXPECT(0, aclrtCreateStream(&other));
    EXPECT(0, aclrtMalloc(&flag, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT(0, aclrtMemcpy(flag, 4, &zero, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    args[0] = (uint64_t)(uintptr_t)flag;
    launch(wait_flag, args[0], NULL);
    EXPECT(0, aclrtLaunchKernelWithHostArgs(spin, 1, other, NULL, args + 1, 8, NULL, 0));
    EXPECT(0, aclrtSynchronizeStream(other));
    EXPECT(507014, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(wait_flag, 1, stream, NULL, args, sizeof(args), NULL, 0));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(set_flag, 1, other, NULL, args, sizeof(args), NULL, 0));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtDestroyStream(other));
    EXPECT(0, aclrtFree(flag));
}

static void an_abort_wins(void) {
    EXPECT(0, aclrtSetOpExecuteTimeOut(10));
    launch(spin, 20000 * MS, NULL);
    EXPECT(0, aclrtStreamAbort(stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
}

static void device_args_have_a_limit_too(void) {
    void *args;
    uint64_t ns = 20000 * MS;
    EXPECT(0, aclrtSetOpExecuteTimeOutWithMs(20));
    EXPECT(0, aclrtMalloc(&args, 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT(0, aclrtMemcpy(args, 8, &ns, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(0, aclrtLaunchKernel(spin, 1, args, 8, stream));
    EXPECT(507014, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtFree(args));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    uint64_t interval;
    EXPECT(107002, aclrtGetOpTimeOutInterval(&interval));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    spin = load(ACL_RT_BINARY_MAGIC_ELF_AICORE, "spin");
    vector_spin = load(ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE, "spin");
    wait_flag = load(ACL_RT_BINARY_MAGIC_ELF_AICORE, "wait_flag");
    set_flag = load(ACL_RT_BINARY_MAGIC_ELF_AICORE, "set_flag");
    arguments();
    a_kernel_that_outlives_the_limit_fails();
    waiting_is_free();
    a_launch_may_have_its_own_limit();
    others_go_on();
    an_abort_wins();
    device_args_have_a_limit_too();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
