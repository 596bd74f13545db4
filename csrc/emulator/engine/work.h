/* The tasks that do device work: kernels, copies, fills. */
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
} KernelLaunch;

aclError work_launch(Stream *stream, const KernelLaunch *launch, const char *api);
/* How long kernels launched from now on may run: then they are asked to return and fail. 0 = for ever. */
void work_set_kernel_timeout(uint64_t timeout_ns);

/* The kernel of a task, or NULL when it is another kind; and its arguments, on the device or in the task. */
const Function *work_kernel(const Task *task);
const void *work_kernel_args(const Task *task, size_t *bytes);

aclError work_copy(Stream *stream, void *destination, const void *source, size_t bytes, bool take_source_now,
                   const char *api);
/* width 1: a byte value; width 4: a 32-bit value. */
aclError work_fill(Stream *stream, void *destination, uint32_t value, size_t count, uint32_t width, const char *api);

/* A task that does nothing but take its place. */
aclError work_mark(Stream *stream, const char *api);

void fill_memory(void *destination, uint32_t value, size_t count, uint32_t width);

#endif
