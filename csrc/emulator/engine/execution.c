/* Executions: see execution.h. A pass that ends may end the execution and begin the next one, on whatever thread it was;
 * under a model's lock only the scheduler's locks are taken, and those of events and programs. */
#include "engine/execution.h"

#include <stdlib.h>

#include "engine/condition.h"
#include "engine/error.h"
#include "engine/exception.h"
#include "engine/external.h"
#include "engine/scheduler.h"
#include "engine/update.h"

static const uint64_t STOP_LIMIT_NS = 10 * NS_PER_S;

static Spot host_waiters;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) { spot_init(&host_waiters); }

bool execution_wait(SpotCondition condition, void *subject, uint64_t deadline) {
    pthread_once(&once, prepare);
    return spot_wait(&host_waiters, condition, subject, deadline);
}

void execution_wake_waiters(void) {
    pthread_once(&once, prepare);
    spot_notify(&host_waiters);
}

/* ---- under the model's lock ---- */

/* Every stream of the model drops the task it is at, and ends its pass. */
static void stop_programs(Model *model) {
    for (Program *program = model->programs; program != NULL; program = program->next) {
        stream_drop_queued(program->stream);
    }
}

static void stop(Model *model, Execution *execution, int32_t code) {
    if (!execution->stopping) { execution->code = code; }
    execution->stopping = true;
    stop_programs(model);
}

static void start_pass(Model *model, Execution *execution, Program *program, uint32_t position) {
    execution->passes++;
    if (program_start(program, position)) { return; }
    execution->passes--;
    stop(model, execution, ACL_ERROR_RT_MEMORY_ALLOCATION);
}

/* As the firmware does: the queues of the streams are on while the model runs, and off afterwards. */
static void prepare_program(Program *program) {
    atomic_fetch_and(&program->stream->attention, ~(uint32_t)(ATTENTION_ABORT | ATTENTION_QUEUE_OFF));
    for (const Node *node = program->rearm; node != NULL; node = node->next_rearm) {
        if (node->task->ops->rearm != NULL) { node->task->ops->rearm(node->task); }
    }
}

static void begin(Model *model, Execution *execution) {
    model->running = execution;
    execution->passes = 0;
    execution->code = 0;
    execution->stopping = false;
    atomic_store(&execution->state, EXECUTION_RUNNING);
    update_apply_pending(model);
    for (Program *program = model->programs; program != NULL; program = program->next) { prepare_program(program); }
    condition_reset(model);
    external_arm(execution);
    for (Program *program = model->programs; program != NULL; program = program->next) {
        if (program->head) { start_pass(model, execution, program, 0); }
    }
}

static void rest_program(Program *program) {
    atomic_fetch_and(&program->stream->attention, ~(uint32_t)ATTENTION_ABORT);
    if (!program->hidden) { stream_attend(program->stream, ATTENTION_QUEUE_OFF, true); }
}

/* With its new state the execution belongs to those who wait for it. */
static void set_over(Execution *execution) {
    Stream *stream = execution->stream;
    bool abandoned = execution->abandoned;
    atomic_store(&execution->state, EXECUTION_OVER);
    if (stream != NULL) { stream_unpark(stream); }
    if (abandoned) { free(execution); }
}

static void finish(Model *model, Execution *execution) {
    model->running = NULL;
    for (Program *program = model->programs; program != NULL; program = program->next) { rest_program(program); }
    external_finish(execution);
    if (execution->stream == NULL) { atomic_fetch_sub(&model->users, 1); }
    set_over(execution);
}

/* Begins what waits, until something takes its time. */
static void advance(Model *model) {
    while (model->running == NULL && model->first_waiting != NULL) {
        Execution *next = model->first_waiting;
        model->first_waiting = next->next;
        if (model->first_waiting == NULL) { model->last_waiting = NULL; }
        begin(model, next);
        if (next->passes == 0) { finish(model, next); }
    }
}

static void take_out(Model *model, Execution *execution) {
    Execution **link = &model->first_waiting, *previous = NULL;
    while (*link != execution) {
        previous = *link;
        link = &previous->next;
    }
    *link = execution->next;
    if (model->last_waiting == execution) { model->last_waiting = previous; }
}

void execution_cancel_waiting(Model *model) {
    while (model->first_waiting != NULL) {
        Execution *execution = model->first_waiting;
        take_out(model, execution);
        execution->code = ACL_ERROR_RT_MODEL_EXECUTE;
        if (execution->stream == NULL) { atomic_fetch_sub(&model->users, 1); }
        set_over(execution);
    }
}

void execution_stop_running(Model *model, int32_t code) {
    if (model->running != NULL) { stop(model, model->running, code); }
}

/* ---- from programs ---- */

void model_pass_ended(Model *model) {
    pthread_mutex_lock(&model->lock);
    Execution *execution = model->running;
    bool over = --execution->passes == 0;
    if (over) {
        finish(model, execution);
        advance(model);
    }
    pthread_mutex_unlock(&model->lock);
    if (over) { execution_wake_waiters(); }
}

/* Only an abort of the whole device drops tasks of an execution that nobody stopped. */
void model_pass_dropped(Model *model) {
    pthread_mutex_lock(&model->lock);
    Execution *execution = model->running;
    if (!execution->stopping) { execution->code = ACL_ERROR_RT_DEVICE_TASK_ABORT; }
    execution->stopping = true;
    pthread_mutex_unlock(&model->lock);
}

/* The first failure stops the model. */
void model_task_failed(Model *model, int32_t code) {
    pthread_mutex_lock(&model->lock);
    Execution *execution = model->running;
    if (!stream_is_business_code(code)) {
        if (!execution->stopping) { stop(model, execution, code); }
    } else if (execution->code == 0) {
        execution->code = code;
    }
    pthread_mutex_unlock(&model->lock);
}

bool execution_start_pass(Stream *stream, Stream *target, uint32_t position) {
    Model *model = atomic_load(&stream->model);
    pthread_mutex_lock(&model->lock);
    bool known = target != NULL && atomic_load(&target->model) == model;
    if (known && !model->running->stopping) { start_pass(model, model->running, target->program, position); }
    pthread_mutex_unlock(&model->lock);
    return known;
}

/* ---- beginning and stopping ---- */

void execution_begin(Execution *execution, Model *model, Stream *stream) {
    execution->model = model;
    execution->stream = stream;
    execution->next = NULL;
    pthread_mutex_lock(&model->lock);
    bool alive = !model->dead;
    bool bound = alive && (execution->records != NULL || model->externals == NULL || external_bind(execution));
    if (!bound) {
        execution->code = alive ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_ERROR_RT_MODEL_EXECUTE;
        if (stream == NULL) { atomic_fetch_sub(&model->users, 1); }
        set_over(execution);
    } else {
        atomic_store(&execution->state, EXECUTION_WAITING);
        if (model->last_waiting == NULL) { model->first_waiting = execution; }
        else { model->last_waiting->next = execution; }
        model->last_waiting = execution;
        advance(model);
    }
    pthread_mutex_unlock(&model->lock);
}

bool execution_stop(Execution *execution) {
    Model *model = execution->model;
    pthread_mutex_lock(&model->lock);
    int state = atomic_load(&execution->state);
    if (state == EXECUTION_RUNNING) { stop(model, execution, ACL_ERROR_RT_STREAM_ABORT); }
    if (state == EXECUTION_WAITING) {
        take_out(model, execution);
        atomic_store(&execution->state, EXECUTION_NEW);
    }
    pthread_mutex_unlock(&model->lock);
    return state != EXECUTION_RUNNING;
}

/* ---- as a task ---- */

_Static_assert(sizeof(Execution) <= TASK_INLINE_ARGS, "an execution fits where other tasks have arguments");

/* A model that executes itself would wait for itself. */
static int32_t run_execute(Stream *stream, Task *task) {
    Execution *execution = task->as.execute.execution;
    Model *model = task->as.execute.model;
    if (atomic_load(&execution->state) == EXECUTION_NEW) {
        if (atomic_load(&stream->model) == model) { return ACL_ERROR_RT_MODEL_EXECUTE; }
        execution_begin(execution, model, stream);
    }
    if (!execution_is_over(execution)) { return TASK_PARKED; }
    atomic_store(&execution->state, EXECUTION_NEW);
    return execution->code;
}

static bool drop_execute(Stream *stream, Task *task, DropReason reason) {
    (void)stream;
    (void)reason;
    Execution *execution = task->as.execute.execution;
    if (!execution_stop(execution)) { return false; }
    atomic_store(&execution->state, EXECUTION_NEW);
    return true;
}

static void put_user(Model *model) {
    atomic_fetch_sub(&model->users, 1);
    execution_wake_waiters();
}

static void release_execute(Task *task) {
    Model *model = task->as.execute.model;
    external_finish(task->as.execute.execution); /* it may never have begun */
    put_user(model);
    model_release(model);
}

/* Kept by a PERSISTENT stream: it is no reason to keep the model alive. */
static void release_kept_execute(Task *task) {
    external_finish(task->as.execute.execution);
    model_release(task->as.execute.model);
}

static const TaskOps execute_ops = {
    .name = "model", .run = run_execute, .drop = drop_execute, .release = release_execute, .relays = true};
static const TaskOps kept_execute_ops = {
    .name = "model", .run = run_execute, .drop = drop_execute, .release = release_kept_execute, .relays = true};

/* The records are bound under the lock as well: what a dead model held may be gone. */
static aclError take_part(Model *model, Execution *execution, const char *api) {
    execution->model = model;
    pthread_mutex_lock(&model->lock);
    bool alive = !model->dead;
    bool bound = alive && (model->externals == NULL || external_bind(execution));
    if (bound) { atomic_fetch_add(&model->users, 1); }
    pthread_mutex_unlock(&model->lock);
    if (!alive) { return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "the model was destroyed"); }
    return bound ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for records");
}

aclError execution_submit(Model *model, Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &execute_ops, &task));
    Execution *execution = (Execution *)task->inline_args;
    *execution = (Execution){.model = model};
    bool kept = stream->recording != NULL;
    if (kept) { task->ops = &kept_execute_ops; }
    aclError code = kept ? ACL_SUCCESS : take_part(model, execution, api);
    if (code != ACL_SUCCESS) {
        stream_cancel(stream, task);
        return code;
    }
    task->as.execute = (ExecuteTask){model_retain(model), execution};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- from the host ---- */

static bool is_over(void *execution) { return execution_is_over(execution); }

/* False: it does not end, and is left to itself. */
static bool end_late(Execution *execution, Model *model) {
    if (execution_stop(execution)) {
        if (execution_is_over(execution)) { return true; }
        put_user(model); /* it had not begun */
        return true;
    }
    if (execution_wait(is_over, execution, clock_now() + STOP_LIMIT_NS)) { return true; }
    pthread_mutex_lock(&model->lock);
    bool over = execution_is_over(execution);
    execution->abandoned = !over;
    pthread_mutex_unlock(&model->lock);
    return over;
}

static aclError report(Model *model, int32_t code, const char *api) {
    if (code == 0) { return ACL_SUCCESS; }
    Context *context = model->context;
    if (!stream_is_business_code(code) && atomic_load(&context->stop_mode)) { context_fail(context, code); }
    exception_settle();
    return emu_fail(code, api, "model %u ended with this", model->id);
}

aclError execution_run(Model *model, uint64_t timeout_ns, const char *api) {
    Execution *execution = calloc(1, sizeof(*execution));
    if (execution == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for an execution"); }
    aclError code = take_part(model, execution, api);
    if (code != ACL_SUCCESS) {
        free(execution);
        return code;
    }
    execution_begin(execution, model, NULL);
    uint64_t deadline = timeout_ns == 0 ? FOREVER : clock_now() + timeout_ns;
    if (!execution_wait(is_over, execution, deadline)) {
        if (end_late(execution, model)) { free(execution); }
        return emu_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, api, "model %u is not done after %llu ms", model->id,
                        (unsigned long long)(timeout_ns / NS_PER_MS));
    }
    code = execution->code;
    free(execution);
    return report(model, code, api);
}

typedef struct AbortWait {
    Model *model;
    const Execution *execution;
} AbortWait;

static bool is_aborted(void *subject) {
    const AbortWait *wait = subject;
    pthread_mutex_lock(&wait->model->lock);
    bool over = wait->model->running != wait->execution;
    pthread_mutex_unlock(&wait->model->lock);
    return over;
}

aclError execution_abort(Model *model, const char *api) {
    pthread_mutex_lock(&model->lock);
    AbortWait wait = {model, model->running};
    execution_stop_running(model, ACL_ERROR_RT_MODEL_ABORT_NORMAL);
    pthread_mutex_unlock(&model->lock);
    bool over = wait.execution == NULL || execution_wait(is_aborted, &wait, clock_now() + STOP_LIMIT_NS);
    if (over) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_WAIT_TIMEOUT, api, "a running task of model %u does not end", model->id);
}
