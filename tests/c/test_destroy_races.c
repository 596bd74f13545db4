/* A stream goes while another thread launches on it, with a full queue or without, or a model while another thread
 * executes it: the calls end with an error that says so, and nothing of what is dead is written to. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { ROUNDS = 60 };

static aclrtFuncHandle noop;
static aclrtStream stream;
static _Atomic(int) launched;

static void *launch_until_refused(void *answer) {
    uint64_t value = 1;
    EXPECT(0, aclrtSetDevice(0));
    aclError code;
    do {
        code = aclrtLaunchKernelWithHostArgs(noop, 1, stream, NULL, &value, sizeof(value), NULL, 0);
        atomic_fetch_add(&launched, 1);
    } while (code == ACL_SUCCESS);
    *(aclError *)answer = code;
    return NULL;
}

static void await_launches(int count) {
    while (atomic_load(&launched) < count) { usleep(100); }
    usleep(1000); /* with a full queue the next one waits */
}

static void round_trip(uint32_t flags, int launches, int hold, aclError (*end)(void)) {
    aclrtBinHandle binary;
    pthread_t launcher;
    aclError answer;
    int32_t id;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "noop", &noop));
    EXPECT(0, aclrtCreateStreamWithConfig(&stream, 0, flags));
    EXPECT(0, aclrtStreamGetId(stream, &id));
    if (hold) { EXPECT(0, pyaclEmuHoldStream(id, 1)); }
    atomic_store(&launched, 0);
    CHECK(pthread_create(&launcher, NULL, launch_until_refused, &answer) == 0);
    await_launches(launches);
    EXPECT(0, end());
    pthread_join(launcher, NULL);
    CHECK(answer == ACL_ERROR_RT_STREAM_ABORT || answer == ACL_ERROR_RT_INVALID_HANDLE || answer == ACL_ERROR_RT_CONTEXT_NULL);
    aclrtResetDeviceForce(0);
}

static aclError reset(void) { return aclrtResetDeviceForce(0); }
static aclError destroy_forced(void) { return aclrtDestroyStreamForce(stream); }
static aclError destroy(void) { return aclrtDestroyStream(stream); }

/* ---- models ---- */

static aclmdlRI model;

static void *execute_until_refused(void *unused) {
    (void)unused;
    EXPECT(0, aclrtSetDevice(0));
    aclError code;
    do {
        code = aclmdlRIExecuteAsync(model, stream);
        atomic_fetch_add(&launched, 1);
    } while (code == ACL_SUCCESS);
    CHECK(code == ACL_ERROR_RT_MODEL_EXECUTE || code == ACL_ERROR_RT_STREAM_ABORT || code == ACL_ERROR_RT_INVALID_HANDLE ||
          code == ACL_ERROR_RT_CONTEXT_NULL);
    return NULL;
}

/* Each execution binds a record of its own to the model's external event. */
static void replay_and_reset(void) {
    pthread_t executor;
    aclrtEvent event;
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT(0, aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL));
    EXPECT(0, aclmdlRICaptureEnd(stream, &model));
    atomic_store(&launched, 0);
    CHECK(pthread_create(&executor, NULL, execute_until_refused, NULL) == 0);
    await_launches(20);
    EXPECT(0, aclrtResetDeviceForce(0));
    pthread_join(executor, NULL);
}

int main(int argc, char **argv) {
    guard(argc, argv, 120);
    EXPECT(0, aclrtSetDevice(0));
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t flags = i % 2 == 0 ? 0 : ACL_STREAM_FAST_LAUNCH;
        round_trip(flags, 2000, 1, reset);
        round_trip(flags, 2000, 1, destroy_forced);
        round_trip(flags, 100, 0, destroy_forced);
        round_trip(flags, 100, 0, destroy);
        replay_and_reset();
    }
    return 0;
}
