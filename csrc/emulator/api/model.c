/* Chapter 15, model running instances: building, executing, names, the end. */
#include "engine/model.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/capture.h"
#include "api/launch.h"
#include "api/model.h"
#include "engine/execution.h"
#include "engine/work.h"

/* Named in documents and samples, not in the header. */
#define BIND_HEAD 0U
#define BIND_DEFAULT 0x7FFFFFFFU

aclError model_require_own(const char *api, const Model *model) {
    Context *context;
    TRY(context_current(api, &context));
    if (model->context == context) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_MODEL_CONTEXT, api, "model %u belongs to another context", model->id);
}

aclError model_refuse_sub(const char *api, const Model *model) {
    if (model->parent == NULL) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "model %u is the sub-model of a condition", model->id);
}

static aclError refuse_captured(const char *api, const Model *model) {
    if (!model->captured) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "model %u is a captured one", model->id);
}

/* ---- building ---- */

aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag) {
    ENTER();
    REQUIRE(modelRI);
    if (flag != 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag %u", flag); }
    CURRENT_CONTEXT(context);
    Model *model;
    TRY(model_create(context, &model, __func__));
    *modelRI = model->handle;
    return ACL_SUCCESS;
}

static aclError check_bindable(const char *api, const Model *model, Stream *stream) {
    if ((stream->flags & ACL_STREAM_PERSISTENT) == 0) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "stream %d is not PERSISTENT", stream->id);
    }
    if (stream->model != NULL) {
        return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "stream %d is bound already", stream->id);
    }
    TRY(refuse_captured(api, model));
    TRY(capture_refuse(api, stream));
    if (stream->failure_mode == ACL_STOP_ON_FAILURE || (stream->flags & ACL_STREAM_FAST_LAUNCH) != 0) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "not a FAST_LAUNCH stream, nor one in STOP mode");
    }
    return ACL_SUCCESS;
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
    ENTER();
    REQUIRE(modelRI);
    if (flag != BIND_HEAD && flag != BIND_DEFAULT) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag %u", flag); }
    FIND_MODEL(model, modelRI);
    if (stream == NULL) {
        if (soc_has(SOC_CONTROL_SQ)) { return UNSUPPORTED("the default stream is FAST_LAUNCH"); }
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the default stream is not PERSISTENT");
    }
    ANY_STREAM(found, stream);
    TRY(check_bindable(__func__, model, found));
    TRY(model_require_own(__func__, model));
    model_bind(model, found, flag == BIND_HEAD);
    return ACL_SUCCESS;
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    ANY_STREAM(found, stream);
    TRY(refuse_captured(__func__, model));
    TRY(capture_refuse(__func__, found));
    TRY(model_require_own(__func__, model));
    if (found->model != model) { return FAIL(ACL_ERROR_RT_STREAM_MODEL, "stream %d is not bound to it", found->id); }
    return model_unbind(model, found, __func__);
}

/* Nothing is done there: an execution is over when all streams have come to their ends. */
aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    ANY_STREAM(valid, stream);
    TRY(refuse_captured(__func__, model));
    TRY(capture_refuse(__func__, valid));
    OWN_STREAM(found, stream);
    TRY(model_require_own(__func__, model));
    if (found->model != model) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is not bound to it", found->id); }
    if (model->ended) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "model %u has its end", model->id); }
    TRY(work_mark(found, __func__));
    found->program->ends_model = true;
    model->ended = true;
    return ACL_SUCCESS;
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) {
    ENTER();
    REQUIRE(modelRI);
    if (reserve != NULL) { return INVALID("reserve must be NULL"); }
    FIND_MODEL(model, modelRI);
    TRY(refuse_captured(__func__, model));
    TRY(model_require_own(__func__, model));
    model_seal(model);
    return ACL_SUCCESS;
}

/* ---- executing ---- */

static aclError check_complete(const char *api, const Model *model) {
    if (atomic_load(&model->being_captured)) {
        return emu_fail(ACL_ERROR_RT_MODEL_CAPTURED, api, "model %u is being captured", model->id);
    }
    if (model->captured || (model->ended && model->built)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_MODEL_EXECUTE, api, "model %u has no end task, or its building was not ended", model->id);
}

static aclError refuse_trouble(const char *api, const Context *context) {
    int32_t failure = atomic_load(&context->failure);
    if (failure != 0) { return emu_fail(failure, api, "the context failed in STOP mode"); }
    if (!atomic_load(&context->device->aborting)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "device %d is aborting its tasks", context->device->id);
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    ENTER();
    REQUIRE(modelRI);
    if (timeout < -1 || timeout == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "timeout %d ms", timeout); }
    FIND_MODEL(model, modelRI);
    TRY(model_require_own(__func__, model));
    TRY(refuse_captured(__func__, model));
    TRY(check_complete(__func__, model));
    TRY(refuse_trouble(__func__, model->context));
    return execution_run(model, timeout == -1 ? 0 : (uint64_t)timeout * NS_PER_MS, __func__);
}

/* 950 refuses more streams than the others. */
static aclError check_executing(const char *api, Stream *stream) {
    bool refused = soc_has(SOC_CNT_NOTIFY) && (stream->flags & STREAM_FLAGS_UNWAITED) != 0;
    if (stream->model != NULL || refused) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "stream %d cannot execute models", stream->id);
    }
    return capture_refuse(api, stream);
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_CAPTURE);
    ANY_STREAM(found, stream);
    TRY(check_executing(__func__, found));
    TRY(model_require_own(__func__, model));
    OWN_STREAM(queue, stream);
    TRY(model_refuse_sub(__func__, model));
    TRY(check_complete(__func__, model));
    TRY(execution_submit(model, queue, __func__));
    return launch_settle(__func__, queue);
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
    ENTER();
    if (modelRI == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "modelRI is NULL"); }
    FIND_MODEL(model, modelRI);
    TRY(model_refuse_sub(__func__, model));
    TRY(model_require_own(__func__, model));
    return execution_abort(model, __func__);
}

/* ---- the end ---- */

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    if (atomic_load(&model->being_captured)) {
        return FAIL(ACL_ERROR_RT_MODEL_CAPTURED, "model %u is being captured", model->id);
    }
    TRY(model_refuse_sub(__func__, model));
    return model_destroy(model, __func__);
}

static aclError find_for_callback(const char *api, aclmdlRI handle, aclrtCallback function, Model **model) {
    if (handle == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "modelRI is NULL"); }
    if (function == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "func is NULL"); }
    TRY(model_find(api, handle, model));
    return model_refuse_sub(api, *model);
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData) {
    ENTER();
    Model *model;
    TRY(find_for_callback(__func__, modelRI, func, &model));
    return model_add_callback(model, func, userData, __func__);
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
    ENTER();
    Model *model;
    TRY(find_for_callback(__func__, modelRI, func, &model));
    return model_remove_callback(model, func, __func__);
}

/* ---- names ---- */

aclError aclmdlRISetName(aclmdlRI modelRI, const char *name) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(name);
    FIND_MODEL(model, modelRI);
    TRY(model_require_own(__func__, model));
    snprintf(model->name, sizeof(model->name), "%s", name);
    return ACL_SUCCESS;
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(name);
    FIND_MODEL(model, modelRI);
    TRY(model_require_own(__func__, model));
    size_t bytes = strlen(model->name) + 1;
    if (maxLen < bytes) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the name takes %zu bytes", bytes); }
    memcpy(name, model->name, bytes);
    return ACL_SUCCESS;
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(modelRIId);
    FIND_MODEL(model, modelRI);
    *modelRIId = model->id;
    return ACL_SUCCESS;
}
