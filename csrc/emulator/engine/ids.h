/* Small numbers, each given once at a time, per device: the lowest free one first. */
#ifndef EMU_IDS_H
#define EMU_IDS_H

#include <pthread.h>
#include <stdint.h>

enum { IDS_DEVICES = 64, IDS_MAX = 65536, IDS_WORD = 64 };

typedef struct Ids {
    pthread_mutex_t lock;
    uint64_t taken[IDS_DEVICES][IDS_MAX / IDS_WORD];
} Ids;

#define IDS {.lock = PTHREAD_MUTEX_INITIALIZER}

/* -1 when all ids below `limit` are in use. */
int32_t ids_take(Ids *ids, int32_t device, uint32_t limit);
void ids_give(Ids *ids, int32_t device, int32_t id);

#endif
