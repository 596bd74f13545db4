/* Several streams, failures in both modes, and the way back: a failed context is replaced, the device stays. */
#include "check.h"

typedef struct Kernels { aclrtFuncHandle fail, add_one; } Kernels;

static void launch(aclrtFuncHandle kernel, aclrtStream stream, void *args, size_t bytes, int expected) {
    EXPECT(expected, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, args, bytes, NULL, 0));
}

static uint64_t read_counter(void *counter) {
    uint64_t value;
    EXPECT(0, aclrtMemcpy(&value, sizeof(value), counter, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

static void continue_on_failure(Kernels kernels, void *counter) {
    aclrtStream stream;
    int32_t code = ACL_ERROR_RT_AICORE_EXCEPTION;
    EXPECT(0, aclrtCreateStream(&stream));
    launch(kernels.fail, stream, &code, sizeof(code), 0);
    launch(kernels.add_one, stream, &counter, sizeof(counter), 0);
    EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    CHECK(read_counter(counter) == 1);
    EXPECT(0, aclrtDestroyStream(stream));
    printf("continue: failure reported once, the task behind it ran\n");
}

/* The failing stream was never set to STOP: the mode is the context's. */
static void stop_on_failure(Kernels kernels, void *counter) {
    aclrtContext context;
    aclrtStream failing, stopping, late;
    aclrtStreamStatus status;
    int32_t code = ACL_ERROR_RT_AICORE_EXCEPTION, other = ACL_ERROR_RT_AICORE_TIMEOUT;
    EXPECT(0, aclrtCreateContext(&context, 0));
    EXPECT(0, aclrtCreateStream(&failing));
    EXPECT(0, aclrtCreateStream(&stopping));
    EXPECT(0, aclrtSetStreamFailureMode(stopping, ACL_STOP_ON_FAILURE));
    launch(kernels.fail, failing, &code, sizeof(code), 0);
    EXPECT(code, aclrtSynchronizeStream(failing));
    launch(kernels.fail, stopping, &other, sizeof(other), code);
    EXPECT(code, aclrtSynchronizeStream(stopping));
    EXPECT(code, aclrtStreamQuery(stopping, &status));
    EXPECT(code, aclrtSynchronizeDevice());
    EXPECT(0, aclrtCreateStream(&late));
    launch(kernels.add_one, late, &counter, sizeof(counter), code);
    launch(kernels.add_one, NULL, &counter, sizeof(counter), code);
    CHECK(read_counter(counter) == 1); /* and synchronous copies still work */
    EXPECT(0, aclrtDestroyContext(context));
    printf("stop: the context refuses work on every stream\n");
}

static void recover(Kernels kernels, void *counter) {
    aclrtContext context;
    aclrtStream stream;
    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream)); /* the old one took the thread's context along */
    EXPECT(0, aclrtCreateContext(&context, 0));
    EXPECT(0, aclrtCreateStream(&stream));
    launch(kernels.add_one, stream, &counter, sizeof(counter), 0);
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(read_counter(counter) == 2);
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyContext(context));
    printf("recovered: new context, new streams, right result\n");
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    aclrtBinHandle binary;
    Kernels kernel;
    void *counter;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "fail", &kernel.fail));
    EXPECT(0, aclrtBinaryGetFunction(binary, "add_one", &kernel.add_one));
    EXPECT(0, aclrtMalloc(&counter, sizeof(uint64_t), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(counter, sizeof(uint64_t), 0, sizeof(uint64_t)));
    continue_on_failure(kernel, counter);
    stop_on_failure(kernel, counter);
    recover(kernel, counter);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtBinaryUnLoad(binary));
    EXPECT(0, aclrtResetDeviceForce(0));
    return 0;
}
