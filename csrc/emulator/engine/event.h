/* Events. Each aclrtRecordEvent makes a Record: the point in a stream that the event then stands for. A wait keeps
 * the Record that was newest when it was queued, so a later record never moves it. */
#ifndef EMU_EVENT_H
#define EMU_EVENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/context.h"
#include "engine/spot.h"
#include "engine/task.h"

typedef enum RecordState {
    RECORD_OPEN,    /* stands for a record still to come: a SYNC event waited on first, or any event after a reset */
    RECORD_PENDING, /* queued */
    RECORD_DONE,
    RECORD_DROPPED, /* its stream was aborted: counts as complete for the host, never happens for device waits */
} RecordState;

typedef struct Record {
    _Atomic(int) references;
    _Atomic(int) state;
    uint64_t time_ns;            /* when it was reached, once DONE */
    struct Stream *parked;       /* streams whose head task waits for it, under the record lock */
} Record;

typedef enum EventFamily { EVENT_DEFAULT, EVENT_CLASSIC, EVENT_EX } EventFamily;

struct Captured;

typedef struct Event {
    void *handle;
    _Atomic(int) references; /* the handle and each queued task */
    Context *context;
    EventFamily family;
    uint32_t flags;
    int32_t id; /* hardware id, or -1 */
    pthread_mutex_t lock; /* newest, recorded, mode */
    Record *newest;
    bool recorded;           /* ever */
    int record_flag;         /* -1 until first used; then default and external must not mix */
    struct Stream *stream;   /* of the newest record */
    struct SharedCell *shared; /* of an IPC event, or NULL: see event_ipc.h */
    bool imported;             /* it is another event's cell */
    _Atomic(int) waits;      /* queued and not yet passed */
    /* What tasks of built models know of the event: a flag on the device, which the records of all streams set, and
     * which the host cannot see. */
    Record signal;
    bool is_signalled;                    /* its newest record is one of a model */
    struct Captured *_Atomic captured;    /* its record in a capture, or NULL; read further only under capture.c's lock */
    struct Event *pool_next;
} Event;

aclError event_create(Context *context, EventFamily family, uint32_t flags, Event **event, const char *api);
void event_destroy(Event *event); /* the handle's reference */
aclError event_find(const char *api, aclrtEvent handle, Event **event);

bool event_can_be_waited(const Event *event);
bool event_has_time(const Event *event);

/* On a PERSISTENT stream, or for an EXTERNAL event in a capture, these are about the event's signal. */
aclError event_record(Event *event, struct Stream *stream, const char *api);
aclError event_wait(Event *event, struct Stream *stream, uint64_t timeout_ns, const char *api);
aclError event_reset(Event *event, struct Stream *stream, const char *api);
/* The newest record with a reference of the caller's own, or NULL when there is none yet. */
Record *event_newest(Event *event);
/* A newest record that something else than a task of event_record will finish; NULL without memory. */
Record *event_new_record(Event *event);
/* Its newest record was queued on a stream of a model: the host cannot ask about it. */
bool event_is_signalled(Event *event);

/* Records that only the tasks of one captured model know. */
Record *record_new(RecordState state);
Record *record_retain(Record *record);
void record_release(Record *record);
void record_finish(Record *record, RecordState state);
/* Tasks with as.event filled in: the record happens once in each execution, and the waits wait for that. */
extern const TaskOps event_captured_record_ops, event_captured_wait_ops;
/* The same with a record of the execution's own (external.h). */
extern const TaskOps event_external_record_ops, event_external_wait_ops;
/* It is one of the former: others depend on it. */
bool event_orders_capture(const Task *task);
/* Makes `task` the same as `before` for another event. */
void event_retarget(const Task *before, Task *task, Event *event);
Event *event_retain(Event *event);
void event_release(Event *event);
bool record_is_over(Record *record);
/* Waits on the host; timeout_ns 0 = for ever. */
aclError record_synchronize(Record *record, Event *event, uint64_t timeout_ns, const char *api);
void record_wake_host_waiters(void);

uint64_t event_live_count(void);
uint64_t record_live_count(void);
uint32_t event_ids_used(void);

#endif
