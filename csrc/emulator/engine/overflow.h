/* The overflow status area: 64 bytes of which the first word tells whether a task met a floating-point overflow
 * since the area was cleared last. */
#ifndef EMU_OVERFLOW_H
#define EMU_OVERFLOW_H

#include "engine/stream.h"

enum { OVERFLOW_STATUS_BYTES = 64 };

/* The area that the tasks of this device mark. */
void *overflow_area(const Device *device);

static inline bool is_overflow(int32_t code) {
    return code == ACL_ERROR_RT_AICORE_OVER_FLOW || code == ACL_ERROR_RT_AIVEC_OVER_FLOW ||
           code == ACL_ERROR_RT_OVER_FLOW;
}
void overflow_raise(const Device *device);

/* Tasks that copy the area to `destination`, and that clear it. */
aclError overflow_read(Stream *stream, void *destination, const char *api);
aclError overflow_clear(Stream *stream, const char *api);

#endif
