/* The table of allocations, ordered by address: a binary search answers "what is this address?". */
#include "engine/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/error.h"
#include "soc/soc.h"

enum {
    ALIGNMENT = 512,
    MAX_DEVICES = 64,
};
#define MAP_FROM_BYTES (1U << 20) /* larger ones are mapped: untouched pages cost nothing */

static struct {
    pthread_rwlock_t lock;
    Allocation *entries;
    size_t count, room;
    uint64_t device_bytes[MAX_DEVICES];
    MemoryUsage usage;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Index of the first entry above `address`. */
static size_t upper_bound(uintptr_t address) {
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.entries[middle].base <= address) { low = middle + 1; }
        else { high = middle; }
    }
    return low;
}

static Allocation *entry_at(uintptr_t address) {
    size_t above = upper_bound(address);
    if (above == 0) { return NULL; }
    Allocation *entry = &table.entries[above - 1];
    return address - entry->base < entry->bytes ? entry : NULL;
}

bool memory_find(const void *address, Allocation *allocation) {
    pthread_rwlock_rdlock(&table.lock);
    Allocation *entry = entry_at((uintptr_t)address);
    if (entry != NULL) { *allocation = *entry; }
    pthread_rwlock_unlock(&table.lock);
    return entry != NULL;
}

/* Not looked at by the thread sanitizer: racing with what kernels and copies write is the very purpose. */
__attribute__((no_sanitize("thread"))) static uint64_t load_cell(const uint64_t *cell) {
    return __atomic_load_n(cell, __ATOMIC_SEQ_CST);
}

bool memory_read_cell(const uint64_t *cell, uint64_t *value) {
    pthread_rwlock_rdlock(&table.lock);
    Allocation *entry = entry_at((uintptr_t)cell);
    bool readable = entry != NULL && entry->kind == MEMORY_DEVICE;
    if (readable) { *value = load_cell(cell); }
    pthread_rwlock_unlock(&table.lock);
    return readable;
}

static bool is_lent(const Allocation *entry) { return entry->kind == MEMORY_DEVICE && entry->accounted == 0; }

static void account(const Allocation *entry, int sign) {
    if (is_lent(entry)) { return; }
    bool device = entry->kind == MEMORY_DEVICE;
    uint64_t *count = device ? &table.usage.device_count : &table.usage.host_count;
    uint64_t *bytes = device ? &table.usage.device_bytes : &table.usage.host_bytes;
    *count += (uint64_t)sign;
    *bytes += (uint64_t)sign * entry->accounted;
    if (device) { table.device_bytes[entry->device] += (uint64_t)sign * entry->accounted; }
}

static bool insert_entry(Allocation entry) {
    if (table.count == table.room) {
        size_t room = table.room == 0 ? 256 : 2 * table.room;
        Allocation *entries = realloc(table.entries, room * sizeof(*entries));
        if (entries == NULL) { return false; }
        table.entries = entries;
        table.room = room;
    }
    size_t place = upper_bound(entry.base);
    memmove(&table.entries[place + 1], &table.entries[place], (table.count - place) * sizeof(*table.entries));
    table.entries[place] = entry;
    table.count++;
    account(&entry, 1);
    return true;
}

static void remove_entry(Allocation *entry) {
    account(entry, -1);
    size_t after = (size_t)(&table.entries[table.count] - entry) - 1;
    memmove(entry, entry + 1, after * sizeof(*entry));
    table.count--;
}

static void *take_pages(size_t bytes) {
    if (bytes < MAP_FROM_BYTES) { return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT); }
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void give_pages(const Allocation *entry) {
    if (is_lent(entry)) { return; }
    if (entry->bytes < MAP_FROM_BYTES) { free((void *)entry->base); }
    else { munmap((void *)entry->base, entry->bytes); }
}

static bool fits(MemoryKind kind, int32_t device, size_t accounted) {
    if (kind != MEMORY_DEVICE) { return true; }
    return accounted <= soc_model()->hbm_bytes - table.device_bytes[device];
}

aclError memory_allocate(MemoryKind kind, int32_t device, size_t bytes, size_t accounted, void **address,
                         const char *api) {
    pthread_rwlock_wrlock(&table.lock);
    void *pages = fits(kind, device, accounted) ? take_pages(bytes) : NULL;
    Allocation entry = {(uintptr_t)pages, bytes, accounted, kind, device};
    bool kept = pages != NULL && insert_entry(entry);
    pthread_rwlock_unlock(&table.lock);
    if (kept) {
        *address = pages;
        return ACL_SUCCESS;
    }
    if (pages != NULL) { give_pages(&entry); }
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "%zu bytes do not fit: %llu of %llu in use", bytes,
                    (unsigned long long)memory_in_use(device), (unsigned long long)soc_model()->hbm_bytes);
}

aclError memory_free(void *address, bool host_only, const char *api) {
    pthread_rwlock_wrlock(&table.lock);
    Allocation *entry = entry_at((uintptr_t)address);
    bool ours = entry != NULL && entry->base == (uintptr_t)address && entry->kind != MEMORY_REGISTERED;
    if (ours && is_lent(entry)) { ours = false; }
    if (host_only && ours && entry->kind != MEMORY_HOST) { ours = false; }
    Allocation gone = ours ? *entry : (Allocation){0};
    if (ours) { remove_entry(entry); }
    pthread_rwlock_unlock(&table.lock);
    if (!ours) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is no live allocation", address); }
    give_pages(&gone);
    return ACL_SUCCESS;
}

void memory_free_device(int32_t device) {
    pthread_rwlock_wrlock(&table.lock);
    for (size_t i = table.count; i-- > 0;) {
        Allocation entry = table.entries[i];
        if (entry.kind != MEMORY_DEVICE || entry.device != device) { continue; }
        remove_entry(&table.entries[i]);
        give_pages(&entry);
    }
    pthread_rwlock_unlock(&table.lock);
}

void memory_lend(void *address, size_t bytes, int32_t device) {
    Allocation entry = {(uintptr_t)address, bytes, 0, MEMORY_DEVICE, device};
    pthread_rwlock_wrlock(&table.lock);
    if (bytes > 0 && entry_at(entry.base) == NULL) { insert_entry(entry); }
    pthread_rwlock_unlock(&table.lock);
}

void memory_take_back(const void *from, size_t bytes) {
    pthread_rwlock_wrlock(&table.lock);
    for (size_t i = table.count; i-- > 0;) {
        Allocation *entry = &table.entries[i];
        if (is_lent(entry) && entry->base - (uintptr_t)from < bytes) { remove_entry(entry); }
    }
    pthread_rwlock_unlock(&table.lock);
}

bool memory_register(void *address, size_t bytes, int32_t device) {
    Allocation entry = {(uintptr_t)address, bytes, bytes, MEMORY_REGISTERED, device};
    pthread_rwlock_wrlock(&table.lock);
    bool is_new = entry_at(entry.base) == NULL && entry_at(entry.base + bytes - 1) == NULL && insert_entry(entry);
    pthread_rwlock_unlock(&table.lock);
    return is_new;
}

bool memory_unregister(void *address) {
    pthread_rwlock_wrlock(&table.lock);
    Allocation *entry = entry_at((uintptr_t)address);
    bool ours = entry != NULL && entry->base == (uintptr_t)address && entry->kind == MEMORY_REGISTERED;
    if (ours) { remove_entry(entry); }
    pthread_rwlock_unlock(&table.lock);
    return ours;
}

uint64_t memory_in_use(int32_t device) {
    pthread_rwlock_rdlock(&table.lock);
    uint64_t bytes = table.device_bytes[device];
    pthread_rwlock_unlock(&table.lock);
    return bytes;
}

MemoryUsage memory_usage(void) {
    pthread_rwlock_rdlock(&table.lock);
    MemoryUsage usage = table.usage;
    pthread_rwlock_unlock(&table.lock);
    return usage;
}
