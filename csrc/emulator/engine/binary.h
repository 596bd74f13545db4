/* Kernel binaries: shared objects with host-compiled kernels, and the functions found in them. */
#ifndef EMU_BINARY_H
#define EMU_BINARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"
#include "pyacl/kernel.h"

typedef struct Function {
    void *handle;
    struct Binary *binary;
    pyaclKernelFn entry;
    size_t code_bytes;
    const uint32_t *params; /* count, then sizes; NULL when the object does not tell */
    int32_t exception_code; /* what "a kernel raised an exception" is called on the core it runs on */
    char *name;
    struct Function *next;  /* in its binary */
    struct Function *pool_next;
} Function;

typedef struct Binary {
    void *handle;
    void *object;           /* of dlopen */
    int file;               /* memory file it was loaded from, or -1 */
    uint32_t magic;         /* which core the kernels are for */
    pthread_mutex_t lock;   /* functions */
    Function *functions;
} Binary;

aclError binary_load_file(const char *path, uint32_t magic, Binary **binary, const char *api);
aclError binary_load_data(const void *data, size_t length, uint32_t magic, Binary **binary, const char *api);
void binary_unload(Binary *binary);

aclError binary_find(const char *api, aclrtBinHandle handle, Binary **binary);
aclError function_find(const char *api, aclrtFuncHandle handle, Function **function);
/* 107000 when the object has no such kernel. The same name gives the same function. */
aclError binary_get_function(Binary *binary, const char *name, Function **function, const char *api);

/* The kernel <name>_<key>; 107000 when there is none. */
aclError binary_get_function_by_key(Binary *binary, uint64_t key, Function **function, const char *api);
/* A variable of the binary. False when it has none of that name. */
bool binary_get_variable(Binary *binary, const char *name, void **address, size_t *bytes);

uint64_t binary_live_count(void);

#endif
