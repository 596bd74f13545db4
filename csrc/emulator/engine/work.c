/* Kernels, copies and fills: how their tasks are built at the call and run on a worker. */
#include "engine/work.h"

#include <stdlib.h>
#include <string.h>

#include "engine/error.h"

/* ---- kernels ---- */

static int32_t run_kernel(Stream *stream, Task *task) {
    (void)stream;
    const KernelTask *kernel = &task->as.kernel;
    const void *args = kernel->device_args != NULL ? kernel->device_args
                       : kernel->heap_args != NULL ? kernel->heap_args
                                                   : task->inline_args;
    pyaclBlock block = {.count = kernel->blocks,
                        .argsSize = kernel->args_size,
                        .cancelled = (const volatile int32_t *)&task->cancelled};
    for (; block.index < block.count; block.index++) {
        int32_t outcome = kernel->entry(args, &block);
        if (outcome != 0) { return outcome > 0 ? outcome : kernel->function->exception_code; }
    }
    return 0;
}

static void release_kernel(Task *task) { free(task->as.kernel.heap_args); }

static const TaskOps kernel_ops = {"kernel", run_kernel, NULL, NULL};
static const TaskOps kernel_with_heap_args_ops = {"kernel", run_kernel, NULL, release_kernel};

/* Each placeholder's slot receives the address of its data inside the copied arguments. */
static void fill_placeholders(unsigned char *args, const KernelLaunch *launch) {
    for (size_t i = 0; i < launch->placeholder_count; i++) {
        const void *data = args + launch->placeholders[i].dataOffset;
        memcpy(args + launch->placeholders[i].addrOffset, &data, sizeof(data));
    }
}

static unsigned char *place_for_args(Task *task, size_t bytes) {
    if (bytes <= TASK_INLINE_ARGS) { return task->inline_args; }
    task->ops = &kernel_with_heap_args_ops;
    return task->as.kernel.heap_args = malloc(bytes);
}

aclError work_launch(Stream *stream, const KernelLaunch *launch, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &kernel_ops, &task));
    KernelTask *kernel = &task->as.kernel;
    kernel->function = launch->function;
    kernel->entry = launch->function->entry;
    kernel->blocks = launch->blocks;
    kernel->args_size = (uint32_t)launch->args_size;
    kernel->heap_args = NULL;
    kernel->device_args = launch->args_on_device ? launch->args : NULL;
    if (!launch->args_on_device && launch->args_size > 0) {
        unsigned char *args = place_for_args(task, launch->args_size);
        if (args == NULL) {
            stream_cancel(stream, task);
            return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu bytes of arguments",
                            launch->args_size);
        }
        memcpy(args, launch->args, launch->args_size);
        fill_placeholders(args, launch);
    }
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- copies ---- */

static int32_t run_copy(Stream *stream, Task *task) {
    (void)stream;
    const CopyTask *copy = &task->as.copy;
    memmove(copy->destination, copy->staged != NULL ? copy->staged : copy->source, copy->bytes);
    return 0;
}

static void release_copy(Task *task) { free(task->as.copy.staged); }

static const TaskOps copy_ops = {"copy", run_copy, NULL, NULL};
static const TaskOps staged_copy_ops = {"copy", run_copy, NULL, release_copy};

aclError work_copy(Stream *stream, void *destination, const void *source, size_t bytes, bool take_source_now,
                   const char *api) {
    void *staged = take_source_now ? malloc(bytes) : NULL;
    if (take_source_now && staged == NULL) {
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory to stage %zu bytes", bytes);
    }
    if (staged != NULL) { memcpy(staged, source, bytes); }
    Task *task;
    aclError code = stream_begin(stream, api, staged != NULL ? &staged_copy_ops : &copy_ops, &task);
    if (code != ACL_SUCCESS) {
        free(staged);
        return code;
    }
    task->as.copy = (CopyTask){destination, source, bytes, staged};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- fills ---- */

void fill_memory(void *destination, uint32_t value, size_t count, uint32_t width) {
    if (width == 1) {
        memset(destination, (int)(value & 0xFFU), count);
        return;
    }
    uint32_t *words = destination;
    for (size_t i = 0; i < count; i++) { words[i] = value; }
}

static int32_t run_fill(Stream *stream, Task *task) {
    (void)stream;
    fill_memory(task->as.fill.destination, task->as.fill.value, task->as.fill.count, task->as.fill.width);
    return 0;
}

static const TaskOps fill_ops = {"fill", run_fill, NULL, NULL};

aclError work_fill(Stream *stream, void *destination, uint32_t value, size_t count, uint32_t width, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &fill_ops, &task));
    task->as.fill = (FillTask){destination, count, value, width};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
