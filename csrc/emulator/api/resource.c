/* Chapter 03, what the process may use and how: core limits of devices, streams and threads; system parameters. */
#include "engine/resource.h"

#include "api/api.h"

enum {
    CONTEXT_OPTIONS = 3, /* aclSysParamOpt: a context knows the first three, */
    PROCESS_OPTIONS = 4, /* the process all of them */
};

/* ---- core limits ---- */

static aclError check_type(const char *api, aclrtDevResLimitType type) {
    if ((unsigned)type < CORE_KINDS) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "resource type %d", (int)type);
}

static aclError check_limit(const char *api, aclrtDevResLimitType type, uint32_t value) {
    TRY(check_type(api, type));
    uint32_t cores = resource_cores(type);
    if (value <= cores) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%u cores of %u", value, cores);
}

/* The device must be in use by somebody: primary context or explicit ones, whose streams are counted. */
static aclError find_device(const char *api, int32_t id, Device **device) {
    *device = device_get(id);
    if (*device == NULL) { return emu_fail(ACL_ERROR_RT_INVALID_DEVICEID, api, "device %d does not exist", id); }
    if (atomic_load(&(*device)->primary) != NULL || atomic_load(&(*device)->streams) != 0) { return ACL_SUCCESS; }
    if (context_peek() == NULL) { return emu_fail(ACL_ERROR_RT_CONTEXT_NULL, api, "device %d is not set", id); }
    return emu_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, api, "device %d is not set", id);
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value) {
    ENTER();
    REQUIRE(value);
    TRY(check_type(__func__, type));
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    *value = resource_of_device(device, type);
    return ACL_SUCCESS;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
    ENTER();
    TRY(check_limit(__func__, type, value));
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    resource_limit(device->core_limit, type, value);
    return ACL_SUCCESS;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
    ENTER();
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    resource_reset(device->core_limit);
    return ACL_SUCCESS;
}

/* A handle that is none is reported before anything else. */
static aclError check_handle(const char *api, aclrtStream handle) {
    Stream *stream;
    return handle == NULL ? ACL_SUCCESS : stream_find(api, handle, &stream);
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value) {
    ENTER();
    REQUIRE(value);
    TRY(check_handle(__func__, stream));
    TRY(check_type(__func__, type));
    OWN_STREAM(found, stream);
    *value = resource_of_stream(found, type);
    return ACL_SUCCESS;
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
    ENTER();
    TRY(check_handle(__func__, stream));
    TRY(check_limit(__func__, type, value));
    OWN_STREAM(found, stream);
    resource_limit(found->core_limit, type, value);
    return ACL_SUCCESS;
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
    ENTER();
    OWN_STREAM(found, stream);
    resource_reset(found->core_limit);
    return ACL_SUCCESS;
}

/* ---- the thread's choice ---- */

/* Kept as a handle: a stream destroyed meanwhile is simply no choice any more. */
aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
    ENTER();
    OWN_STREAM(found, stream);
    emu_thread.resource_stream = found->handle;
    return ACL_SUCCESS;
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
    ENTER();
    OWN_STREAM(found, stream);
    if (emu_thread.resource_stream == found->handle) { emu_thread.resource_stream = NULL; }
    return ACL_SUCCESS;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value) {
    ENTER();
    REQUIRE(value);
    TRY(check_type(__func__, type));
    Stream *chosen = handle_get(KIND_STREAM, emu_thread.resource_stream);
    if (chosen != NULL) {
        *value = resource_of_stream(chosen, type);
        return ACL_SUCCESS;
    }
    CURRENT_CONTEXT(context);
    *value = resource_of_device(context->device, type);
    return ACL_SUCCESS;
}

/* ---- system parameters ---- */

static struct {
    pthread_mutex_t lock; /* of these and of every context's */
    int64_t values[PROCESS_OPTIONS];
    bool set[PROCESS_OPTIONS];
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_option(int64_t *value, bool *set, int64_t new_value) {
    pthread_mutex_lock(&process.lock);
    *value = new_value;
    *set = true;
    pthread_mutex_unlock(&process.lock);
}

static aclError get_option(const char *api, const int64_t *from, const bool *set, int64_t *value) {
    pthread_mutex_lock(&process.lock);
    bool known = *set;
    if (known) { *value = *from; }
    pthread_mutex_unlock(&process.lock);
    if (known) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, api, "the parameter was never set");
}

static aclError check_option(const char *api, aclSysParamOpt option, unsigned count) {
    return (unsigned)option < count ? ACL_SUCCESS : emu_invalid(api, "opt is no parameter known here");
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    ENTER();
    TRY(check_option(__func__, opt, CONTEXT_OPTIONS));
    CURRENT_CONTEXT(context);
    set_option(&context->system_options[opt], &context->system_option_set[opt], value);
    return ACL_SUCCESS;
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
    ENTER();
    REQUIRE(value);
    TRY(check_option(__func__, opt, CONTEXT_OPTIONS));
    CURRENT_CONTEXT(context);
    return get_option(__func__, &context->system_options[opt], &context->system_option_set[opt], value);
}

/* The process has its own values: neither needs a context, nor does one show through in the other. */
aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    ENTER();
    TRY(check_option(__func__, opt, PROCESS_OPTIONS));
    set_option(&process.values[opt], &process.set[opt], value);
    return ACL_SUCCESS;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
    ENTER();
    REQUIRE(value);
    TRY(check_option(__func__, opt, PROCESS_OPTIONS));
    return get_option(__func__, &process.values[opt], &process.set[opt], value);
}
