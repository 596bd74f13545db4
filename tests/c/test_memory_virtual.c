/* Virtual memory: addresses, physical memory, mappings, rights; and physical memory given to another process. */
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { PAGE = 2 << 20 };

static int to_child[2], to_parent[2];

static void tell(const int pipe[2], const void *data, size_t bytes) {
    CHECK(write(pipe[1], data, bytes) == (ssize_t)bytes);
}
static void hear(const int pipe[2], void *data, size_t bytes) { CHECK(read(pipe[0], data, bytes) == (ssize_t)bytes); }

static aclrtPhysicalMemProp properties(void) {
    return (aclrtPhysicalMemProp){.handleType = ACL_MEM_HANDLE_TYPE_NONE, .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                  .memAttr = ACL_HBM_MEM_HUGE, .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
}

static char *reserve(size_t bytes) {
    void *address;
    EXPECT(0, aclrtReserveMemAddress(&address, bytes, 0, NULL, 0));
    CHECK((uintptr_t)address % PAGE == 0);
    return address;
}

static aclrtDrvMemHandle physical(size_t bytes) {
    aclrtPhysicalMemProp wanted = properties();
    aclrtDrvMemHandle handle;
    EXPECT(0, aclrtMallocPhysical(&handle, bytes, &wanted, 0));
    return handle;
}

static void write_byte(char *address, char value) { EXPECT(0, aclrtMemcpy(address, 1, &value, 1, ACL_MEMCPY_HOST_TO_DEVICE)); }
static char read_byte(const char *address) {
    char value;
    EXPECT(0, aclrtMemcpy(&value, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

/* The two pages of a reservation are mapped the other way round at a second one. */
static void memory_at_two_addresses(void) {
    aclrtStream stream;
    EXPECT(0, aclrtCreateStream(&stream));
    char *there = reserve(2 * PAGE), *here = reserve(2 * PAGE);
    aclrtDrvMemHandle first = physical(PAGE), second = physical(PAGE);
    EXPECT(0, aclrtMapMem(there, PAGE, 0, first, 0));
    EXPECT(0, aclrtMapMem(there + PAGE, PAGE, 0, second, 0));
    EXPECT(0, aclrtMapMem(here, PAGE, 0, second, 0));
    EXPECT(0, aclrtMapMem(here + PAGE, PAGE, 0, first, 0));
    EXPECT(0, aclrtMemsetAsync(there + PAGE / 2, 2 * PAGE, 7, PAGE, stream)); /* over the border */
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(read_byte(here) == 7 && read_byte(here + PAGE / 2) == 0);
    CHECK(read_byte(here + PAGE) == 0 && read_byte(here + PAGE + PAGE / 2) == 7);
    aclrtPtrAttributes attributes;
    EXPECT(0, aclrtPointerGetAttributes(here + 5, &attributes));
    CHECK(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);

    EXPECT(107000, aclrtMapMem(there, PAGE, 0, first, 0)); /* taken */
    EXPECT(107000, aclrtMapMem(there + 4 * PAGE, PAGE, 0, first, 0)); /* not reserved */
    EXPECT(107000, aclrtReleaseMemAddress(there)); /* in use */
    EXPECT(107000, aclrtFree(there));
    EXPECT(0, aclrtUnmapMem(there));
    EXPECT(107000, aclrtUnmapMem(there));
    EXPECT(0, aclrtMemsetAsync(there + PAGE / 2, 2 * PAGE, 8, PAGE, stream)); /* half of it is gone */
    EXPECT(507013, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtUnmapMem(there + PAGE));
    EXPECT(0, aclrtReleaseMemAddress(there));

    EXPECT(0, aclrtFreePhysical(first)); /* lives on where it is mapped */
    EXPECT(107000, aclrtFreePhysical(first));
    CHECK(read_byte(here + PAGE + PAGE / 2) == 7);
    aclrtDrvMemHandle again;
    EXPECT(0, aclrtMemRetainAllocationHandle(here + PAGE + 9, &again));
    EXPECT(0, aclrtUnmapMem(here + PAGE));
    EXPECT(0, aclrtMapMem(here + PAGE, PAGE, 0, again, 0));
    CHECK(read_byte(here + PAGE + PAGE / 2) == 7);
    EXPECT(0, aclrtUnmapMem(here + PAGE));
    EXPECT(0, aclrtFreePhysical(again));
    EXPECT(0, aclrtUnmapMem(here));
    EXPECT(0, aclrtFreePhysical(second));
    EXPECT(0, aclrtReleaseMemAddress(here));
    EXPECT(0, aclrtDestroyStream(stream));
}

static void rights(void) {
    aclrtStream stream;
    EXPECT(0, aclrtCreateStream(&stream));
    char *at = reserve(PAGE);
    aclrtDrvMemHandle memory = physical(PAGE);
    aclrtMemLocation here = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}, there = {.id = 1, .type = ACL_MEM_LOCATION_TYPE_DEVICE};
    uint64_t right;
    EXPECT(0, aclrtMemMapNoAccess(at, PAGE, 0, memory, 0));
    EXPECT(0, aclrtMemGetAccess(at, &here, &right));
    CHECK(right == ACL_RT_MEM_ACCESS_FLAGS_NONE);
    EXPECT(0, aclrtMemsetAsync(at, PAGE, 1, PAGE, stream));
    EXPECT(507013, aclrtSynchronizeStream(stream));
    aclrtMemAccessDesc wanted = {.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE, .location = here};
    EXPECT(0, aclrtMemSetAccess(at, PAGE, &wanted, 1));
    EXPECT(0, aclrtMemGetAccess(at, &here, &right));
    CHECK(right == ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
    EXPECT(0, aclrtMemGetAccess(at, &there, &right));
    CHECK(right == ACL_RT_MEM_ACCESS_FLAGS_NONE);
    EXPECT(0, aclrtMemsetAsync(at, PAGE, 1, PAGE, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    wanted.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    EXPECT(107000, aclrtMemSetAccess(at, PAGE, &wanted, 1));
    wanted = (aclrtMemAccessDesc){.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE, .location = {.type = ACL_MEM_LOCATION_TYPE_HOST}};
    EXPECT(107000, aclrtMemSetAccess(at, PAGE, &wanted, 1));
    EXPECT(0, aclrtUnmapMem(at));
    EXPECT(0, aclrtFreePhysical(memory));
    EXPECT(0, aclrtReleaseMemAddress(at));
    EXPECT(0, aclrtDestroyStream(stream));
}

static void sizes_are_accounted(void) {
    size_t before, after, total;
    aclrtPhysicalMemProp wanted = properties();
    aclrtDrvMemHandle handle;
    EXPECT(0, aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
    EXPECT(207001, aclrtMallocPhysical(&handle, (before / PAGE + 1) * PAGE, &wanted, 0));
    EXPECT(107000, aclrtMallocPhysical(&handle, PAGE + 512, &wanted, 0));
    handle = physical(before / PAGE * PAGE); /* nothing of it is touched */
    EXPECT(0, aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    CHECK(after < PAGE);
    EXPECT(0, aclrtFreePhysical(handle));
    EXPECT(0, aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    CHECK(after == before);
    wanted.location.type = ACL_MEM_LOCATION_TYPE_HOST; /* pinned memory of the host: not the device's */
    EXPECT(0, aclrtMallocPhysical(&handle, PAGE, &wanted, 0));
    EXPECT(0, aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    CHECK(after == before);
    char *at = reserve(PAGE);
    EXPECT(0, aclrtMapMem(at, PAGE, 0, handle, 0));
    at[3] = 4;
    EXPECT(0, aclrtUnmapMem(at));
    EXPECT(0, aclrtFreePhysical(handle));
    EXPECT(0, aclrtReleaseMemAddress(at));
}

/* ---- two processes ---- */

static int child(void) {
    uint64_t closed, open;
    aclrtMemFabricHandle fabric;
    aclrtDrvMemHandle handle;
    EXPECT(0, aclrtSetDevice(0));
    hear(to_child, &closed, sizeof(closed));
    EXPECT(507899, aclrtMemImportFromShareableHandle(closed, 0, &handle)); /* this process was not named */
    EXPECT(107000, aclrtMemImportFromShareableHandle(closed + 1, 0, &handle));
    tell(to_parent, "", 1);
    hear(to_child, &open, sizeof(open));
    hear(to_child, &fabric, sizeof(fabric));
    EXPECT(0, aclrtMemImportFromShareableHandle(open, 0, &handle));
    char *at = reserve(2 * PAGE);
    EXPECT(0, aclrtMapMem(at, PAGE, 0, handle, 0));
    CHECK(read_byte(at + 100) == 42);
    write_byte(at + 101, 43);
    EXPECT(107000, aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &open)); /* its owner only */
    aclrtDrvMemHandle same;
    EXPECT(0, aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &same));
    EXPECT(0, aclrtMapMem(at + PAGE, PAGE, 0, same, 0));
    CHECK(read_byte(at + PAGE + 101) == 43);
    tell(to_parent, "", 1);
    char byte;
    hear(to_child, &byte, 1);
    EXPECT(107000, aclrtMemImportFromShareableHandle(closed, 0, &handle)); /* freed over there */
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}

static void parent(void) {
    char byte;
    uint64_t closed, open, other;
    aclrtMemFabricHandle fabric;
    aclrtDrvMemHandle mine = physical(PAGE), shared = physical(PAGE);
    EXPECT(0, aclrtMemExportToShareableHandle(mine, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DEFAULT, &closed));
    tell(to_child, &closed, sizeof(closed));
    hear(to_parent, &byte, 1);
    char *at = reserve(PAGE);
    EXPECT(0, aclrtMapMem(at, PAGE, 0, shared, 0));
    write_byte(at + 100, 42);
    EXPECT(0, aclrtMemExportToShareableHandle(shared, ACL_MEM_HANDLE_TYPE_NONE,
                                              ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &open));
    EXPECT(0, aclrtMemExportToShareableHandleV2(shared, 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &other));
    CHECK(open == other);
    EXPECT(0, aclrtMemExportToShareableHandleV2(shared, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric));
    int32_t pid = getpid();
    EXPECT(0, aclrtMemSetPidToShareableHandle(open, &pid, 1));
    EXPECT(100000, aclrtMemSetPidToShareableHandle(open, NULL, 1));
    EXPECT(107000, aclrtMemSetPidToShareableHandle(open + 1, &pid, 1));
    tell(to_child, &open, sizeof(open));
    tell(to_child, &fabric, sizeof(fabric));
    hear(to_parent, &byte, 1);
    CHECK(read_byte(at + 101) == 43);
    EXPECT(0, aclrtFreePhysical(mine));
    tell(to_child, "", 1);
    EXPECT(0, aclrtUnmapMem(at));
    EXPECT(0, aclrtFreePhysical(shared));
    EXPECT(0, aclrtReleaseMemAddress(at));
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
    EXPECT(0, aclrtSetDevice(0));
    memory_at_two_addresses();
    rights();
    sizes_are_accounted();
    parent();
    pyaclEmuCounters counters;
    EXPECT(0, pyaclEmuGetCounters(&counters));
    CHECK(counters.deviceAllocations == 0 && counters.deviceBytes == 0);
    char *left = reserve(PAGE); /* goes with the device */
    EXPECT(0, aclrtMapMem(left, PAGE, 0, physical(PAGE), 0));
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, pyaclEmuGetCounters(&counters));
    CHECK(counters.deviceBytes == 0);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}
