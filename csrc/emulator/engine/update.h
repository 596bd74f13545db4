/* New parameters for recorded tasks: of the tasks of a group (aclmdlRICaptureTaskUpdateBegin: what is launched on a
 * stream then replaces them, in the order of that stream), or of single tasks (aclmdlRITaskSetParams, aclmdlRIUpdate).
 * They are put in force between two executions. One that runs sees them only behind a wait for an EXTERNAL event. */
#ifndef EMU_UPDATE_H
#define EMU_UPDATE_H

#include "engine/config.h"
#include "engine/model.h"

/* Tasks of a captured stream, one behind the other. */
typedef struct TaskGroup {
    void *handle;
    Model *model;
    Program *program;
    uint32_t first, count;
    bool in_update; /* under the model's lock */
    struct TaskGroup *next;
} TaskGroup;

/* Lives as long as the model. NULL without memory. */
TaskGroup *group_new(Model *model, Program *program, uint32_t first, uint32_t count);
aclError group_find(const char *api, aclrtTaskGrp handle, TaskGroup **group);

/* From here on the stream collects tasks instead of running them. 107033 when the group, or the stream, is at it. */
aclError update_begin(Stream *stream, TaskGroup *group, const char *api);
/* Submits the update. 107033 when none was begun; 507000 when the tasks are not those of the group. */
aclError update_end(Stream *stream, const char *api);
bool update_is_open(Stream *stream);

/* For one task: from update_model on it is `task` (which becomes the model's, with `config`), or nothing. */
void update_stage(Node *node, Task *task, LaunchConfig *config);
void update_stage_disabled(Node *node);
aclError update_model(Model *model, const char *api);

/* Under the model's lock, before any task of a new execution runs. */
void update_apply_pending(Model *model);
/* From a task that runs: what has been updated meanwhile is to be seen. */
void update_catch_up(Model *model);
void update_forget(Model *model);

#endif
