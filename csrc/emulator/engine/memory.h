/* Memory as the device sees it: which addresses are device memory, which host memory is pinned, and how much is in
 * use. Device memory is ordinary memory of the process, accounted against the product's size. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

typedef enum MemoryKind {
    MEMORY_PAGEABLE,   /* anything the runtime did not hand out */
    MEMORY_DEVICE,
    MEMORY_HOST,       /* pinned, from aclrtMallocHost */
    MEMORY_REGISTERED, /* the program's own, pinned by aclrtHostRegister */
} MemoryKind;

typedef struct Allocation {
    uintptr_t base;
    size_t bytes, accounted; /* accounted 0: lent */
    MemoryKind kind;
    int32_t device;
} Allocation;

typedef struct MemoryUsage {
    uint64_t device_count, device_bytes, host_count, host_bytes;
} MemoryUsage;

aclError memory_allocate(MemoryKind kind, int32_t device, size_t bytes, size_t accounted, void **address,
                         const char *api);
/* Frees memory from memory_allocate of either kind (the real runtime takes both in aclrtFree): else 107000. */
aclError memory_free(void *address, bool host_only, const char *api);
void memory_free_device(int32_t device);

/* Memory that counts as the device's without having come from here (variables of kernel binaries), and its end. */
void memory_lend(void *address, size_t bytes, int32_t device);
void memory_take_back(const void *from, size_t bytes);

bool memory_register(void *address, size_t bytes, int32_t device);
bool memory_unregister(void *address);

/* The allocation that `address` lies in. False for pageable memory. */
bool memory_find(const void *address, Allocation *allocation);
static inline MemoryKind memory_kind(const void *address) {
    Allocation allocation;
    return memory_find(address, &allocation) ? allocation.kind : MEMORY_PAGEABLE;
}
/* Reads a cell of device memory that somebody may write at the same time. False when the address is none any more; the
 * memory cannot be freed in between. */
bool memory_read_cell(const uint64_t *cell, uint64_t *value);
uint64_t memory_in_use(int32_t device);
MemoryUsage memory_usage(void);

#endif
