/* Waiting of host threads. The waiter announces itself before it looks a last time, the changer looks for waiters
 * after it wrote: with sequentially consistent order on both sides no wake-up is lost. */
#include "engine/spot.h"

void spot_init(Spot *spot) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&spot->mutex, NULL);
    pthread_cond_init(&spot->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_init(&spot->waiters, 0);
}

void spot_destroy(Spot *spot) {
    pthread_cond_destroy(&spot->changed);
    pthread_mutex_destroy(&spot->mutex);
}

bool spot_wait(Spot *spot, SpotCondition condition, void *subject, uint64_t deadline) {
    struct timespec until = clock_timespec(deadline);
    bool holds;
    pthread_mutex_lock(&spot->mutex);
    atomic_fetch_add(&spot->waiters, 1);
    while (!(holds = condition(subject))) {
        int late = deadline == FOREVER ? pthread_cond_wait(&spot->changed, &spot->mutex)
                                       : pthread_cond_timedwait(&spot->changed, &spot->mutex, &until);
        if (late != 0) {
            holds = condition(subject);
            break;
        }
    }
    atomic_fetch_sub(&spot->waiters, 1);
    pthread_mutex_unlock(&spot->mutex);
    return holds;
}

void spot_wake(Spot *spot) {
    pthread_mutex_lock(&spot->mutex);
    pthread_cond_broadcast(&spot->changed);
    pthread_mutex_unlock(&spot->mutex);
}
