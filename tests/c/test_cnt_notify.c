/* Counting notifies: every way to change and to compare the value, clearing, timeouts, aborts. One product has them. */
#include <string.h>

#include "check.h"
#include "pyacl/emulator.h"

static aclrtStream stream, other;
static aclrtCntNotify notify;

static aclError record(aclrtStream on, aclrtCntNotifyRecordMode mode, uint32_t value) {
    aclrtCntNotifyRecordInfo info = {.mode = mode, .value = value};
    return aclrtCntNotifyRecord(notify, on, &info);
}

static aclError wait_for(aclrtStream on, aclrtCntNotifyWaitMode mode, uint32_t value, uint32_t timeout, uint8_t clear) {
    aclrtCntNotifyWaitInfo info = {.mode = mode, .value = value, .timeout = timeout, .isClear = clear};
    return aclrtCntNotifyWaitWithTimeout(notify, on, &info);
}

static void set(uint32_t value) {
    EXPECT(0, record(other, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, value));
    EXPECT(0, aclrtSynchronizeStream(other));
}

static void finish(aclrtStream on) { EXPECT(0, aclrtSynchronizeStream(on)); }
static void is_blocked(aclrtStream on) { EXPECT(507046, aclrtSynchronizeStreamWithTimeout(on, 20)); }

static void arguments(void) {
    aclrtCntNotifyRecordInfo bad_record = {.mode = (aclrtCntNotifyRecordMode)3};
    aclrtCntNotifyWaitInfo bad_wait = {.mode = (aclrtCntNotifyWaitMode)5};
    uint32_t id;
    EXPECT(107000, aclrtCntNotifyCreate(NULL, 0)); /* not 100000 */
    EXPECT(107000, aclrtCntNotifyCreate(&notify, 2));
    EXPECT(100000, aclrtCntNotifyRecord(notify, stream, NULL));
    EXPECT(100000, aclrtCntNotifyWaitWithTimeout(notify, stream, NULL));
    EXPECT(107000, aclrtCntNotifyRecord(notify, stream, &bad_record));
    EXPECT(107000, aclrtCntNotifyWaitWithTimeout(notify, stream, &bad_wait));
    EXPECT(100000, aclrtCntNotifyGetId(notify, NULL));
    EXPECT(0, aclrtCntNotifyGetId(notify, &id));
    EXPECT(107017, aclrtCntNotifyReset(stream, stream));
    EXPECT(107017, aclrtCntNotifyReset(notify, notify));
    aclrtNotify plain;
    EXPECT(0, aclrtCreateNotify(&plain, 0));
    EXPECT(107017, aclrtCntNotifyReset(plain, stream));
    EXPECT(0, aclrtDestroyNotify(plain));
}

/* Each comparison lets the stream wait at `no` and go on at `yes`. */
static void comparisons(void) {
    static const struct { aclrtCntNotifyWaitMode mode; uint32_t value, no, yes; } cases[] = {
        {ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, 5, 5, 4},
        {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 5, 6, 5},
        {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, 5, 5, 6},
        {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 0x80000000U, 0x7FFFFFFFU, 0x80000000U},
        {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 0x6, 0x2, 0xF},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set(cases[i].no);
        EXPECT(0, wait_for(stream, cases[i].mode, cases[i].value, 0, 0));
        is_blocked(stream);
        set(cases[i].yes);
        finish(stream);
        EXPECT(0, wait_for(stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, cases[i].yes, 0, 0)); /* not cleared */
        finish(stream);
    }
}

static void expect_value(uint32_t value) {
    EXPECT(0, wait_for(stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value, 0, 0));
    finish(stream);
}

static void changes(void) {
    set(7);
    EXPECT(0, record(stream, ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 3));
    expect_value(10);
    EXPECT(0, record(stream, ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 0x11));
    expect_value(0x1B);
    EXPECT(0, record(stream, ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 0x18));
    expect_value(0x18);
    set(UINT32_MAX);
    EXPECT(0, record(stream, ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2));
    expect_value(1);
    EXPECT(0, aclrtCntNotifyReset(notify, stream));
    expect_value(0);
}

static void a_clearing_wait_lets_one_go_at_a_time(void) {
    set(0);
    EXPECT(0, wait_for(stream, ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 2, 0, 1));
    is_blocked(stream);
    EXPECT(0, record(NULL, ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1));
    is_blocked(stream);
    EXPECT(0, wait_for(other, ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 2, 0, 1));
    is_blocked(other);
    EXPECT(0, record(NULL, ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1));
    EXPECT(0, aclrtSynchronizeStream(NULL));
    aclrtStreamStatus first, second;
    do { /* one of the two is let go */
        EXPECT(0, aclrtStreamQuery(stream, &first));
        EXPECT(0, aclrtStreamQuery(other, &second));
    } while (first != ACL_STREAM_STATUS_COMPLETE && second != ACL_STREAM_STATUS_COMPLETE);
    is_blocked(first == ACL_STREAM_STATUS_COMPLETE ? other : stream);
    EXPECT(0, record(NULL, ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2));
    finish(stream);
    finish(other);
    expect_value(0);
}

static void waits_end_without_being_satisfied(void) {
    set(0);
    EXPECT(0, wait_for(stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 1, 1));
    EXPECT(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
    EXPECT(0, wait_for(stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 1));
    is_blocked(stream);
    EXPECT(0, aclrtStreamAbort(stream));
    finish(stream);
    set(1);
    expect_value(1); /* neither of them cleared it */
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    EXPECT(0, pyaclEmuConfigure(argc > 2 ? argv[2] : "950", 0));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateStream(&other));
    if (strncmp(aclrtGetSocName(), "Ascend950", 9) != 0) {
        EXPECT(207000, aclrtCntNotifyCreate(&notify, 0));
        EXPECT(207000, aclrtCntNotifyReset(stream, stream));
        return 0;
    }
    EXPECT(0, aclrtCntNotifyCreate(&notify, ACL_NOTIFY_DEFAULT));
    arguments();
    comparisons();
    changes();
    a_clearing_wait_lets_one_go_at_a_time();
    waits_end_without_being_satisfied();
    EXPECT(0, wait_for(stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 1));
    EXPECT(0, aclrtCntNotifyDestroy(notify));
    finish(stream);
    EXPECT(107017, aclrtCntNotifyDestroy(notify));
    pyaclEmuCounters counters;
    EXPECT(0, pyaclEmuGetCounters(&counters));
    CHECK(counters.notifies == 0);
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
