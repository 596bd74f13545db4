/* Notifies: see notify.h. */
#include "engine/notify.h"

#include "engine/error.h"
#include "engine/handle.h"
#include "engine/ids.h"
#include "engine/poll.h"
#include "engine/pool.h"
#include "soc/soc.h"

static Pool notifies = POOL(Notify, pool_next);
static Ids ids = IDS;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* `recorded` and `waiting` of every notify */

/* ---- life ---- */

static Notify *make(Device *device, int32_t id, SharedCell *imported) {
    int fresh;
    Notify *notify = pool_take(&notifies, &fresh);
    if (notify == NULL) { return NULL; }
    notify->handle = handle_new(KIND_NOTIFY, notify);
    if (notify->handle == NULL) {
        pool_give(&notifies, notify);
        return NULL;
    }
    notify->device = device;
    notify->id = id;
    notify->recorded = false;
    notify->shared = imported;
    notify->imported = imported != NULL;
    atomic_store(&notify->references, 1);
    return notify;
}

static aclError no_memory(const char *api) {
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a notify");
}

aclError notify_create(Device *device, Notify **out, const char *api) {
    int32_t id = ids_take(&ids, device->id, soc_product()->notifies);
    if (id < 0) {
        return emu_fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, api, "all %u notifies of device %d are in use",
                        soc_product()->notifies, device->id);
    }
    *out = make(device, id, NULL);
    if (*out != NULL) { return ACL_SUCCESS; }
    ids_give(&ids, device->id, id);
    return no_memory(api);
}

static Notify *retain(Notify *notify) {
    atomic_fetch_add_explicit(&notify->references, 1, memory_order_relaxed);
    return notify;
}

static SharedCell *shared_of(Notify *notify) {
    pthread_mutex_lock(&lock);
    SharedCell *shared = notify->shared;
    pthread_mutex_unlock(&lock);
    return shared;
}

/* The id goes with the last task: before, a new notify of that number would mix with the old one. */
static void release(Notify *notify) {
    if (atomic_fetch_sub(&notify->references, 1) != 1) { return; }
    if (notify->imported) {
        shared_release(notify->shared);
    } else {
        ids_give(&ids, notify->device->id, notify->id);
        if (notify->shared != NULL) { shared_release(notify->shared); }
    }
    pool_give(&notifies, notify);
}

void notify_destroy(Notify *notify) {
    handle_drop(notify->handle);
    SharedCell *shared = shared_of(notify);
    if (shared != NULL && !notify->imported) { shared_close(shared); }
    release(notify);
}

aclError notify_find(const char *api, aclrtNotify handle, Notify **notify) {
    *notify = handle_get(KIND_NOTIFY, handle);
    if (*notify != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no notify, or one that was destroyed", handle);
}

uint64_t notify_live_count(void) { return pool_live(&notifies); }

/* ---- the flag within the process ---- */

/* False when the flag is a shared one. */
static bool set_local(Notify *notify) {
    pthread_mutex_lock(&lock);
    bool local = notify->shared == NULL;
    if (local) {
        notify->recorded = true;
        park_wake_first(&notify->waiting);
    }
    pthread_mutex_unlock(&lock);
    return local;
}

/* Parks the stream unless the flag is set and it is this stream's turn: then the flag is taken. Leaves *taken alone
 * and answers with the cell when the flag is a shared one. */
static SharedCell *take_local(Notify *notify, Stream *stream, bool *taken) {
    pthread_mutex_lock(&lock);
    SharedCell *shared = notify->shared;
    if (shared == NULL) {
        park_add(&notify->waiting, stream);
        *taken = notify->recorded && notify->waiting.first == stream;
        if (*taken) { notify->recorded = false; }
    }
    if (shared != NULL || *taken) { park_remove(&notify->waiting, stream); }
    pthread_mutex_unlock(&lock);
    return shared;
}

/* ---- the flag between processes ---- */

static bool is_set(const void *flag) { return atomic_load((const _Atomic(uint32_t) *)flag) != 0; }

static bool take_shared(SharedCell *shared, Stream *stream) {
    while (atomic_exchange(&shared->flag, 0) == 0) {
        if (poll_park(stream, is_set, &shared->flag)) { return false; }
    }
    poll_leave(stream);
    return true;
}

/* ---- either ---- */

static void set(Notify *notify) {
    if (set_local(notify)) { return; }
    atomic_store(&shared_of(notify)->flag, 1);
    poll_now(); /* streams of this process; the others look by themselves */
}

/* False: the stream is among those that wait. */
static bool take_or_park(Notify *notify, Stream *stream) {
    bool taken = false;
    SharedCell *shared = take_local(notify, stream, &taken);
    return shared == NULL ? taken : take_shared(shared, stream);
}

/* The stream gives up its turn: if that has come, it is the next one's. */
static void leave(Notify *notify, Stream *stream) {
    pthread_mutex_lock(&lock);
    park_remove(&notify->waiting, stream);
    if (notify->recorded) { park_wake_first(&notify->waiting); }
    pthread_mutex_unlock(&lock);
    poll_leave(stream);
}

void notify_reset(Notify *notify) {
    pthread_mutex_lock(&lock);
    notify->recorded = false;
    if (notify->shared != NULL) { atomic_store(&notify->shared->flag, 0); }
    pthread_mutex_unlock(&lock);
}

/* ---- other processes ---- */

/* Streams that wait already look again, and find that they wait for the cell now. */
static void share(Notify *notify, SharedCell *cell) {
    cell->kind = SHARED_NOTIFY;
    cell->device = notify->device->id;
    cell->id = notify->id;
    atomic_store(&cell->flag, notify->recorded);
    notify->recorded = false;
    notify->shared = cell;
    park_wake_all(&notify->waiting);
}

aclError notify_export(Notify *notify, char key[SHARED_KEY_BYTES], const char *api) {
    SharedCell *cell = shared_of(notify) == NULL ? shared_new() : NULL;
    pthread_mutex_lock(&lock);
    bool first = notify->shared == NULL && cell != NULL;
    if (first) { share(notify, cell); }
    SharedCell *shared = notify->shared;
    pthread_mutex_unlock(&lock);
    if (cell != NULL && !first) { shared_release(cell); } /* another thread was faster */
    if (shared == NULL) { return emu_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, api, "no shared memory for a notify"); }
    shared_key(shared, key);
    return ACL_SUCCESS;
}

aclError notify_import(const char *key, Notify **out, const char *api) {
    SharedCell *cell = shared_find(key, SHARED_NOTIFY);
    Device *device = cell == NULL ? NULL : device_get(cell->device);
    aclError code = ACL_SUCCESS;
    if (device == NULL) {
        code = emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "no notify of a device known here has the key \"%.64s\"", key);
    } else if (!shared_is_allowed(cell)) {
        code = emu_fail(ACL_ERROR_RT_DRV_INTERNAL_ERROR, api, "the exporter has not allowed this process to import it");
    } else {
        *out = make(device, cell->id, cell);
        if (*out == NULL) { code = no_memory(api); }
    }
    if (code != ACL_SUCCESS && cell != NULL) { shared_release(cell); }
    return code;
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
static const TaskOps record_ops = {.name = "notify record", .run = run_record, .release = release_task};
static const TaskOps wait_ops = {.name = "notify wait", .run = run_wait, .drop = drop_wait, .release = release_task};

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
