/* Polled waits: see poll.h. */
#include "engine/poll.h"

#include "engine/park.h"

static struct {
    pthread_mutex_t lock;
    ParkList waiting;
} polled = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool poll_park(Stream *stream, PollCondition condition, const void *subject) {
    pthread_mutex_lock(&polled.lock);
    bool wait = !condition(subject);
    if (wait) {
        stream->poll_condition = condition;
        stream->poll_subject = subject;
        park_add(&polled.waiting, stream);
    } else {
        park_remove(&polled.waiting, stream);
    }
    pthread_mutex_unlock(&polled.lock);
    if (wait) { scheduler_start_polling(); }
    return wait;
}

void poll_leave(Stream *stream) {
    pthread_mutex_lock(&polled.lock);
    park_remove(&polled.waiting, stream);
    pthread_mutex_unlock(&polled.lock);
}

bool poll_now(void) {
    pthread_mutex_lock(&polled.lock);
    for (Stream *stream = polled.waiting.first; stream != NULL; stream = stream->parked_next) {
        if (stream->poll_condition(stream->poll_subject)) { stream_unpark(stream); }
    }
    bool more = polled.waiting.first != NULL;
    pthread_mutex_unlock(&polled.lock);
    return more;
}
