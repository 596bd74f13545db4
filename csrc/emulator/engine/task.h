/* A task: one step of work in a stream's queue. What kinds there are is known by their TaskOps tables alone: the
 * queue, the scheduler and the models handle every kind alike.
 * A task that a model recorded runs once in each execution: when run has answered (or drop has answered true), the task
 * must be as it was before, ready for the next run. Executions of one model never overlap. */
#ifndef EMU_TASK_H
#define EMU_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Stream;
struct Task;
struct Record;
struct Event;
struct Notify;
struct CntNotify;
struct Function;
struct pyaclBlock;

/* run() answers 0, a device error, or TASK_PARKED: it has registered the stream with what it waits for, will be
 * called again after stream_unpark, and has changed nothing that a second call would do twice. */
#define TASK_PARKED (-1)
/* Of a task that runs others (see program.h): it has done its share for now and wants to go on. */
#define TASK_AGAIN (-2)

typedef enum DropReason {
    DROP_ABORT,  /* the stream was aborted: the task never happens */
    DROP_FAILURE /* an earlier task failed in STOP mode: event records fire, so that nobody waits for ever */
} DropReason;

typedef struct TaskOps {
    const char *name;
    int32_t (*run)(struct Stream *stream, struct Task *task);
    /* Optional. Called instead of (another) run; false = cannot be dropped yet, stream_unpark will follow. */
    bool (*drop)(struct Stream *stream, struct Task *task, DropReason reason);
    /* Optional. Gives back what the task holds. Called once: after run or drop, or when its model is done with it. */
    void (*release)(struct Task *task);
    /* Optional, recorded tasks only: an execution begins, what the last one left behind is to be forgotten. */
    void (*rearm)(struct Task *task);
    int kind;    /* aclmdlRITaskType */
    bool relays; /* it fails with what another task failed with, which has been told already */
} TaskOps;

enum { TASK_INLINE_ARGS = 128, TASK_ALIGNMENT = 64 };

typedef struct KernelTask {
    struct Function *function;
    int32_t (*entry)(const void *args, const struct pyaclBlock *block);
    void *heap_args;    /* arguments too large for inline_args, or NULL */
    const void *device_args; /* arguments in device memory, read when the kernel runs, or NULL */
    uint32_t args_size, blocks;
} KernelTask;

typedef struct CopyTask {
    void *destination;
    const void *source;
    size_t bytes;
    uint64_t sum;    /* of the source at the call: strict mode */
    uint32_t checks; /* before it runs: see transfer.c */
} CopyTask;

typedef struct PlanesTask {
    struct CheckedPlane *planes;
    size_t count;
} PlanesTask;

typedef struct IndirectCopyTask {
    void *const *destination; /* in device memory, read when the task runs, like the next */
    const void *const *source;
    size_t to_offset, from_offset, bytes;
} IndirectCopyTask;

typedef struct FreeTask {
    void *address;
} FreeTask;

typedef struct FillTask {
    void *destination;
    size_t count;
    uint32_t value, width; /* width in bytes: 1 or 4 */
    bool check;            /* it was memory of the runtime's at the call: it must still be */
} FillTask;

typedef struct EventTask {
    struct Event *event;
    struct Record *record;
    uint64_t timeout_ns; /* 0 = for ever */
    bool external;
} EventTask;

typedef struct NotifyTask {
    struct Notify *notify;
    uint64_t timeout_ns; /* 0 = for ever */
} NotifyTask;

typedef struct CntNotifyTask {
    struct CntNotify *notify;
    uint64_t timeout_ns; /* 0 = for ever */
    uint32_t value;
    int mode; /* aclrtCntNotifyRecordMode or aclrtCntNotifyWaitMode */
    bool clear;
} CntNotifyTask;

typedef struct ValueTask {
    uint64_t *cell; /* in device memory */
    uint64_t value;
    uint32_t comparison; /* ACL_STREAM_WAIT_VALUE_... */
} ValueTask;

typedef struct IpcEventTask {
    struct SharedCell *cell;
    uint64_t number;     /* of the record */
    uint64_t timeout_ns; /* 0 = for ever */
} IpcEventTask;

typedef struct HostTask {
    void (*function)(void *);
    void *argument;
    struct Stream *stream;
    struct Task *next;
    int state; /* HostState, guarded by the host thread's lock */
    bool blocking;
} HostTask;

typedef struct ReportTask {
    void (*function)(void *);
    void *argument;
    struct ReportThread *server; /* the thread that will run it */
    struct Report *delivered;    /* a blocking one that its thread has not finished, or NULL */
    bool blocking;
} ReportTask;

typedef struct ExecuteTask {
    struct Model *model;
    struct Execution *execution;
} ExecuteTask;

typedef struct UpdateTask {
    struct Update *update; /* new parameters of recorded tasks, put in force when the task runs */
} UpdateTask;

typedef struct ActiveTask {
    void *target; /* handle of the stream that begins to run */
} ActiveTask;

typedef struct SwitchTask {
    const void *left, *right; /* in device memory, read when the task runs */
    void *target;             /* handle of the stream that goes on instead of this one */
    int condition;            /* aclrtCondition */
    bool wide;                /* 64-bit values */
} SwitchTask;

typedef struct LabelTask {
    const uint32_t *index; /* in device memory, read when the task runs */
    struct LabelList *list;
    uint32_t limit;
} LabelTask;

typedef struct ConditionTask {
    struct Branch *branch;
} ConditionTask;

/* The head fills one cache line and 16 arguments two more: what a launch writes and a worker reads is what it costs
 * to move lines between their cores. */
typedef struct Task {
    _Alignas(TASK_ALIGNMENT) const TaskOps *ops;
    uint32_t id, thread_id;
    _Atomic(int32_t) cancelled; /* an abort asks the running kernel to return */
    union {
        KernelTask kernel;
        CopyTask copy;
        PlanesTask planes;
        IndirectCopyTask indirect_copy;
        FillTask fill;
        FreeTask free;
        EventTask event;
        NotifyTask notify;
        CntNotifyTask cnt_notify;
        ValueTask value;
        IpcEventTask ipc_event;
        HostTask host;
        ReportTask report;
        ExecuteTask execute;
        UpdateTask update;
        ActiveTask active;
        SwitchTask choice;
        LabelTask label;
        ConditionTask condition;
    } as;
    _Alignas(TASK_ALIGNMENT) unsigned char inline_args[TASK_INLINE_ARGS];
} Task;

_Static_assert(sizeof(Task) == TASK_ALIGNMENT + TASK_INLINE_ARGS, "the head of a task is one cache line");

#endif
