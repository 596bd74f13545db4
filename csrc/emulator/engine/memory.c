/* The table of allocations: a balanced tree of ranges that do not overlap (the C library's tsearch), and a list. */
#include "engine/memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/arena.h"
#include "engine/error.h"
#include "engine/strict.h"
#include "soc/soc.h"

enum { MAX_DEVICES = 64 };
#define MAP_FROM_BYTES (1U << 20) /* larger host memory is mapped: untouched pages cost nothing */

typedef struct Entry {
    Allocation is; /* first: what the tree compares */
    struct Entry *next, *previous;
} Entry;

static struct {
    pthread_rwlock_t lock;
    void *tree;
    Entry *first;
    uint64_t device_bytes[MAX_DEVICES], device_peak[MAX_DEVICES];
    MemoryUsage usage;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* ---- the table; all under its lock ---- */

/* Ranges that overlap are equal: an address, as a range of one byte, equals the allocation that it lies in. */
static int compare(const void *left, const void *right) {
    const Allocation *one = left, *other = right;
    if (one->base + (one->bytes - 1) < other->base) { return -1; }
    return one->base > other->base + (other->bytes - 1) ? 1 : 0;
}

static Entry *entry_over(uintptr_t address, size_t bytes) {
    Allocation range = {.base = address, .bytes = bytes};
    Entry *const *found = tfind(&range, &table.tree, compare);
    return found == NULL ? NULL : *found;
}

static Entry *entry_at(const void *address) { return entry_over((uintptr_t)address, 1); }

static Entry *entry_from(const void *address, MemoryOwner owner) {
    Entry *entry = entry_at(address);
    return entry != NULL && entry->is.base == (uintptr_t)address && entry->is.owner == owner ? entry : NULL;
}

static void account_host(const Allocation *is, int sign) {
    if (is->kind == MEMORY_DEVICE || is->accounted == 0) { return; }
    table.usage.host_count += (uint64_t)sign;
    table.usage.host_bytes += (uint64_t)sign * is->accounted;
}

/* False, and the entry is the caller's still, when something is there or memory ran out. */
static bool insert(Entry *entry) {
    Entry **place = tsearch(entry, &table.tree, compare);
    if (place == NULL || *place != entry) { return false; }
    entry->next = table.first;
    if (table.first != NULL) { table.first->previous = entry; }
    table.first = entry;
    account_host(&entry->is, 1);
    return true;
}

static void take_out(Entry *entry) {
    tdelete(entry, &table.tree, compare);
    if (entry->previous != NULL) { entry->previous->next = entry->next; }
    else { table.first = entry->next; }
    if (entry->next != NULL) { entry->next->previous = entry->previous; }
    account_host(&entry->is, -1);
}

static bool has_room(int32_t device, size_t bytes) {
    return bytes <= soc_model()->hbm_bytes - table.device_bytes[device];
}

static void charge(int32_t device, size_t bytes, int sign) {
    table.usage.device_count += (uint64_t)sign;
    table.usage.device_bytes += (uint64_t)sign * bytes;
    table.device_bytes[device] += (uint64_t)sign * bytes;
    if (table.device_bytes[device] > table.device_peak[device]) {
        table.device_peak[device] = table.device_bytes[device];
    }
}

/* ---- finding ---- */

bool memory_find(const void *address, Allocation *allocation) {
    pthread_rwlock_rdlock(&table.lock);
    Entry *entry = entry_at(address);
    if (entry != NULL) { *allocation = entry->is; }
    pthread_rwlock_unlock(&table.lock);
    return entry != NULL;
}

bool memory_is_usable(const void *address, size_t bytes) {
    pthread_rwlock_rdlock(&table.lock);
    uintptr_t at = (uintptr_t)address;
    size_t rest = bytes;
    while (rest > 0) { /* mapped memory is often many allocations side by side */
        Entry *entry = entry_over(at, 1);
        if (entry == NULL || memory_is_barred(&entry->is)) { break; }
        size_t here = entry->is.base + entry->is.bytes - at;
        rest = rest > here ? rest - here : 0;
        at += here;
    }
    pthread_rwlock_unlock(&table.lock);
    return rest == 0;
}

/* Not looked at by the thread sanitizer: racing with what kernels and copies write is the very purpose. */
__attribute__((no_sanitize("thread"))) static uint64_t load_cell(const uint64_t *cell) {
    return __atomic_load_n(cell, __ATOMIC_SEQ_CST);
}

bool memory_read_cell(const uint64_t *cell, uint64_t *value) {
    strict_enter();
    pthread_rwlock_rdlock(&table.lock);
    Entry *entry = entry_at(cell);
    bool readable = entry != NULL && entry->is.kind == MEMORY_DEVICE && !memory_is_barred(&entry->is);
    if (readable) { *value = load_cell(cell); }
    pthread_rwlock_unlock(&table.lock);
    strict_leave();
    return readable;
}

/* ---- accounts ---- */

bool memory_charge(int32_t device, size_t bytes) {
    pthread_rwlock_wrlock(&table.lock);
    bool room = has_room(device, bytes);
    if (room) { charge(device, bytes, 1); }
    pthread_rwlock_unlock(&table.lock);
    return room;
}

void memory_uncharge(int32_t device, size_t bytes) {
    pthread_rwlock_wrlock(&table.lock);
    charge(device, bytes, -1);
    pthread_rwlock_unlock(&table.lock);
}

bool memory_has_room(int32_t device, size_t bytes) {
    pthread_rwlock_rdlock(&table.lock);
    bool room = has_room(device, bytes);
    pthread_rwlock_unlock(&table.lock);
    return room;
}

uint64_t memory_in_use(int32_t device) {
    pthread_rwlock_rdlock(&table.lock);
    uint64_t bytes = table.device_bytes[device];
    pthread_rwlock_unlock(&table.lock);
    return bytes;
}

uint64_t memory_peak(int32_t device) {
    pthread_rwlock_rdlock(&table.lock);
    uint64_t bytes = table.device_peak[device];
    pthread_rwlock_unlock(&table.lock);
    return bytes;
}

MemoryUsage memory_usage(void) {
    pthread_rwlock_rdlock(&table.lock);
    MemoryUsage usage = table.usage;
    pthread_rwlock_unlock(&table.lock);
    return usage;
}

/* ---- pages ---- */

static void *take_host_pages(size_t bytes) {
    if (bytes < MAP_FROM_BYTES) {
        return aligned_alloc(ARENA_ALIGNMENT, (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT);
    }
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static bool take_pages(Allocation *is) {
    if (is->kind == MEMORY_HOST) {
        is->base = (uintptr_t)take_host_pages(is->bytes);
        return is->base != 0;
    }
    Pages pages;
    is->closed = is->kind == MEMORY_DEVICE && strict_is_on();
    if (!arena_take(is->bytes, is->closed, &pages)) { return false; }
    is->base = (uintptr_t)pages.address;
    is->offset = pages.offset;
    return true;
}

static void give_pages(const Allocation *is) {
    if (is->kind == MEMORY_HOST) {
        if (is->bytes < MAP_FROM_BYTES) { free((void *)is->base); }
        else { munmap((void *)is->base, is->bytes); }
        return;
    }
    arena_give(&(Pages){(void *)is->base, is->bytes, is->offset}, is->closed);
    if (is->closed) { strict_bury(is); }
}

/* ---- allocating and freeing ---- */

static Entry *new_entry(const Allocation *is) {
    Entry *entry = malloc(sizeof(*entry));
    if (entry != NULL) { *entry = (Entry){.is = *is}; }
    return entry;
}

bool memory_enter(const Allocation *allocation) {
    Entry *entry = new_entry(allocation);
    if (entry == NULL) { return false; }
    pthread_rwlock_wrlock(&table.lock);
    bool entered = insert(entry);
    pthread_rwlock_unlock(&table.lock);
    if (!entered) { free(entry); }
    return entered;
}

bool memory_leave(const void *address, MemoryOwner owner, Allocation *gone) {
    pthread_rwlock_wrlock(&table.lock);
    Entry *entry = entry_from(address, owner);
    if (entry != NULL) { take_out(entry); }
    pthread_rwlock_unlock(&table.lock);
    if (entry == NULL) { return false; }
    *gone = entry->is;
    free(entry);
    return true;
}

static bool allocate_charged(Allocation *is) {
    if (!take_pages(is)) { return false; }
    if (memory_enter(is)) { return true; }
    give_pages(is);
    return false;
}

aclError memory_allocate(const Allocation *wanted, void **address, const char *api) {
    Allocation is = *wanted;
    bool charged = is.kind == MEMORY_DEVICE;
    if (!charged || memory_charge(is.device, is.accounted)) {
        if (allocate_charged(&is)) {
            *address = (void *)is.base;
            return ACL_SUCCESS;
        }
        if (charged) { memory_uncharge(is.device, is.accounted); }
    }
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "%zu bytes do not fit: %llu of %llu in use", is.bytes,
                    (unsigned long long)memory_in_use(is.device), (unsigned long long)soc_model()->hbm_bytes);
}

static void give_back(const Allocation *gone) {
    give_pages(gone);
    if (gone->kind == MEMORY_DEVICE) { memory_uncharge(gone->device, gone->accounted); }
}

bool memory_free_owned(void *address, MemoryOwner owner) {
    Allocation gone;
    if (!memory_leave(address, owner, &gone)) { return false; }
    give_back(&gone);
    return true;
}

static bool is_host(const void *address) { return memory_kind(address) == MEMORY_HOST; }

aclError memory_free(void *address, bool host_only, const char *api) {
    if ((!host_only || is_host(address)) && memory_free_owned(address, OWNER_PROGRAM)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is no live allocation", address);
}

static bool goes_with(const Entry *entry, int32_t device) {
    const Allocation *is = &entry->is;
    return is->kind == MEMORY_DEVICE && is->device == device && (is->owner == OWNER_PROGRAM || is->owner == OWNER_POOL);
}

void memory_free_device(int32_t device) {
    Entry *gone = NULL;
    pthread_rwlock_wrlock(&table.lock);
    for (Entry *entry = table.first, *next; entry != NULL; entry = next) {
        next = entry->next;
        if (!goes_with(entry, device)) { continue; }
        take_out(entry);
        entry->next = gone;
        gone = entry;
    }
    pthread_rwlock_unlock(&table.lock);
    for (Entry *next; gone != NULL; gone = next) {
        next = gone->next;
        give_back(&gone->is);
        free(gone);
    }
}

/* ---- lent memory and rights ---- */

void memory_lend(void *address, size_t bytes, int32_t device) {
    Allocation lent = {.base = (uintptr_t)address, .bytes = bytes, .kind = MEMORY_DEVICE, .owner = OWNER_BINARY,
                       .device = device};
    if (bytes > 0) { (void)memory_enter(&lent); } /* unless it was lent before */
}

void memory_take_back(const void *from, size_t bytes) {
    pthread_rwlock_wrlock(&table.lock);
    for (Entry *entry = table.first, *next; entry != NULL; entry = next) {
        next = entry->next;
        if (entry->is.owner != OWNER_BINARY || entry->is.base - (uintptr_t)from >= bytes) { continue; }
        take_out(entry);
        free(entry);
    }
    pthread_rwlock_unlock(&table.lock);
}

void memory_set_access(const void *address, uint64_t access) {
    pthread_rwlock_wrlock(&table.lock);
    Entry *entry = entry_at(address);
    if (entry != NULL) { entry->is.access = access; }
    pthread_rwlock_unlock(&table.lock);
}

bool memory_any(MemoryOwner owner, int32_t device, Allocation *allocation) {
    pthread_rwlock_rdlock(&table.lock);
    Entry *entry = table.first;
    while (entry != NULL && (entry->is.owner != owner || entry->is.device != device)) { entry = entry->next; }
    if (entry != NULL) { *allocation = entry->is; }
    pthread_rwlock_unlock(&table.lock);
    return entry != NULL;
}
