/* The overflow status: raised by tasks, read and cleared in stream order, shared by the process. */
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { STATUS_BYTES = 64, WORDS = STATUS_BYTES / 4 };

static aclrtFuncHandle overflow, fail;
static uint32_t *status;
static char no_args[8];

static void launch(aclrtFuncHandle kernel, aclrtStream stream, void *args, size_t bytes) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, args, bytes, NULL, 0));
}

static uint32_t read_status(aclrtStream stream) {
    uint32_t copy[WORDS];
    memset(status, 0xFF, STATUS_BYTES);
    EXPECT(0, aclrtGetOverflowStatus(status, STATUS_BYTES, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtMemcpy(copy, sizeof(copy), status, STATUS_BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 1; i < WORDS; i++) { CHECK(copy[i] == 0); }
    return copy[0];
}

static void arguments(aclrtStream stream) {
    EXPECT(100000, aclrtGetOverflowStatus(NULL, STATUS_BYTES, stream));
    EXPECT(107000, aclrtGetOverflowStatus(status, 32, stream));
    EXPECT(107000, aclrtGetOverflowStatus(status, 65, NULL));
    EXPECT(107017, aclrtGetOverflowStatus(status, STATUS_BYTES, status));
    EXPECT(107017, aclrtResetOverflowStatus(status));
    EXPECT(100000, aclrtCtxGetFloatOverflowAddr(NULL));
    aclrtContext own, other;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&other, 0));
    EXPECT(107003, aclrtGetOverflowStatus(status, STATUS_BYTES, stream));
    EXPECT(107003, aclrtResetOverflowStatus(stream));
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtDestroyContext(other));
}

static void a_task_raises_it_until_it_is_cleared(aclrtStream stream, aclrtStream other) {
    CHECK(read_status(stream) == 0);
    launch(overflow, stream, no_args, sizeof(no_args));
    EXPECT(207003, aclrtSynchronizeStream(stream));
    CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) != 207003);
    CHECK(read_status(other) != 0); /* of the device, not of the stream */
    CHECK(read_status(stream) != 0);
    EXPECT(0, aclrtResetOverflowStatus(NULL));
    EXPECT(0, aclrtSynchronizeStream(NULL));
    CHECK(read_status(stream) == 0);
}

/* The answer belongs to the place in the queue, not to the time of the call. */
static void it_is_read_in_stream_order(aclrtStream stream) {
    uint32_t *before = status, *after = status + WORDS, *cleared = status + 2 * WORDS;
    memset(status, 0xFF, 3 * STATUS_BYTES);
    int32_t id, code = 207016;
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuHoldStream(id, 1));
    EXPECT(0, aclrtGetOverflowStatus(before, STATUS_BYTES, stream));
    launch(fail, stream, &code, sizeof(code));
    EXPECT(0, aclrtGetOverflowStatus(after, STATUS_BYTES, stream));
    EXPECT(0, aclrtResetOverflowStatus(stream));
    EXPECT(0, aclrtGetOverflowStatus(cleared, STATUS_BYTES, stream));
    CHECK(after[0] == 0xFFFFFFFF);
    EXPECT(0, pyaclEmuHoldStream(id, 0));
    EXPECT(207016, aclrtSynchronizeStream(stream));
    CHECK(before[0] == 0);
    CHECK(after[0] != 0 && after[0] != 0xFFFFFFFF);
    CHECK(cleared[0] == 0);
}

static void other_failures_leave_it_alone(aclrtStream stream) {
    int32_t code = ACL_ERROR_RT_AICORE_EXCEPTION;
    launch(fail, stream, &code, sizeof(code));
    EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
    CHECK(read_status(stream) == 0);
}

/* The whole process on A2 (the default product), through the area's address as well. */
static void other_devices_share_it(aclrtStream stream) {
    void *area, *area_of_other;
    aclrtStream remote;
    EXPECT(0, aclrtCtxGetFloatOverflowAddr(&area));
    EXPECT(0, aclrtSetDevice(1));
    EXPECT(0, aclrtCtxGetFloatOverflowAddr(&area_of_other));
    bool shared = strncmp(aclrtGetSocName(), "Ascend310", 9) != 0 && strcmp(aclrtGetSocName(), "Ascend910A") != 0;
    CHECK((area == area_of_other) == shared);
    EXPECT(0, aclrtCreateStream(&remote));
    int32_t code = 207017;
    launch(fail, remote, &code, sizeof(code));
    EXPECT(207017, aclrtSynchronizeStream(remote));
    EXPECT(0, aclrtSetDevice(0));
    CHECK((read_status(stream) != 0) == shared);
    EXPECT(0, aclrtResetOverflowStatus(stream));
    CHECK(read_status(stream) == 0);
    uint32_t word;
    EXPECT(0, aclrtMemcpy(&word, sizeof(word), area, sizeof(word), ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(word == 0);
    EXPECT(0, aclrtSetDevice(1));
    EXPECT(0, aclrtDestroyStream(remote));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtResetDevice(1));
    EXPECT(0, aclrtResetDevice(1));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    void *area;
    EXPECT(107002, aclrtCtxGetFloatOverflowAddr(&area));
    EXPECT(107002, aclrtResetOverflowStatus(NULL));
    EXPECT(107002, aclrtGetOverflowStatus(&area, STATUS_BYTES, NULL));
    EXPECT(0, aclrtSetDevice(0));
    aclrtBinHandle binary;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "overflow", &overflow));
    EXPECT(0, aclrtBinaryGetFunction(binary, "fail", &fail));
    EXPECT(0, aclrtMalloc((void **)&status, 3 * STATUS_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtStream stream, other;
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateStream(&other));
    arguments(stream);
    a_task_raises_it_until_it_is_cleared(stream, other);
    it_is_read_in_stream_order(stream);
    other_failures_leave_it_alone(stream);
    other_devices_share_it(stream);
    EXPECT(0, aclrtResetDeviceForce(0));
    return 0;
}
