/* Updates: see update.h. A change swaps the pointer through which the player finds a task. The task that was there lives
 * on until no execution is on: its stream may be running it. */
#include "engine/update.h"

#include <stdlib.h>
#include <string.h>

#include "engine/config.h"
#include "engine/error.h"
#include "engine/handle.h"

typedef struct Change {
    Node *node;
    Task *task; /* the new one; once applied, the old one; NULL: the definition stays */
    LaunchConfig *config;
    bool disabled, applied;
} Change;

typedef struct Update {
    Recording recording; /* while tasks are collected */
    Recording *previous; /* what the stream recorded into before */
    Model *model;
    TaskGroup *group; /* gone when the model is dead */
    uint32_t first;   /* place of the group in its program */
    Change *changes;
    uint32_t count, room;
    struct Update *next; /* among those that the model has still to apply */
} Update;

/* ---- groups ---- */

TaskGroup *group_new(Model *model, Program *program, uint32_t first, uint32_t count) {
    TaskGroup *group = calloc(1, sizeof(*group));
    void *handle = group == NULL ? NULL : handle_new(KIND_TASK_GROUP, group);
    if (handle == NULL) {
        free(group);
        return NULL;
    }
    *group = (TaskGroup){.handle = handle, .model = model, .program = program, .first = first, .count = count};
    for (uint32_t i = 0; i < count; i++) { program_node(program, first + i)->group = group; }
    pthread_mutex_lock(&model->lock);
    group->next = model->groups;
    model->groups = group;
    pthread_mutex_unlock(&model->lock);
    return group;
}

aclError group_find(const char *api, aclrtTaskGrp handle, TaskGroup **group) {
    *group = handle_get(KIND_TASK_GROUP, handle);
    if (*group != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no task group, or one whose model was destroyed", handle);
}

/* ---- applying; under the model's lock ---- */

static void swap(Change *change) {
    Node *node = change->node;
    if (change->task != NULL) {
        Task *old = node->task;
        LaunchConfig *old_config = node->config;
        change->task->id = node->index;
        node->task = change->task;
        node->config = change->config;
        change->task = old;
        change->config = old_config;
    }
    node->disabled = change->disabled;
    atomic_store_explicit(node->slot, node->disabled ? &program_nothing : node->task, memory_order_release);
    change->applied = true;
}

/* What was put in force left a task that was in force before; what was not is nobody's. */
static void end_change(const Change *change) {
    config_free(change->config);
    if (change->task == NULL) { return; }
    if (change->applied) {
        program_end_task(change->node, change->task);
        return;
    }
    if (change->task->ops->release != NULL) { change->task->ops->release(change->task); }
    free(change->task);
}

/* No execution is on. */
static void free_update(Update *update) {
    for (uint32_t i = 0; i < update->count; i++) { end_change(&update->changes[i]); }
    free(update->changes);
    free(update);
}

static void apply(Update *update) {
    for (uint32_t i = 0; i < update->count; i++) {
        if (!update->changes[i].applied) { swap(&update->changes[i]); }
    }
    free_update(update);
}

void update_apply_pending(Model *model) {
    while (model->pending != NULL) {
        Update *update = model->pending;
        model->pending = update->next;
        apply(update);
    }
    model->last_pending = NULL;
}

static void append(Model *model, Update *update) {
    update->next = NULL;
    if (model->last_pending == NULL) { model->pending = update; }
    else { model->last_pending->next = update; }
    model->last_pending = update;
}

/* Takes the update over. */
static void apply_or_keep(Model *model, Update *update) {
    pthread_mutex_lock(&model->lock);
    bool dead = model->dead;
    if (!dead && model->running == NULL) { apply(update); }
    else if (!dead) { append(model, update); }
    pthread_mutex_unlock(&model->lock);
    if (dead) { free_update(update); }
}

/* A task that can be dropped may be one that is parked just now: it has to come back to itself. */
static bool may_change_now(const Change *change) { return !change->applied && change->node->task->ops->drop == NULL; }

void update_catch_up(Model *model) {
    pthread_mutex_lock(&model->lock);
    for (Update *update = model->pending; update != NULL; update = update->next) {
        for (uint32_t i = 0; i < update->count; i++) {
            if (may_change_now(&update->changes[i])) { swap(&update->changes[i]); }
        }
    }
    pthread_mutex_unlock(&model->lock);
}

void update_forget(Model *model) {
    while (model->pending != NULL) {
        Update *update = model->pending;
        model->pending = update->next;
        free_update(update);
    }
    model->last_pending = NULL;
    for (TaskGroup *group = model->groups; group != NULL;) {
        TaskGroup *next = group->next;
        handle_drop(group->handle);
        free(group);
        group = next;
    }
    model->groups = NULL;
}

/* ---- collecting tasks; under the stream's `submit` ---- */

static Update *update_of(Recording *recording) { return (Update *)recording; }

static aclError begin(Recording *recording, const char *api, Task **task) {
    Update *update = update_of(recording);
    if (update->count == update->room) {
        uint32_t room = update->room == 0 ? 8 : 2 * update->room;
        Change *changes = realloc(update->changes, room * sizeof(*changes));
        if (changes == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for an update"); }
        update->changes = changes;
        update->room = room;
    }
    *task = task_new();
    if (*task == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a task"); }
    update->changes[update->count] = (Change){.task = *task};
    return ACL_SUCCESS;
}

static void commit(Recording *recording, Task *task) {
    Update *update = update_of(recording);
    task->id = update->first + update->count++;
}

static void cancel(Recording *recording, Task *task) {
    Update *update = update_of(recording);
    config_free(update->changes[update->count].config);
    free(task);
}

static void describe(Recording *recording, const aclrtLaunchKernelCfg *config) {
    Update *update = update_of(recording);
    update->changes[update->count].config = config_copy(config);
}

static void leave_group(Update *update) {
    Model *model = update->model;
    pthread_mutex_lock(&model->lock);
    if (!model->dead) { update->group->in_update = false; }
    pthread_mutex_unlock(&model->lock);
}

static void discard(Update *update) {
    Model *model = update->model;
    free_update(update);
    model_release(model);
}

/* Its program, if it has one, goes with the stream. */
static void abandon(Recording *recording) {
    leave_group(update_of(recording));
    discard(update_of(recording));
}

static const RecordingOps update_recording_ops = {begin, commit, cancel, describe, abandon};

static Update *open_update(Stream *stream) {
    bool open = stream->recording != NULL && stream->recording->ops == &update_recording_ops;
    return open ? update_of(stream->recording) : NULL;
}

bool update_is_open(Stream *stream) {
    pthread_mutex_lock(&stream->submit);
    bool open = open_update(stream) != NULL;
    pthread_mutex_unlock(&stream->submit);
    return open;
}

/* ---- beginning and ending ---- */

static bool enter_group(TaskGroup *group) {
    pthread_mutex_lock(&group->model->lock);
    bool entered = !group->in_update;
    group->in_update = true;
    pthread_mutex_unlock(&group->model->lock);
    return entered;
}

aclError update_begin(Stream *stream, TaskGroup *group, const char *api) {
    Update *update = calloc(1, sizeof(*update));
    if (update == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for an update"); }
    update->recording.ops = &update_recording_ops;
    pthread_mutex_lock(&stream->submit);
    bool free_stream = open_update(stream) == NULL;
    bool entered = free_stream && enter_group(group);
    if (entered) {
        update->model = model_retain(group->model);
        update->group = group;
        update->first = group->first;
        update->previous = stream->recording;
        stream->recording = &update->recording;
    }
    pthread_mutex_unlock(&stream->submit);
    if (entered) { return ACL_SUCCESS; }
    free(update);
    return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, api, "the %s is in an update already", free_stream ? "group" : "stream");
}

static int32_t run_update(Stream *stream, Task *task) {
    (void)stream;
    Update *update = task->as.update.update;
    if (update == NULL) { return 0; } /* in a model, which runs it again */
    task->as.update.update = NULL;
    Model *model = update->model;
    apply_or_keep(model, update);
    model_release(model);
    return 0;
}

static void release_update(Task *task) {
    if (task->as.update.update != NULL) { discard(task->as.update.update); }
}

static const TaskOps update_ops = {.name = "task update", .run = run_update, .release = release_update};

/* The tasks meet those they replace. False when they are not of the same kinds. */
static bool match(Update *update) {
    const TaskGroup *group = update->group;
    pthread_mutex_lock(&update->model->lock);
    bool same = !update->model->dead && update->count == group->count;
    Node *node = same && group->count > 0 ? program_node(group->program, group->first) : NULL;
    for (uint32_t i = 0; same && i < group->count; i++, node = program_next(node)) {
        update->changes[i].node = node;
        same = strcmp(node->task->ops->name, update->changes[i].task->ops->name) == 0;
    }
    pthread_mutex_unlock(&update->model->lock);
    return same;
}

static aclError submit(Update *update, Stream *stream, const char *api) {
    Task *task;
    aclError code = stream_begin(stream, api, &update_ops, &task);
    if (code != ACL_SUCCESS) {
        discard(update);
        return code;
    }
    task->as.update.update = update;
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError update_end(Stream *stream, const char *api) {
    pthread_mutex_lock(&stream->submit);
    Update *update = open_update(stream);
    if (update != NULL) { stream->recording = update->previous; }
    pthread_mutex_unlock(&stream->submit);
    if (update == NULL) { return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, api, "no update was begun on stream %d", stream->id); }
    leave_group(update);
    if (match(update)) { return submit(update, stream, api); }
    discard(update);
    return emu_fail(ACL_ERROR_RT_INTERNAL_ERROR, api, "the tasks of the update are not those of the group");
}

/* ---- single tasks ---- */

void update_stage(Node *node, Task *task, LaunchConfig *config) {
    Model *model = node->program->model;
    pthread_mutex_lock(&model->lock);
    Task *before = node->staged;
    LaunchConfig *config_before = node->staged_config;
    node->staged = task;
    node->staged_config = config;
    node->staged_disabled = false;
    pthread_mutex_unlock(&model->lock);
    if (before == NULL) { return; }
    program_end_task(node, before);
    config_free(config_before);
}

void update_stage_disabled(Node *node) {
    Model *model = node->program->model;
    pthread_mutex_lock(&model->lock);
    node->staged_disabled = true;
    pthread_mutex_unlock(&model->lock);
}

static bool is_staged(const Node *node) { return node->staged != NULL || node->staged_disabled; }

static void collect(Node *node, Update *update) {
    update->changes[update->count++] = (Change){
        .node = node, .task = node->staged, .config = node->staged_config, .disabled = node->staged_disabled};
    node->staged = NULL;
    node->staged_config = NULL;
    node->staged_disabled = false;
}

/* Counts the staged tasks of the model; with `update`, takes them. */
static uint32_t visit_staged(const Model *model, Update *update) {
    uint32_t count = 0;
    for (const Program *program = model->programs; program != NULL; program = program->next) {
        for (Node *node = program_first(program); node != NULL; node = program_next(node)) {
            if (!is_staged(node)) { continue; }
            count++;
            if (update != NULL) { collect(node, update); }
        }
    }
    return count;
}

aclError update_model(Model *model, const char *api) {
    Update *update = calloc(1, sizeof(*update));
    pthread_mutex_lock(&model->lock);
    bool fits = update != NULL && (update->changes = calloc(visit_staged(model, NULL) + 1, sizeof(Change))) != NULL;
    if (fits) { visit_staged(model, update); }
    pthread_mutex_unlock(&model->lock);
    if (fits) {
        apply_or_keep(model, update);
        return ACL_SUCCESS;
    }
    free(update);
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for an update");
}
