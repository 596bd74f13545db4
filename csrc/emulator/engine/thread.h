/* What the runtime keeps for each host thread. Small, so that it fits static TLS: reading it costs one instruction,
 * also when the library was loaded late. */
#ifndef EMU_THREAD_H
#define EMU_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

typedef struct ThreadState {
    void *context;        /* explicit context handle (aclrtSetCurrentContext, aclrtCreateContext), or NULL */
    int32_t device;       /* device + 1 set by aclrtSetDevice; 0 = none */
    aclError last_error;
    uint32_t last_task_id;
    void *recorded_on;    /* the stream that recorded the last task instead of queueing it, or NULL */
    int32_t capture_mode; /* aclmdlRICaptureMode of this thread */
    void *resource_stream;
    char *message;        /* pending text for aclGetRecentErrMsg, or NULL */
    char *shown;          /* text handed out last: valid until the next question */
    bool message_pending;
    int32_t device_depth; /* strict mode: inside something that may touch device memory */
} ThreadState;

extern _Thread_local ThreadState emu_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

uint32_t emu_thread_id(void); /* of the operating system */

/* Threads of ours take no signals: those belong to the program. But a fault is of the thread that makes it. Until
 * pthread_sigmask gives `before` back, the caller's new threads are of that kind. */
void emu_thread_mask_signals(sigset_t *before);

#endif
