/* How a kernel looks to the emulated runtime: an ordinary C function in a shared object.
 *
 * Build it with `cc -shared -fPIC`, load the file with aclrtBinaryLoadFromFile (or its bytes with
 * aclrtBinaryLoadFromData), look the function up by name and launch it like any kernel. The function is called
 * once for each block of the launch. On a real NPU a binary made by the Ascend compiler takes its place. */
#ifndef PYACL_KERNEL_H
#define PYACL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a block knows about itself. Valid only during the call. */
typedef struct pyaclBlock {
    uint32_t index;                    /* 0 .. count-1 */
    uint32_t count;                    /* blocks of this launch */
    uint64_t argsSize;                 /* bytes behind `args` */
    const volatile int32_t *cancelled; /* not 0 after an abort or when the time is up: long kernels look and return */
} pyaclBlock;

#ifdef __cplusplus
#define PYACL_EXTERN_C extern "C"
#else
#define PYACL_EXTERN_C
#endif

/* Defines a kernel. `args` holds the argument bytes exactly as the launch call packed them. Returns 0, or the
 * error the task shall fail with on the device (507035 vector core exception, 207003 overflow, ...). */
#define PYACL_KERNEL(name) \
    PYACL_EXTERN_C __attribute__((visibility("default"))) int32_t name(const void *args, const pyaclBlock *block)

/* Optional: the size in bytes of each parameter, in order. Launches that take one pointer per parameter
 * (aclrtLaunchKernelWithArgsArray) need it; each parameter sits in 8-byte aligned slots. */
#define PYACL_KERNEL_PARAMS(name, ...)                                               \
    PYACL_EXTERN_C __attribute__((visibility("default"))) const uint32_t name##__params[] = { \
        (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), __VA_ARGS__}

typedef int32_t (*pyaclKernelFn)(const void *args, const pyaclBlock *block);

#ifdef __cplusplus
}
#endif
#endif
