/* Notifies: see notify.h. */
#include "engine/notify.h"

#include "engine/error.h"
#include "engine/handle.h"
#include "engine/ids.h"
#include "engine/pool.h"
#include "soc/soc.h"

static Pool notifies = POOL(Notify, pool_next);
static Ids ids = IDS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* `recorded` and `waiting` of every notify */

/* ---- life ---- */

static aclError no_memory(const char *api) {
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a notify");
}

aclError notify_create(Device *device, Notify **out, const char *api) {
    int32_t id = ids_take(&ids, device->id, soc_product()->notifies);
    if (id < 0) {
        return emu_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, api, "all %u notifies of device %d are in use",
                        soc_product()->notifies, device->id);
    }
    int fresh;
    Notify *notify = pool_take(&notifies, &fresh);
    void *handle = notify == NULL ? NULL : handle_new(KIND_NOTIFY, notify);
    if (handle == NULL) {
        if (notify != NULL) { pool_give(&notifies, notify); }
        ids_give(&ids, device->id, id);
        return no_memory(api);
    }
    notify->handle = handle;
    notify->device = device;
    notify->id = id;
    notify->recorded = false;
    atomic_store(&notify->references, 1);
    *out = notify;
    return ACL_SUCCESS;
}

static Notify *retain(Notify *notify) {
    atomic_fetch_add_explicit(&notify->references, 1, memory_order_relaxed);
    return notify;
}

/* The id goes with the last task: before, a new notify of that number would mix with the old one. */
static void release(Notify *notify) {
    if (atomic_fetch_sub(&notify->references, 1) != 1) { return; }
    ids_give(&ids, notify->device->id, notify->id);
    pool_give(&notifies, notify);
}

void notify_destroy(Notify *notify) {
    handle_drop(notify->handle);
    release(notify);
}

aclError notify_find(const char *api, aclrtNotify handle, Notify **notify) {
    *notify = handle_get(KIND_NOTIFY, handle);
    if (*notify != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no notify, or one that was destroyed", handle);
}

uint64_t notify_live_count(void) { return pool_live(&notifies); }

/* ---- the flag ---- */

static void set(Notify *notify) {
    pthread_mutex_lock(&lock);
    notify->recorded = true;
    park_wake_first(&notify->waiting);
    pthread_mutex_unlock(&lock);
}

/* True: the flag was set, it was this stream's turn, and the flag is taken. False: the stream is among those that wait. */
static bool take_or_park(Notify *notify, Stream *stream) {
    pthread_mutex_lock(&lock);
    park_add(&notify->waiting, stream);
    bool taken = notify->recorded && notify->waiting.first == stream;
    if (taken) {
        notify->recorded = false;
        park_remove(&notify->waiting, stream);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

/* The stream gives up its turn: if that has come, it is the next one's. */
static void leave(Notify *notify, Stream *stream) {
    pthread_mutex_lock(&lock);
    park_remove(&notify->waiting, stream);
    if (notify->recorded) { park_wake_first(&notify->waiting); }
    pthread_mutex_unlock(&lock);
}

void notify_reset(Notify *notify) {
    pthread_mutex_lock(&lock);
    notify->recorded = false;
    pthread_mutex_unlock(&lock);
}

/* ---- tasks ---- */

static int32_t run_record(Stream *stream, Task *task) {
    (void)stream;
    set(task->as.notify.notify);
    return 0;
}

static int32_t run_wait(Stream *stream, Task *task) {
    NotifyTask *wait = &task->as.notify;
    bool taken = take_or_park(wait->notify, stream);
    if (!taken && !park_expired(stream, wait->timeout_ns)) { return TASK_PARKED; }
    if (!taken) { leave(wait->notify, stream); }
    if (wait->timeout_ns != 0) { scheduler_disarm_timer(stream); }
    return taken ? 0 : ACL_ERROR_RT_TASK_TIMEOUT;
}

static bool drop_wait(Stream *stream, Task *task, DropReason reason) {
    (void)reason;
    leave(task->as.notify.notify, stream);
    scheduler_disarm_timer(stream);
    return true;
}

static void release_task(Task *task) { release(task->as.notify.notify); }

/* A record that is dropped never happens, whatever the reason: only events are fired for those who wait. */
static const TaskOps record_ops = {"notify record", run_record, NULL, release_task};
static const TaskOps wait_ops = {"notify wait", run_wait, drop_wait, release_task};

aclError notify_record(Notify *notify, Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &record_ops, &task));
    task->as.notify = (NotifyTask){.notify = retain(notify)};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError notify_wait(Notify *notify, Stream *stream, uint64_t timeout_ns, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &wait_ops, &task));
    task->as.notify = (NotifyTask){.notify = retain(notify), .timeout_ns = timeout_ns};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
