/* Captures: what is recorded and replayed, streams that join by events, what ends badly, and what is illegal meanwhile. */
#include <pthread.h>

#include "model.h"

enum { REPLAYS = 50 };

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define LOCAL ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static aclrtEvent new_event(void) {
    aclrtEvent event;
    EXPECT(0, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

static aclmdlRI end_capture(aclrtStream stream) {
    aclmdlRI model = NULL;
    EXPECT(0, aclmdlRICaptureEnd(stream, &model));
    CHECK(model != NULL);
    return model;
}

static void expect_end(aclError code, aclrtStream stream) {
    aclmdlRI model = &model;
    EXPECT(code, aclmdlRICaptureEnd(stream, &model));
    CHECK(model == NULL);
}

static void expect_status(aclmdlRICaptureStatus expected, aclrtStream stream) {
    aclmdlRICaptureStatus status;
    aclmdlRI model;
    EXPECT(0, aclmdlRICaptureGetInfo(stream, &status, &model));
    CHECK(status == expected && (model != NULL) == (expected != ACL_MODEL_RI_CAPTURE_STATUS_NONE));
}

/* Streams are ordinary ones again: what they are given runs. */
static void expect_usable(aclrtStream stream) {
    uint64_t *count = cell(0);
    EXPECT(0, launch_add(stream, count));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(read_cell(count) == 1);
    EXPECT(0, aclrtFree(count));
}

static void on_thread(void *(*function)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void count_call(void *count) { ++*(_Atomic(int) *)count; }

/* ---- recording and replaying ---- */

static void nothing_runs_before_the_replay(void) {
    aclrtStream stream = new_stream(0), other = new_stream(ACL_STREAM_FAST_LAUNCH);
    uint64_t *count = cell(0), *copied = cell(0), *pinned;
    _Atomic(int) calls = 0;
    EXPECT(0, aclrtMallocHost((void **)&pinned, 8));
    *pinned = 5;
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_NONE, stream);
    EXPECT(0, aclmdlRICaptureBegin(stream, RELAXED));
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, stream);
    EXPECT(0, launch_add(stream, count));
    EXPECT(0, aclrtMemcpyAsync(copied, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT(0, aclrtLaunchHostFunc(stream, count_call, &calls));
    aclmdlRI model = end_capture(stream);
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_NONE, stream);
    EXPECT(0, aclrtSynchronizeDevice());
    CHECK(read_cell(count) == 0 && read_cell(copied) == 0 && calls == 0);
    for (uint64_t i = 1; i <= REPLAYS; i++) {
        *pinned = i; /* read when the copy runs */
        EXPECT(0, aclmdlRIExecuteAsync(model, other));
        EXPECT(0, aclrtSynchronizeStream(other));
        CHECK(read_cell(count) == i && read_cell(copied) == i && calls == (int)i);
    }
    EXPECT(107000, aclmdlRIExecute(model, 1000)); /* captured ones are executed on a stream */
    expect_usable(stream);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(107017, aclmdlRIExecuteAsync(model, other));
    EXPECT(0, aclrtFreeHost(pinned));
    EXPECT(0, aclrtFree(count));
    EXPECT(0, aclrtFree(copied));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(other));
}

static void arguments_are_captured_by_value(void) {
    aclrtStream stream = new_stream(0);
    uint64_t *log = device_zeros(64 * 8);
    uint64_t args[] = {(uint64_t)(uintptr_t)log, 7};
    EXPECT(0, aclmdlRICaptureBegin(stream, GLOBAL));
    EXPECT(0, launch(append, stream, args, sizeof(args)));
    args[1] = 8;
    aclmdlRI model = end_capture(stream);
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    expect_log(log, 1, (uint64_t[]){7});
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtFree(log));
    EXPECT(0, aclrtDestroyStream(stream));
}

static void an_empty_capture_is_legal(void) {
    aclrtStream stream = new_stream(0);
    EXPECT(0, aclmdlRICaptureBegin(stream, GLOBAL));
    aclmdlRI model = end_capture(stream);
    for (int i = 0; i < REPLAYS; i++) { EXPECT(0, aclmdlRIExecuteAsync(model, stream)); }
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(stream));
}

/* A captured model goes on where a hardware queue would be full. */
static void a_capture_is_as_long_as_it_is(void) {
    enum { TASKS = 5000 };
    aclrtStream stream = new_stream(0);
    uint64_t *count = cell(0);
    EXPECT(0, aclmdlRICaptureBegin(stream, GLOBAL));
    for (int i = 0; i < TASKS; i++) { EXPECT(0, launch_add(stream, count)); }
    aclmdlRI model = end_capture(stream);
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(read_cell(count) == 2 * TASKS);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtFree(count));
    EXPECT(0, aclrtDestroyStream(stream));
}

/* ---- streams that join ---- */

/* main: 1, then second: 2 and, by way of it, third: 3; main goes on behind both, records the first event again, and
 * forks anew. */
static void fork_and_join(void) {
    aclrtStream first = new_stream(0), second = new_stream(0), third = new_stream(0), runner = new_stream(0);
    aclrtEvent forked = new_event(), passed = new_event(), joined = new_event();
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, aclmdlRICaptureBegin(first, LOCAL));
    EXPECT(0, launch_append(first, log, 1));
    EXPECT(0, aclrtRecordEvent(forked, first));
    EXPECT(0, aclrtStreamWaitEvent(second, forked));
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, second);
    EXPECT(0, launch_append(second, log, 2));
    EXPECT(0, aclrtRecordEvent(passed, second));
    EXPECT(0, aclrtStreamWaitEvent(third, passed));
    EXPECT(0, launch_append(third, log, 3));
    EXPECT(0, aclrtRecordEvent(joined, third));
    EXPECT(0, aclrtStreamWaitEvent(first, joined));
    EXPECT(0, launch_append(first, log, 4));
    EXPECT(0, aclrtRecordEvent(forked, first));
    EXPECT(0, aclrtStreamWaitEvent(second, forked));
    EXPECT(0, launch_append(second, log, 5));
    EXPECT(0, aclrtRecordEvent(joined, second));
    EXPECT(0, aclrtStreamWaitEvent(first, joined));
    EXPECT(0, launch_append(first, log, 6));
    aclmdlRI model = end_capture(first);
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_NONE, second);
    for (int i = 0; i < REPLAYS; i++) {
        EXPECT(0, aclrtMemsetAsync(log, 8, 0, 8, runner));
        EXPECT(0, aclmdlRIExecuteAsync(model, runner));
        EXPECT(0, aclrtSynchronizeStream(runner));
        expect_log(log, 6, (uint64_t[]){1, 2, 3, 4, 5, 6});
    }
    EXPECT(0, aclmdlRIDestroy(model));
    aclrtStream streams[] = {first, second, third, runner};
    for (int i = 0; i < 4; i++) {
        expect_usable(streams[i]);
        EXPECT(0, aclrtDestroyStream(streams[i]));
    }
    EXPECT(0, aclrtDestroyEvent(forked));
    EXPECT(0, aclrtDestroyEvent(passed));
    EXPECT(0, aclrtDestroyEvent(joined));
    EXPECT(0, aclrtFree(log));
}

/* An event may be gone, and recorded anew outside, without the model minding. */
static void events_are_free_after_the_capture(void) {
    aclrtStream first = new_stream(0), second = new_stream(0);
    aclrtEvent forked = new_event(), joined = new_event();
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, launch_append(first, log, 1));
    EXPECT(0, aclrtRecordEvent(forked, first));
    EXPECT(0, aclrtStreamWaitEvent(second, forked));
    EXPECT(0, launch_append(second, log, 2));
    EXPECT(0, aclrtRecordEvent(joined, second));
    EXPECT(107028, aclrtSynchronizeEvent(joined));
    EXPECT(0, aclrtStreamWaitEvent(first, joined));
    EXPECT(0, aclrtDestroyEvent(forked));
    aclmdlRI model = end_capture(first);
    EXPECT(0, aclrtRecordEvent(joined, second));
    EXPECT(0, aclrtSynchronizeEvent(joined));
    EXPECT(0, aclrtDestroyEvent(joined));
    EXPECT(0, aclmdlRIExecuteAsync(model, second));
    EXPECT(0, aclrtSynchronizeStream(second));
    expect_log(log, 2, (uint64_t[]){1, 2});
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    EXPECT(0, aclrtFree(log));
}

/* ---- captures that end badly ---- */

static void unjoined(void) {
    aclrtStream first = new_stream(0), second = new_stream(0);
    aclrtEvent forked = new_event(), joined = new_event();
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, aclrtRecordEvent(forked, first));
    EXPECT(0, aclrtStreamWaitEvent(second, forked));
    EXPECT(107036, aclmdlRICaptureEnd(second, &(aclmdlRI){NULL})); /* it did not begin it; nothing changes */
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, first);
    expect_end(107025, first);
    /* Work behind the last event that the first stream waits for. */
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, aclrtRecordEvent(forked, first));
    EXPECT(0, aclrtStreamWaitEvent(second, forked));
    EXPECT(0, aclrtRecordEvent(joined, second));
    EXPECT(0, aclrtStreamWaitEvent(first, joined));
    EXPECT(0, launch_append(second, log, 1));
    expect_end(107025, first);
    expect_usable(first);
    expect_usable(second);
    expect_log(log, 0, NULL);
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    EXPECT(0, aclrtDestroyEvent(forked));
    EXPECT(0, aclrtDestroyEvent(joined));
    EXPECT(0, aclrtFree(log));
}

static void *end_elsewhere(void *stream) {
    EXPECT(0, aclrtSetDevice(0));
    expect_end(107038, stream);
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void *end_relaxed_elsewhere(void *stream) {
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclmdlRIDestroy(end_capture(stream)));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void another_thread_ends_only_relaxed_captures(void) {
    aclrtStream stream = new_stream(0);
    for (int mode = GLOBAL; mode <= LOCAL; mode++) {
        EXPECT(0, aclmdlRICaptureBegin(stream, mode));
        on_thread(end_elsewhere, stream);
        EXPECT(107029, aclmdlRICaptureEnd(stream, &(aclmdlRI){NULL})); /* it is over all the same */
    }
    EXPECT(0, aclmdlRICaptureBegin(stream, RELAXED));
    on_thread(end_relaxed_elsewhere, stream);
    expect_usable(stream);
    EXPECT(0, aclrtDestroyStream(stream));
}

static void two_captures_do_not_merge(void) {
    aclrtStream first = new_stream(0), second = new_stream(0);
    aclrtEvent event = new_event();
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, aclmdlRICaptureBegin(second, GLOBAL));
    EXPECT(0, aclrtRecordEvent(event, first));
    EXPECT(107032, aclrtStreamWaitEvent(second, event));
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, first);
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, second);
    expect_end(507903, first);
    expect_end(507903, second);
    expect_usable(first);
    expect_usable(second);
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
}

/* Refused, and the capture is as good as before. */
static void plain_refusals(void) {
    aclrtStream first = new_stream(0), cpu = new_stream(ACL_STREAM_CPU_SCHEDULE);
    aclrtEvent event = new_event(), outside = new_event(), never = new_event(), plain;
    EXPECT(0, aclrtCreateEvent(&plain));
    EXPECT(0, aclrtRecordEvent(outside, first));
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, aclrtRecordEvent(event, first));
    EXPECT(107031, aclrtStreamWaitEvent(NULL, event));
    EXPECT(507000, aclrtStreamWaitEvent(cpu, event));
    EXPECT(107024, aclrtStreamWaitEvent(first, outside));
    EXPECT(0, aclrtStreamWaitEvent(first, never)); /* nothing to wait for */
    EXPECT(207000, aclrtRecordEvent(plain, first));
    EXPECT(107027, aclmdlRICaptureBegin(first, GLOBAL));
    expect_status(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, first);
    EXPECT(0, aclmdlRIDestroy(end_capture(first)));
    EXPECT(507000, aclmdlRICaptureBegin(cpu, GLOBAL));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyEvent(outside));
    EXPECT(0, aclrtDestroyEvent(never));
    EXPECT(0, aclrtDestroyEvent(plain));
    EXPECT(0, aclrtDestroyStream(cpu));
    EXPECT(0, aclrtDestroyStream(first));
}

/* ---- what is illegal meanwhile ---- */

static void illegal_calls(void) {
    aclrtStream stream = new_stream(0), other = new_stream(0);
    aclrtStreamStatus status;
    aclrtStreamAttrValue value = {.userCustomTag = 1};
    aclmdlRI model, built = new_model();
    uint64_t *count = cell(0);
    void *area = device_zeros(64);
    EXPECT(0, aclmdlRICaptureBegin(stream, RELAXED));
    EXPECT(0, aclmdlRICaptureGetInfo(stream, NULL, &model));
    EXPECT(107027, aclrtSynchronizeStream(stream));
    EXPECT(107027, aclrtSynchronizeStreamWithTimeout(stream, 10));
    EXPECT(107027, aclrtStreamQuery(stream, &status));
    EXPECT(107027, aclrtDestroyStream(stream));
    EXPECT(107027, aclrtDestroyStreamForce(stream));
    EXPECT(107027, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT(107027, aclrtSetStreamOverflowSwitch(stream, 1));
    EXPECT(107027, aclrtGetOverflowStatus(area, 64, stream));
    EXPECT(107027, aclrtResetOverflowStatus(stream));
    EXPECT(107027, aclrtSubscribeReport(pthread_self(), stream));
    EXPECT(107027, aclrtSynchronizeDevice());
    EXPECT(107027, aclrtSynchronizeDeviceWithTimeout(10));
    EXPECT(107026, aclmdlRIDestroy(model));
    EXPECT(107026, aclmdlRIExecuteAsync(model, other));
    EXPECT(107027, aclmdlRIExecuteAsync(built, stream));
    EXPECT(0, aclrtSynchronizeStream(other));
    EXPECT(0, aclrtSynchronizeStream(NULL));
    EXPECT(0, launch_add(other, count));
    EXPECT(0, aclrtSynchronizeStream(other));
    CHECK(read_cell(count) == 1);
    EXPECT(0, aclrtStreamAbort(stream));
    EXPECT(0, aclrtStreamStop(stream));
    EXPECT(0, aclmdlRIDestroy(end_capture(stream)));
    EXPECT(0, aclmdlRIDestroy(built));
    EXPECT(0, aclrtFree(count));
    EXPECT(0, aclrtFree(area));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(other));
}

typedef struct UnsafeCase {
    aclmdlRICaptureMode capture, thread;
    bool own; /* the thread that captures makes the call */
    aclError code;
} UnsafeCase;

static void *try_unsafe(void *argument) {
    const UnsafeCase *row = argument;
    aclmdlRICaptureMode mode = row->thread;
    char pageable[8] = {0};
    void *memory;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT(row->code, aclrtMemcpy(memory, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(row->code, aclrtMemset(memory, 8, 0, 8));
    EXPECT(row->code, aclrtMemsetD32(memory, 8, 0, 2));
    EXPECT(row->code, aclrtMemcpy2d(memory, 8, pageable, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(row->code == 0 ? 0 : 107041, aclrtMemcpyAsync(memory, 8, pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    EXPECT(0, aclmdlRICaptureThreadExchangeMode(&mode));
    CHECK(mode == row->thread);
    EXPECT(0, aclrtFree(memory));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void unsafe_calls(void) {
    static UnsafeCase rows[] = {
        {GLOBAL, GLOBAL, true, 107030}, {GLOBAL, LOCAL, true, 107030}, {GLOBAL, RELAXED, true, 0},
        {GLOBAL, GLOBAL, false, 107030}, {GLOBAL, LOCAL, false, 0}, {GLOBAL, RELAXED, false, 0},
        {LOCAL, GLOBAL, true, 107030}, {LOCAL, LOCAL, true, 107030}, {LOCAL, RELAXED, true, 0},
        {LOCAL, GLOBAL, false, 0}, {LOCAL, LOCAL, false, 0}, {LOCAL, RELAXED, false, 0},
        {RELAXED, GLOBAL, true, 0}, {RELAXED, LOCAL, true, 0}, {RELAXED, RELAXED, true, 0},
        {RELAXED, GLOBAL, false, 0}, {RELAXED, LOCAL, false, 0}, {RELAXED, RELAXED, false, 0},
    };
    aclrtStream stream = new_stream(0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EXPECT(0, aclmdlRICaptureBegin(stream, rows[i].capture));
        if (rows[i].own) { try_unsafe(&rows[i]); }
        else { on_thread(try_unsafe, &rows[i]); }
        expect_status(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, stream);
        EXPECT(0, aclmdlRIDestroy(end_capture(stream)));
    }
    EXPECT(0, aclrtDestroyStream(stream));
}

/* ---- events from outside ---- */

/* One model records, the other waits: the order of the executions decides. */
static void external_events_order_models(void) {
    aclrtStream stream = new_stream(0), first = new_stream(0), second = new_stream(0);
    aclrtEvent event = new_event();
    uint64_t *log = device_zeros(64 * 8);
    uint32_t *flag = device_zeros(8);
    EXPECT(107029, aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL));
    EXPECT(0, aclmdlRICaptureBegin(stream, GLOBAL));
    EXPECT(0, launch_on_flag(wait_flag, stream, (uint64_t *)flag));
    EXPECT(0, launch_append(stream, log, 1));
    EXPECT(0, aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL));
    aclmdlRI records = end_capture(stream);
    EXPECT(0, aclmdlRICaptureBegin(stream, GLOBAL));
    EXPECT(0, aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL));
    EXPECT(0, launch_append(stream, log, 2));
    aclmdlRI waits = end_capture(stream);
    for (int i = 0; i < REPLAYS; i++) {
        EXPECT(0, aclmdlRIExecuteAsync(records, first));
        EXPECT(0, aclmdlRIExecuteAsync(waits, second));
        EXPECT(0, launch_on_flag(set_flag, stream, (uint64_t *)flag));
        EXPECT(0, aclrtSynchronizeDevice());
        expect_log(log, 2, (uint64_t[]){1, 2});
        EXPECT(0, aclrtMemset(log, 8, 0, 8));
        EXPECT(0, aclrtMemset(flag, 8, 0, 8));
    }
    EXPECT(0, aclmdlRIDestroy(records));
    EXPECT(0, aclmdlRIDestroy(waits));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    EXPECT(0, aclrtFree(log));
    EXPECT(0, aclrtFree(flag));
}

/* ---- failures ---- */

/* The replay fails as its task does; the next one is a new one. */
static void a_failing_task(void) {
    aclrtStream first = new_stream(0), second = new_stream(0);
    aclrtEvent forked = new_event(), joined = new_event();
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, aclrtRecordEvent(forked, first));
    EXPECT(0, aclrtStreamWaitEvent(second, forked));
    EXPECT(0, launch_fail(second, 507015));
    EXPECT(0, aclrtRecordEvent(joined, second));
    EXPECT(0, aclrtStreamWaitEvent(first, joined)); /* never comes */
    EXPECT(0, launch_append(first, log, 1));
    aclmdlRI model = end_capture(first);
    for (int i = 0; i < REPLAYS; i++) {
        EXPECT(0, aclmdlRIExecuteAsync(model, first));
        EXPECT(507015, aclrtSynchronizeStream(first));
    }
    expect_log(log, 0, NULL);
    expect_usable(first);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(first));
    EXPECT(0, aclrtDestroyStream(second));
    EXPECT(0, aclrtDestroyEvent(forked));
    EXPECT(0, aclrtDestroyEvent(joined));
    EXPECT(0, aclrtFree(log));
}

/* A device that is reset takes its captures with it. */
static void *reset_while_capturing(void *unused) {
    (void)unused;
    EXPECT(0, aclrtSetDevice(1));
    aclrtStream first = new_stream(0), second = new_stream(0);
    aclrtEvent event = new_event();
    EXPECT(0, aclmdlRICaptureBegin(first, GLOBAL));
    EXPECT(0, launch_noop(first));
    EXPECT(0, aclrtRecordEvent(event, first));
    EXPECT(0, aclrtStreamWaitEvent(second, event));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtResetDevice(1));
    EXPECT(107017, aclmdlRICaptureGetInfo(first, &(aclmdlRICaptureStatus){0}, NULL));
    return NULL;
}

int main(int argc, char **argv) {
    guard(argc, argv, 120);
    EXPECT(0, aclInit(NULL));
    EXPECT(0, aclrtSetDevice(0));
    load_kernels();
    pyaclEmuCounters before = counters();
    nothing_runs_before_the_replay();
    arguments_are_captured_by_value();
    an_empty_capture_is_legal();
    a_capture_is_as_long_as_it_is();
    fork_and_join();
    events_are_free_after_the_capture();
    unjoined();
    another_thread_ends_only_relaxed_captures();
    two_captures_do_not_merge();
    plain_refusals();
    illegal_calls();
    unsafe_calls();
    external_events_order_models();
    a_failing_task();
    on_thread(reset_while_capturing, NULL);
    expect_no_leak(&before);
    unload_kernels();
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclFinalize());
    return 0;
}
