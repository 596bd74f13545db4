/* Models that are built: tasks wait for the execution, run in order, again and again; streams start by themselves or by
 * others; one execution after another; failure, abort, time limits and the end. */
#include <pthread.h>
#include <time.h>

#include "model.h"

static void tasks_wait_for_the_execution(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *log = device_zeros(64 * 8);
    for (uint64_t i = 0; i < 5; i++) { EXPECT(0, launch_append(bound, log, i)); }
    EXPECT(0, aclrtSynchronizeStream(bound));
    CHECK(read_cell(log) == 0);
    EXPECT(ACL_ERROR_RT_MODEL_EXECUTE, aclmdlRIExecute(model, -1));
    finish_model(model, bound);
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    expect_log(log, 5, (uint64_t[]){0, 1, 2, 3, 4});
    EXPECT(0, aclmdlRIExecute(model, 5000));
    EXPECT(0, aclmdlRIExecute(model, -1));
    CHECK(read_cell(log) == 15);
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, launch_append(bound, log, 9)); /* the model is complete */
    EXPECT(ACL_ERROR_RT_STREAM_MODEL, aclrtDestroyStream(bound));
    EXPECT(0, aclmdlRIUnbindStream(model, bound));
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(log));
}

/* A stream orders an execution among its other tasks. */
static void an_execution_is_a_task(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, launch_append(bound, log, 7));
    EXPECT(0, launch_append(bound, log, 8));
    finish_model(model, bound);
    for (uint64_t i = 0; i < 3; i++) {
        EXPECT(0, launch_append(stream, log, i));
        EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    }
    EXPECT(0, launch_append(stream, log, 3));
    EXPECT(0, aclrtSynchronizeStream(stream));
    expect_log(log, 10, (uint64_t[]){0, 7, 8, 1, 7, 8, 2, 7, 8, 3});
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(log));
}

/* From many streams at once: every execution is whole before the next begins. */
static void executions_do_not_overlap(void) {
    enum { STREAMS = 8, ROUNDS = 20 };
    aclmdlRI model = new_model();
    aclrtStream first = bound_stream(model, HEAD), second = bound_stream(model, HEAD), streams[STREAMS];
    aclrtEvent event;
    uint64_t *log = device_zeros((2 + 2 * STREAMS * ROUNDS) * 8), *entries = malloc((2 + 2 * STREAMS * ROUNDS) * 8);
    EXPECT(0, aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT(0, launch_append(first, log, 1));
    EXPECT(0, aclrtRecordEvent(event, first));
    EXPECT(0, aclrtStreamWaitEvent(second, event));
    EXPECT(0, launch_append(second, log, 2));
    finish_model(model, second);
    for (int i = 0; i < STREAMS; i++) { streams[i] = new_stream(0); }
    for (int i = 0; i < STREAMS * ROUNDS; i++) { EXPECT(0, aclmdlRIExecuteAsync(model, streams[i % STREAMS])); }
    EXPECT(0, aclrtSynchronizeDevice());
    CHECK(read_cell(log) == 2 * STREAMS * ROUNDS);
    EXPECT(0, aclrtMemcpy(entries, (1 + 2 * STREAMS * ROUNDS) * 8, log, (1 + 2 * STREAMS * ROUNDS) * 8, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 2 * STREAMS * ROUNDS; i++) { CHECK(entries[1 + i] == (uint64_t)(1 + i % 2)); }
    free(entries);
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEvent(event)); /* the host has no part in it */
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    for (int i = 0; i < STREAMS; i++) { EXPECT(0, aclrtDestroyStream(streams[i])); }
    EXPECT(0, aclrtFree(log));
}

/* A wait may be recorded before the record; a reset makes the next wait in the same execution wait again. */
static void events_are_per_execution(void) {
    aclmdlRI model = new_model();
    aclrtStream first = bound_stream(model, HEAD), second = bound_stream(model, HEAD);
    uint64_t *log = device_zeros(64 * 8), *flag = cell(0);
    aclrtEvent there, back;
    aclrtEventRecordedStatus status;
    EXPECT(0, aclrtCreateEventWithFlag(&there, ACL_EVENT_SYNC));
    EXPECT(0, aclrtCreateEventWithFlag(&back, ACL_EVENT_SYNC));
    for (uint64_t i = 0; i < 3; i++) {
        EXPECT(0, aclrtStreamWaitEvent(second, there));
        EXPECT(0, aclrtResetEvent(there, second));
        EXPECT(0, launch_append(second, log, 10 + i));
        EXPECT(0, aclrtRecordEvent(back, second));
    }
    for (uint64_t i = 0; i < 3; i++) {
        EXPECT(0, launch_append(first, log, i));
        EXPECT(0, aclrtRecordEvent(there, first));
        EXPECT(0, aclrtStreamWaitEvent(first, back));
        EXPECT(0, aclrtResetEvent(back, first));
    }
    finish_model(model, first);
    for (int i = 0; i < 50; i++) {
        write_cell(log, 0);
        EXPECT(0, aclmdlRIExecute(model, 5000));
        expect_log(log, 6, (uint64_t[]){0, 10, 1, 11, 2, 12});
    }
    EXPECT(0, aclrtQueryEventStatus(there, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyEvent(there));
    EXPECT(0, aclrtDestroyEvent(back));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    EXPECT(0, aclrtFree(log));
    EXPECT(0, aclrtFree(flag));
}

/* An event that a stream outside records holds a model's stream, and the other way round. */
static void events_go_in_and_out(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0), other = new_stream(0);
    uint64_t *log = device_zeros(64 * 8);
    aclrtEvent in, out;
    EXPECT(0, aclrtCreateEventWithFlag(&in, ACL_EVENT_SYNC));
    EXPECT(0, aclrtCreateEventWithFlag(&out, ACL_EVENT_SYNC));
    EXPECT(0, launch_append(bound, log, 1));
    EXPECT(0, aclrtStreamWaitEvent(bound, in));
    EXPECT(0, aclrtResetEvent(in, bound));
    EXPECT(0, launch_append(bound, log, 3));
    EXPECT(0, aclrtRecordEvent(out, bound));
    finish_model(model, bound);
    for (int i = 0; i < 20; i++) {
        write_cell(log, 0);
        EXPECT(0, aclmdlRIExecuteAsync(model, stream));
        EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 2));
        EXPECT(0, launch_append(other, log, 2));
        EXPECT(0, aclrtRecordEvent(in, other));
        EXPECT(0, aclrtSynchronizeStream(stream));
        expect_log(log, 3, (uint64_t[]){1, 2, 3});
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyEvent(in));
    EXPECT(0, aclrtDestroyEvent(out));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(other));
    EXPECT(0, aclrtFree(log));
}

/* Every kind of task does the same in each execution. */
static void count_call(void *argument) { __atomic_fetch_add((int *)argument, 1, __ATOMIC_SEQ_CST); }

static void every_kind_runs_again(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD);
    uint32_t *words = device_zeros(64);
    uint64_t *value = cell(0), *counter = cell(0);
    int calls = 0;
    aclrtNotify notify;
    EXPECT(0, aclrtCreateNotify(&notify, 0));
    EXPECT(0, aclrtMemsetAsync(words, 64, 3, 32, bound));
    EXPECT(0, aclrtMemcpyAsync(words + 8, 32, words, 32, ACL_MEMCPY_DEVICE_TO_DEVICE, bound));
    EXPECT(0, aclrtMemsetAsync(words, 64, 5, 32, bound));
    EXPECT(0, aclrtRecordNotify(notify, bound));
    EXPECT(0, aclrtWaitAndResetNotify(notify, bound, 0));
    EXPECT(0, aclrtValueWrite(value, 77, 0, bound));
    EXPECT(0, aclrtValueWait(value, 77, ACL_STREAM_WAIT_VALUE_EQ, bound));
    EXPECT(0, aclrtLaunchHostFunc(bound, count_call, &calls));
    EXPECT(0, launch_add(bound, counter));
    finish_model(model, bound);
    for (int i = 1; i <= 10; i++) {
        EXPECT(0, aclrtMemset(words, 64, 0, 64));
        write_cell(value, 0);
        EXPECT(0, aclmdlRIExecute(model, -1));
        CHECK(words[0] == 0x05050505 && words[8] == 0x03030303);
        CHECK(calls == i && read_cell(counter) == (uint64_t)i && read_cell(value) == 77);
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyNotify(notify));
    EXPECT(0, aclrtFree(words));
    EXPECT(0, aclrtFree(value));
    EXPECT(0, aclrtFree(counter));
}

/* The queue of a stream is off after an execution: it can be emptied and filled again. */
static void clean_allows_another_round(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD);
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, launch_append(bound, log, 1));
    finish_model(model, bound);
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtPersistentTaskClean(bound));
    EXPECT(0, aclmdlRIExecute(model, -1));
    EXPECT(0, aclrtPersistentTaskClean(bound));
    EXPECT(ACL_ERROR_RT_MODEL_EXECUTE, aclmdlRIExecute(model, -1)); /* its end is gone, too */
    EXPECT(0, launch_append(bound, log, 2));
    EXPECT(0, launch_append(bound, log, 3));
    finish_model(model, bound);
    EXPECT(0, aclmdlRIExecute(model, -1));
    expect_log(log, 3, (uint64_t[]){1, 2, 3});
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtFree(log));
}

static void a_full_stream_refuses(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD);
    uint64_t *counter = cell(0);
    for (int i = 0; i < 59999; i++) { EXPECT(0, launch_add(bound, counter)); }
    EXPECT(0, aclmdlRIEndTask(model, bound));
    EXPECT(ACL_ERROR_RT_STREAM_TASK_FULL, launch_add(bound, counter));
    EXPECT(0, aclmdlRIBuildEnd(model, NULL));
    EXPECT(0, aclmdlRIExecute(model, -1));
    CHECK(read_cell(counter) == 59999);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtFree(counter));
}

/* ---- failure, abort, time ---- */

static void a_failure_ends_the_model(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), waiting = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *counter = cell(0), *after = cell(0);
    aclrtEvent event;
    EXPECT(0, aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT(0, launch_add(bound, counter));
    EXPECT(0, launch_fail(bound, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    EXPECT(0, launch_add(bound, after));
    EXPECT(0, aclrtRecordEvent(event, bound));
    EXPECT(0, aclrtStreamWaitEvent(waiting, event));
    EXPECT(0, launch_add(waiting, after));
    finish_model(model, bound);
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclmdlRIExecute(model, -1));
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(0, launch_add(stream, counter));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(read_cell(counter) == 3 && read_cell(after) == 0);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(waiting));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtFree(after));
}

/* An overflow is an outcome: the model goes on. */
static void an_outcome_is_no_failure(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *counter = cell(0), nothing = 0;
    EXPECT(0, launch(overflow_kernel, bound, &nothing, 8));
    EXPECT(0, launch_add(bound, counter));
    finish_model(model, bound);
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(ACL_ERROR_RT_AICORE_OVER_FLOW, aclrtSynchronizeStream(stream));
    EXPECT(ACL_ERROR_RT_AICORE_OVER_FLOW, aclmdlRIExecute(model, -1));
    CHECK(read_cell(counter) == 2);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(counter));
}

typedef struct Stuck {
    aclmdlRI model;
    aclrtStream bound, parked, stream;
    uint64_t *never, *counter;
    aclrtEvent event;
} Stuck;

/* One stream in a kernel that never ends by itself, another in a wait that never ends. */
static Stuck make_stuck(void) {
    Stuck stuck = {.model = new_model(), .never = cell(0), .counter = cell(0), .stream = new_stream(0)};
    stuck.bound = bound_stream(stuck.model, HEAD);
    stuck.parked = bound_stream(stuck.model, HEAD);
    EXPECT(0, aclrtCreateEventWithFlag(&stuck.event, ACL_EVENT_SYNC));
    EXPECT(0, launch_on_flag(wait_flag, stuck.bound, stuck.never));
    EXPECT(0, launch_on_flag(wait_flag, stuck.bound, stuck.never));
    EXPECT(0, launch_add(stuck.bound, stuck.counter));
    EXPECT(0, aclrtStreamWaitEvent(stuck.parked, stuck.event));
    finish_model(stuck.model, stuck.bound);
    return stuck;
}

static void end_stuck(Stuck *stuck) {
    EXPECT(0, aclmdlRIDestroy(stuck->model));
    EXPECT(0, aclrtDestroyEvent(stuck->event));
    EXPECT(0, aclrtDestroyStream(stuck->bound));
    EXPECT(0, aclrtDestroyStream(stuck->parked));
    EXPECT(0, aclrtFree(stuck->never));
    EXPECT(0, aclrtFree(stuck->counter));
}

static void *abort_soon(void *stuck) {
    struct timespec pause = {0, 30000000};
    nanosleep(&pause, NULL);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclmdlRIAbort(((Stuck *)stuck)->model));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void abort_ends_what_runs(void) {
    Stuck stuck = make_stuck();
    pthread_t thread;
    EXPECT(0, aclmdlRIAbort(stuck.model)); /* nothing to abort */
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&thread, NULL, abort_soon, &stuck) == 0);
        EXPECT(0, aclmdlRIExecuteAsync(stuck.model, stuck.stream));
        EXPECT(ACL_ERROR_RT_MODEL_ABORT_NORMAL, aclrtSynchronizeStream(stuck.stream));
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(pthread_create(&thread, NULL, abort_soon, &stuck) == 0);
    EXPECT(ACL_ERROR_RT_MODEL_ABORT_NORMAL, aclmdlRIExecute(stuck.model, -1));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(read_cell(stuck.counter) == 0);
    EXPECT(0, aclrtDestroyStream(stuck.stream));
    end_stuck(&stuck);
}

static void time_is_limited(void) {
    Stuck stuck = make_stuck();
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(stuck.model, 30));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(stuck.model, 30));
    EXPECT(0, aclmdlRIExecuteAsync(stuck.model, stuck.stream));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(stuck.model, 30)); /* it never began */
    EXPECT(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIUnbindStream(stuck.model, stuck.bound));
    EXPECT(0, aclrtDestroyStreamForce(stuck.stream));
    end_stuck(&stuck);
}

static void aborting_the_stream_aborts_the_model(void) {
    Stuck stuck = make_stuck();
    EXPECT(0, aclmdlRIExecuteAsync(stuck.model, stuck.stream));
    EXPECT(0, aclmdlRIExecuteAsync(stuck.model, stuck.stream));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stuck.stream, 20));
    EXPECT(0, aclrtStreamAbort(stuck.stream));
    EXPECT(0, aclrtSynchronizeStream(stuck.stream));
    EXPECT(0, aclmdlRIExecuteAsync(stuck.model, stuck.stream));
    EXPECT(0, aclrtDeviceTaskAbort(0, 0));
    EXPECT(0, aclrtSynchronizeStream(stuck.stream));
    EXPECT(0, aclrtDestroyStream(stuck.stream));
    end_stuck(&stuck);
}

/* A held stream of a model holds the model. */
static void held_streams(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *counter = cell(0);
    int32_t id;
    EXPECT(0, aclrtStreamGetId(bound, &id));
    EXPECT(0, launch_add(bound, counter));
    finish_model(model, bound);
    EXPECT(0, pyaclEmuHoldStream(id, 1));
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    EXPECT(0, pyaclEmuHoldStream(id, 0));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, pyaclEmuFailNextTask(id, 507015));
    EXPECT(507015, aclmdlRIExecute(model, -1));
    EXPECT(0, aclmdlRIExecute(model, -1));
    CHECK(read_cell(counter) == 2);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(counter));
}

/* STOP mode: the failure of a model is one of the context. */
static void stop_mode(void) {
    aclrtContext context, before;
    EXPECT(0, aclrtGetCurrentContext(&before));
    EXPECT(0, aclrtCreateContext(&context, 0));
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0);
    EXPECT(0, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(0, launch_fail(bound, 507015));
    finish_model(model, bound);
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(507015, aclrtSynchronizeStream(stream));
    EXPECT(507015, aclrtSynchronizeStream(stream));
    EXPECT(507015, aclmdlRIExecuteAsync(model, NULL));
    EXPECT(507015, aclmdlRIExecute(model, -1));
    EXPECT(0, aclrtDestroyContext(context));
    EXPECT(0, aclrtSetCurrentContext(before));
}

/* ---- the end ---- */

static char ended[8];
static void note_a(void *data) { strcat(ended, data); }
static void note_b(void *data) { strcat(ended, data); }

static void destroy_calls_back(void) {
    aclmdlRI model = new_model();
    EXPECT(0, aclmdlRIDestroyRegisterCallback(model, note_a, "a"));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIDestroyRegisterCallback(model, note_a, "x"));
    EXPECT(0, aclmdlRIDestroyRegisterCallback(model, note_b, "b"));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIDestroyUnregisterCallback(model, count_call));
    EXPECT(0, aclmdlRIDestroyUnregisterCallback(model, note_a));
    EXPECT(0, aclmdlRIDestroyRegisterCallback(model, note_a, "c"));
    EXPECT(0, aclmdlRIDestroy(model));
    CHECK(strcmp(ended, "bc") == 0);
    EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(model));
}

/* Destroying waits for the executions that are on their way. */
static void destroy_waits(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *counter = cell(0), ns = 2000000;
    EXPECT(0, launch(spin, bound, &ns, 8));
    EXPECT(0, launch_add(bound, counter));
    finish_model(model, bound);
    for (int i = 0; i < 10; i++) { EXPECT(0, aclmdlRIExecuteAsync(model, stream)); }
    EXPECT(0, aclmdlRIDestroy(model));
    CHECK(read_cell(counter) == 10);
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(counter));
}

/* What is left when the device is reset goes with it, also while it runs. */
static void reset_ends_models(void) {
    Stuck stuck = make_stuck();
    EXPECT(0, aclmdlRIExecuteAsync(stuck.model, stuck.stream));
    EXPECT(0, aclmdlRIExecuteAsync(stuck.model, NULL));
    EXPECT(0, aclrtDestroyEvent(stuck.event));
    EXPECT(0, aclrtResetDeviceForce(0));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(stuck.model));
}

int main(int argc, char **argv) {
    guard(argc, argv, 30);
    EXPECT(0, aclrtSetDevice(0));
    load_kernels();
    pyaclEmuCounters before = counters();
    tasks_wait_for_the_execution();
    an_execution_is_a_task();
    executions_do_not_overlap();
    events_are_per_execution();
    events_go_in_and_out();
    every_kind_runs_again();
    clean_allows_another_round();
    a_full_stream_refuses();
    a_failure_ends_the_model();
    an_outcome_is_no_failure();
    abort_ends_what_runs();
    time_is_limited();
    aborting_the_stream_aborts_the_model();
    held_streams();
    stop_mode();
    destroy_calls_back();
    destroy_waits();
    expect_no_leak(&before);
    reset_ends_models();
    expect_no_leak(&before);
    unload_kernels();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
