/* Chapter 15, model running instances: building. Executing a model is not emulated yet and says so. */
#include "engine/model.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"

/* Named in documents and samples, not in the header. */
#define BIND_HEAD 0U
#define BIND_DEFAULT 0x7FFFFFFFU

#define FIND_MODEL(model, handle) \
    Model *model;                 \
    TRY(model_find(__func__, (handle), &model))

static aclError require_own(const char *api, const Model *model) {
    Context *context;
    TRY(context_current(api, &context));
    if (model->context == context) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_MODEL_CONTEXT, api, "the model belongs to another context");
}

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

static aclError check_bindable(const char *api, const Stream *stream) {
    if ((stream->flags & ACL_STREAM_PERSISTENT) == 0) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "stream %d is not PERSISTENT", stream->id);
    }
    if (stream->model != NULL) {
        return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "stream %d is bound already", stream->id);
    }
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
    TRY(check_bindable(__func__, found));
    TRY(require_own(__func__, model));
    found->model = model;
    return ACL_SUCCESS;
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    ANY_STREAM(found, stream);
    TRY(require_own(__func__, model));
    if (found->model != model) { return FAIL(ACL_ERROR_RT_STREAM_MODEL, "stream %d is not bound to it", found->id); }
    found->model = NULL;
    return ACL_SUCCESS;
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    OWN_STREAM(found, stream);
    TRY(require_own(__func__, model));
    if (found->model != model) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is not bound to it", found->id); }
    if (model->ended) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "the model has its end"); }
    model->ended = true;
    return ACL_SUCCESS;
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) {
    ENTER();
    REQUIRE(modelRI);
    if (reserve != NULL) { return INVALID("reserve must be NULL"); }
    FIND_MODEL(model, modelRI);
    TRY(require_own(__func__, model));
    model->built = true;
    return ACL_SUCCESS;
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    ENTER();
    REQUIRE(modelRI);
    if (timeout < -1 || timeout == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "timeout %d ms", timeout); }
    FIND_MODEL(model, modelRI);
    TRY(require_own(__func__, model));
    if (!model->ended) { return FAIL(ACL_ERROR_RT_MODEL_EXECUTE, "the model has no end task"); }
    return emu_unsupported(__func__);
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    model_destroy(model);
    return ACL_SUCCESS;
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char *name) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(name);
    FIND_MODEL(model, modelRI);
    TRY(require_own(__func__, model));
    snprintf(model->name, sizeof(model->name), "%s", name);
    return ACL_SUCCESS;
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(name);
    FIND_MODEL(model, modelRI);
    TRY(require_own(__func__, model));
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
