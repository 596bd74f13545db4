/* Chapter 12, callbacks that a thread of the program runs for streams. */
#include <pthread.h>

#include "api/api.h"
#include "api/capture.h"
#include "engine/report.h"

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
    ENTER();
    ANY_STREAM(queue, stream); /* of other contexts too */
    TRY(capture_refuse(__func__, queue));
    return report_subscribe(queue, threadId, __func__);
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
    ENTER();
    ANY_STREAM(queue, stream);
    return report_unsubscribe(queue, threadId, __func__);
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
    ENTER();
    if ((unsigned)blockType > ACL_CALLBACK_BLOCK) { return INVALID("blockType is unknown"); }
    if (fn == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL"); }
    OWN_STREAM(queue, stream);
    TRY(capture_refuse(__func__, queue));
    return report_launch(queue, fn, userData, blockType == ACL_CALLBACK_BLOCK, __func__);
}

aclError aclrtProcessReport(int32_t timeout) {
    ENTER();
    if (timeout == 0 || timeout < -1) { return INVALID("timeout is neither -1 nor positive"); }
    uint64_t timeout_ns = timeout < 0 ? FOREVER : (uint64_t)timeout * NS_PER_MS;
    return report_process((uint64_t)pthread_self(), timeout_ns, __func__);
}
