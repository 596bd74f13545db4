/* Handles: what the caller holds instead of addresses. A handle names a kind, a slot and a generation, and is never
 * dereferenced: a stale, foreign or wild one is recognised (107017) instead of crashing, and a destroyed value does
 * not come back for 2^27 uses of its slot. */
#ifndef EMU_HANDLE_H
#define EMU_HANDLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum HandleKind {
    KIND_CONTEXT = 1,
    KIND_STREAM,
    KIND_EVENT,
    KIND_NOTIFY,
    KIND_CNT_NOTIFY,
    KIND_MODEL,
    KIND_LABEL,
    KIND_LABEL_LIST,
    KIND_BINARY,
    KIND_FUNCTION,
    KIND_ARGS,
    KIND_PARAM,
    KIND_CONDITION,
    KIND_POOL,
    KIND_PHYSICAL,
    KIND_TASK,
    KIND_TASK_GROUP,
} HandleKind;

enum { HANDLE_CHUNK_BITS = 12, HANDLE_CHUNKS = 256 };

typedef struct HandleSlot {
    _Atomic(uintptr_t) handle; /* the only value that opens this slot; 0 while free */
    void *_Atomic object;
    uint32_t generation, next_free;
} HandleSlot;

extern _Atomic(HandleSlot *) handle_chunks[HANDLE_CHUNKS];

/* NULL when memory or slots ran out. */
void *handle_new(HandleKind kind, void *object);
void handle_drop(const void *handle);

/* Layout: generation (27) | kind (5) | slot (20) | zero (4), so that it looks like an aligned user address. */
static inline uint32_t handle_slot_index(uintptr_t handle) { return (uint32_t)(handle >> 4) & 0xFFFFFU; }
static inline HandleKind handle_kind(uintptr_t handle) { return (HandleKind)((handle >> 24) & 0x1FU); }

/* The object behind a live handle of this kind, else NULL. */
static inline void *handle_get(HandleKind kind, const void *handle) {
    uintptr_t value = (uintptr_t)handle;
    if (handle_kind(value) != kind) { return NULL; }
    uint32_t index = handle_slot_index(value);
    HandleSlot *chunk = atomic_load_explicit(&handle_chunks[index >> HANDLE_CHUNK_BITS], memory_order_acquire);
    if (chunk == NULL) { return NULL; }
    HandleSlot *slot = &chunk[index & ((1U << HANDLE_CHUNK_BITS) - 1U)];
    if (atomic_load_explicit(&slot->handle, memory_order_acquire) != value) { return NULL; }
    return atomic_load_explicit(&slot->object, memory_order_relaxed);
}

#endif
