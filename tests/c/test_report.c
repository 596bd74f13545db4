/* Report threads: who may serve which stream, in what order callbacks run, and what they hold up. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "check.h"
#include "pyacl/emulator.h"

static aclrtFuncHandle noop, fail_kernel;
static char no_args[8];

static void load(void) {
    aclrtBinHandle binary;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "noop", &noop));
    EXPECT(0, aclrtBinaryGetFunction(binary, "fail", &fail_kernel));
}

static void launch(aclrtStream stream) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(noop, 1, stream, NULL, no_args, sizeof(no_args), NULL, 0));
}

static aclrtStream new_stream(void) {
    aclrtStream stream;
    EXPECT(0, aclrtCreateStream(&stream));
    return stream;
}

static bool is_complete(aclrtStream stream) {
    aclrtStreamStatus status;
    EXPECT(0, aclrtStreamQuery(stream, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

static uint64_t self(void) { return (uint64_t)pthread_self(); }

/* ---- callbacks that write down what they saw ---- */

static _Atomic(int) ran;
static int order[64];
static pthread_t runner;

static void note(void *value) {
    runner = pthread_self();
    order[atomic_load(&ran)] = (int)(intptr_t)value;
    atomic_fetch_add(&ran, 1);
}

static void *number(int value) { return (void *)(intptr_t)value; }

/* ---- the rules ---- */

static void arguments(void) {
    aclrtStream stream = new_stream(), other = new_stream();
    EXPECT(107017, aclrtSubscribeReport(self(), no_args));
    EXPECT(100000, aclrtProcessReport(0));
    EXPECT(100000, aclrtProcessReport(-2));
    EXPECT(107012, aclrtProcessReport(10));
    EXPECT(107015, aclrtLaunchCallback(note, NULL, ACL_CALLBACK_BLOCK, stream));
    EXPECT(100000, aclrtLaunchCallback(NULL, NULL, (aclrtCallbackBlockType)5, stream));
    EXPECT(107000, aclrtLaunchCallback(NULL, NULL, ACL_CALLBACK_BLOCK, stream));
    EXPECT(107011, aclrtUnSubscribeReport(self(), stream));
    EXPECT(0, aclrtSubscribeReport(self(), stream));
    EXPECT(107011, aclrtSubscribeReport(self(), stream));
    EXPECT(107011, aclrtSubscribeReport(self() + 1, stream));
    EXPECT(107011, aclrtLaunchHostFunc(stream, note, NULL));
    EXPECT(0, aclrtSubscribeReport(self(), other)); /* one thread, many streams */
    EXPECT(107012, aclrtUnSubscribeReport(self() + 1, stream));
    EXPECT(507012, aclrtProcessReport(20));
    EXPECT(0, aclrtUnSubscribeReport(self(), stream));
    EXPECT(0, aclrtUnSubscribeReport(self(), other));
    EXPECT(107012, aclrtProcessReport(10));
    EXPECT(0, aclrtLaunchHostFunc(stream, note, NULL));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(107011, aclrtSubscribeReport(self(), stream)); /* the runtime serves it now, for good */
    EXPECT(107011, aclrtLaunchCallback(note, NULL, ACL_CALLBACK_BLOCK, stream));
    EXPECT(107011, aclrtUnSubscribeReport(self(), stream));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(other));
}

static void one_thread_serves_one_device(void) {
    aclrtStream here = new_stream(), there;
    aclrtContext own, second;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&second, 1));
    there = new_stream();
    EXPECT(107003, aclrtLaunchCallback(note, NULL, ACL_CALLBACK_BLOCK, here));
    EXPECT(0, aclrtSubscribeReport(self(), here)); /* of another context: accepted */
    EXPECT(107012, aclrtSubscribeReport(self(), there));
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtDestroyStream(here)); /* drops the subscription */
    EXPECT(0, aclrtSubscribeReport(self(), there));
    EXPECT(0, aclrtDestroyContext(second));
    EXPECT(107012, aclrtProcessReport(10));
}

static void callbacks_run_here_in_order(void) {
    aclrtStream stream = new_stream();
    EXPECT(0, aclrtSubscribeReport(self(), stream));
    atomic_store(&ran, 0);
    for (int i = 0; i < 20; i++) {
        launch(stream);
        aclrtCallbackBlockType type = i % 2 == 0 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
        EXPECT(0, aclrtLaunchCallback(note, number(i), type, stream));
    }
    while (atomic_load(&ran) < 20) { EXPECT(0, aclrtProcessReport(5000)); }
    CHECK(pthread_equal(runner, pthread_self()));
    for (int i = 0; i < 20; i++) { CHECK(order[i] == i); }
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(507012, aclrtProcessReport(10));
    EXPECT(0, aclrtUnSubscribeReport(self(), stream));
    EXPECT(0, aclrtDestroyStream(stream));
}

static void only_a_blocking_one_holds_the_stream(void) {
    aclrtStream stream = new_stream();
    EXPECT(0, aclrtSubscribeReport(self(), stream));
    atomic_store(&ran, 0);
    EXPECT(0, aclrtLaunchCallback(note, number(1), ACL_CALLBACK_NO_BLOCK, stream));
    launch(stream);
    EXPECT(0, aclrtSynchronizeStream(stream)); /* nobody has run it yet */
    CHECK(atomic_load(&ran) == 0);
    EXPECT(0, aclrtLaunchCallback(note, number(2), ACL_CALLBACK_BLOCK, stream));
    launch(stream);
    EXPECT(507046, aclrtSynchronizeStreamWithTimeout(stream, 50));
    CHECK(!is_complete(stream));
    EXPECT(0, aclrtProcessReport(-1));
    while (atomic_load(&ran) < 2) { EXPECT(0, aclrtProcessReport(-1)); }
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(order[0] == 1 && order[1] == 2);
    EXPECT(0, aclrtDestroyStream(stream));
}

static void the_default_stream_can_be_served(void) {
    EXPECT(0, aclrtSubscribeReport(self(), NULL));
    atomic_store(&ran, 0);
    EXPECT(0, aclrtLaunchCallback(note, number(7), ACL_CALLBACK_BLOCK, NULL));
    EXPECT(0, aclrtProcessReport(5000));
    EXPECT(0, aclrtSynchronizeStream(NULL));
    CHECK(atomic_load(&ran) == 1 && order[0] == 7);
    EXPECT(0, aclrtUnSubscribeReport(self(), NULL));
}

/* A callback belongs to the thread that served the stream when it was launched. */
static void what_was_launched_still_arrives_after_the_end(void) {
    aclrtStream stream = new_stream();
    EXPECT(0, aclrtSubscribeReport(self(), stream));
    atomic_store(&ran, 0);
    EXPECT(0, aclrtLaunchCallback(note, number(3), ACL_CALLBACK_NO_BLOCK, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtProcessReport(5000));
    CHECK(atomic_load(&ran) == 1 && order[0] == 3);
    EXPECT(107012, aclrtProcessReport(10));
}

static void an_abort_takes_callbacks_back(void) {
    aclrtStream stream = new_stream();
    EXPECT(0, aclrtSubscribeReport(self(), stream));
    atomic_store(&ran, 0);
    EXPECT(0, aclrtLaunchCallback(note, number(1), ACL_CALLBACK_BLOCK, stream));
    EXPECT(0, aclrtLaunchCallback(note, number(2), ACL_CALLBACK_NO_BLOCK, stream));
    pause_ms(20);
    EXPECT(0, aclrtStreamAbort(stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(507012, aclrtProcessReport(20));
    CHECK(atomic_load(&ran) == 0);
    EXPECT(0, aclrtLaunchCallback(note, number(9), ACL_CALLBACK_BLOCK, stream));
    EXPECT(0, aclrtDestroyStreamForce(stream));
    EXPECT(107012, aclrtProcessReport(20));
    CHECK(atomic_load(&ran) == 0);
}

static void a_failure_in_stop_mode_drops_callbacks(void) {
    aclrtContext own, context;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&context, 0));
    aclrtStream stream = new_stream();
    EXPECT(0, aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(0, aclrtSubscribeReport(self(), stream));
    atomic_store(&ran, 0);
    int32_t code = 507035, id;
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuHoldStream(id, 1));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(fail_kernel, 1, stream, NULL, &code, sizeof(code), NULL, 0));
    EXPECT(0, aclrtLaunchCallback(note, number(1), ACL_CALLBACK_BLOCK, stream));
    EXPECT(0, pyaclEmuHoldStream(id, 0));
    EXPECT(507035, aclrtSynchronizeStream(stream));
    EXPECT(507035, aclrtLaunchCallback(note, number(1), ACL_CALLBACK_BLOCK, stream));
    EXPECT(507012, aclrtProcessReport(20));
    CHECK(atomic_load(&ran) == 0);
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtDestroyContext(context));
}

/* ---- a thread that serves while others launch ---- */

enum { STREAMS = 8, CALLBACKS = 300 };

typedef struct Served {
    aclrtStream stream;
    int next; /* the callback expected next; touched by the report thread alone */
    int turns[CALLBACKS];
} Served;

static Served served[STREAMS];
static _Atomic(bool) stopping;
static _Atomic(int) total;

static void expect_turn(void *argument) {
    int *turn = argument;
    for (int i = 0; i < STREAMS; i++) {
        if (turn < served[i].turns || turn >= served[i].turns + CALLBACKS) { continue; }
        CHECK(*turn == served[i].next);
        served[i].next++;
    }
    atomic_fetch_add(&total, 1);
}

static void *serve(void *unused) {
    (void)unused;
    while (!atomic_load(&stopping)) {
        aclError code = aclrtProcessReport(20);
        CHECK(code == 0 || code == 507012 || code == 107012);
    }
    return NULL;
}

static void *submit(void *argument) {
    Served *own = argument;
    EXPECT(0, aclrtSetDevice(0));
    for (int i = 0; i < CALLBACKS; i++) {
        own->turns[i] = i;
        launch(own->stream);
        EXPECT(0, aclrtLaunchCallback(expect_turn, &own->turns[i],
                                      i % 3 == 0 ? ACL_CALLBACK_NO_BLOCK : ACL_CALLBACK_BLOCK, own->stream));
    }
    EXPECT(0, aclrtSynchronizeStream(own->stream));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void many_streams_one_thread(void) {
    pthread_t server, submitters[STREAMS];
    CHECK(pthread_create(&server, NULL, serve, NULL) == 0);
    for (int i = 0; i < STREAMS; i++) {
        served[i].stream = new_stream();
        EXPECT(0, aclrtSubscribeReport((uint64_t)server, served[i].stream));
    }
    for (int i = 0; i < STREAMS; i++) { CHECK(pthread_create(&submitters[i], NULL, submit, &served[i]) == 0); }
    for (int i = 0; i < STREAMS; i++) { CHECK(pthread_join(submitters[i], NULL) == 0); }
    while (atomic_load(&total) < STREAMS * CALLBACKS) { pause_ms(1); }
    for (int i = 0; i < STREAMS; i++) {
        EXPECT(0, aclrtUnSubscribeReport((uint64_t)server, served[i].stream));
        EXPECT(0, aclrtDestroyStream(served[i].stream));
    }
    atomic_store(&stopping, true);
    CHECK(pthread_join(server, NULL) == 0);
}

/* Whatever an abort meets (a callback queued, delivered, running), the stream is usable and nothing runs twice. */
static _Atomic(int) begun, ended;

static void take_a_moment(void *unused) {
    (void)unused;
    atomic_fetch_add(&begun, 1);
    sched_yield();
    atomic_fetch_add(&ended, 1);
}

static void *launch_and_abort(void *argument) {
    aclrtStream stream = argument;
    EXPECT(0, aclrtSetDevice(0));
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k <= i % 5; k++) {
            EXPECT(0, aclrtLaunchCallback(take_a_moment, NULL, (aclrtCallbackBlockType)(k % 2), stream));
        }
        if (i % 3 == 0) { EXPECT(0, aclrtStreamAbort(stream)); }
        else { EXPECT(0, aclrtSynchronizeStream(stream)); }
    }
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void aborts_beside_callbacks(void) {
    enum { ABORTED = 3 };
    pthread_t server, launchers[ABORTED];
    aclrtStream streams[ABORTED];
    atomic_store(&stopping, false);
    CHECK(pthread_create(&server, NULL, serve, NULL) == 0);
    for (int i = 0; i < ABORTED; i++) {
        streams[i] = new_stream();
        EXPECT(0, aclrtSubscribeReport((uint64_t)server, streams[i]));
        CHECK(pthread_create(&launchers[i], NULL, launch_and_abort, streams[i]) == 0);
    }
    for (int i = 0; i < ABORTED; i++) { CHECK(pthread_join(launchers[i], NULL) == 0); }
    for (int i = 0; i < ABORTED; i++) { EXPECT(0, aclrtDestroyStreamForce(streams[i])); }
    atomic_store(&stopping, true);
    CHECK(pthread_join(server, NULL) == 0);
    CHECK(atomic_load(&begun) > 0 && atomic_load(&begun) == atomic_load(&ended));
}

static pthread_barrier_t subscribed;

static void *serve_for_ever(void *code) {
    aclError result;
    pthread_barrier_wait(&subscribed);
    do { result = aclrtProcessReport(-1); } while (result == 0); /* this thread's id may be an old one's, with callbacks left */
    *(aclError *)code = result;
    return NULL;
}

static void the_end_of_the_last_subscription_ends_the_wait(void) {
    pthread_t server;
    aclError code = -1;
    aclrtStream stream = new_stream();
    pthread_barrier_init(&subscribed, NULL, 2);
    CHECK(pthread_create(&server, NULL, serve_for_ever, &code) == 0);
    EXPECT(0, aclrtSubscribeReport((uint64_t)server, stream));
    pthread_barrier_wait(&subscribed);
    pause_ms(20);
    EXPECT(0, aclrtUnSubscribeReport((uint64_t)server, stream));
    CHECK(pthread_join(server, NULL) == 0);
    CHECK(code == 107012);
    EXPECT(0, aclrtDestroyStream(stream));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    EXPECT(0, aclrtSetDevice(0));
    load();
    arguments();
    one_thread_serves_one_device();
    callbacks_run_here_in_order();
    only_a_blocking_one_holds_the_stream();
    the_default_stream_can_be_served();
    what_was_launched_still_arrives_after_the_end();
    an_abort_takes_callbacks_back();
    a_failure_in_stop_mode_drops_callbacks();
    many_streams_one_thread();
    aborts_beside_callbacks();
    the_end_of_the_last_subscription_ends_the_wait();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
