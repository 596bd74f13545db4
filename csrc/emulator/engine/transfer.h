/* Copies and fills, in the call or as tasks. A task whose memory was freed meanwhile fails (507013) instead of touching
 * what is there now. Copies may overlap. */
#ifndef EMU_TRANSFER_H
#define EMU_TRANSFER_H

#include "acl/acl.h"
#include "engine/stream.h"

/* Neither the runtime's nor reserved for it. */
bool transfer_is_pageable(const void *address);

/* `height` rows of `width` bytes. A plain copy is one row. */
typedef struct Plane {
    void *destination;
    const void *source;
    size_t to_pitch, from_pitch, width, height;
} Plane;

void transfer_now(const Plane *planes, size_t count);
aclError transfer_planes(Stream *stream, const Plane *planes, size_t count, const char *api);

/* With `take_source_now` the source may change as soon as this returns; else it is read when the task runs. */
aclError transfer_copy(Stream *stream, void *destination, const void *source, size_t bytes, bool take_source_now,
                       const char *api);

/* width 1: a byte value; width 4: a 32-bit value. */
void transfer_fill_now(void *destination, uint32_t value, size_t count, uint32_t width);
aclError transfer_fill(Stream *stream, void *destination, uint32_t value, size_t count, uint32_t width, const char *api);

/* The addresses are in device memory and read when the task runs. */
aclError transfer_indirect(Stream *stream, const IndirectCopyTask *copy, const char *api);

/* What is copied is written in device memory, too. */
typedef struct CopyDescription {
    void *destination;
    const void *source;
    uint64_t bytes;
    uint64_t reserved[5];
} CopyDescription;

aclError transfer_described(Stream *stream, const CopyDescription *description, const char *api);

#endif
