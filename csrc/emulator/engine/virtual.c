/* Virtual memory: see virtual.h. */
#include "engine/virtual.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/arena.h"
#include "engine/error.h"
#include "engine/handle.h"
#include "engine/pool.h"
#include "engine/strict.h"

typedef struct Reservation {
    uintptr_t base;
    size_t bytes;
    uint32_t mappings;
    struct Reservation *next;
} Reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* reservations, and the counts of physical memory */
static Reservation *reservations;
static Physical *all;
static Pool pool = POOL(Physical, next);

/* ---- addresses ---- */

static void *take_addresses(void *at, size_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at == NULL ? 0 : MAP_FIXED);
    void *address = mmap(at, bytes, PROT_NONE, flags, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

/* Aligned to huge pages: a little more, and the ends given back. */
static void *take_aligned(size_t bytes) {
    char *address = take_addresses(NULL, bytes + VIRTUAL_HUGE_BYTES);
    if (address == NULL) { return NULL; }
    size_t before = (size_t)(-(uintptr_t)address) % VIRTUAL_HUGE_BYTES;
    if (before > 0) { munmap(address, before); }
    munmap(address + before + bytes, VIRTUAL_HUGE_BYTES - before);
    return address + before;
}

/* Older kernels take the address as a hint alone. */
static void *take_expected(void *expected, size_t bytes) {
    if (expected == NULL || (uintptr_t)expected % VIRTUAL_HUGE_BYTES != 0) { return NULL; }
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *address = mmap(expected, bytes, PROT_NONE, flags, -1, 0);
    if (address == MAP_FAILED) { return NULL; }
    if (address == expected) { return address; }
    munmap(address, bytes);
    return NULL;
}

aclError virtual_reserve(size_t bytes, void *expected, void **address, const char *api) {
    if (bytes > SIZE_MAX / 2) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no room for %zu bytes", bytes); }
    bytes = (bytes + VIRTUAL_HUGE_BYTES - 1) / VIRTUAL_HUGE_BYTES * VIRTUAL_HUGE_BYTES;
    Reservation *made = malloc(sizeof(*made));
    void *taken = made == NULL ? NULL : take_expected(expected, bytes);
    if (made != NULL && taken == NULL) { taken = take_aligned(bytes); }
    if (taken == NULL) {
        free(made);
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no room for %zu bytes", bytes);
    }
    pthread_mutex_lock(&lock);
    *made = (Reservation){(uintptr_t)taken, bytes, 0, reservations};
    reservations = made;
    pthread_mutex_unlock(&lock);
    *address = taken;
    return ACL_SUCCESS;
}

/* The link to the reservation that holds the whole range, or to the end. Under the lock. */
static Reservation **link_over(uintptr_t address, size_t bytes) {
    Reservation **link = &reservations;
    while (*link != NULL && (address - (*link)->base >= (*link)->bytes || bytes > (*link)->bytes - (address - (*link)->base))) {
        link = &(*link)->next;
    }
    return link;
}

bool virtual_is_reserved(const void *address) {
    pthread_mutex_lock(&lock);
    bool reserved = *link_over((uintptr_t)address, 1) != NULL;
    pthread_mutex_unlock(&lock);
    return reserved;
}

aclError virtual_release(void *address, const char *api) {
    pthread_mutex_lock(&lock);
    Reservation **link = link_over((uintptr_t)address, 1), *gone = *link;
    bool free_now = gone != NULL && gone->base == (uintptr_t)address && gone->mappings == 0;
    if (free_now) { *link = gone->next; }
    pthread_mutex_unlock(&lock);
    if (!free_now) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p begins no reserved range, or one in use", address); }
    munmap((void *)gone->base, gone->bytes);
    free(gone);
    return ACL_SUCCESS;
}

/* ---- physical memory ---- */

static bool is_on_device(const Physical *physical) {
    return physical->properties.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

static void give_pages(const Physical *physical) {
    if (physical->imported) {
        close(physical->file);
        return;
    }
    arena_release(physical->offset, physical->bytes);
    if (is_on_device(physical)) { memory_uncharge(physical->device, physical->bytes); }
}

static void delist(Physical *gone) {
    pthread_mutex_lock(&lock);
    Physical **link = &all;
    while (*link != gone) { link = &(*link)->next; }
    *link = gone->next;
    pthread_mutex_unlock(&lock);
}

/* Outside the lock. */
static void dispose(Physical *physical) {
    give_pages(physical);
    if (physical->cell != NULL) {
        if (!physical->imported) { shared_close(physical->cell); }
        shared_release(physical->cell);
    }
    delist(physical);
    pool_give(&pool, physical);
}

static Physical *adopt(Physical made) {
    int fresh;
    Physical *physical = pool_take(&pool, &fresh);
    void *handle = physical == NULL ? NULL : handle_new(KIND_PHYSICAL, physical);
    if (handle == NULL) {
        if (physical != NULL) { pool_give(&pool, physical); }
        return NULL;
    }
    pthread_mutex_lock(&lock);
    *physical = made;
    physical->handle = handle;
    physical->handles = 1;
    physical->next = all;
    all = physical;
    pthread_mutex_unlock(&lock);
    return physical;
}

aclError virtual_create(size_t bytes, const aclrtPhysicalMemProp *properties, int32_t device, Physical **out,
                        const char *api) {
    Physical made = {.file = -1, .bytes = bytes, .device = device, .properties = *properties};
    bool charged = is_on_device(&made);
    if (!charged || memory_charge(device, bytes)) {
        if (arena_reserve(bytes, &made.offset) && (*out = adopt(made)) != NULL) { return ACL_SUCCESS; }
        if (charged) { memory_uncharge(device, bytes); }
    }
    return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "%zu bytes do not fit", bytes);
}

aclError virtual_find(const char *api, aclrtDrvMemHandle handle, Physical **physical) {
    *physical = handle_get(KIND_PHYSICAL, handle);
    if (*physical != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%p is no physical memory, or was freed", handle);
}

void virtual_free(Physical *physical) {
    pthread_mutex_lock(&lock);
    bool last = --physical->handles == 0;
    bool over = last && physical->mappings == 0;
    if (last) { handle_drop(physical->handle); }
    pthread_mutex_unlock(&lock);
    if (over) { dispose(physical); }
}

/* ---- mappings ---- */

static int protection_of(const Allocation *is) {
    return is->closed || memory_is_barred(is) ? PROT_NONE : PROT_READ | PROT_WRITE;
}

/* Under the lock: neither the reservation nor the physical memory can go meanwhile. */
static bool map_pages(const Allocation *is, const Physical *physical) {
    int file = physical->file < 0 ? arena_file() : physical->file;
    void *at = (void *)is->base;
    if (arena_map(file, physical->offset, is->bytes, at, protection_of(is)) == at) { return true; }
    Allocation gone;
    (void)memory_leave(at, OWNER_MAPPING, &gone);
    return false;
}

aclError virtual_map(void *address, size_t bytes, Physical *physical, uint64_t access, const char *api) {
    Allocation is = {.base = (uintptr_t)address, .bytes = bytes, .owner = OWNER_MAPPING, .device = physical->device,
                     .kind = is_on_device(physical) ? MEMORY_DEVICE : MEMORY_HOST, .offset = physical->offset,
                     .page_bytes = VIRTUAL_HUGE_BYTES, .access = access, .behind = physical};
    is.closed = is.kind == MEMORY_DEVICE && strict_is_on();
    pthread_mutex_lock(&lock);
    Reservation *reservation = *link_over(is.base, bytes);
    bool mapped = reservation != NULL && memory_enter(&is) && map_pages(&is, physical);
    if (mapped) {
        physical->mappings++;
        reservation->mappings++;
    }
    pthread_mutex_unlock(&lock);
    if (mapped) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%zu bytes from %p are not reserved, or mapped already", bytes, address);
}

aclError virtual_unmap(void *address, const char *api) {
    Allocation gone;
    pthread_mutex_lock(&lock);
    bool ours = memory_leave(address, OWNER_MAPPING, &gone);
    Physical *physical = ours ? gone.behind : NULL;
    bool over = false;
    if (ours) {
        take_addresses(address, gone.bytes); /* reserved still */
        (*link_over(gone.base, 1))->mappings--;
        over = --physical->mappings == 0 && physical->handles == 0;
    }
    pthread_mutex_unlock(&lock);
    if (over) { dispose(physical); }
    return ours ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "nothing is mapped at %p", address);
}

/* The mapping that `address` lies in. */
static bool find_mapping(uintptr_t address, Allocation *is) {
    return memory_find((void *)address, is) && is->owner == OWNER_MAPPING;
}

static bool is_mapped(uintptr_t from, size_t bytes) {
    Allocation is;
    for (uintptr_t at = from; at - from < bytes; at = is.base + is.bytes) {
        if (!find_mapping(at, &is)) { return false; }
    }
    return true;
}

aclError virtual_set_access(void *address, size_t bytes, int32_t device, bool allowed, const char *api) {
    uintptr_t from = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    bool mapped = is_mapped(from, bytes);
    Allocation is;
    for (uintptr_t at = from; mapped && at - from < bytes && find_mapping(at, &is); at = is.base + is.bytes) {
        uint64_t bit = UINT64_C(1) << device;
        is.access = allowed ? is.access | bit : is.access & ~bit;
        memory_set_access((void *)is.base, is.access);
        mprotect((void *)is.base, is.bytes, protection_of(&is));
    }
    pthread_mutex_unlock(&lock);
    return mapped ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "not all of the range is mapped");
}

Physical *virtual_retain(void *address) {
    Allocation is;
    pthread_mutex_lock(&lock);
    Physical *physical = find_mapping((uintptr_t)address, &is) ? is.behind : NULL;
    if (physical != NULL && physical->handles++ == 0) {
        physical->handle = handle_new(KIND_PHYSICAL, physical);
        if (physical->handle == NULL) {
            physical->handles = 0;
            physical = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return physical;
}

/* ---- other processes ---- */

aclError virtual_export(Physical *physical, bool open_to_all, const char *api) {
    pthread_mutex_lock(&lock);
    SharedCell *cell = physical->cell == NULL ? shared_new() : physical->cell;
    bool made = physical->cell == NULL && cell != NULL && shared_describe(physical->offset, physical->bytes, &cell->range);
    if (made) {
        cell->kind = SHARED_PHYSICAL;
        cell->device = physical->device;
        cell->attribute = (int32_t)physical->properties.memAttr;
        cell->location = (int32_t)physical->properties.location.type;
        physical->cell = cell;
    }
    bool exported = physical->cell != NULL;
    pthread_mutex_unlock(&lock);
    if (!exported && cell != NULL) { shared_release(cell); }
    if (!exported) { return emu_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, api, "no shared memory for a handle"); }
    if (open_to_all) { atomic_store(&cell->open_to_all, true); }
    return ACL_SUCCESS;
}

/* The cell is the physical memory's from here on, or let go. */
aclError virtual_import(SharedCell *cell, int32_t device, Physical **out, const char *api) {
    int file = shared_open(&cell->range);
    aclrtPhysicalMemProp properties = {.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                       .memAttr = (aclrtMemAttr)cell->attribute};
    properties.location.id = (uint32_t)device;
    properties.location.type = (aclrtMemLocationType)cell->location;
    Physical made = {.file = file, .offset = cell->range.offset, .bytes = cell->range.bytes, .device = device,
                     .properties = properties, .cell = cell, .imported = true};
    *out = file < 0 ? NULL : adopt(made);
    if (*out != NULL) { return ACL_SUCCESS; }
    shared_release(cell);
    if (file >= 0) { close(file); }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the exporting process is gone");
}

/* ---- the end of a device ---- */

static Physical *any_of(int32_t device) {
    pthread_mutex_lock(&lock);
    Physical *physical = all;
    while (physical != NULL && physical->device != device) { physical = physical->next; }
    if (physical != NULL) { physical->handles = 1; }
    pthread_mutex_unlock(&lock);
    return physical;
}

void virtual_reset(int32_t device) {
    Allocation is;
    while (memory_any(OWNER_MAPPING, device, &is)) { (void)virtual_unmap((void *)is.base, __func__); }
    for (Physical *physical; (physical = any_of(device)) != NULL;) { virtual_free(physical); }
}
