/* Chapter 07, events. */
#include "api/api.h"
#include "engine/capture.h"
#include "engine/event.h"
#include "engine/event_ipc.h"
#include "engine/mempool.h"

#define CLASSIC_FLAGS 0xFU /* SYNC, CAPTURE_STREAM_PROGRESS, TIME_LINE and the internal 0x4 */
#define NO_TIMEOUT 0U
#define DEFAULT_WAIT_TIMEOUT UINT32_MAX

/* Process-wide, in seconds; 0 = for ever. */
static _Atomic(uint32_t) op_wait_timeout;

#define FIND_EVENT(event, handle) \
    Event *event;                 \
    TRY(event_find(__func__, (handle), &event))

/* ---- life ---- */

static aclError create(aclrtEvent *out, EventFamily family, uint32_t flags, const char *api) {
    Context *context;
    TRY(context_current(api, &context));
    Event *event;
    TRY(event_create(context, family, flags, &event, api));
    *out = event->handle;
    return ACL_SUCCESS;
}

static aclError create_ipc(aclrtEvent *out, const char *api) {
    Context *context;
    TRY(context_current(api, &context));
    if (!soc_has(SOC_IPC_EVENT)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s has no IPC events", soc_product()->title);
    }
    Event *event;
    TRY(event_ipc_create(context, &event, api));
    *out = event->handle;
    return ACL_SUCCESS;
}

static bool is_mix(uint32_t flag) { return flag != 0 && (flag & ~CLASSIC_FLAGS) == 0; }

aclError aclrtCreateEvent(aclrtEvent *event) {
    ENTER();
    REQUIRE(event);
    return create(event, EVENT_DEFAULT, 0, __func__);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
    ENTER();
    REQUIRE(event);
    if (!is_mix(flag) && flag != ACL_EVENT_DEVICE_USE_ONLY && flag != ACL_EVENT_EXTERNAL) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x", flag);
    }
    return create(event, EVENT_CLASSIC, flag, __func__);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
    ENTER();
    REQUIRE(event);
    if (flag == ACL_EVENT_IPC) { return create_ipc(event, __func__); }
    if (!is_mix(flag)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%x", flag); }
    return create(event, EVENT_EX, flag, __func__);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    ENTER();
    REQUIRE(event);
    FIND_EVENT(found, event);
    event_destroy(found);
    return ACL_SUCCESS;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId) {
    ENTER();
    REQUIRE(event);
    REQUIRE(eventId);
    FIND_EVENT(found, event);
    if (found->shared != NULL) { return UNSUPPORTED("an IPC event has no id"); }
    if (found->id < 0) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "the event has no id before its first record"); }
    *eventId = (uint32_t)found->id;
    return ACL_SUCCESS;
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount) {
    ENTER();
    REQUIRE(eventCount);
    CURRENT_CONTEXT(context);
    (void)context;
    *eventCount = soc_product()->events - event_ids_used();
    return ACL_SUCCESS;
}

/* ---- record, wait, reset ---- */

static bool is_external(const Event *event) { return event->flags == ACL_EVENT_EXTERNAL; }
static bool is_device_only(const Event *event) { return event->flags == ACL_EVENT_DEVICE_USE_ONLY; }

/* Record and wait of one event must always use the same flag; the first use, even a failing one, decides. */
static aclError bind_flag(const char *api, Event *event, uint32_t flag) {
    if (flag != 0 && (event->family != EVENT_EX || event->flags != ACL_EVENT_SYNC)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api,
                                   "the external flag needs an Ex event with exactly the SYNC flag");
    }
    pthread_mutex_lock(&event->lock);
    if (event->record_flag < 0) { event->record_flag = (int)flag; }
    bool agrees = event->record_flag == (int)flag;
    pthread_mutex_unlock(&event->lock);
    return agrees ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "default and external use are mixed");
}

/* Classic events belong to the tasks of built models, Ex events to those of captured ones, EXTERNAL ones to both. */
static aclError refuse_for_model(const char *api, Event *event, Stream *stream) {
    bool plain = event->family == EVENT_EX && event->shared == NULL;
    if (capture_has_stream(stream) && !plain && !is_external(event)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "only Ex and EXTERNAL events can be captured");
    }
    if (stream->model == NULL || event->family == EVENT_CLASSIC) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "not on a stream bound to a model");
}

static aclError record(const char *api, aclrtEvent handle, aclrtStream stream_handle, uint32_t flag) {
    if (handle == NULL) { return emu_invalid(api, "event is NULL"); }
    if (flag > ACL_EVENT_RECORD_EXTERNAL) { return emu_invalid(api, "flag is neither default nor external"); }
    Event *event;
    Stream *stream;
    TRY(event_find(api, handle, &event));
    if (stream_handle != NULL) { TRY(stream_find(api, stream_handle, &stream)); }
    if (is_device_only(event)) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "a DEVICE_USE_ONLY event"); }
    TRY(bind_flag(api, event, flag));
    TRY(stream_find_own(api, stream_handle, &stream));
    TRY(refuse_for_model(api, event, stream));
    if (flag == ACL_EVENT_RECORD_EXTERNAL) { return capture_external(event, stream, true, api); }
    if (capture_has_stream(stream) && !is_external(event)) { return capture_record(event, stream, api); }
    return event->shared != NULL ? event_ipc_record(event, stream, api) : event_record(event, stream, api);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    ENTER();
    return record(__func__, event, stream, ACL_EVENT_RECORD_DEFAULT);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
    ENTER();
    return record(__func__, event, stream, flag);
}

/* What a wait on an event that was never recorded means depends on how the event was made. */
static aclError queue_wait(const char *api, Event *event, Stream *stream, uint32_t timeout_s) {
    uint64_t timeout_ns = soc_has(SOC_WAIT_TIMEOUT) ? timeout_s * NS_PER_S : 0;
    if (event->shared != NULL) { return event_ipc_wait(event, stream, timeout_ns, api); }
    if (capture_has_event(event) || (capture_has_stream(stream) && event->recorded && !is_external(event))) {
        return capture_wait(event, stream, timeout_ns, api);
    }
    if (!event->recorded && event->family == EVENT_DEFAULT) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the event was never recorded");
    }
    if (!event->recorded && event->family == EVENT_EX) { return ACL_SUCCESS; }
    return event_wait(event, stream, timeout_ns, api);
}

static aclError wait(const char *api, aclrtStream stream_handle, aclrtEvent handle, uint32_t timeout_s, uint32_t flag) {
    if (flag > ACL_EVENT_WAIT_EXTERNAL) { return emu_invalid(api, "flag is neither default nor external"); }
    if (flag == ACL_EVENT_WAIT_EXTERNAL && timeout_s != 0) { return emu_invalid(api, "an external wait takes no timeout"); }
    Event *event;
    Stream *stream;
    TRY(event_find(api, handle, &event));
    if (stream_handle != NULL) { TRY(stream_find(api, stream_handle, &stream)); }
    if (is_device_only(event)) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "a DEVICE_USE_ONLY event"); }
    if (!event_can_be_waited(event)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "an event with flags 0x%x cannot be waited for",
                                   event->flags);
    }
    TRY(bind_flag(api, event, flag));
    TRY(stream_find_own(api, stream_handle, &stream));
    TRY(refuse_for_model(api, event, stream));
    if (flag == ACL_EVENT_WAIT_EXTERNAL) { return capture_external(event, stream, false, api); }
    return queue_wait(api, event, stream, timeout_s == DEFAULT_WAIT_TIMEOUT ? atomic_load(&op_wait_timeout) : timeout_s);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    ENTER();
    REQUIRE(event);
    return wait(__func__, stream, event, atomic_load(&op_wait_timeout), ACL_EVENT_WAIT_DEFAULT);
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    ENTER();
    if (event == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "event is NULL"); }
    if (timeout < 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "timeout %d s", timeout); }
    return wait(__func__, stream, event, (uint32_t)timeout, ACL_EVENT_WAIT_DEFAULT);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
    ENTER();
    REQUIRE(event);
    return wait(__func__, stream, event, timeout, flag);
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
    ENTER();
    atomic_store(&op_wait_timeout, timeout);
    return ACL_SUCCESS;
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    ENTER();
    REQUIRE(event);
    FIND_EVENT(found, event);
    Stream *queue;
    if (stream != NULL) { TRY(stream_find(__func__, stream, &queue)); }
    if (is_device_only(found)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "a DEVICE_USE_ONLY event"); }
    if (!event_can_be_waited(found)) { return UNSUPPORTED("an event with flags 0x%x has no reset", found->flags); }
    CURRENT_CONTEXT(context);
    (void)context;
    if (found->family == EVENT_EX) { return UNSUPPORTED("an Ex event has no reset"); }
    TRY(stream_find_own(__func__, stream, &queue));
    TRY(refuse_for_model(__func__, found, queue));
    return event_reset(found, queue, __func__);
}

/* ---- asking ---- */

static aclError refuse_external(const char *api, const Event *event) {
    if (!is_external(event)) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "an EXTERNAL event cannot be asked");
}

static aclError refuse_ipc(const char *api, const Event *event) {
    if (event->shared == NULL) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "an IPC event keeps no time");
}

static aclError refuse_captured(const char *api, Event *event) {
    if (!capture_has_event(event)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_EVENT_CAPTURED, api, "the event is part of a capture");
}

/* A record still to come, or none at all, counts as "never recorded". */
static bool is_unrecorded(Record *record) { return record == NULL || atomic_load(&record->state) == RECORD_OPEN; }

static aclError synchronize(const char *api, aclrtEvent handle, int32_t timeout_ms) {
    if (handle == NULL) { return emu_invalid(api, "event is NULL"); }
    if (timeout_ms < -1 || timeout_ms == 0) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "timeout %d ms", timeout_ms);
    }
    Event *event;
    TRY(event_find(api, handle, &event));
    TRY(refuse_external(api, event));
    TRY(refuse_captured(api, event));
    int32_t failure = atomic_load(&event->context->failure);
    if (failure != 0) { return emu_fail(failure, api, "the event's context failed in STOP mode"); }
    if (atomic_load(&event->context->device->aborting)) {
        return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "the event's device is aborting its tasks");
    }
    uint64_t timeout_ns = timeout_ms == -1 ? 0 : (uint64_t)timeout_ms * NS_PER_MS;
    if (event->shared != NULL) { return event_ipc_synchronize(event, timeout_ns, api); }
    if (event_is_signalled(event)) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the event is recorded by a stream of a model");
    }
    Record *newest = event_newest(event);
    aclError code = ACL_SUCCESS;
    if (!is_unrecorded(newest) && !record_is_over(newest)) {
        code = record_synchronize(newest, event, timeout_ns, api);
    }
    record_release(newest);
    mempool_settle();
    return code;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    ENTER();
    return synchronize(__func__, event, -1);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    ENTER();
    return synchronize(__func__, event, timeout);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) {
    ENTER();
    REQUIRE(event);
    REQUIRE(status);
    FIND_EVENT(found, event);
    if (found->family == EVENT_EX) { return UNSUPPORTED("an Ex event needs aclrtQueryEventStatus"); }
    TRY(refuse_external(__func__, found));
    Record *newest = event_newest(found);
    bool complete = is_unrecorded(newest) || record_is_over(newest);
    record_release(newest);
    *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
    ENTER();
    REQUIRE(event);
    REQUIRE(status);
    FIND_EVENT(found, event);
    TRY(refuse_external(__func__, found));
    TRY(refuse_captured(__func__, found));
    if (found->shared != NULL) {
        bool over = event_ipc_is_over(found);
        *status = over ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        return ACL_SUCCESS;
    }
    Record *newest = event_newest(found);
    bool by_model = event_is_signalled(found); /* nothing tells the host about that */
    bool complete = is_unrecorded(newest) ? found->family == EVENT_EX && !by_model : record_is_over(newest);
    record_release(newest);
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status) {
    ENTER();
    REQUIRE(event);
    REQUIRE(status);
    FIND_EVENT(found, event);
    if (found->family == EVENT_EX || is_external(found)) { return UNSUPPORTED("not for Ex and EXTERNAL events"); }
    bool pending = atomic_load(&found->waits) != 0;
    *status = pending ? ACL_EVENT_WAIT_STATUS_NOT_READY : ACL_EVENT_WAIT_STATUS_COMPLETE;
    return ACL_SUCCESS;
}

/* ---- time ---- */

/* When the event was reached: 507000 if never recorded, 107006 if it keeps no time or is not reached yet. */
static aclError time_of(const char *api, Event *event, uint64_t *time_ns) {
    TRY(refuse_external(api, event));
    TRY(refuse_ipc(api, event));
    TRY(refuse_captured(api, event));
    Record *newest = event_newest(event);
    aclError code = ACL_SUCCESS;
    if (is_unrecorded(newest)) {
        code = emu_fail(ACL_ERROR_RT_INTERNAL_ERROR, api, "the event was never recorded");
    } else if (!event_has_time(event) || atomic_load(&newest->state) != RECORD_DONE) {
        code = emu_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, api, "the event has no time stamp%s",
                        event_has_time(event) ? " yet" : ": it was made without TIME_LINE");
    } else {
        *time_ns = newest->time_ns;
    }
    record_release(newest);
    return code;
}

/* In whole device ticks, as the hardware counts. */
static double ticks_to_ms(int64_t ns) {
    double ticks_per_ms = soc_product()->ticks_per_ms;
    return (double)(int64_t)((double)ns / NS_PER_MS * ticks_per_ms) / ticks_per_ms;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    ENTER();
    REQUIRE(ms);
    REQUIRE(startEvent);
    REQUIRE(endEvent);
    FIND_EVENT(start, startEvent);
    FIND_EVENT(end, endEvent);
    uint64_t start_ns, end_ns;
    TRY(time_of(__func__, start, &start_ns));
    TRY(time_of(__func__, end, &end_ns));
    *ms = (float)ticks_to_ms((int64_t)(end_ns - start_ns));
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
    ENTER();
    REQUIRE(timestamp);
    REQUIRE(event);
    FIND_EVENT(found, event);
    uint64_t time_ns;
    TRY(time_of(__func__, found, &time_ns));
    *timestamp = time_ns / 1000;
    return ACL_SUCCESS;
}
