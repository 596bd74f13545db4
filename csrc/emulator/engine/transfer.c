/* Copies and fills: see transfer.h. */
#include "engine/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "engine/error.h"
#include "engine/memory.h"
#include "engine/strict.h"
#include "engine/virtual.h"

/* What a copy looks at before it runs. */
enum {
    CHECK_DESTINATION = 1, /* it was memory of the runtime's when the copy was submitted: it must still be */
    CHECK_SOURCE = 2,
    CHECK_SUM = 4, /* strict mode */
};

/* ---- planes ---- */

static size_t extent(size_t pitch, const Plane *plane) { return pitch * (plane->height - 1) + plane->width; }

static void copy_plane(const Plane *plane) {
    char *to = plane->destination;
    const char *from = plane->source;
    if (plane->height == 1 || (plane->to_pitch == plane->width && plane->from_pitch == plane->width)) {
        memmove(to, from, plane->width * plane->height);
        return;
    }
    for (size_t row = 0; row < plane->height; row++, to += plane->to_pitch, from += plane->from_pitch) {
        memmove(to, from, plane->width);
    }
}

void transfer_now(const Plane *planes, size_t count) {
    strict_enter();
    for (size_t i = 0; i < count; i++) { copy_plane(&planes[i]); }
    strict_leave();
}

bool transfer_is_pageable(const void *address) {
    return memory_kind(address) == MEMORY_PAGEABLE && !virtual_is_reserved(address);
}

static uint32_t checks_for(const void *destination, const void *source) {
    uint32_t checks = transfer_is_pageable(destination) ? 0 : CHECK_DESTINATION;
    if (!transfer_is_pageable(source)) { checks |= CHECK_SOURCE; }
    MemoryKind kind = memory_kind(source);
    bool is_pinned = kind == MEMORY_HOST || kind == MEMORY_REGISTERED;
    return strict_active && is_pinned ? checks | CHECK_SUM : checks;
}

static bool is_usable(uint32_t checks, const void *destination, size_t to_bytes, const void *source, size_t from_bytes) {
    return ((checks & CHECK_DESTINATION) == 0 || memory_is_usable(destination, to_bytes)) &&
           ((checks & CHECK_SOURCE) == 0 || memory_is_usable(source, from_bytes));
}

typedef struct CheckedPlane {
    Plane is;
    uint32_t checks;
    uint64_t sum; /* of the whole extent of the source */
} CheckedPlane;

static bool is_plane_usable(const CheckedPlane *plane) {
    const Plane *is = &plane->is;
    return is_usable(plane->checks, is->destination, extent(is->to_pitch, is), is->source, extent(is->from_pitch, is));
}

static int32_t run_planes(Stream *stream, Task *task) {
    (void)stream;
    const PlanesTask *all = &task->as.planes;
    for (size_t i = 0; i < all->count; i++) {
        const CheckedPlane *plane = &all->planes[i];
        if (!is_plane_usable(plane)) { return ACL_ERROR_RT_SYS_DMA; }
        if ((plane->checks & CHECK_SUM) != 0) {
            strict_check_sum(plane->is.source, extent(plane->is.from_pitch, &plane->is), plane->sum);
        }
        copy_plane(&plane->is);
    }
    return 0;
}

static void release_planes(Task *task) { free(task->as.planes.planes); }

static const TaskOps planes_ops = {.name = "copies", .run = run_planes, .release = release_planes};

static CheckedPlane checked(const Plane *plane, bool is_recorded) {
    CheckedPlane made = {.is = *plane, .checks = checks_for(plane->destination, plane->source)};
    if (is_recorded) { made.checks &= ~(uint32_t)CHECK_SUM; } /* each execution may find something else */
    if ((made.checks & CHECK_SUM) != 0) { made.sum = strict_sum(plane->source, extent(plane->from_pitch, plane)); }
    return made;
}

aclError transfer_planes(Stream *stream, const Plane *planes, size_t count, const char *api) {
    CheckedPlane *all = calloc(count, sizeof(*all));
    if (all == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu copies", count); }
    Task *task;
    aclError code = stream_begin(stream, api, &planes_ops, &task);
    if (code != ACL_SUCCESS) {
        free(all);
        return code;
    }
    for (size_t i = 0; i < count; i++) { all[i] = checked(&planes[i], stream->recording != NULL); }
    task->as.planes = (PlanesTask){all, count};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- plain copies ---- */

static int32_t run_copy(Stream *stream, Task *task) {
    (void)stream;
    const CopyTask *copy = &task->as.copy;
    if (!is_usable(copy->checks, copy->destination, copy->bytes, copy->source, copy->bytes)) { return ACL_ERROR_RT_SYS_DMA; }
    if ((copy->checks & CHECK_SUM) != 0) { strict_check_sum(copy->source, copy->bytes, copy->sum); }
    memmove(copy->destination, copy->source, copy->bytes);
    return 0;
}

static void release_staged(Task *task) { free((void *)task->as.copy.source); }

static const TaskOps copy_ops = {.name = "copy", .run = run_copy};
static const TaskOps staged_copy_ops = {.name = "copy", .run = run_copy, .release = release_staged};

static void *stage(const void *source, size_t bytes) {
    void *staged = malloc(bytes);
    if (staged != NULL) {
        strict_enter();
        memcpy(staged, source, bytes);
        strict_leave();
    }
    return staged;
}

static aclError copy_staged(Stream *stream, void *destination, const void *source, size_t bytes, const char *api) {
    void *staged = stage(source, bytes);
    if (staged == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory to stage %zu bytes", bytes); }
    Task *task;
    aclError code = stream_begin(stream, api, &staged_copy_ops, &task);
    if (code != ACL_SUCCESS) {
        free(staged);
        return code;
    }
    task->as.copy = (CopyTask){destination, staged, bytes, 0, checks_for(destination, staged)};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError transfer_copy(Stream *stream, void *destination, const void *source, size_t bytes, bool take_source_now,
                       const char *api) {
    if (take_source_now) { return copy_staged(stream, destination, source, bytes, api); }
    Task *task;
    TRY(stream_begin(stream, api, &copy_ops, &task));
    CopyTask copy = {destination, source, bytes, 0, checks_for(destination, source)};
    if (stream->recording != NULL) { copy.checks &= ~(uint32_t)CHECK_SUM; }
    if ((copy.checks & CHECK_SUM) != 0) { copy.sum = strict_sum(source, bytes); }
    task->as.copy = copy;
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- copies whose addresses are on the device ---- */

static int32_t copy_on_device(void *destination, const void *source, size_t bytes) {
    bool usable = memory_is_usable(destination, bytes) && memory_is_usable(source, bytes);
    if (!usable) { return ACL_ERROR_RT_SYS_DMA; }
    memmove(destination, source, bytes);
    return 0;
}

static int32_t run_indirect(Stream *stream, Task *task) {
    (void)stream;
    const IndirectCopyTask *copy = &task->as.indirect_copy;
    bool readable = memory_is_usable(copy->destination, sizeof(void *)) &&
                    memory_is_usable(copy->source, sizeof(void *));
    if (!readable) { return ACL_ERROR_RT_SYS_DMA; }
    return copy_on_device((char *)*copy->destination + copy->to_offset, (const char *)*copy->source + copy->from_offset,
                          copy->bytes);
}

static const TaskOps indirect_copy_ops = {.name = "copy", .run = run_indirect};

aclError transfer_indirect(Stream *stream, const IndirectCopyTask *copy, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &indirect_copy_ops, &task));
    task->as.indirect_copy = *copy;
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

static int32_t run_described(Stream *stream, Task *task) {
    (void)stream;
    const CopyDescription *copy = task->as.copy.source;
    if (!memory_is_usable(copy, sizeof(*copy))) { return ACL_ERROR_RT_SYS_DMA; }
    return copy_on_device(copy->destination, copy->source, copy->bytes);
}

static const TaskOps described_copy_ops = {.name = "copy", .run = run_described};

aclError transfer_described(Stream *stream, const CopyDescription *description, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &described_copy_ops, &task));
    task->as.copy = (CopyTask){.source = description};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- fills ---- */

static void fill(void *destination, uint32_t value, size_t count, uint32_t width) {
    if (width == 1) {
        memset(destination, (int)(value & 0xFFU), count);
        return;
    }
    uint32_t *words = destination;
    for (size_t i = 0; i < count; i++) { words[i] = value; }
}

void transfer_fill_now(void *destination, uint32_t value, size_t count, uint32_t width) {
    strict_enter();
    fill(destination, value, count, width);
    strict_leave();
}

static int32_t run_fill(Stream *stream, Task *task) {
    (void)stream;
    const FillTask *wanted = &task->as.fill;
    bool usable = !wanted->check || memory_is_usable(wanted->destination, wanted->count * wanted->width);
    if (!usable) { return ACL_ERROR_RT_SYS_DMA; }
    fill(wanted->destination, wanted->value, wanted->count, wanted->width);
    return 0;
}

static const TaskOps fill_ops = {.name = "fill", .run = run_fill};

aclError transfer_fill(Stream *stream, void *destination, uint32_t value, size_t count, uint32_t width, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &fill_ops, &task));
    task->as.fill = (FillTask){destination, count, value, width, !transfer_is_pageable(destination)};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
