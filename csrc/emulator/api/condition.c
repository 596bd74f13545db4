/* Chapter 15, conditions in captured models. */
#include "engine/condition.h"

#include "api/api.h"
#include "api/capture.h"
#include "api/model.h"

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
                                  aclmdlRICondHandle *handle) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(handle);
    if ((unsigned)flag > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag %d", (int)flag);
    }
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_COND_TASKS);
    if (!model->captured) { return UNSUPPORTED("model %u is not a captured one", model->id); }
    TRY(model_require_own(__func__, model));
    bool assign = flag == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
    Condition *condition;
    TRY(condition_create(model, defaultLaunchValue, assign, &condition, __func__));
    *handle = condition->handle;
    return ACL_SUCCESS;
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t **ptr) {
    ENTER();
    REQUIRE(handle);
    REQUIRE(ptr);
    NEED_FEATURE(SOC_COND_TASKS);
    Condition *condition;
    TRY(condition_find(__func__, handle, &condition));
    *ptr = condition->cell;
    return ACL_SUCCESS;
}

/* How many branches a condition of each type may have. */
static const struct {
    uint32_t least, most;
} branches[] = {
    [ACL_MODEL_RI_COND_TYPE_IF] = {1, 2},
    [ACL_MODEL_RI_COND_TYPE_WHILE] = {1, 1},
    [ACL_MODEL_RI_COND_TYPE_SWITCH] = {1, UINT32_MAX},
};

static aclError check_params(const char *api, const aclmdlRICondTaskParams *params, uint32_t flags) {
    if ((unsigned)params->type > ACL_MODEL_RI_COND_TYPE_SWITCH) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "type %d", (int)params->type);
    }
    if (flags != 0) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "flags %u", flags); }
    if (params->handle != NULL && params->modelRIArray != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "handle or modelRIArray is NULL");
}

static aclError check_place(const char *api, const Condition *condition, Stream *stream) {
    bool invalid;
    const Model *model = capture_model(stream, &invalid);
    if (model == NULL) {
        return emu_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, api, "stream %d does not capture", stream->id);
    }
    if (condition->model != model) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the condition is one of model %u", condition->model->id);
    }
    if (capture_is_origin(stream)) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "stream %d joined the capture", stream->id);
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
    ENTER();
    REQUIRE(stream);
    TRY(check_params(__func__, &params, flags));
    ANY_STREAM(valid, stream);
    (void)valid;
    NEED_FEATURE(SOC_COND_TASKS);
    Condition *condition;
    TRY(condition_find(__func__, params.handle, &condition));
    if (condition->used) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the condition has its task already"); }
    OWN_STREAM(queue, stream);
    TRY(check_place(__func__, condition, queue));
    if (params.size < branches[params.type].least || params.size > branches[params.type].most) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%u branches", params.size);
    }
    return condition_add_task(queue, condition, params.type, params.size, params.modelRIArray, __func__);
}
