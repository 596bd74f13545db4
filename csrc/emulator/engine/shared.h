/* Cells of memory that other processes find by a key: what notifies and events shared between processes are made of.
 * Each process that exports keeps one memory file with all of its cells; an importer opens it through /proc, so that
 * nothing is left behind by a process that dies. Nobody is woken across processes: who waits looks (see poll.h). */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SHARED_KEY_BYTES = 64, /* with the final zero */
    SHARED_PIDS = 32,      /* processes that may be allowed to import a cell */
    SHARED_RECORDS = 32,   /* records of an event that are told apart */
};

typedef enum SharedKind { SHARED_NOTIFY = 1, SHARED_EVENT, SHARED_MEMORY, SHARED_PHYSICAL } SharedKind;

/* A piece of the memory file of a process (arena.h). */
typedef struct SharedRange {
    int32_t pid, file;
    uint64_t inode, offset, bytes;
} SharedRange;

typedef struct SharedCell {
    _Alignas(64) _Atomic(uint32_t) users; /* exporter and importers; used again only when all have let go */
    _Atomic(uint32_t) generation;         /* the key names it: a dead key does not find the next user's cell */
    _Atomic(bool) alive;                  /* the key is good */
    SharedKind kind;
    int32_t device, id;                   /* of the exported object */
    _Atomic(bool) open_to_all;
    _Atomic(uint32_t) pid_count;
    _Atomic(int32_t) pids[SHARED_PIDS];
    /* What the object makes of it. */
    _Atomic(uint32_t) flag;               /* notify: recorded */
    _Atomic(uint64_t) recorded;           /* event: number of its newest record */
    _Atomic(uint64_t) over[SHARED_RECORDS]; /* event: see event_ipc.c */
    SharedRange range;                    /* memory; written before anybody knows the key */
    int32_t attribute, location;          /* physical memory: aclrtMemAttr, aclrtMemLocationType */
} SharedCell;

/* A new cell, zero but for `users`; NULL when there is none left. */
SharedCell *shared_new(void);
/* False for a cell of another process: only its owner gives keys. */
bool shared_key(const SharedCell *cell, char key[SHARED_KEY_BYTES]);
/* The same as a number, for handles that are one. 0 for a cell of another process. */
uint64_t shared_number(const SharedCell *cell);
/* The key is dead from now on. The exporter stays a user until it releases the cell. */
static inline void shared_close(SharedCell *cell) { atomic_store(&cell->alive, false); }

/* NULL when the key names no cell of that kind (any more). The caller becomes a user of it. */
SharedCell *shared_find(const char *key, SharedKind kind);
SharedCell *shared_find_number(uint64_t number, SharedKind kind);
static inline SharedCell *shared_retain(SharedCell *cell) {
    atomic_fetch_add(&cell->users, 1);
    return cell;
}
void shared_release(SharedCell *cell);

/* A range of this process's memory file; and the file of a range, to be closed by the caller: -1 when it is gone. */
bool shared_describe(uint64_t offset, uint64_t bytes, SharedRange *range);
int shared_open(const SharedRange *range);

/* False when that would be too many. */
bool shared_allow(SharedCell *cell, const int32_t *pids, size_t count);
bool shared_is_allowed(SharedCell *cell);

#endif
