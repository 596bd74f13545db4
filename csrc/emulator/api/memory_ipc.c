/* Chapter 11-07, device memory between processes. */
#include "engine/memory_ipc.h"

#include "api/api.h"

enum { SHORTEST_KEY_BUFFER = 65 };

aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags) {
    ENTER();
    REQUIRE(devPtr);
    REQUIRE(key);
    if (size == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "size is 0"); }
    if (len < SHORTEST_KEY_BUFFER) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes for the key", len); }
    if (flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx", (unsigned long long)flags);
    }
    CURRENT_CONTEXT(context);
    (void)context;
    NEED_FEATURE(SOC_IPC_MEM);
    return memory_ipc_export(devPtr, size, flags != ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT, key, __func__);
}

aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags) {
    ENTER();
    REQUIRE(devPtr);
    REQUIRE(key);
    if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx", (unsigned long long)flags);
    }
    CURRENT_CONTEXT(context);
    NEED_FEATURE(SOC_IPC_MEM);
    return memory_ipc_import(key, context->device->id, devPtr, __func__);
}

aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num) {
    ENTER();
    REQUIRE(key);
    REQUIRE(pid);
    if (num == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "num is 0"); }
    NEED_FEATURE(SOC_IPC_MEM);
    SharedCell *cell = memory_ipc_exported(key);
    if (cell == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "this process has not exported the key"); }
    if (shared_allow(cell, pid, num)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_PARAM_INVALID, "more than %d processes", SHARED_PIDS);
}

aclError aclrtIpcMemClose(const char *key) {
    ENTER();
    REQUIRE(key);
    NEED_FEATURE(SOC_IPC_MEM);
    return memory_ipc_close(key, __func__);
}

/* By which link the memory is reached: the emulated machine has one. */
aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr) {
    ENTER();
    REQUIRE(key);
    NEED_FEATURE(SOC_SUPER_POD);
    if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK || attr > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "attribute %d of value %llu", (int)type, (unsigned long long)attr);
    }
    if (memory_ipc_exported(key) != NULL) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_PARAM_INVALID, "this process has not exported the key");
}
