/* Conditions in captured models: IF, WHILE and SWITCH decide on the device, nested ones too, within one execution. */
#include "model.h"

enum { TURNS = 10000, RUNS = 5 };

static aclrtStream stream, inner, runner;
static uint64_t *log_;

static aclmdlRI begin(void) {
    aclmdlRI model;
    EXPECT(0, aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, aclmdlRICaptureGetInfo(stream, NULL, &model));
    return model;
}

static aclmdlRI end(void) {
    aclmdlRI model;
    EXPECT(0, aclmdlRICaptureEnd(stream, &model));
    return model;
}

static void execute(aclmdlRI model) {
    EXPECT(0, aclmdlRIExecuteAsync(model, runner));
    EXPECT(0, aclrtSynchronizeStream(runner));
}

static aclmdlRICondHandle new_condition(aclmdlRI model, uint32_t initial, int flag, uint64_t **value) {
    aclmdlRICondHandle condition;
    EXPECT(0, aclmdlRICondHandleCreate(model, initial, (aclmdlRICondHandleFlag)flag, &condition));
    EXPECT(0, aclmdlRICondHandleGetCondPtr(condition, value));
    return condition;
}

static void add_condition(aclrtStream on, aclmdlRICondHandle condition, aclmdlRICondTaskType type, uint32_t count,
                          aclmdlRI *branches) {
    aclmdlRICondTaskParams params = {.handle = condition, .type = type, .size = count, .modelRIArray = branches};
    EXPECT(0, aclmdlRIAddCondTask(params, on, 0));
}

/* A branch that notes `entry`. */
static void fill_branch(aclmdlRI branch, uint64_t entry) {
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, branch, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, launch_append(inner, log_, entry));
    EXPECT(0, aclmdlRICaptureEnd(inner, NULL));
}

static void expect_entries(size_t count, const uint64_t *entries) {
    expect_log(log_, count, entries);
    write_cell(log_, 0);
}

static void if_and_else(void) {
    uint64_t *value;
    aclmdlRI branches[2], model = begin();
    aclmdlRICondHandle condition = new_condition(model, 0, 0, &value);
    EXPECT(0, launch_append(stream, log_, 1));
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, 2, branches);
    EXPECT(0, launch_append(stream, log_, 4));
    fill_branch(branches[0], 2);
    fill_branch(branches[1], 3);
    CHECK(end() == model);
    for (int i = 0; i < RUNS; i++) {
        execute(model);
        expect_entries(3, (uint64_t[]){1, 3, 4});
        write_cell(value, 9);
        execute(model);
        expect_entries(3, (uint64_t[]){1, 2, 4});
        write_cell(value, 0);
    }
    EXPECT(207000, aclmdlRIExecuteAsync(branches[0], runner)); /* only with the whole */
    EXPECT(207000, aclmdlRIDestroy(branches[0]));
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(107017, aclmdlRIExecuteAsync(branches[0], runner));
}

static void if_without_else(void) {
    uint64_t *value;
    aclmdlRI branch, model = begin();
    aclmdlRICondHandle condition = new_condition(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch);
    fill_branch(branch, 5);
    end();
    write_cell(value, 0); /* each execution begins with 1 again */
    execute(model);
    expect_entries(1, (uint64_t[]){5});
    EXPECT(0, aclmdlRIDestroy(model));
}

static void switch_by_number(void) {
    enum { BRANCHES = 3 };
    uint64_t *value;
    aclmdlRI branches[BRANCHES], model = begin();
    aclmdlRICondHandle condition = new_condition(model, 0, 0, &value);
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_SWITCH, BRANCHES, branches);
    for (uint64_t i = 0; i < BRANCHES; i++) { fill_branch(branches[i], 10 + i); }
    end();
    for (uint64_t i = 0; i < BRANCHES; i++) {
        write_cell(value, i);
        execute(model);
        expect_entries(1, (uint64_t[]){10 + i});
    }
    write_cell(value, BRANCHES);
    execute(model);
    expect_entries(0, NULL);
    EXPECT(0, aclmdlRIDestroy(model));
}

/* The body counts the number up until it wraps to 0. */
static void while_loop(void) {
    uint64_t *value, *count = cell(0), *start = cell(-(uint64_t)TURNS);
    aclmdlRI body, model = begin();
    aclmdlRICondHandle condition = new_condition(model, 0, 0, &value);
    EXPECT(0, aclrtMemcpyAsync(value, 8, start, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    EXPECT(0, launch_append(stream, log_, 1));
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, launch_add(inner, count));
    EXPECT(0, launch_add(inner, value));
    EXPECT(0, aclmdlRICaptureEnd(inner, NULL));
    end();
    for (uint64_t i = 1; i <= RUNS; i++) {
        execute(model);
        CHECK(read_cell(count) == i * TURNS);
        expect_entries(1, (uint64_t[]){1});
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtFree(count));
    EXPECT(0, aclrtFree(start));
}

/* An empty body that nobody ends is stopped by an abort of the stream; and it ends when the number is changed. */
static void a_loop_without_end(void) {
    uint64_t *value;
    aclmdlRI body, model = begin();
    aclmdlRICondHandle condition = new_condition(model, 1, 0, &value);
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, aclmdlRICaptureEnd(inner, NULL));
    end();
    for (int i = 0; i < RUNS; i++) {
        EXPECT(0, aclmdlRIExecuteAsync(model, runner));
        usleep(2000);
        EXPECT(0, aclrtStreamAbort(runner));
        EXPECT(0, aclrtSynchronizeStream(runner));
    }
    EXPECT(0, aclmdlRIExecuteAsync(model, runner));
    usleep(2000);
    EXPECT(0, aclrtValueWrite(value, 0, 0, stream));
    EXPECT(0, aclrtSynchronizeStream(runner));
    EXPECT(0, aclmdlRIDestroy(model));
}

/* A loop whose body decides, and whose branch forks to another stream and joins again. */
static void nested(void) {
    enum { SHORT = 100 };
    uint64_t *turns, *choice, *odd = cell(0), *start = cell(-(uint64_t)SHORT), *one = cell(1);
    aclrtStream side = new_stream(0);
    aclrtEvent forked, joined;
    aclmdlRI body, then, model = begin();
    EXPECT(0, aclrtCreateEventExWithFlag(&forked, ACL_EVENT_SYNC));
    EXPECT(0, aclrtCreateEventExWithFlag(&joined, ACL_EVENT_SYNC));
    aclmdlRICondHandle condition = new_condition(model, 0, 0, &turns);
    EXPECT(0, aclrtMemcpyAsync(turns, 8, start, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    aclmdlRICondHandle decision = new_condition(body, 0, 0, &choice);
    EXPECT(107000, aclmdlRIAddCondTask((aclmdlRICondTaskParams){decision, ACL_MODEL_RI_COND_TYPE_IF, 1, &then}, stream, 0));
    EXPECT(0, aclrtMemcpyAsync(choice, 8, one, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, inner));
    add_condition(inner, decision, ACL_MODEL_RI_COND_TYPE_IF, 1, &then);
    aclrtStream innermost = new_stream(0);
    EXPECT(0, aclmdlRICaptureToModelRIBegin(innermost, then, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, aclrtRecordEvent(forked, innermost));
    EXPECT(0, aclrtStreamWaitEvent(side, forked));
    EXPECT(0, launch_add(side, odd));
    EXPECT(0, aclrtRecordEvent(joined, side));
    EXPECT(0, aclrtStreamWaitEvent(innermost, joined));
    EXPECT(0, aclmdlRICaptureEnd(innermost, NULL));
    EXPECT(0, launch_add(inner, turns));
    EXPECT(0, aclmdlRICaptureEnd(inner, NULL));
    end();
    for (uint64_t i = 1; i <= RUNS; i++) {
        execute(model);
        CHECK(read_cell(odd) == i * SHORT);
    }
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyEvent(forked));
    EXPECT(0, aclrtDestroyEvent(joined));
    EXPECT(0, aclrtDestroyStream(side));
    EXPECT(0, aclrtDestroyStream(innermost));
    EXPECT(0, aclrtFree(odd));
    EXPECT(0, aclrtFree(start));
    EXPECT(0, aclrtFree(one));
}

static void a_branch_that_fails(void) {
    uint64_t *value;
    aclmdlRI body, model = begin();
    aclmdlRICondHandle condition = new_condition(model, 1, 0, &value);
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    EXPECT(0, launch_append(stream, log_, 1));
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, launch_fail(inner, 507015));
    EXPECT(0, aclmdlRICaptureEnd(inner, NULL));
    end();
    for (int i = 0; i < RUNS; i++) {
        EXPECT(0, aclmdlRIExecuteAsync(model, runner));
        EXPECT(507015, aclrtSynchronizeStream(runner));
    }
    expect_entries(0, NULL);
    EXPECT(0, aclmdlRIDestroy(model));
}

/* A branch that is open, or has failed, when the whole ends. */
static void branches_that_are_not_complete(void) {
    uint64_t *value;
    aclmdlRI branch, discarded, model = begin();
    aclmdlRICondHandle condition = new_condition(model, 1, 0, &value);
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch);
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, branch, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(107045, aclmdlRICaptureEnd(stream, &discarded));
    CHECK(discarded == NULL);
    EXPECT(107029, aclmdlRICaptureEnd(inner, &discarded));
    model = begin();
    condition = new_condition(model, 1, 0, &value);
    add_condition(stream, condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch);
    EXPECT(0, aclmdlRICaptureToModelRIBegin(inner, branch, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT(0, aclmdlRICaptureTaskGrpBegin(inner));
    EXPECT(107033, aclmdlRICaptureEnd(inner, NULL));
    EXPECT(507903, aclmdlRICaptureEnd(stream, &discarded));
    CHECK(discarded == NULL);
    EXPECT(0, launch_append(inner, log_, 1));
    EXPECT(0, aclrtSynchronizeStream(inner));
    expect_entries(1, (uint64_t[]){1});
}

int main(int argc, char **argv) {
    guard(argc, argv, 120);
    EXPECT(0, pyaclEmuConfigure("A3", 1));
    EXPECT(0, aclInit(NULL));
    EXPECT(0, aclrtSetDevice(0));
    load_kernels();
    pyaclEmuCounters before = counters();
    stream = new_stream(0);
    inner = new_stream(0);
    runner = new_stream(ACL_STREAM_FAST_LAUNCH);
    log_ = device_zeros(64 * 8);
    if_and_else();
    if_without_else();
    switch_by_number();
    while_loop();
    a_loop_without_end();
    nested();
    a_branch_that_fails();
    branches_that_are_not_complete();
    EXPECT(0, aclrtFree(log_));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(inner));
    EXPECT(0, aclrtDestroyStream(runner));
    expect_no_leak(&before);
    unload_kernels();
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclFinalize());
    return 0;
}
