/* Chapter 11-02, memory of the host: pinned, or the program's own that is registered. Host and device of the emulated
 * machine have the same addresses. */
#include "api/api.h"
#include "api/memory.h"
#include "engine/memory.h"

/* ---- pinned ---- */

static aclError allocate(const char *api, void **address, size_t bytes, bool is_mapped) {
    Context *context;
    TRY(context_current(api, &context));
    Allocation wanted = {.kind = MEMORY_HOST, .device = context->device->id, .bytes = bytes, .accounted = bytes,
                         .is_mapped = is_mapped};
    return memory_allocate(&wanted, address, api);
}

aclError aclrtMallocHost(void **hostPtr, size_t size) {
    ENTER();
    REQUIRE(hostPtr);
    if (size == 0) { return INVALID("size is 0"); }
    return allocate(__func__, hostPtr, size, false);
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg) {
    ENTER();
    REQUIRE(ptr);
    if (size == 0) { return INVALID("size is 0"); }
    bool wants_mapping;
    TRY(memory_check_config(__func__, cfg, &wants_mapping));
    return allocate(__func__, ptr, size, wants_mapping);
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

/* ---- registered ---- */

static aclError register_memory(const char *api, void *address, uint64_t bytes, bool is_mapped) {
    Context *context;
    TRY(context_current(api, &context));
    if (!soc_has(SOC_HOST_REGISTER)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s cannot register host memory",
                                   soc_product()->title);
    }
    if (bytes > UINTPTR_MAX - (uintptr_t)address) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "size overflows"); }
    Allocation is = {.base = (uintptr_t)address, .bytes = bytes, .accounted = bytes, .kind = MEMORY_REGISTERED,
                     .owner = OWNER_HOST, .device = context->device->id, .is_mapped = is_mapped};
    if (memory_enter(&is)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, api, "a part of it is registered or the runtime's");
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr) {
    ENTER();
    REQUIRE(ptr);
    REQUIRE(devPtr);
    if (size == 0) { return INVALID("size is 0"); }
    if (((unsigned)type & ~(unsigned)(ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY)) != 0) {
        return UNSUPPORTED("type 0x%x", (unsigned)type);
    }
    TRY(register_memory(__func__, ptr, size, true));
    *devPtr = ptr;
    return ACL_SUCCESS;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag) {
    ENTER();
    REQUIRE(ptr);
    if (size == 0) { return INVALID("size is 0"); }
    if ((flag & ~(uint32_t)(ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED)) != 0) {
        return UNSUPPORTED("flag 0x%x", flag);
    }
    return register_memory(__func__, ptr, size, (flag & ACL_HOST_REG_MAPPED) != 0);
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag) {
    ENTER();
    REQUIRE(pHost);
    REQUIRE(pDevice);
    if (flag != 0) { return INVALID("flag must be 0"); }
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(SOC_HOST_REGISTER);
    Allocation is;
    if (!memory_find(pHost, &is) || !is.is_mapped) {
        return FAIL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "the device has no address for %p", pHost);
    }
    *pDevice = pHost;
    return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void *ptr) {
    ENTER();
    REQUIRE(ptr);
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(SOC_HOST_REGISTER);
    Allocation gone;
    if (memory_leave(ptr, OWNER_HOST, &gone)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "%p begins no registered memory", ptr);
}

/* Every unit of the device reaches mapped host memory, or none does. */
aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability *capabilities) {
    ENTER();
    REQUIRE(capabilities);
    if ((unsigned)hacType > ACL_RT_HAC_TYPE_CCU) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "unit %d", (int)hacType); }
    if (device_get((int32_t)deviceId) == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %u does not exist", deviceId); }
    *capabilities = soc_has(SOC_HOST_REGISTER) ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
    return ACL_SUCCESS;
}
