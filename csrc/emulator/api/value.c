/* Chapter 11-09, values in device memory that streams write and wait for. */
#include "engine/value.h"

#include "api/api.h"
#include "engine/memory.h"

static aclError check_cell(const char *api, const void *address) {
    if ((uintptr_t)address % sizeof(uint64_t) != 0) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is not 8-byte aligned", address);
    }
    if (memory_kind(address) == MEMORY_DEVICE) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is not device memory", address);
}

/* The arguments first, the context and the product afterwards. */
static aclError check(const char *api, const void *address, uint32_t flag, uint32_t last_flag, aclrtStream handle,
                      Stream **stream) {
    if (address == NULL) { return emu_invalid(api, "devAddr is NULL"); }
    if (handle != NULL) { TRY(stream_find(api, handle, stream)); }
    if (flag > last_flag) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "flag %u", flag); }
    TRY(check_cell(api, address));
    TRY(stream_find_own(api, handle, stream));
    if (soc_has(SOC_VALUE_OPS)) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s has no value tasks", soc_product()->title);
}

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    ENTER();
    Stream *queue;
    TRY(check(__func__, devAddr, flag, 0, stream, &queue));
    return value_write(queue, devAddr, value, __func__);
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    ENTER();
    Stream *queue;
    TRY(check(__func__, devAddr, flag, ACL_STREAM_WAIT_VALUE_NOR, stream, &queue));
    return value_wait(queue, devAddr, value, flag, __func__);
}
