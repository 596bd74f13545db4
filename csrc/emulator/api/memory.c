/* Chapter 11-01, memory of the device, and what can be asked about an address. */
#include "api/memory.h"

#include <stdio.h>

#include "api/api.h"
#include "engine/arena.h"
#include "engine/memory.h"
#include "engine/mempool.h"

enum {
    MALLOC_UNIT = 32,           /* device allocations are rounded up to this, */
    MALLOC_PADDING = 32,        /* and aclrtMalloc adds this before */
    LAST_MEMORY_ATTRIBUTE = 17, /* aclrtMemAttr */
    HUGE_PAGE = 2 << 20,
    LARGEST_PAGE = 1 << 30,
    KNOWN_MEMORY_TYPES = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD,
};

/* ---- allocating ---- */

/* Unknown policies count as the default one: huge pages from where they pay. */
static uint32_t page_bytes_for(aclrtMemMallocPolicy policy, size_t bytes) {
    switch (policy & 0xFF) {
    case ACL_MEM_MALLOC_HUGE_ONLY:
    case ACL_MEM_MALLOC_HUGE_ONLY_P2P: return HUGE_PAGE;
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY_P2P: return 0;
    case ACL_MEM_MALLOC_HUGE1G_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P: return LARGEST_PAGE;
    default: return bytes > HUGE_PAGE / 2 ? HUGE_PAGE : 0;
    }
}

static aclError allocate_device(const char *api, void **address, size_t bytes, size_t padding,
                                aclrtMemMallocPolicy policy) {
    if (address == NULL) { return emu_invalid(api, "devPtr is NULL"); }
    if (bytes == 0) { return emu_invalid(api, "size is 0"); }
    if (bytes > SIZE_MAX - padding - MALLOC_UNIT) { return emu_invalid(api, "size overflows"); }
    Context *context;
    TRY(context_current(api, &context));
    uint32_t page_bytes = page_bytes_for(policy, bytes);
    if (page_bytes == LARGEST_PAGE && !soc_has(SOC_HUGE_1G)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s has no pages of 1 GiB", soc_product()->title);
    }
    int32_t device = context->device->id;
    if (page_bytes == LARGEST_PAGE) { padding = 0; }
    size_t rounded = (bytes + padding + MALLOC_UNIT - 1) / MALLOC_UNIT * MALLOC_UNIT;
    if (!memory_has_room(device, rounded)) { mempool_trim_device(device); }
    Allocation wanted = {.kind = MEMORY_DEVICE, .device = device, .bytes = rounded, .accounted = rounded,
                         .page_bytes = page_bytes};
    return memory_allocate(&wanted, address, api);
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ENTER();
    return allocate_device(__func__, devPtr, size, MALLOC_PADDING, policy);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ENTER();
    return allocate_device(__func__, devPtr, size, 0, policy);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ENTER();
    return allocate_device(__func__, devPtr, size, MALLOC_PADDING, policy);
}

/* ---- configurations ---- */

static bool is_good(const aclrtMallocAttribute *attribute, const Context *context) {
    switch (attribute->attr) {
    case ACL_RT_MEM_ATTR_MODULE_ID: return true;
    case ACL_RT_MEM_ATTR_DEVICE_ID: return attribute->value.deviceId == (uint32_t)context->device->id;
    case ACL_RT_MEM_ATTR_VA_FLAG: return attribute->value.vaFlag <= 1;
    default: return false;
    }
}

aclError memory_check_config(const char *api, const aclrtMallocConfig *config, bool *wants_mapping) {
    *wants_mapping = false;
    if (config == NULL || config->numAttrs == 0) { return ACL_SUCCESS; }
    if (config->attrs == NULL) { return emu_invalid(api, "attrs is NULL"); }
    Context *context;
    TRY(context_current(api, &context));
    for (size_t i = 0; i < config->numAttrs; i++) {
        const aclrtMallocAttribute *attribute = &config->attrs[i];
        if (!is_good(attribute, context)) {
            return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "attribute %d is unknown or of a bad value", (int)attribute->attr);
        }
        if (attribute->attr == ACL_RT_MEM_ATTR_VA_FLAG) { *wants_mapping = attribute->value.vaFlag == 1; }
    }
    return ACL_SUCCESS;
}

static aclError allocate_configured(const char *api, void **address, size_t bytes, aclrtMemMallocPolicy policy,
                                    const aclrtMallocConfig *config) {
    if (address == NULL) { return emu_invalid(api, "devPtr is NULL"); }
    if (bytes == 0) { return emu_invalid(api, "size is 0"); }
    bool unused;
    TRY(memory_check_config(api, config, &unused));
    return allocate_device(api, address, bytes, 0, policy);
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg) {
    ENTER();
    return allocate_configured(__func__, devPtr, size, policy, cfg);
}

aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg) {
    ENTER();
    return allocate_configured(__func__, devPtr, size, policy, cfg);
}

/* ---- freeing ---- */

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

static aclrtMemLocationType location_of(const Allocation *is) {
    switch (is->kind) {
    case MEMORY_DEVICE: return ACL_MEM_LOCATION_TYPE_DEVICE;
    case MEMORY_MANAGED: return ACL_MEM_LOCATION_TYPE_MANAGED;
    default: return ACL_MEM_LOCATION_TYPE_HOST;
    }
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
    ENTER();
    REQUIRE(ptr);
    REQUIRE(attributes);
    Allocation is = {0};
    bool known = memory_find(ptr, &is);
    *attributes = (aclrtPtrAttributes){.pageSize = is.page_bytes != 0 ? is.page_bytes : (uint32_t)arena_page_bytes()};
    attributes->location.type = known ? location_of(&is) : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    attributes->location.id = known ? (uint32_t)is.device : 0;
    return ACL_SUCCESS;
}

/* Memory of the media units and reserved memory do not exist here: a mask of them fits no address. */
aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult, uint32_t reserve) {
    ENTER();
    REQUIRE(addrList);
    REQUIRE(checkResult);
    if (size == 0) { return INVALID("size is 0"); }
    if (reserve != 0) { return INVALID("reserve must be 0"); }
    if (memType == 0 || (memType & ~(uint32_t)KNOWN_MEMORY_TYPES) != 0) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "memType 0x%x", memType);
    }
    CURRENT_CONTEXT(context);
    (void)context;
    uint32_t all = (memType & ACL_RT_MEM_TYPE_DEV) != 0;
    for (uint32_t i = 0; i < size && all != 0; i++) { all = memory_kind(addrList[i]) == MEMORY_DEVICE; }
    *checkResult = all;
    return ACL_SUCCESS;
}

/* All memory of the process is of one module. */
aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum, size_t *outputNum) {
    ENTER();
    REQUIRE(memUsageInfo);
    REQUIRE(outputNum);
    if (inputNum == 0) { return INVALID("inputNum is 0"); }
    NEED_FEATURE(SOC_MEM_USAGE);
    if (device_get(deviceId) == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist", deviceId); }
    *memUsageInfo = (aclrtMemUsageInfo){.curMemSize = memory_in_use(deviceId), .memPeakSize = memory_peak(deviceId)};
    snprintf(memUsageInfo->name, sizeof(memUsageInfo->name), "APP");
    *outputNum = 1;
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
