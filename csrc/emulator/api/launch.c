/* Chapter 14, launches. Each variant checks its arguments in its own order; then all are one task. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/args.h"
#include "api/launch.h"
#include "api/op_timeout.h"
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

/* 0 = the task waits for its kernel for ever, whatever the process-wide limit is. */
static uint64_t limit_ns(uint64_t wanted_us) {
    return wanted_us == 0 ? FOREVER : op_timeout_actual_us(wanted_us) * 1000U;
}

static uint64_t timeout_of(const aclrtLaunchKernelAttr *attribute) {
    const aclrtLaunchKernelAttrValue *value = &attribute->value;
    if (attribute->id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) { return limit_ns(value->timeout * 1000000ULL); }
    return limit_ns((uint64_t)value->timeoutUs.timeoutHigh << 32 | value->timeoutUs.timeoutLow);
}

static bool is_timeout(const aclrtLaunchKernelAttr *attribute) {
    return attribute->id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT || attribute->id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
}

aclError launch_read_config(const char *api, const aclrtLaunchKernelCfg *config, KernelLaunch *launch) {
    launch->config = config;
    if (config == NULL) { return ACL_SUCCESS; }
    if (config->attrs == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "a configuration without attributes"); }
    bool seconds = false, microseconds = false;
    for (size_t i = 0; i < config->numAttrs; i++) {
        if (!is_attribute_allowed(&config->attrs[i])) {
            return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "launch attribute %d", (int)config->attrs[i].id);
        }
        if (is_timeout(&config->attrs[i])) { launch->timeout_ns = timeout_of(&config->attrs[i]); }
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
    return stream->model == NULL && stream->capture == NULL && (stream->flags & STREAM_FLAGS_UNWAITED) == 0;
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

aclError launch_settle(const char *api, Stream *stream) {
    if (!is_blocking(stream) || in_nonblocking_section(stream)) { return ACL_SUCCESS; }
    return stream_synchronize(stream, api, 0);
}

/* ---- the launch itself ---- */

static aclError submit(const char *api, aclrtStream handle, const KernelLaunch *launch) {
    Stream *stream;
    TRY(stream_find_own(api, handle, &stream));
    TRY(work_launch(stream, launch, api));
    return launch_settle(api, stream);
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
    KernelLaunch launch = {.blocks = numBlocks, .args = argsData, .args_size = argsSize, .args_on_device = true};
    TRY(function_find(__func__, funcHandle, &launch.function));
    TRY(refuse_no_blocks(__func__, numBlocks));
    TRY(refuse_no_args(__func__, argsSize));
    return submit(__func__, stream, &launch);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
                             aclrtLaunchKernelCfg *cfg, aclrtStream stream) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(argsData);
    KernelLaunch launch = {.blocks = numBlocks, .args = argsData, .args_size = argsSize, .args_on_device = true};
    TRY(function_find(__func__, funcHandle, &launch.function));
    TRY(refuse_no_args(__func__, argsSize));
    TRY(refuse_no_blocks(__func__, numBlocks));
    TRY(launch_read_config(__func__, cfg, &launch));
    return submit(__func__, stream, &launch);
}

static aclError check_placeholders(const char *api, const KernelLaunch *launch) {
    if (launch->placeholder_count > 0 && launch->placeholders == NULL) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "placeholders without an array");
    }
    for (size_t i = 0; i < launch->placeholder_count; i++) {
        const aclrtPlaceHolderInfo *placeholder = &launch->placeholders[i];
        /* The address slot must fit whole: the real runtime checks only its start, and writes past the end. */
        bool fits = placeholder->addrOffset + sizeof(void *) <= launch->args_size &&
                    placeholder->dataOffset < launch->args_size;
        if (!fits) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "placeholder %zu lies outside", i); }
    }
    return ACL_SUCCESS;
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(hostArgs);
    KernelLaunch launch = {.blocks = numBlocks, .args = hostArgs, .args_size = argsSize,
                           .placeholders = placeHolderArray, .placeholder_count = placeHolderNum};
    TRY(function_find(__func__, funcHandle, &launch.function));
    TRY(refuse_no_args(__func__, argsSize));
    TRY(refuse_no_blocks(__func__, numBlocks));
    TRY(launch_read_config(__func__, cfg, &launch));
    TRY(check_placeholders(__func__, &launch));
    return submit(__func__, stream, &launch);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *cfg, aclrtArgsHandle argsHandle, void *reserve) {
    ENTER();
    REQUIRE(funcHandle);
    if (numBlocks == 0) { return INVALID("numBlocks is 0"); }
    REQUIRE(argsHandle);
    if (reserve != NULL) { return INVALID("reserve is not NULL"); }
    KernelLaunch launch = {.blocks = numBlocks};
    TRY(function_find(__func__, funcHandle, &launch.function));
    PackedArgs packed;
    TRY(args_packed(__func__, argsHandle, &packed));
    TRY(launch_read_config(__func__, cfg, &launch));
    launch.args = packed.bytes;
    launch.args_size = packed.size;
    launch.placeholders = packed.placeholders;
    launch.placeholder_count = packed.placeholder_count;
    return submit(__func__, stream, &launch);
}

/* ---- arguments one by one ---- */

static aclError check_array(const char *api, const Function *function, void **values) {
    if (function->params == NULL) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%s tells nothing about its parameters", function->name);
    }
    if (function->params[0] > 0 && values == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "args is NULL"); }
    for (uint32_t i = 0; i < function->params[0]; i++) {
        if (values[i] == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "argument %u is NULL", i); }
    }
    return ACL_SUCCESS;
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

static aclError submit_array(const char *api, aclrtStream stream, KernelLaunch *launch, void **values) {
    const uint32_t *params = launch->function->params;
    launch->args_size = pack_array(params, values, NULL);
    unsigned char *packed = calloc(1, launch->args_size + 1);
    if (packed == NULL) {
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu bytes of arguments", launch->args_size);
    }
    pack_array(params, values, packed);
    launch->args = packed;
    aclError code = submit(api, stream, launch);
    free(packed);
    return code;
}

/* Symbols of compiled host stubs would be kernels too, but nothing here registers any. */
aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                        void **args) {
    ENTER();
    REQUIRE(func);
    if (numBlocks == 0) { return INVALID("numBlocks is 0"); }
    KernelLaunch launch = {.blocks = numBlocks};
    TRY(function_find(__func__, func, &launch.function));
    TRY(check_array(__func__, launch.function, args));
    TRY(launch_read_config(__func__, cfg, &launch));
    return submit_array(__func__, stream, &launch, args);
}

/* ---- SIMT ---- */

/* Each thread of each block is a block of the host kernel: its index counts through the grid, threads first. */
static aclError count_threads(const char *api, dim3 grid, dim3 block, uint32_t *count) {
    const uint32_t sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    uint64_t threads = 1;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] == 0) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "a dimension is 0"); }
        threads *= sizes[i];
        if (threads > UINT32_MAX) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the grid is too large"); }
    }
    *count = (uint32_t)threads;
    return ACL_SUCCESS;
}

aclError aclrtLaunchSIMTKernelWithArgsArray(void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                            aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args) {
    ENTER();
    (void)dynUbufSize; /* host kernels have no such buffer */
    REQUIRE(func);
    NEED_FEATURE(SOC_SIMT);
    KernelLaunch launch = {0};
    TRY(function_find(__func__, func, &launch.function));
    TRY(check_array(__func__, launch.function, args));
    TRY(count_threads(__func__, gridDim, blockDim, &launch.blocks));
    TRY(launch_read_config(__func__, cfg, &launch));
    return submit_array(__func__, stream, &launch, args);
}

aclError aclrtLaunchSIMTKernelWithHostArgs(void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize,
                                           aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs,
                                           size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray,
                                           size_t placeHolderNum) {
    ENTER();
    (void)dynUbufSize;
    REQUIRE(func);
    REQUIRE(hostArgs);
    if (argsSize == 0) { return INVALID("argsSize is 0"); }
    NEED_FEATURE(SOC_SIMT);
    KernelLaunch launch = {.args = hostArgs, .args_size = argsSize, .placeholders = placeHolderArray,
                           .placeholder_count = placeHolderNum};
    TRY(function_find(__func__, func, &launch.function));
    TRY(count_threads(__func__, gridDim, blockDim, &launch.blocks));
    TRY(launch_read_config(__func__, cfg, &launch));
    TRY(check_placeholders(__func__, &launch));
    return submit(__func__, stream, &launch);
}
