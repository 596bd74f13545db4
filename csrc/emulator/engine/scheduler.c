/* The scheduler: a run queue by priority, a few workers made when first needed, and one watchman thread.
 *
 * Invariants:
 * - A stream is in the run queue exactly while its state is QUEUED. Whoever moves QUEUED to RUNNING owns the stream
 *   until it moves it on; only the owner touches the head task.
 * - Submitters write `tail`, then read the state; the owner writes the state IDLE, then reads `tail`. Both with
 *   sequentially consistent order, so one of the two sees the other and no task is left behind.
 * - Workers normally number as many as CPUs. A worker held up in a long kernel is noticed by the watchman (the run
 *   queue does not move) and another one is made, so that streams never wait for each other through a worker. */
#include "engine/scheduler.h"

#include <sched.h>

#include "engine/poll.h"
#include "engine/program.h"
#include "engine/strict.h"
#include "soc/soc.h"

enum {
    PRIORITIES = 8,
    MAX_WORKERS = 64,
    RUN_BUDGET = 64,         /* tasks of one stream before others get their turn */
    LINGER_POLLS = 24,       /* looks at an empty queue before the stream goes idle: a submitter that keeps up pays no wake */
    LINGER_PAUSES = 12,      /* pauses between two looks: fewer looks, fewer cache misses for the submitter */
    IDLE_POLLS = 400,        /* looks at an empty run queue before the worker sleeps */
    IDLE_PAUSES = 8,
    POLLS_PER_YIELD = 32,
    SLOTS_AHEAD = 6,         /* asked for before they are run, if they are filled: they come from the submitter's cache */
    POLL_NS = 1000000,       /* how often the watchman looks at memory that streams wait for */
    WATCH_NS = 2000000,      /* how long the run queue may stand still before another worker is made */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    Stream *first[PRIORITIES], *last[PRIORITIES];
    _Atomic(uint32_t) count; /* streams queued; read without the lock by those who poll */
    uint32_t sleeping, polling, workers;
    uint64_t taken; /* streams taken from the queue so far: the watchman's sign of life */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Stream *armed;
    bool started, watching, polling;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t cpus = 1;

static void count_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) { cpus = (uint32_t)CPU_COUNT(&set); }
    if (cpus == 0) { cpus = 1; }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool scheduler_many_cpus(void) {
    pthread_once(&once, count_cpus);
    return cpus > 1;
}

static bool start_thread(void *(*entry)(void *)) {
    pthread_t thread;
    sigset_t before;
    emu_thread_mask_signals(&before);
    bool started = pthread_create(&thread, NULL, entry, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) { pthread_detach(thread); }
    return started;
}

/* ---- the run queue; all under queue.lock ---- */

static void queue_append(Stream *stream) {
    uint32_t priority = stream->device_priority;
    stream->run_next = NULL;
    stream->run_previous = queue.last[priority];
    if (queue.last[priority] == NULL) { queue.first[priority] = stream; }
    else { queue.last[priority]->run_next = stream; }
    queue.last[priority] = stream;
    stream->in_queue = true;
    atomic_fetch_add_explicit(&queue.count, 1, memory_order_relaxed);
}

static void queue_remove(Stream *stream) {
    for (uint32_t priority = 0; priority < PRIORITIES; priority++) { /* its priority may have been changed meanwhile */
        if (queue.first[priority] == stream) { queue.first[priority] = stream->run_next; }
        if (queue.last[priority] == stream) { queue.last[priority] = stream->run_previous; }
    }
    if (stream->run_previous != NULL) { stream->run_previous->run_next = stream->run_next; }
    if (stream->run_next != NULL) { stream->run_next->run_previous = stream->run_previous; }
    stream->in_queue = false;
    atomic_fetch_sub_explicit(&queue.count, 1, memory_order_relaxed);
    queue.taken++;
}

static Stream *queue_first(void) {
    for (uint32_t priority = 0; priority < PRIORITIES; priority++) {
        if (queue.first[priority] != NULL) { return queue.first[priority]; }
    }
    return NULL;
}

static Stream *queue_take(void) {
    Stream *stream = queue_first();
    if (stream == NULL) { return NULL; }
    queue_remove(stream);
    atomic_store(&stream->state, STREAM_RUNNING);
    return stream;
}

static void *worker_main(void *unused);
static void *watchman_main(void *unused);

static void add_worker(void) {
    if (queue.workers < MAX_WORKERS && start_thread(worker_main)) { queue.workers++; }
}

/* Somebody must look at the queue: a poller will anyway; else wake a sleeper, else make a worker. */
static bool call_worker(void) {
    if (queue.polling > 0) { return true; }
    if (queue.sleeping > 0) {
        pthread_cond_signal(&queue.work);
        return true;
    }
    if (queue.workers < cpus) {
        add_worker();
        return true;
    }
    return false;
}

static void start_watching(void) {
    pthread_mutex_lock(&watch.lock);
    if (!watch.started) { watch.started = start_thread(watchman_main); }
    if (!watch.watching) {
        watch.watching = true;
        pthread_cond_signal(&watch.changed);
    }
    pthread_mutex_unlock(&watch.lock);
}

/* The caller has just moved the state to QUEUED. */
static void enqueue(Stream *stream) {
    scheduler_many_cpus();
    pthread_mutex_lock(&queue.lock);
    queue_append(stream);
    bool called = call_worker();
    pthread_mutex_unlock(&queue.lock);
    if (!called) { start_watching(); }
}

/* ---- running a stream ---- */

static bool move_state(Stream *stream, int from, int to) {
    return atomic_compare_exchange_strong(&stream->state, &from, to);
}

/* True when the owner keeps the stream: something happened since it decided to let go. */
static bool keep_after(Stream *stream, int resting) {
    if (!move_state(stream, STREAM_RUNNING, resting)) {
        atomic_store(&stream->state, STREAM_RUNNING); /* was NOTIFIED */
        return true;
    }
    if (resting == STREAM_PARKED || stream_is_done(stream)) { return false; }
    return move_state(stream, STREAM_IDLE, STREAM_RUNNING);
}

/* A task within a few microseconds? Polling now spares its submitter the price of a wake-up. The pause comes first:
 * a submitter that keeps up then finds its cache lines where it left them for several tasks on end. */
static bool linger(Stream *stream) {
    if (cpus == 1 || stream->program != NULL) { return false; }
    int pauses = (stream->flags & ACL_STREAM_FAST_SYNC) != 0 ? LINGER_PAUSES / 4 : LINGER_PAUSES;
    for (int poll = 0; poll < LINGER_POLLS; poll++) {
        for (int i = 0; i < pauses; i++) { cpu_relax(); }
        if (!stream_is_done(stream)) { return true; }
        if (atomic_load_explicit(&stream->attention, memory_order_relaxed) != 0) { return false; }
        if (atomic_load_explicit(&queue.count, memory_order_relaxed) != 0) { return false; }
    }
    return false;
}

/* Deals with what made the runner look up. True: the head task must wait (park). */
static bool attend(Stream *stream, Task *task, bool *dropped) {
    uint32_t reasons = atomic_load(&stream->attention);
    uint64_t position = atomic_load_explicit(&stream->done, memory_order_relaxed);
    bool failed = (reasons & ATTENTION_FAILED) != 0;
    bool ended = (reasons & (ATTENTION_ABORT | ATTENTION_STOP)) != 0 && position < atomic_load(&stream->abort_to);
    if (ended || failed) {
        DropReason why = ended && (reasons & ATTENTION_ABORT) != 0 ? DROP_ABORT : DROP_FAILURE;
        if (task->ops->drop != NULL && !task->ops->drop(stream, task, why)) { return true; }
        stream_drop(stream, task);
        *dropped = true;
        return false;
    }
    return (reasons & (ATTENTION_HELD | ATTENTION_QUEUE_OFF)) != 0;
}

static int32_t fail_task(Stream *stream, Task *task) {
    stream_attend(stream, ATTENTION_FAIL_NEXT, false);
    if (task->ops->drop != NULL && !task->ops->drop(stream, task, DROP_FAILURE)) { return TASK_PARKED; }
    return atomic_exchange(&stream->fail_next, 0);
}

static int32_t run_task(Stream *stream, Task *task) {
    uint32_t attention = atomic_load_explicit(&stream->attention, memory_order_relaxed);
    if ((attention & (ATTENTION_FAIL_NEXT | ATTENTION_STRICT)) == 0) { return task->ops->run(stream, task); }
    bool fail = (attention & ATTENTION_FAIL_NEXT) != 0 && stream->program == NULL; /* a program fails its own next task */
    int32_t outcome = fail ? fail_task(stream, task) : task->ops->run(stream, task);
    if ((attention & ATTENTION_STRICT) != 0) { strict_close(); }
    return outcome;
}

/* Runs a stream that this thread owns until it rests, or `target` is reached, or others should have their turn. */
static void run_stream(Stream *stream, uint64_t target, bool may_linger) {
    int budget = RUN_BUDGET;
    uint64_t known_tail = 0; /* looked up only when reached: the submitter is busy on its cache line */
    for (;;) {
        uint64_t position = atomic_load_explicit(&stream->done, memory_order_relaxed);
        if (position >= known_tail) { known_tail = atomic_load(&stream->tail); }
        if (position == known_tail) {
            if (may_linger && linger(stream)) { continue; }
            if (keep_after(stream, STREAM_IDLE)) { continue; }
            return;
        }
        if (position >= target || --budget < 0) {
            budget = RUN_BUDGET;
            if (position >= target || atomic_load_explicit(&queue.count, memory_order_relaxed) != 0) {
                atomic_store(&stream->state, STREAM_QUEUED);
                enqueue(stream);
                return;
            }
        }
        Task *task = stream->program == NULL ? stream_slot(stream, position) : program_player(stream->program);
        if (position + SLOTS_AHEAD < known_tail) { stream_prefetch_slot(stream, position + SLOTS_AHEAD); }
        bool dropped = false;
        bool park = atomic_load_explicit(&stream->attention, memory_order_relaxed) != 0 && attend(stream, task, &dropped);
        if (dropped) { continue; }
        int32_t outcome = park ? TASK_PARKED : run_task(stream, task);
        if (outcome >= 0) { stream_retire(stream, task, outcome); }
        else if (outcome == TASK_AGAIN) { budget = 0; }
        else if (!keep_after(stream, STREAM_PARKED)) { return; }
    }
}

void scheduler_submitted(Stream *stream) {
    if (atomic_load(&stream->state) != STREAM_IDLE) { return; }
    if (move_state(stream, STREAM_IDLE, STREAM_QUEUED)) { enqueue(stream); }
}

void stream_unpark(Stream *stream) {
    for (;;) {
        int state = atomic_load(&stream->state);
        switch (state) {
        case STREAM_IDLE:
        case STREAM_PARKED:
            if (move_state(stream, state, STREAM_QUEUED)) {
                enqueue(stream);
                return;
            }
            break;
        case STREAM_RUNNING:
            if (move_state(stream, state, STREAM_NOTIFIED)) { return; }
            break;
        default: return; /* queued or notified: the owner will look */
        }
    }
}

bool scheduler_help(Stream *stream, uint64_t target) {
    if (atomic_load(&stream->state) != STREAM_QUEUED) { return false; }
    pthread_mutex_lock(&queue.lock);
    bool mine = stream->in_queue;
    if (mine) {
        queue_remove(stream);
        atomic_store(&stream->state, STREAM_RUNNING);
    }
    pthread_mutex_unlock(&queue.lock);
    if (mine) {
        strict_enter();
        run_stream(stream, target, false);
        strict_leave();
    }
    return mine;
}

/* ---- workers ---- */

/* Looks for a while without holding anything. */
static void poll_queue(void) {
    for (int poll = 1; poll <= IDLE_POLLS; poll++) {
        if (atomic_load_explicit(&queue.count, memory_order_relaxed) != 0) { return; }
        for (int i = 0; i < IDLE_PAUSES; i++) { cpu_relax(); }
        if (poll % POLLS_PER_YIELD == 0) { sched_yield(); }
    }
}

static Stream *next_stream(void) {
    pthread_mutex_lock(&queue.lock);
    Stream *stream = queue_take();
    if (stream == NULL && cpus > 1 && queue.polling == 0) {
        queue.polling++;
        pthread_mutex_unlock(&queue.lock);
        poll_queue();
        pthread_mutex_lock(&queue.lock);
        queue.polling--;
        stream = queue_take();
    }
    while (stream == NULL) {
        queue.sleeping++;
        pthread_cond_wait(&queue.work, &queue.lock);
        queue.sleeping--;
        stream = queue_take();
    }
    bool called = queue_first() == NULL || call_worker();
    pthread_mutex_unlock(&queue.lock);
    if (!called) { start_watching(); }
    return stream;
}

static void *worker_main(void *unused) {
    (void)unused;
    emu_thread.device_depth = 1;
    for (;;) { run_stream(next_stream(), UINT64_MAX, true); }
    return NULL;
}

uint32_t scheduler_worker_count(void) {
    pthread_mutex_lock(&queue.lock);
    uint32_t count = queue.workers;
    pthread_mutex_unlock(&queue.lock);
    return count;
}

/* ---- the watchman: deadlines of waiting tasks, and stuck workers ---- */

static void arm(Stream *stream, uint64_t deadline, _Atomic(int32_t) *cancelled) {
    scheduler_many_cpus();
    pthread_mutex_lock(&watch.lock);
    if (!stream->timer_armed) {
        stream->cancel_when_due = cancelled;
        stream->timer_armed = true;
        stream->deadline = deadline;
        stream->timer_next = watch.armed;
        watch.armed = stream;
        if (!watch.started) { watch.started = start_thread(watchman_main); }
        pthread_cond_signal(&watch.changed);
    }
    pthread_mutex_unlock(&watch.lock);
}

void scheduler_arm_timer(Stream *stream, uint64_t deadline) { arm(stream, deadline, NULL); }

void scheduler_arm_cancel(Stream *stream, uint64_t deadline, _Atomic(int32_t) *cancelled) {
    arm(stream, deadline, cancelled);
}

void scheduler_start_polling(void) {
    scheduler_many_cpus();
    pthread_mutex_lock(&watch.lock);
    if (!watch.started) { watch.started = start_thread(watchman_main); }
    if (!watch.polling) {
        watch.polling = true;
        pthread_cond_signal(&watch.changed);
    }
    pthread_mutex_unlock(&watch.lock);
}

/* Outside the lock, since it unparks. Whoever starts to wait meanwhile sets `polling` again. */
static void poll_waits(void) {
    watch.polling = false;
    pthread_mutex_unlock(&watch.lock);
    bool more = poll_now();
    pthread_mutex_lock(&watch.lock);
    if (more) { watch.polling = true; }
}

static void unlink_timer(Stream *stream) {
    for (Stream **link = &watch.armed; *link != NULL; link = &(*link)->timer_next) {
        if (*link == stream) {
            *link = stream->timer_next;
            break;
        }
    }
    stream->timer_armed = false;
}

void scheduler_disarm_timer(Stream *stream) {
    pthread_mutex_lock(&watch.lock);
    if (stream->timer_armed) { unlink_timer(stream); }
    stream->cancel_when_due = NULL;
    pthread_mutex_unlock(&watch.lock);
    atomic_store(&stream->wait_expired, false);
}

/* The first stream whose deadline has passed, or NULL; *next = when the earliest of the others is due. */
static Stream *due_stream(uint64_t now, uint64_t *next) {
    *next = FOREVER;
    for (Stream *stream = watch.armed; stream != NULL; stream = stream->timer_next) {
        if (stream->deadline <= now) { return stream; }
        if (stream->deadline < *next) { *next = stream->deadline; }
    }
    return NULL;
}

/* Fires what is due; answers when the next one is. Unparks outside the lock (a stream that went on meanwhile takes
 * that for a spurious wake-up). */
static uint64_t fire_timers(uint64_t now) {
    uint64_t next;
    for (Stream *stream; (stream = due_stream(now, &next)) != NULL;) {
        unlink_timer(stream);
        atomic_store(&stream->wait_expired, true);
        if (stream->cancel_when_due != NULL) { atomic_store(stream->cancel_when_due, 1); }
        pthread_mutex_unlock(&watch.lock);
        stream_unpark(stream);
        pthread_mutex_lock(&watch.lock);
    }
    return next;
}

/* True while the run queue has streams that nobody could take. Adds a worker when nothing moved since the last look. */
static bool relieve_stuck_workers(uint64_t *taken_before) {
    pthread_mutex_lock(&queue.lock);
    bool waiting = queue_first() != NULL;
    if (waiting && queue.taken == *taken_before) { add_worker(); }
    *taken_before = queue.taken;
    pthread_mutex_unlock(&queue.lock);
    return waiting;
}

static void *watchman_main(void *unused) {
    (void)unused;
    uint64_t taken = UINT64_MAX;
    pthread_mutex_lock(&watch.lock);
    for (;;) {
        if (watch.polling) { poll_waits(); }
        uint64_t now = clock_now();
        uint64_t wake = fire_timers(now);
        if (watch.watching) {
            watch.watching = relieve_stuck_workers(&taken);
            if (!watch.watching) { taken = UINT64_MAX; }
        }
        if (watch.watching && now + WATCH_NS < wake) { wake = now + WATCH_NS; }
        if (watch.polling && now + POLL_NS < wake) { wake = now + POLL_NS; }
        if (wake == FOREVER) {
            pthread_cond_wait(&watch.changed, &watch.lock);
        } else {
            struct timespec until = clock_timespec(wake);
            pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
        }
    }
    return NULL;
}
