/* Events between processes: see event_ipc.h. Records are numbered from 1; record n leaves its number in place n modulo
 * SHARED_RECORDS when it is over. So a wait for record n is over once that place holds n or more: exact, unless a
 * record many numbers later, on another stream, is over before it. */
#include "engine/event_ipc.h"

#include "engine/error.h"
#include "engine/park.h"
#include "engine/poll.h"

static const uint64_t LOOK_AGAIN_NS = NS_PER_MS / 5;

enum { DROPPED_BIT = 1 }; /* beside the number: over for the host, but it never happened for device waits */

/* ---- life ---- */

static aclError adopt(Context *context, SharedCell *cell, Event **event, const char *api) {
    aclError code = event_create(context, EVENT_EX, ACL_EVENT_IPC, event, api);
    if (code == ACL_SUCCESS) { (*event)->shared = cell; }
    else { shared_release(cell); }
    return code;
}

aclError event_ipc_create(Context *context, Event **event, const char *api) {
    SharedCell *cell = shared_new();
    if (cell == NULL) { return emu_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, api, "no shared memory for an event"); }
    cell->device = context->device->id;
    cell->kind = SHARED_EVENT;
    return adopt(context, cell, event, api);
}

aclError event_ipc_open(Context *context, const char *key, Event **event, const char *api) {
    SharedCell *cell = shared_find(key, SHARED_EVENT);
    if (cell == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "no event has this handle"); }
    TRY(adopt(context, cell, event, api));
    (*event)->imported = true;
    return ACL_SUCCESS;
}

void event_ipc_close(Event *event) {
    if (!event->imported) { shared_close(event->shared); }
}

void event_ipc_release(Event *event) {
    shared_release(event->shared);
    event->shared = NULL;
}

/* ---- records ---- */

static _Atomic(uint64_t) *place_of(SharedCell *cell, uint64_t number) { return &cell->over[number % SHARED_RECORDS]; }

static void finish(SharedCell *cell, uint64_t number, bool dropped) {
    uint64_t news = number << 1 | (dropped ? DROPPED_BIT : 0);
    uint64_t seen = atomic_load(place_of(cell, number));
    while (seen < news && !atomic_compare_exchange_weak(place_of(cell, number), &seen, news)) { }
    poll_now(); /* streams of this process; the others look by themselves */
}

static bool is_over(SharedCell *cell, uint64_t number) { return atomic_load(place_of(cell, number)) >> 1 >= number; }

static bool has_happened(const void *subject) {
    const IpcEventTask *wait = subject;
    uint64_t seen = atomic_load(place_of(wait->cell, wait->number));
    return seen >> 1 >= wait->number && seen != (wait->number << 1 | DROPPED_BIT);
}

/* ---- tasks ---- */

static int32_t run_record(Stream *stream, Task *task) {
    (void)stream;
    finish(task->as.ipc_event.cell, task->as.ipc_event.number, false);
    return 0;
}

static bool drop_record(Stream *stream, Task *task, DropReason reason) {
    (void)stream;
    finish(task->as.ipc_event.cell, task->as.ipc_event.number, reason == DROP_ABORT);
    return true;
}

static int32_t run_wait(Stream *stream, Task *task) {
    IpcEventTask *wait = &task->as.ipc_event;
    bool parked = poll_park(stream, has_happened, wait);
    if (parked && !park_expired(stream, wait->timeout_ns)) { return TASK_PARKED; }
    if (parked) { poll_leave(stream); }
    if (wait->timeout_ns != 0) { scheduler_disarm_timer(stream); }
    return parked ? ACL_ERROR_RT_TASK_TIMEOUT : 0;
}

static bool drop_wait(Stream *stream, Task *task, DropReason reason) {
    (void)task;
    (void)reason;
    poll_leave(stream);
    scheduler_disarm_timer(stream);
    return true;
}

static void release_task(Task *task) { shared_release(task->as.ipc_event.cell); }

static const TaskOps record_ops = {
    .name = "IPC event record", .run = run_record, .drop = drop_record, .release = release_task};
static const TaskOps wait_ops = {.name = "IPC event wait", .run = run_wait, .drop = drop_wait, .release = release_task};

aclError event_ipc_record(Event *event, Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &record_ops, &task));
    SharedCell *cell = shared_retain(event->shared);
    task->as.ipc_event = (IpcEventTask){.cell = cell, .number = atomic_fetch_add(&cell->recorded, 1) + 1};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError event_ipc_wait(Event *event, Stream *stream, uint64_t timeout_ns, const char *api) {
    uint64_t number = atomic_load(&event->shared->recorded);
    if (number == 0) { return ACL_SUCCESS; }
    Task *task;
    TRY(stream_begin(stream, api, &wait_ops, &task));
    task->as.ipc_event =
        (IpcEventTask){.cell = shared_retain(event->shared), .number = number, .timeout_ns = timeout_ns};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- the host ---- */

bool event_ipc_is_over(const Event *event) {
    uint64_t number = atomic_load(&event->shared->recorded);
    return number == 0 || is_over(event->shared, number);
}

aclError event_ipc_synchronize(Event *event, uint64_t timeout_ns, const char *api) {
    SharedCell *cell = event->shared;
    Device *device = event->context->device;
    uint64_t number = atomic_load(&cell->recorded), aborts = atomic_load(&device->abort_count);
    uint64_t deadline = timeout_ns == 0 ? FOREVER : clock_now() + timeout_ns;
    while (number != 0 && !is_over(cell, number)) {
        int32_t failure = atomic_load(&event->context->failure);
        if (failure != 0) { return emu_fail(failure, api, "the event's context failed in STOP mode"); }
        if (atomic_load(&device->abort_count) != aborts) {
            return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "the tasks of device %d were aborted", device->id);
        }
        if (clock_now() >= deadline) {
            return emu_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, api, "the event is not reached after %llu ms",
                            (unsigned long long)(timeout_ns / NS_PER_MS));
        }
        struct timespec pause = clock_timespec(LOOK_AGAIN_NS);
        nanosleep(&pause, NULL);
    }
    return ACL_SUCCESS;
}
