/* Chapters 04 and 05, the floating-point overflow status. */
#include "engine/overflow.h"

#include "api/api.h"
#include "api/capture.h"

aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream) {
    ENTER();
    REQUIRE(outputAddr);
    if (stream != NULL) {
        ANY_STREAM(valid, stream);
        (void)valid;
    }
    if (outputSize != OVERFLOW_STATUS_BYTES) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "outputSize is %zu, not %d", outputSize, OVERFLOW_STATUS_BYTES);
    }
    OWN_STREAM(queue, stream);
    TRY(capture_refuse(__func__, queue));
    return overflow_read(queue, outputAddr, __func__);
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
    ENTER();
    OWN_STREAM(queue, stream);
    TRY(capture_refuse(__func__, queue));
    return overflow_clear(queue, __func__);
}

aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr) {
    ENTER();
    REQUIRE(overflowAddr);
    CURRENT_CONTEXT(context);
    *overflowAddr = overflow_area(context->device);
    return ACL_SUCCESS;
}
