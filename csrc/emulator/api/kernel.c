/* Chapter 14, kernel binaries and the functions in them. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "engine/binary.h"

#define ELF_MAGIC "\177ELF"

/* ---- loading ---- */

static bool is_magic(uint32_t magic) {
    return magic == ACL_RT_BINARY_MAGIC_ELF_AICORE || magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE ||
           magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE;
}

static bool is_allowed(const aclrtBinaryLoadOption *option, bool from_file) {
    int32_t mode = option->value.cpuKernelMode;
    switch (option->type) {
    case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD: return option->value.isLazyLoad <= 1;
    case ACL_RT_BINARY_LOAD_OPT_MAGIC: return is_magic(option->value.magic);
    case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE: return from_file ? mode == 0 || mode == 1 : mode == 2;
    default: return false;
    }
}

/* The magic decides which core's error codes the kernels have; without one they count as AI core kernels. */
static aclError read_options(const char *api, const aclrtBinaryLoadOptions *options, bool from_file, uint32_t *magic) {
    *magic = ACL_RT_BINARY_MAGIC_ELF_AICORE;
    if (options == NULL) { return ACL_SUCCESS; }
    if (options->options == NULL && options->numOpt > 0) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "options without an array");
    }
    for (size_t i = 0; i < options->numOpt; i++) {
        const aclrtBinaryLoadOption *option = &options->options[i];
        if (!is_allowed(option, from_file)) {
            return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "load option %d has a bad value", (int)option->type);
        }
        if (option->type == ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE) { return emu_unsupported(api); }
        if (option->type == ACL_RT_BINARY_LOAD_OPT_MAGIC) { *magic = option->value.magic; }
    }
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle) {
    ENTER();
    REQUIRE(binPath);
    REQUIRE(binHandle);
    uint32_t magic;
    TRY(read_options(__func__, options, true, &magic));
    Binary *binary;
    TRY(binary_load_file(binPath, magic, &binary, __func__));
    *binHandle = binary->handle;
    return ACL_SUCCESS;
}

static aclError load_data(const char *api, const void *data, size_t length, uint32_t magic, aclrtBinHandle *handle) {
    if (length < strlen(ELF_MAGIC) || memcmp(data, ELF_MAGIC, strlen(ELF_MAGIC)) != 0) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the data is no ELF object");
    }
    Binary *binary;
    TRY(binary_load_data(data, length, magic, &binary, api));
    *handle = binary->handle;
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options,
                                 aclrtBinHandle *binHandle) {
    ENTER();
    REQUIRE(data);
    REQUIRE(binHandle);
    uint32_t magic;
    TRY(read_options(__func__, options, false, &magic));
    return load_data(__func__, data, length, magic, binHandle);
}

/* The old form in two steps. The description keeps the pointer, not the data. */
typedef struct BinaryDescription {
    const void *data;
    size_t length;
} BinaryDescription;

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen) {
    BinaryDescription *description = data == NULL ? NULL : malloc(sizeof(*description));
    if (description != NULL) { *description = (BinaryDescription){data, dataLen}; }
    return description;
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
    ENTER();
    REQUIRE(binary);
    free(binary);
    return ACL_SUCCESS;
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle) {
    ENTER();
    REQUIRE(binary);
    REQUIRE(binHandle);
    const BinaryDescription *description = binary;
    return load_data(__func__, description->data, description->length, ACL_RT_BINARY_MAGIC_ELF_AICORE, binHandle);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
    ENTER();
    REQUIRE(binHandle);
    Binary *binary;
    TRY(binary_find(__func__, binHandle, &binary));
    binary_unload(binary);
    return ACL_SUCCESS;
}

/* ---- functions ---- */

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName, aclrtFuncHandle *funcHandle) {
    ENTER();
    REQUIRE(binHandle);
    REQUIRE(kernelName);
    REQUIRE(funcHandle);
    *funcHandle = NULL;
    Binary *binary;
    TRY(binary_find(__func__, binHandle, &binary));
    Function *function;
    TRY(binary_get_function(binary, kernelName, &function, __func__));
    *funcHandle = function->handle;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(name);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    size_t bytes = strlen(function->name) + 1;
    if (maxLen < bytes) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the name takes %zu bytes", bytes); }
    memcpy(name, function->name, bytes);
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(binHandle);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    *binHandle = function->binary->handle;
    return ACL_SUCCESS;
}
