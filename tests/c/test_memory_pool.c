/* Stream-ordered pools: memory comes back in the order of a stream, never early to another one, and goes with its pool. */
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { BYTES = 1 << 20, BLOCKS = 200 };

static aclrtStream one, other;

static void hold(aclrtStream stream, int on) {
    int32_t id;
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuHoldStream(id, on));
}

static aclrtMemPool new_pool(size_t max_bytes) {
    aclrtMemPoolProps wanted = {.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}, .maxSize = max_bytes};
    aclrtMemPool pool;
    EXPECT(0, aclrtMemPoolCreate(&pool, &wanted));
    return pool;
}

static uint64_t ask(aclrtMemPool pool, aclrtMemPoolAttr attribute) {
    uint64_t value;
    EXPECT(0, aclrtMemPoolGetAttr(pool, attribute, &value));
    return value;
}

static void set(aclrtMemPool pool, aclrtMemPoolAttr attribute, uint64_t value) {
    EXPECT(0, aclrtMemPoolSetAttr(pool, attribute, &value));
}

static void *take(aclrtMemPool pool, size_t bytes, aclrtStream stream) {
    void *address = NULL;
    EXPECT(0, aclrtMemPoolMallocAsync(&address, bytes, pool, stream));
    CHECK(address != NULL);
    return address;
}

/* The stream that freed is given the same memory while the freeing is still to come; another one is not. */
static void reuse_follows_the_stream(void) {
    aclrtMemPool pool = new_pool(0);
    set(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
    void *first = take(pool, BYTES, one);
    hold(one, 1);
    EXPECT(0, aclrtMemPoolFreeAsync(first, one));
    void *elsewhere = take(pool, BYTES, other);
    CHECK(elsewhere != first);
    void *again = take(pool, BYTES, one);
    CHECK(again == first);
    EXPECT(0, aclrtMemPoolFreeAsync(again, one));
    hold(one, 0);
    EXPECT(0, aclrtSynchronizeStream(one));
    CHECK(take(pool, BYTES, other) == first); /* reached: free for all */
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 2 * BYTES);
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 2 * BYTES);
    EXPECT(0, aclrtMemPoolFreeAsync(first, other));
    set(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, 0);
    EXPECT(0, aclrtSynchronizeStream(other));
    void *third = take(pool, BYTES, one);
    CHECK(third != first); /* not looked at any more */
    EXPECT(0, aclrtMemPoolFreeAsync(third, one));
    EXPECT(0, aclrtMemPoolFreeAsync(elsewhere, other));
    EXPECT(0, aclrtSynchronizeDevice());
    EXPECT(0, aclrtMemPoolDestroy(pool));
}

static void what_is_written_stays_in_order(void) {
    aclrtMemPool pool = new_pool(0);
    unsigned char seen = 0;
    unsigned char *result;
    EXPECT(0, aclrtMalloc((void **)&result, BLOCKS, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < BLOCKS; i++) {
        void *block = take(pool, 4096, one);
        EXPECT(0, aclrtMemsetAsync(block, 4096, i, 4096, one));
        EXPECT(0, aclrtMemcpyAsync(result + i, 1, block, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, one));
        EXPECT(0, aclrtMemPoolFreeAsync(block, one));
    }
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) == 4096); /* one block did for all */
    EXPECT(0, aclrtSynchronizeStream(one));
    for (int i = 0; i < BLOCKS; i++) {
        EXPECT(0, aclrtMemcpy(&seen, 1, result + i, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(seen == (unsigned char)i);
    }
    EXPECT(0, aclrtFree(result));
    EXPECT(0, aclrtMemPoolDestroy(pool));
}

static void the_threshold_and_trimming(void) {
    aclrtMemPool pool = new_pool(0);
    void *blocks[4];
    for (int i = 0; i < 4; i++) { blocks[i] = take(pool, BYTES, one); }
    for (int i = 0; i < 4; i++) { EXPECT(0, aclrtMemPoolFreeAsync(blocks[i], one)); }
    set(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 3 * BYTES);
    EXPECT(0, aclrtSynchronizeStream(one));
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 3 * BYTES);
    EXPECT(0, aclrtMemPoolTrimTo(pool, BYTES + 1)); /* before the threshold */
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == BYTES);
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 4 * BYTES);
    set(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, 0);
    CHECK(ask(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 0);
    uint64_t value = 1;
    EXPECT(107000, aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
    EXPECT(107000, aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &value));
    EXPECT(0, aclrtMemPoolDestroy(pool));
}

static void a_pool_makes_room_for_others(void) {
    size_t free_bytes, total;
    EXPECT(0, aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    aclrtMemPool pool = new_pool(0);
    set(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
    void *most = take(pool, free_bytes - BYTES, one), *plain;
    EXPECT(207001, aclrtMalloc(&plain, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST)); /* in use */
    EXPECT(0, aclrtMemPoolFreeAsync(most, one));
    EXPECT(0, aclrtSynchronizeStream(one));
    EXPECT(0, aclrtMalloc(&plain, 2 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST)); /* only held */
    EXPECT(0, aclrtFree(plain));
    EXPECT(0, aclrtMemPoolDestroy(pool));
    pool = new_pool(BYTES);
    void *whole = take(pool, BYTES, one), *more;
    EXPECT(207001, aclrtMemPoolMallocAsync(&more, 512, pool, one));
    EXPECT(0, aclrtMemPoolFreeAsync(whole, one));
    EXPECT(0, aclrtSynchronizeStream(one));
    EXPECT(0, aclrtMemPoolDestroy(pool));
}

static void a_destroyed_pool_keeps_what_is_in_use(void) {
    aclrtMemPool pool = new_pool(0);
    void *block = take(pool, BYTES, one), *never = NULL;
    EXPECT(0, aclrtMemPoolDestroy(pool));
    EXPECT(107000, aclrtMemPoolDestroy(pool));
    EXPECT(107000, aclrtMemPoolMallocAsync(&never, BYTES, pool, one));
    EXPECT(0, aclrtMemsetAsync(block, BYTES, 1, BYTES, one));
    EXPECT(0, aclrtMemPoolFreeAsync(block, one));
    EXPECT(107000, aclrtMemPoolFreeAsync(block, one));
    EXPECT(0, aclrtSynchronizeStream(one));
    EXPECT(107000, aclrtFree(block));
}

static void other_memory_is_freed_in_order(void) {
    void *plain;
    EXPECT(0, aclrtMalloc(&plain, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    hold(one, 1);
    EXPECT(0, aclrtMemPoolFreeAsync(plain, one));
    EXPECT(0, aclrtMemset(plain, BYTES, 1, BYTES)); /* there still */
    hold(one, 0);
    EXPECT(0, aclrtSynchronizeStream(one));
    EXPECT(107000, aclrtFree(plain));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&one));
    EXPECT(0, aclrtCreateStream(&other));
    pyaclEmuCounters before, after;
    EXPECT(0, pyaclEmuGetCounters(&before));
    reuse_follows_the_stream();
    what_is_written_stays_in_order();
    the_threshold_and_trimming();
    a_pool_makes_room_for_others();
    a_destroyed_pool_keeps_what_is_in_use();
    other_memory_is_freed_in_order();
    EXPECT(0, pyaclEmuGetCounters(&after));
    CHECK(after.deviceAllocations == before.deviceAllocations && after.deviceBytes == before.deviceBytes);
    aclrtMemPool left = new_pool(0); /* goes with the device */
    void *in_use = take(left, BYTES, one);
    EXPECT(0, aclrtMemsetAsync(in_use, BYTES, 1, BYTES, one));
    EXPECT(0, aclrtResetDeviceForce(0));
    EXPECT(0, pyaclEmuGetCounters(&after));
    CHECK(after.deviceBytes == 0);
    return 0;
}
