/* Counting notifies: a 32-bit value that tasks change and compare. A wait holds its stream until the comparison holds,
 * and may set the value to 0 when it goes on. */
#ifndef EMU_CNT_NOTIFY_H
#define EMU_CNT_NOTIFY_H

#include "engine/park.h"

typedef struct CntNotify {
    void *handle;
    _Atomic(int) references; /* the handle and each queued task */
    Device *device;
    int32_t id;
    uint32_t value;   /* under cnt_notify.c's lock, as is the next */
    ParkList waiting;
    struct CntNotify *pool_next;
} CntNotify;

aclError cnt_notify_create(Device *device, CntNotify **notify, const char *api);
void cnt_notify_destroy(CntNotify *notify); /* the handle's reference; queued tasks keep theirs */
aclError cnt_notify_find(const char *api, aclrtCntNotify handle, CntNotify **notify);

aclError cnt_notify_record(CntNotify *notify, Stream *stream, const aclrtCntNotifyRecordInfo *info, const char *api);
/* info->timeout in seconds, 0 = for ever; on expiry the stream fails with 107020. */
aclError cnt_notify_wait(CntNotify *notify, Stream *stream, const aclrtCntNotifyWaitInfo *info, const char *api);
aclError cnt_notify_reset(CntNotify *notify, Stream *stream, const char *api);

uint64_t cnt_notify_live_count(void);

#endif
