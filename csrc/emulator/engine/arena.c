/* The memory file: see arena.h. Large ranges are mapped one by one, and the file's offsets are never used twice: there
 * are 2^60 of them. Small ones are blocks of 2^n bytes, carved from chunks and used again from a stack for each size. */
#include "engine/arena.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILE_BYTES (UINT64_C(1) << 60)
#define CHUNK_BYTES ((size_t)2 << 20)
#define CLOSED_CHUNK_BYTES ((size_t)64 << 20)

enum {
    SIZES = 11, /* blocks of 512 bytes to 512 KiB */
    LARGEST_BLOCK = ARENA_ALIGNMENT << (SIZES - 1),
    FIRST_ROOM = 64,
};

typedef struct Block {
    void *address;
    uint64_t offset;
} Block;

typedef struct BlockStack {
    Block *free;
    size_t count, room;
    Block fresh; /* the rest of the newest chunk */
    size_t fresh_bytes;
} BlockStack;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static uint64_t next_offset;
static BlockStack stacks[SIZES], closed_stack; /* of the last, only the chunk */

size_t arena_page_bytes(void) {
    static _Atomic(size_t) page;
    if (page == 0) { page = (size_t)sysconf(_SC_PAGESIZE); }
    return page;
}

/* The child of a fork shares what is allocated, but takes from a file of its own what comes. The offsets go on: giving
 * back what was inherited then hits nobody. */
static void forget(void) {
    if (file >= 0) { close(file); }
    file = -1;
    for (int i = 0; i < SIZES; i++) { stacks[i].count = stacks[i].fresh_bytes = 0; }
    closed_stack.fresh_bytes = 0;
    pthread_mutex_init(&lock, NULL);
}

static bool open_file(void) {
    static bool watches_forks;
    if (file >= 0) { return true; }
    int made = memfd_create("pyacl device memory", MFD_CLOEXEC);
    if (made < 0) { return false; }
    if (ftruncate(made, (off_t)FILE_BYTES) != 0) {
        close(made);
        return false;
    }
    if (!watches_forks) { watches_forks = pthread_atfork(NULL, NULL, forget) == 0; }
    file = made;
    return true;
}

int arena_file(void) {
    pthread_mutex_lock(&lock);
    int fd = open_file() ? file : -1;
    pthread_mutex_unlock(&lock);
    return fd;
}

/* ---- ranges ---- */

static bool reserve(size_t bytes, uint64_t *offset) {
    if (!open_file() || bytes > FILE_BYTES - next_offset) { return false; }
    *offset = next_offset;
    next_offset += bytes;
    return true;
}

bool arena_reserve(size_t bytes, uint64_t *offset) {
    pthread_mutex_lock(&lock);
    bool reserved = reserve(bytes, offset);
    pthread_mutex_unlock(&lock);
    return reserved;
}

void arena_release(uint64_t offset, size_t bytes) {
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
}

void *arena_map(int fd, uint64_t offset, size_t bytes, void *at, int protection) {
    int flags = MAP_SHARED | MAP_NORESERVE | (at == NULL ? 0 : MAP_FIXED);
    void *address = mmap(at, bytes, protection, flags, fd, (off_t)offset);
    return address == MAP_FAILED ? NULL : address;
}

void arena_unmap(void *address, size_t bytes) { munmap(address, arena_whole_pages(bytes)); }

static bool take_pages(size_t bytes, int protection, Pages *pages) {
    bytes = arena_whole_pages(bytes);
    uint64_t offset;
    if (!arena_reserve(bytes, &offset)) { return false; }
    void *address = arena_map(file, offset, bytes, NULL, protection);
    *pages = (Pages){address, bytes, offset};
    return address != NULL;
}

/* ---- blocks ---- */

static int size_of(size_t bytes) {
    int size = 0;
    while (((size_t)ARENA_ALIGNMENT << size) < bytes) { size++; }
    return size;
}

static bool take_chunk(BlockStack *stack, size_t bytes, int protection) {
    uint64_t offset;
    if (!reserve(bytes, &offset)) { return false; }
    void *address = arena_map(file, offset, bytes, NULL, protection);
    if (address == NULL) { return false; }
    stack->fresh = (Block){address, offset};
    stack->fresh_bytes = bytes;
    return true;
}

static Block carve(BlockStack *stack, size_t bytes) {
    Block block = stack->fresh;
    stack->fresh = (Block){(char *)block.address + bytes, block.offset + bytes};
    stack->fresh_bytes -= bytes;
    return block;
}

static bool take_block(BlockStack *stack, size_t bytes, Block *block) {
    if (stack->count > 0) {
        *block = stack->free[--stack->count];
        return true;
    }
    if (stack->fresh_bytes == 0 && !take_chunk(stack, CHUNK_BYTES, PROT_READ | PROT_WRITE)) { return false; }
    *block = carve(stack, bytes);
    return true;
}

/* Without memory for the note, the block is lost. */
static void give_block(BlockStack *stack, Block block) {
    if (stack->count == stack->room) {
        size_t room = stack->room == 0 ? FIRST_ROOM : 2 * stack->room;
        Block *blocks = realloc(stack->free, room * sizeof(*blocks));
        if (blocks == NULL) { return; }
        stack->free = blocks;
        stack->room = room;
    }
    stack->free[stack->count++] = block;
}

/* Side by side, the kernel keeps closed ranges as one: there may be more of them than it keeps apart (65,530). */
static bool take_closed(size_t bytes, Pages *pages) {
    bytes = arena_whole_pages(bytes);
    if (bytes > CLOSED_CHUNK_BYTES / 4) { return take_pages(bytes, PROT_NONE, pages); }
    pthread_mutex_lock(&lock);
    bool taken = bytes <= closed_stack.fresh_bytes || take_chunk(&closed_stack, CLOSED_CHUNK_BYTES, PROT_NONE);
    if (taken) {
        Block block = carve(&closed_stack, bytes);
        *pages = (Pages){block.address, bytes, block.offset};
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

bool arena_take(size_t bytes, bool closed, Pages *pages) {
    if (closed) { return take_closed(bytes, pages); }
    if (bytes > LARGEST_BLOCK) { return take_pages(bytes, PROT_READ | PROT_WRITE, pages); }
    int size = size_of(bytes);
    Block block;
    pthread_mutex_lock(&lock);
    bool taken = take_block(&stacks[size], (size_t)ARENA_ALIGNMENT << size, &block);
    pthread_mutex_unlock(&lock);
    if (taken) { *pages = (Pages){block.address, (size_t)ARENA_ALIGNMENT << size, block.offset}; }
    return taken;
}

void arena_give(const Pages *pages, bool closed) {
    if (closed || pages->bytes > LARGEST_BLOCK) {
        size_t bytes = arena_whole_pages(pages->bytes);
        if (!closed) { arena_unmap(pages->address, bytes); }
        arena_release(pages->offset, bytes);
        return;
    }
    int size = size_of(pages->bytes);
    pthread_mutex_lock(&lock);
    give_block(&stacks[size], (Block){pages->address, pages->offset});
    pthread_mutex_unlock(&lock);
}
