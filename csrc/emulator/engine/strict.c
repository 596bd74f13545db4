/* Strict mode: see strict.h. The handler runs in the middle of a kernel or of memmove, where nothing of ours is locked
 * but for reading. What one thread has opened, another may close: whoever still needs it faults once more. */
#include "engine/strict.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/arena.h"
#include "engine/memory.h"

enum {
    OPEN_AT_ONCE = 16,    /* allocations that a task may keep open; beyond, the oldest is closed and faults again */
    QUARANTINE = 4096,    /* freed allocations that are remembered */
};

bool strict_active;

static _Thread_local struct {
    uint32_t count, next;
    uintptr_t bases[OPEN_AT_ONCE];
} opened __attribute__((tls_model("initial-exec")));

static struct {
    pthread_mutex_t lock; /* writers; the handler reads without it */
    Allocation graves[QUARANTINE];
    uint64_t buried;
} quarantine = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct sigaction earlier;
static _Atomic(uint64_t) changed;

/* ---- opening and closing ---- */

static void protect(const Allocation *is, int protection) {
    mprotect((void *)is->base, arena_whole_pages(is->bytes), protection);
}

static void close_one(uintptr_t base) {
    Allocation is;
    if (memory_find((void *)base, &is) && is.closed && is.base == base) { protect(&is, PROT_NONE); }
}

void strict_close(void) {
    for (uint32_t i = 0; i < opened.count; i++) { close_one(opened.bases[i]); }
    opened.count = opened.next = 0;
}

static void open_one(const Allocation *is) {
    uint32_t place = opened.next++ % OPEN_AT_ONCE;
    if (opened.count == OPEN_AT_ONCE) { close_one(opened.bases[place]); }
    else { opened.count++; }
    opened.bases[place] = is->base;
    protect(is, PROT_READ | PROT_WRITE);
}

/* ---- faults ---- */

/* No stdio: the thread may be anywhere. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char text[512];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    if (write(STDERR_FILENO, text, (size_t)length) < 0) { return; } /* there is nobody else to tell */
}

static bool find_grave(uintptr_t address, Allocation *is) {
    uint64_t buried = __atomic_load_n(&quarantine.buried, __ATOMIC_ACQUIRE);
    uint64_t oldest = buried > QUARANTINE ? buried - QUARANTINE : 0;
    for (uint64_t i = buried; i-- > oldest;) {
        *is = quarantine.graves[i % QUARANTINE];
        if (address - is->base < arena_whole_pages(is->bytes)) { return true; }
    }
    return false;
}

static void report(const char *what, uintptr_t address, const Allocation *is) {
    say("pyacl emulator: %s at %p: offset %zu of the buffer at %p (%zu bytes, device %d)\n", what, (void *)address,
        address - is->base, (void *)is->base, is->bytes, is->device);
}

/* True when the access may be tried again. */
static bool allow(uintptr_t address) {
    Allocation is;
    bool inside = emu_thread.device_depth > 0;
    if (!memory_find((void *)address, &is)) {
        if (find_grave(address, &is)) { report(inside ? "use after free by a task" : "use after free", address, &is); }
        return false;
    }
    if (!is.closed) { return false; }
    if (!inside) {
        report("the host touches device memory", address, &is);
        return false;
    }
    if (memory_is_barred(&is)) {
        report("the device has no access right", address, &is);
        return false;
    }
    open_one(&is);
    return true;
}

static void pass_on(int number, siginfo_t *info, void *place) {
    if ((earlier.sa_flags & SA_SIGINFO) != 0) { earlier.sa_sigaction(number, info, place); }
    else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) { earlier.sa_handler(number); }
    else { sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL); } /* the access is tried again and ends it */
}

static void on_fault(int number, siginfo_t *info, void *place) {
    if (info->si_code <= 0 || !allow((uintptr_t)info->si_addr)) { pass_on(number, info, place); }
}

static void install(void) {
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, &earlier);
}

static void look_at_environment(void) {
    const char *text = getenv("PYACL_EMULATOR_STRICT");
    if (text == NULL || strcmp(text, "1") != 0) { return; }
    install();
    strict_active = true;
}

bool strict_is_on(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_at_environment);
    return strict_active;
}

/* ---- the quarantine ---- */

void strict_bury(const Allocation *gone) {
    protect(gone, PROT_NONE);
    pthread_mutex_lock(&quarantine.lock);
    Allocation *grave = &quarantine.graves[quarantine.buried % QUARANTINE], moved = *grave;
    bool full = quarantine.buried >= QUARANTINE;
    *grave = *gone;
    __atomic_store_n(&quarantine.buried, quarantine.buried + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&quarantine.lock);
    if (full) { arena_unmap((void *)moved.base, moved.bytes); }
}

/* ---- host memory under pending copies ---- */

uint64_t strict_sum(const void *source, size_t bytes) {
    const unsigned char *at = source;
    uint64_t sum = bytes, word;
    for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 29;
    }
    for (; bytes > 0; at++, bytes--) { sum = (sum ^ *at) * UINT64_C(0x9E3779B97F4A7C15); }
    return sum;
}

void strict_check_sum(const void *source, size_t bytes, uint64_t sum) {
    if (strict_sum(source, bytes) == sum) { return; }
    atomic_fetch_add(&changed, 1);
    say("pyacl emulator: the host changed memory at %p while a copy of %zu bytes from it was pending\n", source, bytes);
}

uint64_t strict_changed_count(void) { return atomic_load(&changed); }
