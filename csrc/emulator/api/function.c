/* Chapter 14, what a program may ask about kernels and their binaries, beyond their names. */
#include <string.h>

#include "api/api.h"
#include "engine/binary.h"
#include "engine/memory.h"
#include "engine/object.h"

#define FIND_BINARY(binary, handle) \
    Binary *binary;                 \
    TRY(binary_find(__func__, (handle), &binary))

#define FIND_FUNCTION(function, handle) \
    Function *function;                 \
    TRY(function_find(__func__, (handle), &function))

/* ---- binaries ---- */

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle *funcHandle) {
    ENTER();
    REQUIRE(binHandle);
    REQUIRE(funcHandle);
    *funcHandle = NULL;
    FIND_BINARY(binary, binHandle);
    Function *function;
    TRY(binary_get_function_by_key(binary, funcEntry, &function, __func__));
    *funcHandle = function->handle;
    return ACL_SUCCESS;
}

/* The variable is there once for all devices of the process, and counts as memory of the first that asks. */
aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size) {
    ENTER();
    REQUIRE(binHandle);
    REQUIRE(name);
    if (dptr == NULL && size == NULL) { return INVALID("dptr and size are NULL"); }
    FIND_BINARY(binary, binHandle);
    CURRENT_CONTEXT(context);
    void *address;
    size_t bytes;
    if (!binary_get_variable(binary, name, &address, &bytes)) {
        return FAIL(ACL_ERROR_RT_SYMBOL_NOT_FOUND, "the binary has no variable \"%s\"", name);
    }
    memory_lend(address, bytes, context->device->id);
    if (dptr != NULL) { *dptr = address; }
    if (size != NULL) { *size = bytes; }
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void **binAddr, size_t *binSize) {
    ENTER();
    REQUIRE(binHandle);
    REQUIRE(binAddr);
    REQUIRE(binSize);
    FIND_BINARY(binary, binHandle);
    CURRENT_CONTEXT(context);
    (void)context;
    object_extent(binary->object, binAddr, binSize);
    return ACL_SUCCESS;
}

aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char *funcName, const char *kernelName,
                              aclrtFuncHandle *funcHandle) {
    ENTER();
    REQUIRE(handle);
    REQUIRE(funcName);
    REQUIRE(kernelName);
    REQUIRE(funcHandle);
    FIND_BINARY(binary, handle);
    (void)binary;
    return UNSUPPORTED("no binary here is one of AI CPU kernels");
}

/* ---- functions ---- */

static bool is_vector(const Function *function) {
    return function->binary->magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
}

/* The ratio of cube to vector cores is something only mixed kernels have. */
aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t *attrValue) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(attrValue);
    FIND_FUNCTION(function, funcHandle);
    bool cube = function->binary->magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE;
    switch (attrType) {
    case ACL_FUNC_ATTR_KERNEL_TYPE:
        *attrValue = is_vector(function) ? ACL_KERNEL_TYPE_VECTOR : cube ? ACL_KERNEL_TYPE_CUBE : ACL_KERNEL_TYPE_AICORE;
        return ACL_SUCCESS;
    case ACL_FUNC_ATTR_KERNEL_SCHED_MODE: *attrValue = 0; return ACL_SUCCESS; /* normal */
    case ACL_FUNC_ATTR_KERNEL_RATIO: return UNSUPPORTED("host kernels are not mixed");
    default: return FAIL(ACL_ERROR_RT_PARAM_INVALID, "attribute %d", (int)attrType);
    }
}

/* A host kernel has one entry; it stands for that of the core that the binary's magic names. */
aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(aicAddr);
    REQUIRE(aivAddr);
    FIND_FUNCTION(function, funcHandle);
    CURRENT_CONTEXT(context);
    (void)context;
    void *entry;
    _Static_assert(sizeof(entry) == sizeof(function->entry), "code and data have addresses of one size");
    memcpy(&entry, &function->entry, sizeof(entry));
    *aicAddr = is_vector(function) ? NULL : entry;
    *aivAddr = is_vector(function) ? entry : NULL;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(aicSize);
    REQUIRE(aivSize);
    FIND_FUNCTION(function, funcHandle);
    *aicSize = is_vector(function) ? 0 : function->code_bytes;
    *aivSize = is_vector(function) ? function->code_bytes : 0;
    return ACL_SUCCESS;
}

static aclError require_params(const char *api, const Function *function) {
    if (function->params != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%s tells nothing about its parameters", function->name);
}

aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount) {
    ENTER();
    REQUIRE(func);
    REQUIRE(paramCount);
    FIND_FUNCTION(function, (aclrtFuncHandle)(uintptr_t)func);
    TRY(require_params(__func__, function));
    *paramCount = function->params[0];
    return ACL_SUCCESS;
}

/* Each parameter begins at the next 8-byte boundary, as launches pack them. */
aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
    ENTER();
    REQUIRE(func);
    if (paramOffset == NULL && paramSize == NULL) { return INVALID("paramOffset and paramSize are NULL"); }
    FIND_FUNCTION(function, (aclrtFuncHandle)(uintptr_t)func);
    TRY(require_params(__func__, function));
    if (paramIndex >= function->params[0]) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "parameter %zu", paramIndex); }
    size_t offset = 0;
    for (size_t i = 0; i < paramIndex; i++) { offset += (function->params[1 + i] + 7U) / 8U * 8U; }
    if (paramOffset != NULL) { *paramOffset = offset; }
    if (paramSize != NULL) { *paramSize = function->params[1 + paramIndex]; }
    return ACL_SUCCESS;
}
