/* The tasks of captured models: groups and their updates, single tasks and their parameters, and what is printed. */
#include "model.h"

static aclrtStream stream, runner;
static uint64_t *log_;

static void begin(void) { EXPECT(0, aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED)); }

static aclmdlRI end(void) {
    aclmdlRI model;
    EXPECT(0, aclmdlRICaptureEnd(stream, &model));
    return model;
}

static void expect_run(aclmdlRI model, size_t count, const uint64_t *entries) {
    EXPECT(0, aclmdlRIExecuteAsync(model, runner));
    EXPECT(0, aclrtSynchronizeStream(runner));
    expect_log(log_, count, entries);
    write_cell(log_, 0);
}

static aclmdlRITask task_of(aclmdlRI model, uint32_t index) {
    aclrtStream hidden;
    aclmdlRITask tasks[16];
    uint32_t streams = 1, count = 16;
    EXPECT(0, aclmdlRIGetStreams(model, &hidden, &streams));
    EXPECT(0, aclmdlRIGetTasksByStream(hidden, tasks, &count));
    CHECK(index < count);
    return tasks[index];
}

static aclmdlRITaskParams params_of(aclmdlRITask task) {
    aclmdlRITaskParams params;
    EXPECT(0, aclmdlRITaskGetParams(task, &params));
    return params;
}

/* ---- groups ---- */

static void a_group_is_updated_in_stream_order(void) {
    aclrtTaskGrp group;
    EXPECT(107029, aclmdlRICaptureTaskGrpBegin(stream));
    begin();
    EXPECT(0, launch_append(stream, log_, 1));
    EXPECT(107033, aclmdlRICaptureTaskGrpEnd(stream, &group));
    EXPECT(0, aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(107033, aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(0, launch_append(stream, log_, 2));
    EXPECT(0, launch_append(stream, log_, 3));
    EXPECT(0, aclmdlRICaptureTaskGrpEnd(stream, &group));
    EXPECT(0, launch_append(stream, log_, 4));
    EXPECT(107027, aclmdlRICaptureTaskUpdateBegin(stream, group));
    aclmdlRI model = end();
    expect_run(model, 4, (uint64_t[]){1, 2, 3, 4});
    EXPECT(0, aclmdlRIExecuteAsync(model, runner));
    EXPECT(0, aclmdlRICaptureTaskUpdateBegin(runner, group));
    EXPECT(107033, aclmdlRICaptureTaskUpdateBegin(stream, group));
    EXPECT(0, launch_append(runner, log_, 20));
    EXPECT(0, launch_append(runner, log_, 30));
    EXPECT(0, aclmdlRICaptureTaskUpdateEnd(runner));
    EXPECT(107033, aclmdlRICaptureTaskUpdateEnd(runner));
    expect_run(model, 8, (uint64_t[]){1, 2, 3, 4, 1, 20, 30, 4});
    EXPECT(0, aclmdlRICaptureTaskUpdateBegin(runner, group));
    EXPECT(0, launch_append(runner, log_, 200));
    EXPECT(507000, aclmdlRICaptureTaskUpdateEnd(runner)); /* one too few: nothing changes */
    EXPECT(0, aclmdlRICaptureTaskUpdateBegin(runner, group));
    EXPECT(0, launch_append(runner, log_, 200));
    EXPECT(0, aclrtMemsetAsync(log_, 8, 0, 0, runner));
    EXPECT(0, aclrtMemsetAsync(log_, 8, 0, 8, runner));
    EXPECT(507000, aclmdlRICaptureTaskUpdateEnd(runner)); /* of another kind */
    expect_run(model, 4, (uint64_t[]){1, 20, 30, 4});
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(107017, aclmdlRICaptureTaskUpdateBegin(runner, group));
}

static void an_open_group_ends_the_capture(void) {
    aclmdlRI model;
    begin();
    EXPECT(0, aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(107033, aclmdlRICaptureEnd(stream, &model));
    CHECK(model == NULL);
}

/* ---- lists ---- */

static void lists_fill_what_they_are_given(void) {
    aclrtStream streams[3];
    aclmdlRITask tasks[4];
    uint32_t count = 0;
    begin();
    for (uint64_t i = 0; i < 3; i++) { EXPECT(0, launch_append(stream, log_, i)); }
    aclmdlRI model = end();
    EXPECT(0, aclmdlRIGetStreams(model, NULL, &count));
    CHECK(count == 1);
    count = 3;
    EXPECT(0, aclmdlRIGetStreams(model, streams, &count));
    CHECK(count == 1 && streams[0] != NULL && streams[1] == NULL && streams[2] == NULL);
    EXPECT(107005, aclrtDestroyStream(streams[0])); /* it is the model's own */
    EXPECT(507000, launch_append(streams[0], log_, 1));
    EXPECT(0, aclmdlRIGetTasksByStream(streams[0], NULL, &count));
    CHECK(count == 3);
    count = 2;
    EXPECT(107039, aclmdlRIGetTasksByStream(streams[0], tasks, &count));
    CHECK(count == 2);
    count = 4;
    EXPECT(0, aclmdlRIGetTasksByStream(streams[0], tasks, &count));
    CHECK(count == 3 && tasks[3] == NULL);
    for (uint32_t i = 0; i < 3; i++) {
        aclmdlRITaskType type;
        uint32_t number;
        EXPECT(0, aclmdlRITaskGetType(tasks[i], &type));
        EXPECT(0, aclmdlRITaskGetSeqId(tasks[i], &number));
        CHECK(type == ACL_MODEL_RI_TASK_KERNEL && number == i);
    }
    EXPECT(107000, aclmdlRIGetTasksByStream(stream, tasks, &count)); /* it captured, but it is not the model's */
    EXPECT(107000, aclmdlRIGetStreams(NULL, streams, &count));
    EXPECT(107000, aclmdlRIGetStreams(model, streams, NULL));
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(107017, aclmdlRITaskGetType(tasks[0], &(aclmdlRITaskType){0}));
}

/* ---- parameters ---- */

static void kernel_parameters(void) {
    uint64_t args[] = {(uint64_t)(uintptr_t)log_, 5};
    aclrtLaunchKernelAttr attribute = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, .value = {.schemMode = 1}};
    aclrtLaunchKernelCfg config = {.attrs = &attribute, .numAttrs = 1};
    aclrtLaunchKernelAttrValue value;
    begin();
    EXPECT(0, launch_append(stream, log_, 1));
    EXPECT(0, aclrtLaunchKernelWithHostArgs(append, 1, stream, &config, args, sizeof(args), NULL, 0));
    aclmdlRI model = end();
    attribute.value.schemMode = 0; /* the launch kept its own */
    aclmdlRITask task = task_of(model, 1);
    aclmdlRITaskParams params = params_of(task);
    CHECK(params.type == ACL_MODEL_RI_TASK_KERNEL && params.taskGrp == NULL && params.opInfoPtr == NULL);
    CHECK(params.kernelTaskParams.funcHandle == append && params.kernelTaskParams.numBlocks == 1);
    CHECK(params.kernelTaskParams.isHostArgs == 1 && params.kernelTaskParams.argsSize == sizeof(args));
    CHECK(memcmp(params.kernelTaskParams.args, args, sizeof(args)) == 0);
    CHECK(params.kernelTaskParams.cfg->numAttrs == 1);
    EXPECT(0, aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &value));
    CHECK(value.schemMode == 1);
    EXPECT(0, aclmdlRIKernelTaskGetAttribute(task_of(model, 0), ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &value));
    CHECK(value.schemMode == 0);
    args[1] = 6;
    params.kernelTaskParams.args = args;
    params.kernelTaskParams.cfg = NULL;
    EXPECT(0, aclmdlRITaskSetParams(task, &params));
    args[1] = 7; /* copied at the call */
    expect_run(model, 2, (uint64_t[]){1, 5});
    EXPECT(0, aclmdlRIUpdate(model));
    expect_run(model, 2, (uint64_t[]){1, 6});
    EXPECT(0, aclmdlRITaskDisable(task));
    expect_run(model, 2, (uint64_t[]){1, 6});
    EXPECT(0, aclmdlRIUpdate(model));
    expect_run(model, 1, (uint64_t[]){1});
    EXPECT(0, aclmdlRITaskSetParams(task, &params));
    EXPECT(0, aclmdlRIUpdate(model));
    expect_run(model, 2, (uint64_t[]){1, 7});
    params.type = ACL_MODEL_RI_TASK_VALUE_WRITE;
    EXPECT(107000, aclmdlRITaskSetParams(task, &params));
    params.type = ACL_MODEL_RI_TASK_KERNEL;
    params.kernelTaskParams.numBlocks = 0;
    EXPECT(107000, aclmdlRITaskSetParams(task, &params));
    EXPECT(0, aclmdlRIDestroy(model));
}

static void value_and_event_parameters(void) {
    uint64_t *one = cell(0), *other = cell(0);
    aclrtEvent event, another;
    EXPECT(0, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT(0, aclrtCreateEventExWithFlag(&another, ACL_EVENT_SYNC));
    begin();
    EXPECT(0, aclrtValueWrite(one, 3, 0, stream));
    EXPECT(0, aclrtRecordEvent(event, stream));
    EXPECT(0, aclrtRecordEventWithFlag(another, stream, ACL_EVENT_RECORD_EXTERNAL));
    EXPECT(0, aclrtMemcpyAsync(other, 8, one, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    aclmdlRI model = end();
    aclmdlRITaskParams params = params_of(task_of(model, 0));
    CHECK(params.type == ACL_MODEL_RI_TASK_VALUE_WRITE);
    CHECK(params.valueWriteTaskParams.devAddr == one && params.valueWriteTaskParams.value == 3);
    params.valueWriteTaskParams.value = 4;
    EXPECT(0, aclmdlRITaskSetParams(task_of(model, 0), &params));
    CHECK(params_of(task_of(model, 0)).valueWriteTaskParams.value == 4);
    EXPECT(0, aclmdlRIUpdate(model));
    expect_run(model, 0, NULL);
    CHECK(read_cell(one) == 4 && read_cell(other) == 4);
    params = params_of(task_of(model, 1));
    CHECK(params.type == ACL_MODEL_RI_TASK_EVENT_RECORD && params.eventRecordTaskParams.event == event);
    CHECK(params.eventRecordTaskParams.eventFlag == ACL_EVENT_SYNC && params.eventRecordTaskParams.recordFlag == 0);
    params.eventRecordTaskParams.event = another;
    EXPECT(207000, aclmdlRITaskSetParams(task_of(model, 1), &params)); /* it orders the tasks */
    EXPECT(207000, aclmdlRITaskDisable(task_of(model, 1)));
    params = params_of(task_of(model, 2));
    CHECK(params.eventRecordTaskParams.event == another && params.eventRecordTaskParams.recordFlag == 1);
    CHECK(params_of(task_of(model, 3)).type == ACL_MODEL_RI_TASK_DEFAULT);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtDestroyEvent(event));
    EXPECT(0, aclrtDestroyEvent(another));
    EXPECT(0, aclrtFree(one));
    EXPECT(0, aclrtFree(other));
}

/* A note about the last task stays with it, where the stream is told to keep such notes. */
static void notes_about_tasks(void) {
    aclrtStreamAttrValue on = {.cacheOpInfoSwitch = 1}, read;
    EXPECT(0, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &on));
    EXPECT(0, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &read));
    CHECK(read.cacheOpInfoSwitch == 0); /* outside a capture it means nothing */
    begin();
    EXPECT(0, launch_append(stream, log_, 1));
    EXPECT(0, aclrtCacheLastTaskOpInfo("early", 6));
    EXPECT(0, aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &on));
    EXPECT(0, aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &read));
    CHECK(read.cacheOpInfoSwitch == 1);
    EXPECT(0, launch_append(stream, log_, 2));
    EXPECT(0, aclrtCacheLastTaskOpInfo("first", 6));
    EXPECT(0, aclrtCacheLastTaskOpInfo("again", 6));
    EXPECT(0, launch_append(stream, log_, 3));
    EXPECT(0, launch_noop(runner));
    EXPECT(0, aclrtCacheLastTaskOpInfo("other", 6)); /* of a task that is not captured */
    aclmdlRI model = end();
    CHECK(params_of(task_of(model, 0)).opInfoPtr == NULL && params_of(task_of(model, 2)).opInfoPtr == NULL);
    aclmdlRITaskParams params = params_of(task_of(model, 1));
    CHECK(params.opInfoSize == 6 && memcmp(params.opInfoPtr, "again", 6) == 0);
    EXPECT(0, aclmdlRIDestroy(model));
    EXPECT(0, aclrtSynchronizeStream(runner));
}

/* ---- printing ---- */

static void json(void) {
    char path[] = "/tmp/test_model_tasks_XXXXXX", text[4096];
    int file = mkstemp(path);
    CHECK(file >= 0);
    begin();
    EXPECT(0, launch_append(stream, log_, 0x1234));
    aclmdlRI model = end();
    EXPECT(0, aclmdlRISetName(model, "a \"name\""));
    EXPECT(107000, aclmdlRIDebugJsonPrint(model, path, 2));
    EXPECT(107000, aclmdlRIDebugJsonPrint(model, "/nowhere/at/all", 0));
    EXPECT(0, aclmdlRIDebugJsonPrint(model, path, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE));
    ssize_t bytes = read(file, text, sizeof(text) - 1);
    CHECK(bytes > 0);
    text[bytes] = 0;
    CHECK(strstr(text, "\"name\": \"a \\\"name\\\"\"") != NULL);
    CHECK(strstr(text, "\"kernel\": \"append\", \"blocks\": 1, \"argsSize\": 16, \"args\": \"") != NULL);
    CHECK(strstr(text, "3412000000000000\"") != NULL);
    EXPECT(0, aclmdlRIDestroy(model));
    model = new_model();
    EXPECT(107000, aclmdlRIDebugPrint(model)); /* not a captured one */
    EXPECT(0, aclmdlRIDestroy(model));
    close(file);
    unlink(path);
}

int main(int argc, char **argv) {
    guard(argc, argv, 120);
    EXPECT(0, pyaclEmuConfigure("A3", 1));
    EXPECT(0, aclInit(NULL));
    EXPECT(0, aclrtSetDevice(0));
    load_kernels();
    pyaclEmuCounters before = counters();
    stream = new_stream(0);
    runner = new_stream(0);
    log_ = device_zeros(64 * 8);
    a_group_is_updated_in_stream_order();
    an_open_group_ends_the_capture();
    lists_fill_what_they_are_given();
    kernel_parameters();
    value_and_event_parameters();
    notes_about_tasks();
    json();
    EXPECT(0, aclrtFree(log_));
    EXPECT(0, aclrtDestroyStream(stream));
    EXPECT(0, aclrtDestroyStream(runner));
    expect_no_leak(&before);
    unload_kernels();
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclFinalize());
    return 0;
}
