/* Chapter 08, notifies. */
#include "engine/notify.h"

#include "api/api.h"

#define DEFAULT_TIMEOUT UINT32_MAX /* which is: for ever */

#define FIND_NOTIFY(notify, handle) \
    Notify *notify;                 \
    TRY(notify_find(__func__, (handle), &notify))

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag) {
    ENTER();
    REQUIRE(notify);
    if (flag != ACL_NOTIFY_DEFAULT && flag != ACL_NOTIFY_DEVICE_USE_ONLY) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%llx", (unsigned long long)flag);
    }
    CURRENT_CONTEXT(context);
    Notify *made;
    TRY(notify_create(context->device, &made, __func__));
    *notify = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
    ENTER();
    REQUIRE(notify);
    FIND_NOTIFY(found, notify);
    notify_destroy(found);
    return ACL_SUCCESS;
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId) {
    ENTER();
    REQUIRE(notify);
    REQUIRE(notifyId);
    FIND_NOTIFY(found, notify);
    *notifyId = (uint32_t)found->id;
    return ACL_SUCCESS;
}

/* From any device: that is what notifies are for. */
aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
    ENTER();
    REQUIRE(notify);
    FIND_NOTIFY(found, notify);
    OWN_STREAM(queue, stream);
    return notify_record(found, queue, __func__);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
    ENTER();
    REQUIRE(notify);
    FIND_NOTIFY(found, notify);
    OWN_STREAM(queue, stream);
    if (found->imported && queue->context->device != found->device) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "an imported notify can be waited for on its device %d only",
                    found->device->id);
    }
    return notify_wait(found, queue, timeout == DEFAULT_TIMEOUT ? 0 : timeout * NS_PER_S, __func__);
}

/* ---- other processes ---- */

enum { SHORTEST_KEY_BUFFER = 65 };

/* Exporting again gives the same key; the process check, once off, stays off. */
aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags) {
    ENTER();
    REQUIRE(notify);
    REQUIRE(key);
    FIND_NOTIFY(found, notify);
    if (len < SHORTEST_KEY_BUFFER) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes for the key", len); }
    if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx", (unsigned long long)flags);
    }
    if (found->imported) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "an imported notify cannot be exported"); }
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(SOC_IPC_MEM);
    TRY(notify_export(found, key, __func__));
    if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT) { atomic_store(&found->shared->open_to_all, true); }
    return ACL_SUCCESS;
}

aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags) {
    ENTER();
    REQUIRE(notify);
    REQUIRE(key);
    if (flags != ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx", (unsigned long long)flags);
    }
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(SOC_IPC_MEM);
    Notify *made;
    TRY(notify_import(key, &made, __func__));
    *notify = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num) {
    ENTER();
    REQUIRE(notify);
    REQUIRE(pid);
    FIND_NOTIFY(found, notify);
    if (num == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "num is 0"); }
    NEED_FEATURE(SOC_IPC_MEM);
    if (found->imported || found->shared == NULL) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the notify was not exported by this process");
    }
    if (shared_allow(found->shared, pid, num)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_PARAM_INVALID, "more than %d processes", SHARED_PIDS);
}

/* ---- many at once ---- */

/* All or none: the handles are checked first. */
aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num) {
    ENTER();
    REQUIRE(notifies);
    if (num == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "num is 0"); }
    for (size_t i = 0; i < num; i++) {
        if (notifies[i] == NULL) { return INVALID("one of the notifies is NULL"); }
        FIND_NOTIFY(found, notifies[i]);
        (void)found;
    }
    NEED_FEATURE(SOC_NOTIFY_RESET);
    for (size_t i = 0; i < num; i++) {
        FIND_NOTIFY(found, notifies[i]);
        notify_reset(found);
    }
    return ACL_SUCCESS;
}
