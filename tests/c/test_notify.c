/* Notifies: a binary flag that one stream sets and another waits for and takes; timeouts, aborts, limits. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { PAIRS = 3, ROUNDS = 400, WAITERS = 8 };

static aclrtFuncHandle append;

static void launch(aclrtFuncHandle kernel, aclrtStream stream, void *args, size_t bytes) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, args, bytes, NULL, 0));
}

static aclrtStream new_stream(void) {
    aclrtStream stream;
    EXPECT(0, aclrtCreateStream(&stream));
    return stream;
}

static aclrtNotify new_notify(void) {
    aclrtNotify notify;
    EXPECT(0, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    return notify;
}

static void record(aclrtNotify notify, aclrtStream stream) { EXPECT(0, aclrtRecordNotify(notify, stream)); }
static void wait_for(aclrtNotify notify, aclrtStream stream) { EXPECT(0, aclrtWaitAndResetNotify(notify, stream, 0)); }
static void finish(aclrtStream stream) { EXPECT(0, aclrtSynchronizeStream(stream)); }
static void is_blocked(aclrtStream stream) { EXPECT(507046, aclrtSynchronizeStreamWithTimeout(stream, 20)); }

static void without_context(void) {
    aclrtNotify notify;
    EXPECT(100000, aclrtCreateNotify(NULL, 0));
    EXPECT(107000, aclrtCreateNotify(&notify, 2));
    EXPECT(107002, aclrtCreateNotify(&notify, 0));
}

static void arguments(aclrtStream stream) {
    aclrtNotify notify = new_notify(), device_only;
    uint32_t id;
    EXPECT(0, aclrtCreateNotify(&device_only, ACL_NOTIFY_DEVICE_USE_ONLY));
    EXPECT(100000, aclrtRecordNotify(NULL, stream));
    EXPECT(100000, aclrtWaitAndResetNotify(NULL, stream, 0));
    EXPECT(100000, aclrtDestroyNotify(NULL));
    EXPECT(100000, aclrtGetNotifyId(NULL, &id));
    EXPECT(100000, aclrtGetNotifyId(notify, NULL));
    EXPECT(107017, aclrtRecordNotify(stream, stream));
    EXPECT(107017, aclrtRecordNotify(notify, notify));
    EXPECT(100000, aclrtNotifyBatchReset(NULL, 1));
    EXPECT(107000, aclrtNotifyBatchReset(&notify, 0));
    aclrtContext own, other;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&other, 0));
    EXPECT(107003, aclrtRecordNotify(notify, stream));
    EXPECT(107003, aclrtWaitAndResetNotify(notify, stream, 0));
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtDestroyContext(other));
    EXPECT(0, aclrtDestroyNotify(device_only));
    EXPECT(0, aclrtDestroyNotify(notify));
    EXPECT(107017, aclrtDestroyNotify(notify));
    EXPECT(107017, aclrtWaitAndResetNotify(notify, stream, 0));
}

static void a_second_record_is_lost(aclrtStream stream, aclrtStream other) {
    aclrtNotify notify = new_notify();
    record(notify, stream);
    record(notify, stream);
    finish(stream);
    wait_for(notify, other);
    finish(other); /* the record came first: no wait */
    wait_for(notify, other);
    is_blocked(other);
    aclrtStreamStatus status;
    EXPECT(0, aclrtStreamQuery(other, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    record(notify, NULL);
    finish(other);
    EXPECT(0, aclrtDestroyNotify(notify));
}

static void each_record_lets_one_waiter_go(void) {
    aclrtStream streams[WAITERS];
    uint64_t log[WAITERS + 1] = {0};
    aclrtNotify notify = new_notify();
    for (uint64_t i = 0; i < WAITERS; i++) {
        streams[i] = new_stream();
        wait_for(notify, streams[i]);
        struct { void *log; uint64_t value; } args = {log, i};
        launch(append, streams[i], &args, sizeof(args));
        is_blocked(streams[i]); /* by now it is parked, behind the ones before */
    }
    for (uint64_t i = 0; i < WAITERS; i++) {
        record(notify, NULL);
        finish(streams[i]);
        CHECK(log[0] == i + 1 && log[i + 1] == i);
    }
    for (int i = 0; i < WAITERS; i++) { EXPECT(0, aclrtDestroyStream(streams[i])); }
    EXPECT(0, aclrtDestroyNotify(notify));
}

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void a_wait_times_out(aclrtStream stream) {
    aclrtNotify notify = new_notify();
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    EXPECT(0, aclrtWaitAndResetNotify(notify, stream, 1));
    EXPECT(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
    CHECK(seconds_since(&start) >= 0.99 && seconds_since(&start) < 5);
    record(notify, stream); /* the wait is gone: this record stays */
    finish(stream);
    EXPECT(0, aclrtWaitAndResetNotify(notify, stream, 1));
    EXPECT(0, aclrtWaitAndResetNotify(notify, stream, UINT32_MAX)); /* for ever */
    is_blocked(stream);
    record(notify, NULL);
    finish(stream);
    EXPECT(0, aclrtDestroyNotify(notify));
}

static void an_aborted_wait_takes_nothing(aclrtStream stream, aclrtStream other) {
    aclrtNotify notify = new_notify();
    wait_for(notify, stream);
    wait_for(notify, other);
    is_blocked(stream);
    is_blocked(other);
    EXPECT(0, aclrtStreamAbort(stream));
    record(notify, NULL);
    finish(other);
    finish(stream);
    EXPECT(0, aclrtDestroyNotify(notify));
}

static void tasks_outlive_the_handle(aclrtStream stream, aclrtStream other) {
    aclrtNotify notify = new_notify();
    int32_t id;
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuHoldStream(id, 1));
    record(notify, stream);
    wait_for(notify, other);
    EXPECT(0, aclrtDestroyNotify(notify));
    is_blocked(other);
    EXPECT(0, pyaclEmuHoldStream(id, 0));
    finish(other);
    finish(stream);
}

static void other_devices_may_record(aclrtStream stream) {
    aclrtNotify notify = new_notify();
    wait_for(notify, stream);
    EXPECT(0, aclrtSetDevice(1));
    aclrtStream remote = new_stream();
    record(notify, remote);
    finish(remote);
    EXPECT(0, aclrtDestroyStream(remote));
    EXPECT(0, aclrtResetDevice(1));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtResetDevice(0)); /* the count is back to one */
    finish(stream);
    EXPECT(0, aclrtDestroyNotify(notify));
}

static void a_batch_is_reset_at_once(aclrtStream stream) {
    aclrtNotify two[2] = {new_notify(), new_notify()};
    record(two[0], stream);
    record(two[1], stream);
    finish(stream);
    if (strncmp(aclrtGetSocName(), "Ascend310", 9) == 0 || strcmp(aclrtGetSocName(), "Ascend910A") == 0) {
        EXPECT(207000, aclrtNotifyBatchReset(two, 2));
    } else {
        EXPECT(0, aclrtNotifyBatchReset(two, 2));
        wait_for(two[1], stream);
        is_blocked(stream);
        record(two[1], NULL);
        finish(stream);
        aclrtNotify with_dead[2] = {two[0], two[1]};
        record(two[0], stream);
        finish(stream);
        EXPECT(0, aclrtDestroyNotify(two[1]));
        EXPECT(107017, aclrtNotifyBatchReset(with_dead, 2));
        wait_for(two[0], stream); /* was not touched */
        finish(stream);
        two[1] = new_notify();
    }
    for (int i = 0; i < 2; i++) { EXPECT(0, aclrtDestroyNotify(two[i])); }
}

static void their_number_is_limited(uint32_t limit) {
    aclrtNotify *all = calloc(limit + 1, sizeof(*all));
    uint32_t id, seen = 0;
    for (uint32_t i = 0; i < limit; i++) {
        all[i] = new_notify();
        EXPECT(0, aclrtGetNotifyId(all[i], &id));
        CHECK(id < limit);
        seen += id == i;
    }
    CHECK(seen == limit); /* each id once */
    EXPECT(207009, aclrtCreateNotify(&all[limit], 0));
    EXPECT(0, aclrtDestroyNotify(all[7]));
    all[7] = new_notify();
    EXPECT(0, aclrtGetNotifyId(all[7], &id));
    CHECK(id == 7);
    for (uint32_t i = 0; i < limit; i++) { EXPECT(0, aclrtDestroyNotify(all[i])); }
    free(all);
}

/* Two streams take turns: nothing but the notifies keeps the counters in step. */
static void *ping_pong(void *unused) {
    (void)unused;
    EXPECT(0, aclrtSetDevice(0));
    aclrtStream left = new_stream(), right = new_stream();
    aclrtNotify ping = new_notify(), pong = new_notify();
    uint64_t log[2 * ROUNDS + 1] = {0};
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct { void *log; uint64_t value; } even = {log, 2 * i}, odd = {log, 2 * i + 1};
        launch(append, left, &even, sizeof(even));
        record(ping, left);
        wait_for(pong, left);
        wait_for(ping, right);
        launch(append, right, &odd, sizeof(odd));
        record(pong, right);
    }
    finish(left);
    finish(right);
    CHECK(log[0] == 2 * ROUNDS);
    for (uint64_t i = 0; i < 2 * ROUNDS; i++) { CHECK(log[i + 1] == i); }
    EXPECT(0, aclrtDestroyNotify(ping));
    EXPECT(0, aclrtDestroyNotify(pong));
    EXPECT(0, aclrtDestroyStream(left));
    EXPECT(0, aclrtDestroyStream(right));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void many_pairs_take_turns(void) {
    pthread_t threads[PAIRS];
    for (int i = 0; i < PAIRS; i++) { CHECK(pthread_create(&threads[i], NULL, ping_pong, NULL) == 0); }
    for (int i = 0; i < PAIRS; i++) { pthread_join(threads[i], NULL); }
}

static uint32_t limit(void) {
    const char *soc = aclrtGetSocName();
    if (strncmp(soc, "Ascend950", 9) == 0) { return 65535; }
    if (strncmp(soc, "Ascend310B", 10) == 0) { return 2048; }
    return strncmp(soc, "Ascend310P", 10) == 0 || strcmp(soc, "Ascend910A") == 0 ? 1024 : 8192;
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    without_context();
    EXPECT(0, aclrtSetDevice(0));
    aclrtBinHandle binary;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "append", &append));
    aclrtStream stream = new_stream(), other = new_stream();
    arguments(stream);
    a_second_record_is_lost(stream, other);
    each_record_lets_one_waiter_go();
    a_wait_times_out(stream);
    if (limit() >= 8192) { an_aborted_wait_takes_nothing(stream, other); } /* where streams can be aborted */
    tasks_outlive_the_handle(stream, other);
    other_devices_may_record(stream);
    a_batch_is_reset_at_once(stream);
    their_number_is_limited(limit());
    many_pairs_take_turns();
    pyaclEmuCounters counters;
    EXPECT(0, pyaclEmuGetCounters(&counters));
    CHECK(counters.notifies == 0);
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
