/* Last error and recent message of each host thread. */
#include "engine/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/thread.h"

#define MESSAGE_BYTES 512

_Thread_local ThreadState emu_thread;

static const struct {
    aclError code;
    const char *name, *meaning;
} names[] = {
#define E(code, name, meaning) {code, #name, meaning},
#include "engine/error_names.inc"
#undef E
};

/* Outcomes that the real runtime reports without calling them errors. */
static const aclError never_last_error[] = {
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT, ACL_ERROR_RT_STREAM_NOT_COMPLETE, ACL_ERROR_RT_AICORE_OVER_FLOW,
    ACL_ERROR_RT_AIVEC_OVER_FLOW,     ACL_ERROR_RT_OVER_FLOW,           ACL_ERROR_RT_END_OF_SEQUENCE,
    ACL_ERROR_RT_MODEL_ABORT_NORMAL,  ACL_ERROR_RT_SOCKET_CLOSE,
};

static pthread_key_t message_key;
static pthread_once_t message_once = PTHREAD_ONCE_INIT;

static void make_message_key(void) { pthread_key_create(&message_key, free); }

/* Both texts live in one block that dies with the thread. */
static char *message_buffer(void) {
    if (emu_thread.message != NULL) { return emu_thread.message; }
    char *block = malloc(2 * MESSAGE_BYTES);
    if (block == NULL) { return NULL; }
    pthread_once(&message_once, make_message_key);
    pthread_setspecific(message_key, block);
    emu_thread.message = block;
    emu_thread.shown = block + MESSAGE_BYTES;
    return block;
}

const char *emu_error_name(aclError code) {
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) { return names[i].name; }
    }
    return "unknown error";
}

const char *emu_error_meaning(aclError code) {
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) { return names[i].meaning; }
    }
    return "";
}

static void remember_message(aclError code, const char *api, const char *format, va_list values) {
    char *text = message_buffer();
    if (text == NULL) { return; }
    int used = snprintf(text, MESSAGE_BYTES, "%s: ", api);
    used += vsnprintf(text + used, (size_t)(MESSAGE_BYTES - used), format, values);
    if (used < MESSAGE_BYTES) {
        snprintf(text + used, (size_t)(MESSAGE_BYTES - used), " [%d %s]", code, emu_error_name(code));
    }
    emu_thread.message_pending = true;
}

static void remember_last_error(aclError code) {
    for (size_t i = 0; i < sizeof(never_last_error) / sizeof(never_last_error[0]); i++) {
        if (never_last_error[i] == code) { return; }
    }
    emu_thread.last_error = code;
}

aclError emu_fail(aclError code, const char *api, const char *format, ...) {
    va_list values;
    va_start(values, format);
    remember_message(code, api, format, values);
    va_end(values);
    remember_last_error(code);
    return code;
}

aclError emu_fail_unrecorded(aclError code, const char *api, const char *format, ...) {
    va_list values;
    va_start(values, format);
    remember_message(code, api, format, values);
    va_end(values);
    return code;
}

aclError emu_invalid(const char *api, const char *what) {
    return emu_fail_unrecorded(ACL_ERROR_INVALID_PARAM, api, "%s", what);
}

aclError emu_unsupported(const char *api) {
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "not emulated by pyacl's runtime");
}

void emu_thread_mask_signals(sigset_t *before) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t masked;
    sigfillset(&masked);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) { sigdelset(&masked, faults[i]); }
    pthread_sigmask(SIG_SETMASK, &masked, before);
}

uint32_t emu_thread_id(void) {
    static _Thread_local uint32_t id __attribute__((tls_model("initial-exec")));
    if (id == 0) { id = (uint32_t)syscall(SYS_gettid); }
    return id;
}
