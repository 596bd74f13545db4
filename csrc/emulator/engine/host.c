/* The host-function thread of a context. A task is handed over by the worker that meets it; the stream parks and goes
 * on when the function has returned. Functions never run on a device worker: they may block. */
#include "engine/host.h"

#include <pthread.h>
#include <stdlib.h>

#include "engine/error.h"
#include "engine/scheduler.h"
#include "engine/thread.h"

typedef enum HostState { HOST_NEW, HOST_QUEUED, HOST_RUNNING, HOST_FINISHED } HostState;

typedef struct HostThread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    Task *first, *last;
    bool stopping;
} HostThread;

static Task *next_task(HostThread *host) {
    pthread_mutex_lock(&host->lock);
    while (host->first == NULL && !host->stopping) { pthread_cond_wait(&host->work, &host->lock); }
    Task *task = host->first;
    if (task != NULL) {
        host->first = task->as.host.next;
        if (host->first == NULL) { host->last = NULL; }
        task->as.host.state = HOST_RUNNING;
    }
    pthread_mutex_unlock(&host->lock);
    return task;
}

static void finish_task(HostThread *host, Task *task) {
    Stream *stream = task->as.host.stream; /* the slot is the stream's again once the state says so */
    pthread_mutex_lock(&host->lock);
    task->as.host.state = HOST_FINISHED;
    pthread_mutex_unlock(&host->lock);
    stream_unpark(stream);
}

static void *host_main(void *argument) {
    HostThread *host = argument;
    for (Task *task; (task = next_task(host)) != NULL;) {
        task->as.host.function(task->as.host.argument);
        finish_task(host, task);
    }
    return NULL;
}

static HostThread *start(void) {
    HostThread *host = calloc(1, sizeof(*host));
    if (host == NULL) { return NULL; }
    pthread_mutex_init(&host->lock, NULL);
    pthread_cond_init(&host->work, NULL);
    sigset_t before;
    emu_thread_mask_signals(&before);
    bool started = pthread_create(&host->thread, NULL, host_main, host) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) { return host; }
    free(host);
    return NULL;
}

static HostThread *thread_of(Context *context) {
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&making);
    if (context->host_thread == NULL) { context->host_thread = start(); }
    HostThread *host = context->host_thread;
    pthread_mutex_unlock(&making);
    return host;
}

void host_thread_stop(Context *context) {
    HostThread *host = context->host_thread;
    if (host == NULL) { return; }
    pthread_mutex_lock(&host->lock);
    host->stopping = true;
    pthread_cond_signal(&host->work);
    pthread_mutex_unlock(&host->lock);
    pthread_join(host->thread, NULL);
    free(host);
    context->host_thread = NULL;
}

static void append(HostThread *host, Task *task) {
    task->as.host.state = HOST_QUEUED;
    task->as.host.next = NULL;
    if (host->last == NULL) { host->first = task; }
    else { host->last->as.host.next = task; }
    host->last = task;
    pthread_cond_signal(&host->work);
}

static int32_t run_host(Stream *stream, Task *task) {
    HostThread *host = stream->context->host_thread;
    pthread_mutex_lock(&host->lock);
    if (task->as.host.state == HOST_NEW) {
        task->as.host.stream = stream; /* of a recorded one: the model's */
        append(host, task);
    }
    bool finished = task->as.host.state == HOST_FINISHED;
    if (finished) { task->as.host.state = HOST_NEW; }
    pthread_mutex_unlock(&host->lock);
    return finished ? 0 : TASK_PARKED;
}

static void take_back(HostThread *host, Task *task) {
    Task **link = &host->first, *previous = NULL;
    while (*link != task) {
        previous = *link;
        link = &previous->as.host.next;
    }
    *link = task->as.host.next;
    if (host->last == task) { host->last = previous; }
}

/* A function that runs is waited for: its argument must not be freed under it. */
static bool drop_host(Stream *stream, Task *task, DropReason reason) {
    (void)reason;
    HostThread *host = stream->context->host_thread;
    pthread_mutex_lock(&host->lock);
    if (task->as.host.state == HOST_QUEUED) { take_back(host, task); }
    bool running = task->as.host.state == HOST_RUNNING;
    if (!running) { task->as.host.state = HOST_NEW; }
    pthread_mutex_unlock(&host->lock);
    return !running;
}

static const TaskOps host_ops = {.name = "host function", .run = run_host, .drop = drop_host};

aclError host_launch(Stream *stream, aclrtHostFunc function, void *argument, const char *api) {
    if (thread_of(stream->context) == NULL) {
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no thread for host functions");
    }
    Task *task;
    TRY(stream_begin(stream, api, &host_ops, &task));
    task->as.host = (HostTask){.function = function, .argument = argument, .stream = stream, .state = HOST_NEW};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
