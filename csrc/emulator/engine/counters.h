/* What the emulator has done so far, for pyaclEmuGetCounters. Tasks are counted by their streams; here is only what
 * streams cannot know or leave behind when they end. */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H

#include <stdint.h>

void counters_add_stream(uint64_t retired);
void counters_count_failure(void);
void counters_count_drop(void);

#endif
