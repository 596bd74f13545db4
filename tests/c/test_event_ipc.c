/* Events between two processes: one records, the other waits for it, asks and synchronizes. */
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { ROUNDS = 50 };

static int to_child[2], to_parent[2];

static void tell(const int pipe[2], const void *data, size_t bytes) {
    CHECK(write(pipe[1], data, bytes) == (ssize_t)bytes);
}

static void hear(const int pipe[2], void *data, size_t bytes) { CHECK(read(pipe[0], data, bytes) == (ssize_t)bytes); }

static void signal_turn(const int pipe[2]) { tell(pipe, "", 1); }
static void wait_turn(const int pipe[2]) { char byte; hear(pipe, &byte, 1); }

static aclrtStream stream;

static void set_up(void) {
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
}

static void finish(void) { EXPECT(0, aclrtSynchronizeStream(stream)); }
static void is_blocked(void) { EXPECT(507046, aclrtSynchronizeStreamWithTimeout(stream, 30)); }

static void hold(int on) {
    int32_t id;
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuHoldStream(id, on));
}

static aclrtEventRecordedStatus status_of(aclrtEvent event) {
    aclrtEventRecordedStatus status;
    EXPECT(0, aclrtQueryEventStatus(event, &status));
    return status;
}

/* ---- the side that opens ---- */

static int child(void) {
    aclrtIpcEventHandle handle, garbage = {{'x'}};
    aclrtEvent event, wrong, back;
    set_up();
    EXPECT(107000, aclrtIpcOpenEventHandle(garbage, &event));
    hear(to_child, &handle, sizeof(handle));
    EXPECT(100000, aclrtIpcOpenEventHandle(handle, NULL));
    EXPECT(0, aclrtIpcOpenEventHandle(handle, &event));
    EXPECT(107000, aclrtIpcGetEventHandle(event, &garbage)); /* its owner only */
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE); /* never recorded */
    EXPECT(0, aclrtStreamWaitEvent(stream, event));
    finish();
    signal_turn(to_parent);

    wait_turn(to_child); /* recorded, held up */
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(507047, aclrtSynchronizeEventWithTimeout(event, 30));
    EXPECT(0, aclrtStreamWaitEvent(stream, event));
    is_blocked();
    signal_turn(to_parent);
    finish();
    EXPECT(0, aclrtSynchronizeEvent(event));
    CHECK(status_of(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);

    EXPECT(0, aclrtCreateEventExWithFlag(&back, ACL_EVENT_IPC));
    aclrtIpcEventHandle mine;
    EXPECT(0, aclrtIpcGetEventHandle(back, &mine));
    tell(to_parent, &mine, sizeof(mine));
    for (int i = 0; i < ROUNDS; i++) { /* forth and back */
        wait_turn(to_child);
        EXPECT(0, aclrtStreamWaitEvent(stream, event));
        EXPECT(0, aclrtRecordEvent(back, stream));
        signal_turn(to_parent);
    }
    wait_turn(to_child); /* recorded, held up, and then aborted: the device wait hangs, the host does not */
    EXPECT(0, aclrtStreamWaitEventWithTimeout(stream, event, 1));
    signal_turn(to_parent);
    EXPECT(0, aclrtSynchronizeEvent(event));
    EXPECT(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtDestroyEvent(back));
    signal_turn(to_parent);
    wait_turn(to_child); /* it is destroyed over there */
    EXPECT(107000, aclrtIpcOpenEventHandle(handle, &wrong));
    EXPECT(0, aclrtSynchronizeEvent(event));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtResetDeviceForce(0));
    return 0;
}

/* ---- the side that records ---- */

static void arguments(aclrtEvent event) {
    aclrtEvent plain, wrong;
    aclrtIpcEventHandle handle;
    uint32_t id;
    aclrtEventStatus status;
    aclrtEventWaitStatus wait_status;
    float ms;
    EXPECT(107000, aclrtCreateEventWithFlag(&wrong, ACL_EVENT_IPC));
    EXPECT(107000, aclrtCreateEventExWithFlag(&wrong, ACL_EVENT_IPC | ACL_EVENT_SYNC));
    EXPECT(0, aclrtCreateEvent(&plain));
    EXPECT(100000, aclrtIpcGetEventHandle(NULL, &handle));
    EXPECT(100000, aclrtIpcGetEventHandle(event, NULL));
    EXPECT(107017, aclrtIpcGetEventHandle(stream, &handle));
    EXPECT(107000, aclrtIpcGetEventHandle(plain, &handle));
    EXPECT(207000, aclrtGetEventId(event, &id));
    EXPECT(207000, aclrtResetEvent(event, stream));
    EXPECT(207000, aclrtQueryEvent(event, &status));
    EXPECT(207000, aclrtQueryEventWaitStatus(event, &wait_status));
    EXPECT(207000, aclrtEventElapsedTime(&ms, event, event));
    EXPECT(0, aclrtDestroyEvent(plain));
}

static void parent(void) {
    aclrtEvent event, back;
    aclrtIpcEventHandle handle;
    pyaclEmuCounters before, after;
    set_up();
    EXPECT(0, pyaclEmuGetCounters(&before));
    EXPECT(0, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    arguments(event);
    EXPECT(0, aclrtIpcGetEventHandle(event, &handle));
    tell(to_child, &handle, sizeof(handle));
    wait_turn(to_parent);
    hold(1);
    EXPECT(0, aclrtRecordEvent(event, stream));
    signal_turn(to_child);
    wait_turn(to_parent); /* its stream is parked */
    hold(0);
    finish();
    EXPECT(0, aclrtSynchronizeEvent(event));

    hear(to_parent, &handle, sizeof(handle));
    EXPECT(0, aclrtIpcOpenEventHandle(handle, &back));
    for (int i = 0; i < ROUNDS; i++) {
        EXPECT(0, aclrtRecordEvent(event, stream));
        signal_turn(to_child);
        wait_turn(to_parent);
        EXPECT(0, aclrtStreamWaitEvent(stream, back));
    }
    finish();
    hold(1);
    EXPECT(0, aclrtRecordEvent(event, stream));
    signal_turn(to_child);
    wait_turn(to_parent);
    EXPECT(0, aclrtStreamAbort(stream));
    hold(0);
    wait_turn(to_parent);
    EXPECT(0, aclrtDestroyEvent(back));
    EXPECT(0, aclrtDestroyEvent(event));
    signal_turn(to_child);
    EXPECT(0, pyaclEmuGetCounters(&after));
    CHECK(after.events == before.events);
    EXPECT(0, aclrtResetDeviceForce(0));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    pid_t pid = fork(); /* before the runtime is used: it does not survive a fork */
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(20);
        return child();
    }
    parent();
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
