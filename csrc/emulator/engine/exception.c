/* Reports of failed tasks and the thread that tells them: see exception.h. Callbacks run without the lock. */
#include "engine/exception.h"

#include <stdlib.h>
#include <string.h>

#include "engine/error.h"
#include "engine/thread.h"
#include "engine/work.h"

/* How long a synchronize waits for callbacks: one may itself be waiting for the thread that synchronizes. */
static const uint64_t SETTLE_LIMIT_NS = 10 * NS_PER_S;

typedef struct Report {
    struct rtExceptionInfo info;
    const Binary *binary; /* compared, never followed: it may be gone */
    struct Report *next;
    _Alignas(16) unsigned char args[]; /* a copy: the task's slot is used again meanwhile */
} Report;

typedef struct BinaryCallback {
    const Binary *binary;
    aclrtOpExceptionCallback callback;
    void *user_data;
} BinaryCallback;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    Report *first, *last;
    aclrtExceptionInfoCallback slot;
    aclrtExceptionInfoCallback *added;
    size_t added_count;
    BinaryCallback *binaries;
    size_t binary_count;
    bool started;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static _Atomic(bool) wanted; /* there is a callback */
static _Atomic(uint64_t) noted, told;
static Spot all_told;
static _Thread_local bool telling __attribute__((tls_model("initial-exec")));

/* ---- who is told; all under the lock ---- */

static void update_wanted(void) {
    atomic_store(&wanted, state.slot != NULL || state.added_count > 0 || state.binary_count > 0);
}

static size_t find_added(aclrtExceptionInfoCallback callback) {
    size_t i = 0;
    while (i < state.added_count && state.added[i] != callback) { i++; }
    return i;
}

static size_t find_binary(const Binary *binary) {
    size_t i = 0;
    while (i < state.binary_count && state.binaries[i].binary != binary) { i++; }
    return i;
}

static bool append_added(aclrtExceptionInfoCallback callback) {
    aclrtExceptionInfoCallback *more = realloc(state.added, (state.added_count + 1) * sizeof(*more));
    if (more == NULL) { return false; }
    state.added = more;
    state.added[state.added_count++] = callback;
    return true;
}

static bool append_binary(BinaryCallback entry) {
    BinaryCallback *more = realloc(state.binaries, (state.binary_count + 1) * sizeof(*more));
    if (more == NULL) { return false; }
    state.binaries = more;
    state.binaries[state.binary_count++] = entry;
    return true;
}

/* ---- telling ---- */

static BinaryCallback callback_of(const Binary *binary) {
    pthread_mutex_lock(&state.lock);
    size_t place = binary == NULL ? state.binary_count : find_binary(binary);
    BinaryCallback found = place < state.binary_count ? state.binaries[place] : (BinaryCallback){0};
    pthread_mutex_unlock(&state.lock);
    return found;
}

/* The slot first, then the others; one that is removed meanwhile may still be called. */
static size_t copy_callbacks(aclrtExceptionInfoCallback **copy) {
    pthread_mutex_lock(&state.lock);
    *copy = malloc((state.added_count + 1) * sizeof(**copy));
    size_t count = 0;
    if (*copy != NULL && state.slot != NULL) { (*copy)[count++] = state.slot; }
    for (size_t i = 0; *copy != NULL && i < state.added_count; i++) { (*copy)[count++] = state.added[i]; }
    pthread_mutex_unlock(&state.lock);
    return count;
}

static void tell(Report *report) {
    aclrtExceptionInfoCallback *callbacks;
    size_t count = copy_callbacks(&callbacks);
    for (size_t i = 0; i < count; i++) { callbacks[i](&report->info); }
    free(callbacks);
    BinaryCallback of_binary = callback_of(report->binary);
    if (of_binary.callback != NULL) { of_binary.callback(&report->info, of_binary.user_data); }
}

static Report *next_report(void) {
    pthread_mutex_lock(&state.lock);
    while (state.first == NULL) { pthread_cond_wait(&state.work, &state.lock); }
    Report *report = state.first;
    state.first = report->next;
    if (state.first == NULL) { state.last = NULL; }
    pthread_mutex_unlock(&state.lock);
    return report;
}

static void *tell_main(void *unused) {
    telling = true;
    for (;;) {
        Report *report = next_report();
        tell(report);
        free(report);
        atomic_fetch_add(&told, 1);
        spot_notify(&all_told);
    }
    return unused;
}

static bool start_thread(void) {
    if (state.started) { return true; }
    spot_init(&all_told);
    pthread_t thread;
    sigset_t before;
    emu_thread_mask_signals(&before);
    state.started = pthread_create(&thread, NULL, tell_main, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (state.started) { pthread_detach(thread); }
    return state.started;
}

/* ---- asking to be told ---- */

bool exception_set(aclrtExceptionInfoCallback callback) {
    pthread_mutex_lock(&state.lock);
    bool ready = callback == NULL || start_thread();
    if (ready) { state.slot = callback; }
    update_wanted();
    pthread_mutex_unlock(&state.lock);
    return ready;
}

bool exception_add(aclrtExceptionInfoCallback callback) {
    pthread_mutex_lock(&state.lock);
    bool ready = start_thread() && (find_added(callback) < state.added_count || append_added(callback));
    update_wanted();
    pthread_mutex_unlock(&state.lock);
    return ready;
}

void exception_remove(aclrtExceptionInfoCallback callback) {
    pthread_mutex_lock(&state.lock);
    size_t place = find_added(callback);
    if (place < state.added_count) { state.added[place] = state.added[--state.added_count]; }
    update_wanted();
    pthread_mutex_unlock(&state.lock);
}

bool exception_set_for_binary(const Binary *binary, aclrtOpExceptionCallback callback, void *user_data) {
    BinaryCallback entry = {binary, callback, user_data};
    pthread_mutex_lock(&state.lock);
    bool ready = start_thread();
    size_t place = find_binary(binary);
    if (ready && place < state.binary_count) { state.binaries[place] = entry; }
    else if (ready) { ready = append_binary(entry); }
    update_wanted();
    pthread_mutex_unlock(&state.lock);
    return ready;
}

void exception_forget_binary(const Binary *binary) {
    pthread_mutex_lock(&state.lock);
    size_t place = find_binary(binary);
    if (place < state.binary_count) { state.binaries[place] = state.binaries[--state.binary_count]; }
    update_wanted();
    pthread_mutex_unlock(&state.lock);
}

/* ---- the runner's side ---- */

/* What the device's own error register would say; a code without one there stays as it is. */
static uint32_t device_code(int32_t code) {
    switch (code) {
    case ACL_ERROR_RT_AICORE_TIMEOUT: return 0x25;
    case ACL_ERROR_RT_AICORE_EXCEPTION: return 0x26;
    case ACL_ERROR_RT_AICORE_TRAP_EXCEPTION: return 0x27;
    case ACL_ERROR_RT_AICPU_TIMEOUT: return 0x28;
    case ACL_ERROR_RT_AICPU_EXCEPTION: return 0x2A;
    case ACL_ERROR_RT_VECTOR_CORE_TIMEOUT: return 0x30;
    case ACL_ERROR_RT_VECTOR_CORE_EXCEPTION: return 0x31;
    case ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION: return 0x32;
    default: return (uint32_t)code;
    }
}

static Report *make_report(const Stream *stream, const Task *task, int32_t code) {
    const Function *function = work_kernel(task);
    size_t size = 0;
    const void *args = function == NULL ? NULL : work_kernel_args(task, &size);
    bool on_device = function != NULL && task->as.kernel.device_args != NULL;
    Report *report = malloc(sizeof(*report) + (on_device ? 0 : size));
    if (report == NULL) { return NULL; }
    if (!on_device && size > 0) { memcpy(report->args, args, size); }
    report->info = (struct rtExceptionInfo){
        .task_id = task->id, .stream_id = (uint32_t)stream->id, .thread_id = task->thread_id,
        .device_id = (uint32_t)stream->context->device->id, .device_code = device_code(code),
        .is_kernel = function != NULL, .function = function == NULL ? NULL : function->handle,
        .args = on_device ? (void *)(uintptr_t)args : report->args, .args_size = (uint32_t)size};
    report->binary = function == NULL ? NULL : function->binary;
    report->next = NULL;
    return report;
}

void exception_note(Stream *stream, const Task *task, int32_t code) {
    if (!atomic_load_explicit(&wanted, memory_order_relaxed)) { return; }
    Report *report = make_report(stream, task, code);
    if (report == NULL) { return; }
    pthread_mutex_lock(&state.lock);
    if (state.last == NULL) { state.first = report; }
    else { state.last->next = report; }
    state.last = report;
    atomic_fetch_add(&noted, 1);
    pthread_cond_signal(&state.work);
    pthread_mutex_unlock(&state.lock);
}

static bool is_told(void *target) { return atomic_load(&told) >= *(uint64_t *)target; }

void exception_settle(void) {
    uint64_t target = atomic_load(&noted);
    if (telling || atomic_load(&told) >= target) { return; }
    spot_wait(&all_told, is_told, &target, clock_now() + SETTLE_LIMIT_NS);
}
