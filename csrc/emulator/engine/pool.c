/* Type-stable memory: see pool.h. */
#include "engine/pool.h"

#include <stdlib.h>
#include <string.h>

static void **link_of(Pool *pool, void *object) { return (void **)((char *)object + pool->link); }

void *pool_take(Pool *pool, int *fresh) {
    pthread_mutex_lock(&pool->lock);
    void *object = pool->free;
    *fresh = object == NULL;
    if (object != NULL) {
        pool->free = *link_of(pool, object);
    } else {
        size_t rounded = (pool->bytes + pool->alignment - 1) / pool->alignment * pool->alignment;
        object = aligned_alloc(pool->alignment, rounded);
        if (object != NULL) { memset(object, 0, rounded); }
    }
    if (object != NULL) { pool->live++; }
    pthread_mutex_unlock(&pool->lock);
    return object;
}

void pool_give(Pool *pool, void *object) {
    pthread_mutex_lock(&pool->lock);
    *link_of(pool, object) = pool->free;
    pool->free = object;
    pool->live--;
    pthread_mutex_unlock(&pool->lock);
}

size_t pool_live(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    size_t live = pool->live;
    pthread_mutex_unlock(&pool->lock);
    return live;
}
