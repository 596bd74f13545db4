/* Chapter 11, memory of device and host. */
#include "api/api.h"
#include "engine/memory.h"

enum {
    MALLOC_UNIT = 32,           /* device allocations are rounded up to this, */
    MALLOC_PADDING = 32,        /* and aclrtMalloc adds this before */
    LAST_MEMORY_ATTRIBUTE = 17, /* aclrtMemAttr */
};

/* ---- device ---- */

static aclError allocate_device(const char *api, void **address, size_t bytes, size_t padding) {
    if (address == NULL) { return emu_invalid(api, "devPtr is NULL"); }
    if (bytes == 0) { return emu_invalid(api, "size is 0"); }
    if (bytes > SIZE_MAX - padding - MALLOC_UNIT) { return emu_invalid(api, "size overflows"); }
    Context *context;
    TRY(context_current(api, &context));
    size_t rounded = (bytes + padding + MALLOC_UNIT - 1) / MALLOC_UNIT * MALLOC_UNIT;
    Allocation wanted = {.kind = MEMORY_DEVICE, .device = context->device->id, .bytes = rounded, .accounted = rounded};
    return memory_allocate(&wanted, address, api);
}

/* Unknown policies count as the default one; 1G policies allocate without the padding. */
static size_t padding_for(aclrtMemMallocPolicy policy) {
    bool huge = policy == ACL_MEM_MALLOC_HUGE1G_ONLY || policy == ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
    return huge ? 0 : MALLOC_PADDING;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ENTER();
    return allocate_device(__func__, devPtr, size, padding_for(policy));
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ENTER();
    (void)policy;
    return allocate_device(__func__, devPtr, size, 0);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ENTER();
    return allocate_device(__func__, devPtr, size, padding_for(policy));
}

aclError aclrtFree(void *devPtr) {
    ENTER();
    REQUIRE(devPtr);
    return memory_free(devPtr, false, __func__);
}

aclError aclrtFreeWithDevSync(void *devPtr) {
    ENTER();
    REQUIRE(devPtr);
    TRY(aclrtSynchronizeDevice());
    return memory_free(devPtr, false, __func__);
}

/* Nothing is cached between the emulated device and its memory: valid calls have nothing to do. */
static aclError check_range(const char *api, const void *address, size_t bytes) {
    if (address == NULL) { return emu_invalid(api, "devPtr is NULL"); }
    return bytes == 0 ? emu_invalid(api, "size is 0") : ACL_SUCCESS;
}

aclError aclrtMemFlush(void *devPtr, size_t size) {
    ENTER();
    return check_range(__func__, devPtr, size);
}

aclError aclrtMemInvalidate(void *devPtr, size_t size) {
    ENTER();
    return check_range(__func__, devPtr, size);
}

/* ---- host ---- */

aclError aclrtMallocHost(void **hostPtr, size_t size) {
    ENTER();
    REQUIRE(hostPtr);
    if (size == 0) { return INVALID("size is 0"); }
    CURRENT_CONTEXT(context);
    Allocation wanted = {.kind = MEMORY_HOST, .device = context->device->id, .bytes = size, .accounted = size};
    return memory_allocate(&wanted, hostPtr, __func__);
}

aclError aclrtFreeHost(void *hostPtr) {
    ENTER();
    REQUIRE(hostPtr);
    return memory_free(hostPtr, true, __func__);
}

aclError aclrtFreeHostWithDevSync(void *hostPtr) {
    ENTER();
    REQUIRE(hostPtr);
    TRY(aclrtSynchronizeDevice());
    return memory_free(hostPtr, true, __func__);
}

/* ---- asking ---- */

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *freeSize, size_t *total) {
    ENTER();
    REQUIRE(freeSize);
    REQUIRE(total);
    if ((unsigned)attr > LAST_MEMORY_ATTRIBUTE) {
        return FAIL(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "memory attribute %d", (int)attr);
    }
    CURRENT_CONTEXT(context);
    bool host_side = (unsigned)attr == LAST_MEMORY_ATTRIBUTE;
    *total = host_side ? 0 : soc_model()->hbm_bytes;
    *freeSize = host_side ? 0 : *total - memory_in_use(context->device->id);
    return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
    ENTER();
    REQUIRE(ptr);
    REQUIRE(attributes);
    Allocation allocation;
    bool known = memory_find(ptr, &allocation);
    *attributes = (aclrtPtrAttributes){.pageSize = 4096};
    attributes->location.type = !known                              ? ACL_MEM_LOCATION_TYPE_UNREGISTERED
                                : allocation.kind == MEMORY_DEVICE ? ACL_MEM_LOCATION_TYPE_DEVICE
                                                                   : ACL_MEM_LOCATION_TYPE_HOST;
    attributes->location.id = known ? (uint32_t)allocation.device : 0;
    return ACL_SUCCESS;
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize) {
    ENTER();
    REQUIRE(ptr);
    Allocation allocation;
    if (!memory_find(ptr, &allocation)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%p is in no allocation", ptr); }
    if (pbase != NULL) { *pbase = (void *)allocation.base; }
    if (psize != NULL) { *psize = allocation.bytes; }
    return ACL_SUCCESS;
}
