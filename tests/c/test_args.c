/* Args handles: layout, placeholders, limits, and handles that are none. */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { MOST_PARAMS = 128, MOST_BYTES = 64 * 1024 };

static aclrtFuncHandle append_kernel, vector_add;
static aclrtStream stream;

static void load(void) {
    aclrtBinHandle binary;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "append", &append_kernel));
    EXPECT(0, aclrtBinaryGetFunction(binary, "vector_add", &vector_add));
}

static aclError launch(aclrtFuncHandle kernel, aclrtArgsHandle args) {
    return aclrtLaunchKernelWithConfig(kernel, 1, stream, NULL, args, NULL);
}

static void append_u64(aclrtArgsHandle args, uint64_t value) {
    aclrtParamHandle param;
    EXPECT(0, aclrtKernelArgsAppend(args, &value, sizeof(value), &param));
}

static void arguments(void) {
    aclrtArgsHandle args, memory = malloc(64);
    aclrtParamHandle param;
    size_t bytes;
    void *buffer;
    uint64_t value = 1;
    EXPECT(100000, aclrtKernelArgsInit(NULL, &args));
    EXPECT(100000, aclrtKernelArgsInit(append_kernel, NULL));
    EXPECT(107017, aclrtKernelArgsInit(stream, &args));
    EXPECT(100000, aclrtKernelArgsGetHandleMemSize(append_kernel, NULL));
    EXPECT(100000, aclrtKernelArgsGetMemSize(append_kernel, 0, &bytes));
    EXPECT(100000, aclrtKernelArgsInitByUserMem(append_kernel, memory, NULL, 8));
    EXPECT(100000, aclrtKernelArgsInitByUserMem(append_kernel, memory, &value, 0));
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &args));
    EXPECT(100000, aclrtKernelArgsAppend(args, &value, 0, &param));
    EXPECT(100000, aclrtKernelArgsAppend(args, NULL, 8, &param));
    EXPECT(107017, aclrtKernelArgsAppend(memory, &value, 8, &param)); /* never initialised */
    EXPECT(107017, aclrtKernelArgsAppend((void *)8, &value, 8, &param));
    EXPECT(0, aclrtKernelArgsAppend(args, &value, 8, &param));
    EXPECT(100000, aclrtKernelArgsGetPlaceHolderBuffer(args, param, 0, &buffer));
    EXPECT(107000, aclrtKernelArgsGetPlaceHolderBuffer(args, param, 8, &buffer));
    EXPECT(107017, aclrtKernelArgsGetPlaceHolderBuffer(args, (void *)8, 8, &buffer));
    EXPECT(107017, aclrtKernelArgsParaUpdate(args, (void *)8, &value, 8));
    EXPECT(107000, aclrtKernelArgsParaUpdate(args, param, &value, 4));
    EXPECT(107000, launch(append_kernel, args));
    EXPECT(100000, aclrtKernelArgsFinalize(NULL));
    EXPECT(107017, aclrtKernelArgsFinalize(append_kernel));
    free(memory);
}

static void limits(void) {
    aclrtArgsHandle args;
    aclrtParamHandle param;
    static char large[MOST_BYTES];
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &args));
    for (int i = 0; i < MOST_PARAMS; i++) { append_u64(args, 0); }
    EXPECT(107000, aclrtKernelArgsAppend(args, large, 8, &param));
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &args));
    EXPECT(107000, aclrtKernelArgsAppend(args, large, MOST_BYTES + 1, &param));
    EXPECT(0, aclrtKernelArgsAppend(args, large, MOST_BYTES - 8, &param));
    EXPECT(107000, aclrtKernelArgsAppend(args, large, 9, &param));
    EXPECT(107000, aclrtKernelArgsAppend(args, large, SIZE_MAX, &param));
    EXPECT(0, aclrtKernelArgsAppend(args, large, 1, &param));
    EXPECT(107000, aclrtKernelArgsAppend(args, large, 1, &param));
}

static uint64_t *device_words(size_t count) {
    void *words;
    EXPECT(0, aclrtMalloc(&words, count * 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    memset(words, 0, count * 8);
    return words;
}

/* Launched twice as it is, then updated: each launch sees what the handle held at its call. */
static void values_are_copied_at_launch(void) {
    uint64_t *log = device_words(8), value = 3;
    aclrtArgsHandle args, again;
    aclrtParamHandle param;
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &args));
    append_u64(args, (uint64_t)(uintptr_t)log);
    EXPECT(0, aclrtKernelArgsAppend(args, &value, 8, &param));
    EXPECT(0, aclrtKernelArgsFinalize(args));
    int32_t id;
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, pyaclEmuHoldStream(id, 1));
    EXPECT(0, launch(append_kernel, args));
    EXPECT(0, launch(append_kernel, args));
    value = 4;
    EXPECT(0, aclrtKernelArgsParaUpdate(args, param, &value, 8));
    EXPECT(107000, launch(append_kernel, args)); /* an update needs another finalize */
    EXPECT(0, aclrtKernelArgsFinalize(args));
    EXPECT(0, launch(append_kernel, args));
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &again));
    CHECK(again == args); /* one object per thread */
    EXPECT(0, pyaclEmuHoldStream(id, 0));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(log[0] == 3 && log[1] == 3 && log[2] == 3 && log[3] == 4);
    EXPECT(0, aclrtFree(log));
}

/* x and y come with the launch; a 4-byte value would take a whole slot, as n takes one here. */
static void placeholders_carry_data(void) {
    aclrtArgsHandle args;
    aclrtParamHandle x, y;
    void *x_data, *y_data;
    float *out = (float *)device_words(8);
    EXPECT(0, aclrtKernelArgsInit(vector_add, &args));
    EXPECT(0, aclrtKernelArgsAppendPlaceHolder(args, &x));
    EXPECT(0, aclrtKernelArgsAppendPlaceHolder(args, &y));
    append_u64(args, (uint64_t)(uintptr_t)out);
    append_u64(args, 3);
    EXPECT(0, aclrtKernelArgsGetPlaceHolderBuffer(args, y, 3 * sizeof(float), &y_data));
    EXPECT(0, aclrtKernelArgsGetPlaceHolderBuffer(args, x, 3 * sizeof(float), &x_data));
    CHECK((uintptr_t)x_data % 8 == 0 && (uintptr_t)y_data % 8 == 0);
    EXPECT(107000, aclrtKernelArgsGetPlaceHolderBuffer(args, x, 8, &x_data));
    EXPECT(207000, aclrtKernelArgsAppendPlaceHolder(args, &x));
    memcpy(x_data, (float[]){1, 2, 3}, 3 * sizeof(float));
    memcpy(y_data, (float[]){10, 20, 30}, 3 * sizeof(float));
    EXPECT(0, aclrtKernelArgsFinalize(args));
    EXPECT(107000, aclrtKernelArgsParaUpdate(args, y, out, 8));
    EXPECT(207000, aclrtKernelArgsGetPlaceHolderBuffer(args, y, 8, &y_data));
    EXPECT(0, launch(vector_add, args));
    memset(x_data, 0, 3 * sizeof(float));
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(out[0] == 11 && out[1] == 22 && out[2] == 33);
    EXPECT(0, aclrtFree(out));
}

static void callers_memory_gives_handles_side_by_side(void) {
    enum { HANDLES = 200 };
    uint64_t *log = device_words(HANDLES + 1);
    aclrtArgsHandle handles[HANDLES];
    void *memory[HANDLES];
    size_t handle_bytes, bytes;
    EXPECT(0, aclrtKernelArgsGetHandleMemSize(append_kernel, &handle_bytes));
    EXPECT(0, aclrtKernelArgsGetMemSize(append_kernel, 16, &bytes));
    for (uint64_t i = 0; i < HANDLES; i++) {
        handles[i] = malloc(handle_bytes);
        memory[i] = malloc(bytes);
        EXPECT(0, aclrtKernelArgsInitByUserMem(append_kernel, handles[i], memory[i], bytes));
        append_u64(handles[i], (uint64_t)(uintptr_t)log);
    }
    for (uint64_t i = 0; i < HANDLES; i++) {
        append_u64(handles[i], i);
        aclrtParamHandle param;
        EXPECT(107000, aclrtKernelArgsAppend(handles[i], &i, 8, &param)); /* past the caller's memory */
        EXPECT(0, aclrtKernelArgsFinalize(handles[i]));
        EXPECT(0, launch(append_kernel, handles[i]));
        memset(handles[i], 0xEE, handle_bytes);
        free(handles[i]);
        free(memory[i]);
    }
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(log[0] == HANDLES);
    for (uint64_t i = 0; i < HANDLES; i++) { CHECK(log[1 + i] == i); }
    EXPECT(0, aclrtFree(log));
}

static void *without_context(void *own) {
    aclrtArgsHandle args;
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &args));
    CHECK(args != own);
    append_u64(args, 0);
    EXPECT(107002, aclrtKernelArgsFinalize(args));
    return args;
}

static void each_thread_has_its_own(void) {
    pthread_t thread;
    aclrtArgsHandle own;
    void *others;
    EXPECT(0, aclrtKernelArgsInit(append_kernel, &own));
    CHECK(pthread_create(&thread, NULL, without_context, own) == 0);
    CHECK(pthread_join(thread, &others) == 0);
    EXPECT(107017, aclrtKernelArgsFinalize(others)); /* it went with its thread */
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    load();
    arguments();
    limits();
    values_are_copied_at_launch();
    placeholders_carry_data();
    callers_memory_gives_handles_side_by_side();
    each_thread_has_its_own();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
