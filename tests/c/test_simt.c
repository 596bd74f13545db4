/* SIMT launches, which the 950 alone has: each thread of the grid is a block of the host kernel. */
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

static aclrtFuncHandle add_one, append_kernel;
static aclrtStream stream;
static uint64_t *words;

static void array_form(void) {
    void *args[] = {&words};
    dim3 grid = {2, 3, 1}, block = {4, 1, 5}, none = {1, 0, 1}, huge = {UINT32_MAX, 2, 1};
    EXPECT(100000, aclrtLaunchSIMTKernelWithArgsArray(NULL, grid, block, 0, stream, NULL, args));
    EXPECT(107017, aclrtLaunchSIMTKernelWithArgsArray(stream, grid, block, 0, stream, NULL, args));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(add_one, grid, block, 0, stream, NULL, NULL));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(add_one, none, block, 0, stream, NULL, args));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(add_one, grid, none, 0, stream, NULL, args));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(add_one, huge, block, 0, stream, NULL, args));
    EXPECT(0, aclrtLaunchSIMTKernelWithArgsArray(add_one, grid, block, 0, stream, NULL, args));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(words[0] == 2 * 3 * 4 * 5);
}

static void host_form(void) {
    dim3 grid = {3, 1, 1}, block = {2, 1, 1}, none = {0, 1, 1};
    uint64_t args[] = {(uint64_t)(uintptr_t)words, 7};
    memset(words, 0, 64);
    EXPECT(100000, aclrtLaunchSIMTKernelWithHostArgs(append_kernel, grid, block, 0, stream, NULL, NULL, 16, NULL, 0));
    EXPECT(100000, aclrtLaunchSIMTKernelWithHostArgs(append_kernel, grid, block, 0, stream, NULL, args, 0, NULL, 0));
    EXPECT(107000, aclrtLaunchSIMTKernelWithHostArgs(append_kernel, none, block, 0, stream, NULL, args, 16, NULL, 0));
    EXPECT(107000, aclrtLaunchSIMTKernelWithHostArgs(append_kernel, grid, block, 0, stream, NULL, args, 16, NULL, 1));
    EXPECT(0, aclrtLaunchSIMTKernelWithHostArgs(append_kernel, grid, block, 0, stream, NULL, args, 16, NULL, 0));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(words[0] == 6);
    for (int i = 1; i <= 6; i++) { CHECK(words[i] == 7); }
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    EXPECT(0, pyaclEmuConfigure("950", 0));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    aclrtBinHandle binary;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "add_one", &add_one));
    EXPECT(0, aclrtBinaryGetFunction(binary, "append", &append_kernel));
    EXPECT(0, aclrtMalloc((void **)&words, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
    memset(words, 0, 64);
    array_form();
    host_form();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
