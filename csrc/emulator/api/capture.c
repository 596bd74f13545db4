/* Chapter 15, captures: recording what streams are given into a model, and replacing recorded tasks later. */
#include "api/capture.h"

#include "api/api.h"
#include "api/model.h"
#include "engine/update.h"

aclError capture_refuse(const char *api, Stream *stream) {
    if (!capture_has_stream(stream)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_CAPTURED, api, "stream %d is being captured", stream->id);
}

aclError capture_refuse_unsafe(const char *api) {
    if (!capture_forbids(context_peek())) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, api, "a capture that is on does not allow this call");
}

aclError capture_refuse_waiting(const char *api) {
    if (!capture_forbids(context_peek())) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC, api, "memory that is not pinned: the call would have to wait, "
                    "which a capture that is on does not allow");
}

static bool is_mode(aclmdlRICaptureMode mode) { return (unsigned)mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED; }

static aclError refuse_mode(const char *api, aclmdlRICaptureMode mode) {
    return is_mode(mode) ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "mode %d", (int)mode);
}

static aclError refuse_special(const char *api, const Stream *stream) {
    if ((stream->flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) == 0) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INTERNAL_ERROR, api, "a stream with flags 0x%x has no capture", stream->flags);
}

/* What begin and end of a capture ask of a stream that is alive. */
static aclError require_capturable(const char *api, aclrtStream handle, Stream *stream) {
    TRY(stream_find_own(api, handle, &stream));
    if (stream->model != NULL) {
        return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "stream %d is bound to a model", stream->id);
    }
    if (!stream->is_default) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "the default stream has no capture");
}

/* ---- begin, ask, end ---- */

static aclError begin_new(const char *api, Stream *stream, aclmdlRICaptureMode mode) {
    Model *model;
    TRY(model_create(stream->context, &model, api));
    model->captured = true;
    aclError code = capture_begin(stream, model, mode, api);
    if (code != ACL_SUCCESS) { model_discard(model, true); }
    return code;
}

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    ENTER();
    REQUIRE(stream);
    TRY(refuse_mode(__func__, mode));
    ANY_STREAM(found, stream);
    NEED_FEATURE(SOC_CAPTURE);
    TRY(refuse_special(__func__, found));
    TRY(require_capturable(__func__, stream, found));
    TRY(capture_refuse(__func__, found));
    return begin_new(__func__, found, mode);
}

/* Of streams of any context, and without a current one. */
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI) {
    ENTER();
    REQUIRE(stream);
    if (status == NULL && modelRI == NULL) { return INVALID("neither status nor modelRI is given"); }
    ANY_STREAM(found, stream);
    NEED_FEATURE(SOC_CAPTURE);
    bool invalid;
    const Model *model = capture_model(found, &invalid);
    if (modelRI != NULL) { *modelRI = model == NULL ? NULL : model->handle; }
    if (status == NULL) { return ACL_SUCCESS; }
    *status = model == NULL ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
              : invalid     ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                            : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    return ACL_SUCCESS;
}

/* A branch of a condition has its handle already. */
static bool captures_branch(Stream *stream) {
    bool invalid;
    const Model *model = capture_model(stream, &invalid);
    return model != NULL && model->parent != NULL;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
    ENTER();
    REQUIRE(stream);
    ANY_STREAM(found, stream);
    NEED_FEATURE(SOC_CAPTURE);
    TRY(refuse_special(__func__, found));
    if (modelRI == NULL && !captures_branch(found)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "modelRI is NULL"); }
    TRY(require_capturable(__func__, stream, found));
    Model *model = NULL;
    aclError code = capture_end(found, &model, __func__);
    if (modelRI != NULL) { *modelRI = model == NULL ? NULL : model->handle; }
    return code;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
    ENTER();
    REQUIRE(mode);
    TRY(refuse_mode(__func__, *mode));
    NEED_FEATURE(SOC_CAPTURE);
    aclmdlRICaptureMode before = (aclmdlRICaptureMode)emu_thread.capture_mode;
    emu_thread.capture_mode = (int32_t)*mode;
    *mode = before;
    return ACL_SUCCESS;
}

/* ---- task groups ---- */

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
    ENTER();
    REQUIRE(stream);
    NEED_FEATURE(SOC_CAPTURE);
    OWN_STREAM(found, stream);
    return capture_group_begin(found, __func__);
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle) {
    ENTER();
    REQUIRE(stream);
    REQUIRE(handle);
    NEED_FEATURE(SOC_CAPTURE);
    OWN_STREAM(found, stream);
    TaskGroup *group = NULL;
    aclError code = capture_group_end(found, &group, __func__);
    *handle = group == NULL ? NULL : group->handle;
    return code;
}

static aclError require_unbound(const char *api, Stream *stream) {
    TRY(capture_refuse(api, stream));
    if (stream->model == NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "stream %d is bound to a model", stream->id);
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
    ENTER();
    REQUIRE(stream);
    REQUIRE(handle);
    NEED_FEATURE(SOC_CAPTURE);
    TaskGroup *group;
    ANY_STREAM(found, stream);
    TRY(group_find(__func__, handle, &group));
    TRY(require_unbound(__func__, found));
    OWN_STREAM(queue, stream);
    return update_begin(queue, group, __func__);
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
    ENTER();
    REQUIRE(stream);
    NEED_FEATURE(SOC_CAPTURE);
    ANY_STREAM(found, stream);
    TRY(require_unbound(__func__, found));
    OWN_STREAM(queue, stream);
    return update_end(queue, __func__);
}

/* ---- branches of conditions ---- */

/* Filled once, while the model around it is being captured. */
static aclError check_branch(const char *api, Model *model) {
    if (model->parent == NULL || !atomic_load(&model->parent->being_captured) || atomic_load(&model->built)) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "model %u is no branch that can be captured", model->id);
    }
    if (!atomic_load(&model->being_captured)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_MODEL_CAPTURED, api, "model %u is being captured", model->id);
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
    ENTER();
    REQUIRE(stream);
    REQUIRE(modelRI);
    TRY(refuse_mode(__func__, mode));
    ANY_STREAM(found, stream);
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_COND_TASKS);
    TRY(refuse_special(__func__, found));
    TRY(require_capturable(__func__, stream, found));
    TRY(model_require_own(__func__, model));
    TRY(capture_refuse(__func__, found));
    TRY(check_branch(__func__, model));
    return capture_begin(found, model, mode, __func__);
}
