/* Chapter 11, copies and fills. A synchronous copy is done in the call and is not ordered against streams; an
 * asynchronous one is a task, except from or to pageable memory, where the call itself waits and copies. */
#include <string.h>

#include "api/api.h"
#include "engine/memory.h"
#include "engine/work.h"

#define LARGEST_ASYNC_D2D (4ULL << 30)

static bool is_copy_kind(aclrtMemcpyKind kind) { return (unsigned)kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE; }

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
    memmove(dst, src, count);
    return ACL_SUCCESS;
}

static bool is_pageable(const void *address) { return memory_kind(address) == MEMORY_PAGEABLE; }

/* The stream first, then the copy, both before the call returns. */
static aclError copy_in_call(const char *api, Stream *stream, void *destination, const void *source, size_t bytes) {
    TRY(stream_synchronize(stream, api, 0));
    memmove(destination, source, bytes);
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    TRY(check_copy(__func__, dst, destMax, src, count, kind));
    if (kind == ACL_MEMCPY_HOST_TO_HOST) { return UNSUPPORTED("no asynchronous copy from host to host"); }
    ANY_STREAM(queue, stream); /* streams of other contexts too */
    CURRENT_CONTEXT(context);
    (void)context;
    if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE && count > LARGEST_ASYNC_D2D) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "more than 4 GiB in one device-to-device copy");
    }
    bool buffered = kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
    bool waited_for = (queue->flags & STREAM_FLAGS_UNWAITED) == 0;
    if (!buffered && waited_for && (is_pageable(dst) || is_pageable(src))) {
        return copy_in_call(__func__, queue, dst, src, count);
    }
    return work_copy(queue, dst, src, count, buffered, __func__);
}

/* The real runtime lets a too large count through here (0 is what was observed); it must not write past the room. */
aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    REQUIRE(devPtr);
    CURRENT_CONTEXT(context);
    (void)context;
    fill_memory(devPtr, (uint32_t)value, count < maxCount ? count : maxCount, 1);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    ENTER();
    if (count == 0) { return ACL_SUCCESS; }
    REQUIRE(devPtr);
    if (count > maxCount) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu bytes into room for %zu", count, maxCount); }
    OWN_STREAM(queue, stream);
    return work_fill(queue, devPtr, (uint32_t)value, count, 1, __func__);
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
    fill_memory(ptr, value, N, sizeof(uint32_t));
    return ACL_SUCCESS;
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
    ENTER();
    if (N == 0) { return ACL_SUCCESS; }
    TRY(check_words(__func__, ptr, memSize, N));
    OWN_STREAM(queue, stream);
    return work_fill(queue, ptr, value, N, sizeof(uint32_t), __func__);
}
