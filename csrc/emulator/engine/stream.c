/* Streams: their life, their queue, and waiting for them. Who runs the queue is the scheduler's business. */
#include "engine/stream.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine/capture.h"
#include "engine/counters.h"
#include "engine/error.h"
#include "engine/exception.h"
#include "engine/handle.h"
#include "engine/overflow.h"
#include "engine/pool.h"
#include "engine/program.h"
#include "engine/registry.h"
#include "engine/report.h"
#include "engine/resource.h"
#include "engine/scheduler.h"
#include "engine/mempool.h"
#include "engine/strict.h"
#include "engine/thread.h"
#include "soc/soc.h"

enum {
    FIRST_CPU_SCHEDULE_ID = 2048, /* CPU_SCHEDULE streams are numbered apart */
    MAX_STREAM_ID = 8192,
    MAX_DEVICES = 64,
    FAST_SYNC_POLLS = 20000, /* looks before a FAST_SYNC wait sleeps after all */
    POLLS_PER_YIELD = 64,
    SLOTS_AHEAD = 4,
    RINGS_KEPT = 32,
    RING_BYTES = STREAM_RING_SLOTS * sizeof(Task),
    ROOM_POLLS = 200,        /* looks at a full queue before the submitter sleeps */
};

static const uint64_t ABORT_LIMIT_NS = 10 * NS_PER_S;
static const uint64_t CANCEL_AGAIN_NS = 5 * NS_PER_MS;

static Pool streams = POOL(Stream, pool_next);

/* All live streams, and the ids in use on each device. */
static struct {
    pthread_mutex_t lock;
    Stream *first;
    uint8_t ids[MAX_DEVICES][MAX_STREAM_ID / 8];
    bool hold_all;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- life ---- */

static int32_t take_id(int32_t device, uint32_t flags) {
    int32_t id = (flags & ACL_STREAM_CPU_SCHEDULE) != 0 ? FIRST_CPU_SCHEDULE_ID : 0;
    for (; id < MAX_STREAM_ID; id++) {
        uint8_t bit = (uint8_t)(1U << (id % 8));
        if ((registry.ids[device][id / 8] & bit) == 0) {
            registry.ids[device][id / 8] |= bit;
            return id;
        }
    }
    return -1;
}

static void enlist(Stream *stream) {
    pthread_mutex_lock(&registry.lock);
    stream->id = take_id(stream->context->device->id, stream->flags);
    stream->previous = NULL;
    stream->next = registry.first;
    if (registry.first != NULL) { registry.first->previous = stream; }
    registry.first = stream;
    if (registry.hold_all) { atomic_fetch_or(&stream->attention, ATTENTION_HELD); }
    pthread_mutex_unlock(&registry.lock);
}

static void delist(Stream *stream) {
    pthread_mutex_lock(&registry.lock);
    registry.ids[stream->context->device->id][stream->id / 8] &= (uint8_t) ~(1U << (stream->id % 8));
    if (stream->previous != NULL) { stream->previous->next = stream->next; }
    else { registry.first = stream->next; }
    if (stream->next != NULL) { stream->next->previous = stream->previous; }
    pthread_mutex_unlock(&registry.lock);
}

void stream_for_each(void (*visit)(Stream *, void *), void *argument) {
    pthread_mutex_lock(&registry.lock);
    for (Stream *stream = registry.first; stream != NULL; stream = stream->next) { visit(stream, argument); }
    pthread_mutex_unlock(&registry.lock);
}

static void hold_one(Stream *stream, void *on) { stream_attend(stream, ATTENTION_HELD, *(bool *)on); }

void stream_hold_all(bool on) {
    pthread_mutex_lock(&registry.lock);
    registry.hold_all = on;
    pthread_mutex_unlock(&registry.lock);
    stream_for_each(hold_one, &on);
}

void stream_attend(Stream *stream, uint32_t reason, bool on) {
    if (on) {
        atomic_fetch_or(&stream->attention, reason);
        return;
    }
    atomic_fetch_and(&stream->attention, ~reason);
    if ((reason & (ATTENTION_HELD | ATTENTION_QUEUE_OFF)) != 0) { stream_unpark(stream); }
}

static bool count_in(Device *device) {
    uint32_t limit = soc_product()->streams;
    if (atomic_fetch_add(&device->streams, 1) < limit) { return true; }
    atomic_fetch_sub(&device->streams, 1);
    return false;
}

static uint32_t clamp_priority(uint32_t priority) {
    if ((int32_t)priority < 0) { return 0; }
    return priority > 7 ? 7 : priority;
}

static void prepare_once(Stream *stream) {
    pthread_mutex_init(&stream->submit, NULL);
    spot_init(&stream->finished);
}

/* tail and done go on from where they were: a late reader of the old stream never sees them move back. */
static void reset_state(Stream *stream, Context *context, uint32_t priority, uint32_t flags) {
    stream->context = context;
    stream->flags = flags & STREAM_FLAGS_KNOWN;
    stream->priority = stream->device_priority = clamp_priority(priority);
    stream->is_default = false;
    stream->room_until = stream->done_at_creation = atomic_load(&stream->tail);
    stream->failure_mode = ACL_CONTINUE_ON_FAILURE;
    stream->overflow_switch = stream->cache_op_info = stream->launch_blocking = 0;
    stream->custom_tag = CUSTOM_TAG_NONE;
    resource_reset(stream->core_limit);
    atomic_store(&stream->nonblocking_depth, 0);
    atomic_store(&stream->attention, strict_is_on() ? ATTENTION_STRICT : 0);
    atomic_store(&stream->aborting, false);
    atomic_store(&stream->error, 0);
    stream->recording = NULL;
    stream->program = NULL;
    stream->model = NULL;
    stream->capture = NULL;
}

/* Rings that FAST_LAUNCH streams left behind: their pages are there already, so the next such stream is made quickly. */
static struct {
    pthread_mutex_t lock;
    Task *rings[RINGS_KEPT];
    uint32_t count;
} ring_store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static Task *take_stored_ring(void) {
    pthread_mutex_lock(&ring_store.lock);
    Task *ring = ring_store.count == 0 ? NULL : ring_store.rings[--ring_store.count];
    pthread_mutex_unlock(&ring_store.lock);
    return ring;
}

static bool store_ring(Task *ring) {
    pthread_mutex_lock(&ring_store.lock);
    bool stored = ring_store.count < RINGS_KEPT;
    if (stored) { ring_store.rings[ring_store.count++] = ring; }
    pthread_mutex_unlock(&ring_store.lock);
    return stored;
}

/* FAST_LAUNCH pays for the queue's pages here, at creation; other streams at their first launches. */
static bool make_ring(Stream *stream) {
    bool fast = (stream->flags & ACL_STREAM_FAST_LAUNCH) != 0;
    stream->ring = fast ? take_stored_ring() : NULL;
    if (stream->ring != NULL) { return true; }
    int how = MAP_PRIVATE | MAP_ANONYMOUS | (fast ? MAP_POPULATE : 0);
    void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, how, -1, 0);
    if (ring == MAP_FAILED) { return false; }
    stream->ring = ring;
    return true;
}

static void free_ring(Stream *stream) {
    bool fast = (stream->flags & ACL_STREAM_FAST_LAUNCH) != 0;
    if (stream->ring != NULL && !(fast && store_ring(stream->ring))) { munmap(stream->ring, RING_BYTES); }
    stream->ring = NULL;
}

/* PERSISTENT streams keep their tasks for a model instead of running them. */
static bool make_program(Stream *stream) {
    stream->program = program_new(stream);
    if (stream->program == NULL) { return false; }
    stream->recording = &stream->program->recording;
    return true;
}

static Stream *make_stream(Context *context, uint32_t priority, uint32_t flags) {
    int fresh;
    Stream *stream = pool_take(&streams, &fresh);
    if (stream == NULL) { return NULL; }
    if (fresh) { prepare_once(stream); }
    reset_state(stream, context, priority, flags);
    bool ready = (flags & ACL_STREAM_FAST_LAUNCH) == 0 || make_ring(stream);
    if (ready && (flags & ACL_STREAM_PERSISTENT) != 0) { ready = make_program(stream); }
    stream->handle = ready ? handle_new(KIND_STREAM, stream) : NULL;
    if (stream->handle != NULL) { return stream; }
    if (stream->program != NULL) { program_free(stream->program); }
    free_ring(stream);
    pool_give(&streams, stream);
    return NULL;
}

static aclError create(Context *context, uint32_t priority, uint32_t flags, bool counted, Stream **out, const char *api) {
    Device *device = context->device;
    if (counted && !count_in(device)) {
        return emu_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, api, "all %u streams of device %d are in use",
                        soc_product()->streams, device->id);
    }
    Stream *stream = make_stream(context, priority, flags);
    if (stream == NULL) {
        if (counted) { atomic_fetch_sub(&device->streams, 1); }
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a stream");
    }
    enlist(stream);
    *out = stream;
    return ACL_SUCCESS;
}

aclError stream_create(Context *context, uint32_t priority, uint32_t flags, bool counted, Stream **out,
                       const char *api) {
    TRY(create(context, priority, flags, counted, out, api));
    report_stream_state((*out)->handle, ACL_RT_STREAM_STATE_CREATE_POST);
    return ACL_SUCCESS;
}

aclError stream_create_hidden(Context *context, uint32_t priority, uint32_t flags, Stream **out, const char *api) {
    return create(context, priority, flags, true, out, api);
}

/* The kernel that may be running learns that it should return. Marks the task, not the stream: the next one is safe. */
static void cancel_head(Stream *stream) {
    if (stream->program != NULL) {
        program_cancel(stream->program);
        return;
    }
    uint64_t done = atomic_load(&stream->done);
    if (done != atomic_load(&stream->tail)) { atomic_store(&stream_slot(stream, done)->cancelled, 1); }
}

static bool is_at_rest(void *subject) { return stream_is_done(subject); }

/* While a stream is dropped its head is told again and again: the runner may have gone on to a next kernel meanwhile. */
static void stream_wait_at_rest(Stream *stream) {
    bool dropping = (atomic_load(&stream->attention) & ATTENTION_ABORT) != 0;
    while (!spot_wait(&stream->finished, is_at_rest, stream, dropping ? clock_now() + CANCEL_AGAIN_NS : FOREVER)) {
        cancel_head(stream);
    }
}

/* Who waits for what is dropped hears of an abort. */
void stream_drop_queued(Stream *stream) {
    atomic_fetch_add(&stream->abort_count, 1);
    atomic_store(&stream->abort_to, UINT64_MAX);
    atomic_fetch_or(&stream->attention, ATTENTION_ABORT);
    cancel_head(stream);
    stream_unpark(stream);
}

/* Turns away threads that had found the stream before its handle was gone. */
static aclError refuse_closed(Recording *recording, const char *api, Task **task) {
    (void)recording;
    (void)task;
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "the stream was destroyed meanwhile");
}

static const RecordingOps closed_ops = {.begin = refuse_closed};
static Recording closed = {&closed_ops};

/* True when nothing is queued: from then on nothing will be, and no submitter is inside any more. */
static bool close_queue(Stream *stream) {
    pthread_mutex_lock(&stream->submit);
    bool empty = stream_is_done(stream);
    if (empty) {
        if (capture_has_stream(stream)) { capture_abandon(stream); }
        if (stream->recording != NULL) { stream->recording->ops->abandon(stream->recording); }
        stream->recording = &closed;
    }
    pthread_mutex_unlock(&stream->submit);
    return empty;
}

void stream_destroy(Stream *stream, bool force) {
    bool counted = stream != stream->context->internal_stream;
    handle_drop(stream->handle);
    atomic_fetch_or(&stream->attention, ATTENTION_CLOSING);
    if (force) {
        atomic_store(&stream->aborting, true); /* a submitter before a full queue leaves, and no other one waits there */
        stream_drop_queued(stream);
        spot_wake(&stream->finished);
    }
    do { stream_wait_at_rest(stream); } while (!close_queue(stream));
    while (atomic_load(&stream->state) != STREAM_IDLE) { sched_yield(); } /* its runner is letting go */
    report_forget(stream);
    delist(stream);
    counters_add_stream(atomic_load(&stream->done) - stream->done_at_creation);
    if (stream->program != NULL) { program_free(stream->program); }
    free_ring(stream);
    if (counted) { atomic_fetch_sub(&stream->context->device->streams, 1); }
    pool_give(&streams, stream);
}

uint64_t stream_live_count(void) { return pool_live(&streams); }

/* ---- finding ---- */

aclError stream_find(const char *api, aclrtStream handle, Stream **stream) {
    if (handle != NULL) {
        *stream = handle_get(KIND_STREAM, handle);
        if (*stream != NULL) { return ACL_SUCCESS; }
        return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no stream, or one that was destroyed", handle);
    }
    Context *context;
    TRY(context_current(api, &context));
    *stream = context->default_stream;
    if (*stream != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "the default stream was destroyed");
}

aclError stream_find_own(const char *api, aclrtStream handle, Stream **stream) {
    TRY(stream_find(api, handle, stream));
    if (handle == NULL) { return ACL_SUCCESS; }
    Context *context;
    TRY(context_current(api, &context));
    if ((*stream)->context == context) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_CONTEXT, api,
                    "stream %d belongs to another context (device %d) than the current one (device %d)", (*stream)->id,
                    (*stream)->context->device->id, context->device->id);
}

/* ---- the queue ---- */

aclError stream_trouble(Stream *stream, const char *api) {
    int32_t failure = atomic_load_explicit(&stream->context->failure, memory_order_acquire);
    if (failure != 0) { return emu_fail(failure, api, "the context failed in STOP mode"); }
    if (atomic_load_explicit(&stream->context->device->aborting, memory_order_acquire)) {
        return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "the device is aborting its tasks");
    }
    if (atomic_load_explicit(&stream->aborting, memory_order_acquire)) {
        return emu_fail(ACL_ERROR_RT_STREAM_ABORT, api, "the stream is being aborted");
    }
    return ACL_SUCCESS;
}

static bool is_troubled(Stream *stream) {
    return atomic_load(&stream->context->failure) != 0 || atomic_load(&stream->aborting) ||
           atomic_load(&stream->context->device->aborting);
}

static bool find_room(Stream *stream) {
    stream->room_until = atomic_load(&stream->done) + soc_product()->queue_depth;
    return stream->room_until > atomic_load_explicit(&stream->tail, memory_order_relaxed);
}

static bool has_room_or_trouble(void *subject) { return find_room(subject) || is_troubled(subject); }

/* A full queue blocks its submitter, not the device. */
static aclError wait_for_room(Stream *stream, const char *api) {
    if (find_room(stream)) { return ACL_SUCCESS; }
    for (int poll = 0; scheduler_many_cpus() && poll < ROOM_POLLS; poll++) {
        cpu_relax();
        if (find_room(stream)) { return ACL_SUCCESS; }
    }
    spot_wait(&stream->finished, has_room_or_trouble, stream, FOREVER);
    return stream_trouble(stream, api);
}

static aclError begin_queued(Stream *stream, const char *api, Task **task) {
    if (stream->ring == NULL && !make_ring(stream)) {
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for the stream's queue");
    }
    uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_relaxed);
    if (tail == stream->room_until) { TRY(wait_for_room(stream, api)); }
    *task = stream_slot(stream, tail);
    return ACL_SUCCESS;
}

aclError stream_begin(Stream *stream, const char *api, const TaskOps *ops, Task **task) {
    if ((stream->flags & ACL_STREAM_DEVICE_USE_ONLY) != 0) {
        return emu_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "stream %d is for code on the device only", stream->id);
    }
    pthread_mutex_lock(&stream->submit);
    aclError code = stream_trouble(stream, api);
    if (code == ACL_SUCCESS) {
        Recording *recording = stream->recording;
        code = recording != NULL ? recording->ops->begin(recording, api, task) : begin_queued(stream, api, task);
    }
    if (code != ACL_SUCCESS) {
        pthread_mutex_unlock(&stream->submit);
        return code;
    }
    (*task)->ops = ops;
    atomic_store_explicit(&(*task)->cancelled, 0, memory_order_relaxed);
    return ACL_SUCCESS;
}

/* Slots come round again from the runner's cache: asking for one a few launches ahead hides the way back. */
static inline void prefetch_slot(Stream *stream, uint64_t position) {
    char *slot = (char *)stream_slot(stream, position);
    for (size_t line = 0; line < 2; line++) { prefetch_for_writing(slot + line * TASK_ALIGNMENT); }
}

void stream_commit(Stream *stream, Task *task) {
    uint64_t tail = atomic_load_explicit(&stream->tail, memory_order_relaxed);
    task->thread_id = emu_thread_id();
    if (stream->recording != NULL) {
        stream->recording->ops->commit(stream->recording, task);
        emu_thread.last_task_id = task->id;
        emu_thread.recorded_on = stream->handle;
        pthread_mutex_unlock(&stream->submit);
        return;
    }
    task->id = (uint32_t)tail;
    emu_thread.last_task_id = task->id;
    emu_thread.recorded_on = NULL;
    prefetch_slot(stream, tail + SLOTS_AHEAD);
    /* Publishes the slot. Sequentially consistent against the runner that goes idle: see scheduler.c. */
    atomic_store(&stream->tail, tail + 1);
    pthread_mutex_unlock(&stream->submit);
    scheduler_submitted(stream);
}

void stream_cancel(Stream *stream, Task *task) {
    if (stream->recording != NULL) { stream->recording->ops->cancel(stream->recording, task); }
    pthread_mutex_unlock(&stream->submit);
}

/* ---- the runner's side ---- */

bool stream_is_business_code(int32_t code) {
    return is_overflow(code) || code == ACL_ERROR_RT_END_OF_SEQUENCE || code == ACL_ERROR_RT_MODEL_ABORT_NORMAL ||
           code == ACL_ERROR_RT_SOCKET_CLOSE;
}

void stream_tell_failure(Stream *stream, const Task *task, int32_t code) {
    if (task->ops->relays) { return; }
    if (is_overflow(code)) { overflow_raise(stream->context->device); }
    if (stream_is_business_code(code)) { return; }
    counters_count_failure();
    exception_note(stream, task, code);
}

/* CONTINUE: the last failure stays until a synchronize takes it; an expected outcome never hides a failure.
 * STOP: the context keeps the first failure, and this stream drops what follows. */
static void take_failure(Stream *stream, const Task *task, int32_t code) {
    stream_tell_failure(stream, task, code);
    if (stream_is_business_code(code)) {
        int32_t none = 0;
        atomic_compare_exchange_strong(&stream->error, &none, code);
        return;
    }
    if (!atomic_load(&stream->context->stop_mode)) {
        atomic_store(&stream->error, code);
        return;
    }
    atomic_fetch_or(&stream->attention, ATTENTION_FAILED);
    context_fail(stream->context, code);
}

static bool was_aborted(Stream *stream) {
    return (atomic_load(&stream->attention) & (ATTENTION_ABORT | ATTENTION_STOP)) != 0 &&
           atomic_load_explicit(&stream->done, memory_order_relaxed) < atomic_load(&stream->abort_to);
}

static void finish(Stream *stream, Task *task) {
    if (task->ops->release != NULL) { task->ops->release(task); }
    uint64_t done = atomic_load_explicit(&stream->done, memory_order_relaxed);
    atomic_store(&stream->done, done + 1); /* sequentially consistent against waiters: see spot.c */
    spot_notify(&stream->finished);
}

void stream_retire(Stream *stream, Task *task, int32_t outcome) {
    if (outcome != 0 && !was_aborted(stream)) { take_failure(stream, task, outcome); }
    finish(stream, task);
}

void stream_drop(Stream *stream, Task *task) {
    counters_count_drop();
    finish(stream, task);
}

/* ---- waiting ---- */

typedef struct SyncWait {
    Stream *stream;
    Device *device;
    uint64_t target, abort_count, device_abort_count;
} SyncWait;

static bool device_was_aborted(SyncWait *wait) {
    return atomic_load(&wait->device->abort_count) != wait->device_abort_count;
}

static bool sync_is_over(void *subject) {
    SyncWait *wait = subject;
    return atomic_load(&wait->stream->done) >= wait->target || is_troubled(wait->stream) ||
           atomic_load(&wait->stream->abort_count) != wait->abort_count || device_was_aborted(wait);
}

/* FAST_SYNC: looks again and again, helping with the stream's own tasks, yielding in between; sleeps in the end. */
static bool poll_sync(SyncWait *wait, bool may_help, uint64_t deadline) {
    for (int poll = 1; poll <= FAST_SYNC_POLLS; poll++) {
        if (sync_is_over(wait)) { return true; }
        if (may_help && scheduler_help(wait->stream, wait->target)) { continue; }
        if (!scheduler_many_cpus() || poll % POLLS_PER_YIELD == 0) {
            sched_yield();
            if (deadline != FOREVER && clock_now() >= deadline) { return false; }
        }
        cpu_relax();
    }
    return false;
}

/* 207xxx and the like are outcomes, not errors: they come back without becoming the thread's last error. */
static aclError take_error(Stream *stream, const char *api) {
    int32_t code = atomic_load_explicit(&stream->error, memory_order_acquire);
    if (code == 0) { return ACL_SUCCESS; }
    code = atomic_exchange(&stream->error, 0);
    return code == 0 ? ACL_SUCCESS : emu_fail(code, api, "a task of stream %d ended with this", stream->id);
}

static aclError wait_for_tasks(Stream *stream, const char *api, uint64_t timeout_ns) {
    Device *device = stream->context->device;
    uint64_t device_abort_count = atomic_load(&device->abort_count);
    TRY(stream_trouble(stream, api));
    SyncWait wait = {stream, device, atomic_load(&stream->tail), atomic_load(&stream->abort_count), device_abort_count};
    if (atomic_load(&stream->done) >= wait.target) { return take_error(stream, api); }
    uint64_t deadline = timeout_ns == 0 ? FOREVER : clock_now() + timeout_ns;
    bool fast = (stream->flags & ACL_STREAM_FAST_SYNC) != 0;
    /* A thread that helps cannot leave in the middle of a kernel: only waits without a limit help. */
    bool over = fast && poll_sync(&wait, deadline == FOREVER, deadline);
    if (!over && !spot_wait(&stream->finished, sync_is_over, &wait, deadline)) {
        return emu_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, api, "stream %d is not done after %llu ms", stream->id,
                        (unsigned long long)(timeout_ns / NS_PER_MS));
    }
    if (device_was_aborted(&wait)) {
        return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "the tasks of device %d were aborted meanwhile", device->id);
    }
    if (atomic_load(&stream->abort_count) != wait.abort_count) {
        return emu_fail(ACL_ERROR_RT_STREAM_ABORT, api, "stream %d was aborted meanwhile", stream->id);
    }
    TRY(stream_trouble(stream, api));
    return take_error(stream, api);
}

aclError stream_synchronize(Stream *stream, const char *api, uint64_t timeout_ns) {
    aclError code = wait_for_tasks(stream, api, timeout_ns);
    if (code != ACL_SUCCESS) { exception_settle(); }
    mempool_settle();
    return code;
}

/* ---- abort and stop ---- */

typedef struct DropWait {
    Stream *stream;
    uint64_t target;
} DropWait;

static bool drop_is_over(void *subject) {
    DropWait *wait = subject;
    return atomic_load(&wait->stream->done) >= wait->target;
}

/* Makes the runner drop everything before `target`, the running kernel included once it looks at `cancelled`. */
static bool drop_until(Stream *stream, uint64_t target, uint32_t reason) {
    DropWait wait = {stream, target};
    uint64_t limit = clock_now() + ABORT_LIMIT_NS;
    atomic_store(&stream->abort_to, target);
    atomic_fetch_or(&stream->attention, reason);
    bool over = drop_is_over(&wait);
    while (!over && clock_now() < limit) {
        cancel_head(stream);
        stream_unpark(stream);
        over = spot_wait(&stream->finished, drop_is_over, &wait, clock_now() + CANCEL_AGAIN_NS);
    }
    atomic_fetch_and(&stream->attention, ~reason);
    return over;
}

aclError stream_abort(Stream *stream, const char *api) {
    if (atomic_exchange(&stream->aborting, true)) { return ACL_SUCCESS; } /* somebody else is at it */
    atomic_fetch_add(&stream->abort_count, 1);
    spot_wake(&stream->finished); /* waiters leave with 107023; a submitter before a full queue lets go of the lock */
    pthread_mutex_lock(&stream->submit);
    uint64_t target = atomic_load(&stream->tail);
    pthread_mutex_unlock(&stream->submit);
    bool over = drop_until(stream, target, ATTENTION_ABORT);
    atomic_store(&stream->error, 0);
    atomic_store(&stream->aborting, false);
    if (over) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_WAIT_TIMEOUT, api, "the running task of stream %d does not end", stream->id);
}

/* Ends the task at the head only: the next one runs. */
void stream_stop(Stream *stream) {
    uint64_t done = atomic_load(&stream->done);
    if (done != atomic_load(&stream->tail)) { drop_until(stream, done + 1, ATTENTION_STOP); }
}
