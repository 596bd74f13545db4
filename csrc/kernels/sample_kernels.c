/* Sample host kernels: what tests, benchmarks and the README launch. Each also shows one thing a kernel can do. */
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "pyacl/kernel.h"

#define OVERFLOW_CODE 207003

PYACL_KERNEL(noop) {
    (void)args;
    (void)block;
    return 0;
}

/* The same under the name that the fidelity probe asks for. */
PYACL_KERNEL(k0) {
    (void)args;
    (void)block;
    return 0;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Keeps its core busy for `ns` nanoseconds, or until the stream is aborted. */
PYACL_KERNEL(spin) {
    const uint64_t *ns = args;
    uint64_t end = now_ns() + *ns;
    while (now_ns() < end && !*block->cancelled) { }
    return 0;
}
PYACL_KERNEL_PARAMS(spin, 8);

typedef struct VectorAdd {
    const float *x, *y;
    float *out;
    uint64_t n;
} VectorAdd;

/* out = x + y, the elements divided among the blocks. */
PYACL_KERNEL(vector_add) {
    const VectorAdd *a = args;
    for (uint64_t i = block->index; i < a->n; i += block->count) { a->out[i] = a->x[i] + a->y[i]; }
    return 0;
}
PYACL_KERNEL_PARAMS(vector_add, 8, 8, 8, 8);

typedef struct Fill {
    uint32_t *out;
    uint32_t value;
    uint64_t n;
} Fill;

PYACL_KERNEL(fill) {
    const Fill *a = args;
    for (uint64_t i = block->index; i < a->n; i += block->count) { a->out[i] = a->value; }
    return 0;
}
PYACL_KERNEL_PARAMS(fill, 8, 4, 8);

/* Reports a floating-point overflow: an outcome of synchronize, not a failure. */
PYACL_KERNEL(overflow) {
    (void)args;
    (void)block;
    return OVERFLOW_CODE;
}

/* Fails with the code it is given. */
PYACL_KERNEL(fail) {
    const int32_t *code = args;
    (void)block;
    return *code;
}
PYACL_KERNEL_PARAMS(fail, 4);

PYACL_KERNEL(add_one) {
    _Atomic(uint64_t) *const *counter = args;
    (void)block;
    atomic_fetch_add(*counter, 1);
    return 0;
}
PYACL_KERNEL_PARAMS(add_one, 8);

typedef struct Append {
    _Atomic(uint64_t) *log; /* log[0] counts the entries behind it */
    uint64_t value;
} Append;

/* Writes down the order in which launches run. */
PYACL_KERNEL(append) {
    const Append *a = args;
    (void)block;
    atomic_store(&a->log[1 + atomic_fetch_add(&a->log[0], 1)], a->value);
    return 0;
}
PYACL_KERNEL_PARAMS(append, 8, 8);

/* Runs until *flag is not 0, or the stream is aborted. */
PYACL_KERNEL(wait_flag) {
    _Atomic(uint32_t) *const *flag = args;
    while (atomic_load(*flag) == 0 && !*block->cancelled) { sched_yield(); }
    return 0;
}
PYACL_KERNEL_PARAMS(wait_flag, 8);

PYACL_KERNEL(set_flag) {
    _Atomic(uint32_t) *const *flag = args;
    (void)block;
    atomic_store(*flag, 1);
    return 0;
}
PYACL_KERNEL_PARAMS(set_flag, 8);

/* A variable on the device: programs find it with aclrtBinaryGetGlobal. */
__attribute__((visibility("default"))) _Atomic(uint64_t) launch_count;

PYACL_KERNEL(count_launch) {
    (void)args;
    (void)block;
    atomic_fetch_add(&launch_count, 1);
    return 0;
}

/* One kernel built for several cases, told apart by a number: aclrtBinaryGetFunctionByEntry finds them by it. */
static int32_t store(const void *args, uint64_t value) {
    uint64_t *const *out = args;
    **out = value;
    return 0;
}

PYACL_KERNEL(tiled_16) {
    (void)block;
    return store(args, 16);
}
PYACL_KERNEL_PARAMS(tiled_16, 8);

PYACL_KERNEL(tiled_32) {
    (void)block;
    return store(args, 32);
}
PYACL_KERNEL_PARAMS(tiled_32, 8);
