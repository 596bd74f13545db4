/* Chapter 15, the streams and tasks of a model, one by one: what they are, and new parameters for them. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/launch.h"
#include "api/model.h"
#include "engine/event.h"
#include "engine/memory.h"
#include "engine/update.h"

#define FIND_TASK(node, handle) \
    Node *node;                 \
    TRY(model_find_task(__func__, (handle), &node))

static aclError refuse_open(const char *api, const Model *model) {
    if (!atomic_load(&model->being_captured)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_MODEL_CAPTURED, api, "model %u is being captured", model->id);
}

/* ---- lists: how many there are, or as many as fit; what is left of the array is filled with NULL ---- */

typedef struct HandleList {
    void **items; /* NULL: only count */
    uint32_t room, count;
} HandleList;

static void add(HandleList *list, void *handle) {
    if (list->items != NULL && list->count < list->room) { list->items[list->count] = handle; }
    list->count++;
}

static aclError finish_list(const char *api, const HandleList *list, uint32_t *count) {
    bool fits = list->items == NULL || list->count <= list->room;
    *count = fits ? list->count : list->room;
    if (!fits) {
        return emu_fail(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, api, "there are %u, the array has room for %u", list->count,
                        list->room);
    }
    for (uint32_t i = list->count; list->items != NULL && i < list->room; i++) { list->items[i] = NULL; }
    return ACL_SUCCESS;
}

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams) {
    ENTER();
    if (modelRI == NULL || numStreams == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "modelRI or numStreams is NULL"); }
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_MODEL_TASKS);
    TRY(model_require_own(__func__, model));
    TRY(model_refuse_sub(__func__, model));
    TRY(refuse_open(__func__, model));
    HandleList list = {.items = streams, .room = *numStreams};
    pthread_mutex_lock(&model->lock);
    for (const Program *program = model->programs; program != NULL; program = program->next) {
        add(&list, program->stream->handle);
    }
    pthread_mutex_unlock(&model->lock);
    return finish_list(__func__, &list, numStreams);
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks) {
    ENTER();
    if (numTasks == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "numTasks is NULL"); }
    ANY_STREAM(found, stream);
    NEED_FEATURE(SOC_MODEL_TASKS);
    if (found->model == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "stream %d is not bound to a model", found->id); }
    HandleList list = {.items = tasks, .room = *numTasks};
    for (Node *node = program_first(found->program); node != NULL; node = program_next(node)) {
        bool wanted = list.items != NULL && list.count < list.room;
        void *handle = wanted ? model_task_handle(node) : NULL;
        if (wanted && handle == NULL) { return FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for handles"); }
        add(&list, handle);
    }
    return finish_list(__func__, &list, numTasks);
}

/* ---- asking ---- */

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type) {
    ENTER();
    REQUIRE(task);
    REQUIRE(type);
    NEED_FEATURE(SOC_MODEL_TASKS);
    FIND_TASK(node, task);
    *type = (aclmdlRITaskType)node->task->ops->kind;
    return ACL_SUCCESS;
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id) {
    ENTER();
    REQUIRE(task);
    REQUIRE(id);
    NEED_FEATURE(SOC_MODEL_TASKS);
    FIND_TASK(node, task);
    *id = node->sequence;
    return ACL_SUCCESS;
}

static void get_kernel(const Task *task, const LaunchConfig *config, aclmdlRIKernelTaskParams *params) {
    const Function *function = work_kernel(task);
    params->funcHandle = function->handle;
    params->cfg = config == NULL ? NULL : (aclrtLaunchKernelCfg *)&config->config;
    params->args = (void *)work_kernel_args(task, &params->argsSize);
    params->isHostArgs = task->as.kernel.device_args == NULL;
    params->numBlocks = task->as.kernel.blocks;
}

/* The three kinds of event tasks have the same parameters. */
static void get_event(const Task *task, aclmdlRIEventRecordTaskParams *params) {
    const EventTask *event = &task->as.event;
    *params = (aclmdlRIEventRecordTaskParams){
        .event = event->event->handle, .eventFlag = event->event->flags, .recordFlag = event->external};
}

static void get_params(const Task *task, const LaunchConfig *config, aclmdlRITaskParams *params) {
    switch (task->ops->kind) {
    case ACL_MODEL_RI_TASK_KERNEL: get_kernel(task, config, &params->kernelTaskParams); return;
    case ACL_MODEL_RI_TASK_EVENT_RECORD:
    case ACL_MODEL_RI_TASK_EVENT_WAIT:
    case ACL_MODEL_RI_TASK_EVENT_RESET: get_event(task, &params->eventRecordTaskParams); return;
    case ACL_MODEL_RI_TASK_VALUE_WRITE:
        params->valueWriteTaskParams =
            (aclmdlRIValueWriteTaskParams){.devAddr = task->as.value.cell, .value = task->as.value.value};
        return;
    case ACL_MODEL_RI_TASK_VALUE_WAIT:
        params->valueWaitTaskParams = (aclmdlRIValueWaitTaskParams){
            .devAddr = task->as.value.cell, .value = task->as.value.value, .flag = task->as.value.comparison};
        return;
    default: return;
    }
}

/* As set last, whether or not an update has put it in force. */
aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params) {
    ENTER();
    REQUIRE(task);
    REQUIRE(params);
    NEED_FEATURE(SOC_MODEL_TASKS);
    FIND_TASK(node, task);
    memset(params, 0, sizeof(*params));
    Model *model = node->program->model;
    pthread_mutex_lock(&model->lock);
    const Task *definition = node->staged != NULL ? node->staged : node->task;
    params->type = (aclmdlRITaskType)definition->ops->kind;
    params->taskGrp = node->group == NULL ? NULL : node->group->handle;
    params->opInfoPtr = node->op_info;
    params->opInfoSize = node->op_info_bytes;
    get_params(definition, node->staged != NULL ? node->staged_config : node->config, params);
    pthread_mutex_unlock(&model->lock);
    return ACL_SUCCESS;
}

/* What the launch did not set is 0. */
aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
                                        aclrtLaunchKernelAttrValue *attrValue) {
    ENTER();
    REQUIRE(task);
    REQUIRE(attrValue);
    NEED_FEATURE(SOC_MODEL_TASKS);
    FIND_TASK(node, task);
    if (node->task->ops->kind != ACL_MODEL_RI_TASK_KERNEL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "no kernel"); }
    if ((int)attrId < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE || (int)attrId > ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "launch attribute %d", (int)attrId);
    }
    Model *model = node->program->model;
    pthread_mutex_lock(&model->lock);
    const aclrtLaunchKernelAttrValue *value = config_find(node->config, attrId);
    if (value == NULL) { memset(attrValue, 0, sizeof(*attrValue)); }
    else { *attrValue = *value; }
    pthread_mutex_unlock(&model->lock);
    return ACL_SUCCESS;
}

/* ---- changing ---- */

/* Fills a new task for the node; `config` is what it is to keep. */
typedef aclError (*MakeTask)(const char *api, const Task *before, const aclmdlRITaskParams *params, Task *task,
                             LaunchConfig **config);

static aclError no_memory(const char *api) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a task"); }

static aclError make_kernel(const char *api, const Task *before, const aclmdlRITaskParams *params, Task *task,
                            LaunchConfig **config) {
    (void)before;
    const aclmdlRIKernelTaskParams *wanted = &params->kernelTaskParams;
    KernelLaunch launch = {.blocks = wanted->numBlocks, .args = wanted->args, .args_size = wanted->argsSize,
                           .args_on_device = wanted->isHostArgs == 0};
    TRY(function_find(api, wanted->funcHandle, &launch.function));
    if (wanted->numBlocks == 0 || (wanted->args == NULL && wanted->argsSize != 0)) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "numBlocks is 0, or args is NULL");
    }
    TRY(launch_read_config(api, wanted->cfg, &launch));
    *config = wanted->cfg == NULL ? NULL : config_copy(wanted->cfg);
    if (wanted->cfg != NULL && *config == NULL) { return no_memory(api); }
    return work_make(task, &launch) ? ACL_SUCCESS : no_memory(api);
}

/* The order within a captured model is made of its events: others would make another model. */
static aclError make_event(const char *api, const Task *before, const aclmdlRITaskParams *params, Task *task,
                           LaunchConfig **config) {
    (void)config;
    Event *event;
    TRY(event_find(api, params->eventRecordTaskParams.event, &event));
    if (event_orders_capture(before)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "the event orders the tasks of the model");
    }
    if (event->flags != before->as.event.event->flags || event->family != before->as.event.event->family) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "an event of another kind");
    }
    event_retarget(before, task, event);
    return ACL_SUCCESS;
}

static aclError make_value(const char *api, const Task *before, const aclmdlRITaskParams *params, Task *task,
                           LaunchConfig **config) {
    (void)config;
    bool waits = before->ops->kind == ACL_MODEL_RI_TASK_VALUE_WAIT;
    const aclmdlRIValueWaitTaskParams *wanted = &params->valueWaitTaskParams; /* begins as the other does */
    if ((uintptr_t)wanted->devAddr % sizeof(uint64_t) != 0 || memory_kind(wanted->devAddr) != MEMORY_DEVICE) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "devAddr is no aligned device memory");
    }
    if (waits && wanted->flag > ACL_STREAM_WAIT_VALUE_NOR) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "flag %u", wanted->flag);
    }
    task->as.value = (ValueTask){wanted->devAddr, wanted->value, waits ? wanted->flag : 0};
    return ACL_SUCCESS;
}

static const MakeTask makers[] = {
    [ACL_MODEL_RI_TASK_KERNEL] = make_kernel,     [ACL_MODEL_RI_TASK_EVENT_RECORD] = make_event,
    [ACL_MODEL_RI_TASK_EVENT_WAIT] = make_event,  [ACL_MODEL_RI_TASK_EVENT_RESET] = make_event,
    [ACL_MODEL_RI_TASK_VALUE_WRITE] = make_value, [ACL_MODEL_RI_TASK_VALUE_WAIT] = make_value,
};

static aclError make_task(const char *api, const Node *node, const aclmdlRITaskParams *params, Task **out,
                          LaunchConfig **config) {
    Task *task = task_new();
    if (task == NULL) { return no_memory(api); }
    *task = (Task){.ops = node->task->ops, .thread_id = emu_thread_id()};
    aclError code = makers[params->type](api, node->task, params, task, config);
    if (code == ACL_SUCCESS) {
        *out = task;
        return ACL_SUCCESS;
    }
    free(task);
    config_free(*config);
    return code;
}

/* In force from the next aclmdlRIUpdate on. */
aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params) {
    ENTER();
    REQUIRE(task);
    REQUIRE(params);
    NEED_FEATURE(SOC_MODEL_TASKS);
    FIND_TASK(node, task);
    TRY(refuse_open(__func__, node->program->model));
    if ((int)params->type != node->task->ops->kind || params->type == ACL_MODEL_RI_TASK_DEFAULT) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "type %d for a task of type %d", (int)params->type, node->task->ops->kind);
    }
    Task *made = NULL;
    LaunchConfig *config = NULL;
    TRY(make_task(__func__, node, params, &made, &config));
    update_stage(node, made, config);
    return ACL_SUCCESS;
}

/* Passed over from the next aclmdlRIUpdate on, until it is given parameters again. */
aclError aclmdlRITaskDisable(aclmdlRITask task) {
    ENTER();
    REQUIRE(task);
    NEED_FEATURE(SOC_MODEL_TASKS);
    FIND_TASK(node, task);
    TRY(refuse_open(__func__, node->program->model));
    if (event_orders_capture(node->task)) { return UNSUPPORTED("the event orders the tasks of the model"); }
    update_stage_disabled(node);
    return ACL_SUCCESS;
}

aclError aclmdlRIUpdate(aclmdlRI modelRI) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_MODEL_TASKS);
    TRY(model_require_own(__func__, model));
    TRY(refuse_open(__func__, model));
    return update_model(model, __func__);
}
