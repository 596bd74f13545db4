/* Stream-ordered pools: see mempool.h. A block is the allocation of its own that it was made as; freed ones are looked
 * through for the smallest that fits and does not waste more than half. */
#include "engine/mempool.h"

#include <stdlib.h>

#include "engine/arena.h"
#include "engine/error.h"
#include "engine/handle.h"
#include "engine/memory.h"
#include "engine/pool.h"

typedef struct PoolBlock {
    MemPool *pool;
    void *address;
    size_t bytes;
    bool in_use;
    uint32_t pending;     /* tasks on their way that free it */
    const void *freed_on; /* handle of the stream that freed it last */
    struct PoolBlock *next, *previous;
} PoolBlock;

struct MemPool {
    void *handle; /* NULL: destroyed, and not all blocks are free */
    int32_t device;
    uint64_t settings[ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH + 1]; /* by attribute; the current and highest amounts too */
    size_t max_bytes;
    PoolBlock *used, *unused;
    MemPool *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all pools and blocks */
static MemPool *live;
static Pool pools = POOL(MemPool, next);
static _Atomic(bool) has_excess; /* some pool may hold more than it shall */

enum {
    RESERVED = ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT,
    USED = ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT,
    THRESHOLD = ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD,
};

/* ---- amounts; under the lock ---- */

/* The highest amount is the attribute after the current one. */
static void add(MemPool *pool, int attribute, uint64_t bytes) {
    pool->settings[attribute] += bytes;
    if (pool->settings[attribute] > pool->settings[attribute + 1]) {
        pool->settings[attribute + 1] = pool->settings[attribute];
    }
}

static void push(PoolBlock **list, PoolBlock *block) {
    block->previous = NULL;
    block->next = *list;
    if (*list != NULL) { (*list)->previous = block; }
    *list = block;
}

static void take_out(PoolBlock **list, PoolBlock *block) {
    if (block->previous != NULL) { block->previous->next = block->next; }
    else { *list = block->next; }
    if (block->next != NULL) { block->next->previous = block->previous; }
}

static void begin_use(PoolBlock *block) {
    block->in_use = true;
    push(&block->pool->used, block);
    add(block->pool, USED, block->bytes);
}

static void end_use(PoolBlock *block) {
    take_out(&block->pool->used, block);
    block->in_use = false;
    block->pool->settings[USED] -= block->bytes;
    push(&block->pool->unused, block);
}

/* Takes free blocks out until no more than `keep` bytes are held. */
static PoolBlock *cut(MemPool *pool, uint64_t keep) {
    PoolBlock *gone = NULL;
    for (PoolBlock *block = pool->unused, *next; block != NULL && pool->settings[RESERVED] > keep; block = next) {
        next = block->next;
        if (block->pending > 0) { continue; }
        take_out(&pool->unused, block);
        pool->settings[RESERVED] -= block->bytes;
        push(&gone, block);
    }
    return gone;
}

static bool is_finished(const MemPool *pool) { return pool->handle == NULL && pool->used == NULL && pool->unused == NULL; }

static void delist(MemPool *pool) {
    MemPool **link = &live;
    while (*link != pool) { link = &(*link)->next; }
    *link = pool->next;
}

/* Outside the lock. */
static void give_back(PoolBlock *gone) {
    for (PoolBlock *next; gone != NULL; gone = next) {
        next = gone->next;
        (void)memory_free_owned(gone->address, OWNER_POOL); /* unless a reset of the device was faster */
        free(gone);
    }
}

/* ---- pools ---- */

aclError mempool_create(int32_t device, size_t max_bytes, void **handle, const char *api) {
    int fresh;
    MemPool *pool = pool_take(&pools, &fresh);
    void *made = pool == NULL ? NULL : handle_new(KIND_POOL, pool);
    if (made == NULL) {
        if (pool != NULL) { pool_give(&pools, pool); }
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a pool");
    }
    pthread_mutex_lock(&lock);
    *pool = (MemPool){.handle = made, .device = device, .max_bytes = max_bytes, .next = live};
    for (int i = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES; i < THRESHOLD; i++) { pool->settings[i] = 1; }
    live = pool;
    pthread_mutex_unlock(&lock);
    *handle = made;
    return ACL_SUCCESS;
}

aclError mempool_find(const char *api, aclrtMemPool handle, MemPool **pool) {
    *pool = handle_get(KIND_POOL, handle);
    if (*pool != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is no memory pool, or was destroyed", handle);
}

/* Under the lock; what is to be given back outside. */
static PoolBlock *close_pool(MemPool *pool) {
    if (pool->handle != NULL) { handle_drop(pool->handle); }
    pool->handle = NULL;
    return cut(pool, 0);
}

static void end_if_finished(MemPool *pool) {
    if (!is_finished(pool)) { return; }
    delist(pool);
    pool_give(&pools, pool);
}

void mempool_destroy(MemPool *pool) {
    pthread_mutex_lock(&lock);
    PoolBlock *gone = pool->handle == NULL ? NULL : close_pool(pool);
    end_if_finished(pool);
    pthread_mutex_unlock(&lock);
    give_back(gone);
}

static bool is_switch(int attribute) {
    return attribute >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static bool is_highest(int attribute) { return attribute == RESERVED + 1 || attribute == USED + 1; }

/* The highest amounts can only be begun anew. */
aclError mempool_set(MemPool *pool, aclrtMemPoolAttr attribute, uint64_t value, const char *api) {
    bool good = (is_switch(attribute) && value <= 1) || (int)attribute == THRESHOLD || (is_highest(attribute) && value == 0);
    if (!good) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "attribute %d cannot be set to this", (int)attribute); }
    pthread_mutex_lock(&lock);
    pool->settings[attribute] = is_highest(attribute) ? pool->settings[attribute - 1] : value;
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

aclError mempool_get(MemPool *pool, aclrtMemPoolAttr attribute, uint64_t *value, const char *api) {
    bool known = attribute >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES && (int)attribute <= USED + 1;
    if (!known) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "attribute %d", (int)attribute); }
    pthread_mutex_lock(&lock);
    *value = pool->settings[attribute];
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

/* ---- allocating ---- */

/* Another stream's block is free for this one when its freeing was reached, if the pool may look at that. */
static bool is_free_for(const MemPool *pool, const PoolBlock *block, const Stream *stream) {
    if (block->freed_on == stream->handle) { return true; }
    return block->pending == 0 && pool->settings[ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC] != 0;
}

static PoolBlock *best_block(MemPool *pool, size_t bytes, const Stream *stream) {
    PoolBlock *best = NULL;
    for (PoolBlock *block = pool->unused; block != NULL; block = block->next) {
        bool fits = block->bytes >= bytes && block->bytes / 2 <= bytes && is_free_for(pool, block, stream);
        if (fits && (best == NULL || block->bytes < best->bytes)) { best = block; }
    }
    return best;
}

static bool reuse(MemPool *pool, size_t bytes, const Stream *stream, void **address) {
    pthread_mutex_lock(&lock);
    PoolBlock *block = best_block(pool, bytes, stream);
    if (block != NULL) {
        take_out(&pool->unused, block);
        begin_use(block);
        *address = block->address;
    }
    pthread_mutex_unlock(&lock);
    return block != NULL;
}

static bool is_allowed(MemPool *pool, size_t bytes) {
    pthread_mutex_lock(&lock);
    bool allowed = pool->max_bytes == 0 || bytes <= pool->max_bytes - pool->settings[RESERVED];
    pthread_mutex_unlock(&lock);
    return allowed;
}

aclError mempool_allocate(MemPool *pool, size_t bytes, Stream *stream, void **address, const char *api) {
    if (bytes > SIZE_MAX / 2) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "%zu bytes do not fit", bytes); }
    bytes = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (reuse(pool, bytes, stream, address)) { return ACL_SUCCESS; }
    if (!is_allowed(pool, bytes)) { mempool_trim(pool, 0); }
    if (!is_allowed(pool, bytes)) {
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "the pool may not hold %zu bytes more", bytes);
    }
    if (!memory_has_room(pool->device, bytes)) { mempool_trim_device(pool->device); }
    PoolBlock *block = malloc(sizeof(*block));
    if (block == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a block"); }
    *block = (PoolBlock){.pool = pool, .bytes = bytes};
    Allocation wanted = {.kind = MEMORY_DEVICE, .owner = OWNER_POOL, .device = pool->device, .bytes = bytes,
                         .accounted = bytes, .behind = block};
    aclError code = memory_allocate(&wanted, &block->address, api);
    if (code != ACL_SUCCESS) {
        free(block);
        return code;
    }
    pthread_mutex_lock(&lock);
    add(pool, RESERVED, bytes);
    begin_use(block);
    pthread_mutex_unlock(&lock);
    *address = block->address;
    return ACL_SUCCESS;
}

/* ---- freeing ---- */

/* Under the lock, so that it does not go meanwhile. */
static PoolBlock *find_block(const void *address) {
    Allocation is;
    bool ours = memory_find(address, &is) && is.owner == OWNER_POOL && is.base == (uintptr_t)address;
    return ours ? is.behind : NULL;
}

/* The freeing was reached. What is above the threshold goes at the next wait. */
static void reach(void *address) {
    PoolBlock *gone = NULL;
    pthread_mutex_lock(&lock);
    PoolBlock *block = find_block(address);
    if (block != NULL && block->pending > 0) {
        MemPool *pool = block->pool;
        block->pending--;
        atomic_store(&has_excess, true);
        if (pool->handle == NULL) { gone = cut(pool, 0); }
        end_if_finished(pool);
    }
    pthread_mutex_unlock(&lock);
    give_back(gone);
}

static int32_t run_free(Stream *stream, Task *task) {
    (void)stream;
    reach(task->as.free.address);
    return 0;
}

static bool drop_free(Stream *stream, Task *task, DropReason reason) {
    (void)reason;
    return run_free(stream, task) == 0;
}

static int32_t run_plain_free(Stream *stream, Task *task) {
    (void)stream;
    (void)memory_free_owned(task->as.free.address, OWNER_PROGRAM);
    return 0;
}

static bool drop_plain_free(Stream *stream, Task *task, DropReason reason) {
    (void)reason;
    return run_plain_free(stream, task) == 0;
}

static const TaskOps free_ops = {.name = "free", .run = run_free, .drop = drop_free};
static const TaskOps plain_free_ops = {.name = "free", .run = run_plain_free, .drop = drop_plain_free};

static aclError begin_freeing(void *address, const Stream *stream, bool *is_pooled, const char *api) {
    pthread_mutex_lock(&lock);
    PoolBlock *block = find_block(address);
    bool in_use = block != NULL && block->in_use;
    if (in_use) {
        end_use(block);
        block->pending++;
        block->freed_on = stream->handle;
    }
    pthread_mutex_unlock(&lock);
    *is_pooled = block != NULL;
    if (block == NULL || in_use) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p was freed before", address);
}

static aclError submit(Stream *stream, const TaskOps *ops, void *address, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, ops, &task));
    task->as.free = (FreeTask){address};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

static bool is_programs(const void *address) {
    Allocation is;
    return memory_find(address, &is) && is.owner == OWNER_PROGRAM && is.base == (uintptr_t)address;
}

aclError mempool_free(void *address, Stream *stream, const char *api) {
    bool is_pooled;
    TRY(begin_freeing(address, stream, &is_pooled, api));
    if (!is_pooled) {
        if (is_programs(address)) { return submit(stream, &plain_free_ops, address, api); }
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is no live allocation", address);
    }
    aclError code = submit(stream, &free_ops, address, api);
    if (code != ACL_SUCCESS) { reach(address); } /* freed all the same: the stream takes nothing any more */
    return code;
}

/* ---- giving back ---- */

void mempool_trim(MemPool *pool, uint64_t keep) {
    pthread_mutex_lock(&lock);
    PoolBlock *gone = cut(pool, keep);
    pthread_mutex_unlock(&lock);
    give_back(gone);
}

static PoolBlock *join(PoolBlock *one, PoolBlock *other) {
    PoolBlock **end = &one;
    while (*end != NULL) { end = &(*end)->next; }
    *end = other;
    return one;
}

void mempool_trim_device(int32_t device) {
    PoolBlock *gone = NULL;
    pthread_mutex_lock(&lock);
    for (MemPool *pool = live; pool != NULL; pool = pool->next) {
        if (pool->device == device) { gone = join(cut(pool, 0), gone); }
    }
    pthread_mutex_unlock(&lock);
    give_back(gone);
}

void mempool_settle(void) {
    if (!atomic_load_explicit(&has_excess, memory_order_relaxed) || !atomic_exchange(&has_excess, false)) { return; }
    PoolBlock *gone = NULL;
    pthread_mutex_lock(&lock);
    for (MemPool *pool = live; pool != NULL; pool = pool->next) {
        gone = join(cut(pool, pool->settings[THRESHOLD]), gone);
    }
    pthread_mutex_unlock(&lock);
    give_back(gone);
}

/* No task of the device is left: what was in use is nobody's any more. */
void mempool_reset(int32_t device) {
    PoolBlock *gone = NULL;
    pthread_mutex_lock(&lock);
    for (MemPool *pool = live, *next; pool != NULL; pool = next) {
        next = pool->next;
        if (pool->device != device) { continue; }
        while (pool->used != NULL) { end_use(pool->used); }
        for (PoolBlock *block = pool->unused; block != NULL; block = block->next) { block->pending = 0; }
        gone = join(close_pool(pool), gone);
        end_if_finished(pool);
    }
    pthread_mutex_unlock(&lock);
    give_back(gone);
}
