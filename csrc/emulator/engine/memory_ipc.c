/* Device memory between processes: see memory_ipc.h. */
#include "engine/memory_ipc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/arena.h"
#include "engine/error.h"
#include "engine/memory.h"
#include "engine/strict.h"

typedef struct Link {
    char key[SHARED_KEY_BYTES];
    SharedCell *cell;
    void *address; /* exported, or where it was imported to */
    void *pages;   /* of the mapping; NULL for an export */
    size_t bytes;  /* of the mapping */
    int32_t device;
    struct Link *next;
} Link;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Link *links;

static Link *add(Link made) {
    Link *link = malloc(sizeof(*link));
    if (link == NULL) { return NULL; }
    *link = made;
    pthread_mutex_lock(&lock);
    link->next = links;
    links = link;
    pthread_mutex_unlock(&lock);
    return link;
}

/* Under the lock. */
static Link **find(const char *key) {
    Link **place = &links;
    while (*place != NULL && strncmp((*place)->key, key, SHARED_KEY_BYTES) != 0) { place = &(*place)->next; }
    return place;
}

/* ---- exporting ---- */

static bool holds(const Allocation *is, const void *address, size_t bytes) {
    bool ours = is->kind == MEMORY_DEVICE && (is->owner == OWNER_PROGRAM || is->owner == OWNER_POOL);
    return ours && bytes <= is->bytes - ((uintptr_t)address - is->base);
}

aclError memory_ipc_export(void *address, size_t bytes, bool open_to_all, char key[SHARED_KEY_BYTES], const char *api) {
    Allocation is;
    if (!memory_find(address, &is) || !holds(&is, address, bytes)) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%zu bytes from %p are no device memory of the program's", bytes,
                        address);
    }
    SharedCell *cell = shared_new();
    Link made = {.cell = cell, .address = address, .device = is.device};
    bool described = cell != NULL &&
                     shared_describe(is.offset + ((uintptr_t)address - is.base), bytes, &cell->range) &&
                     shared_key(cell, made.key);
    if (described) {
        cell->kind = SHARED_MEMORY;
        cell->device = is.device;
        atomic_store(&cell->open_to_all, open_to_all);
    }
    if (described && add(made) != NULL) {
        memcpy(key, made.key, SHARED_KEY_BYTES);
        return ACL_SUCCESS;
    }
    if (cell != NULL) { shared_release(cell); }
    return emu_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, api, "no shared memory for a key");
}

SharedCell *memory_ipc_exported(const char *key) {
    pthread_mutex_lock(&lock);
    Link *link = links; /* this process may have imported it, too */
    while (link != NULL && (link->pages != NULL || strncmp(link->key, key, SHARED_KEY_BYTES) != 0)) { link = link->next; }
    pthread_mutex_unlock(&lock);
    return link == NULL ? NULL : link->cell;
}

/* ---- importing ---- */

/* Whole pages are mapped, and the range is somewhere in them. */
static bool map(const SharedRange *range, int32_t device, Link *made) {
    int file = shared_open(range);
    if (file < 0) { return false; }
    uint64_t before = range->offset % arena_page_bytes();
    bool closed = strict_is_on();
    made->bytes = arena_whole_pages(range->bytes + before);
    made->pages = arena_map(file, range->offset - before, made->bytes, NULL, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
    close(file);
    if (made->pages == NULL) { return false; }
    made->address = (char *)made->pages + before;
    Allocation is = {.base = (uintptr_t)made->address, .bytes = range->bytes, .kind = MEMORY_DEVICE,
                     .owner = OWNER_IMPORT, .device = device, .closed = closed};
    if (memory_enter(&is)) { return true; }
    munmap(made->pages, made->bytes);
    return false;
}

static void unmap(const Link *link) {
    Allocation gone;
    (void)memory_leave(link->address, OWNER_IMPORT, &gone);
    munmap(link->pages, link->bytes);
}

aclError memory_ipc_import(const char *key, int32_t device, void **address, const char *api) {
    SharedCell *cell = shared_find(key, SHARED_MEMORY);
    if (cell == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "no memory has the key \"%.64s\"", key); }
    Link made = {.cell = cell, .device = device};
    strncpy(made.key, key, sizeof(made.key) - 1);
    aclError code = ACL_SUCCESS;
    if (!shared_is_allowed(cell)) {
        code = emu_fail(ACL_ERROR_RT_DRV_INTERNAL_ERROR, api, "the exporter has not allowed this process to import it");
    } else if (!map(&cell->range, device, &made)) {
        code = emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the exporting process is gone");
    } else if (add(made) == NULL) {
        unmap(&made);
        code = emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory to note an import");
    }
    if (code != ACL_SUCCESS) { shared_release(cell); }
    else { *address = made.address; }
    return code;
}

/* ---- the end ---- */

static void dispose(Link *link) {
    if (link->pages != NULL) { unmap(link); }
    else { shared_close(link->cell); }
    shared_release(link->cell);
    free(link);
}

aclError memory_ipc_close(const char *key, const char *api) {
    pthread_mutex_lock(&lock);
    Link **place = find(key), *gone = *place;
    if (gone != NULL) { *place = gone->next; }
    pthread_mutex_unlock(&lock);
    if (gone == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the key is not in use here"); }
    dispose(gone);
    return ACL_SUCCESS;
}

void memory_ipc_reset(int32_t device) {
    Link *gone = NULL;
    pthread_mutex_lock(&lock);
    for (Link **place = &links; *place != NULL;) {
        Link *link = *place;
        if (link->device != device) {
            place = &link->next;
            continue;
        }
        *place = link->next;
        link->next = gone;
        gone = link;
    }
    pthread_mutex_unlock(&lock);
    for (Link *next; gone != NULL; gone = next) {
        next = gone->next;
        dispose(gone);
    }
}
