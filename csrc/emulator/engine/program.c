/* Programs: recording tasks, and the player. See program.h. */
#include "engine/program.h"

#include <stdlib.h>

#include "engine/config.h"
#include "engine/error.h"
#include "engine/handle.h"
#include "engine/execution.h"
#include "engine/pool.h"
#include "engine/scheduler.h"
#include "engine/strict.h"
#include "soc/soc.h"

enum {
    PLAY_SHARE = 256, /* tasks before the scheduler looks whether others wait */
    TASKS_AHEAD = 4,
};

static Pool programs = POOL(Program, pool_next);

static int32_t run_nothing(Stream *stream, Task *task) {
    (void)stream;
    (void)task;
    return 0;
}

static const TaskOps nothing_ops = {.name = "nothing", .run = run_nothing};
Task program_nothing = {.ops = &nothing_ops};

/* ---- recording; under the stream's `submit` ---- */

static Program *program_of(Recording *recording) { return (Program *)recording; }

static bool add_chunk(Program *program) {
    Chunk *chunk = aligned_alloc(TASK_ALIGNMENT, (sizeof(*chunk) + TASK_ALIGNMENT - 1) / TASK_ALIGNMENT * TASK_ALIGNMENT);
    if (chunk == NULL) { return false; }
    chunk->next = NULL;
    if (program->last == NULL) { program->first = chunk; }
    else { program->last->next = chunk; }
    program->last = chunk;
    return true;
}

/* The hardware queue of a PERSISTENT stream is bounded; a captured model goes on in another one. */
static aclError check_room(const Program *program, uint32_t count, const char *api) {
    uint32_t limit = soc_product()->persistent_depth;
    if (program->sealed) {
        return emu_fail(ACL_ERROR_RT_INTERNAL_ERROR, api, "the model of stream %d is complete: no task can be added",
                        program->stream->id);
    }
    if (program->hidden || count < limit) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_TASK_FULL, api, "the persistent stream is full (%u tasks)", limit);
}

static aclError begin(Recording *recording, const char *api, Task **task) {
    Program *program = program_of(recording);
    uint32_t count = program_count(program), place = count % PROGRAM_CHUNK_TASKS;
    TRY(check_room(program, count, api));
    bool full = place == 0 && (program->first == NULL || count > program->last->nodes[0].index);
    if (full && !add_chunk(program)) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a task"); }
    *task = &program->last->tasks[place];
    program->last->nodes[place] =
        (Node){.program = program, .index = count, .recorded = *task, .task = *task, .slot = &program->last->slots[place]};
    return ACL_SUCCESS;
}

static void commit(Recording *recording, Task *task) {
    Program *program = program_of(recording);
    Node *node = program_open_node(program);
    task->id = node->index;
    if (program->model != NULL) { node->sequence = atomic_fetch_add(&program->model->recorded, 1); }
    if (task->ops->rearm != NULL) {
        node->next_rearm = program->rearm;
        program->rearm = node;
    }
    atomic_store_explicit(node->slot, task, memory_order_relaxed);
    atomic_store_explicit(&program->count, node->index + 1, memory_order_release);
}

static void cancel(Recording *recording, Task *task) {
    (void)task;
    config_free(program_open_node(program_of(recording))->config);
}

static void describe(Recording *recording, const aclrtLaunchKernelCfg *config) {
    program_open_node(program_of(recording))->config = config_copy(config);
}

static void abandon(Recording *recording) { (void)recording; } /* the program goes with its stream */

static const RecordingOps recording_ops = {begin, commit, cancel, describe, abandon};

/* ---- life ---- */

static int32_t play(Stream *stream, Task *self);
static bool drop_pass(Stream *stream, Task *self, DropReason reason);

static const TaskOps play_ops = {.name = "program", .run = play, .drop = drop_pass};

Program *program_new(Stream *stream) {
    int fresh;
    Program *program = pool_take(&programs, &fresh);
    if (program == NULL) { return NULL; }
    if (fresh) {
        pthread_mutex_init(&program->lock, NULL);
        program->recording.ops = &recording_ops;
        program->player.ops = &play_ops;
    }
    program->stream = stream;
    program->model = NULL;
    program->head = program->hidden = program->sealed = program->ends_model = false;
    return program;
}

Task *task_new(void) { return aligned_alloc(TASK_ALIGNMENT, sizeof(Task)); }

void program_end_task(const Node *node, Task *task) {
    if (task->ops->release != NULL) { task->ops->release(task); }
    if (task == node->recorded) { return; }
    pthread_mutex_lock(&node->program->lock);
    free(task);
    pthread_mutex_unlock(&node->program->lock);
}

static void end_node(const Node *node) {
    program_end_task(node, node->task);
    if (node->staged != NULL) { program_end_task(node, node->staged); }
    config_free(node->staged_config);
    if (node->handle != NULL) { handle_drop(node->handle); }
    config_free(node->config);
    free(node->op_info);
}

void program_clear(Program *program) {
    uint32_t count = program_count(program);
    atomic_store(&program->count, 0);
    program->rearm = NULL;
    for (Chunk *chunk = program->first; chunk != NULL;) {
        uint32_t here = count < PROGRAM_CHUNK_TASKS ? count : PROGRAM_CHUNK_TASKS;
        for (uint32_t i = 0; i < here; i++) { end_node(&chunk->nodes[i]); }
        count -= here;
        Chunk *next = chunk->next;
        pthread_mutex_lock(&program->lock);
        free(chunk);
        pthread_mutex_unlock(&program->lock);
        chunk = next;
    }
    program->first = program->last = NULL;
}

void program_free(Program *program) {
    program_clear(program);
    free(program->starts);
    program->starts = NULL;
    program->start_count = program->start_room = 0;
    pool_give(&programs, program);
}

Node *program_node(const Program *program, uint32_t index) {
    Chunk *chunk = program->first;
    for (; index >= PROGRAM_CHUNK_TASKS; index -= PROGRAM_CHUNK_TASKS) { chunk = chunk->next; }
    return &chunk->nodes[index];
}

Node *program_first(const Program *program) {
    return program_count(program) == 0 ? NULL : &program->first->nodes[0];
}

Node *program_next(const Node *node) {
    uint32_t place = node->index % PROGRAM_CHUNK_TASKS;
    if (node->index + 1 == program_count(node->program)) { return NULL; }
    if (place + 1 < PROGRAM_CHUNK_TASKS) { return (Node *)node + 1; }
    const char *nodes = (const char *)(node - place);
    return &((const Chunk *)(nodes - offsetof(Chunk, nodes)))->next->nodes[0];
}

/* ---- the player ---- */

bool program_start(Program *program, uint32_t position) {
    if (program->start_count == program->start_room) {
        uint32_t room = program->start_room == 0 ? 4 : 2 * program->start_room;
        uint32_t *starts = realloc(program->starts, room * sizeof(*starts));
        if (starts == NULL) { return false; }
        program->starts = starts;
        program->start_room = room;
    }
    program->starts[program->start_count++] = position;
    atomic_fetch_add(&program->stream->tail, 1);
    scheduler_submitted(program->stream);
    return true;
}

static void take_start(Program *program) {
    pthread_mutex_lock(&program->model->lock);
    program->cursor = program->starts[0];
    program->start_count--;
    for (uint32_t i = 0; i < program->start_count; i++) { program->starts[i] = program->starts[i + 1]; }
    pthread_mutex_unlock(&program->model->lock);
    program->end = program_count(program);
    program->chunk = NULL;
    program->playing = true;
}

static void seek(Program *program) {
    uint32_t wanted = program->cursor / PROGRAM_CHUNK_TASKS;
    if (program->chunk == NULL || wanted < program->chunk_index) {
        program->chunk = program->first;
        program->chunk_index = 0;
    }
    for (; program->chunk_index < wanted; program->chunk_index++) { program->chunk = program->chunk->next; }
}

static inline Task *task_at_cursor(Program *program) {
    uint32_t place = program->cursor % PROGRAM_CHUNK_TASKS;
    if (program->chunk == NULL || program->cursor / PROGRAM_CHUNK_TASKS != program->chunk_index) { seek(program); }
    if (place + TASKS_AHEAD < PROGRAM_CHUNK_TASKS) { __builtin_prefetch(&program->chunk->tasks[place + TASKS_AHEAD]); }
    return atomic_load_explicit(&program->chunk->slots[place], memory_order_acquire);
}

void program_cancel(Program *program) {
    pthread_mutex_lock(&program->lock);
    Task *task = atomic_load(&program->current);
    if (task != NULL) { atomic_store(&task->cancelled, 1); }
    pthread_mutex_unlock(&program->lock);
}

/* The pass is over: from here on the model may be executed again, or be gone. */
static void end_pass(Program *program) {
    program->playing = false;
    atomic_store(&program->current, NULL);
    if (strict_active) { strict_close(); } /* before anybody hears of the end */
    model_pass_ended(program->model);
}

static int32_t fail_injected(Stream *stream, Task *task) {
    if (task->ops->drop != NULL && !task->ops->drop(stream, task, DROP_FAILURE)) { return TASK_PARKED; }
    stream_attend(stream, ATTENTION_FAIL_NEXT, false);
    return atomic_exchange(&stream->fail_next, 0);
}

/* What an aborted task answers is of no interest. */
static void take_outcome(Program *program, const Task *task, int32_t outcome) {
    if ((atomic_load(&program->stream->attention) & ATTENTION_ABORT) != 0) { return; }
    stream_tell_failure(program->stream, task, outcome);
    model_task_failed(program->model, outcome);
}

/* The task is published before the runner looks for reasons to stop, and whoever wants it to stop gives the reason
 * before looking for the task: one of the two sees the other, and no kernel starts that nobody cancels. */
static int32_t play(Stream *stream, Task *self) {
    (void)self;
    Program *program = stream->program;
    if (!program->playing) { take_start(program); }
    for (int done = 0; program->cursor < program->end; done++) {
        Task *task = task_at_cursor(program);
        if (atomic_load_explicit(&task->cancelled, memory_order_relaxed) != 0) { atomic_store(&task->cancelled, 0); }
        atomic_store(&program->current, task);
        uint32_t attention = atomic_load(&stream->attention);
        if ((attention & ATTENTION_ABORT) != 0 || (attention != 0 && done > 0) || done == PLAY_SHARE) { return TASK_AGAIN; }
        program->next_cursor = program->cursor + 1;
        bool fail = (attention & ATTENTION_FAIL_NEXT) != 0;
        int32_t outcome = fail ? fail_injected(stream, task) : task->ops->run(stream, task);
        if (outcome < 0) { return outcome; }
        program->cursor = program->next_cursor;
        if (outcome != 0) { take_outcome(program, task, outcome); }
    }
    end_pass(program);
    return 0;
}

/* Ends the pass at the task it has come to. */
static bool drop_pass(Stream *stream, Task *self, DropReason reason) {
    (void)self;
    Program *program = stream->program;
    if (!program->playing) { take_start(program); }
    if (program->cursor < program->end) {
        Task *task = task_at_cursor(program);
        if (task->ops->drop != NULL && !task->ops->drop(stream, task, reason)) { return false; }
    }
    model_pass_dropped(program->model);
    end_pass(program);
    return true;
}
