/* The tasks that run code of the program's on the device: kernels. */
#ifndef EMU_WORK_H
#define EMU_WORK_H

#include "acl/acl.h"
#include "engine/binary.h"
#include "engine/stream.h"

typedef struct KernelLaunch {
    Function *function;
    uint32_t blocks;
    const void *args;      /* copied at the call, unless `args_on_device` */
    size_t args_size;
    bool args_on_device;
    const aclrtPlaceHolderInfo *placeholders;
    size_t placeholder_count;
    uint64_t timeout_ns;   /* 0 = the process-wide one; FOREVER = none */
    const aclrtLaunchKernelCfg *config; /* or NULL */
} KernelLaunch;

aclError work_launch(Stream *stream, const KernelLaunch *launch, const char *api);
/* The same as a task that belongs to no stream yet. False without memory. */
bool work_make(Task *task, const KernelLaunch *launch);
/* How long kernels launched from now on may run: then they are asked to return and fail. 0 = for ever. */
void work_set_kernel_timeout(uint64_t timeout_ns);

/* The kernel of a task, or NULL when it is another kind; and its arguments, on the device or in the task. */
const Function *work_kernel(const Task *task);
const void *work_kernel_args(const Task *task, size_t *bytes);

/* A task that does nothing but take its place. */
aclError work_mark(Stream *stream, const char *api);

#endif
