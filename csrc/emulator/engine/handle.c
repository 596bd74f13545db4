/* The handle table: chunks that are never given back, so that a look-up needs no lock, and a first-in first-out
 * list of free slots, so that a slot rests as long as possible before it is used again. */
#include "engine/handle.h"

#include <pthread.h>
#include <stdlib.h>

#define CHUNK_SLOTS (1U << HANDLE_CHUNK_BITS)
#define NO_SLOT UINT32_MAX
#define GENERATIONS 0x07FFFFFFU

_Atomic(HandleSlot *) handle_chunks[HANDLE_CHUNKS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t first_free = NO_SLOT, last_free = NO_SLOT, chunk_count;

static HandleSlot *slot_at(uint32_t index) {
    return &atomic_load_explicit(&handle_chunks[index >> HANDLE_CHUNK_BITS],
                                 memory_order_relaxed)[index & (CHUNK_SLOTS - 1U)];
}

static void append_free(uint32_t index) {
    slot_at(index)->next_free = NO_SLOT;
    if (last_free == NO_SLOT) { first_free = index; }
    else { slot_at(last_free)->next_free = index; }
    last_free = index;
}

static void add_chunk(void) {
    if (chunk_count == HANDLE_CHUNKS) { return; }
    HandleSlot *chunk = calloc(CHUNK_SLOTS, sizeof(*chunk));
    if (chunk == NULL) { return; }
    uint32_t base = chunk_count << HANDLE_CHUNK_BITS;
    atomic_store_explicit(&handle_chunks[chunk_count++], chunk, memory_order_release);
    for (uint32_t i = 0; i < CHUNK_SLOTS; i++) { append_free(base + i); }
}

static uint32_t take_free(void) {
    if (first_free == NO_SLOT) { add_chunk(); }
    uint32_t index = first_free;
    if (index == NO_SLOT) { return NO_SLOT; }
    first_free = slot_at(index)->next_free;
    if (first_free == NO_SLOT) { last_free = NO_SLOT; }
    return index;
}

void *handle_new(HandleKind kind, void *object) {
    pthread_mutex_lock(&lock);
    uint32_t index = take_free();
    pthread_mutex_unlock(&lock);
    if (index == NO_SLOT) { return NULL; }
    HandleSlot *slot = slot_at(index);
    slot->generation = slot->generation % GENERATIONS + 1U;
    uintptr_t value = ((uintptr_t)slot->generation << 29) | ((uintptr_t)kind << 24) | ((uintptr_t)index << 4);
    atomic_store_explicit(&slot->object, object, memory_order_relaxed);
    atomic_store_explicit(&slot->handle, value, memory_order_release);
    return (void *)value;
}

void handle_drop(const void *handle) {
    uint32_t index = handle_slot_index((uintptr_t)handle);
    atomic_store_explicit(&slot_at(index)->handle, 0, memory_order_release);
    pthread_mutex_lock(&lock);
    append_free(index);
    pthread_mutex_unlock(&lock);
}
