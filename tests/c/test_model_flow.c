/* Control flow in built models: activation, switching by the six conditions, labels, and loops of 10,000 turns that the
 * device decides by itself, all in one execution. */
#include "model.h"

enum { TURNS = 10000 };

static void activation_starts_a_stream(void) {
    aclmdlRI model = new_model();
    aclrtStream head = bound_stream(model, HEAD), other = bound_stream(model, FOLLOWER), never = bound_stream(model, FOLLOWER);
    uint64_t *log = device_zeros(64 * 8);
    EXPECT(0, launch_append(other, log, 2));
    EXPECT(0, launch_append(never, log, 9));
    EXPECT(0, launch_append(head, log, 1));
    EXPECT(0, aclrtActiveStream(other, head));
    finish_model(model, head);
    for (int i = 0; i < 20; i++) {
        write_cell(log, 0);
        EXPECT(0, aclmdlRIExecute(model, 5000));
        expect_log(log, 2, (uint64_t[]){1, 2});
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(head));
    EXPECT(0, aclrtDestroyStream(other));
    EXPECT(0, aclrtDestroyStream(never));
    EXPECT(0, aclrtFree(log));
}

/* Both ways of each condition, for 32 and 64 bits. */
static void check_switch(aclrtCondition condition, aclrtCompareDataType type, int64_t left, int64_t right, bool taken) {
    aclmdlRI model = new_model();
    aclrtStream head = bound_stream(model, HEAD), target = bound_stream(model, FOLLOWER);
    uint64_t *log = device_zeros(64 * 8), *left_cell = cell((uint64_t)left), *right_cell = cell((uint64_t)right);
    EXPECT(0, aclrtSwitchStream(left_cell, condition, right_cell, type, target, NULL, head));
    EXPECT(0, launch_append(head, log, 1));
    EXPECT(0, launch_append(target, log, 2));
    finish_model(model, head);
    EXPECT(0, aclmdlRIExecute(model, 5000));
    expect_log(log, 1, (uint64_t[]){taken ? 2 : 1});
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(head));
    EXPECT(0, aclrtDestroyStream(target));
    EXPECT(0, aclrtFree(log));
    EXPECT(0, aclrtFree(left_cell));
    EXPECT(0, aclrtFree(right_cell));
}

static void conditions(void) {
    static const struct {
        aclrtCondition condition;
        bool less, equal, greater;
    } rows[] = {{ACL_RT_EQUAL, false, true, false},           {ACL_RT_NOT_EQUAL, true, false, true},
                {ACL_RT_GREATER, false, false, true},         {ACL_RT_GREATER_OR_EQUAL, false, true, true},
                {ACL_RT_LESS, true, false, false},            {ACL_RT_LESS_OR_EQUAL, true, true, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_switch(rows[i].condition, ACL_RT_SWITCH_INT32, -5, 3, rows[i].less);
        check_switch(rows[i].condition, ACL_RT_SWITCH_INT32, 3, 3, rows[i].equal);
        check_switch(rows[i].condition, ACL_RT_SWITCH_INT32, 3, -5, rows[i].greater);
        check_switch(rows[i].condition, ACL_RT_SWITCH_INT64, -5000000000, 3, rows[i].less);
        check_switch(rows[i].condition, ACL_RT_SWITCH_INT64, 5000000000, 5000000000, rows[i].equal);
        check_switch(rows[i].condition, ACL_RT_SWITCH_INT64, 5000000000, -3, rows[i].greater);
    }
    check_switch(ACL_RT_EQUAL, ACL_RT_SWITCH_INT32, 0x100000001, 0x200000001, true); /* the low words alone */
    check_switch(ACL_RT_EQUAL, ACL_RT_SWITCH_INT64, 0x100000001, 0x200000001, false);
}

/* A stream that switches to itself. */
static void loop_by_one_stream(void) {
    aclmdlRI model = new_model();
    aclrtStream head = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *counter = cell(0), *limit = cell(TURNS), *after = cell(0);
    EXPECT(0, launch_add(head, counter));
    EXPECT(0, aclrtSwitchStream(counter, ACL_RT_LESS, limit, ACL_RT_SWITCH_INT64, head, NULL, head));
    EXPECT(0, launch_add(head, after));
    finish_model(model, head);
    for (uint64_t i = 1; i <= 3; i++) {
        write_cell(counter, 0);
        EXPECT(0, aclmdlRIExecuteAsync(model, stream));
        EXPECT(0, aclrtSynchronizeStream(stream));
        CHECK(read_cell(counter) == TURNS && read_cell(after) == i);
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(head));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtFree(limit));
    EXPECT(0, aclrtFree(after));
}

/* Two streams that start each other: one by a switch, the other by activation. */
static void loop_by_two_streams(void) {
    aclmdlRI model = new_model();
    aclrtStream body = bound_stream(model, HEAD), back = bound_stream(model, FOLLOWER);
    uint64_t *counter = cell(0), *limit = cell(TURNS), *turns = cell(0), *after = cell(0);
    EXPECT(0, launch_add(body, counter));
    EXPECT(0, aclrtSwitchStream(counter, ACL_RT_LESS, limit, ACL_RT_SWITCH_INT64, back, NULL, body));
    EXPECT(0, launch_add(body, after));
    EXPECT(0, launch_add(back, turns));
    EXPECT(0, aclrtActiveStream(body, back));
    finish_model(model, body);
    EXPECT(0, aclmdlRIExecute(model, 20000));
    CHECK(read_cell(counter) == TURNS && read_cell(turns) == TURNS - 1 && read_cell(after) == 1);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(body));
    EXPECT(0, aclrtDestroyStream(back));
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtFree(limit));
    EXPECT(0, aclrtFree(turns));
    EXPECT(0, aclrtFree(after));
}

/* An endless loop can be aborted. */
static void an_endless_loop_is_aborted(void) {
    aclmdlRI model = new_model();
    aclrtStream head = bound_stream(model, HEAD), stream = new_stream(0);
    uint64_t *counter = cell(0);
    EXPECT(0, launch_add(head, counter));
    EXPECT(0, aclrtSwitchStream(counter, ACL_RT_NOT_EQUAL, counter, ACL_RT_SWITCH_INT64, head, NULL, head));
    EXPECT(0, aclrtSwitchStream(counter, ACL_RT_EQUAL, counter, ACL_RT_SWITCH_INT64, head, NULL, head));
    finish_model(model, head);
    EXPECT(0, aclmdlRIExecuteAsync(model, stream));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 20));
    uint64_t *aside = cell(0);
    EXPECT(0, launch_add(NULL, aside)); /* it does not keep others from running */
    EXPECT(0, aclrtSynchronizeStreamWithTimeout(NULL, 5000));
    CHECK(read_cell(aside) == 1);
    EXPECT(0, aclmdlRIAbort(model));
    EXPECT(ACL_ERROR_RT_MODEL_ABORT_NORMAL, aclrtSynchronizeStream(stream));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(model, 20));
    CHECK(read_cell(counter) > 10);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(head));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtFree(aside));
}

/* ---- labels ---- */

typedef struct Labels {
    aclrtLabel labels[3];
    aclrtLabelList list;
} Labels;

static Labels make_labels(void) {
    Labels made;
    for (int i = 0; i < 3; i++) { EXPECT(0, aclrtCreateLabel(&made.labels[i])); }
    EXPECT(0, aclrtCreateLabelList(made.labels, 3, &made.list));
    return made;
}

static void end_labels(Labels *made) {
    EXPECT(0, aclrtDestroyLabelList(made->list));
    for (int i = 0; i < 3; i++) { EXPECT(0, aclrtDestroyLabel(made->labels[i])); }
}

/* The index chooses one of three places: in the same stream, in another one, and the last one for all beyond. */
static void labels_choose(void) {
    static const struct {
        uint32_t index, count;
        uint64_t log[3];
    } rows[] = {{0, 3, {10, 11, 30}}, {1, 2, {11, 30}}, {2, 1, {20}}, {3, 1, {20}}, {4000000000U, 1, {20}}};
    Labels labels = make_labels();
    aclmdlRI model = new_model();
    aclrtStream head = bound_stream(model, HEAD), other = bound_stream(model, FOLLOWER);
    uint64_t *log = device_zeros(64 * 8);
    uint32_t *index = device_zeros(4);
    EXPECT(0, aclrtSwitchLabelByIndex(index, 3, labels.list, head));
    EXPECT(0, launch_append(head, log, 99)); /* passed over */
    EXPECT(0, aclrtSetLabel(labels.labels[0], head));
    EXPECT(0, launch_append(head, log, 10));
    EXPECT(0, aclrtSetLabel(labels.labels[1], head));
    EXPECT(0, launch_append(head, log, 11));
    EXPECT(0, launch_append(head, log, 30));
    EXPECT(0, launch_append(other, log, 98));
    EXPECT(0, aclrtSetLabel(labels.labels[2], other));
    EXPECT(0, launch_append(other, log, 20));
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSetLabel(labels.labels[2], other));
    EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSetLabel(labels.labels[2], head));
    finish_model(model, head);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_cell(log, 0);
        EXPECT(0, aclrtMemcpy(index, 4, &rows[i].index, 4, ACL_MEMCPY_HOST_TO_DEVICE));
        EXPECT(0, aclmdlRIExecute(model, 5000));
        expect_log(log, rows[i].count, rows[i].log);
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(head));
    EXPECT(0, aclrtDestroyStream(other));
    end_labels(&labels);
    EXPECT(0, aclrtFree(log));
    EXPECT(0, aclrtFree(index));
}

/* Up to a label in another stream, and back: the index is computed by a kernel. */
static void loop_by_labels(void) {
    Labels labels = make_labels();
    aclmdlRI model = new_model();
    aclrtStream body = bound_stream(model, HEAD), back = bound_stream(model, FOLLOWER);
    uint64_t *counter = cell(0), *limit = cell(TURNS), *index = cell(0), *turns = cell(0);
    aclrtStream leave = bound_stream(model, FOLLOWER);
    EXPECT(0, aclrtSetLabel(labels.labels[0], body));
    EXPECT(0, launch_add(body, counter));
    EXPECT(0, aclrtSwitchStream(counter, ACL_RT_GREATER_OR_EQUAL, limit, ACL_RT_SWITCH_INT64, leave, NULL, body));
    EXPECT(0, aclrtMemsetAsync(index, 8, 1, 1, body));
    EXPECT(0, aclrtSwitchLabelByIndex(index, 3, labels.list, body));
    EXPECT(0, aclrtSetLabel(labels.labels[1], back));
    EXPECT(0, launch_add(back, turns));
    EXPECT(0, aclrtMemsetAsync(index, 8, 0, 1, back));
    EXPECT(0, aclrtSwitchLabelByIndex(index, 3, labels.list, back));
    EXPECT(0, aclrtSetLabel(labels.labels[2], leave));
    finish_model(model, leave);
    EXPECT(0, aclmdlRIExecute(model, 20000));
    CHECK(read_cell(counter) == TURNS && read_cell(turns) == TURNS - 1);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(body));
    EXPECT(0, aclrtDestroyStream(back));
    EXPECT(0, aclrtDestroyStream(leave));
    end_labels(&labels);
    EXPECT(0, aclrtFree(counter));
    EXPECT(0, aclrtFree(limit));
    EXPECT(0, aclrtFree(index));
    EXPECT(0, aclrtFree(turns));
}

static void label_codes(void) {
    aclmdlRI model = new_model();
    aclrtStream bound = bound_stream(model, HEAD), stream = new_stream(0);
    aclrtLabel label;
    aclrtLabelList list;
    EXPECT(100000, aclrtCreateLabel(NULL));
    EXPECT(0, aclrtCreateLabel(&label));
    EXPECT(100000, aclrtSetLabel(NULL, bound));
    EXPECT(100000, aclrtSetLabel(label, NULL));
    EXPECT(107017, aclrtSetLabel(bound, bound));
    EXPECT(107005, aclrtSetLabel(label, stream));
    EXPECT(507000, aclrtSetLabel(label, bound)); /* in no list */
    EXPECT(107000, aclrtCreateLabelList(&label, 0, &list));
    EXPECT(107000, aclrtCreateLabelList(&label, 65536, &list));
    EXPECT(0, aclrtCreateLabelList(&label, 1, &list));
    EXPECT(0, aclrtSetLabel(label, bound));
    EXPECT(100000, aclrtSwitchLabelByIndex(NULL, 1, list, bound));
    EXPECT(107005, aclrtSwitchLabelByIndex(&label, 1, list, stream));
    EXPECT(0, aclrtDestroyLabel(label));
    EXPECT(107017, aclrtDestroyLabel(label));
    EXPECT(0, aclrtDestroyLabelList(list));
    EXPECT(107017, aclrtDestroyLabelList(list));
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(bound));
    EXPECT(0, aclrtDestroyStream(stream));
}

/* A target that is gone when the task runs is a failure, not a crash. */
static void a_target_that_left(void) {
    aclmdlRI model = new_model();
    aclrtStream head = bound_stream(model, HEAD), target = bound_stream(model, FOLLOWER);
    EXPECT(0, aclrtActiveStream(target, head));
    finish_model(model, head);
    EXPECT(0, aclmdlRIUnbindStream(model, target));
    EXPECT(ACL_ERROR_RT_MODEL_EXECUTE, aclmdlRIExecute(model, 5000));
    EXPECT(0, aclrtDestroyStream(target));
    EXPECT(ACL_ERROR_RT_MODEL_EXECUTE, aclmdlRIExecute(model, 5000));
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyStream(head));
}

int main(int argc, char **argv) {
    guard(argc, argv, 30);
    EXPECT(0, aclrtSetDevice(0));
    load_kernels();
    pyaclEmuCounters before = counters();
    activation_starts_a_stream();
    conditions();
    loop_by_one_stream();
    loop_by_two_streams();
    an_endless_loop_is_aborted();
    labels_choose();
    loop_by_labels();
    label_codes();
    a_target_that_left();
    expect_no_leak(&before);
    unload_kernels();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
