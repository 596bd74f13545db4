/* Activating and switching: see flow.h. The target is known by its handle: it may be gone when the task runs. */
#include "engine/flow.h"

#include "engine/error.h"
#include "engine/execution.h"
#include "engine/handle.h"

static int32_t start(Stream *stream, void *target) {
    Stream *found = handle_get(KIND_STREAM, target);
    return execution_start_pass(stream, found, 0) ? 0 : ACL_ERROR_RT_MODEL_EXECUTE;
}

static int32_t run_active(Stream *stream, Task *task) { return start(stream, task->as.active.target); }

static int64_t read_value(const void *address, bool wide) {
    if (wide) { return __atomic_load_n((const int64_t *)address, __ATOMIC_RELAXED); }
    return __atomic_load_n((const int32_t *)address, __ATOMIC_RELAXED);
}

static bool holds(int64_t left, int condition, int64_t right) {
    switch (condition) {
    case ACL_RT_EQUAL: return left == right;
    case ACL_RT_NOT_EQUAL: return left != right;
    case ACL_RT_GREATER: return left > right;
    case ACL_RT_GREATER_OR_EQUAL: return left >= right;
    case ACL_RT_LESS: return left < right;
    default: return left <= right;
    }
}

static int32_t run_switch(Stream *stream, Task *task) {
    const SwitchTask *choice = &task->as.choice;
    int64_t left = read_value(choice->left, choice->wide), right = read_value(choice->right, choice->wide);
    if (!holds(left, choice->condition, right)) { return 0; }
    if (choice->target == stream->handle) {
        program_jump(stream, 0);
        return 0;
    }
    program_stop(stream);
    return start(stream, choice->target);
}

static const TaskOps active_ops = {.name = "stream activation", .run = run_active};
static const TaskOps switch_ops = {.name = "stream switch", .run = run_switch};

aclError flow_activate(Stream *stream, const Stream *target, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &active_ops, &task));
    task->as.active.target = target->handle;
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError flow_switch(Stream *stream, const Stream *target, const void *left, aclrtCondition condition,
                     const void *right, aclrtCompareDataType type, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &switch_ops, &task));
    task->as.choice =
        (SwitchTask){left, right, target->handle, (int)condition, type == ACL_RT_SWITCH_INT64};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
