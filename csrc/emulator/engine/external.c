/* External events of captured models: see external.h. A record that an execution was stopped before, or passed by, is
 * over all the same: a host thread that waits for it would wait for ever. */
#include "engine/external.h"

#include <stdlib.h>

bool external_add(Model *model, Node *node, bool is_record) {
    External *external = malloc(sizeof(*external));
    if (external == NULL) { return false; }
    *external = (External){node, is_record, NULL};
    pthread_mutex_lock(&model->lock);
    if (model->last_external == NULL) { model->externals = external; }
    else { model->last_external->next = external; }
    model->last_external = external;
    model->external_count++;
    pthread_mutex_unlock(&model->lock);
    return true;
}

void external_forget(Model *model) {
    for (External *external = model->externals; external != NULL;) {
        External *next = external->next;
        free(external);
        external = next;
    }
    model->externals = model->last_external = NULL;
    model->external_count = 0;
}

/* In the order of the capture: a wait behind a record of the same model is for that record. */
bool external_bind(Execution *execution) {
    Model *model = execution->model;
    BoundRecord *bound = calloc(model->external_count, sizeof(*bound));
    if (bound == NULL) { return false; }
    uint32_t count = 0;
    for (const External *external = model->externals; external != NULL; external = external->next) {
        Event *event = external->node->task->as.event.event;
        Record *record = external->is_record ? event_new_record(event) : event_newest(event);
        bound[count++] = (BoundRecord){record, external->is_record};
    }
    execution->records = bound;
    execution->record_count = count;
    return true;
}

void external_arm(Execution *execution) {
    const BoundRecord *bound = execution->records;
    for (const External *external = execution->model->externals; external != NULL; external = external->next, bound++) {
        EventTask *task = &external->node->task->as.event;
        record_release(task->record);
        task->record = bound->record == NULL ? NULL : record_retain(bound->record);
    }
}

/* As with streams: after an abort it never happens for those who wait on the device, after a failure it does. */
static RecordState final_state(const Execution *execution) {
    bool aborted = execution->code == ACL_ERROR_RT_STREAM_ABORT || execution->code == ACL_ERROR_RT_MODEL_ABORT_NORMAL ||
                   execution->code == ACL_ERROR_RT_DEVICE_TASK_ABORT;
    return execution->stopping && aborted ? RECORD_DROPPED : RECORD_DONE;
}

void external_finish(Execution *execution) {
    for (uint32_t i = 0; i < execution->record_count; i++) {
        BoundRecord *bound = &execution->records[i];
        if (bound->is_own && bound->record != NULL && !record_is_over(bound->record)) {
            record_finish(bound->record, final_state(execution));
        }
        record_release(bound->record);
    }
    free(execution->records);
    execution->records = NULL;
    execution->record_count = 0;
}
