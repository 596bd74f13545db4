/* The sequence most programs make with one stream: create it fast, look at its flags, make it stop on failure, launch,
 * query, synchronize with a timeout, count what is left, destroy it by force. */
#include "check.h"

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle wait_flag;
    aclrtStreamStatus status;
    aclrtStreamAttrValue value;
    uint32_t flags, before, during, after, *flag;
    int32_t id;

    EXPECT(0, aclInit(NULL));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "wait_flag", &wait_flag));
    EXPECT(0, aclrtMalloc((void **)&flag, sizeof(*flag), ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(flag, sizeof(*flag), 0, sizeof(*flag)));
    EXPECT(0, aclrtGetStreamAvailableNum(&before));

    EXPECT(0, aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    EXPECT(0, aclrtStreamGetFlags(stream, &flags));
    printf("flags %u\n", flags);
    EXPECT(0, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(0, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    printf("failure mode %d\n", (int)value.failureMode);

    EXPECT(0, aclrtLaunchKernelWithHostArgs(wait_flag, 1, stream, NULL, &flag, sizeof(flag), NULL, 0));
    EXPECT(0, aclrtStreamQuery(stream, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    EXPECT(0, aclrtMemset(flag, sizeof(*flag), 1, sizeof(*flag)));
    EXPECT(0, aclrtSynchronizeStreamWithTimeout(stream, 5000));
    EXPECT(0, aclrtStreamQuery(stream, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);
    printf("query not ready, then complete\nsynchronized\n");

    EXPECT(0, aclrtGetStreamAvailableNum(&during));
    EXPECT(0, aclrtDestroyStreamForce(stream));
    EXPECT(0, aclrtGetStreamAvailableNum(&after));
    CHECK(during == before - 1 && after == before);
    printf("one stream less, then as before\n");
    printf("%d after destroy\n", aclrtStreamGetId(stream, &id));

    EXPECT(0, aclrtFree(flag));
    EXPECT(0, aclrtBinaryUnLoad(binary));
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclFinalize());
    return 0;
}
