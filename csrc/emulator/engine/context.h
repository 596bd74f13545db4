/* Devices and contexts. A context owns streams, a default stream and, in STOP mode, the first failure. A device has
 * one primary context, counted by aclrtSetDevice, and any number of explicit ones. */
#ifndef EMU_CONTEXT_H
#define EMU_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

struct Stream;
struct HostThread;

enum { CORE_KINDS = 2 }; /* cube and vector: aclrtDevResLimitType */

typedef struct Context {
    void *handle;
    struct Device *device;
    bool is_primary;
    struct Stream *default_stream, *internal_stream;
    _Atomic(bool) stop_mode;
    _Atomic(int32_t) failure; /* STOP mode: the first failure, until the context dies */
    _Atomic(uint32_t) capturing; /* streams of this context that capture */
    struct HostThread *host_thread; /* runs host functions; made on first use */
    int64_t system_options[3];
    bool system_option_set[3];
    struct Context *pool_next;
} Context;

typedef struct Device {
    int32_t id;
    pthread_mutex_t lock; /* references, primary */
    uint32_t references;
    _Atomic(Context *) primary;
    _Atomic(uint32_t) streams; /* counted against the product's limit */
    _Atomic(bool) aborting;        /* from the begin of a device task abort until one has succeeded */
    _Atomic(bool) abort_running;   /* somebody is at it */
    _Atomic(uint64_t) abort_count; /* changes when an abort begins */
    _Atomic(uint32_t) core_limit[CORE_KINDS]; /* limit + 1; 0 = none: see resource.h */
} Device;

/* NULL when `id` is no visible device. */
Device *device_get(int32_t id);

aclError device_retain(Device *device, const char *api); /* makes the primary context on first use */
aclError device_release(Device *device, bool force, const char *api);

aclError context_create(Device *device, bool primary, Context **context, const char *api);
void context_destroy(Context *context, bool force);

/* The calling thread's context, or 107002. */
aclError context_current(const char *api, Context **context);
/* The same without an error to report: NULL when there is none. */
Context *context_peek(void);

/* A task of the context failed in STOP mode: keep the first code and wake everybody who waits on the context. */
void context_fail(Context *context, int32_t code);

uint64_t context_live_count(void);

#endif
