/* Memory for objects that other threads may still look at after their end: it is used again, never given back. */
#ifndef EMU_POOL_H
#define EMU_POOL_H

#include <pthread.h>
#include <stddef.h>

typedef struct Pool {
    pthread_mutex_t lock;
    void *free;       /* linked through the object's own link */
    size_t bytes, link; /* of one object; offset of its link */
    size_t alignment;
    size_t live;
} Pool;

#define POOL(type, link_field) \
    {PTHREAD_MUTEX_INITIALIZER, NULL, sizeof(type), offsetof(type, link_field), _Alignof(type), 0}

/* NULL when memory ran out. *fresh tells whether the object is zeroed and new, or an old one with its old contents. */
void *pool_take(Pool *pool, int *fresh);
void pool_give(Pool *pool, void *object);
size_t pool_live(Pool *pool);

#endif
