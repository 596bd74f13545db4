/* Shared cells: see shared.h. */
#include "engine/shared.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/arena.h"

enum { CELLS = 65536 };
#define ARENA_BYTES (CELLS * sizeof(SharedCell))

/* The first cell's room is the head of the file: tells it from another file that has the same number later. */
typedef struct Head {
    char magic[8];
    uint64_t nonce;
} Head;
#define MAGIC "pyacl-1"
#define FILE_NAME "pyacl shared cells"

typedef struct Arena {
    pid_t pid;
    int fd; /* in that process */
    uint64_t nonce;
    SharedCell *cells;
    struct Arena *next;
} Arena;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* everything here but the cells themselves */
static Arena own = {.fd = -1};
static Arena *foreign; /* never unmapped: few processes, and their cells are looked at without a lock */
static uint32_t next_free = 1;

/* ---- arenas ---- */

static SharedCell *map(int fd) {
    void *cells = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return cells == MAP_FAILED ? NULL : cells;
}

static bool make_own(void) {
    if (own.cells != NULL) { return true; }
    if (getrandom(&own.nonce, sizeof(own.nonce), 0) != (ssize_t)sizeof(own.nonce)) { return false; }
    own.fd = memfd_create(FILE_NAME, MFD_CLOEXEC);
    if (own.fd < 0) { return false; }
    SharedCell *cells = ftruncate(own.fd, (off_t)ARENA_BYTES) == 0 ? map(own.fd) : NULL;
    if (cells == NULL) {
        close(own.fd);
        return false;
    }
    Head head = {.magic = MAGIC, .nonce = own.nonce};
    memcpy(cells, &head, sizeof(head));
    own.pid = getpid();
    own.cells = cells;
    return true;
}

static bool is_arena(int fd, uint64_t nonce) {
    Head head;
    return pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
           memcmp(head.magic, MAGIC, sizeof(head.magic)) == 0 && head.nonce == nonce;
}

static Arena *open_arena(pid_t pid, int number, uint64_t nonce) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) { return NULL; }
    SharedCell *cells = is_arena(fd, nonce) ? map(fd) : NULL;
    close(fd);
    Arena *arena = cells == NULL ? NULL : malloc(sizeof(*arena));
    if (arena != NULL) { *arena = (Arena){pid, number, nonce, cells, NULL}; }
    return arena;
}

static Arena *find_arena(pid_t pid, int number, uint64_t nonce) {
    if (own.cells != NULL && own.nonce == nonce) { return &own; }
    for (Arena *arena = foreign; arena != NULL; arena = arena->next) {
        if (arena->nonce == nonce) { return arena; }
    }
    Arena *arena = open_arena(pid, number, nonce);
    if (arena != NULL) {
        arena->next = foreign;
        foreign = arena;
    }
    return arena;
}

/* ---- cells ---- */

static SharedCell *take_cell(void) {
    for (uint32_t tries = 1; tries < CELLS; tries++) {
        SharedCell *cell = &own.cells[next_free];
        next_free = next_free + 1 == CELLS ? 1 : next_free + 1;
        uint32_t nobody = 0;
        if (atomic_compare_exchange_strong(&cell->users, &nobody, 1)) { return cell; }
    }
    return NULL;
}

SharedCell *shared_new(void) {
    pthread_mutex_lock(&lock);
    SharedCell *cell = make_own() ? take_cell() : NULL;
    pthread_mutex_unlock(&lock);
    if (cell == NULL) { return NULL; }
    atomic_store(&cell->open_to_all, false);
    atomic_store(&cell->pid_count, 0);
    atomic_store(&cell->flag, 0);
    atomic_store(&cell->recorded, 0);
    for (int i = 0; i < SHARED_RECORDS; i++) { atomic_store(&cell->over[i], 0); }
    atomic_fetch_add(&cell->generation, 1);
    atomic_store(&cell->alive, true);
    return cell;
}

static bool is_own(const SharedCell *cell) { return own.cells != NULL && cell >= own.cells && cell < own.cells + CELLS; }

bool shared_key(const SharedCell *cell, char key[SHARED_KEY_BYTES]) {
    if (!is_own(cell)) { return false; }
    snprintf(key, SHARED_KEY_BYTES, "pyacl-%d-%d-%016llx-%u-%u", own.pid, own.fd, (unsigned long long)own.nonce,
             (uint32_t)(cell - own.cells), atomic_load(&cell->generation));
    return true;
}

void shared_release(SharedCell *cell) { atomic_fetch_sub(&cell->users, 1); }

/* Becomes a user first and looks afterwards: the cell cannot change hands in between. */
static bool join(SharedCell *cell, uint32_t generation, SharedKind kind) {
    uint32_t users = atomic_load(&cell->users);
    do {
        if (users == 0) { return false; }
    } while (!atomic_compare_exchange_weak(&cell->users, &users, users + 1));
    bool alive = atomic_load(&cell->alive) && atomic_load(&cell->generation) == generation;
    if (alive && cell->kind == kind) { return true; }
    shared_release(cell);
    return false;
}

SharedCell *shared_find(const char *key, SharedKind kind) {
    int pid, fd, end = 0;
    unsigned long long nonce;
    uint32_t index, generation;
    int parts = sscanf(key, "pyacl-%d-%d-%16llx-%u-%u%n", &pid, &fd, &nonce, &index, &generation, &end);
    if (parts != 5 || key[end] != '\0' || index == 0 || index >= CELLS) { return NULL; }
    pthread_mutex_lock(&lock);
    Arena *arena = find_arena(pid, fd, nonce);
    pthread_mutex_unlock(&lock);
    if (arena == NULL || !join(&arena->cells[index], generation, kind)) { return NULL; }
    return &arena->cells[index];
}

/* A number: process (22 bits), cell (16), generation (26). The arena of a process is found by its name. */
enum { GENERATION_BITS = 26, INDEX_BITS = 16 };
#define GENERATIONS (UINT32_C(1) << GENERATION_BITS)

uint64_t shared_number(const SharedCell *cell) {
    if (!is_own(cell)) { return 0; }
    uint64_t index = (uint64_t)(cell - own.cells), generation = atomic_load(&cell->generation) % GENERATIONS;
    return (uint64_t)own.pid << (INDEX_BITS + GENERATION_BITS) | index << GENERATION_BITS | generation;
}

static bool has_name(pid_t pid, const char *entry) {
    char path[300], target[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0) { return false; }
    target[length] = '\0';
    return strncmp(target, "/memfd:" FILE_NAME, strlen("/memfd:" FILE_NAME)) == 0;
}

static bool read_nonce(pid_t pid, int number, uint64_t *nonce) {
    char path[64];
    Head head;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool read = fd >= 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head);
    if (fd >= 0) { close(fd); }
    if (read) { *nonce = head.nonce; }
    return read;
}

static Arena *find_arena_of(pid_t pid) {
    if (own.cells != NULL && own.pid == pid) { return &own; }
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *directory = opendir(path);
    Arena *arena = NULL;
    for (struct dirent *entry; directory != NULL && arena == NULL && (entry = readdir(directory)) != NULL;) {
        uint64_t nonce;
        int number = atoi(entry->d_name);
        if (has_name(pid, entry->d_name) && read_nonce(pid, number, &nonce)) { arena = find_arena(pid, number, nonce); }
    }
    if (directory != NULL) { closedir(directory); }
    return arena;
}

SharedCell *shared_find_number(uint64_t number, SharedKind kind) {
    uint32_t index = (uint32_t)(number >> GENERATION_BITS) % CELLS, wanted = (uint32_t)number % GENERATIONS;
    pthread_mutex_lock(&lock);
    Arena *arena = find_arena_of((pid_t)(number >> (INDEX_BITS + GENERATION_BITS)));
    pthread_mutex_unlock(&lock);
    if (arena == NULL || index == 0) { return NULL; }
    uint32_t generation = atomic_load(&arena->cells[index].generation);
    bool same = generation % GENERATIONS == wanted && join(&arena->cells[index], generation, kind);
    return same ? &arena->cells[index] : NULL;
}

/* ---- memory ---- */

bool shared_describe(uint64_t offset, uint64_t bytes, SharedRange *range) {
    struct stat status;
    int file = arena_file();
    if (file < 0 || fstat(file, &status) != 0) { return false; }
    *range = (SharedRange){getpid(), file, status.st_ino, offset, bytes};
    return true;
}

int shared_open(const SharedRange *range) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", range->pid, range->file);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) { return -1; }
    if (fstat(fd, &status) == 0 && status.st_ino == range->inode) { return fd; }
    close(fd);
    return -1;
}

/* ---- who may import ---- */

bool shared_allow(SharedCell *cell, const int32_t *pids, size_t count) {
    pthread_mutex_lock(&lock); /* only the exporter adds */
    uint32_t known = atomic_load(&cell->pid_count);
    bool room = count <= SHARED_PIDS - known;
    for (size_t i = 0; room && i < count; i++) { atomic_store(&cell->pids[known + i], pids[i]); }
    if (room) { atomic_store(&cell->pid_count, known + (uint32_t)count); }
    pthread_mutex_unlock(&lock);
    return room;
}

bool shared_is_allowed(SharedCell *cell) {
    if (atomic_load(&cell->open_to_all)) { return true; }
    uint32_t count = atomic_load(&cell->pid_count);
    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load(&cell->pids[i]) == getpid()) { return true; }
    }
    return false;
}
