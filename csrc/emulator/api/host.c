/* Chapter 12, functions of the host as stream tasks. */
#include "api/api.h"
#include "engine/host.h"
#include "engine/report.h"

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) {
    ENTER();
    if (fn == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL"); }
    OWN_STREAM(queue, stream);
    if (!report_claim_for_host(queue)) {
        return FAIL(ACL_ERROR_RT_STREAM_SUBSCRIBE, "a report thread serves this stream");
    }
    return host_launch(queue, fn, args, __func__);
}

aclError aclrtGetThreadLastTaskId(uint32_t *taskId) {
    ENTER();
    REQUIRE(taskId);
    *taskId = emu_thread.last_task_id;
    return ACL_SUCCESS;
}
