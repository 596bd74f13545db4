/* The first program somebody writes: two streams, an event between them, host kernels, and the right result. */
#include "check.h"

enum { N = 4, LAUNCHES = 16 };

typedef struct Fill { void *out; uint32_t value; uint64_t n; } Fill;
typedef struct Add { void *x, *y, *out; uint64_t n; } Add;
typedef struct Append { void *log; uint64_t value; } Append;

static aclrtFuncHandle kernel(aclrtBinHandle binary, const char *name) {
    aclrtFuncHandle function;
    EXPECT(0, aclrtBinaryGetFunction(binary, name, &function));
    return function;
}

static void launch(aclrtFuncHandle function, aclrtStream stream, void *args, size_t bytes) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(function, 2, stream, NULL, args, bytes, NULL, 0));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    aclrtStream first, second;
    aclrtEvent filled;
    aclrtBinHandle binary;
    void *x, *y, *log;
    float ones[N] = {1, 1, 1, 1}, result[N];
    uint64_t order[LAUNCHES + 1] = {0};

    EXPECT(0, aclInit(NULL));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&first));
    EXPECT(0, aclrtCreateStreamWithConfig(&second, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    EXPECT(0, aclrtCreateEvent(&filled));
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtMalloc(&x, sizeof(ones), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMalloc(&y, sizeof(ones), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMalloc(&log, sizeof(order), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemcpy(x, sizeof(ones), ones, sizeof(ones), ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(0, aclrtMemset(log, sizeof(order), 0, sizeof(order)));

    Fill fill = {y, 0x40000000, N}; /* 2.0f */
    Add add = {x, y, x, N};
    launch(kernel(binary, "fill"), first, &fill, sizeof(fill));
    EXPECT(0, aclrtRecordEvent(filled, first));
    EXPECT(0, aclrtStreamWaitEvent(second, filled));
    launch(kernel(binary, "vector_add"), second, &add, sizeof(add));
    aclrtFuncHandle append = kernel(binary, "append");
    for (uint64_t i = 0; i < LAUNCHES; i++) {
        Append entry = {log, i};
        EXPECT(0, aclrtLaunchKernelWithHostArgs(append, 1, second, NULL, &entry, sizeof(entry), NULL, 0));
    }
    EXPECT(0, aclrtSynchronizeStream(second));
    EXPECT(0, aclrtMemcpy(result, sizeof(result), x, sizeof(result), ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(0, aclrtMemcpy(order, sizeof(order), log, sizeof(order), ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(order[0] == LAUNCHES);
    for (uint64_t i = 0; i < LAUNCHES; i++) { CHECK(order[i + 1] == i); }
    printf("%.1f %.1f %.1f %.1f, %d launches in order\n", (double)result[0], (double)result[1], (double)result[2],
           (double)result[3], LAUNCHES);

    EXPECT(0, aclrtDestroyEvent(filled));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    EXPECT(0, aclrtFree(x));
    EXPECT(0, aclrtFree(y));
    EXPECT(0, aclrtFree(log));
    EXPECT(0, aclrtBinaryUnLoad(binary));
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclFinalize());
    return 0;
}
