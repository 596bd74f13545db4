/* Executions of models: the heads among its programs start, others when a task starts them, and it is over when no pass
 * is on any more. Executions of one model never overlap: they wait in the order in which the device came to them. */
#ifndef EMU_EXECUTION_H
#define EMU_EXECUTION_H

#include "engine/event.h"
#include "engine/model.h"

typedef enum ExecutionState { EXECUTION_NEW, EXECUTION_WAITING, EXECUTION_RUNNING, EXECUTION_OVER } ExecutionState;

/* Of an external event: what one execution records, or waits for. */
typedef struct BoundRecord {
    Record *record; /* NULL: nothing to wait for */
    bool is_own;
} BoundRecord;

typedef struct Execution {
    Model *model;
    Stream *stream;      /* is parked until it is over; NULL: a host thread waits */
    _Atomic(int) state;  /* written under the model's lock */
    uint32_t passes;     /* through its programs: on, or to come */
    int32_t code;        /* the first failure; if there is none, the first outcome of another kind */
    bool stopping;       /* its streams drop what is left */
    bool abandoned;      /* nobody waits any more: it frees itself */
    uint32_t record_count;
    BoundRecord *records; /* of its external events, bound when it was submitted; NULL without any */
    struct Execution *next;
} Execution;

/* A task that executes the model. */
aclError execution_submit(Model *model, Stream *stream, const char *api);
/* Executes and waits. timeout_ns 0 = for ever; else the execution is stopped, and 507046. */
aclError execution_run(Model *model, uint64_t timeout_ns, const char *api);
/* Stops what runs: it ends with 507023. 107019 when it does not end. */
aclError execution_abort(Model *model, const char *api);

/* For tasks that execute another model inside their own: begin, and look whether it is over. */
void execution_begin(Execution *execution, Model *model, Stream *stream);
static inline bool execution_is_over(Execution *execution) { return atomic_load(&execution->state) == EXECUTION_OVER; }
/* True once nothing of it runs or waits; else its stream is unparked when that is so. */
bool execution_stop(Execution *execution);

/* Starts a pass through a program of the model that `stream` belongs to. False when `target` does not belong to it. */
bool execution_start_pass(Stream *stream, Stream *target, uint32_t position);

/* All under the model's lock: nothing of it runs. */
void execution_cancel_waiting(Model *model);
void execution_stop_running(Model *model, int32_t code);

/* Host threads that wait for what executions leave behind look at `condition` again after each. */
bool execution_wait(SpotCondition condition, void *subject, uint64_t deadline);
void execution_wake_waiters(void);

/* From programs. */
void model_pass_ended(Model *model);
void model_pass_dropped(Model *model);
void model_task_failed(Model *model, int32_t code);

#endif
