/* Memory as the device sees it: which addresses are device memory, which host memory is pinned, and how much is in
 * use. Device memory is memory of the process (arena.h), accounted against the product's size. */
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
    MEMORY_MANAGED,    /* of host and device alike */
} MemoryKind;

/* Who gives it back. */
typedef enum MemoryOwner {
    OWNER_PROGRAM, /* the program, with aclrtFree and its sisters */
    OWNER_BINARY,  /* lent: a variable of a kernel binary */
    OWNER_HOST,    /* registered */
    OWNER_POOL,    /* a block of a stream-ordered pool */
    OWNER_MAPPING, /* physical memory that is mapped at a reserved address */
    OWNER_IMPORT,  /* memory of another process */
} MemoryOwner;

typedef struct Allocation {
    uintptr_t base;
    size_t bytes, accounted; /* accounted: against the device's size, or the pinned host memory; 0 when it is not ours */
    MemoryKind kind;
    MemoryOwner owner;
    int32_t device;
    uint64_t offset;     /* in the memory file, of ours on the device */
    uint32_t page_bytes; /* 0: as small as can be */
    bool closed;         /* strict mode: nobody may touch it but the device */
    uint64_t access;     /* of a mapping: the devices that may touch it, a bit each */
    bool is_mapped;      /* pinned host memory that the device has an address for */
    void *behind;        /* a mapping: its Physical; a pool's: its PoolBlock */
} Allocation;

typedef struct MemoryUsage {
    uint64_t device_count, device_bytes, host_count, host_bytes;
} MemoryUsage;

/* What is asked for: kind, owner, device, bytes, accounted, page_bytes. */
aclError memory_allocate(const Allocation *wanted, void **address, const char *api);
/* Frees memory of the program's, of either kind (the real runtime takes both in aclrtFree): else 107000. */
aclError memory_free(void *address, bool host_only, const char *api);
/* Frees a whole allocation of this owner. False when there is none at this address. */
bool memory_free_owned(void *address, MemoryOwner owner);
/* All that the program and pools have of the device. */
void memory_free_device(int32_t device);

/* Puts memory into the table that has not come from here. False when a part of it is there already. */
bool memory_enter(const Allocation *allocation);
/* Takes it out again: what begins at `address` and is of that owner. */
bool memory_leave(const void *address, MemoryOwner owner, Allocation *gone);
/* Which devices may touch the mapping. */
void memory_set_access(const void *address, uint64_t access);
/* Some allocation of that owner on the device. False when there is none left. */
bool memory_any(MemoryOwner owner, int32_t device, Allocation *allocation);

/* Counts device memory that has no address (yet). False when the device has not that much. */
bool memory_charge(int32_t device, size_t bytes);
void memory_uncharge(int32_t device, size_t bytes);
bool memory_has_room(int32_t device, size_t bytes);

/* Memory that counts as the device's without having come from here (variables of kernel binaries), and its end. */
void memory_lend(void *address, size_t bytes, int32_t device);
void memory_take_back(const void *from, size_t bytes);

/* The allocation that `address` lies in. False for pageable memory. */
bool memory_find(const void *address, Allocation *allocation);
static inline bool memory_is_barred(const Allocation *is) { return is->owner == OWNER_MAPPING && is->access == 0; }
static inline MemoryKind memory_kind(const void *address) {
    Allocation allocation;
    return memory_find(address, &allocation) ? allocation.kind : MEMORY_PAGEABLE;
}
/* All of the range is live, and the device may touch it. */
bool memory_is_usable(const void *address, size_t bytes);
/* Reads a cell of device memory that somebody may write at the same time. False when the address is none any more; the
 * memory cannot be freed in between. */
bool memory_read_cell(const uint64_t *cell, uint64_t *value);
uint64_t memory_in_use(int32_t device);
uint64_t memory_peak(int32_t device);
MemoryUsage memory_usage(void);

#endif
