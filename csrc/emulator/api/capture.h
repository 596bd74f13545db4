/* What captures keep other calls from. */
#ifndef EMU_API_CAPTURE_H
#define EMU_API_CAPTURE_H

#include "engine/capture.h"

/* 107027: the stream is being captured. */
aclError capture_refuse(const char *api, Stream *stream);
/* 107030: a call that copies or fills in the call itself would come between the tasks of a capture. */
aclError capture_refuse_unsafe(const char *api);
/* 107041: so would an asynchronous one that has to wait for its stream. */
aclError capture_refuse_waiting(const char *api);

#endif
