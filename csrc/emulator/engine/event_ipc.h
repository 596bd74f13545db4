/* Events shared between processes. Their records live in a shared cell instead of this process's memory; exporter and
 * importers use them alike. They have neither time nor id. */
#ifndef EMU_EVENT_IPC_H
#define EMU_EVENT_IPC_H

#include "engine/event.h"
#include "engine/shared.h"

aclError event_ipc_create(Context *context, Event **event, const char *api);
/* 107000 when the key names no event. */
aclError event_ipc_open(Context *context, const char *key, Event **event, const char *api);
/* Called when the handle goes: the event's own key is dead; and when nobody uses the event any more. */
void event_ipc_close(Event *event);
void event_ipc_release(Event *event);

aclError event_ipc_record(Event *event, struct Stream *stream, const char *api);
/* For the record that is the newest at this moment; nothing when there is none. */
aclError event_ipc_wait(Event *event, struct Stream *stream, uint64_t timeout_ns, const char *api);

bool event_ipc_is_over(const Event *event);
/* timeout_ns 0 = for ever. */
aclError event_ipc_synchronize(Event *event, uint64_t timeout_ns, const char *api);

#endif
