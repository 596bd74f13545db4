/* One bit for each number: see ids.h. */
#include "engine/ids.h"

int32_t ids_take(Ids *ids, int32_t device, uint32_t limit) {
    uint64_t *words = ids->taken[device];
    int32_t id = -1;
    pthread_mutex_lock(&ids->lock);
    for (uint32_t word = 0; id < 0 && word * IDS_WORD < limit; word++) {
        if (words[word] == UINT64_MAX) { continue; }
        uint32_t bit = (uint32_t)__builtin_ctzll(~words[word]);
        if (word * IDS_WORD + bit >= limit) { break; }
        words[word] |= UINT64_C(1) << bit;
        id = (int32_t)(word * IDS_WORD + bit);
    }
    pthread_mutex_unlock(&ids->lock);
    return id;
}

void ids_give(Ids *ids, int32_t device, int32_t id) {
    pthread_mutex_lock(&ids->lock);
    ids->taken[device][id / IDS_WORD] &= ~(UINT64_C(1) << (id % IDS_WORD));
    pthread_mutex_unlock(&ids->lock);
}
