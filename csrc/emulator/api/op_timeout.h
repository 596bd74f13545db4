/* Time limits of kernels in the steps that the device can measure. */
#ifndef EMU_OP_TIMEOUT_H
#define EMU_OP_TIMEOUT_H

#include <stdint.h>

/* In whole intervals, not above what the device can count to. 0 = the maximum. */
uint64_t op_timeout_actual_us(uint64_t wanted_us);

#endif
