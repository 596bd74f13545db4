/* Notifies between two processes: keys, who may import them, and records that wake streams on the other side. */
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { KEY_BYTES = 65, ROUNDS = 50 };

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

static void wait_for(aclrtNotify notify) { EXPECT(0, aclrtWaitAndResetNotify(notify, stream, 0)); }
static void record(aclrtNotify notify) { EXPECT(0, aclrtRecordNotify(notify, stream)); }
static void finish(void) { EXPECT(0, aclrtSynchronizeStream(stream)); }
static void is_blocked(void) { EXPECT(507046, aclrtSynchronizeStreamWithTimeout(stream, 30)); }

/* ---- the importing side ---- */

static int child(void) {
    char guarded_key[KEY_BYTES], open_key[KEY_BYTES];
    aclrtNotify guarded, open;
    set_up();
    hear(to_child, guarded_key, KEY_BYTES);
    hear(to_child, open_key, KEY_BYTES);
    EXPECT(100000, aclrtNotifyImportByKey(NULL, open_key, 0));
    EXPECT(100000, aclrtNotifyImportByKey(&open, NULL, 0));
    EXPECT(107000, aclrtNotifyImportByKey(&open, open_key, 1));
    EXPECT(107000, aclrtNotifyImportByKey(&open, "no such key", 0));
    EXPECT(107000, aclrtNotifyImportByKey(&open, "pyacl-1-1-0000000000000000-1-1", 0));
    EXPECT(507899, aclrtNotifyImportByKey(&guarded, guarded_key, 0));
    signal_turn(to_parent); /* now it allows us */
    wait_turn(to_child);
    EXPECT(0, aclrtNotifyImportByKey(&guarded, guarded_key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
    EXPECT(0, aclrtNotifyImportByKey(&open, open_key, 0));
    char key[KEY_BYTES];
    EXPECT(107000, aclrtNotifyGetExportKey(open, key, KEY_BYTES, 0)); /* only by its owner */
    aclrtStream elsewhere;
    EXPECT(0, aclrtSetDevice(1));
    EXPECT(0, aclrtCreateStream(&elsewhere));
    EXPECT(107000, aclrtWaitAndResetNotify(open, elsewhere, 0));
    EXPECT(0, aclrtResetDeviceForce(1));
    EXPECT(0, aclrtSetDevice(0));

    wait_for(open);
    is_blocked();
    signal_turn(to_parent);
    finish(); /* its record came through */
    for (int i = 0; i < ROUNDS; i++) {
        record(guarded);
        wait_for(open);
    }
    finish();
    EXPECT(0, aclrtWaitAndResetNotify(open, stream, 1));
    EXPECT(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
    wait_for(open);
    is_blocked();
    EXPECT(0, aclrtStreamAbort(stream));
    signal_turn(to_parent); /* destroys */
    wait_turn(to_child);
    EXPECT(107000, aclrtNotifyImportByKey(&open, open_key, 0));
    record(open); /* no one's any more, but ours */
    wait_for(open);
    finish();
    EXPECT(0, aclrtDestroyNotify(open));
    EXPECT(0, aclrtDestroyNotify(guarded));
    pyaclEmuCounters counters;
    EXPECT(0, pyaclEmuGetCounters(&counters));
    CHECK(counters.notifies == 0);
    EXPECT(0, aclrtResetDeviceForce(0));
    return 0;
}

/* ---- the exporting side ---- */

static void arguments(aclrtNotify notify) {
    char key[KEY_BYTES];
    int32_t pid = 1;
    EXPECT(100000, aclrtNotifyGetExportKey(NULL, key, KEY_BYTES, 0));
    EXPECT(100000, aclrtNotifyGetExportKey(notify, NULL, KEY_BYTES, 0));
    EXPECT(107000, aclrtNotifyGetExportKey(notify, key, 0, 0));
    EXPECT(107000, aclrtNotifyGetExportKey(notify, key, KEY_BYTES, 1));
    EXPECT(107000, aclrtNotifySetImportPid(notify, &pid, 1)); /* not exported yet */
    EXPECT(100000, aclrtNotifySetImportPid(notify, NULL, 1));
    EXPECT(107000, aclrtNotifySetImportPid(notify, &pid, 0));
}

static void a_wait_that_was_there_before(aclrtNotify notify, char *key) {
    wait_for(notify);
    is_blocked();
    EXPECT(0, aclrtNotifyGetExportKey(notify, key, KEY_BYTES, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    is_blocked();
    EXPECT(0, aclrtRecordNotify(notify, NULL));
    finish();
    record(notify);
    char again[KEY_BYTES] = "";
    EXPECT(0, aclrtNotifyGetExportKey(notify, again, KEY_BYTES, 0));
    CHECK(strcmp(key, again) == 0);
    wait_for(notify);
    finish();
}

static void parent(int32_t child_pid) {
    char guarded_key[KEY_BYTES], open_key[KEY_BYTES];
    aclrtNotify guarded, open, own_import;
    set_up();
    EXPECT(0, aclrtCreateNotify(&guarded, 0));
    EXPECT(0, aclrtCreateNotify(&open, 0));
    arguments(guarded);
    EXPECT(0, aclrtNotifyGetExportKey(guarded, guarded_key, KEY_BYTES, 0));
    a_wait_that_was_there_before(open, open_key);
    tell(to_child, guarded_key, KEY_BYTES);
    tell(to_child, open_key, KEY_BYTES);
    wait_turn(to_parent);
    EXPECT(0, aclrtNotifySetImportPid(guarded, &child_pid, 1));
    signal_turn(to_child);
    EXPECT(507899, aclrtNotifyImportByKey(&own_import, guarded_key, 0)); /* allowed is who was named */
    EXPECT(0, aclrtNotifyImportByKey(&own_import, open_key, 0));

    wait_turn(to_parent); /* its stream is parked */
    record(own_import);
    finish();
    for (int i = 0; i < ROUNDS; i++) {
        wait_for(guarded);
        record(open);
    }
    finish();
    EXPECT(0, aclrtDestroyNotify(own_import));
    wait_turn(to_parent);
    EXPECT(0, aclrtDestroyNotify(open));
    EXPECT(0, aclrtDestroyNotify(guarded));
    signal_turn(to_child);
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
    parent(pid);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
