/* Conditions: see condition.h. The task begins the execution of a sub-model and parks until that is over; then it looks
 * again. Nothing of it recurses, however often a WHILE goes round. */
#include "engine/condition.h"

#include <stdlib.h>

#include "engine/error.h"
#include "engine/handle.h"
#include "engine/memory.h"
#include "engine/strict.h"

/* ---- handles ---- */

aclError condition_create(Model *model, uint64_t initial, bool assign, Condition **out, const char *api) {
    Condition *condition = calloc(1, sizeof(*condition));
    void *handle = condition == NULL ? NULL : handle_new(KIND_CONDITION, condition);
    if (handle == NULL) {
        free(condition);
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a condition");
    }
    void *cell = NULL;
    Allocation wanted = {.kind = MEMORY_DEVICE, .device = model->context->device->id, .bytes = sizeof(uint64_t),
                         .accounted = sizeof(uint64_t)};
    aclError code = memory_allocate(&wanted, &cell, api);
    if (code != ACL_SUCCESS) {
        handle_drop(handle);
        free(condition);
        return code;
    }
    *condition = (Condition){.handle = handle, .model = model, .cell = cell, .initial = initial, .assign = assign};
    strict_enter();
    *condition->cell = initial;
    strict_leave();
    pthread_mutex_lock(&model->lock);
    condition->next = model->conditions;
    model->conditions = condition;
    pthread_mutex_unlock(&model->lock);
    *out = condition;
    return ACL_SUCCESS;
}

aclError condition_find(const char *api, aclmdlRICondHandle handle, Condition **condition) {
    *condition = handle_get(KIND_CONDITION, handle);
    if (*condition != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no condition handle, or one whose model was destroyed", handle);
}

void condition_reset(Model *model) {
    strict_enter();
    for (Condition *condition = model->conditions; condition != NULL; condition = condition->next) {
        if (condition->assign) { __atomic_store_n(condition->cell, condition->initial, __ATOMIC_SEQ_CST); }
    }
    strict_leave();
}

static void free_branch(Branch *branch) {
    for (uint32_t i = 0; i < branch->count; i++) {
        if (branch->models[i] != NULL) { model_discard(branch->models[i], true); }
    }
    free(branch->models);
    free(branch);
}

void condition_forget(Model *model) {
    while (model->branches != NULL) {
        Branch *branch = model->branches;
        model->branches = branch->next;
        free_branch(branch);
    }
    while (model->conditions != NULL) {
        Condition *condition = model->conditions;
        model->conditions = condition->next;
        handle_drop(condition->handle);
        memory_free(condition->cell, false, __func__);
        free(condition);
    }
}

/* ---- the task ---- */

/* The sub-model that the cell asks for, or NULL. */
static Model *choose(const Branch *branch) {
    uint64_t value = __atomic_load_n(branch->condition->cell, __ATOMIC_SEQ_CST);
    switch (branch->type) {
    case ACL_MODEL_RI_COND_TYPE_IF:
        if (value != 0) { return branch->models[0]; }
        return branch->count > 1 ? branch->models[1] : NULL;
    case ACL_MODEL_RI_COND_TYPE_WHILE: return value != 0 ? branch->models[0] : NULL;
    default: return value < branch->count ? branch->models[value] : NULL;
    }
}

/* An execution that is over at once (there is nothing in the sub-model) is no reason to hold the worker for ever. */
static int32_t execute(Stream *stream, Branch *branch, Model *model) {
    branch->execution = (Execution){.model = model};
    branch->running = true;
    execution_begin(&branch->execution, model, stream);
    return execution_is_over(&branch->execution) ? TASK_AGAIN : TASK_PARKED;
}

static int32_t run_condition(Stream *stream, Task *task) {
    Branch *branch = task->as.condition.branch;
    if (branch->running) {
        if (!execution_is_over(&branch->execution)) { return TASK_PARKED; }
        branch->running = false;
        int32_t code = branch->execution.code;
        if (code != 0 || branch->type != ACL_MODEL_RI_COND_TYPE_WHILE) { return code; }
    }
    Model *model = choose(branch);
    return model == NULL ? 0 : execute(stream, branch, model);
}

static bool drop_condition(Stream *stream, Task *task, DropReason reason) {
    (void)stream;
    (void)reason;
    Branch *branch = task->as.condition.branch;
    if (branch->running && !execution_stop(&branch->execution)) { return false; }
    branch->running = false;
    return true;
}

static const TaskOps condition_ops = {
    .name = "condition", .run = run_condition, .drop = drop_condition, .relays = true};

const Branch *condition_branch(const Task *task) {
    return task->ops == &condition_ops ? task->as.condition.branch : NULL;
}

static Model *make_sub_model(Model *parent, const char *api) {
    Model *model = NULL;
    if (model_create(parent->context, &model, api) != ACL_SUCCESS) { return NULL; }
    model->captured = true;
    model->parent = parent;
    return model;
}

static Branch *make_branch(Condition *condition, aclmdlRICondTaskType type, uint32_t count, const char *api) {
    Branch *branch = calloc(1, sizeof(*branch));
    if (branch == NULL) { return NULL; }
    *branch = (Branch){.condition = condition, .type = type, .count = count, .models = calloc(count, sizeof(Model *))};
    bool complete = branch->models != NULL;
    for (uint32_t i = 0; complete && i < count; i++) {
        branch->models[i] = make_sub_model(condition->model, api);
        complete = branch->models[i] != NULL;
    }
    if (complete) { return branch; }
    if (branch->models == NULL) { branch->count = 0; }
    free_branch(branch);
    return NULL;
}

aclError condition_add_task(Stream *stream, Condition *condition, aclmdlRICondTaskType type, uint32_t count,
                            aclmdlRI *models, const char *api) {
    Branch *branch = make_branch(condition, type, count, api);
    if (branch == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %u sub-models", count); }
    Task *task;
    aclError code = stream_begin(stream, api, &condition_ops, &task);
    if (code != ACL_SUCCESS) {
        free_branch(branch);
        return code;
    }
    task->as.condition.branch = branch;
    condition->used = true;
    Model *model = condition->model;
    pthread_mutex_lock(&model->lock);
    branch->next = model->branches;
    model->branches = branch;
    pthread_mutex_unlock(&model->lock);
    stream_commit(stream, task);
    for (uint32_t i = 0; i < count; i++) { models[i] = branch->models[i]->handle; }
    return ACL_SUCCESS;
}
