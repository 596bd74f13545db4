/* Where device memory lives: a memory file, sparse, of which ranges are mapped. A file, so that a range can be mapped
 * more than once (virtual memory) and by other processes (IPC). Ranges that were given back cost nothing. */
#ifndef EMU_ARENA_H
#define EMU_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARENA_ALIGNMENT = 512 };

typedef struct Pages {
    void *address; /* of the range's mapping */
    size_t bytes;
    uint64_t offset; /* in the file */
} Pages;

/* A range and its mapping. `closed`: on pages of its own that nobody may touch yet. */
bool arena_take(size_t bytes, bool closed, Pages *pages);
/* What arena_take gave, with the same `closed`: then its addresses stay taken, until arena_unmap. */
void arena_give(const Pages *pages, bool closed);
void arena_unmap(void *address, size_t bytes);

/* A range alone, of whole pages, and its end. */
bool arena_reserve(size_t bytes, uint64_t *offset);
void arena_release(uint64_t offset, size_t bytes);

/* Maps a range of the file `fd` (this process's: arena_file), at `at` or, with NULL, anywhere. NULL when impossible. */
void *arena_map(int fd, uint64_t offset, size_t bytes, void *at, int protection);
int arena_file(void);

size_t arena_page_bytes(void);
static inline size_t arena_whole_pages(size_t bytes) {
    size_t page = arena_page_bytes();
    return (bytes + page - 1) / page * page;
}

#endif
