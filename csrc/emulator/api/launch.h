/* What all calls share that may wait for what they have launched. */
#ifndef EMU_API_LAUNCH_H
#define EMU_API_LAUNCH_H

#include "engine/stream.h"

/* Launch blocking: waits for the stream, where its mode says so. */
aclError launch_settle(const char *api, Stream *stream);

#endif
