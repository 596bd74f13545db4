/* Captures: what is submitted to a stream goes into the program of a hidden stream of a model (program.h). A stream that
 * waits for an event recorded in the capture joins it, and is recorded from then on, too. At the end all that joined must
 * have come back to the stream that began, by events again. */
#ifndef EMU_CAPTURE_H
#define EMU_CAPTURE_H

#include "engine/event.h"
#include "engine/model.h"

static inline bool capture_has_stream(Stream *stream) { return atomic_load(&stream->capture) != NULL; }
static inline bool capture_has_event(Event *event) { return atomic_load(&event->captured) != NULL; }

/* Of tasks into `model`, until capture_end. 107027, 107033; 207009 when there is no stream for the model. */
aclError capture_begin(Stream *stream, Model *model, aclmdlRICaptureMode mode, const char *api);
/* 107029 and 107036 leave everything as it is; other failures end the capture and discard the model. */
aclError capture_end(Stream *stream, Model **model, const char *api);
/* What the stream captures into; NULL when it does not. */
Model *capture_model(Stream *stream, bool *invalid);
/* The stream began its capture; it did not join. */
bool capture_is_origin(Stream *stream);

/* An Ex event on a capturing stream, or a captured one on any stream. */
aclError capture_record(Event *event, Stream *stream, const char *api);
aclError capture_wait(Event *event, Stream *stream, uint64_t timeout_ns, const char *api);
/* With the EXTERNAL flag: it is about executions, not about the capture. 107029. */
aclError capture_external(Event *event, Stream *stream, bool is_record, const char *api);
/* It is recorded outside of any capture now. */
void capture_forget_event(Event *event);

/* The tasks between these two make a group, which can be updated. 107029, 107033, 107034. */
aclError capture_group_begin(Stream *stream, const char *api);
aclError capture_group_end(Stream *stream, struct TaskGroup **group, const char *api);

/* The calling thread must not do what would wait for a stream of the context. */
bool capture_forbids(Context *context);

/* What the program says about the task that the thread submitted last: kept with it, if a capture on a stream with
 * CACHE_OP_INFO recorded it. False without memory. */
bool capture_note_task(const void *info, size_t bytes);

/* Under the submit lock of a stream that ends. */
void capture_abandon(Stream *stream);
void capture_discard_all(const Context *context);

#endif
