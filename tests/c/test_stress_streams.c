/* Many threads on many streams: order within a stream, events between streams, aborts, failures, destroys with work
 * left, all at once. At the end every kernel that had to run has run, in order, and every resource is back. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { THREADS = 4, ROUNDS = 60, STREAMS = 6, LAUNCHES = 40 };

static aclrtFuncHandle append, add_one, fail, noop;

typedef struct Log {
    _Atomic(uint64_t) *entries;
    uint64_t value;
} Log;

static void launch(aclrtFuncHandle kernel, aclrtStream stream, void *args, size_t bytes) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, args, bytes, NULL, 0));
}

/* Launches on alternating streams, each step ordered behind the one before by an event: the log must count up. */
static void ordered_by_events(aclrtStream *streams, uint64_t *log) {
    aclrtEvent event;
    EXPECT(0, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    memset(log, 0, (LAUNCHES + 1) * sizeof(*log));
    for (uint64_t i = 0; i < LAUNCHES; i++) {
        aclrtStream stream = streams[i % STREAMS];
        EXPECT(0, aclrtStreamWaitEvent(stream, event)); /* the newest record: the step before */
        Log args = {(_Atomic(uint64_t) *)log, i};
        launch(append, stream, &args, sizeof(args));
        EXPECT(0, aclrtRecordEvent(event, stream));
    }
    EXPECT(0, aclrtSynchronizeEvent(event));
    CHECK(log[0] == LAUNCHES);
    for (uint64_t i = 0; i < LAUNCHES; i++) { CHECK(log[i + 1] == i); }
    EXPECT(0, aclrtDestroyEvent(event));
}

static void failure_is_reported_once(aclrtStream stream) {
    int32_t code = ACL_ERROR_RT_AICORE_EXCEPTION;
    launch(fail, stream, &code, sizeof(code));
    EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
}

static void abort_leaves_a_usable_stream(aclrtStream stream, _Atomic(uint64_t) *counter) {
    for (int i = 0; i < LAUNCHES; i++) { launch(noop, stream, &counter, sizeof(counter)); }
    EXPECT(0, aclrtStreamAbort(stream));
    uint64_t before = atomic_load(counter);
    launch(add_one, stream, &counter, sizeof(counter));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(atomic_load(counter) == before + 1);
}

static void *work(void *argument) {
    uint64_t log[LAUNCHES + 1];
    _Atomic(uint64_t) counter = 0;
    (void)argument;
    EXPECT(0, aclrtSetDevice(0));
    for (int round = 0; round < ROUNDS; round++) {
        aclrtStream streams[STREAMS];
        for (uint32_t i = 0; i < STREAMS; i++) { EXPECT(0, aclrtCreateStreamWithConfig(&streams[i], i, i % 4)); }
        ordered_by_events(streams, log);
        failure_is_reported_once(streams[round % STREAMS]);
        abort_leaves_a_usable_stream(streams[(round + 1) % STREAMS], &counter);
        _Atomic(uint64_t) *at = &counter;
        uint64_t before = atomic_load(&counter);
        for (int i = 0; i < STREAMS; i++) { launch(add_one, streams[i], &at, sizeof(at)); }
        for (int i = 0; i < STREAMS; i++) { EXPECT(0, aclrtDestroyStream(streams[i])); } /* waits for its work */
        CHECK(atomic_load(&counter) == before + STREAMS);
    }
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

int main(int argc, char **argv) {
    guard(argc, argv, 120);
    pyaclEmuCounters before, after;
    aclrtBinHandle binary;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "append", &append));
    EXPECT(0, aclrtBinaryGetFunction(binary, "add_one", &add_one));
    EXPECT(0, aclrtBinaryGetFunction(binary, "fail", &fail));
    EXPECT(0, aclrtBinaryGetFunction(binary, "noop", &noop));
    EXPECT(0, pyaclEmuGetCounters(&before));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) { CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0); }
    for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], NULL); }
    EXPECT(0, pyaclEmuGetCounters(&after));
    CHECK(after.streams == before.streams);
    CHECK(after.events == before.events);
    CHECK(after.eventRecords == before.eventRecords);
    CHECK(after.tasksSubmitted == after.tasksRetired);
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
