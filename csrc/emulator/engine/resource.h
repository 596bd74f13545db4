/* Core limits: how many cube and vector cores the work of a stream, or of all streams of a device, shall use.
 * Whoever compiles and launches kernels asks for them to choose the number of blocks; the runtime itself runs what it
 * is given. A limit is kept as limit + 1, so that 0 means none. */
#ifndef EMU_RESOURCE_H
#define EMU_RESOURCE_H

#include "engine/stream.h"

/* What the hardware has. An AI core of the older products holds both units. */
uint32_t resource_cores(aclrtDevResLimitType type);

uint32_t resource_of_device(const Device *device, aclrtDevResLimitType type);
uint32_t resource_of_stream(const Stream *stream, aclrtDevResLimitType type);

static inline void resource_limit(_Atomic(uint32_t) *limits, aclrtDevResLimitType type, uint32_t value) {
    atomic_store(&limits[type], value + 1);
}

static inline void resource_reset(_Atomic(uint32_t) *limits) {
    for (int type = 0; type < CORE_KINDS; type++) { atomic_store(&limits[type], 0); }
}

#endif
