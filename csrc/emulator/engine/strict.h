/* Strict mode (PYACL_EMULATOR_STRICT=1): the host cannot touch device memory. It has no access rights; a thread that
 * runs a task, or is inside a copy of the runtime, opens what it touches by its fault, and closes it when it is done.
 * The fault of any other thread, or in freed memory, is reported by the name of the buffer, and then is what it was. */
#ifndef EMU_STRICT_H
#define EMU_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/thread.h"

struct Allocation;

extern bool strict_active; /* as strict_is_on() has answered first */
bool strict_is_on(void);

/* Around what the runtime itself does with device memory. */
void strict_close(void);
static inline void strict_enter(void) {
    if (__builtin_expect(strict_active, false)) { emu_thread.device_depth++; }
}
static inline void strict_leave(void) {
    if (__builtin_expect(strict_active, false) && emu_thread.device_depth > 0 && --emu_thread.device_depth == 0) {
        strict_close();
    }
}

/* Freed memory: its addresses stay taken for a while. */
void strict_bury(const struct Allocation *gone);

/* Host memory that a pending copy will read: its sum when the copy is submitted, and whether it is the same still. */
uint64_t strict_sum(const void *source, size_t bytes);
void strict_check_sum(const void *source, size_t bytes, uint64_t sum);
uint64_t strict_changed_count(void);

#endif
