/* Chapter 11, many copies in one call. */
#include "api/api.h"
#include "api/capture.h"
#include "engine/memory.h"
#include "engine/transfer.h"

#include <stdlib.h>

typedef struct Batch {
    void **destinations;
    size_t *rooms;
    void **sources;
    size_t *sizes, count;
    aclrtMemcpyBatchAttr *attributes;
    size_t *indexes, attribute_count;
    size_t *fail_index; /* or NULL */
} Batch;

static aclError fail_at(const char *api, const Batch *batch, size_t index, aclError code, const char *what) {
    if (batch->fail_index != NULL) { *batch->fail_index = index; }
    return code == ACL_ERROR_INVALID_PARAM ? emu_invalid(api, what) : emu_fail(code, api, "copy %zu: %s", index, what);
}

static bool is_empty(const Batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->sizes[i] != 0) { return false; }
    }
    return true;
}

static bool has_reserved_bytes(const aclrtMemcpyBatchAttr *attribute) {
    for (size_t i = 0; i < sizeof(attribute->rsv); i++) {
        if (attribute->rsv[i] != 0) { return true; }
    }
    return false;
}

/* What the acl layer looks at. */
static aclError check_sizes(const char *api, const Batch *batch) {
    for (size_t i = 0; batch->rooms != NULL && i < batch->count; i++) {
        if (batch->rooms[i] < batch->sizes[i]) {
            return fail_at(api, batch, i, ACL_ERROR_INVALID_PARAM, "more bytes than room");
        }
    }
    for (size_t i = 0; batch->attributes != NULL && i < batch->attribute_count; i++) {
        if (has_reserved_bytes(&batch->attributes[i])) { return emu_invalid(api, "reserved bytes of attrs are not 0"); }
    }
    return ACL_SUCCESS;
}

static bool are_indexes_good(const Batch *batch) {
    if (batch->attribute_count == 0 || batch->attribute_count > batch->count || batch->indexes[0] != 0) { return false; }
    for (size_t i = 1; i < batch->attribute_count; i++) {
        if (batch->indexes[i] <= batch->indexes[i - 1] || batch->indexes[i] >= batch->count) { return false; }
    }
    return true;
}

static aclError check_arrays(const char *api, const Batch *batch) {
    bool complete = batch->destinations != NULL && batch->rooms != NULL && batch->sources != NULL &&
                    batch->attributes != NULL && batch->indexes != NULL;
    if (complete && are_indexes_good(batch)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "arrays or attribute indexes do not fit");
}

static bool is_at(const void *address, const aclrtMemLocation *declared) {
    Allocation is;
    bool on_device = memory_find(address, &is) && is.kind == MEMORY_DEVICE;
    if (declared->type != ACL_MEM_LOCATION_TYPE_DEVICE) { return declared->type == ACL_MEM_LOCATION_TYPE_HOST && !on_device; }
    return on_device && (uint32_t)is.device == declared->id;
}

static const char *fault_of(const Batch *batch, size_t index, const aclrtMemcpyBatchAttr *declared) {
    if (batch->destinations[index] == NULL || batch->sources[index] == NULL) { return "NULL"; }
    if (declared->dstLoc.type == declared->srcLoc.type) { return "source and destination are on the same side"; }
    bool there = is_at(batch->destinations[index], &declared->dstLoc) && is_at(batch->sources[index], &declared->srcLoc);
    return there ? NULL : "an address is not where it is said to be";
}

static aclError check_places(const char *api, const Batch *batch) {
    size_t attribute = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (attribute + 1 < batch->attribute_count && batch->indexes[attribute + 1] == i) { attribute++; }
        const char *fault = fault_of(batch, i, &batch->attributes[attribute]);
        if (fault != NULL) { return fail_at(api, batch, i, ACL_ERROR_RT_PARAM_INVALID, fault); }
    }
    return ACL_SUCCESS;
}

static bool has_pageable(const Batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        bool pinned = memory_kind(batch->destinations[i]) != MEMORY_PAGEABLE &&
                      memory_kind(batch->sources[i]) != MEMORY_PAGEABLE;
        if (batch->sizes[i] != 0 && !pinned) { return true; }
    }
    return false;
}

static size_t fill_planes(const Batch *batch, Plane *planes) {
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        size_t bytes = batch->sizes[i];
        if (bytes != 0) { planes[count++] = (Plane){batch->destinations[i], batch->sources[i], bytes, bytes, bytes, 1}; }
    }
    return count;
}

/* `stream` NULL: in the call. */
static aclError run(const char *api, const Batch *batch, Stream *stream) {
    Plane *planes = malloc(batch->count * sizeof(*planes));
    if (planes == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu copies", batch->count); }
    size_t count = fill_planes(batch, planes);
    aclError code = ACL_SUCCESS;
    if (stream != NULL && (capture_has_stream(stream) || !has_pageable(batch))) {
        code = transfer_planes(stream, planes, count, api);
    } else {
        code = stream == NULL ? capture_refuse_unsafe(api) : capture_refuse_waiting(api);
        if (code == ACL_SUCCESS && stream != NULL) { code = stream_synchronize(stream, api, 0); }
        if (code == ACL_SUCCESS) { transfer_now(planes, count); }
    }
    free(planes);
    return code;
}

static aclError copy_batch(const char *api, const Batch *batch, bool async, aclrtStream handle) {
    if (batch->sizes == NULL) { return emu_invalid(api, "sizes is NULL"); }
    if (batch->count == 0) { return emu_invalid(api, "numBatches is 0"); }
    if (batch->fail_index != NULL) { *batch->fail_index = SIZE_MAX; }
    if (is_empty(batch)) { return ACL_SUCCESS; }
    TRY(check_sizes(api, batch));
    Stream *stream = NULL;
    if (async) { TRY(stream_find(api, handle, &stream)); }
    if (!soc_has(SOC_BATCH_MEMCPY)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s has no batched copies", soc_product()->title);
    }
    TRY(check_arrays(api, batch));
    Context *context;
    TRY(context_current(api, &context));
    if (async) { TRY(stream_find_own(api, handle, &stream)); }
    TRY(check_places(api, batch));
    return run(api, batch, stream);
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex) {
    ENTER();
    REQUIRE(failIndex);
    Batch batch = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex};
    return copy_batch(__func__, &batch, false, NULL);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs) {
    ENTER();
    Batch batch = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, NULL};
    return copy_batch(__func__, &batch, false, NULL);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                               aclrtStream stream) {
    ENTER();
    REQUIRE(failIndex);
    Batch batch = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex};
    return copy_batch(__func__, &batch, true, stream);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, aclrtStream stream) {
    ENTER();
    Batch batch = {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, NULL};
    return copy_batch(__func__, &batch, true, stream);
}
