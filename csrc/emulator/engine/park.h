/* Streams parked on something: a list in order of arrival. Its owner has a lock, under which all of this is called; a
 * stream is on one list at most, that of what its head task waits for. Only the task itself takes the stream off, when
 * it goes on: a waker that took it off would look at a link that the next wait may have changed already. */
#ifndef EMU_PARK_H
#define EMU_PARK_H

#include "engine/scheduler.h"

typedef struct ParkList {
    Stream *first;
} ParkList;

/* Nothing happens when it is there already: a task that was woken for nothing keeps its place. */
void park_add(ParkList *list, Stream *stream);
void park_remove(ParkList *list, Stream *stream);

/* Lets the tasks look again, under the lock: the scheduler's locks come last in order, so that this cannot deadlock. */
void park_wake_first(const ParkList *list);
void park_wake_all(const ParkList *list);

/* For a task that found itself having to wait: true when its deadline has passed; else sets the deadline, once. */
static inline bool park_expired(Stream *stream, uint64_t timeout_ns) {
    if (atomic_load(&stream->wait_expired)) { return true; }
    if (timeout_ns != 0) { scheduler_arm_timer(stream, clock_now() + timeout_ns); }
    return false;
}

#endif
