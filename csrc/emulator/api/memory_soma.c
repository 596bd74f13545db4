/* Chapter 11-10, memory in the order of streams. */
#include <string.h>

#include "api/api.h"
#include "api/capture.h"
#include "engine/mempool.h"

#define FIND_POOL(pool, handle) \
    MemPool *pool;              \
    TRY(mempool_find(__func__, (handle), &pool))

aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps) {
    ENTER();
    static const unsigned char zero[sizeof(poolProps->reserved)];
    REQUIRE(memPool);
    REQUIRE(poolProps);
    if (poolProps->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED) { return INVALID("allocType is not PINNED"); }
    if (poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) { return INVALID("location is no device"); }
    if (memcmp(poolProps->reserved, zero, sizeof(zero)) != 0) { return INVALID("reserved bytes are not 0"); }
    NEED_FEATURE(SOC_MEM_POOL);
    CURRENT_CONTEXT(context);
    (void)context;
    int32_t device = (int32_t)poolProps->location.id;
    if (device_get(device) == NULL) { return FAIL(ACL_ERROR_RT_INVALID_DEVICEID, "device %d does not exist", device); }
    return mempool_create(device, poolProps->maxSize, memPool, __func__);
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
    ENTER();
    REQUIRE(memPool);
    NEED_FEATURE(SOC_MEM_POOL);
    FIND_POOL(pool, memPool);
    mempool_destroy(pool);
    return ACL_SUCCESS;
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
    ENTER();
    REQUIRE(memPool);
    REQUIRE(value);
    NEED_FEATURE(SOC_MEM_POOL);
    FIND_POOL(pool, memPool);
    return mempool_set(pool, attr, *(const uint64_t *)value, __func__);
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
    ENTER();
    REQUIRE(memPool);
    REQUIRE(value);
    NEED_FEATURE(SOC_MEM_POOL);
    FIND_POOL(pool, memPool);
    return mempool_get(pool, attr, value, __func__);
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
    ENTER();
    REQUIRE(ptr);
    REQUIRE(memPool);
    REQUIRE(stream);
    if (size == 0) { return ACL_SUCCESS; }
    ANY_STREAM(found, stream);
    (void)found;
    NEED_FEATURE(SOC_MEM_POOL);
    OWN_STREAM(queue, stream);
    FIND_POOL(pool, memPool);
    return mempool_allocate(pool, size, queue, ptr, __func__);
}

/* The default stream has to be named here. */
aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream) {
    ENTER();
    REQUIRE(ptr);
    NEED_FEATURE(SOC_MEM_POOL);
    if (stream == NULL) { return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "stream is NULL"); }
    OWN_STREAM(queue, stream);
    if (capture_has_stream(queue) || queue->program != NULL) { return UNSUPPORTED("a recorded task cannot free: it runs again"); }
    return mempool_free(ptr, queue, __func__);
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
    ENTER();
    REQUIRE(memPool);
    NEED_FEATURE(SOC_MEM_POOL);
    FIND_POOL(pool, memPool);
    mempool_trim(pool, minBytesToKeep);
    return ACL_SUCCESS;
}
