/* The device's workers: a few threads that run ready streams, by priority. No worker waits for another stream. */
#ifndef EMU_SCHEDULER_H
#define EMU_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/stream.h"

/* A task was published: queue the stream if it was idle. */
void scheduler_submitted(Stream *stream);
/* What the stream's head task waits for may have happened. */
void stream_unpark(Stream *stream);
/* Runs the stream's tasks on this thread up to `target` if it is ready and nobody runs it. False if it was not. */
bool scheduler_help(Stream *stream, uint64_t target);
/* Calls stream_unpark with wait_expired set when the clock passes `deadline`. One per stream: its head task's. */
void scheduler_arm_timer(Stream *stream, uint64_t deadline);
/* For a kernel that runs: the same, and it is asked to return. */
void scheduler_arm_cancel(Stream *stream, uint64_t deadline, _Atomic(int32_t) *cancelled);
void scheduler_disarm_timer(Stream *stream);
/* Makes the watchman call poll_now every millisecond for as long as somebody waits there. */
void scheduler_start_polling(void);
uint32_t scheduler_worker_count(void);
bool scheduler_many_cpus(void);

#endif
