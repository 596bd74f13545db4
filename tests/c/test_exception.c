/* Exception callbacks: who is told of a failed task, when, and what may be asked about it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "pyacl/emulator.h"

static aclrtBinHandle binary;
static aclrtFuncHandle noop, fail_kernel, overflow;
static aclrtStream stream;

static void load(void) {
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "noop", &noop));
    EXPECT(0, aclrtBinaryGetFunction(binary, "fail", &fail_kernel));
    EXPECT(0, aclrtBinaryGetFunction(binary, "overflow", &overflow));
}

static void launch(aclrtFuncHandle kernel, int32_t code) {
    int32_t args[2] = {code, 77};
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, args, sizeof(args), NULL, 0));
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* ---- callbacks ---- */

static _Atomic(int) slot_calls, added_calls, other_calls, binary_calls;

typedef struct Seen {
    uint32_t task, stream, thread, device, code;
    aclError args_code, function_code;
    int32_t args[2];
    uint32_t args_size;
    aclrtFuncHandle function;
    pthread_t caller;
} Seen;

static Seen seen;

static void look(aclrtExceptionInfo *info) {
    seen.task = aclrtGetTaskIdFromExceptionInfo(info);
    seen.stream = aclrtGetStreamIdFromExceptionInfo(info);
    seen.thread = aclrtGetThreadIdFromExceptionInfo(info);
    seen.device = aclrtGetDeviceIdFromExceptionInfo(info);
    seen.code = aclrtGetErrorCodeFromExceptionInfo(info);
    void *args = NULL;
    seen.args_code = aclrtGetArgsFromExceptionInfo(info, &args, &seen.args_size);
    if (seen.args_code == 0) { memcpy(seen.args, args, seen.args_size < 8 ? seen.args_size : 8); }
    seen.function_code = aclrtGetFuncHandleFromExceptionInfo(info, &seen.function);
    seen.caller = pthread_self();
    EXPECT(100000, aclrtGetArgsFromExceptionInfo(info, NULL, &seen.args_size));
    pause_ms(30); /* the synchronize must not be faster */
    atomic_fetch_add(&slot_calls, 1);
}

static void count_added(aclrtExceptionInfo *info) {
    CHECK(info != NULL);
    atomic_fetch_add(&added_calls, 1);
}

static void count_other(aclrtExceptionInfo *info) {
    CHECK(info != NULL);
    atomic_fetch_add(&other_calls, 1);
}

static void count_binary(aclrtExceptionInfo *info, void *user_data) {
    CHECK(info != NULL && user_data == &binary_calls);
    CHECK(atomic_load(&slot_calls) == 1); /* after the others */
    atomic_fetch_add(&binary_calls, 1);
}

/* ---- tests ---- */

static void arguments(void) {
    void *args;
    uint32_t size;
    aclrtFuncHandle function;
    EXPECT(107000, aclrtExceptionInfoCallbackRegister(NULL));
    EXPECT(107000, aclrtExceptionInfoCallbackUnregister(NULL));
    EXPECT(0, aclrtExceptionInfoCallbackUnregister(count_added));
    EXPECT(100000, aclrtBinarySetExceptionCallback(NULL, count_binary, NULL));
    EXPECT(100000, aclrtBinarySetExceptionCallback(binary, NULL, NULL));
    EXPECT(107017, aclrtBinarySetExceptionCallback(noop, count_binary, NULL));
    CHECK(aclrtGetTaskIdFromExceptionInfo(NULL) == UINT32_MAX);
    CHECK(aclrtGetStreamIdFromExceptionInfo(NULL) == UINT32_MAX);
    CHECK(aclrtGetThreadIdFromExceptionInfo(NULL) == UINT32_MAX);
    CHECK(aclrtGetDeviceIdFromExceptionInfo(NULL) == UINT32_MAX);
    CHECK(aclrtGetErrorCodeFromExceptionInfo(NULL) == UINT32_MAX);
    EXPECT(-1, aclrtGetArgsFromExceptionInfo(NULL, &args, &size));
    EXPECT(100000, aclrtGetFuncHandleFromExceptionInfo(NULL, &function));
}

static void the_failure_is_told_before_the_synchronize_returns(void) {
    uint32_t task;
    int32_t id;
    EXPECT(0, aclrtSetExceptionInfoCallback(look));
    EXPECT(0, aclrtExceptionInfoCallbackRegister(count_added));
    EXPECT(0, aclrtExceptionInfoCallbackRegister(count_added)); /* counts once */
    EXPECT(0, aclrtExceptionInfoCallbackRegister(count_other));
    EXPECT(0, aclrtBinarySetExceptionCallback(binary, count_binary, &binary_calls));
    EXPECT(0, aclrtStreamGetId(stream, &id));
    launch(noop, 0);
    launch(fail_kernel, 507035);
    EXPECT(0, aclrtGetThreadLastTaskId(&task));
    launch(noop, 0);
    EXPECT(507035, aclrtSynchronizeStream(stream));
    CHECK(slot_calls == 1 && added_calls == 1 && other_calls == 1);
    CHECK(binary_calls == 1);
    CHECK(seen.task == task && seen.stream == (uint32_t)id && seen.device == 0);
    CHECK(seen.thread == (uint32_t)gettid());
    CHECK(seen.code != 0 && seen.code != 507035); /* the device's own number */
    CHECK(seen.args_code == 0 && seen.args_size == 8 && seen.args[0] == 507035 && seen.args[1] == 77);
    CHECK(seen.function_code == 0 && seen.function == fail_kernel);
    CHECK(!pthread_equal(seen.caller, pthread_self()));
}

static void an_overflow_is_no_exception(void) {
    launch(overflow, 0);
    EXPECT(207003, aclrtSynchronizeStream(stream));
    pause_ms(20);
    CHECK(slot_calls == 1 && added_calls == 1);
}

static void nobody_is_told_after_taking_leave(void) {
    EXPECT(0, aclrtSetExceptionInfoCallback(NULL));
    EXPECT(0, aclrtExceptionInfoCallbackUnregister(count_added));
    launch(fail_kernel, 507015);
    EXPECT(507015, aclrtSynchronizeStream(stream));
    CHECK(slot_calls == 1 && added_calls == 1 && other_calls == 2);
    EXPECT(0, aclrtExceptionInfoCallbackUnregister(count_other));
}

/* A failure that is no kernel's: it has no arguments and no function. */
static void other_tasks_are_told_too(void) {
    int32_t id;
    void *memory;
    EXPECT(0, aclrtSetExceptionInfoCallback(look));
    EXPECT(0, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuFailNextTask(id, 507013));
    EXPECT(0, aclrtMemsetAsync(memory, 64, 0, 64, stream));
    EXPECT(507013, aclrtSynchronizeStream(stream));
    CHECK(slot_calls == 2);
    CHECK(seen.args_code == -1 && seen.function_code == 107000);
    EXPECT(0, aclrtFree(memory));
}

static aclError inner_code, inner_sync;

static void use_the_runtime(aclrtExceptionInfo *info) {
    uint32_t device = aclrtGetDeviceIdFromExceptionInfo(info);
    aclrtStream own;
    inner_code = aclrtSetDevice((int32_t)device);
    EXPECT(0, aclrtCreateStream(&own));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(noop, 1, own, NULL, &device, sizeof(device), NULL, 0));
    inner_sync = aclrtSynchronizeStream(own);
    EXPECT(0, aclrtDestroyStream(own));
    EXPECT(0, aclrtResetDevice((int32_t)device));
}

static void a_callback_may_call_the_runtime(void) {
    EXPECT(0, aclrtSetExceptionInfoCallback(use_the_runtime));
    inner_code = inner_sync = -1;
    launch(fail_kernel, 507035);
    EXPECT(507035, aclrtSynchronizeStream(stream));
    CHECK(inner_code == 0 && inner_sync == 0);
}

static void in_stop_mode_too(void) {
    aclrtContext own, context;
    aclrtStream outer = stream;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&context, 0));
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(0, aclrtSetExceptionInfoCallback(look));
    int before = slot_calls;
    launch(fail_kernel, 507035);
    EXPECT(507035, aclrtSynchronizeStream(stream));
    CHECK(slot_calls == before + 1);
    EXPECT(507035, aclrtSynchronizeStream(stream));
    CHECK(slot_calls == before + 1);
    EXPECT(0, aclrtSetExceptionInfoCallback(NULL));
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtDestroyContext(context));
    stream = outer;
}

enum { THREADS = 4, FAILURES = 50 };

static void *fail_often(void *unused) {
    aclrtStream own;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&own));
    for (int i = 0; i < FAILURES; i++) {
        int32_t code = 507035;
        EXPECT(0, aclrtLaunchKernelWithHostArgs(fail_kernel, 1, own, NULL, &code, sizeof(code), NULL, 0));
        int before = atomic_load(&other_calls);
        EXPECT(507035, aclrtSynchronizeStream(own));
        CHECK(atomic_load(&other_calls) > 0 && atomic_load(&other_calls) >= before);
    }
    EXPECT(0, aclrtDestroyStream(own));
    EXPECT(0, aclrtResetDevice(0));
    return unused;
}

static void each_failure_is_told_once(void) {
    pthread_t threads[THREADS];
    EXPECT(0, aclrtExceptionInfoCallbackRegister(count_other));
    atomic_store(&other_calls, 0);
    for (int i = 0; i < THREADS; i++) { CHECK(pthread_create(&threads[i], NULL, fail_often, NULL) == 0); }
    for (int i = 0; i < THREADS; i++) { CHECK(pthread_join(threads[i], NULL) == 0); }
    CHECK(atomic_load(&other_calls) == THREADS * FAILURES);
    EXPECT(0, aclrtExceptionInfoCallbackUnregister(count_other));
}

static void the_binary_takes_its_callback_along(void) {
    aclrtBinHandle second;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &second));
    EXPECT(0, aclrtBinarySetExceptionCallback(second, count_binary, NULL));
    EXPECT(0, aclrtBinaryUnLoad(second));
    EXPECT(107017, aclrtBinarySetExceptionCallback(second, count_binary, NULL));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    load();
    arguments();
    the_failure_is_told_before_the_synchronize_returns();
    EXPECT(0, aclrtBinaryUnLoad(binary)); /* and its callback with it */
    load();
    an_overflow_is_no_exception();
    nobody_is_told_after_taking_leave();
    other_tasks_are_told_too();
    a_callback_may_call_the_runtime();
    in_stop_mode_too();
    each_failure_is_told_once();
    the_binary_takes_its_callback_along();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
