/* Chapter 13, aborting all tasks of a device. */
#include "engine/abort.h"

#include "api/api.h"
#include "engine/registry.h"

enum { LONGEST_TIMEOUT_MS = 36 * 60 * 1000 };

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
    ENTER();
    if (timeout > LONGEST_TIMEOUT_MS) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "timeout %u ms", timeout); }
    Device *device = device_get(deviceId);
    if (device == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist", deviceId); }
    NEED_FEATURE(SOC_STREAM_ABORT); /* the products that can abort a stream can abort them all */
    return abort_device(device, timeout, __func__);
}

/* A name registered before gets the new callback. */
aclError aclrtSetDeviceTaskAbortCallback(const char *regName, aclrtDeviceTaskAbortCallback callback, void *args) {
    ENTER();
    REQUIRE(regName);
    registry_set(&task_abort_callbacks, regName, (AnyCallback)callback, args, true);
    return ACL_SUCCESS;
}
