/* Report threads and their callbacks: see report.h. One lock guards all of it; callbacks run outside of it. */
#include "engine/report.h"

#include <stdlib.h>

#include "engine/error.h"
#include "engine/scheduler.h"

typedef enum ReportState { REPORT_QUEUED, REPORT_RUNNING, REPORT_FINISHED } ReportState;

/* A callback on its way: its own block, since the task of a non-blocking one is over long before. A blocking one
 * belongs to its task, any other to whoever takes it. */
typedef struct Report {
    aclrtCallback function;
    void *argument;
    Stream *stream;
    bool blocking;
    ReportState state;
    struct Report *next;
} Report;

typedef struct ReportThread {
    uint64_t thread;
    int32_t device;
    _Atomic(uint32_t) streams;    /* it serves */
    _Atomic(uint32_t) references; /* streams, queued tasks, reports that have not run, a caller of report_process */
    _Atomic(uint32_t) pending;    /* reports in the queue */
    Report *first, *last;
    Spot arrived;
    struct ReportThread *next;
} ReportThread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ReportThread *threads;

/* Stands for the runtime itself as the server of a stream. */
static ReportThread host_functions;

/* ---- report threads; all under the lock ---- */

static ReportThread *find_thread(uint64_t thread) {
    ReportThread *found = threads;
    while (found != NULL && found->thread != thread) { found = found->next; }
    return found;
}

static ReportThread *add_thread(uint64_t thread) {
    ReportThread *added = calloc(1, sizeof(*added));
    if (added == NULL) { return NULL; }
    spot_init(&added->arrived);
    added->thread = thread;
    added->next = threads;
    threads = added;
    return added;
}

/* A caller that waits learns when nothing can come any more: its own reference is the last. */
static void let_go(ReportThread *server) {
    if (atomic_fetch_sub(&server->references, 1) > 1) {
        spot_notify(&server->arrived);
        return;
    }
    ReportThread **link = &threads;
    while (*link != server) { link = &(*link)->next; }
    *link = server->next;
    spot_destroy(&server->arrived);
    free(server);
}

static void append(ReportThread *server, Report *report) {
    report->next = NULL;
    if (server->last == NULL) { server->first = report; }
    else { server->last->next = report; }
    server->last = report;
    atomic_fetch_add(&server->references, 1);
    atomic_fetch_add(&server->pending, 1);
    spot_notify(&server->arrived);
}

static void take_out(ReportThread *server, Report *report) {
    Report **link = &server->first, *previous = NULL;
    while (*link != report) {
        previous = *link;
        link = &previous->next;
    }
    *link = report->next;
    if (server->last == report) { server->last = previous; }
    atomic_fetch_sub(&server->pending, 1);
}

/* ---- subscribing ---- */

bool report_claim_for_host(Stream *stream) {
    void *nobody = NULL;
    return atomic_compare_exchange_strong(&stream->subscriber, &nobody, &host_functions) || nobody == &host_functions;
}

static aclError subscribe(Stream *stream, uint64_t thread, const char *api) {
    void *subscriber = atomic_load(&stream->subscriber);
    if (subscriber != NULL) {
        return emu_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, api, "%s serves stream %d already",
                        subscriber == &host_functions ? "the runtime" : "a thread", stream->id);
    }
    ReportThread *server = find_thread(thread);
    int32_t device = stream->context->device->id;
    if (server != NULL && atomic_load(&server->streams) > 0 && server->device != device) {
        return emu_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, api, "the thread serves device %d", server->device);
    }
    if (server == NULL) { server = add_thread(thread); }
    if (server == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a report thread"); }
    server->device = device;
    atomic_fetch_add(&server->streams, 1);
    atomic_fetch_add(&server->references, 1);
    if (atomic_compare_exchange_strong(&stream->subscriber, &subscriber, server)) { return ACL_SUCCESS; }
    atomic_fetch_sub(&server->streams, 1);
    let_go(server); /* a host function was launched this moment */
    return emu_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, api, "the runtime serves stream %d already", stream->id);
}

aclError report_subscribe(Stream *stream, uint64_t thread, const char *api) {
    pthread_mutex_lock(&lock);
    aclError code = subscribe(stream, thread, api);
    pthread_mutex_unlock(&lock);
    return code;
}

static void end_subscription(Stream *stream, ReportThread *server) {
    atomic_store(&stream->subscriber, NULL);
    atomic_fetch_sub(&server->streams, 1);
    let_go(server);
}

aclError report_unsubscribe(Stream *stream, uint64_t thread, const char *api) {
    pthread_mutex_lock(&lock);
    ReportThread *server = atomic_load(&stream->subscriber);
    bool served = server != NULL && server != &host_functions;
    bool by_this = served && server->thread == thread;
    if (by_this) { end_subscription(stream, server); }
    pthread_mutex_unlock(&lock);
    if (by_this) { return ACL_SUCCESS; }
    if (served) { return emu_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, api, "another thread serves stream %d", stream->id); }
    return emu_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, api, "no thread serves stream %d", stream->id);
}

void report_forget(Stream *stream) {
    if (atomic_load(&stream->subscriber) == NULL) { return; }
    pthread_mutex_lock(&lock);
    ReportThread *server = atomic_load(&stream->subscriber);
    if (server != NULL && server != &host_functions) { end_subscription(stream, server); }
    atomic_store(&stream->subscriber, NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- callbacks as tasks ---- */

static Report *deliver(Stream *stream, const ReportTask *task) {
    Report *report = malloc(sizeof(*report));
    if (report == NULL) { return NULL; }
    *report = (Report){.function = task->function, .argument = task->argument, .stream = stream,
                       .blocking = task->blocking, .state = REPORT_QUEUED};
    pthread_mutex_lock(&lock);
    append(task->server, report);
    pthread_mutex_unlock(&lock);
    return report;
}

static bool is_finished(const Report *report) {
    pthread_mutex_lock(&lock);
    bool finished = report->state == REPORT_FINISHED;
    pthread_mutex_unlock(&lock);
    return finished;
}

static int32_t run_callback(Stream *stream, Task *task) {
    ReportTask *own = &task->as.report;
    if (own->delivered == NULL) {
        Report *report = deliver(stream, own);
        if (report == NULL) { return ACL_ERROR_RT_INTERNAL_ERROR; }
        if (!own->blocking) { return 0; }
        own->delivered = report;
    }
    if (!is_finished(own->delivered)) { return TASK_PARKED; }
    free(own->delivered);
    own->delivered = NULL;
    return 0;
}

/* A callback that runs is waited for: its argument must not be freed under it. */
static bool drop_callback(Stream *stream, Task *task, DropReason reason) {
    (void)stream;
    (void)reason;
    ReportTask *own = &task->as.report;
    Report *report = own->delivered;
    if (report == NULL) { return true; }
    pthread_mutex_lock(&lock);
    bool running = report->state == REPORT_RUNNING;
    if (report->state == REPORT_QUEUED) {
        take_out(own->server, report);
        let_go(own->server);
    }
    pthread_mutex_unlock(&lock);
    if (running) { return false; }
    free(report);
    own->delivered = NULL;
    return true;
}

static void release_callback(Task *task) {
    pthread_mutex_lock(&lock);
    let_go(task->as.report.server);
    pthread_mutex_unlock(&lock);
}

static const TaskOps callback_ops = {
    .name = "callback", .run = run_callback, .drop = drop_callback, .release = release_callback};

/* The server of the stream with a reference for the task to come, or NULL. */
static ReportThread *hold_server(Stream *stream, bool *is_host) {
    pthread_mutex_lock(&lock);
    ReportThread *server = atomic_load(&stream->subscriber);
    *is_host = server == &host_functions;
    if (*is_host) { server = NULL; }
    if (server != NULL) { atomic_fetch_add(&server->references, 1); }
    pthread_mutex_unlock(&lock);
    return server;
}

aclError report_launch(Stream *stream, aclrtCallback function, void *argument, bool blocking, const char *api) {
    bool is_host;
    ReportThread *server = hold_server(stream, &is_host);
    if (is_host) { return emu_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, api, "the runtime serves stream %d", stream->id); }
    if (server == NULL) {
        return emu_fail(ACL_ERROR_RT_STREAM_NO_CB_REG, api, "no thread serves stream %d", stream->id);
    }
    Task *task;
    aclError code = stream_begin(stream, api, &callback_ops, &task);
    if (code != ACL_SUCCESS) {
        pthread_mutex_lock(&lock);
        let_go(server);
        pthread_mutex_unlock(&lock);
        return code;
    }
    task->as.report = (ReportTask){.function = function, .argument = argument, .server = server, .blocking = blocking};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- running them ---- */

static bool has_news(void *subject) {
    ReportThread *server = subject;
    return atomic_load(&server->pending) > 0 || atomic_load(&server->references) == 1;
}

static Report *take_next(ReportThread *server) {
    pthread_mutex_lock(&lock);
    Report *report = server->first;
    if (report != NULL) {
        take_out(server, report);
        report->state = REPORT_RUNNING;
    }
    pthread_mutex_unlock(&lock);
    return report;
}

static void run_report(ReportThread *server, Report *report) {
    Stream *stream = report->stream;
    bool blocking = report->blocking;
    report->function(report->argument);
    pthread_mutex_lock(&lock);
    report->state = REPORT_FINISHED; /* a blocking one is its task's again */
    let_go(server);
    pthread_mutex_unlock(&lock);
    if (blocking) { stream_unpark(stream); }
    else { free(report); }
}

/* No more than what was there at the start: callbacks may go on arriving for ever. */
static uint32_t run_pending(ReportThread *server) {
    uint32_t count = atomic_load(&server->pending), ran = 0;
    Report *report;
    while (ran < count && (report = take_next(server)) != NULL) {
        run_report(server, report);
        ran++;
    }
    return ran;
}

static ReportThread *enter(uint64_t thread) {
    pthread_mutex_lock(&lock);
    ReportThread *server = find_thread(thread);
    if (server != NULL) { atomic_fetch_add(&server->references, 1); }
    pthread_mutex_unlock(&lock);
    return server;
}

static bool leave(ReportThread *server) {
    pthread_mutex_lock(&lock);
    bool serves = atomic_load(&server->references) > 1;
    let_go(server);
    pthread_mutex_unlock(&lock);
    return serves;
}

aclError report_process(uint64_t thread, uint64_t timeout_ns, const char *api) {
    ReportThread *server = enter(thread);
    if (server == NULL) { return emu_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, api, "this thread serves no stream"); }
    uint64_t deadline = timeout_ns == FOREVER ? FOREVER : clock_now() + timeout_ns;
    uint32_t ran = 0;
    while (ran == 0 && spot_wait(&server->arrived, has_news, server, deadline)) {
        ran = run_pending(server);
        if (ran == 0 && atomic_load(&server->references) == 1) { break; }
    }
    bool serves = leave(server);
    if (ran > 0) { return ACL_SUCCESS; }
    if (!serves) { return emu_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, api, "this thread serves no stream any more"); }
    return emu_fail(ACL_ERROR_RT_REPORT_TIMEOUT, api, "no callback within %llu ms",
                    (unsigned long long)(timeout_ns / NS_PER_MS));
}
