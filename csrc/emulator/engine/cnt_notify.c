/* Counting notifies: see cnt_notify.h. */
#include "engine/cnt_notify.h"

#include "engine/error.h"
#include "engine/handle.h"
#include "engine/ids.h"
#include "engine/pool.h"
#include "soc/soc.h"

static Pool notifies = POOL(CntNotify, pool_next);
static Ids ids = IDS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* `value` and `waiting` of every counting notify */

/* ---- life ---- */

static CntNotify *make(Device *device, int32_t id) {
    int fresh;
    CntNotify *notify = pool_take(&notifies, &fresh);
    if (notify == NULL) { return NULL; }
    notify->handle = handle_new(KIND_CNT_NOTIFY, notify);
    if (notify->handle == NULL) {
        pool_give(&notifies, notify);
        return NULL;
    }
    notify->device = device;
    notify->id = id;
    notify->value = 0;
    atomic_store(&notify->references, 1);
    return notify;
}

aclError cnt_notify_create(Device *device, CntNotify **out, const char *api) {
    int32_t id = ids_take(&ids, device->id, soc_product()->notifies);
    if (id < 0) {
        return emu_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, api, "all %u counting notifies of device %d are in use",
                        soc_product()->notifies, device->id);
    }
    *out = make(device, id);
    if (*out != NULL) { return ACL_SUCCESS; }
    ids_give(&ids, device->id, id);
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a counting notify");
}

static CntNotify *retain(CntNotify *notify) {
    atomic_fetch_add_explicit(&notify->references, 1, memory_order_relaxed);
    return notify;
}

static void release(CntNotify *notify) {
    if (atomic_fetch_sub(&notify->references, 1) != 1) { return; }
    ids_give(&ids, notify->device->id, notify->id);
    pool_give(&notifies, notify);
}

void cnt_notify_destroy(CntNotify *notify) {
    handle_drop(notify->handle);
    release(notify);
}

aclError cnt_notify_find(const char *api, aclrtCntNotify handle, CntNotify **notify) {
    *notify = handle_get(KIND_CNT_NOTIFY, handle);
    if (*notify != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no counting notify, or one that was destroyed", handle);
}

uint64_t cnt_notify_live_count(void) { return pool_live(&notifies); }

/* ---- the value ---- */

static uint32_t changed(uint32_t value, int mode, uint32_t operand) {
    switch (mode) {
    case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE: return value + operand;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE: return value | operand;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE: return value & operand;
    default: return operand;
    }
}

static bool holds(uint32_t value, int mode, uint32_t operand) {
    switch (mode) {
    case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE: return value < operand;
    case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE: return value == operand;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE: return value > operand;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE: return value >= operand;
    default: return (value & operand) == operand;
    }
}

static void set(CntNotify *notify, uint32_t value) {
    notify->value = value;
    park_wake_all(&notify->waiting);
}

static bool pass_or_park(CntNotify *notify, Stream *stream, const CntNotifyTask *wait) {
    pthread_mutex_lock(&lock);
    bool passed = holds(notify->value, wait->mode, wait->value);
    if (passed) {
        park_remove(&notify->waiting, stream);
        if (wait->clear) { set(notify, 0); }
    } else {
        park_add(&notify->waiting, stream);
    }
    pthread_mutex_unlock(&lock);
    return passed;
}

static void leave(CntNotify *notify, Stream *stream) {
    pthread_mutex_lock(&lock);
    park_remove(&notify->waiting, stream);
    pthread_mutex_unlock(&lock);
}

/* ---- tasks ---- */

static int32_t run_record(Stream *stream, Task *task) {
    (void)stream;
    const CntNotifyTask *record = &task->as.cnt_notify;
    pthread_mutex_lock(&lock);
    set(record->notify, changed(record->notify->value, record->mode, record->value));
    pthread_mutex_unlock(&lock);
    return 0;
}

static int32_t run_wait(Stream *stream, Task *task) {
    CntNotifyTask *wait = &task->as.cnt_notify;
    bool passed = pass_or_park(wait->notify, stream, wait);
    if (!passed && !park_expired(stream, wait->timeout_ns)) { return TASK_PARKED; }
    if (!passed) { leave(wait->notify, stream); }
    if (wait->timeout_ns != 0) { scheduler_disarm_timer(stream); }
    return passed ? 0 : ACL_ERROR_RT_TASK_TIMEOUT;
}

static bool drop_wait(Stream *stream, Task *task, DropReason reason) {
    (void)reason;
    leave(task->as.cnt_notify.notify, stream);
    scheduler_disarm_timer(stream);
    return true;
}

static void release_task(Task *task) { release(task->as.cnt_notify.notify); }

static const TaskOps record_ops = {.name = "counting notify record", .run = run_record, .release = release_task};
static const TaskOps wait_ops = {
    .name = "counting notify wait", .run = run_wait, .drop = drop_wait, .release = release_task};

static aclError submit(CntNotify *notify, Stream *stream, const TaskOps *ops, CntNotifyTask content, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, ops, &task));
    content.notify = retain(notify);
    task->as.cnt_notify = content;
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError cnt_notify_record(CntNotify *notify, Stream *stream, const aclrtCntNotifyRecordInfo *info, const char *api) {
    return submit(notify, stream, &record_ops, (CntNotifyTask){.mode = (int)info->mode, .value = info->value}, api);
}

aclError cnt_notify_wait(CntNotify *notify, Stream *stream, const aclrtCntNotifyWaitInfo *info, const char *api) {
    CntNotifyTask wait = {.mode = (int)info->mode,
                          .value = info->value,
                          .clear = info->isClear != 0,
                          .timeout_ns = info->timeout * NS_PER_S};
    return submit(notify, stream, &wait_ops, wait, api);
}

aclError cnt_notify_reset(CntNotify *notify, Stream *stream, const char *api) {
    CntNotifyTask zero = {.mode = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, .value = 0};
    return submit(notify, stream, &record_ops, zero, api);
}
