/* A capture in which one call fails, each in turn, and the program goes on as if nothing had happened: in the end stream,
 * thread and device are as before, and nothing is left. Then the same for what runs out: streams. */
#include "model.h"

enum { ODD_CODE = 507899 };

static const char *const kernel_launch = "aclrtLaunchKernelWithHostArgs";

typedef struct Things {
    aclrtStream first, second, inner;
    aclrtEvent forked, joined;
    uint64_t *log, *pinned;
    aclrtTaskGrp group;
    aclmdlRI model, ended, branch;
    aclmdlRICondHandle condition;
    aclmdlRICaptureMode thread_mode;
} Things;

/* ---- the capture, call by call ---- */

static aclError exchange(Things *t) { return aclmdlRICaptureThreadExchangeMode(&t->thread_mode); }
static aclError begin(Things *t) { return aclmdlRICaptureBegin(t->first, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL); }
static aclError ask(Things *t) { return aclmdlRICaptureGetInfo(t->first, NULL, &t->model); }
static aclError launch_first(Things *t) { return launch_append(t->first, t->log, 1); }
static aclError copy(Things *t) { return aclrtMemcpyAsync(t->log + 40, 8, t->pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, t->first); }
static aclError fill(Things *t) { return aclrtMemsetAsync(t->log + 41, 8, 0, 8, t->first); }
static aclError fork_off(Things *t) { return aclrtRecordEvent(t->forked, t->first); }
static aclError follow(Things *t) { return aclrtStreamWaitEvent(t->second, t->forked); }
static aclError launch_second(Things *t) { return launch_append(t->second, t->log, 2); }
static aclError come_back(Things *t) { return aclrtRecordEvent(t->joined, t->second); }
static aclError join(Things *t) { return aclrtStreamWaitEvent(t->first, t->joined); }
static aclError begin_group(Things *t) { return aclmdlRICaptureTaskGrpBegin(t->first); }
static aclError launch_grouped(Things *t) { return launch_append(t->first, t->log, 3); }
static aclError end_group(Things *t) { return aclmdlRICaptureTaskGrpEnd(t->first, &t->group); }
static aclError make_condition(Things *t) {
    return aclmdlRICondHandleCreate(t->model, 1, (aclmdlRICondHandleFlag)0, &t->condition);
}
static aclError add_condition(Things *t) {
    aclmdlRICondTaskParams params = {t->condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &t->branch};
    return aclmdlRIAddCondTask(params, t->first, 0);
}
static aclError begin_branch(Things *t) {
    return aclmdlRICaptureToModelRIBegin(t->inner, t->branch, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
}
static aclError launch_inner(Things *t) { return launch_append(t->inner, t->log, 4); }
static aclError end_branch(Things *t) { return aclmdlRICaptureEnd(t->inner, NULL); }
static aclError end(Things *t) { return aclmdlRICaptureEnd(t->first, &t->ended); }
static aclError replay(Things *t) { return aclmdlRIExecuteAsync(t->ended, t->second); }

static const struct Step {
    const char *api;
    aclError (*call)(Things *things);
} steps[] = {
    {"aclmdlRICaptureThreadExchangeMode", exchange},
    {"aclmdlRICaptureBegin", begin},
    {"aclmdlRICaptureGetInfo", ask},
    {kernel_launch, launch_first},
    {"aclrtMemcpyAsync", copy},
    {"aclrtMemsetAsync", fill},
    {"aclrtRecordEvent", fork_off},
    {"aclrtStreamWaitEvent", follow},
    {kernel_launch, launch_second},
    {"aclrtRecordEvent", come_back},
    {"aclrtStreamWaitEvent", join},
    {"aclmdlRICaptureTaskGrpBegin", begin_group},
    {kernel_launch, launch_grouped},
    {"aclmdlRICaptureTaskGrpEnd", end_group},
    {"aclmdlRICondHandleCreate", make_condition},
    {"aclmdlRIAddCondTask", add_condition},
    {"aclmdlRICaptureToModelRIBegin", begin_branch},
    {kernel_launch, launch_inner},
    {"aclmdlRICaptureEnd", end_branch},
    {"aclmdlRICaptureEnd", end},
    {"aclmdlRIExecuteAsync", replay},
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* ---- before and after ---- */

static void make(Things *t) {
    *t = (Things){.thread_mode = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL};
    t->first = new_stream(0);
    t->second = new_stream(0);
    t->inner = new_stream(0);
    EXPECT(0, aclrtCreateEventExWithFlag(&t->forked, ACL_EVENT_SYNC));
    EXPECT(0, aclrtCreateEventExWithFlag(&t->joined, ACL_EVENT_SYNC));
    EXPECT(0, aclrtMallocHost((void **)&t->pinned, 8));
    *t->pinned = 77;
    t->log = device_zeros(64 * 8);
}

/* What a careful program does after a failure: whatever still captures is ended, and its model destroyed. */
static void stop_capturing(aclrtStream stream) {
    aclmdlRICaptureStatus status;
    aclmdlRI model = NULL;
    EXPECT(0, aclmdlRICaptureGetInfo(stream, &status, NULL));
    if (status != ACL_MODEL_RI_CAPTURE_STATUS_NONE) { (void)aclmdlRICaptureEnd(stream, &model); }
    if (model != NULL) { (void)aclmdlRIDestroy(model); /* a branch goes with the whole */ }
}

static void expect_usable(Things *t) {
    aclrtStream streams[] = {t->first, t->second, t->inner};
    uint64_t value = 0;
    EXPECT(0, aclrtSynchronizeDevice());
    for (int i = 0; i < 3; i++) {
        write_cell(t->log, 0);
        EXPECT(0, launch_append(streams[i], t->log, 9));
        EXPECT(0, aclrtRecordEvent(t->forked, streams[i]));
        EXPECT(0, aclrtStreamWaitEvent(streams[(i + 1) % 3], t->forked));
        EXPECT(0, aclrtSynchronizeStream(streams[(i + 1) % 3]));
        EXPECT(0, aclrtSynchronizeEvent(t->forked));
        expect_log(t->log, 1, (uint64_t[]){9});
    }
    EXPECT(0, aclrtMemcpy(&value, 8, t->log, 8, ACL_MEMCPY_DEVICE_TO_HOST)); /* the thread may copy again */
}

static void end_all(Things *t) {
    aclmdlRICaptureMode global = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    stop_capturing(t->inner);
    stop_capturing(t->first);
    if (t->ended != NULL) { EXPECT(0, aclmdlRIDestroy(t->ended)); }
    EXPECT(0, aclmdlRICaptureThreadExchangeMode(&global));
    expect_usable(t);
    EXPECT(0, aclrtDestroyStream(t->first));
    EXPECT(0, aclrtDestroyStream(t->second));
    EXPECT(0, aclrtDestroyStream(t->inner));
    EXPECT(0, aclrtDestroyEvent(t->forked));
    EXPECT(0, aclrtDestroyEvent(t->joined));
    EXPECT(0, aclrtFreeHost(t->pinned));
    EXPECT(0, aclrtFree(t->log));
}

static void everything_works(void) {
    Things things;
    make(&things);
    for (int i = 0; i < STEPS; i++) { EXPECT(0, steps[i].call(&things)); }
    EXPECT(0, aclrtSynchronizeStream(things.second));
    expect_log(things.log, 4, (uint64_t[]){1, 2, 3, 4});
    CHECK(read_cell(things.log + 40) == 77);
    end_all(&things);
}

/* The model that comes of it, if one does, is whole: it can be executed. */
static void one_call_fails(int failing, bool stop) {
    Things things;
    make(&things);
    for (int i = 0; i < STEPS && !(stop && i > failing); i++) {
        if (i == failing) {
            EXPECT(0, pyaclEmuFailCall(steps[i].api, 1, ODD_CODE));
            EXPECT(ODD_CODE, steps[i].call(&things));
        } else {
            (void)steps[i].call(&things);
        }
    }
    if (things.ended != NULL) {
        EXPECT(0, aclmdlRIExecuteAsync(things.ended, things.second));
        EXPECT(0, aclrtSynchronizeStream(things.second));
    }
    end_all(&things);
}

/* ---- no stream is left ---- */

enum { MOST_STREAMS = 4096 };

static void streams_run_out(void) {
    static aclrtStream all[MOST_STREAMS];
    Things things;
    int count = 0;
    make(&things);
    EXPECT(0, begin(&things));
    EXPECT(0, fork_off(&things));
    while (count < MOST_STREAMS && aclrtCreateStream(&all[count]) == 0) { count++; }
    CHECK(count > 0 && count < MOST_STREAMS);
    aclError code = follow(&things); /* the model needs a stream for it */
    CHECK(code == ACL_ERROR_RT_NO_STREAM_RESOURCE);
    EXPECT(507903, end(&things));
    CHECK(things.ended == NULL);
    EXPECT(0, aclrtCreateStream(&all[count])); /* the one that the capture had */
    EXPECT(ACL_ERROR_RT_NO_STREAM_RESOURCE, begin(&things));
    for (int i = 0; i <= count; i++) { EXPECT(0, aclrtDestroyStream(all[i])); }
    end_all(&things);
}

int main(int argc, char **argv) {
    guard(argc, argv, 120);
    EXPECT(0, pyaclEmuConfigure("A2", 1));
    EXPECT(0, aclInit(NULL));
    EXPECT(0, aclrtSetDevice(0));
    load_kernels();
    pyaclEmuCounters before = counters();
    everything_works();
    expect_no_leak(&before);
    for (int failing = 0; failing < STEPS; failing++) {
        one_call_fails(failing, false);
        expect_no_leak(&before);
        one_call_fails(failing, true);
        expect_no_leak(&before);
    }
    streams_run_out();
    expect_no_leak(&before);
    unload_kernels();
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclFinalize());
    return 0;
}
