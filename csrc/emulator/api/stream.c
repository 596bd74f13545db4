/* Chapter 06, streams: life, waiting, control. */
#include <string.h>

#include "api/api.h"
#include "api/capture.h"
#include "engine/registry.h"
#include "engine/scheduler.h"

/* ---- creation and destruction ---- */

aclError aclrtCreateStream(aclrtStream *stream) {
    ENTER();
    REQUIRE(stream);
    CURRENT_CONTEXT(context);
    Stream *made;
    TRY(stream_create(context, 0, 0, true, &made, __func__));
    *stream = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag) {
    ENTER();
    REQUIRE(stream);
    uint32_t known = flag & STREAM_FLAGS_KNOWN; /* the real runtime drops the rest without a word */
    if ((known & ACL_STREAM_HUGE) != 0) { NEED_FEATURE(SOC_HUGE_FLAG); }
    if ((known & ACL_STREAM_DEVICE_USE_ONLY) != 0 && known != ACL_STREAM_DEVICE_USE_ONLY) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x: DEVICE_USE_ONLY goes with no other", flag);
    }
    CURRENT_CONTEXT(context);
    Stream *made;
    TRY(stream_create(context, priority, known, true, &made, __func__));
    *stream = made->handle;
    return ACL_SUCCESS;
}

static aclError destroy(aclrtStream handle, bool force, const char *api) {
    if (handle == NULL) { return emu_invalid(api, "stream is NULL"); }
    Stream *stream;
    TRY(stream_find_own(api, handle, &stream));
    if (stream->model != NULL) { return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "the stream is bound to a model"); }
    TRY(capture_refuse(api, stream));
    report_stream_state(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
    if (stream->is_default) { stream->context->default_stream = NULL; }
    stream_destroy(stream, force);
    return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) {
    ENTER();
    return destroy(stream, false, __func__);
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    ENTER();
    return destroy(stream, soc_has(SOC_FORCE_DESTROY), __func__); /* elsewhere it waits like aclrtDestroyStream */
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount) {
    ENTER();
    REQUIRE(streamCount);
    CURRENT_CONTEXT(context);
    *streamCount = soc_product()->streams - atomic_load(&context->device->streams);
    return ACL_SUCCESS;
}

/* ---- getters ---- */

/* Works without a current context and on streams of any context. */
aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
    ENTER();
    REQUIRE(streamId);
    ANY_STREAM(found, stream);
    *streamId = found->id;
    return ACL_SUCCESS;
}

/* On streams of any context, but not without a current one. */
static aclError find_with_context(const char *api, aclrtStream handle, Stream **stream) {
    TRY(stream_find(api, handle, stream));
    Context *context;
    return context_current(api, &context);
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags) {
    ENTER();
    REQUIRE(flags);
    Stream *found;
    TRY(find_with_context(__func__, stream, &found));
    *flags = found->flags;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority) {
    ENTER();
    REQUIRE(priority);
    Stream *found;
    TRY(find_with_context(__func__, stream, &found));
    *priority = found->priority;
    return ACL_SUCCESS;
}

/* ---- waiting ---- */

static aclError synchronize(aclrtStream handle, int32_t timeout_ms, const char *api) {
    if (timeout_ms < -1) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "timeout %d ms", timeout_ms); }
    if (handle == NULL && timeout_ms == 0) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "timeout 0 ms"); }
    Stream *stream;
    TRY(stream_find(api, handle, &stream));
    if (timeout_ms == 0) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "timeout 0 ms"); }
    if ((stream->flags & STREAM_FLAGS_UNWAITED) != 0) { return ACL_SUCCESS; }
    Context *context;
    TRY(context_current(api, &context));
    TRY(capture_refuse(api, stream));
    return stream_synchronize(stream, api, timeout_ms == -1 ? 0 : (uint64_t)timeout_ms * NS_PER_MS);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    ENTER();
    return synchronize(stream, -1, __func__);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    ENTER();
    return synchronize(stream, timeout, __func__);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
    ENTER();
    REQUIRE(status);
    ANY_STREAM(found, stream);
    if ((found->flags & STREAM_FLAGS_UNWAITED) != 0) {
        *status = ACL_STREAM_STATUS_COMPLETE;
        return ACL_SUCCESS;
    }
    CURRENT_CONTEXT(context);
    (void)context;
    TRY(capture_refuse(__func__, found));
    TRY(stream_trouble(found, __func__));
    *status = stream_is_done(found) ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

/* ---- control ---- */

/* NULL stands for the default stream only on products with a control queue, and only with a context. */
static aclError find_control(const char *api, aclrtStream handle, Stream **stream) {
    if (handle == NULL && (!soc_has(SOC_CONTROL_SQ) || context_peek() == NULL)) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "stream is NULL");
    }
    return stream_find(api, handle, stream);
}

static aclError require_own(const char *api, Stream *stream) {
    Context *context;
    TRY(context_current(api, &context));
    if (stream->context == context) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_CONTEXT, api, "stream %d belongs to another context", stream->id);
}

static aclError set_failure_mode(const char *api, Stream *stream, uint64_t mode) {
    if (!soc_has(SOC_STOP_MODE) || (stream->flags & ACL_STREAM_DEVICE_USE_ONLY) != 0) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "this stream has no failure mode");
    }
    Context *context;
    TRY(context_current(api, &context));
    if (stream->model != NULL) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "the stream is bound to a model");
    }
    mode &= 1; /* the other bits mean nothing */
    bool stopped = (atomic_load(&stream->attention) & ATTENTION_FAILED) != 0;
    if (stopped || (stream->failure_mode == ACL_STOP_ON_FAILURE && mode == ACL_CONTINUE_ON_FAILURE)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "there is no way back from STOP mode");
    }
    if (mode == stream->failure_mode) { return ACL_SUCCESS; }
    TRY(require_own(api, stream));
    stream->failure_mode = mode;
    atomic_store(&stream->context->stop_mode, true);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    ENTER();
    Stream *found;
    TRY(find_control(__func__, stream, &found));
    return set_failure_mode(__func__, found, mode);
}

aclError aclrtStreamAbort(aclrtStream stream) {
    ENTER();
    Stream *found;
    TRY(find_control(__func__, stream, &found));
    TRY(require_own(__func__, found));
    if ((found->flags & ACL_STREAM_CPU_SCHEDULE) != 0) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "a CPU_SCHEDULE stream cannot be aborted");
    }
    bool newest = soc_has(SOC_CNT_NOTIFY); /* 950 */
    if (newest && (found->flags & ACL_STREAM_PERSISTENT) != 0) {
        return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "a PERSISTENT stream cannot be aborted");
    }
    if (found->model != NULL) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "the stream is bound to a model"); }
    NEED_FEATURE(SOC_STREAM_ABORT);
    return stream_abort(found, __func__);
}

/* The default stream has to be named by its handle here. */
aclError aclrtStreamStop(aclrtStream stream) {
    ENTER();
    if (stream == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL"); }
    ANY_STREAM(found, stream);
    CURRENT_CONTEXT(context);
    NEED_FEATURE(SOC_FORCE_DESTROY); /* the older engines of 310P and 910 know neither */
    if (found->context != context) { return require_own(__func__, found); }
    if (found->model != NULL) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "the stream is bound to a model"); }
    if (atomic_load(&found->aborting)) { return FAIL(ACL_ERROR_RT_STREAM_ABORT, "the stream is being aborted"); }
    stream_stop(found);
    return ACL_SUCCESS;
}

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback, void *args) {
    ENTER();
    REQUIRE(regName);
    if (registry_set(&stream_state_callbacks, regName, (AnyCallback)callback, args, false)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_PARAM_INVALID, "\"%s\" is registered already", regName);
}

/* ---- attributes ---- */

static aclError set_overflow_switch(const char *api, Stream *stream, uint32_t value) {
    TRY(require_own(api, stream));
    TRY(capture_refuse(api, stream));
    if (soc_has(SOC_OVERFLOW_SWITCH)) { stream->overflow_switch = value; }
    return ACL_SUCCESS;
}

static uint32_t get_overflow_switch(const Stream *stream) {
    return soc_has(SOC_OVERFLOW_ALWAYS_ON) ? 1 : stream->overflow_switch;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    ENTER();
    if (flag > 1) { return INVALID("flag is neither 0 nor 1"); }
    ANY_STREAM(found, stream);
    return set_overflow_switch(__func__, found, flag);
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) {
    ENTER();
    REQUIRE(flag);
    OWN_STREAM(found, stream);
    *flag = get_overflow_switch(found);
    return ACL_SUCCESS;
}

static aclError out_of_range(const char *api, const char *what, uint32_t value) {
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%s %u", what, value);
}

static aclError set_overflow_attribute(const char *api, Stream *stream, const aclrtStreamAttrValue *value) {
    if (soc_has(SOC_OVERFLOW_SWITCH) && value->overflowSwitch > 1) {
        return out_of_range(api, "overflow switch", value->overflowSwitch);
    }
    return set_overflow_switch(api, stream, value->overflowSwitch);
}

static aclError set_failure_attribute(const char *api, Stream *stream, const aclrtStreamAttrValue *value) {
    return set_failure_mode(api, stream, value->failureMode);
}

static aclError set_tag(const char *api, Stream *stream, const aclrtStreamAttrValue *value) {
    TRY(require_own(api, stream));
    TRY(capture_refuse(api, stream));
    if (soc_has(SOC_CUSTOM_TAG)) { stream->custom_tag = value->userCustomTag; }
    return ACL_SUCCESS;
}

/* Outside a capture the real runtime takes the value and goes on reading 0. */
static aclError set_cache_op_info(const char *api, Stream *stream, const aclrtStreamAttrValue *value) {
    if (value->cacheOpInfoSwitch > 1) { return out_of_range(api, "cache-op-info switch", value->cacheOpInfoSwitch); }
    TRY(require_own(api, stream));
    if (capture_has_stream(stream)) { stream->cache_op_info = value->cacheOpInfoSwitch; }
    return ACL_SUCCESS;
}

static aclError set_priority(const char *api, Stream *stream, const aclrtStreamAttrValue *value) {
    if ((stream->flags & ACL_STREAM_CPU_SCHEDULE) != 0 || !soc_has(SOC_PRIORITY_ATTR)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "the priority of this stream is fixed");
    }
    TRY(require_own(api, stream));
    uint32_t priority = value->streamPriority;
    stream->device_priority = (int32_t)priority < 0 ? 0 : priority > 7 ? 7 : priority;
    return ACL_SUCCESS;
}

static aclError set_launch_blocking(const char *api, Stream *stream, const aclrtStreamAttrValue *value) {
    if (!soc_has(SOC_LAUNCH_BLOCKING)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "this product has no launch blocking");
    }
    if (value->launchBlockingMode > ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING) {
        return out_of_range(api, "launch-blocking mode", value->launchBlockingMode);
    }
    TRY(require_own(api, stream));
    stream->launch_blocking = value->launchBlockingMode;
    return ACL_SUCCESS;
}

static void get_failure_mode(const Stream *stream, aclrtStreamAttrValue *value) {
    value->failureMode = stream->failure_mode;
}
static void get_overflow(const Stream *stream, aclrtStreamAttrValue *value) {
    value->overflowSwitch = get_overflow_switch(stream);
}
static void get_tag(const Stream *stream, aclrtStreamAttrValue *value) { value->userCustomTag = stream->custom_tag; }
static void get_cache_op_info(const Stream *stream, aclrtStreamAttrValue *value) {
    value->cacheOpInfoSwitch = stream->cache_op_info;
}
static void get_priority(const Stream *stream, aclrtStreamAttrValue *value) {
    value->streamPriority = stream->device_priority;
}
static void get_launch_blocking(const Stream *stream, aclrtStreamAttrValue *value) {
    value->launchBlockingMode = stream->launch_blocking;
}

static const struct {
    bool null_never, null_on_control_queue; /* what NULL as stream means; else the default stream */
    aclError (*set)(const char *api, Stream *stream, const aclrtStreamAttrValue *value);
    void (*get)(const Stream *stream, aclrtStreamAttrValue *value);
} attributes[] = {
    [ACL_STREAM_ATTR_FAILURE_MODE] = {false, true, set_failure_attribute, get_failure_mode},
    [ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK] = {false, false, set_overflow_attribute, get_overflow},
    [ACL_STREAM_ATTR_USER_CUSTOM_TAG] = {false, false, set_tag, get_tag},
    [ACL_STREAM_ATTR_CACHE_OP_INFO] = {false, true, set_cache_op_info, get_cache_op_info},
    [ACL_STREAM_ATTR_PRIORITY] = {true, false, set_priority, get_priority},
    [ACL_STREAM_LAUNCH_BLOCKING_MODE] = {false, false, set_launch_blocking, get_launch_blocking},
};

static bool is_attribute(int type) { return type >= 1 && (size_t)type < sizeof(attributes) / sizeof(attributes[0]); }

static aclError find_for_attribute(const char *api, aclrtStream handle, int type, Stream **stream) {
    if (!is_attribute(type)) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "attribute %d", type); }
    if (handle == NULL && attributes[type].null_never) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "stream is NULL");
    }
    return attributes[type].null_on_control_queue ? find_control(api, handle, stream)
                                                  : stream_find(api, handle, stream);
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
    ENTER();
    REQUIRE(value);
    Stream *found;
    TRY(find_for_attribute(__func__, stream, (int)stmAttrType, &found));
    return attributes[stmAttrType].set(__func__, found, value);
}

/* Other contexts' streams are accepted. */
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
    ENTER();
    REQUIRE(value);
    Stream *found;
    TRY(find_for_attribute(__func__, stream, (int)stmAttrType, &found));
    CURRENT_CONTEXT(context);
    (void)context;
    attributes[stmAttrType].get(found, value);
    return ACL_SUCCESS;
}
