/* Loading kernel binaries with dlopen. The code of an unloaded binary stays mapped while any stream has work left:
 * one of its kernels may still be running. */
#include "engine/binary.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/error.h"
#include "engine/exception.h"
#include "engine/handle.h"
#include "engine/memory.h"
#include "engine/object.h"
#include "engine/pool.h"
#include "engine/stream.h"

static Pool functions = POOL(Function, pool_next);
static _Atomic(uint64_t) live;

static aclError open_object(const char *path, int file, uint32_t magic, Binary **out, const char *api) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "no loadable kernel binary: %s", dlerror()); }
    Binary *binary = calloc(1, sizeof(*binary));
    void *handle = binary == NULL ? NULL : handle_new(KIND_BINARY, binary);
    if (handle == NULL) {
        free(binary);
        dlclose(object);
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a binary");
    }
    pthread_mutex_init(&binary->lock, NULL);
    binary->handle = handle;
    binary->object = object;
    binary->file = file;
    binary->magic = magic;
    atomic_fetch_add(&live, 1);
    *out = binary;
    return ACL_SUCCESS;
}

/* dlopen looks into the library path for a bare name; a kernel binary is always meant as a file. */
aclError binary_load_file(const char *path, uint32_t magic, Binary **binary, const char *api) {
    char *absolute = realpath(path, NULL);
    if (absolute == NULL) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "cannot read %s", path); }
    aclError code = open_object(absolute, -1, magic, binary, api);
    free(absolute);
    return code;
}

static bool write_all(int file, const char *data, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, data, length);
        if (written <= 0) { return false; }
        data += written;
        length -= (size_t)written;
    }
    return true;
}

/* The memory file stays open as long as the object: dlopen takes two objects of the same path for one. */
aclError binary_load_data(const void *data, size_t length, uint32_t magic, Binary **binary, const char *api) {
    char path[64];
    int file = memfd_create("pyacl-kernel", MFD_CLOEXEC);
    if (file < 0 || !write_all(file, data, length)) {
        if (file >= 0) { close(file); }
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu bytes of kernel binary", length);
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    aclError code = open_object(path, file, magic, binary, api);
    if (code != ACL_SUCCESS) { close(file); }
    return code;
}

static void note_work(Stream *stream, void *work_left) {
    if (!stream_is_done(stream)) { *(bool *)work_left = true; }
}

void binary_unload(Binary *binary) {
    bool work_left = false;
    handle_drop(binary->handle);
    exception_forget_binary(binary);
    void *base;
    size_t bytes;
    object_extent(binary->object, &base, &bytes);
    memory_take_back(base, bytes);
    while (binary->functions != NULL) {
        Function *function = binary->functions;
        binary->functions = function->next;
        handle_drop(function->handle);
        free(function->name);
        function->name = NULL;
        pool_give(&functions, function);
    }
    stream_for_each(note_work, &work_left);
    if (!work_left) {
        dlclose(binary->object);
        if (binary->file >= 0) { close(binary->file); }
    }
    pthread_mutex_destroy(&binary->lock);
    free(binary);
    atomic_fetch_sub(&live, 1);
}

aclError binary_find(const char *api, aclrtBinHandle handle, Binary **binary) {
    *binary = handle_get(KIND_BINARY, handle);
    if (*binary != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no binary, or one that was unloaded", handle);
}

aclError function_find(const char *api, aclrtFuncHandle handle, Function **function) {
    *function = handle_get(KIND_FUNCTION, handle);
    if (*function != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no kernel function, or its binary was unloaded", handle);
}

static Function *known_function(Binary *binary, const char *name) {
    Function *function = binary->functions;
    while (function != NULL && strcmp(function->name, name) != 0) { function = function->next; }
    return function;
}

static const uint32_t *find_params(Binary *binary, const char *name) {
    char variable[256];
    ObjectSymbol found;
    snprintf(variable, sizeof(variable), "%s__params", name);
    return object_find_name(binary->object, variable, &found) && !found.is_function ? found.address : NULL;
}

static int32_t exception_code(const Binary *binary) {
    bool vector = binary->magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
    return vector ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_AICORE_EXCEPTION;
}

static Function *add_function(Binary *binary, const char *name, const ObjectSymbol *symbol) {
    int fresh;
    Function *function = pool_take(&functions, &fresh);
    if (function == NULL) { return NULL; }
    function->handle = handle_new(KIND_FUNCTION, function);
    if (function->handle == NULL) {
        pool_give(&functions, function);
        return NULL;
    }
    memcpy(&function->entry, &symbol->address, sizeof(symbol->address)); /* ISO C has no such cast */
    function->code_bytes = symbol->bytes;
    function->params = find_params(binary, name);
    function->exception_code = exception_code(binary);
    function->name = strdup(name);
    function->binary = binary;
    function->next = binary->functions;
    binary->functions = function;
    return function;
}

aclError binary_get_function(Binary *binary, const char *name, Function **out, const char *api) {
    pthread_mutex_lock(&binary->lock);
    Function *function = known_function(binary, name);
    ObjectSymbol symbol;
    bool is_new = function == NULL && object_find_name(binary->object, name, &symbol) && symbol.is_function;
    if (is_new) { function = add_function(binary, name, &symbol); }
    pthread_mutex_unlock(&binary->lock);
    *out = function;
    if (function != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the binary has no kernel \"%s\"", name);
}

/* Kernels of one source that differ in what they were compiled for are named <kernel>_<key>. */
static bool ends_in_key(const ObjectSymbol *symbol, const void *key) {
    const char *last = strrchr(symbol->name, '_');
    return symbol->is_function && last != NULL && strcmp(last + 1, key) == 0;
}

aclError binary_get_function_by_key(Binary *binary, uint64_t key, Function **out, const char *api) {
    char digits[24];
    ObjectSymbol symbol;
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)key);
    if (object_find(binary->object, ends_in_key, digits, &symbol)) {
        return binary_get_function(binary, symbol.name, out, api);
    }
    *out = NULL;
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the binary has no kernel with the key %s", digits);
}

bool binary_get_variable(Binary *binary, const char *name, void **address, size_t *bytes) {
    ObjectSymbol symbol;
    if (!object_find_name(binary->object, name, &symbol) || symbol.is_function) { return false; }
    *address = symbol.address;
    *bytes = symbol.bytes;
    return true;
}

uint64_t binary_live_count(void) { return atomic_load(&live); }
