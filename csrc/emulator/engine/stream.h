/* Streams. A stream is an actor: a bounded ring of tasks, a position, and a state that says who may run it. It owns
 * no thread. Submitters publish tasks at `tail`; whoever moved the state to RUNNING (a worker, or a thread that
 * synchronizes on a FAST_SYNC stream) retires them at `done`, one after another. Stream memory is never given back,
 * only used again: a late reader of a destroyed stream finds an idle one, not freed memory. */
#ifndef EMU_STREAM_H
#define EMU_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "acl/acl.h"
#include "engine/context.h"
#include "engine/spot.h"
#include "engine/task.h"

typedef enum StreamState {
    STREAM_IDLE,     /* nothing to do; a submitter queues it */
    STREAM_QUEUED,   /* in the run queue */
    STREAM_RUNNING,  /* owned by one thread */
    STREAM_NOTIFIED, /* as RUNNING, and what it may be about to wait for has happened */
    STREAM_PARKED,   /* its head task waits; stream_unpark queues it */
} StreamState;

/* Reasons for the runner to look up before the next task. */
enum {
    ATTENTION_HELD = 1,
    ATTENTION_ABORT = 2,   /* drop what is before abort_to */
    ATTENTION_FAILED = 4,  /* STOP mode: drop everything */
    ATTENTION_FAIL_NEXT = 8,
    ATTENTION_QUEUE_OFF = 16,
    ATTENTION_CLOSING = 32, /* the last task is done or will never be: do not linger */
    ATTENTION_STRICT = 128, /* always on in strict mode: something is to be done after each task */
    ATTENTION_STOP = 64,    /* as ABORT, but what is dropped ends instead of never happening: its event records fire */
};

typedef bool (*PollCondition)(const void *subject);

struct Recording;

/* All under the stream's `submit`. */
typedef struct RecordingOps {
    aclError (*begin)(struct Recording *recording, const char *api, Task **task);
    void (*commit)(struct Recording *recording, Task *task);
    void (*cancel)(struct Recording *recording, Task *task);
    /* The launch that has just begun came with this configuration. */
    void (*describe)(struct Recording *recording, const aclrtLaunchKernelCfg *config);
    void (*abandon)(struct Recording *recording); /* the stream ends */
} RecordingOps;

/* Where the tasks of a stream go instead of into its ring: a program (program.h), or new parameters for one (update.h). */
typedef struct Recording {
    const RecordingOps *ops;
} Recording;

typedef struct Stream {
    /* Read by everybody, hardly ever written. The groups below live on cache lines of their own: the submitter and the
     * runner are on different cores, and a line that both touch costs more than the launch. */
    void *handle;
    Context *context;
    Task *ring; /* made by the first launch, or at creation with FAST_LAUNCH */
    Recording *recording;     /* NULL: tasks go into the ring. Changed under `submit` */
    struct Program *program;  /* PERSISTENT: what runs in place of the ring when a model executes it; else NULL */
    int32_t id;
    uint32_t flags, priority;
    bool is_default;
    struct Stream *next, *previous; /* in the list of all live streams */
    uint64_t done_at_creation;      /* the counters go on when stream memory is used again */

    /* Submitters, under `submit`. */
    _Alignas(64) pthread_mutex_t submit;
    uint64_t room_until; /* tail may go this far without asking how far `done` is */
    _Alignas(64) _Atomic(uint64_t) tail;

    /* The runner. */
    _Alignas(64) _Atomic(uint64_t) done;
    _Atomic(bool) wait_expired; /* the head task's deadline passed */
    uint64_t deadline;
    bool timer_armed;           /* under the watchman's lock, like the next two */
    struct Stream *timer_next;
    _Atomic(int32_t) *cancel_when_due; /* of a kernel with a time limit, or NULL */
    struct Stream *parked_next; /* in the list of what the head task waits for, under that list's lock */
    bool is_parked;
    PollCondition poll_condition;   /* of a polled wait, under poll.c's lock */
    const void *poll_subject;

    /* Who runs it, and why it should look up. */
    _Alignas(64) _Atomic(int) state;
    _Atomic(uint32_t) attention;
    _Atomic(uint64_t) abort_to;
    _Atomic(uint64_t) abort_count; /* changes when an abort begins */
    _Atomic(bool) aborting;
    _Atomic(int32_t) fail_next;
    struct Stream *run_next, *run_previous; /* in the run queue, under its lock */
    bool in_queue;          /* the state says QUEUED a moment earlier. Under the queue's lock */
    _Atomic(int32_t) error; /* CONTINUE mode: the last failure, reported once */
    Spot finished;          /* waiters for `done`, failure or abort */

    /* Host-side state, under `submit`. */
    uint64_t failure_mode;
    uint32_t overflow_switch, custom_tag, cache_op_info, device_priority, launch_blocking;
    _Atomic(uint32_t) core_limit[CORE_KINDS]; /* limit + 1; 0 = the device's: see resource.h */
    _Atomic(uint32_t) nonblocking_depth;
    _Atomic(void *) subscriber;   /* who runs its callbacks, or NULL: see report.h */
    struct Model *_Atomic model;  /* bound to, or NULL */
    struct Member *_Atomic capture; /* its part in a capture, or NULL; read further only under capture.c's lock */
    struct Stream *pool_next;
} Stream;

#define CUSTOM_TAG_NONE 0xFFFFFFFFU
#define STREAM_FLAGS_KNOWN 0x3FU
/* Streams whose end nobody waits for through synchronize and query. */
#define STREAM_FLAGS_UNWAITED (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

/* Makes a stream of `context` and reports it to the stream-state callbacks. `counted`: against the product's limit. */
aclError stream_create(Context *context, uint32_t priority, uint32_t flags, bool counted, Stream **stream,
                       const char *api);
/* As stream_create, for a stream of a model's own: nobody is told. */
aclError stream_create_hidden(Context *context, uint32_t priority, uint32_t flags, Stream **stream, const char *api);
/* Ends it: waits for its tasks, or with `force` drops them; then gives the id back. */
void stream_destroy(Stream *stream, bool force);

/* Handle -> stream. NULL means the default stream of the current context (107002 without one). */
aclError stream_find(const char *api, aclrtStream handle, Stream **stream);
/* As stream_find, and the stream must belong to the current context (107002, 107003). */
aclError stream_find_own(const char *api, aclrtStream handle, Stream **stream);

/* Takes the next free slot, waiting while the queue is full, and holds the stream until stream_commit or
 * stream_cancel. The caller fills task->as and inline_args. */
aclError stream_begin(Stream *stream, const char *api, const TaskOps *ops, Task **task);
void stream_commit(Stream *stream, Task *task);
void stream_cancel(Stream *stream, Task *task);

/* Waits until everything submitted so far is done. timeout_ns 0 = for ever. Returns (and takes) the stream's error. */
aclError stream_synchronize(Stream *stream, const char *api, uint64_t timeout_ns);
/* The error that keeps this stream from taking or finishing work, or 0. */
aclError stream_trouble(Stream *stream, const char *api);
static inline bool stream_is_done(Stream *stream) {
    return atomic_load(&stream->done) == atomic_load(&stream->tail);
}

uint64_t stream_live_count(void);

aclError stream_abort(Stream *stream, const char *api);
void stream_stop(Stream *stream);
/* Has everything dropped that is or will be queued, until ATTENTION_ABORT is taken back. Does not wait. */
void stream_drop_queued(Stream *stream);

/* What the runner does with the head task's outcome (called by the scheduler only). */
void stream_retire(Stream *stream, Task *task, int32_t outcome);
void stream_drop(Stream *stream, Task *task);

/* An outcome that a program expects now and then, and that is not worth an alarm. */
bool stream_is_business_code(int32_t code);
/* Tells whoever wants to know that `task` ended with `code`, unless it only relays what has been told. */
void stream_tell_failure(Stream *stream, const Task *task, int32_t code);

void stream_attend(Stream *stream, uint32_t reason, bool on);
/* Visits every live stream. The visitor must neither create nor destroy streams. */
void stream_for_each(void (*visit)(Stream *stream, void *argument), void *argument);
void stream_hold_all(bool on);

enum { STREAM_RING_SLOTS = 2048 };
static inline Task *stream_slot(Stream *stream, uint64_t position) {
    return &stream->ring[position & (STREAM_RING_SLOTS - 1)];
}

/* The lines that a launch with few arguments fills. */
static inline void stream_prefetch_slot(Stream *stream, uint64_t position) {
    char *slot = (char *)stream_slot(stream, position);
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + TASK_ALIGNMENT);
}

#endif
