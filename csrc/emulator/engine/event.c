/* Events and their records. Records are shared by the event, the queued record task and every wait that was bound to
 * them; whoever lets go last gives the memory back. */
#include "engine/event.h"

#include <string.h>

#include "engine/capture.h"
#include "engine/error.h"
#include "engine/event_ipc.h"
#include "engine/exception.h"
#include "engine/handle.h"
#include "engine/pool.h"
#include "engine/scheduler.h"
#include "engine/stream.h"
#include "engine/update.h"
#include "soc/soc.h"

/* What a default event is made of: timeline, progress mark and device sync (internal flag 4). */
#define DEFAULT_EVENT_FLAGS (ACL_EVENT_TIME_LINE | EVENT_DEVICE_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS)
#define EVENT_DEVICE_SYNC 0x4U
#define FLAGS_WITH_HARDWARE_ID (ACL_EVENT_SYNC | EVENT_DEVICE_SYNC | ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL)

static Pool events = POOL(Event, pool_next);
static Pool records = POOL(Record, parked);
static _Atomic(uint32_t) hardware_ids;

/* Guards `parked` and the step to DONE of every record: short, and taken once per record and wait. */
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static Spot host_waiters;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) { spot_init(&host_waiters); }

/* ---- records ---- */

static void record_init(Record *record, RecordState state) {
    atomic_store(&record->references, 1);
    atomic_store(&record->state, (int)state);
    record->time_ns = 0;
    record->parked = NULL;
}

Record *record_new(RecordState state) {
    int fresh;
    Record *record = pool_take(&records, &fresh);
    if (record != NULL) { record_init(record, state); }
    return record;
}

Record *record_retain(Record *record) {
    atomic_fetch_add_explicit(&record->references, 1, memory_order_relaxed);
    return record;
}

void record_release(Record *record) {
    if (record == NULL) { return; }
    if (atomic_fetch_sub(&record->references, 1) == 1) { pool_give(&records, record); }
}

bool record_is_over(Record *record) { return atomic_load(&record->state) >= RECORD_DONE; }

void record_wake_host_waiters(void) {
    pthread_once(&once, prepare);
    spot_notify(&host_waiters);
}

/* DONE lets the parked streams go on; DROPPED leaves them waiting, as on the real device. Unparked under the lock: a
 * stream that something else woke meanwhile could otherwise park on another record and change the link we follow. */
static void finish_locked(Record *record, RecordState state) {
    record->time_ns = clock_now();
    atomic_store(&record->state, (int)state);
    while (state == RECORD_DONE && record->parked != NULL) {
        Stream *stream = record->parked;
        record->parked = stream->parked_next;
        stream->is_parked = false;
        stream_unpark(stream);
    }
}

void record_finish(Record *record, RecordState state) {
    pthread_mutex_lock(&record_lock);
    finish_locked(record, state);
    pthread_mutex_unlock(&record_lock);
    record_wake_host_waiters();
}

/* Puts the stream on the record's list unless the record is done. True = it must wait. */
static bool park_on(Record *record, Stream *stream) {
    pthread_mutex_lock(&record_lock);
    bool wait = atomic_load(&record->state) != RECORD_DONE;
    if (wait && !stream->is_parked) {
        stream->is_parked = true;
        stream->parked_next = record->parked;
        record->parked = stream;
    }
    pthread_mutex_unlock(&record_lock);
    return wait;
}

static void leave(Record *record, Stream *stream) {
    pthread_mutex_lock(&record_lock);
    for (Stream **link = &record->parked; stream->is_parked && *link != NULL; link = &(*link)->parked_next) {
        if (*link == stream) {
            *link = stream->parked_next;
            stream->is_parked = false;
            break;
        }
    }
    pthread_mutex_unlock(&record_lock);
}

typedef struct RecordWait {
    Record *record;
    Event *event;
    Device *device;
    uint64_t device_abort_count;
} RecordWait;

static bool device_was_aborted(RecordWait *wait) {
    return atomic_load(&wait->device->abort_count) != wait->device_abort_count;
}

static bool host_wait_is_over(void *subject) {
    RecordWait *wait = subject;
    return record_is_over(wait->record) || atomic_load(&wait->event->context->failure) != 0 || device_was_aborted(wait);
}

aclError record_synchronize(Record *record, Event *event, uint64_t timeout_ns, const char *api) {
    pthread_once(&once, prepare);
    Device *device = event->context->device;
    RecordWait wait = {record, event, device, atomic_load(&device->abort_count)};
    uint64_t deadline = timeout_ns == 0 ? FOREVER : clock_now() + timeout_ns;
    if (!spot_wait(&host_waiters, host_wait_is_over, &wait, deadline)) {
        return emu_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, api, "the event is not reached after %llu ms",
                        (unsigned long long)(timeout_ns / NS_PER_MS));
    }
    if (device_was_aborted(&wait)) {
        return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "device %d aborted its tasks meanwhile", device->id);
    }
    int32_t failure = atomic_load(&event->context->failure);
    if (failure != 0) {
        exception_settle();
        return emu_fail(failure, api, "the event's context failed in STOP mode");
    }
    if (atomic_load(&record->state) != RECORD_DROPPED) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_ABORT, api, "the stream of the event was aborted meanwhile");
}

/* ---- events ---- */

static bool take_hardware_id(Event *event) {
    uint32_t used = atomic_fetch_add(&hardware_ids, 1);
    if (used >= soc_product()->events) {
        atomic_fetch_sub(&hardware_ids, 1);
        return false;
    }
    event->id = (int32_t)(handle_slot_index((uintptr_t)event->handle));
    return true;
}

aclError event_create(Context *context, EventFamily family, uint32_t flags, Event **out, const char *api) {
    int fresh;
    Event *event = pool_take(&events, &fresh);
    void *handle = event == NULL ? NULL : handle_new(KIND_EVENT, event);
    if (handle == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for an event"); }
    if (fresh) { pthread_mutex_init(&event->lock, NULL); }
    event->handle = handle;
    event->context = context;
    event->family = family;
    event->flags = family == EVENT_DEFAULT ? DEFAULT_EVENT_FLAGS : flags;
    event->id = -1;
    event->newest = NULL;
    event->recorded = false;
    event->record_flag = -1;
    event->shared = NULL;
    event->imported = false;
    record_init(&event->signal, RECORD_PENDING);
    event->is_signalled = false;
    event->captured = NULL;
    atomic_store(&event->waits, 0);
    atomic_store(&event->references, 1);
    bool wants_id = family != EVENT_EX && (event->flags & FLAGS_WITH_HARDWARE_ID) != 0;
    if (wants_id && !take_hardware_id(event)) {
        event_destroy(event);
        return emu_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, api, "all %u events are in use", soc_product()->events);
    }
    *out = event;
    return ACL_SUCCESS;
}

Event *event_retain(Event *event) {
    atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
    return event;
}

void event_release(Event *event) {
    if (atomic_fetch_sub(&event->references, 1) != 1) { return; }
    record_release(event->newest);
    event->newest = NULL;
    if (event->shared != NULL) { event_ipc_release(event); }
    pool_give(&events, event);
}

void event_destroy(Event *event) {
    handle_drop(event->handle);
    if (event->shared != NULL) { event_ipc_close(event); }
    if (event->id >= 0 && event->family != EVENT_EX) { atomic_fetch_sub(&hardware_ids, 1); }
    event_release(event);
}

aclError event_find(const char *api, aclrtEvent handle, Event **event) {
    *event = handle_get(KIND_EVENT, handle);
    if (*event != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no event, or one that was destroyed", handle);
}

bool event_can_be_waited(const Event *event) {
    if (event->family != EVENT_CLASSIC) { return true; }
    return (event->flags & (ACL_EVENT_SYNC | EVENT_DEVICE_SYNC | ACL_EVENT_EXTERNAL)) != 0;
}

bool event_has_time(const Event *event) { return (event->flags & ACL_EVENT_TIME_LINE) != 0; }

Record *event_newest(Event *event) {
    pthread_mutex_lock(&event->lock);
    Record *record = event->newest == NULL ? NULL : record_retain(event->newest);
    pthread_mutex_unlock(&event->lock);
    return record;
}

/* The record that the next wait is to wait for: the newest, or one still to come. */
static Record *record_for_wait(Event *event) {
    pthread_mutex_lock(&event->lock);
    if (event->newest == NULL && !event->is_signalled) { event->newest = record_new(RECORD_OPEN); }
    Record *record = event->is_signalled ? &event->signal : event->newest;
    if (record != NULL) { record_retain(record); }
    pthread_mutex_unlock(&event->lock);
    return record;
}

/* The record that a record call fills: one that waits already expect, or a new one. */
static Record *record_for_recording(Event *event) {
    pthread_mutex_lock(&event->lock);
    int open = RECORD_OPEN;
    Record *record = event->newest;
    if (record == NULL || !atomic_compare_exchange_strong(&record->state, &open, RECORD_PENDING)) {
        record = record_new(RECORD_PENDING);
        if (record != NULL) {
            record_release(event->newest);
            event->newest = record;
        }
    }
    if (record != NULL) {
        record_retain(record);
        event->recorded = true;
        event->is_signalled = false;
        if (event->id < 0) { event->id = (int32_t)handle_slot_index((uintptr_t)event->handle); }
    }
    pthread_mutex_unlock(&event->lock);
    return record;
}

Record *event_new_record(Event *event) { return record_for_recording(event); }

bool event_is_signalled(Event *event) {
    pthread_mutex_lock(&event->lock);
    bool signalled = event->is_signalled;
    pthread_mutex_unlock(&event->lock);
    return signalled;
}

/* ---- tasks ---- */

static void release_event_task(Task *task) {
    record_release(task->as.event.record);
    event_release(task->as.event.event);
}

/* Ex events have no flag on the device. */
static int32_t run_record(Stream *stream, Task *task) {
    (void)stream;
    Event *event = task->as.event.event;
    pthread_mutex_lock(&record_lock);
    finish_locked(task->as.event.record, RECORD_DONE);
    if (event->family != EVENT_EX) { finish_locked(&event->signal, RECORD_DONE); }
    pthread_mutex_unlock(&record_lock);
    record_wake_host_waiters();
    return 0;
}

static bool drop_record(Stream *stream, Task *task, DropReason reason) {
    (void)stream;
    record_finish(task->as.event.record, reason == DROP_FAILURE ? RECORD_DONE : RECORD_DROPPED);
    return true;
}

static int32_t run_wait(Stream *stream, Task *task) {
    EventTask *wait = &task->as.event;
    if (park_on(wait->record, stream)) {
        if (!atomic_load(&stream->wait_expired)) {
            if (wait->timeout_ns != 0) { scheduler_arm_timer(stream, clock_now() + wait->timeout_ns); }
            return TASK_PARKED;
        }
        leave(wait->record, stream);
        scheduler_disarm_timer(stream);
        return ACL_ERROR_RT_TASK_TIMEOUT;
    }
    if (wait->timeout_ns != 0) { scheduler_disarm_timer(stream); }
    return 0;
}

static bool drop_wait(Stream *stream, Task *task, DropReason reason) {
    (void)reason;
    leave(task->as.event.record, stream);
    scheduler_disarm_timer(stream);
    return true;
}

static void release_wait(Task *task) {
    atomic_fetch_sub(&task->as.event.event->waits, 1);
    release_event_task(task);
}

static void clear(Record *record) {
    int done = RECORD_DONE;
    atomic_compare_exchange_strong(&record->state, &done, RECORD_PENDING);
}

static int32_t run_reset(Stream *stream, Task *task) {
    (void)stream;
    clear(&task->as.event.event->signal);
    return 0;
}

static const TaskOps record_ops = {
    .name = "event record", .run = run_record, .drop = drop_record, .release = release_event_task};
static const TaskOps wait_ops = {.name = "event wait", .run = run_wait, .drop = drop_wait, .release = release_wait};
static const TaskOps reset_ops = {
    .name = "event reset", .run = run_reset, .release = release_event_task, .kind = ACL_MODEL_RI_TASK_EVENT_RESET};

/* ---- tasks of models ---- */

static int32_t run_recorded_record(Stream *stream, Task *task) {
    (void)stream;
    if (task->as.event.record != NULL) { record_finish(task->as.event.record, RECORD_DONE); }
    return 0;
}

static void rearm_record(Task *task) { clear(task->as.event.record); }

/* Behind an event from outside, tasks may have been given new parameters that this execution is to use. */
static int32_t run_external_signal_wait(Stream *stream, Task *task) {
    int32_t outcome = run_wait(stream, task);
    if (outcome == 0 && stream->program != NULL) { update_catch_up(atomic_load(&stream->model)); }
    return outcome;
}

/* The event was never recorded when the execution was submitted: nothing to wait for. */
static int32_t run_external_wait(Stream *stream, Task *task) {
    return task->as.event.record == NULL ? 0 : run_wait(stream, task);
}

static bool drop_external_wait(Stream *stream, Task *task, DropReason reason) {
    return task->as.event.record == NULL || drop_wait(stream, task, reason);
}

#define RECORD_OPS(rearm_) {.name = "event record", .run = run_recorded_record, .release = release_event_task, \
                            .rearm = (rearm_), .kind = ACL_MODEL_RI_TASK_EVENT_RECORD}
#define WAIT_OPS(run_, drop_) {.name = "event wait", .run = (run_), .drop = (drop_), .release = release_event_task, \
                               .kind = ACL_MODEL_RI_TASK_EVENT_WAIT}

const TaskOps event_captured_record_ops = RECORD_OPS(rearm_record);
const TaskOps event_captured_wait_ops = WAIT_OPS(run_wait, drop_wait);
const TaskOps event_external_record_ops = RECORD_OPS(NULL);
const TaskOps event_external_wait_ops = WAIT_OPS(run_external_wait, drop_external_wait);
static const TaskOps signal_record_ops = RECORD_OPS(rearm_record);
static const TaskOps signal_wait_ops = WAIT_OPS(run_wait, drop_wait);
static const TaskOps external_signal_wait_ops = WAIT_OPS(run_external_signal_wait, drop_wait);

bool event_orders_capture(const Task *task) {
    return task->ops == &event_captured_record_ops || task->ops == &event_captured_wait_ops;
}

void event_retarget(const Task *before, Task *task, Event *event) {
    const EventTask *old = &before->as.event;
    Record *record = old->external ? NULL : record_retain(&event->signal);
    task->as.event = (EventTask){event_retain(event), record, old->timeout_ns, old->external};
}

/* ---- submitting ---- */

static aclError no_memory(Stream *stream, Task *task, const char *api) {
    stream_cancel(stream, task);
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for an event record");
}

/* Turns the task that has begun into one about the event's signal, if it goes into a model. */
static bool submit_signal(Event *event, Stream *stream, Task *task, const TaskOps *ops, uint64_t timeout_ns) {
    if (stream->recording == NULL) { return false; }
    task->ops = ops;
    pthread_mutex_lock(&event->lock);
    if (ops == &signal_record_ops) { event->recorded = event->is_signalled = true; }
    pthread_mutex_unlock(&event->lock);
    task->as.event = (EventTask){event_retain(event), record_retain(&event->signal), timeout_ns, false};
    stream_commit(stream, task);
    return true;
}

aclError event_record(Event *event, Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &record_ops, &task));
    if (submit_signal(event, stream, task, &signal_record_ops, 0)) { return ACL_SUCCESS; }
    Record *record = record_for_recording(event);
    if (record == NULL) { return no_memory(stream, task, api); }
    task->as.event = (EventTask){.event = event_retain(event), .record = record};
    if (capture_has_event(event)) { capture_forget_event(event); }
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError event_wait(Event *event, Stream *stream, uint64_t timeout_ns, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &wait_ops, &task));
    bool external = event->flags == ACL_EVENT_EXTERNAL;
    const TaskOps *ops = external ? &external_signal_wait_ops : &signal_wait_ops;
    if (submit_signal(event, stream, task, ops, timeout_ns)) { return ACL_SUCCESS; }
    Record *record = record_for_wait(event);
    if (record == NULL) { return no_memory(stream, task, api); }
    atomic_fetch_add(&event->waits, 1);
    task->as.event = (EventTask){.event = event_retain(event), .record = record, .timeout_ns = timeout_ns};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* From now on the event stands for a record still to come; waits queued earlier keep theirs. */
aclError event_reset(Event *event, Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &reset_ops, &task));
    if (submit_signal(event, stream, task, &reset_ops, 0)) { return ACL_SUCCESS; }
    pthread_mutex_lock(&event->lock);
    Record *open = event->recorded ? record_new(RECORD_OPEN) : NULL;
    if (open != NULL) {
        record_release(event->newest);
        event->newest = open;
    }
    event->is_signalled = false;
    pthread_mutex_unlock(&event->lock);
    task->as.event = (EventTask){.event = event_retain(event)};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

uint64_t event_live_count(void) { return pool_live(&events); }
uint64_t record_live_count(void) { return pool_live(&records); }
uint32_t event_ids_used(void) { return atomic_load(&hardware_ids); }
