/* Callbacks that programs register by name: stream state, device state, device task abort. */
#ifndef EMU_REGISTRY_H
#define EMU_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

typedef void (*AnyCallback)(void);

/* Callbacks of one kind, kept in the order of their names. */
typedef struct Registry Registry;
extern Registry stream_state_callbacks, device_state_callbacks, task_abort_callbacks;

/* Callback NULL removes the name. False when the name is taken already (with `replace`: never). */
bool registry_set(Registry *registry, const char *name, AnyCallback callback, void *argument, bool replace);

/* Calls `invoke` for each entry, without holding a lock: callbacks may call the runtime. */
void registry_call(Registry *registry, void (*invoke)(AnyCallback callback, void *argument, void *subject),
                   void *subject);

void report_stream_state(void *stream_handle, aclrtStreamState state);
void report_device_state(int32_t device, aclrtDeviceState state);

#endif
