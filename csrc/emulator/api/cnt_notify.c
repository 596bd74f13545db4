/* Chapter 09, counting notifies: one product only (950). */
#include "engine/cnt_notify.h"

#include "api/api.h"

#define FIND_NOTIFY(notify, handle) \
    CntNotify *notify;              \
    TRY(cnt_notify_find(__func__, (handle), &notify))

/* The one create call whose NULL is found by the runtime layer only. */
aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag) {
    ENTER();
    if (cntNotify == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "cntNotify is NULL"); }
    if (flag != ACL_NOTIFY_DEFAULT && flag != ACL_NOTIFY_DEVICE_USE_ONLY) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%llx", (unsigned long long)flag);
    }
    CURRENT_CONTEXT(context);
    NEED_FEATURE(SOC_CNT_NOTIFY);
    CntNotify *made;
    TRY(cnt_notify_create(context->device, &made, __func__));
    *cntNotify = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
    ENTER();
    REQUIRE(cntNotify);
    NEED_FEATURE(SOC_CNT_NOTIFY);
    FIND_NOTIFY(found, cntNotify);
    cnt_notify_destroy(found);
    return ACL_SUCCESS;
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId) {
    ENTER();
    REQUIRE(cntNotify);
    REQUIRE(notifyId);
    NEED_FEATURE(SOC_CNT_NOTIFY);
    FIND_NOTIFY(found, cntNotify);
    *notifyId = (uint32_t)found->id;
    return ACL_SUCCESS;
}

static bool is_record_mode(aclrtCntNotifyRecordMode mode) {
    return mode == ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE || mode == ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE ||
           mode == ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE || mode == ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE;
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info) {
    ENTER();
    REQUIRE(cntNotify);
    REQUIRE(info);
    NEED_FEATURE(SOC_CNT_NOTIFY);
    FIND_NOTIFY(found, cntNotify);
    if (!is_record_mode(info->mode)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "record mode %d", (int)info->mode); }
    OWN_STREAM(queue, stream);
    return cnt_notify_record(found, queue, info, __func__);
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info) {
    ENTER();
    REQUIRE(cntNotify);
    REQUIRE(info);
    NEED_FEATURE(SOC_CNT_NOTIFY);
    FIND_NOTIFY(found, cntNotify);
    if ((unsigned)info->mode > ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "wait mode %d", (int)info->mode);
    }
    OWN_STREAM(queue, stream);
    return cnt_notify_wait(found, queue, info, __func__);
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
    ENTER();
    REQUIRE(cntNotify);
    NEED_FEATURE(SOC_CNT_NOTIFY);
    FIND_NOTIFY(found, cntNotify);
    OWN_STREAM(queue, stream);
    return cnt_notify_reset(found, queue, __func__);
}
