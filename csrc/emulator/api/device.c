/* Chapter 04, devices. */
#include "api/api.h"
#include "api/capture.h"
#include "engine/mempool.h"
#include "engine/registry.h"
#include "engine/spot.h"

#define DEVICE(device, id)                                                                             \
    Device *device = device_get(id);                                                                   \
    if (device == NULL) {                                                                              \
        return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist: there are %u", (int)(id), \
                    soc_device_count());                                                               \
    }

aclError aclrtSetDevice(int32_t deviceId) {
    ENTER();
    DEVICE(device, deviceId);
    TRY(device_retain(device, __func__));
    emu_thread.context = NULL;
    emu_thread.device = deviceId + 1;
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) {
    ENTER();
    DEVICE(device, deviceId);
    return device_release(device, false, __func__);
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    ENTER();
    DEVICE(device, deviceId);
    return device_release(device, true, __func__);
}

aclError aclrtGetDevice(int32_t *deviceId) {
    ENTER();
    REQUIRE(deviceId);
    Context *context = context_peek();
    if (context == NULL) {
        return emu_fail_unrecorded(ACL_ERROR_RT_CONTEXT_NULL, __func__, "this thread has no context");
    }
    *deviceId = context->device->id;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
    ENTER();
    REQUIRE(count);
    if (soc_device_count() == 0) { return FAIL(ACL_ERROR_RT_NO_DEVICE, "no device is visible"); }
    *count = soc_device_count();
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode) {
    ENTER();
    REQUIRE(runMode);
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

const char *aclrtGetSocName(void) { return soc_model()->name; }

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus) {
    ENTER();
    REQUIRE(deviceStatus);
    DEVICE(device, deviceId);
    (void)device;
    *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority) {
    ENTER();
    if (leastPriority != NULL) { *leastPriority = 7; }
    if (greatestPriority != NULL) { *greatestPriority = 0; }
    return ACL_SUCCESS;
}

typedef struct DeviceSync {
    Context *context;
    Stream *pending;
} DeviceSync;

/* Streams that device synchronize does not wait for. */
static uint32_t flags_passed_over(void) {
    bool newest = soc_has(SOC_CNT_NOTIFY); /* 950 */
    return newest ? STREAM_FLAGS_UNWAITED : ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_PERSISTENT;
}

static void find_pending(Stream *stream, void *argument) {
    DeviceSync *sync = argument;
    if (stream->context != sync->context || (stream->flags & flags_passed_over()) != 0) { return; }
    if (!stream_is_done(stream) || atomic_load(&stream->error) != 0) { sync->pending = stream; }
}

/* One stream after another, whatever order they are in; each wait is limited by what is left of the timeout. */
static aclError synchronize_context(Context *context, const char *api, uint64_t timeout_ns) {
    uint64_t deadline = timeout_ns == 0 ? FOREVER : clock_now() + timeout_ns;
    aclError first = ACL_SUCCESS;
    for (;;) {
        DeviceSync sync = {context, NULL};
        stream_for_each(find_pending, &sync);
        if (sync.pending == NULL) {
            mempool_settle();
            return first;
        }
        uint64_t now = clock_now();
        uint64_t left = deadline == FOREVER ? 0 : now < deadline ? deadline - now : 1;
        aclError code = stream_synchronize(sync.pending, api, left);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || atomic_load(&context->failure) != 0) { return code; }
        if (first == ACL_SUCCESS) { first = code; }
    }
}

static aclError synchronize_device(const char *api, uint64_t timeout_ns) {
    Context *context;
    TRY(context_current(api, &context));
    int32_t failure = atomic_load(&context->failure);
    if (failure != 0) { return emu_fail(failure, api, "the context failed in STOP mode"); }
    if (atomic_load(&context->device->aborting)) {
        return emu_fail(ACL_ERROR_RT_DEVICE_TASK_ABORT, api, "device %d is aborting its tasks", context->device->id);
    }
    if (atomic_load(&context->capturing) != 0) {
        return emu_fail(ACL_ERROR_RT_STREAM_CAPTURED, api, "a stream of the context is being captured");
    }
    return synchronize_context(context, api, timeout_ns);
}

aclError aclrtSynchronizeDevice(void) {
    ENTER();
    return synchronize_device(__func__, 0);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    ENTER();
    if (timeout < -1 || timeout == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "timeout %d ms", timeout); }
    return synchronize_device(__func__, timeout == -1 ? 0 : (uint64_t)timeout * NS_PER_MS);
}

aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback, void *args) {
    ENTER();
    REQUIRE(regName);
    if (registry_set(&device_state_callbacks, regName, (AnyCallback)callback, args, false)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_PARAM_INVALID, "\"%s\" is registered already", regName);
}

/* The mode is the process's: every device of it. Left at INFNAN, as found on the real runtime. */
static _Atomic(int) saturation_mode = ACL_RT_OVERFLOW_MODE_INFNAN;

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
    ENTER();
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "mode %d", (int)mode);
    }
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(mode == ACL_RT_OVERFLOW_MODE_INFNAN ? SOC_SAT_INFNAN : SOC_SAT_SATURATION);
    atomic_store(&saturation_mode, (int)mode);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) {
    ENTER();
    REQUIRE(mode);
    int current = atomic_load(&saturation_mode);
    bool possible = soc_has(current == ACL_RT_OVERFLOW_MODE_INFNAN ? SOC_SAT_INFNAN : SOC_SAT_SATURATION);
    *mode = possible ? (aclrtFloatOverflowMode)current : ACL_RT_OVERFLOW_MODE_SATURATION;
    return ACL_SUCCESS;
}
