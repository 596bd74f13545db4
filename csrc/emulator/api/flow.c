/* Chapter 06, what only makes sense on streams bound to a model: activating, switching, cleaning. */
#include "api/api.h"
#include "engine/flow.h"

/* Both streams must be alive, then bound to a model. */
static aclError require_bound(const char *api, const Stream *stream) {
    if (stream->model != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "stream %d is not bound to a model", stream->id);
}

static aclError require_current(const char *api, const Stream *stream) {
    Context *context;
    TRY(context_current(api, &context));
    if (stream->context == context) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_CONTEXT, api, "stream %d belongs to another context", stream->id);
}

/* Streams of two models do not start one another. */
static aclError require_same_model(const char *api, const Stream *one, const Stream *other) {
    if (one->model == other->model) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "streams %d and %d are bound to different models", one->id, other->id);
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
    ENTER();
    REQUIRE(activeStream);
    REQUIRE(stream);
    ANY_STREAM(active, activeStream);
    ANY_STREAM(queue, stream);
    CURRENT_CONTEXT(context);
    (void)context;
    TRY(require_bound(__func__, queue));
    TRY(require_bound(__func__, active));
    TRY(require_current(__func__, queue));
    TRY(require_same_model(__func__, active, queue));
    return flow_activate(queue, active, __func__);
}

aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue, aclrtCompareDataType dataType,
                           aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream) {
    ENTER();
    REQUIRE(leftValue);
    REQUIRE(rightValue);
    REQUIRE(trueStream);
    REQUIRE(stream);
    if (falseStream != NULL) { return INVALID("falseStream must be NULL"); }
    ANY_STREAM(target, trueStream);
    ANY_STREAM(queue, stream);
    if ((unsigned)cond > ACL_RT_LESS_OR_EQUAL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "condition %d", (int)cond); }
    if ((unsigned)dataType > ACL_RT_SWITCH_INT64) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "data type %d", (int)dataType);
    }
    TRY(require_bound(__func__, target));
    TRY(require_bound(__func__, queue));
    TRY(require_current(__func__, queue));
    TRY(require_same_model(__func__, target, queue));
    return flow_switch(queue, target, leftValue, cond, rightValue, dataType, __func__);
}

/* Only the stream of a built model can be cleaned, once the firmware has turned its queue off: after an execution. */
aclError aclrtPersistentTaskClean(aclrtStream stream) {
    ENTER();
    if (stream == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL"); }
    ANY_STREAM(found, stream);
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(SOC_CONTROL_SQ);
    Model *model = found->model;
    bool off = (atomic_load(&found->attention) & ATTENTION_QUEUE_OFF) != 0;
    if (model == NULL || !model->built || model->captured || !off) {
        return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d has no built model, or its queue is on", found->id);
    }
    TRY(require_current(__func__, found));
    return model_clean(model, found, __func__);
}
