/* Chapter 11, allocators that a program registers for streams. The runtime keeps them for libraries above it and never
 * calls one. The table is keyed by the stream's handle and outlives the stream: only unregistering ends an entry. */
#include <pthread.h>
#include <stdlib.h>

#include "api/api.h"
#include "acl/acl_rt_allocator.h"

typedef struct Description {
    aclrtAllocator object;
    aclrtAllocatorAllocFunc allocate;
    aclrtAllocatorFreeFunc release;
    aclrtAllocatorAllocAdviseFunc allocate_at; /* optional */
    aclrtAllocatorGetAddrFromBlockFunc address_of;
} Description;

typedef struct Registration {
    aclrtStream stream;
    aclrtAllocatorDesc described_by;
    Description copy;
    struct Registration *next;
} Registration;

static struct {
    pthread_mutex_t lock;
    Registration *first;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- descriptions ---- */

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) { return calloc(1, sizeof(Description)); }

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
    ENTER();
    REQUIRE(allocatorDesc);
    free(allocatorDesc);
    return ACL_SUCCESS;
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
    ENTER();
    REQUIRE(allocatorDesc);
    REQUIRE(allocator);
    ((Description *)allocatorDesc)->object = allocator;
    return ACL_SUCCESS;
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func) {
    ENTER();
    REQUIRE(allocatorDesc);
    REQUIRE(func);
    ((Description *)allocatorDesc)->allocate = func;
    return ACL_SUCCESS;
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func) {
    ENTER();
    REQUIRE(allocatorDesc);
    REQUIRE(func);
    ((Description *)allocatorDesc)->release = func;
    return ACL_SUCCESS;
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func) {
    ENTER();
    REQUIRE(allocatorDesc);
    REQUIRE(func);
    ((Description *)allocatorDesc)->allocate_at = func;
    return ACL_SUCCESS;
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
    ENTER();
    REQUIRE(allocatorDesc);
    REQUIRE(func);
    ((Description *)allocatorDesc)->address_of = func;
    return ACL_SUCCESS;
}

/* ---- registrations ---- */

/* The link that holds the stream's registration, or the end of the list. Under the lock. */
static Registration **link_of(aclrtStream stream) {
    Registration **link = &table.first;
    while (*link != NULL && (*link)->stream != stream) { link = &(*link)->next; }
    return link;
}

static bool keep(aclrtStream stream, aclrtAllocatorDesc description) {
    pthread_mutex_lock(&table.lock);
    Registration **link = link_of(stream);
    if (*link == NULL) { *link = calloc(1, sizeof(**link)); }
    Registration *entry = *link;
    if (entry != NULL) {
        entry->stream = stream;
        entry->described_by = description;
        entry->copy = *(const Description *)description;
    }
    pthread_mutex_unlock(&table.lock);
    return entry != NULL;
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
    ENTER();
    REQUIRE(stream);
    REQUIRE(allocatorDesc);
    const Description *description = allocatorDesc;
    REQUIRE(description->object);
    REQUIRE(description->allocate);
    REQUIRE(description->release);
    REQUIRE(description->address_of);
    if (keep(stream, allocatorDesc)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for an allocator");
}

static bool find(aclrtStream stream, Registration *found) {
    pthread_mutex_lock(&table.lock);
    Registration *entry = *link_of(stream);
    if (entry != NULL) { *found = *entry; }
    pthread_mutex_unlock(&table.lock);
    return entry != NULL;
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator,
                                   aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc) {
    ENTER();
    REQUIRE(stream);
    REQUIRE(allocatorDesc);
    Registration found;
    if (!find(stream, &found)) { return INVALID("no allocator is registered for the stream"); }
    *allocatorDesc = found.described_by;
    if (allocator != NULL) { *allocator = found.copy.object; }
    if (allocFunc != NULL) { *allocFunc = found.copy.allocate; }
    if (freeFunc != NULL) { *freeFunc = found.copy.release; }
    if (allocAdviseFunc != NULL) { *allocAdviseFunc = found.copy.allocate_at; }
    if (getAddrFromBlockFunc != NULL) { *getAddrFromBlockFunc = found.copy.address_of; }
    return ACL_SUCCESS;
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
    ENTER();
    REQUIRE(stream);
    pthread_mutex_lock(&table.lock);
    Registration **link = link_of(stream), *gone = *link;
    if (gone != NULL) { *link = gone->next; }
    pthread_mutex_unlock(&table.lock);
    free(gone);
    return ACL_SUCCESS;
}
