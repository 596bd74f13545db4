/* Chapter 05, contexts. */
#include "api/api.h"

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
    ENTER();
    REQUIRE(context);
    Device *device = device_get(deviceId);
    if (device == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist", deviceId); }
    Context *made;
    TRY(context_create(device, false, &made, __func__));
    emu_thread.context = made->handle;
    emu_thread.device = 0;
    *context = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
    ENTER();
    REQUIRE(context);
    Context *found = handle_get(KIND_CONTEXT, context);
    if (found == NULL) { return FAIL(ACL_ERROR_RT_CONTEXT_NULL, "%p is no live context", context); }
    if (found->is_primary) {
        return FAIL(ACL_ERROR_RT_CONTEXT_NULL, "a primary context ends with aclrtResetDevice only");
    }
    context_destroy(found, false);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    ENTER();
    REQUIRE(context);
    if (handle_get(KIND_CONTEXT, context) == NULL) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%p is no live context", context);
    }
    emu_thread.context = context;
    emu_thread.device = 0;
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
    ENTER();
    REQUIRE(context);
    CURRENT_CONTEXT(current);
    *context = current->handle;
    return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active) {
    ENTER();
    if (flags != NULL) { return INVALID("flags is reserved and must be NULL"); }
    REQUIRE(active);
    Device *device = device_get(deviceId);
    if (device == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist", deviceId); }
    *active = atomic_load(&device->primary) != NULL;
    return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) {
    ENTER();
    REQUIRE(stream);
    CURRENT_CONTEXT(context);
    ANY_STREAM(found, NULL);
    (void)context;
    *stream = found->handle;
    return ACL_SUCCESS;
}
