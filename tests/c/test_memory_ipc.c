/* Device memory between two processes: what one writes, the other reads, in memory of every size. */
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { KEY_BYTES = 65, SIZES = 4 };
static const size_t sizes[SIZES] = {1, 4096, 3 << 20, 64 << 20};

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

static void fill(void *address, size_t bytes, int value) {
    EXPECT(0, aclrtMemsetAsync(address, bytes, value, bytes, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
}

static int ends_are(const char *address, size_t bytes, char value) {
    char first, last;
    EXPECT(0, aclrtMemcpy(&first, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(0, aclrtMemcpy(&last, 1, address + bytes - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    return first == value && last == value;
}

static int child(void) {
    char key[KEY_BYTES], closed[KEY_BYTES];
    set_up();
    for (int i = 0; i < SIZES; i++) {
        void *address;
        pyaclEmuCounters before, after;
        EXPECT(0, pyaclEmuGetCounters(&before));
        hear(to_child, key, sizeof(key));
        EXPECT(0, aclrtIpcMemImportByKey(&address, key, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
        CHECK(ends_are(address, sizes[i], 11));
        fill(address, sizes[i], 22);
        EXPECT(107000, aclrtIpcMemSetImportPid(key, &(int32_t){1}, 1)); /* its owner only */
        EXPECT(107000, aclrtIpcMemGetExportKey(address, sizes[i], closed, KEY_BYTES, 0));
        EXPECT(107000, aclrtFree(address));
        signal_turn(to_parent);
        wait_turn(to_child);
        CHECK(ends_are(address, sizes[i], 33));
        EXPECT(0, aclrtIpcMemClose(key));
        EXPECT(107000, aclrtIpcMemClose(key));
        EXPECT(0, pyaclEmuGetCounters(&after)); /* it is the other process's */
        CHECK(after.deviceBytes == before.deviceBytes);
        signal_turn(to_parent);
    }
    void *never;
    hear(to_child, closed, sizeof(closed));
    EXPECT(507899, aclrtIpcMemImportByKey(&never, closed, 0)); /* this process was not named */
    signal_turn(to_parent);
    wait_turn(to_child);
    EXPECT(0, aclrtIpcMemImportByKey(&never, closed, 0)); /* it is, now; never closed: goes with the device */
    signal_turn(to_parent);
    wait_turn(to_child);
    EXPECT(107000, aclrtIpcMemImportByKey(&never, closed, 0)); /* its owner has closed it */
    EXPECT(107000, aclrtIpcMemImportByKey(&never, "pyacl-1-2-3", 0));
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}

static void parent(pid_t pid) {
    char key[KEY_BYTES];
    set_up();
    for (int i = 0; i < SIZES; i++) {
        char *address;
        EXPECT(0, aclrtMalloc((void **)&address, sizes[i], ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT(0, aclrtIpcMemGetExportKey(address, sizes[i], key, KEY_BYTES, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
        fill(address, sizes[i], 11);
        tell(to_child, key, sizeof(key));
        wait_turn(to_parent);
        CHECK(ends_are(address, sizes[i], 22));
        fill(address, sizes[i], 33);
        signal_turn(to_child);
        wait_turn(to_parent);
        EXPECT(0, aclrtIpcMemClose(key));
        EXPECT(0, aclrtFree(address));
    }
    void *address;
    EXPECT(0, aclrtMalloc(&address, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(107000, aclrtIpcMemGetExportKey(address, 1 << 20, key, KEY_BYTES, 0)); /* more than there is */
    EXPECT(107000, aclrtIpcMemGetExportKey(&address, 8, key, KEY_BYTES, 0));
    EXPECT(107000, aclrtIpcMemGetExportKey(address, 0, key, KEY_BYTES, 0));
    EXPECT(107000, aclrtIpcMemGetExportKey(address, 8, key, KEY_BYTES - 1, 0));
    EXPECT(0, aclrtIpcMemGetExportKey(address, 8, key, KEY_BYTES, 0));
    tell(to_child, key, sizeof(key));
    wait_turn(to_parent);
    EXPECT(0, aclrtIpcMemSetImportPid(key, &(int32_t){pid}, 1));
    signal_turn(to_child);
    wait_turn(to_parent);
    EXPECT(0, aclrtIpcMemClose(key));
    signal_turn(to_child);
    EXPECT(0, aclrtFree(address));
    EXPECT(0, aclrtResetDevice(0));
}

int main(int argc, char **argv) {
    guard(argc, argv, 30);
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    pid_t pid = fork(); /* before the runtime is used: it does not survive a fork */
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(30);
        return child();
    }
    parent(pid);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
