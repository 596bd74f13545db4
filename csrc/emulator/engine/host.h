/* Host functions as stream tasks. Each context has one hidden thread that runs them in turn; the stream waits. */
#ifndef EMU_HOST_H
#define EMU_HOST_H

#include "acl/acl.h"
#include "engine/context.h"
#include "engine/stream.h"

aclError host_launch(Stream *stream, aclrtHostFunc function, void *argument, const char *api);
/* Ends the context's thread, if it has one. Its queue is empty: the context's streams are gone. */
void host_thread_stop(Context *context);

#endif
