/* Callbacks that threads of the program run. A thread serves streams; what it shall run collects with it until it
 * asks (aclrtProcessReport). A stream is served by one thread, or by the runtime itself: see host.h. */
#ifndef EMU_REPORT_H
#define EMU_REPORT_H

#include "acl/acl.h"
#include "engine/stream.h"

/* From now on host functions may run for this stream. False when a thread of the program serves it. */
bool report_claim_for_host(Stream *stream);

aclError report_subscribe(Stream *stream, uint64_t thread, const char *api);
aclError report_unsubscribe(Stream *stream, uint64_t thread, const char *api);
/* The stream ends. */
void report_forget(Stream *stream);

/* Goes to the thread that serves the stream now, even if it has stopped serving when the callback's turn comes. */
aclError report_launch(Stream *stream, aclrtCallback function, void *argument, bool blocking, const char *api);

/* Runs what has collected for `thread`, in the calling thread. timeout_ns FOREVER: waits without limit. */
aclError report_process(uint64_t thread, uint64_t timeout_ns, const char *api);

#endif
