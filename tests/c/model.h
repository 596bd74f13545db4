/* What the tests of models share: kernels by name, cells of device memory, and models that are built in one call. */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H

#include <stdint.h>
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

#define HEAD 0U
#define FOLLOWER 0x7FFFFFFFU

static aclrtBinHandle binary;
static aclrtFuncHandle noop, add_one, append, spin, wait_flag, set_flag, fail_kernel, overflow_kernel, fill_kernel;

static inline aclrtFuncHandle kernel(const char *name) {
    aclrtFuncHandle function;
    EXPECT(0, aclrtBinaryGetFunction(binary, name, &function));
    return function;
}

static inline void load_kernels(void) {
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    noop = kernel("noop");
    add_one = kernel("add_one");
    append = kernel("append");
    spin = kernel("spin");
    wait_flag = kernel("wait_flag");
    set_flag = kernel("set_flag");
    fail_kernel = kernel("fail");
    overflow_kernel = kernel("overflow");
    fill_kernel = kernel("fill");
}

static inline void unload_kernels(void) { EXPECT(0, aclrtBinaryUnLoad(binary)); }

/* ---- device memory ---- */

static inline void *device_zeros(size_t bytes) {
    void *address;
    EXPECT(0, aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(address, bytes, 0, bytes));
    return address;
}

static inline uint64_t *cell(uint64_t value) {
    uint64_t *address = device_zeros(sizeof(value));
    EXPECT(0, aclrtMemcpy(address, sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
    return address;
}

static inline uint64_t read_cell(const void *address) {
    uint64_t value;
    EXPECT(0, aclrtMemcpy(&value, sizeof(value), address, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

static inline void write_cell(void *address, uint64_t value) {
    EXPECT(0, aclrtMemcpy(address, sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
}

/* ---- launches ---- */

static inline aclError launch(aclrtFuncHandle function, aclrtStream stream, const void *args, size_t bytes) {
    return aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, (void *)(uintptr_t)args, bytes, NULL, 0);
}

static inline aclError launch_add(aclrtStream stream, uint64_t *counter) {
    return launch(add_one, stream, &counter, sizeof(counter));
}

static inline aclError launch_append(aclrtStream stream, uint64_t *log, uint64_t value) {
    uint64_t args[] = {(uint64_t)(uintptr_t)log, value};
    return launch(append, stream, args, sizeof(args));
}

static inline aclError launch_on_flag(aclrtFuncHandle function, aclrtStream stream, uint64_t *flag) {
    return launch(function, stream, &flag, sizeof(flag));
}

static inline aclError launch_noop(aclrtStream stream) {
    uint64_t nothing = 0;
    return launch(noop, stream, &nothing, sizeof(nothing));
}

static inline aclError launch_fail(aclrtStream stream, int32_t code) {
    uint64_t argument = (uint32_t)code;
    return launch(fail_kernel, stream, &argument, sizeof(argument));
}

/* The entries of an append log must be exactly these. */
static inline void expect_log(uint64_t *log, size_t count, const uint64_t *values) {
    uint64_t entries[256];
    CHECK(count < 256);
    EXPECT(0, aclrtMemcpy(entries, (count + 1) * 8, log, (count + 1) * 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(entries[0] == count);
    for (size_t i = 0; i < count; i++) { CHECK(entries[i + 1] == values[i]); }
}

/* ---- streams and models ---- */

static inline aclrtStream new_stream(uint32_t flags) {
    aclrtStream stream;
    EXPECT(0, aclrtCreateStreamWithConfig(&stream, 0, flags));
    return stream;
}

static inline aclmdlRI new_model(void) {
    aclmdlRI model;
    EXPECT(0, aclmdlRIBuildBegin(&model, 0));
    return model;
}

/* A PERSISTENT stream bound to the model. */
static inline aclrtStream bound_stream(aclmdlRI model, uint32_t flag) {
    aclrtStream stream = new_stream(ACL_STREAM_PERSISTENT);
    EXPECT(0, aclmdlRIBindStream(model, stream, flag));
    return stream;
}

static inline void finish_model(aclmdlRI model, aclrtStream last) {
    EXPECT(0, aclmdlRIEndTask(model, last));
    EXPECT(0, aclmdlRIBuildEnd(model, NULL));
}

/* ---- leaks ---- */

static inline pyaclEmuCounters counters(void) {
    pyaclEmuCounters now;
    EXPECT(0, pyaclEmuGetCounters(&now));
    return now;
}

static inline void expect_no_leak(const pyaclEmuCounters *before) {
    pyaclEmuCounters now = counters();
    CHECK(now.contexts == before->contexts);
    CHECK(now.streams == before->streams);
    CHECK(now.events == before->events);
    CHECK(now.eventRecords == before->eventRecords);
    CHECK(now.deviceAllocations == before->deviceAllocations);
    CHECK(now.notifies == before->notifies);
    CHECK(now.binaries == before->binaries);
}

#endif
