/* Virtual memory: reserved addresses, physical memory without an address, and mappings of the one at the other. Physical
 * memory lives as long as the program has its handle or it is mapped; other processes can import it. */
#ifndef EMU_VIRTUAL_H
#define EMU_VIRTUAL_H

#include "acl/acl.h"
#include "engine/memory.h"
#include "engine/shared.h"

enum { VIRTUAL_HUGE_BYTES = 2 << 20 };

typedef struct Physical {
    void *handle;
    uint32_t handles;  /* how often the program was given it and has not freed it */
    uint32_t mappings;
    int file;          /* of another process, or -1 */
    uint64_t offset;
    size_t bytes;
    int32_t device;
    aclrtPhysicalMemProp properties;
    SharedCell *cell;  /* exported or imported, or NULL */
    bool imported;
    struct Physical *next; /* in the list of all, or of those to be used again */
} Physical;

/* At `expected` if that is free, else anywhere. */
aclError virtual_reserve(size_t bytes, void *expected, void **address, const char *api);
/* Mapped or not. */
bool virtual_is_reserved(const void *address);
aclError virtual_release(void *address, const char *api);

aclError virtual_create(size_t bytes, const aclrtPhysicalMemProp *properties, int32_t device, Physical **out,
                        const char *api);
aclError virtual_find(const char *api, aclrtDrvMemHandle handle, Physical **physical);
void virtual_free(Physical *physical);

/* `access`: the devices that may touch it at once. */
aclError virtual_map(void *address, size_t bytes, Physical *physical, uint64_t access, const char *api);
aclError virtual_unmap(void *address, const char *api);
/* The range must be mapped. */
aclError virtual_set_access(void *address, size_t bytes, int32_t device, bool allowed, const char *api);
/* What is mapped there, with one more handle; NULL when nothing is. */
Physical *virtual_retain(void *address);

aclError virtual_export(Physical *physical, bool open_to_all, const char *api);
aclError virtual_import(SharedCell *cell, int32_t device, Physical **out, const char *api);

/* Everything of a device goes. */
void virtual_reset(int32_t device);

#endif
