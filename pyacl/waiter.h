/* A wait on another thread, so that this one can look for signals meanwhile; and a short poll before it. Used by
 * _wait.pyx only, hence one header with everything. Knows neither Python nor the runtime: it is given functions. */
#ifndef PYACL_WAITER_H
#define PYACL_WAITER_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Waits for `subject` on a thread of its own: makes `context` current there first. */
typedef int (*WaitCall)(void *subject, void *context, int32_t timeout_ms);
typedef const char *(*LastMessage)(void);
typedef int (*DoneQuestion)(void *subject);
typedef int (*SignalCheck)(void);

#define WAIT_INTERRUPTED (-3)
#define WAIT_NO_THREAD 207001 /* ACL_ERROR_RT_MEMORY_ALLOCATION */
#define SIGNAL_LOOK_NS 100000000L
#define SHORTEST_SLEEP_NS 1000L
#define LONGEST_SLEEP_NS 200000L
#define PRECISE_SLACK_NS 1UL
#define POLLS_PER_CLOCK 64
#define WAIT_TEXT 512

/* One wait. Freed by whoever lets go last: the waiter when it is done, or the asker when it no longer cares. */
typedef struct Wait {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    WaitCall call;
    LastMessage message;
    void *subject, *context;
    int32_t timeout_ms;
    int result;
    char text[WAIT_TEXT]; /* what the runtime said about a failure: it says so only on the thread of the call */
    bool done, abandoned;
} Wait;

static inline void wait_free(Wait *wait) {
    pthread_cond_destroy(&wait->changed);
    pthread_mutex_destroy(&wait->mutex);
    free(wait);
}

static void *wait_main(void *argument) {
    Wait *wait = (Wait *)argument;
    int result = wait->call(wait->subject, wait->context, wait->timeout_ms);
    const char *text = result == 0 ? NULL : wait->message();
    snprintf(wait->text, sizeof(wait->text), "%s", text == NULL ? "" : text);
    pthread_mutex_lock(&wait->mutex);
    wait->result = result;
    wait->done = true;
    bool abandoned = wait->abandoned;
    pthread_cond_signal(&wait->changed);
    pthread_mutex_unlock(&wait->mutex);
    if (abandoned) { wait_free(wait); }
    return NULL;
}

/* Takes `request`'s call and operands. NULL when there is no thread to be had. */
static inline Wait *wait_start(const Wait *request) {
    Wait *wait = (Wait *)malloc(sizeof(*wait));
    if (wait == NULL) { return NULL; }
    *wait = *request;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&wait->mutex, NULL);
    pthread_cond_init(&wait->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the thread that looks for them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, wait_main, wait) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) {
        wait_free(wait);
        return NULL;
    }
    pthread_detach(thread);
    return wait;
}

/* True when the waiter is done, false when it is time to look for signals. */
static inline bool wait_a_while(Wait *wait) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SIGNAL_LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&wait->mutex);
    while (!wait->done) {
        if (pthread_cond_timedwait(&wait->changed, &wait->mutex, &until) != 0) { break; }
    }
    bool done = wait->done;
    pthread_mutex_unlock(&wait->mutex);
    return done;
}

static inline void wait_abandon(Wait *wait) {
    pthread_mutex_lock(&wait->mutex);
    bool done = wait->done;
    wait->abandoned = true;
    pthread_mutex_unlock(&wait->mutex);
    if (done) { wait_free(wait); }
}

/* Makes the call on another thread. `text` (WAIT_TEXT bytes) receives what the runtime said about a failure. */
static inline int pyacl_wait_aside(WaitCall call, void *subject, void *context, int32_t timeout_ms, LastMessage message,
                                   SignalCheck check, char *text) {
    Wait request = {.call = call, .message = message, .subject = subject, .context = context, .timeout_ms = timeout_ms};
    Wait *wait = wait_start(&request);
    text[0] = '\0';
    if (wait == NULL) { return WAIT_NO_THREAD; }
    while (!wait_a_while(wait)) {
        if (check() != 0) {
            wait_abandon(wait);
            return WAIT_INTERRUPTED;
        }
    }
    int result = wait->result;
    memcpy(text, wait->text, WAIT_TEXT);
    wait_free(wait);
    return result;
}

static inline uint64_t poll_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The kernel rounds a thread's sleeps up by its timer slack, 50 us by default: too coarse for a short wait. */
static inline unsigned long set_timer_slack(unsigned long ns) {
    int before = prctl(PR_GET_TIMERSLACK);
    prctl(PR_SET_TIMERSLACK, ns);
    return before > 0 ? (unsigned long)before : 0; /* 0 sets the thread's default again */
}

static inline int poll_sleeping(DoneQuestion question, void *subject, uint64_t end_ns) {
    struct timespec nap = {0, SHORTEST_SLEEP_NS};
    unsigned long slack = set_timer_slack(PRECISE_SLACK_NS);
    int done;
    while (!(done = question(subject)) && poll_now_ns() < end_ns) {
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < LONGEST_SLEEP_NS) { nap.tv_nsec *= 2; }
    }
    set_timer_slack(slack);
    return done;
}

static inline int poll_spinning(DoneQuestion question, void *subject, uint64_t end_ns) {
    for (unsigned round = 0; !question(subject); round++) {
        if (round % POLLS_PER_CLOCK != 0) { continue; }
        if (poll_now_ns() >= end_ns) { return 0; }
        sched_yield();
    }
    return 1;
}

/* Asks until the answer is yes (1) or the limit has passed (0). */
static inline int pyacl_poll(DoneQuestion question, void *subject, int spin, uint64_t limit_us) {
    uint64_t end_ns = poll_now_ns() + limit_us * 1000;
    return spin ? poll_spinning(question, subject, end_ns) : poll_sleeping(question, subject, end_ns);
}

#endif
