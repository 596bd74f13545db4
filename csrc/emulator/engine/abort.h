/* Device task abort: everything that the streams of a device run or have queued is dropped, and the device is as good
 * as new afterwards, without losing its memory or its handles. */
#ifndef EMU_ABORT_H
#define EMU_ABORT_H

#include "engine/context.h"

/* timeout_ms 0 = the usual limit. 107019 when the tasks do not end in time, 107035 when a callback refuses: then the
 * device keeps answering 107022 until another abort succeeds or the device is reset. */
aclError abort_device(Device *device, uint32_t timeout_ms, const char *api);
/* The device was reset: an abort that failed does not count any more. */
void abort_forget(Device *device);

#endif
