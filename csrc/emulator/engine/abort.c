/* Device task abort: see abort.h. */
#include "engine/abort.h"

#include "engine/error.h"
#include "engine/event.h"
#include "engine/registry.h"
#include "engine/stream.h"

static const uint64_t USUAL_LIMIT_NS = 10 * NS_PER_S;
static const uint64_t LOOK_AGAIN_NS = NS_PER_MS / 2;

/* ---- callbacks ---- */

typedef struct Stage {
    int32_t device;
    aclrtDeviceTaskAbortStage stage;
    uint32_t timeout_ms;
    int32_t refusal; /* of the first callback that answered something else than 0 */
} Stage;

static void call_one(AnyCallback callback, void *argument, void *subject) {
    Stage *stage = subject;
    if (stage->refusal != 0) { return; }
    stage->refusal =
        ((aclrtDeviceTaskAbortCallback)callback)(stage->device, stage->stage, stage->timeout_ms, argument);
}

static aclError call_back(Device *device, aclrtDeviceTaskAbortStage which, uint32_t timeout_ms, const char *api) {
    Stage stage = {device->id, which, timeout_ms, 0};
    registry_call(&task_abort_callbacks, call_one, &stage);
    if (stage.refusal == 0) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_TASK_ABORT_STOP, api, "a callback answered %d in the %s stage", stage.refusal,
                    which == ACL_RT_DEVICE_TASK_ABORT_PRE ? "first" : "last");
}

/* ---- the device's streams ---- */

static void wake_waiters(Stream *stream, void *device) {
    if (stream->context->device == device) { spot_wake(&stream->finished); }
}

typedef struct Rest {
    const Device *device;
    uint32_t busy;
} Rest;

static void drop_work(Stream *stream, void *argument) {
    Rest *rest = argument;
    if (stream->context->device != rest->device || stream_is_done(stream)) { return; }
    stream_drop_queued(stream); /* again at each look: the runner may have gone on to a next kernel */
    rest->busy++;
}

/* True once nothing is queued any more. */
static bool drop_all_work(const Device *device, uint64_t deadline) {
    for (;;) {
        Rest rest = {device, 0};
        stream_for_each(drop_work, &rest);
        if (rest.busy == 0) { return true; }
        if (clock_now() >= deadline) { return false; }
        struct timespec pause = clock_timespec(LOOK_AGAIN_NS);
        nanosleep(&pause, NULL);
    }
}

static void make_as_new(Stream *stream, void *device) {
    if (stream->context->device != device) { return; }
    atomic_fetch_and(&stream->attention, ~(uint32_t)(ATTENTION_ABORT | ATTENTION_FAILED));
    atomic_store(&stream->error, 0);
    atomic_store(&stream->context->failure, 0);
}

static void clear(Device *device) {
    stream_for_each(make_as_new, device);
    atomic_store(&device->aborting, false);
}

/* ---- the stages ---- */

static aclError run_stages(Device *device, uint32_t timeout_ms, uint64_t deadline, const char *api) {
    TRY(call_back(device, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout_ms, api));
    if (!drop_all_work(device, deadline)) {
        return emu_fail(ACL_ERROR_RT_WAIT_TIMEOUT, api, "the tasks of device %d do not end", device->id);
    }
    TRY(call_back(device, ACL_RT_DEVICE_TASK_ABORT_POST, timeout_ms, api));
    if (clock_now() < deadline) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_WAIT_TIMEOUT, api, "aborting the tasks of device %d took too long", device->id);
}

aclError abort_device(Device *device, uint32_t timeout_ms, const char *api) {
    if (atomic_exchange(&device->abort_running, true)) {
        return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "device %d is aborting its tasks already", device->id);
    }
    uint64_t deadline = clock_now() + (timeout_ms == 0 ? USUAL_LIMIT_NS : timeout_ms * NS_PER_MS);
    atomic_store(&device->aborting, true);
    atomic_fetch_add(&device->abort_count, 1);
    stream_for_each(wake_waiters, device);
    record_wake_host_waiters();
    aclError code = run_stages(device, timeout_ms, deadline, api);
    if (code == ACL_SUCCESS) { clear(device); }
    atomic_store(&device->abort_running, false);
    return code;
}

void abort_forget(Device *device) {
    if (atomic_load(&device->aborting) && !atomic_load(&device->abort_running)) { clear(device); }
}
