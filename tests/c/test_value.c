/* Value tasks: what each comparison means, and that a wait notices every way in which its cell may change. */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

enum { WAITERS = 40, STEPS = 300, CELLS = 512 };

static aclrtStream stream, other;
static uint64_t *cell; /* in device memory */

static void finish(aclrtStream on) { EXPECT(0, aclrtSynchronizeStream(on)); }
static void is_blocked(aclrtStream on) { EXPECT(507046, aclrtSynchronizeStreamWithTimeout(on, 20)); }

static void write_now(uint64_t value) {
    EXPECT(0, aclrtMemcpy(cell, sizeof(*cell), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
}

static uint64_t read_now(void) {
    uint64_t value;
    EXPECT(0, aclrtMemcpy(&value, sizeof(value), cell, sizeof(value), ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
}

static void arguments(void) {
    uint64_t on_host = 0;
    EXPECT(100000, aclrtValueWrite(NULL, 1, 0, stream));
    EXPECT(100000, aclrtValueWait(NULL, 1, 0, stream));
    EXPECT(107000, aclrtValueWrite(cell, 1, 1, stream));
    EXPECT(107000, aclrtValueWait(cell, 1, 4, stream));
    EXPECT(107000, aclrtValueWrite(&on_host, 1, 0, stream));
    EXPECT(107000, aclrtValueWait(&on_host, 1, 0, stream));
    EXPECT(107000, aclrtValueWait((char *)cell + 4, 1, 0, stream));
    EXPECT(107017, aclrtValueWrite(cell, 1, 0, cell));
    aclrtContext own, second;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&second, 0));
    EXPECT(107003, aclrtValueWrite(cell, 1, 0, stream));
    EXPECT(107003, aclrtValueWait(cell, 1, 0, stream));
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtDestroyContext(second));
}

/* Each comparison lets the stream wait at `no` and go on at `yes`. */
static void comparisons(void) {
    static const struct { uint32_t flag; uint64_t value, no, yes; } cases[] = {
        {ACL_STREAM_WAIT_VALUE_GEQ, 5, 4, 6},
        {ACL_STREAM_WAIT_VALUE_GEQ, UINT64_MAX, UINT64_MAX - 1, 3}, /* counts on after the wrap-around */
        {ACL_STREAM_WAIT_VALUE_EQ, 1ULL << 40, 1, 1ULL << 40},
        {ACL_STREAM_WAIT_VALUE_AND, 0xF0, 0x0F, 0x1F},
        {ACL_STREAM_WAIT_VALUE_NOR, 0xF, ~0xFULL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_now(cases[i].no);
        EXPECT(0, aclrtValueWait(cell, cases[i].value, cases[i].flag, stream));
        is_blocked(stream);
        EXPECT(0, aclrtValueWrite(cell, cases[i].yes, 0, other));
        finish(stream);
        CHECK(read_now() == cases[i].yes);
    }
}

static void wait_for(uint64_t value) {
    write_now(0);
    EXPECT(0, aclrtValueWait(cell, value, ACL_STREAM_WAIT_VALUE_EQ, stream));
    is_blocked(stream);
}

static void every_writer_is_noticed(aclrtFuncHandle add_one) {
    wait_for(1);
    EXPECT(0, aclrtLaunchKernelWithHostArgs(add_one, 1, other, NULL, &cell, sizeof(cell), NULL, 0));
    finish(stream);
    wait_for(0x0101010101010101);
    EXPECT(0, aclrtMemsetAsync(cell, 8, 1, 8, other));
    finish(stream);
    wait_for(77);
    EXPECT(0, aclrtValueWrite(cell + 1, 77, 0, other));
    EXPECT(0, aclrtMemcpyAsync(cell, 8, cell + 1, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other));
    finish(stream);
    wait_for(78);
    write_now(78);
    finish(stream);
    wait_for(79);
    EXPECT(0, aclrtValueWrite(cell, 79, 0, NULL));
    finish(stream);
}

static void many_wait_at_once(void) {
    aclrtStream streams[WAITERS];
    write_now(0);
    for (uint64_t i = 0; i < WAITERS; i++) {
        EXPECT(0, aclrtCreateStream(&streams[i]));
        EXPECT(0, aclrtValueWait(cell, i + 1, ACL_STREAM_WAIT_VALUE_GEQ, streams[i]));
        EXPECT(0, aclrtValueWrite(cell + 1 + i, i, 0, streams[i]));
    }
    is_blocked(streams[0]);
    EXPECT(0, aclrtValueWrite(cell, WAITERS / 2, 0, other));
    for (int i = 0; i < WAITERS / 2; i++) { finish(streams[i]); }
    is_blocked(streams[WAITERS / 2]);
    EXPECT(0, aclrtValueWrite(cell, WAITERS, 0, other));
    for (int i = 0; i < WAITERS; i++) {
        finish(streams[i]);
        EXPECT(0, aclrtDestroyStream(streams[i]));
    }
}

/* Two streams hand a number to and fro: each write is noticed at once, without a millisecond of polling. */
static void *hand_over(void *unused) {
    (void)unused;
    EXPECT(0, aclrtSetDevice(0));
    aclrtStream left, right;
    uint64_t *turn;
    EXPECT(0, aclrtCreateStream(&left));
    EXPECT(0, aclrtCreateStream(&right));
    EXPECT(0, aclrtMalloc((void **)&turn, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(turn, 8, 0, 8));
    for (uint64_t i = 0; i < STEPS; i++) {
        EXPECT(0, aclrtValueWait(turn, 2 * i, ACL_STREAM_WAIT_VALUE_EQ, left));
        EXPECT(0, aclrtValueWrite(turn, 2 * i + 1, 0, left));
        EXPECT(0, aclrtValueWait(turn, 2 * i + 1, ACL_STREAM_WAIT_VALUE_EQ, right));
        EXPECT(0, aclrtValueWrite(turn, 2 * i + 2, 0, right));
    }
    finish(left);
    finish(right);
    uint64_t last;
    EXPECT(0, aclrtMemcpy(&last, 8, turn, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(last == 2 * STEPS);
    EXPECT(0, aclrtDestroyStream(left));
    EXPECT(0, aclrtDestroyStream(right));
    EXPECT(0, aclrtFree(turn));
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void pairs_hand_over(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) { CHECK(pthread_create(&threads[i], NULL, hand_over, NULL) == 0); }
    for (int i = 0; i < 2; i++) { pthread_join(threads[i], NULL); }
}

static void waits_end_without_being_satisfied(void) {
    wait_for(5);
    EXPECT(0, aclrtStreamAbort(stream));
    finish(stream);
    uint64_t *gone; /* freed under a wait: nothing crashes, and a forced destroy gets rid of the wait */
    aclrtStream left_behind;
    EXPECT(0, aclrtMalloc((void **)&gone, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(0, aclrtMemset(gone, 8, 0, 8));
    EXPECT(0, aclrtCreateStream(&left_behind));
    EXPECT(0, aclrtValueWait(gone, 1, ACL_STREAM_WAIT_VALUE_EQ, left_behind));
    is_blocked(left_behind);
    EXPECT(0, aclrtFree(gone));
    is_blocked(left_behind);
    EXPECT(0, aclrtDestroyStreamForce(left_behind));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateStream(&other));
    EXPECT(0, aclrtMalloc((void **)&cell, CELLS * sizeof(*cell), ACL_MEM_MALLOC_HUGE_FIRST));
    arguments();
    if (strncmp(aclrtGetSocName(), "Ascend310", 9) == 0 || strcmp(aclrtGetSocName(), "Ascend910A") == 0) {
        EXPECT(207000, aclrtValueWrite(cell, 1, 0, stream));
        EXPECT(207000, aclrtValueWait(cell, 1, 0, stream));
        return 0;
    }
    aclrtBinHandle binary;
    aclrtFuncHandle add_one;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "add_one", &add_one));
    comparisons();
    every_writer_is_noticed(add_one);
    many_wait_at_once();
    pairs_hand_over();
    waits_end_without_being_satisfied();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
