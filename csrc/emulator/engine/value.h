/* Values: tasks that write a 64-bit cell of device memory, and that hold their stream until a cell compares as asked,
 * whoever writes it: a value task, a kernel, a copy, a fill, the host (see poll.h for how that is noticed). */
#ifndef EMU_VALUE_H
#define EMU_VALUE_H

#include "engine/stream.h"

aclError value_write(Stream *stream, uint64_t *cell, uint64_t value, const char *api);
aclError value_wait(Stream *stream, uint64_t *cell, uint64_t value, uint32_t comparison, const char *api);

#endif
