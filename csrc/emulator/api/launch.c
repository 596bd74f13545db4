/* Chapter 14, launches. Each variant checks its arguments in its own order; then all are one task. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/args.h"
#include "engine/work.h"

/* ---- launch configuration ---- */

static bool is_attribute_allowed(const aclrtLaunchKernelAttr *attribute) {
    const aclrtLaunchKernelAttrValue *value = &attribute->value;
    switch (attribute->id) {
    case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE: return value->schemMode <= 1;
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE: return (unsigned)value->engineType <= 1;
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH: return value->isBlockTaskPrefetch <= 1;
    case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP: return value->isDataDump <= 1;
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING: return value->enableProfiling <= 1;
    case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US: return true;
    default: return false;
    }
}

static aclError check_config(const char *api, const aclrtLaunchKernelCfg *config) {
    if (config == NULL) { return ACL_SUCCESS; }
    if (config->attrs == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "a configuration without attributes"); }
    bool seconds = false, microseconds = false;
    for (size_t i = 0; i < config->numAttrs; i++) {
        if (!is_attribute_allowed(&config->attrs[i])) {
            return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "launch attribute %d", (int)config->attrs[i].id);
        }
        seconds |= config->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
        microseconds |= config->attrs[i].id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    }
    if (seconds && microseconds) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "two timeouts"); }
    return ACL_SUCCESS;
}

/* ---- launch blocking ---- */

static bool environment_blocks(void) {
    static _Atomic(int) answer = -1;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known < 0) {
        const char *text = getenv("ASCEND_RT_LAUNCH_BLOCKING");
        known = text != NULL && strcmp(text, "1") == 0;
        atomic_store(&answer, known);
    }
    return known != 0;
}

static bool is_blocking(const Stream *stream) {
    if (stream->launch_blocking == ACL_STREAM_LAUNCH_BLOCKING_MODE_NON_BLOCKING) { return false; }
    bool wanted = stream->launch_blocking == ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING || environment_blocks();
    if (!wanted || !soc_has(SOC_LAUNCH_BLOCKING)) { return false; }
    return stream->model == NULL && (stream->flags & STREAM_FLAGS_UNWAITED) == 0;
}

static bool in_nonblocking_section(Stream *stream) { return atomic_load(&stream->nonblocking_depth) != 0; }

aclError aclrtNonBlockingLaunchBegin(aclrtStream stream, uint64_t flag) {
    ENTER();
    if (flag != 0) { return INVALID("flag is not 0"); }
    OWN_STREAM(found, stream);
    NEED_FEATURE(SOC_LAUNCH_BLOCKING);
    atomic_fetch_add(&found->nonblocking_depth, 1);
    return ACL_SUCCESS;
}

/* Only the outermost end waits, and only where launches would have waited. */
aclError aclrtNonBlockingLaunchEnd(aclrtStream stream, uint64_t flag) {
    ENTER();
    if (flag != 0) { return INVALID("flag is not 0"); }
    OWN_STREAM(found, stream);
    NEED_FEATURE(SOC_LAUNCH_BLOCKING);
    uint32_t depth = atomic_load(&found->nonblocking_depth);
    do {
        if (depth == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "no section is open on this stream"); }
    } while (!atomic_compare_exchange_weak(&found->nonblocking_depth, &depth, depth - 1));
    if (depth > 1 || !is_blocking(found)) { return ACL_SUCCESS; }
    return stream_synchronize(found, __func__, 0);
}

/* ---- the launch itself ---- */

static aclError submit(const char *api, aclrtStream handle, const KernelLaunch *launch) {
    Stream *stream;
    TRY(stream_find_own(api, handle, &stream));
    TRY(work_launch(stream, launch, api));
    if (!is_blocking(stream) || in_nonblocking_section(stream)) { return ACL_SUCCESS; }
    return stream_synchronize(stream, api, 0);
}

static aclError refuse_no_blocks(const char *api, uint32_t blocks) {
    return blocks == 0 ? emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "numBlocks is 0") : ACL_SUCCESS;
}

static aclError refuse_no_args(const char *api, size_t bytes) {
    return bytes == 0 ? emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "argsSize is 0") : ACL_SUCCESS;
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
                           aclrtStream stream) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(argsData);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    TRY(refuse_no_blocks(__func__, numBlocks));
    TRY(refuse_no_args(__func__, argsSize));
    return submit(__func__, stream,
                  &(KernelLaunch){.function = function, .blocks = numBlocks, .args = argsData, .args_size = argsSize,
                                  .args_on_device = true});
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
                             aclrtLaunchKernelCfg *cfg, aclrtStream stream) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(argsData);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    TRY(refuse_no_args(__func__, argsSize));
    TRY(refuse_no_blocks(__func__, numBlocks));
    TRY(check_config(__func__, cfg));
    return submit(__func__, stream,
                  &(KernelLaunch){.function = function, .blocks = numBlocks, .args = argsData, .args_size = argsSize,
                                  .args_on_device = true});
}

static aclError check_placeholders(const char *api, const aclrtPlaceHolderInfo *placeholders, size_t count,
                                   size_t args_size) {
    if (count > 0 && placeholders == NULL) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%zu placeholders without an array", count);
    }
    for (size_t i = 0; i < count; i++) {
        /* The address slot must fit whole: the real runtime checks only its start, and writes past the end. */
        bool fits = (size_t)placeholders[i].addrOffset + sizeof(void *) <= args_size && placeholders[i].dataOffset < args_size;
        if (!fits) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "placeholder %zu lies outside the arguments", i); }
    }
    return ACL_SUCCESS;
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(hostArgs);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    TRY(refuse_no_args(__func__, argsSize));
    TRY(refuse_no_blocks(__func__, numBlocks));
    TRY(check_config(__func__, cfg));
    TRY(check_placeholders(__func__, placeHolderArray, placeHolderNum, argsSize));
    return submit(__func__, stream,
                  &(KernelLaunch){.function = function, .blocks = numBlocks, .args = hostArgs, .args_size = argsSize,
                                  .placeholders = placeHolderArray, .placeholder_count = placeHolderNum});
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve) {
    ENTER();
    REQUIRE(funcHandle);
    if (numBlocks == 0) { return INVALID("numBlocks is 0"); }
    REQUIRE(argsHandle);
    if (reserve != NULL) { return INVALID("reserve is not NULL"); }
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    PackedArgs packed;
    TRY(args_packed(__func__, argsHandle, &packed));
    TRY(check_config(__func__, cfg));
    return submit(__func__, stream,
                  &(KernelLaunch){.function = function, .blocks = numBlocks, .args = packed.bytes,
                                  .args_size = packed.size, .placeholders = packed.placeholders,
                                  .placeholder_count = packed.placeholder_count});
}

/* The parameters one behind the other, each in 8-byte aligned slots. */
static size_t pack_array(const uint32_t *params, void **values, unsigned char *packed) {
    size_t offset = 0;
    for (uint32_t i = 0; i < params[0]; i++) {
        uint32_t bytes = params[i + 1];
        if (packed != NULL) { memcpy(packed + offset, values[i], bytes); }
        offset += (bytes + 7U) / 8U * 8U;
    }
    return offset;
}

aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                        void **args) {
    ENTER();
    REQUIRE(func);
    if (numBlocks == 0) { return INVALID("numBlocks is 0"); }
    Function *function;
    TRY(function_find(__func__, func, &function));
    if (function->params == NULL) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "kernel %s tells nothing about its parameters", function->name);
    }
    if (function->params[0] > 0 && args == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "args is NULL"); }
    TRY(check_config(__func__, cfg));
    size_t bytes = pack_array(function->params, args, NULL);
    unsigned char *packed = calloc(1, bytes + 1);
    if (packed == NULL) { return FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for %zu bytes of arguments", bytes); }
    pack_array(function->params, args, packed);
    aclError code = submit(__func__, stream,
                           &(KernelLaunch){.function = function, .blocks = numBlocks, .args = packed, .args_size = bytes});
    free(packed);
    return code;
}
