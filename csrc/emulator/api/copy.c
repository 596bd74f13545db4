/* Chapter 11, copies and fills. A synchronous copy is done in the call and is not ordered against streams; an
 * asynchronous one is a task, except from or to pageable memory, where the call itself waits and copies. */
#include "api/api.h"
#include "api/capture.h"
#include "engine/memory.h"
#include "engine/transfer.h"

#define LARGEST_ASYNC_D2D (4ULL << 30)

static bool is_copy_kind(aclrtMemcpyKind kind) { return (unsigned)kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE; }

static Plane row_of(void *destination, const void *source, size_t bytes) {
    return (Plane){destination, source, bytes, bytes, bytes, 1};
}

/* The stream first, then the copies, all before the call returns. */
static aclError copy_in_call(const char *api, Stream *stream, const Plane *planes, size_t count) {
    TRY(capture_refuse_waiting(api));
    TRY(stream_synchronize(stream, api, 0));
    transfer_now(planes, count);
    return ACL_SUCCESS;
}

/* Whoever has no end to wait for takes a copy of pageable memory as a task, too. */
static bool goes_in_call(Stream *stream, const Plane *planes, size_t count) {
    if ((stream->flags & STREAM_FLAGS_UNWAITED) != 0 || capture_has_stream(stream)) { return false; }
    for (size_t i = 0; i < count; i++) {
        if (transfer_is_pageable(planes[i].destination) || transfer_is_pageable(planes[i].source)) { return true; }
    }
    return false;
}

/* ---- one row ---- */

static aclError check_copy(const char *api, void *destination, size_t room, const void *source, size_t bytes,
                           aclrtMemcpyKind kind) {
    if (destination == NULL) { return emu_invalid(api, "dst is NULL"); }
    if (source == NULL) { return emu_invalid(api, "src is NULL"); }
    if (!is_copy_kind(kind)) { return emu_invalid(api, "kind is none of those allowed here"); }
    if (bytes > room) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%zu bytes into room for %zu", bytes, room);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    TRY(check_copy(__func__, dst, destMax, src, count, kind));
    if (kind != ACL_MEMCPY_HOST_TO_HOST) {
        CURRENT_CONTEXT(context);
        (void)context;
    }
    TRY(capture_refuse_unsafe(__func__));
    Plane row = row_of(dst, src, count);
    transfer_now(&row, 1);
    return ACL_SUCCESS;
}

/* `stream`: of other contexts, too. */
static aclError copy_async(const char *api, void *destination, const void *source, size_t bytes, aclrtMemcpyKind kind,
                           Stream *stream) {
    Context *context;
    TRY(context_current(api, &context));
    if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE && bytes > LARGEST_ASYNC_D2D) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "more than 4 GiB in one device-to-device copy");
    }
    bool buffered = kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
    Plane row = row_of(destination, source, bytes);
    if (!buffered && goes_in_call(stream, &row, 1)) { return copy_in_call(api, stream, &row, 1); }
    return transfer_copy(stream, destination, source, bytes, buffered, api);
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    TRY(check_copy(__func__, dst, destMax, src, count, kind));
    if (kind == ACL_MEMCPY_HOST_TO_HOST) { return UNSUPPORTED("no asynchronous copy from host to host"); }
    ANY_STREAM(queue, stream);
    return copy_async(__func__, dst, src, count, kind, queue);
}

/* Pageable memory is refused instead of copied in the call. */
aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    TRY(check_copy(__func__, dst, destMax, src, count, kind));
    if (kind == ACL_MEMCPY_HOST_TO_HOST) { return UNSUPPORTED("no asynchronous copy from host to host"); }
    ANY_STREAM(queue, stream);
    if (transfer_is_pageable(dst) || transfer_is_pageable(src)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the host memory is not pinned"); }
    return copy_async(__func__, dst, src, count, kind, queue);
}

/* ---- rows with a pitch ---- */

static aclError check_plane(const char *api, const Plane *plane, aclrtMemcpyKind kind) {
    if (plane->destination == NULL) { return emu_invalid(api, "dst is NULL"); }
    if (plane->source == NULL) { return emu_invalid(api, "src is NULL"); }
    if (plane->width > plane->to_pitch || plane->width > plane->from_pitch) {
        return emu_invalid(api, "width is larger than a pitch");
    }
    bool known = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_HOST ||
                 kind == ACL_MEMCPY_DEVICE_TO_DEVICE || kind == ACL_MEMCPY_DEFAULT;
    return known ? ACL_SUCCESS : emu_invalid(api, "kind is none of those allowed here");
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
    ENTER();
    if (width == 0 || height == 0) { return ACL_SUCCESS; }
    Plane plane = {dst, src, dpitch, spitch, width, height};
    TRY(check_plane(__func__, &plane, kind));
    CURRENT_CONTEXT(context);
    (void)context;
    if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE) { NEED_FEATURE(SOC_MEMCPY_2D_D2D); }
    TRY(capture_refuse_unsafe(__func__));
    transfer_now(&plane, 1);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
    ENTER();
    if (width == 0 || height == 0) { return ACL_SUCCESS; }
    Plane plane = {dst, src, dpitch, spitch, width, height};
    TRY(check_plane(__func__, &plane, kind));
    if (stream == NULL && !soc_has(SOC_CONTROL_SQ)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "stream is NULL"); }
    OWN_STREAM(queue, stream);
    if (goes_in_call(queue, &plane, 1)) { return copy_in_call(__func__, queue, &plane, 1); }
    return transfer_planes(queue, &plane, 1, __func__);
}

/* ---- addresses and descriptions on the device ---- */

aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset, const void **src, size_t count,
                                    size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    REQUIRE(dst);
    REQUIRE(src);
    if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "kind is not ACL_MEMCPY_INNER_DEVICE_TO_DEVICE");
    }
    if (count > destMax) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes into room for %zu", count, destMax); }
    OWN_STREAM(queue, stream);
    NEED_FEATURE(SOC_MEMCPY_OFFSET);
    IndirectCopyTask copy = {(void *const *)dst, src, dstDataOffset, srcDataOffset, count};
    return transfer_indirect(queue, &copy, __func__);
}

enum { DESCRIPTION_ALIGNMENT = 64 };
_Static_assert(sizeof(CopyDescription) == DESCRIPTION_ALIGNMENT, "a description fills one line");

static aclError check_described_kind(const char *api, aclrtMemcpyKind kind) {
    if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE && soc_has(SOC_MEMCPY_DESC)) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "no copies of this kind by description");
}

static aclError check_description(const char *api, const void *description) {
    bool good = memory_kind(description) == MEMORY_DEVICE && (uintptr_t)description % DESCRIPTION_ALIGNMENT == 0;
    return good ? ACL_SUCCESS
                : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "desc is no device memory aligned to 64 bytes");
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize) {
    ENTER();
    REQUIRE(descSize);
    TRY(check_described_kind(__func__, kind));
    *descSize = sizeof(CopyDescription);
    return ACL_SUCCESS;
}

aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count, void *config) {
    ENTER();
    REQUIRE(desc);
    REQUIRE(srcAddr);
    REQUIRE(dstAddr);
    if (count == 0) { return INVALID("count is 0"); }
    if (config != NULL) { return INVALID("config is reserved"); }
    TRY(check_described_kind(__func__, kind));
    CURRENT_CONTEXT(context);
    (void)context;
    TRY(check_description(__func__, desc));
    Allocation source, destination;
    bool on_device = memory_find(srcAddr, &source) && memory_find(dstAddr, &destination) &&
                     source.kind == MEMORY_DEVICE && destination.kind == MEMORY_DEVICE;
    if (!on_device || source.device != destination.device || count > LARGEST_ASYNC_D2D) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "no copy of up to 4 GiB within one device");
    }
    CopyDescription description = {.destination = dstAddr, .source = srcAddr, .bytes = count};
    Plane row = row_of(desc, &description, sizeof(description));
    transfer_now(&row, 1);
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream) {
    ENTER();
    REQUIRE(desc);
    REQUIRE(stream);
    ANY_STREAM(found, stream);
    TRY(check_described_kind(__func__, kind));
    TRY(check_description(__func__, desc));
    OWN_STREAM(queue, stream);
    (void)found;
    return transfer_described(queue, desc, __func__);
}

/* ---- fills ---- */

/* The real runtime lets a too large count through here (0 is what was observed); it must not write past the room. */
aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    REQUIRE(devPtr);
    CURRENT_CONTEXT(context);
    (void)context;
    TRY(capture_refuse_unsafe(__func__));
    transfer_fill_now(devPtr, (uint32_t)value, count < maxCount ? count : maxCount, 1);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    REQUIRE(devPtr);
    if (count > maxCount) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes into room for %zu", count, maxCount); }
    OWN_STREAM(queue, stream);
    return transfer_fill(queue, devPtr, (uint32_t)value, count, 1, __func__);
}

static aclError check_words(const char *api, void *address, size_t room, size_t count) {
    if (address == NULL) { return emu_invalid(api, "ptr is NULL"); }
    if ((uintptr_t)address % sizeof(uint32_t) != 0) { return emu_invalid(api, "ptr is not 4-byte aligned"); }
    return count > room / sizeof(uint32_t) ? emu_invalid(api, "more words than room") : ACL_SUCCESS;
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N) {
    ENTER();
    if (N == 0) { return ACL_SUCCESS; }
    TRY(check_words(__func__, ptr, memSize, N));
    CURRENT_CONTEXT(context);
    (void)context;
    TRY(capture_refuse_unsafe(__func__));
    transfer_fill_now(ptr, value, N, sizeof(uint32_t));
    return ACL_SUCCESS;
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
    ENTER();
    if (N == 0) { return ACL_SUCCESS; }
    TRY(check_words(__func__, ptr, memSize, N));
    OWN_STREAM(queue, stream);
    return transfer_fill(queue, ptr, value, N, sizeof(uint32_t), __func__);
}
