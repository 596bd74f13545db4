/* Programs: the tasks that a PERSISTENT stream, or a stream of a captured model, keeps instead of running them. When its
 * model is executed, the stream runs the program in place of its ring: to the scheduler a whole pass through it is one
 * task, the player, which runs recorded tasks where they lie, one after another, and parks with the one that parks.
 * `tail` and `done` of such a stream count passes: starting the program is submitting one.
 *
 * Tasks are added by submitters, under the stream's `submit`; they never move. While a pass is on, everything under
 * "player" belongs to the runner of the stream. */
#ifndef EMU_PROGRAM_H
#define EMU_PROGRAM_H

#include "engine/stream.h"

enum { PROGRAM_CHUNK_TASKS = 64 };

struct LaunchConfig;

/* What is known about a recorded task besides the task. */
typedef struct Node {
    struct Program *program;
    uint32_t index, sequence; /* in the program; in the model */
    Task *recorded;
    Task *task;               /* its definition: `recorded`, or as updated last */
    Task *_Atomic *slot;      /* what the player runs: `task`, or nothing at all while it is disabled */
    bool disabled;
    void *handle;             /* as an aclmdlRITask; made when somebody asks */
    const struct Node *after; /* event wait of a capture: the record it waits for */
    struct TaskGroup *group;
    struct LaunchConfig *config;
    void *op_info;            /* what aclrtCacheLastTaskOpInfo said about it, or NULL */
    size_t op_info_bytes;
    Task *staged;             /* aclmdlRITaskSetParams: from the next aclmdlRIUpdate on */
    struct LaunchConfig *staged_config;
    bool staged_disabled;
    struct Node *next_rearm;
} Node;

typedef struct Chunk {
    Task tasks[PROGRAM_CHUNK_TASKS]; /* as recorded */
    Task *_Atomic slots[PROGRAM_CHUNK_TASKS];
    Node nodes[PROGRAM_CHUNK_TASKS];
    struct Chunk *next;
} Chunk;

typedef struct Program {
    Recording recording;
    Stream *stream;
    struct Model *model; /* it is part of, or NULL */
    bool head;           /* starts with the model, not by another stream */
    bool hidden;         /* of a captured model: the stream is the model's own */
    bool sealed;         /* takes no tasks any more */
    bool ends_model;     /* has the task that marks the model's end */
    _Atomic(uint32_t) count;
    Chunk *first, *last;
    Node *rearm;
    struct Program *next; /* in its model */

    /* Under the model's lock: where passes that were started, and have not begun, will begin. */
    uint32_t *starts;
    uint32_t start_count, start_room;

    /* Player. */
    Task player;
    bool playing;
    uint32_t cursor, next_cursor, end;
    const Chunk *chunk; /* of the cursor */
    uint32_t chunk_index;
    _Atomic(Task *) current; /* what runs: for those who want to cancel it */
    pthread_mutex_t lock;    /* a task does not end its life while it is looked at through `current` */

    uint32_t reach, scanned; /* scratch of the end of a capture: how much of it is joined */
    struct Program *pool_next;
} Program;

Program *program_new(Stream *stream);
void program_free(Program *program);
/* Forgets all tasks. Nobody may be running it. */
void program_clear(Program *program);

static inline Task *program_player(Program *program) { return &program->player; }

/* Asks the kernel that may be running to return. */
void program_cancel(Program *program);

/* Under the model's lock: another pass, from `position` on. False without memory. */
bool program_start(Program *program, uint32_t position);

/* For a task that runs, on its own stream: what comes next is the task at `position`. */
static inline void program_jump(Stream *stream, uint32_t position) { stream->program->next_cursor = position; }
/* Nothing does: the pass ends. */
static inline void program_stop(Stream *stream) { stream->program->next_cursor = UINT32_MAX; }

static inline uint32_t program_count(const Program *program) {
    return atomic_load_explicit(&program->count, memory_order_acquire);
}
Node *program_node(const Program *program, uint32_t index);
/* One after another: NULL behind the last. */
Node *program_first(const Program *program);
Node *program_next(const Node *node);
/* Of the task that has begun and is not committed, under the stream's `submit`. */
static inline Node *program_open_node(Program *program) {
    return &program->last->nodes[program_count(program) % PROGRAM_CHUNK_TASKS];
}

/* Ends the life of a task that was made for the node and that no player can meet any more. */
void program_end_task(const Node *node, Task *task);
/* A task of its own memory, for new parameters of a recorded one. */
Task *task_new(void);

/* Stands for tasks that are disabled. */
extern Task program_nothing;

#endif
