/* A spot where host threads wait for something that device workers change, and two hints to the processor.
 * The changer writes its news, then calls spot_notify: it costs one load while nobody waits. */
#ifndef EMU_SPOT_H
#define EMU_SPOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/clock.h"

typedef struct Spot {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    atomic_int waiters;
} Spot;

typedef bool (*SpotCondition)(void *subject);

void spot_init(Spot *spot);
void spot_destroy(Spot *spot);

/* Sleeps until condition(subject) holds or the clock passes `deadline` (FOREVER: never). True when it holds.
 * The condition must read with sequentially consistent order what spot_notify's caller wrote with it. */
bool spot_wait(Spot *spot, SpotCondition condition, void *subject, uint64_t deadline);
void spot_wake(Spot *spot);

static inline void spot_notify(Spot *spot) {
    if (atomic_load(&spot->waiters) != 0) { spot_wake(spot); }
}

static inline void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void prefetch_for_writing(void *address) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(char *)address)); /* gcc emits it only for newer -march */
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
