/* Kernels: how their tasks are built at the call and run on a worker. */
#include "engine/work.h"

#include <stdlib.h>
#include <string.h>

#include "engine/error.h"
#include "engine/scheduler.h"
#include "engine/thread.h"

/* ---- kernels ---- */

/* What KernelTask.heap_args of a kernel with a time limit points to. */
typedef struct TimedArgs {
    uint64_t timeout_ns;
    int32_t timeout_code;
    _Alignas(16) unsigned char bytes[];
} TimedArgs;

static _Atomic(uint64_t) kernel_timeout;

void work_set_kernel_timeout(uint64_t timeout_ns) { atomic_store(&kernel_timeout, timeout_ns); }

static int32_t run_blocks(Task *task, const void *args) {
    const KernelTask *kernel = &task->as.kernel;
    pyaclBlock block = {.count = kernel->blocks,
                        .argsSize = kernel->args_size,
                        .cancelled = (const volatile int32_t *)&task->cancelled};
    for (; block.index < block.count; block.index++) {
        int32_t outcome = kernel->entry(args, &block);
        if (outcome != 0) { return outcome > 0 ? outcome : kernel->function->exception_code; }
    }
    return 0;
}

static int32_t run_kernel(Stream *stream, Task *task) {
    (void)stream;
    const KernelTask *kernel = &task->as.kernel;
    const void *args = kernel->device_args != NULL ? kernel->device_args
                       : kernel->heap_args != NULL ? kernel->heap_args
                                                   : task->inline_args;
    return run_blocks(task, args);
}

/* A host function cannot be stopped: when its time is up it is asked to return, and fails in any case. */
static int32_t run_timed_kernel(Stream *stream, Task *task) {
    const KernelTask *kernel = &task->as.kernel;
    const TimedArgs *timed = kernel->heap_args;
    scheduler_arm_cancel(stream, clock_now() + timed->timeout_ns, &task->cancelled);
    int32_t outcome = run_blocks(task, kernel->device_args != NULL ? kernel->device_args : timed->bytes);
    bool late = atomic_load(&stream->wait_expired);
    scheduler_disarm_timer(stream);
    return late ? timed->timeout_code : outcome;
}

static void release_kernel(Task *task) { free(task->as.kernel.heap_args); }

static const TaskOps kernel_ops = {.name = "kernel", .run = run_kernel, .kind = ACL_MODEL_RI_TASK_KERNEL};
static const TaskOps kernel_with_heap_args_ops = {
    .name = "kernel", .run = run_kernel, .release = release_kernel, .kind = ACL_MODEL_RI_TASK_KERNEL};
static const TaskOps timed_kernel_ops = {
    .name = "kernel", .run = run_timed_kernel, .release = release_kernel, .kind = ACL_MODEL_RI_TASK_KERNEL};

const Function *work_kernel(const Task *task) {
    bool is_kernel =
        task->ops == &kernel_ops || task->ops == &kernel_with_heap_args_ops || task->ops == &timed_kernel_ops;
    return is_kernel ? task->as.kernel.function : NULL;
}

const void *work_kernel_args(const Task *task, size_t *bytes) {
    const KernelTask *kernel = &task->as.kernel;
    *bytes = kernel->args_size;
    if (kernel->device_args != NULL) { return kernel->device_args; }
    if (task->ops == &timed_kernel_ops) { return ((const TimedArgs *)kernel->heap_args)->bytes; }
    return kernel->heap_args != NULL ? kernel->heap_args : task->inline_args;
}

/* Each placeholder's slot receives the address of its data inside the copied arguments. */
static void fill_placeholders(unsigned char *args, const KernelLaunch *launch) {
    for (size_t i = 0; i < launch->placeholder_count; i++) {
        const void *data = args + launch->placeholders[i].dataOffset;
        memcpy(args + launch->placeholders[i].addrOffset, &data, sizeof(data));
    }
}

static uint64_t timeout_of(const KernelLaunch *launch) {
    if (launch->timeout_ns == 0) { return atomic_load_explicit(&kernel_timeout, memory_order_relaxed); }
    return launch->timeout_ns == FOREVER ? 0 : launch->timeout_ns;
}

static unsigned char *place_for_args(Task *task, size_t bytes) {
    if (bytes <= TASK_INLINE_ARGS) { return task->inline_args; }
    task->ops = &kernel_with_heap_args_ops;
    return task->as.kernel.heap_args = malloc(bytes);
}

static bool take_args(Task *task, const KernelLaunch *launch) {
    unsigned char *args = place_for_args(task, launch->args_size);
    if (args == NULL) { return false; }
    memcpy(args, launch->args, launch->args_size);
    fill_placeholders(args, launch);
    return true;
}

/* Apart, so that launches without a limit pay no more than the question. */
__attribute__((cold, noinline)) static bool take_timed_args(Task *task, const KernelLaunch *launch, uint64_t timeout_ns) {
    size_t bytes = launch->args_on_device ? 0 : launch->args_size;
    TimedArgs *timed = malloc(sizeof(*timed) + bytes);
    if (timed == NULL) { return false; }
    bool vector = launch->function->exception_code == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    timed->timeout_ns = timeout_ns;
    timed->timeout_code = vector ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT : ACL_ERROR_RT_AICORE_TIMEOUT;
    if (bytes > 0) { memcpy(timed->bytes, launch->args, bytes); }
    fill_placeholders(timed->bytes, launch);
    task->ops = &timed_kernel_ops;
    task->as.kernel.heap_args = timed;
    return true;
}

static bool fill(Task *task, const KernelLaunch *launch) {
    KernelTask *kernel = &task->as.kernel;
    kernel->function = launch->function;
    kernel->entry = launch->function->entry;
    kernel->blocks = launch->blocks;
    kernel->args_size = (uint32_t)launch->args_size;
    kernel->heap_args = NULL;
    kernel->device_args = launch->args_on_device ? launch->args : NULL;
    uint64_t timeout_ns = timeout_of(launch);
    if (timeout_ns != 0) { return take_timed_args(task, launch, timeout_ns); }
    return launch->args_on_device || launch->args_size == 0 || take_args(task, launch);
}

bool work_make(Task *task, const KernelLaunch *launch) {
    task->ops = &kernel_ops;
    atomic_store(&task->cancelled, 0);
    task->thread_id = emu_thread_id();
    return fill(task, launch);
}

aclError work_launch(Stream *stream, const KernelLaunch *launch, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &kernel_ops, &task));
    if (launch->config != NULL && stream->recording != NULL) {
        stream->recording->ops->describe(stream->recording, launch->config);
    }
    if (fill(task, launch)) {
        stream_commit(stream, task);
        return ACL_SUCCESS;
    }
    stream_cancel(stream, task);
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu bytes of arguments", launch->args_size);
}

/* ---- marks ---- */

static int32_t run_mark(Stream *stream, Task *task) {
    (void)stream;
    (void)task;
    return 0;
}

static const TaskOps mark_ops = {.name = "mark", .run = run_mark};

aclError work_mark(Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &mark_ops, &task));
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
