/* Notifies: binary flags between streams. A record sets the flag (a second one is lost), a wait holds its stream until
 * the flag is set and takes it back. Waits are served in the order in which their streams came to wait. */
#ifndef EMU_NOTIFY_H
#define EMU_NOTIFY_H

#include "engine/park.h"
#include "engine/shared.h"

typedef struct Notify {
    void *handle;
    _Atomic(int) references; /* the handle and each queued task */
    Device *device;
    int32_t id;
    bool imported;
    bool recorded;      /* under notify.c's lock, as are the next two */
    ParkList waiting;
    SharedCell *shared; /* takes the place of both once the notify is known to other processes */
    struct Notify *pool_next;
} Notify;

aclError notify_create(Device *device, Notify **notify, const char *api);
void notify_destroy(Notify *notify); /* the handle's reference; queued tasks keep theirs */
aclError notify_find(const char *api, aclrtNotify handle, Notify **notify);

aclError notify_record(Notify *notify, Stream *stream, const char *api);
/* timeout_ns 0 = for ever; else the stream fails with 107020. */
aclError notify_wait(Notify *notify, Stream *stream, uint64_t timeout_ns, const char *api);
void notify_reset(Notify *notify); /* at once */

/* Makes the notify known to other processes, which find it by its key. The key stays the same. */
aclError notify_export(Notify *notify, char key[SHARED_KEY_BYTES], const char *api);
/* 107000 when the key names nothing, 507899 when this process may not have it. */
aclError notify_import(const char *key, Notify **notify, const char *api);

uint64_t notify_live_count(void);

#endif
