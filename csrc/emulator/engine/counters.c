/* Totals over all streams, dead and alive. */
#include "engine/counters.h"

#include <stdatomic.h>

#include "engine/binary.h"
#include "engine/cnt_notify.h"
#include "engine/context.h"
#include "engine/event.h"
#include "engine/memory.h"
#include "engine/notify.h"
#include "engine/scheduler.h"
#include "pyacl/emulator.h"

static _Atomic(uint64_t) retired_by_dead_streams, failed, dropped;

void counters_add_stream(uint64_t retired) { atomic_fetch_add(&retired_by_dead_streams, retired); }
void counters_count_failure(void) { atomic_fetch_add(&failed, 1); }
void counters_count_drop(void) { atomic_fetch_add(&dropped, 1); }

static void add_tasks(Stream *stream, void *argument) {
    pyaclEmuCounters *counters = argument;
    counters->tasksRetired += atomic_load(&stream->done) - stream->done_at_creation;
    counters->tasksSubmitted += atomic_load(&stream->tail) - stream->done_at_creation;
}

aclError pyaclEmuGetCounters(pyaclEmuCounters *counters) {
    if (counters == NULL) { return ACL_ERROR_INVALID_PARAM; }
    MemoryUsage memory = memory_usage();
    uint64_t dead = atomic_load(&retired_by_dead_streams);
    *counters = (pyaclEmuCounters){
        .contexts = context_live_count(),
        .streams = stream_live_count(),
        .events = event_live_count(),
        .binaries = binary_live_count(),
        .deviceAllocations = memory.device_count,
        .deviceBytes = memory.device_bytes,
        .hostAllocations = memory.host_count,
        .hostBytes = memory.host_bytes,
        .eventRecords = record_live_count(),
        .tasksSubmitted = dead,
        .tasksRetired = dead,
        .tasksFailed = atomic_load(&failed),
        .tasksDropped = atomic_load(&dropped),
        .notifies = notify_live_count() + cnt_notify_live_count(),
        .workers = scheduler_worker_count(),
    };
    stream_for_each(add_tasks, counters);
    return ACL_SUCCESS;
}
