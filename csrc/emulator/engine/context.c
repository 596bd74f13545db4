/* Devices and contexts: making, finding, failing and ending them. */
#include "engine/context.h"

#include <string.h>

#include "engine/abort.h"
#include "engine/capture.h"
#include "engine/error.h"
#include "engine/event.h"
#include "engine/handle.h"
#include "engine/host.h"
#include "engine/memory.h"
#include "engine/memory_ipc.h"
#include "engine/mempool.h"
#include "engine/model.h"
#include "engine/pool.h"
#include "engine/registry.h"
#include "engine/resource.h"
#include "engine/stream.h"
#include "engine/virtual.h"
#include "engine/thread.h"
#include "soc/soc.h"

enum { MAX_DEVICES = 64 };

static Device devices[MAX_DEVICES];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Pool contexts = POOL(Context, pool_next);

/* Device-state callbacks run under the device's lock and may call back: it is recursive. */
static void prepare_devices(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    for (int32_t i = 0; i < MAX_DEVICES; i++) {
        devices[i].id = i;
        pthread_mutex_init(&devices[i].lock, &recursive);
    }
    pthread_mutexattr_destroy(&recursive);
}

Device *device_get(int32_t id) {
    pthread_once(&once, prepare_devices);
    if (id < 0 || (uint32_t)id >= soc_device_count()) { return NULL; }
    return &devices[id];
}

aclError device_retain(Device *device, const char *api) {
    pthread_mutex_lock(&device->lock);
    aclError code = ACL_SUCCESS;
    if (device->references == 0) {
        Context *primary = NULL;
        report_device_state(device->id, ACL_RT_DEVICE_STATE_SET_PRE);
        code = context_create(device, true, &primary, api);
        if (code == ACL_SUCCESS) { atomic_store(&device->primary, primary); }
    }
    if (code == ACL_SUCCESS) { device->references++; }
    pthread_mutex_unlock(&device->lock);
    if (code == ACL_SUCCESS) { report_device_state(device->id, ACL_RT_DEVICE_STATE_SET_POST); }
    return code;
}

aclError device_release(Device *device, bool force, const char *api) {
    pthread_mutex_lock(&device->lock);
    if (device->references == 0) {
        pthread_mutex_unlock(&device->lock);
        return emu_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, api, "device %d is not set", device->id);
    }
    device->references = force ? 0 : device->references - 1;
    if (device->references == 0) {
        Context *primary = atomic_load(&device->primary);
        report_device_state(device->id, ACL_RT_DEVICE_STATE_RESET_PRE);
        context_destroy(primary, force);
        atomic_store(&device->primary, NULL);
        memory_ipc_reset(device->id);
        mempool_reset(device->id);
        virtual_reset(device->id);
        memory_free_device(device->id);
        resource_reset(device->core_limit);
        abort_forget(device);
        report_device_state(device->id, ACL_RT_DEVICE_STATE_RESET_POST);
    }
    pthread_mutex_unlock(&device->lock);
    return ACL_SUCCESS;
}

static aclError create_own_streams(Context *context, const char *api) {
    uint32_t flags = soc_product()->default_stream_flags;
    TRY(stream_create(context, 0, flags, true, &context->default_stream, api));
    context->default_stream->is_default = true;
    if (!context->is_primary) { return ACL_SUCCESS; }
    /* The real runtime makes a second, internal stream for each primary context and reports it like any other. */
    return stream_create(context, 0, 0, false, &context->internal_stream, api);
}

aclError context_create(Device *device, bool primary, Context **out, const char *api) {
    int fresh;
    Context *context = pool_take(&contexts, &fresh);
    void *handle = context == NULL ? NULL : handle_new(KIND_CONTEXT, context);
    if (handle == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a context"); }
    memset(context, 0, sizeof(*context));
    context->handle = handle;
    context->device = device;
    context->is_primary = primary;
    aclError code = create_own_streams(context, api);
    if (code != ACL_SUCCESS) {
        context_destroy(context, true);
        return code;
    }
    *out = context;
    return ACL_SUCCESS;
}

/* Finds one explicit stream of the context (streams may not be destroyed while the list is visited). */
typedef struct Search {
    Context *context;
    Stream *found;
} Search;

static void find_explicit(Stream *stream, void *argument) {
    Search *search = argument;
    if (stream->context != search->context) { return; }
    if (stream != search->context->default_stream && stream != search->context->internal_stream) { search->found = stream; }
}

static void destroy_explicit_streams(Context *context, bool force) {
    for (;;) {
        Search search = {context, NULL};
        stream_for_each(find_explicit, &search);
        if (search.found == NULL) { return; }
        report_stream_state(search.found->handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
        stream_destroy(search.found, force);
    }
}

void context_destroy(Context *context, bool force) {
    capture_discard_all(context);
    model_destroy_all(context, force);
    destroy_explicit_streams(context, force);
    if (context->default_stream != NULL) {
        report_stream_state(context->default_stream->handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
        stream_destroy(context->default_stream, force);
    }
    if (context->internal_stream != NULL) { stream_destroy(context->internal_stream, true); }
    host_thread_stop(context);
    handle_drop(context->handle);
    pool_give(&contexts, context);
}

Context *context_peek(void) {
    if (emu_thread.context != NULL) { return handle_get(KIND_CONTEXT, emu_thread.context); }
    if (emu_thread.device == 0) { return NULL; }
    return atomic_load_explicit(&devices[emu_thread.device - 1].primary, memory_order_acquire);
}

aclError context_current(const char *api, Context **context) {
    *context = context_peek();
    if (*context != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_CONTEXT_NULL, api, "this thread has no context: call aclrtSetDevice in it first");
}

static void wake_waiters(Stream *stream, void *context) {
    if (stream->context == context) { spot_notify(&stream->finished); }
}

void context_fail(Context *context, int32_t code) {
    int32_t none = 0;
    atomic_compare_exchange_strong(&context->failure, &none, code);
    stream_for_each(wake_waiters, context);
    record_wake_host_waiters();
}

uint64_t context_live_count(void) { return pool_live(&contexts); }
