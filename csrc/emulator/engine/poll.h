/* Waits for memory that changes without a word: a cell that a kernel, a copy, the host or another process writes.
 * Nobody but the hardware sees such a write, and the emulated device has none: so the watchman looks at the cells of
 * parked streams about once a millisecond, and whoever knows that it wrote one asks for a look at once. */
#ifndef EMU_POLL_H
#define EMU_POLL_H

#include "engine/stream.h"

/* True when the stream must wait: it is parked until condition(subject) holds. `subject` must live that long. Called
 * from a task's run; the same stream may call it again. */
bool poll_park(Stream *stream, PollCondition condition, const void *subject);
void poll_leave(Stream *stream);

/* Looks at once. True while streams go on waiting. */
bool poll_now(void);

#endif
