/* aclrtStreamStop ends the task at the head and nothing else: an event record that it meets still happens, so that
 * what waits for it goes on. */
#include "check.h"

enum { ROUNDS = 2000 };

static void records_survive(void) {
    aclrtStream stream;
    aclrtEvent event;
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateEvent(&event));
    for (int i = 0; i < ROUNDS; i++) {
        EXPECT(0, aclrtRecordEvent(event, stream));
        EXPECT(0, aclrtStreamWaitEvent(stream, event));
        EXPECT(0, aclrtStreamStop(stream));
        EXPECT(0, aclrtSynchronizeStreamWithTimeout(stream, 5000));
    }
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyStream(stream));
}

static void only_the_running_kernel_ends(void) {
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle wait_flag, add_one;
    uint32_t *never;
    uint64_t *counter, value;
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "wait_flag", &wait_flag));
    EXPECT(0, aclrtBinaryGetFunction(binary, "add_one", &add_one));
    EXPECT(0, aclrtMalloc((void **)&never, sizeof(*never), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMalloc((void **)&counter, sizeof(*counter), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(never, sizeof(*never), 0, sizeof(*never)));
    EXPECT(0, aclrtMemset(counter, sizeof(*counter), 0, sizeof(*counter)));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(wait_flag, 1, stream, NULL, &never, sizeof(never), NULL, 0));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(add_one, 1, stream, NULL, &counter, sizeof(counter), NULL, 0));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    EXPECT(0, aclrtStreamStop(stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtMemcpy(&value, sizeof(value), counter, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(value == 1);
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(never));
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtBinaryUnLoad(binary));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    EXPECT(0, aclrtSetDevice(0));
    records_survive();
    only_the_running_kernel_ends();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
