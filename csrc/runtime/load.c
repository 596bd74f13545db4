/* Finds a libascendcl.so, resolves every symbol once, and remembers what it found and why.
 *
 * PYACL_RUNTIME=auto|cann|emulator chooses (default auto); PYACL_LIBASCENDCL names the library outright. Auto takes
 * CANN's library when it loads and counts a device, else the emulator. Nothing is ever unloaded: streams of the
 * library's own threads may still run its code. */
#include "load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libascendcl.so"
#define DEFAULT_INSTALL "/usr/local/Ascend/ascend-toolkit/latest"

AclTable *pyacl_table;

static PyaclRuntime runtime;
static char emulator[PYACL_TEXT];
static void (*tell_loaded)(void);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(bool) news;
static _Thread_local int absent_index;

static void set_entry(int index, AclAnyFn function) { ((AclAnyFn *)pyacl_table)[index] = function; }

static void fill(const AclAnyFn *functions) {
    for (int i = 0; i < ACL_FUNCTION_COUNT; i++) { set_entry(i, functions[i]); }
}

void pyacl_bind(AclTable *table, const char *emulator_path, void (*loaded)(void)) {
    _Static_assert(sizeof(AclTable) == ACL_FUNCTION_COUNT * sizeof(AclAnyFn), "the table is nothing but functions");
    pyacl_table = table;
    snprintf(emulator, sizeof(emulator), "%s", emulator_path);
    tell_loaded = loaded;
    fill(pyacl_load_stubs);
}

static void note(const char *path, const char *verdict) {
    size_t used = strlen(runtime.candidates);
    snprintf(runtime.candidates + used, sizeof(runtime.candidates) - used, "%s: %s\n", path, verdict);
}

/* A library without a symbol keeps the entry that says so. */
static void resolve(void *library) {
    for (int i = 0; i < ACL_FUNCTION_COUNT; i++) {
        void *symbol = dlsym(library, pyacl_function_names[i]);
        AclAnyFn function = pyacl_absent_stubs[i];
        if (symbol != NULL) { memcpy(&function, &symbol, sizeof(function)); } /* ISO C has no such cast */
        set_entry(i, function);
    }
}

static void take(void *library, const char *kind, const char *path, const char *reason) {
    Dl_info info;
    void *symbol = dlsym(library, "aclrtGetVersion");
    const char *found = symbol != NULL && dladdr(symbol, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : path;
    snprintf(runtime.path, sizeof(runtime.path), "%s", found);
    snprintf(runtime.reason, sizeof(runtime.reason), "%s", reason);
    runtime.kind = kind;
    note(found, "taken");
    resolve(library);
}

static void *open_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) { note(path, dlerror()); }
    return library;
}

static int is_emulator(void *library) { return dlsym(library, "pyaclEmuGetCounters") != NULL; }

static unsigned count_devices(void *library) {
    aclError (*count)(uint32_t *);
    void *symbol = dlsym(library, "aclrtGetDeviceCount");
    uint32_t devices = 0;
    if (symbol == NULL) { return 0; }
    memcpy(&count, &symbol, sizeof(count));
    return count(&devices) == ACL_SUCCESS ? devices : 0;
}

/* The loader's path (LD_LIBRARY_PATH), then $ASCEND_HOME_PATH, then the default folder. */
static void *open_cann(char *path, size_t bytes) {
    const char *home = getenv("ASCEND_HOME_PATH");
    snprintf(path, bytes, "%s", LIBRARY);
    void *library = open_library(path);
    if (library == NULL && home != NULL) {
        snprintf(path, bytes, "%s/lib64/%s", home, LIBRARY);
        library = open_library(path);
    }
    if (library == NULL) {
        snprintf(path, bytes, "%s/lib64/%s", DEFAULT_INSTALL, LIBRARY);
        library = open_library(path);
    }
    return library;
}

static void fail(const char *reason) {
    snprintf(runtime.reason, sizeof(runtime.reason), "%s", reason);
    fill(pyacl_absent_stubs);
}

static void load_named(const char *path) {
    void *library = open_library(path);
    if (library == NULL) {
        char reason[PYACL_TEXT];
        snprintf(reason, sizeof(reason), "PYACL_LIBASCENDCL=%s cannot be loaded", path);
        fail(reason);
        return;
    }
    runtime.asked_for = 1;
    take(library, is_emulator(library) ? "emulator" : "cann", path, "named by PYACL_LIBASCENDCL");
}

static void load_emulator(const char *reason) {
    void *library = open_library(emulator);
    if (library == NULL) { fail("pyacl's own emulator library cannot be loaded: the installation is incomplete"); }
    else { take(library, "emulator", emulator, reason); }
}

static void load_cann_only(void) {
    char path[PYACL_TEXT];
    void *library = open_cann(path, sizeof(path));
    if (library == NULL) {
        fail("PYACL_RUNTIME=cann, but no " LIBRARY " was found: looked along LD_LIBRARY_PATH, in "
             "$ASCEND_HOME_PATH/lib64 and in " DEFAULT_INSTALL "/lib64");
        return;
    }
    if (is_emulator(library)) {
        note(path, "is pyacl's emulator, not CANN");
        fail("PYACL_RUNTIME=cann, but the only " LIBRARY " found is pyacl's emulator");
        return;
    }
    take(library, "cann", path, "asked for by PYACL_RUNTIME=cann");
}

static void load_best(void) {
    char path[PYACL_TEXT];
    void *library = open_cann(path, sizeof(path));
    if (library == NULL) {
        load_emulator("no " LIBRARY " of CANN was found");
    } else if (count_devices(library) == 0) {
        note(path, "loads, but counts no device");
        load_emulator("CANN's " LIBRARY " is there, but counts no device");
    } else {
        take(library, is_emulator(library) ? "emulator" : "cann", path, "it loads and counts a device");
    }
}

static void load_once(void) {
    const char *named = getenv("PYACL_LIBASCENDCL");
    const char *choice = getenv("PYACL_RUNTIME");
    if (choice == NULL || *choice == '\0') { choice = "auto"; }
    if (named != NULL && *named != '\0') {
        load_named(named);
    } else if (strcmp(choice, "emulator") == 0) {
        runtime.asked_for = 1;
        load_emulator("asked for by PYACL_RUNTIME=emulator");
    } else if (strcmp(choice, "cann") == 0) {
        load_cann_only();
    } else if (strcmp(choice, "auto") == 0) {
        load_best();
    } else {
        char reason[PYACL_TEXT];
        snprintf(reason, sizeof(reason), "PYACL_RUNTIME=%s is none of auto, cann, emulator", choice);
        fail(reason);
    }
    atomic_store(&news, true);
}

/* The news is told outside the once: its reader takes the GIL, which another thread may hold while it waits there. */
void pyacl_load(void) {
    pthread_once(&once, load_once);
    if (atomic_exchange(&news, false)) { tell_loaded(); }
}

aclError pyacl_absent(int index) {
    absent_index = index;
    return runtime.kind == NULL ? PYACL_NO_RUNTIME : PYACL_ABSENT_FUNCTION;
}

const char *pyacl_absent_name(void) { return pyacl_function_names[absent_index]; }

const PyaclRuntime *pyacl_runtime(void) { return &runtime; }
