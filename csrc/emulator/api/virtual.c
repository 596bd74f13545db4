/* Chapter 11-04, virtual memory. */
#include "engine/virtual.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "engine/arena.h"

#define FIND_PHYSICAL(physical, handle) \
    Physical *physical;                 \
    TRY(virtual_find(__func__, (handle), &physical))

/* ---- addresses ---- */

static aclError reserve(const char *api, void **address, size_t bytes, size_t alignment, void *expected, uint64_t flags) {
    if (address == NULL) { return emu_invalid(api, "virPtr is NULL"); }
    if (bytes == 0) { return emu_invalid(api, "size is 0"); }
    if (flags > 1) { return emu_invalid(api, "flags are unknown"); }
    if (alignment != 0) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "alignment must be 0"); }
    Context *context;
    TRY(context_current(api, &context));
    return virtual_reserve(bytes, expected, address, api);
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr, uint64_t flags) {
    ENTER();
    return reserve(__func__, virPtr, size, alignment, expectPtr, flags);
}

/* Such memory would not be cached; nothing is, here. */
aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                          uint64_t flags) {
    ENTER();
    if (virPtr != NULL && size != 0) { NEED_FEATURE(SOC_SUPER_POD); }
    return reserve(__func__, virPtr, size, alignment, expectPtr, flags);
}

aclError aclrtReleaseMemAddress(void *virPtr) {
    ENTER();
    REQUIRE(virPtr);
    return virtual_release(virPtr, __func__);
}

/* ---- physical memory ---- */

/* 0 for an attribute that is none. */
static size_t page_bytes_of(aclrtMemAttr attribute) {
    size_t smallest = arena_page_bytes();
    switch (attribute) {
    case ACL_DDR_MEM_NORMAL:
    case ACL_HBM_MEM_NORMAL:
    case ACL_DDR_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_P2P_NORMAL:
    case ACL_MEM_NORMAL:
    case ACL_MEM_P2P_NORMAL: return smallest;
    case ACL_HBM_MEM_HUGE1G:
    case ACL_HBM_MEM_P2P_HUGE1G:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_HUGE1G: return (size_t)1 << 30;
    default: return (unsigned)attribute <= ACL_MEM_P2P_HUGE1G ? VIRTUAL_HUGE_BYTES : 0;
    }
}

static bool is_ddr(aclrtMemAttr attribute) {
    return attribute == ACL_DDR_MEM || attribute == ACL_DDR_MEM_HUGE || attribute == ACL_DDR_MEM_NORMAL ||
           attribute == ACL_DDR_MEM_P2P_HUGE || attribute == ACL_DDR_MEM_P2P_NORMAL;
}

static aclError check_properties(const char *api, const aclrtPhysicalMemProp *properties) {
    aclrtMemLocationType type = properties->location.type;
    bool on_device = type == ACL_MEM_LOCATION_TYPE_DEVICE;
    if (properties->handleType != ACL_MEM_HANDLE_TYPE_NONE) { return emu_invalid(api, "handleType is not NONE"); }
    if (properties->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) { return emu_invalid(api, "allocationType is not PINNED"); }
    if (!on_device && type != ACL_MEM_LOCATION_TYPE_HOST && type != ACL_MEM_LOCATION_TYPE_HOST_NUMA) {
        return emu_invalid(api, "location is neither a device nor the host");
    }
    if (page_bytes_of(properties->memAttr) == 0) { return emu_invalid(api, "memAttr is unknown"); }
    if (on_device && is_ddr(properties->memAttr)) { return emu_invalid(api, "memAttr is none of a device"); }
    return ACL_SUCCESS;
}

static aclError device_of(const char *api, const aclrtPhysicalMemProp *properties, int32_t *device) {
    Context *context;
    TRY(context_current(api, &context));
    bool on_device = properties->location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    *device = on_device ? (int32_t)properties->location.id : context->device->id;
    if (device_get(*device) != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_DEVICEID, api, "device %d does not exist", *device);
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags) {
    ENTER();
    REQUIRE(handle);
    REQUIRE(prop);
    if (size == 0) { return INVALID("size is 0"); }
    if (flags != 0) { return INVALID("flags must be 0"); }
    TRY(check_properties(__func__, prop));
    int32_t device;
    TRY(device_of(__func__, prop, &device));
    size_t page = page_bytes_of(prop->memAttr);
    if (page > VIRTUAL_HUGE_BYTES) { NEED_FEATURE(SOC_HUGE_1G); }
    if (size % page != 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu is no multiple of %zu", size, page); }
    Physical *made;
    TRY(virtual_create(size, prop, device, &made, __func__));
    *handle = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
    ENTER();
    REQUIRE(handle);
    FIND_PHYSICAL(physical, handle);
    virtual_free(physical);
    return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option,
                                          size_t *granularity) {
    ENTER();
    REQUIRE(prop);
    REQUIRE(granularity);
    if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
        return INVALID("option is unknown");
    }
    TRY(check_properties(__func__, prop));
    *granularity = page_bytes_of(prop->memAttr);
    return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop) {
    ENTER();
    REQUIRE(handle);
    REQUIRE(prop);
    FIND_PHYSICAL(physical, handle);
    *prop = physical->properties;
    return ACL_SUCCESS;
}

/* ---- mappings ---- */

static aclError map(const char *api, void *address, size_t bytes, size_t offset, aclrtDrvMemHandle handle,
                    uint64_t flags, bool accessible) {
    if (address == NULL) { return emu_invalid(api, "virPtr is NULL"); }
    if (handle == NULL) { return emu_invalid(api, "handle is NULL"); }
    if (bytes == 0) { return emu_invalid(api, "size is 0"); }
    if (flags != 0) { return emu_invalid(api, "flags must be 0"); }
    Context *context;
    TRY(context_current(api, &context));
    Physical *physical;
    TRY(virtual_find(api, handle, &physical));
    size_t page = page_bytes_of(physical->properties.memAttr);
    bool fits = offset == 0 && bytes <= physical->bytes && bytes % page == 0 && (uintptr_t)address % arena_page_bytes() == 0;
    if (!fits) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "offset, size or address do not fit the memory"); }
    return virtual_map(address, bytes, physical, accessible ? UINT64_C(1) << physical->device : 0, api);
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
    ENTER();
    return map(__func__, virPtr, size, offset, handle, flags, true);
}

aclError aclrtMemMapNoAccess(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
    ENTER();
    return map(__func__, virPtr, size, offset, handle, flags, false);
}

aclError aclrtUnmapMem(void *virPtr) {
    ENTER();
    REQUIRE(virPtr);
    return virtual_unmap(virPtr, __func__);
}

/* The same memory at a second address, over a link that the emulated machine has not. */
aclError aclrtMemMapSelectedLink(void *virPtrDst, size_t size, void *virPtrSrc, uint32_t linkIdx) {
    ENTER();
    REQUIRE(virPtrDst);
    REQUIRE(virPtrSrc);
    if (size == 0) { return INVALID("size is 0"); }
    NEED_FEATURE(SOC_SUPER_POD);
    if (linkIdx > ACL_RT_MEM_LINK_IDX_1) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "link %u", linkIdx); }
    Physical *physical = virtual_retain(virPtrSrc);
    if (physical == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "nothing is mapped at %p", virPtrSrc); }
    aclError code = map(__func__, virPtrDst, size, 0, physical->handle, 0, true);
    virtual_free(physical);
    return code;
}

aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle) {
    ENTER();
    REQUIRE(virPtr);
    REQUIRE(handle);
    Physical *physical = virtual_retain(virPtr);
    if (physical == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "nothing is mapped at %p", virPtr); }
    *handle = physical->handle;
    return ACL_SUCCESS;
}

/* ---- rights ---- */

static aclError check_location(const char *api, const aclrtMemLocation *location) {
    if (location->type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the location is no device");
    }
    if (device_get((int32_t)location->id) != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_DEVICEID, api, "device %u does not exist", location->id);
}

aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc, size_t count) {
    ENTER();
    REQUIRE(virPtr);
    REQUIRE(desc);
    if (size == 0) { return INVALID("size is 0"); }
    if (count == 0) { return INVALID("count is 0"); }
    for (size_t i = 0; i < count; i++) {
        if (desc[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE) {
            return FAIL(ACL_ERROR_RT_PARAM_INVALID, "only the right to read and write can be given");
        }
        TRY(check_location(__func__, &desc[i].location));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(virtual_set_access(virPtr, size, (int32_t)desc[i].location.id, true, __func__));
    }
    return ACL_SUCCESS;
}

aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location, uint64_t *flag) {
    ENTER();
    REQUIRE(virPtr);
    REQUIRE(location);
    REQUIRE(flag);
    TRY(check_location(__func__, location));
    Allocation is;
    if (!memory_find(virPtr, &is) || is.owner != OWNER_MAPPING) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "nothing is mapped at %p", virPtr);
    }
    bool allowed = (is.access >> location->id & 1U) != 0;
    *flag = allowed ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    return ACL_SUCCESS;
}

/* ---- other processes ---- */

/* A handle for others is a number; of the kind FABRIC, a text with the number. */
typedef struct Shareable {
    aclrtMemSharedHandleType type;
    void *handle;
} Shareable;

static aclError check_shareable(const char *api, Shareable shareable) {
    if (shareable.handle == NULL) { return emu_invalid(api, "shareableHandle is NULL"); }
    bool known = shareable.type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || shareable.type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
    return known ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "shareType is unknown");
}

static void write_number(Shareable shareable, uint64_t number) {
    if (shareable.type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        memcpy(shareable.handle, &number, sizeof(number));
        return;
    }
    aclrtMemFabricHandle *fabric = shareable.handle;
    memset(fabric, 0, sizeof(*fabric));
    snprintf((char *)fabric->data, sizeof(fabric->data), "pyacl-%016llx", (unsigned long long)number);
}

static uint64_t read_number(Shareable shareable) {
    if (shareable.type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        uint64_t number;
        memcpy(&number, shareable.handle, sizeof(number));
        return number;
    }
    const aclrtMemFabricHandle *fabric = shareable.handle;
    char text[sizeof(fabric->data) + 1] = {0};
    unsigned long long number = 0;
    memcpy(text, fabric->data, sizeof(fabric->data));
    return sscanf(text, "pyacl-%16llx", &number) == 1 ? number : 0;
}

static aclError export_handle(const char *api, aclrtDrvMemHandle handle, uint64_t flags, Shareable shareable) {
    if (handle == NULL) { return emu_invalid(api, "handle is NULL"); }
    TRY(check_shareable(api, shareable));
    if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "flags 0x%llx", (unsigned long long)flags);
    }
    Physical *physical;
    TRY(virtual_find(api, handle, &physical));
    if (physical->imported) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the memory comes from another process"); }
    TRY(virtual_export(physical, flags != ACL_RT_VMM_EXPORT_FLAG_DEFAULT, api));
    write_number(shareable, shared_number(physical->cell));
    return ACL_SUCCESS;
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t *shareableHandle) {
    ENTER();
    REQUIRE(handle);
    REQUIRE(shareableHandle);
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE) { return INVALID("handleType is not NONE"); }
    return export_handle(__func__, handle, flags, (Shareable){ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, shareableHandle});
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void *shareableHandle) {
    ENTER();
    return export_handle(__func__, handle, flags, (Shareable){shareType, shareableHandle});
}

/* The caller becomes a user of the cell. */
static aclError find_shared(const char *api, uint64_t number, SharedCell **cell) {
    *cell = shared_find_number(number, SHARED_PHYSICAL);
    if (*cell != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "no memory has the handle 0x%llx", (unsigned long long)number);
}

static aclError import_handle(const char *api, uint64_t number, int32_t device, aclrtDrvMemHandle *handle) {
    SharedCell *cell;
    TRY(find_shared(api, number, &cell));
    if (!shared_is_allowed(cell)) {
        shared_release(cell);
        return emu_fail(ACL_ERROR_RT_DRV_INTERNAL_ERROR, api, "the exporter has not allowed this process to import it");
    }
    Physical *physical;
    TRY(virtual_import(cell, device, &physical, api));
    *handle = physical->handle;
    return ACL_SUCCESS;
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle *handle) {
    ENTER();
    REQUIRE(handle);
    if (device_get(deviceId) == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist", deviceId); }
    return import_handle(__func__, shareableHandle, deviceId, handle);
}

aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle *handle) {
    ENTER();
    REQUIRE(handle);
    Shareable shareable = {shareType, shareableHandle};
    TRY(check_shareable(__func__, shareable));
    if (flags != 0) { return INVALID("flags must be 0"); }
    CURRENT_CONTEXT(context);
    return import_handle(__func__, read_number(shareable), context->device->id, handle);
}

static aclError allow(const char *api, uint64_t number, const int32_t *pids, size_t count) {
    if (pids == NULL) { return emu_invalid(api, "pid is NULL"); }
    if (count == 0) { return emu_invalid(api, "pidNum is 0"); }
    SharedCell *cell;
    TRY(find_shared(api, number, &cell));
    bool ours = shared_number(cell) != 0, allowed = ours && shared_allow(cell, pids, count);
    shared_release(cell);
    if (allowed) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, ours ? "more than %d processes" : "not exported by this process",
                    SHARED_PIDS);
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum) {
    ENTER();
    return allow(__func__, shareableHandle, pid, pidNum);
}

aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType, int32_t *pid,
                                           size_t pidNum) {
    ENTER();
    Shareable shareable = {shareType, shareableHandle};
    TRY(check_shareable(__func__, shareable));
    return allow(__func__, read_number(shareable), pid, pidNum);
}
