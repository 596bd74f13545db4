/* Chapter 07, events between processes: the handle that one gives and another opens. */
#include "engine/event_ipc.h"

#include <string.h>

#include "api/api.h"

_Static_assert(sizeof(aclrtIpcEventHandle) == SHARED_KEY_BYTES, "the handle is the key");

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle) {
    ENTER();
    REQUIRE(event);
    REQUIRE(handle);
    Event *found;
    TRY(event_find(__func__, event, &found));
    NEED_FEATURE(SOC_IPC_EVENT);
    if (found->shared == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the event was made without ACL_EVENT_IPC"); }
    memset(handle, 0, sizeof(*handle));
    if (shared_key(found->shared, handle->reserved)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the event comes from another process");
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event) {
    ENTER();
    REQUIRE(event);
    CURRENT_CONTEXT(context);
    NEED_FEATURE(SOC_IPC_EVENT);
    handle.reserved[SHARED_KEY_BYTES - 1] = '\0';
    Event *opened;
    TRY(event_ipc_open(context, handle.reserved, &opened, __func__));
    *event = opened->handle;
    return ACL_SUCCESS;
}
