/* Pools of device memory that streams allocate from and free to in their order: what a stream has freed, it can be given
 * again at once; others, when the freeing was reached. A pool keeps freed blocks up to its threshold. */
#ifndef EMU_MEMPOOL_H
#define EMU_MEMPOOL_H

#include "acl/acl.h"
#include "engine/stream.h"

typedef struct MemPool MemPool;

/* max_bytes 0: as much as the device has. */
aclError mempool_create(int32_t device, size_t max_bytes, void **handle, const char *api);
aclError mempool_find(const char *api, aclrtMemPool handle, MemPool **pool);
/* Blocks in use stay good until they are freed. */
void mempool_destroy(MemPool *pool);

aclError mempool_allocate(MemPool *pool, size_t bytes, Stream *stream, void **address, const char *api);
/* Also for memory that is of no pool: freed when the task runs. */
aclError mempool_free(void *address, Stream *stream, const char *api);

aclError mempool_set(MemPool *pool, aclrtMemPoolAttr attribute, uint64_t value, const char *api);
aclError mempool_get(MemPool *pool, aclrtMemPoolAttr attribute, uint64_t *value, const char *api);

/* Gives free blocks back until no more than `keep` bytes are held. */
void mempool_trim(MemPool *pool, uint64_t keep);
void mempool_trim_device(int32_t device);
/* A wait for the device is over: what is above the thresholds goes back. */
void mempool_settle(void);
void mempool_reset(int32_t device);

#endif
