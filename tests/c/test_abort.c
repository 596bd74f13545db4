/* Device task abort: drops all work of one device, leaves it usable, tells callbacks, and is seen by everybody. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { STREAMS = 6, DROPPED = 50 };

static aclrtFuncHandle wait_flag, add_one, fail;
static _Atomic(uint32_t) gate, never; /* host memory serves the emulated kernels as well */
static _Atomic(uint64_t) counter;
static char calls[64];

static void launch(aclrtFuncHandle kernel, aclrtStream stream, const void *args, size_t bytes) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, (void *)args, bytes, NULL, 0));
}

static void launch_add_one(aclrtStream stream) {
    _Atomic(uint64_t) *at = &counter;
    launch(add_one, stream, &at, sizeof(at));
}

static void launch_wait(aclrtStream stream, _Atomic(uint32_t) *flag) { launch(wait_flag, stream, &flag, sizeof(flag)); }

static void arguments(void) {
    EXPECT(107001, aclrtDeviceTaskAbort(64, 0));
    EXPECT(107000, aclrtDeviceTaskAbort(0, 36 * 60 * 1000 + 1));
    EXPECT(100000, aclrtSetDeviceTaskAbortCallback(NULL, NULL, NULL));
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("nobody", NULL, NULL));
}

static int32_t note(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *name) {
    CHECK(device == 0 && timeout == 5000);
    char text[] = {*(char *)name, stage == ACL_RT_DEVICE_TASK_ABORT_PRE ? '0' : '1', '\0'};
    strcat(calls, text);
    EXPECT(107022, aclrtSynchronizeStream(NULL)); /* the abort is seen from inside, too */
    return 0;
}

static void *synchronize(void *stream) {
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(107022, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void *synchronize_event(void *event) {
    EXPECT(107022, aclrtSynchronizeEvent(event));
    return NULL;
}

static void all_work_is_dropped(void) {
    aclrtStream streams[STREAMS];
    aclrtEvent event;
    pthread_t threads[2];
    atomic_store(&counter, 0);
    for (int i = 0; i < STREAMS; i++) {
        EXPECT(0, aclrtCreateStreamWithConfig(&streams[i], 0, i % 2 ? ACL_STREAM_FAST_SYNC : 0));
        launch_wait(streams[i], &never);
        for (int n = 0; n < DROPPED; n++) { launch_add_one(streams[i]); }
    }
    EXPECT(0, aclrtCreateEvent(&event));
    EXPECT(0, aclrtRecordEvent(event, streams[0]));
    CHECK(pthread_create(&threads[0], NULL, synchronize, streams[1]) == 0);
    CHECK(pthread_create(&threads[1], NULL, synchronize_event, event) == 0);
    usleep(50000); /* they wait */
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("b", note, "b"));
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("a", note, "x"));
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("a", note, "a")); /* takes the other's place */
    EXPECT(0, aclrtDeviceTaskAbort(0, 5000));
    CHECK(strcmp(calls, "a0b0a1b1") == 0);
    for (int i = 0; i < 2; i++) { pthread_join(threads[i], NULL); }
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("a", NULL, NULL));
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("b", NULL, NULL));
    CHECK(atomic_load(&counter) == 0);
    for (int i = 0; i < STREAMS; i++) { launch_add_one(streams[i]); }
    EXPECT(0, aclrtSynchronizeDevice());
    CHECK(atomic_load(&counter) == STREAMS);
    for (int i = 0; i < STREAMS; i++) { EXPECT(0, aclrtDestroyStream(streams[i])); }
    EXPECT(0, aclrtDestroyEvent(event));
}

static void parked_streams_are_freed(aclrtStream stream) {
    aclrtNotify notify;
    uint64_t *cell;
    aclrtStream other;
    EXPECT(0, aclrtCreateStream(&other));
    EXPECT(0, aclrtCreateNotify(&notify, 0));
    EXPECT(0, aclrtMalloc((void **)&cell, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(cell, 8, 0, 8));
    EXPECT(0, aclrtWaitAndResetNotify(notify, stream, 0));
    EXPECT(0, aclrtValueWait(cell, 1, ACL_STREAM_WAIT_VALUE_EQ, other));
    EXPECT(507046, aclrtSynchronizeStreamWithTimeout(other, 20));
    EXPECT(0, aclrtDeviceTaskAbort(0, 0));
    EXPECT(0, aclrtSynchronizeDevice());
    EXPECT(0, aclrtDestroyNotify(notify));
    EXPECT(0, aclrtDestroyStream(other));
    EXPECT(0, aclrtFree(cell));
}

static void other_devices_go_on(aclrtStream stream) {
    aclrtStream remote;
    atomic_store(&gate, 0);
    atomic_store(&counter, 0);
    EXPECT(0, aclrtSetDevice(1));
    EXPECT(0, aclrtCreateStream(&remote));
    launch_wait(remote, &gate);
    launch_add_one(remote);
    EXPECT(0, aclrtDeviceTaskAbort(0, 0));
    atomic_store(&gate, 1);
    EXPECT(0, aclrtSynchronizeStream(remote));
    CHECK(atomic_load(&counter) == 1);
    EXPECT(0, aclrtDestroyStream(remote));
    EXPECT(0, aclrtResetDevice(1));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtResetDevice(0)); /* the count is back to one */
    EXPECT(0, aclrtSynchronizeStream(stream));
}

static void it_heals_a_context_in_stop_mode(aclrtStream stream) {
    int32_t code = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    aclrtStream stopping;
    EXPECT(0, aclrtCreateStream(&stopping));
    EXPECT(0, aclrtSetStreamFailureMode(stopping, ACL_STOP_ON_FAILURE));
    launch(fail, stopping, &code, sizeof(code));
    EXPECT(code, aclrtSynchronizeStream(stopping));
    EXPECT(code, aclrtSynchronizeStream(stream));
    EXPECT(code, aclrtStreamAbort(stopping) == 0 ? aclrtSynchronizeStream(stopping) : -1);
    EXPECT(0, aclrtDeviceTaskAbort(0, 0));
    atomic_store(&counter, 0);
    launch_add_one(stopping);
    launch_add_one(stream);
    EXPECT(0, aclrtSynchronizeStream(stopping));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(atomic_load(&counter) == 2);
    EXPECT(0, aclrtDestroyStream(stopping));
}

static int32_t refuse(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *refused_stage) {
    (void)device;
    (void)timeout;
    return stage == *(aclrtDeviceTaskAbortStage *)refused_stage ? 7 : 0;
}

static void everything_is_refused(aclrtStream stream) {
    _Atomic(uint64_t) *at = &counter;
    aclrtStreamStatus status;
    aclrtEvent event;
    EXPECT(107022, aclrtLaunchKernelWithHostArgs(add_one, 1, stream, NULL, &at, sizeof(at), NULL, 0));
    EXPECT(107022, aclrtSynchronizeStream(stream));
    EXPECT(107022, aclrtSynchronizeStream(NULL));
    EXPECT(107022, aclrtSynchronizeDevice());
    EXPECT(107022, aclrtStreamQuery(stream, &status));
    EXPECT(0, aclrtCreateEvent(&event));
    EXPECT(107022, aclrtRecordEvent(event, stream));
    EXPECT(107022, aclrtSynchronizeEvent(event));
    EXPECT(0, aclrtDestroyEvent(event));
}

static void a_refusing_callback_leaves_the_device_aborted(aclrtStream stream) {
    static const aclrtDeviceTaskAbortStage stages[] = {ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST};
    for (int i = 0; i < 2; i++) {
        aclrtDeviceTaskAbortStage stage = stages[i];
        EXPECT(0, aclrtSetDeviceTaskAbortCallback("refuse", refuse, &stage));
        EXPECT(107035, aclrtDeviceTaskAbort(0, 0));
        everything_is_refused(stream);
        EXPECT(0, aclrtSetDeviceTaskAbortCallback("refuse", NULL, NULL));
        EXPECT(0, aclrtDeviceTaskAbort(0, 0));
        EXPECT(0, aclrtSynchronizeStream(stream));
    }
}

static _Atomic(uint32_t) entered;

static void hold_up(void *flag) {
    atomic_store(&entered, 1);
    while (atomic_load((_Atomic(uint32_t) *)flag) == 0) { sched_yield(); }
}

static void *abort_again(void *unused) {
    (void)unused;
    EXPECT(107022, aclrtDeviceTaskAbort(0, 0));
    return NULL;
}

/* A host function cannot be dropped while it runs. */
static void work_that_does_not_end(aclrtStream stream) {
    atomic_store(&gate, 0);
    EXPECT(0, aclrtLaunchHostFunc(stream, hold_up, &gate));
    while (!atomic_load(&entered)) { sched_yield(); }
    EXPECT(107019, aclrtDeviceTaskAbort(0, 50));
    everything_is_refused(stream);
    atomic_store(&gate, 1);
    EXPECT(0, aclrtDeviceTaskAbort(0, 5000));
    EXPECT(0, aclrtSynchronizeStream(stream));
}

static int32_t abort_from_other_thread(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *args) {
    (void)device, (void)stage, (void)timeout, (void)args;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, abort_again, NULL) == 0);
    pthread_join(thread, NULL);
    return 0;
}

static void two_at_once(void) {
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("again", abort_from_other_thread, NULL));
    EXPECT(0, aclrtDeviceTaskAbort(0, 0));
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("again", NULL, NULL));
}

static void a_reset_forgets_a_failed_abort(void) {
    aclrtDeviceTaskAbortStage stage = ACL_RT_DEVICE_TASK_ABORT_PRE;
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("refuse", refuse, &stage));
    EXPECT(107035, aclrtDeviceTaskAbort(0, 0));
    EXPECT(0, aclrtSetDeviceTaskAbortCallback("refuse", NULL, NULL));
    EXPECT(107022, aclrtSynchronizeStream(NULL));
    EXPECT(0, aclrtResetDeviceForce(0));
    EXPECT(0, aclrtSetDevice(0));
    launch_add_one(NULL);
    EXPECT(0, aclrtSynchronizeStream(NULL));
}

static _Atomic(uint32_t) stop;

static void *submit_all_the_time(void *unused) {
    (void)unused;
    EXPECT(0, aclrtSetDevice(0));
    aclrtStream stream;
    EXPECT(0, aclrtCreateStream(&stream));
    _Atomic(uint64_t) *at = &counter;
    while (!atomic_load(&stop)) {
        aclError code = aclrtLaunchKernelWithHostArgs(add_one, 1, stream, NULL, &at, sizeof(at), NULL, 0);
        CHECK(code == 0 || code == 107022);
        code = aclrtSynchronizeStream(stream);
        CHECK(code == 0 || code == 107022);
    }
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void under_load(aclrtStream stream) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) { CHECK(pthread_create(&threads[i], NULL, submit_all_the_time, NULL) == 0); }
    for (int i = 0; i < 100; i++) { EXPECT(0, aclrtDeviceTaskAbort(0, 5000)); }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++) { pthread_join(threads[i], NULL); }
    atomic_store(&counter, 0);
    launch_add_one(stream);
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(atomic_load(&counter) == 1);
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    EXPECT(0, aclrtSetDevice(0));
    arguments();
    if (strncmp(aclrtGetSocName(), "Ascend310", 9) == 0 || strcmp(aclrtGetSocName(), "Ascend910A") == 0) {
        EXPECT(207000, aclrtDeviceTaskAbort(0, 0));
        return 0;
    }
    aclrtBinHandle binary;
    aclrtStream stream;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "wait_flag", &wait_flag));
    EXPECT(0, aclrtBinaryGetFunction(binary, "add_one", &add_one));
    EXPECT(0, aclrtBinaryGetFunction(binary, "fail", &fail));
    EXPECT(0, aclrtCreateStream(&stream));
    all_work_is_dropped();
    parked_streams_are_freed(stream);
    other_devices_go_on(stream);
    it_heals_a_context_in_stop_mode(stream);
    a_refusing_callback_leaves_the_device_aborted(stream);
    work_that_does_not_end(stream);
    two_at_once();
    under_load(stream);
    a_reset_forgets_a_failed_abort();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
