/* Conditions in captured models: a cell of device memory that tasks write, and tasks that look at it and execute one of
 * their sub-models, again and again in the case of WHILE. A sub-model is captured like a model, and is executed like one,
 * by the task alone. */
#ifndef EMU_CONDITION_H
#define EMU_CONDITION_H

#include "engine/execution.h"

typedef struct Condition {
    void *handle;
    Model *model; /* it was made for */
    uint64_t *cell;
    uint64_t initial;
    bool assign;  /* the cell starts each execution of the model with `initial` */
    bool used;    /* by a task */
    struct Condition *next;
} Condition;

/* What a condition task chooses from. */
typedef struct Branch {
    Condition *condition;
    aclmdlRICondTaskType type;
    uint32_t count;
    Model **models;
    bool running;        /* `execution` is on */
    Execution execution; /* of the chosen one */
    struct Branch *next; /* in its model */
} Branch;

aclError condition_create(Model *model, uint64_t initial, bool assign, Condition **condition, const char *api);
aclError condition_find(const char *api, aclmdlRICondHandle handle, Condition **condition);
/* Submits the task; writes the handles of `count` new sub-models. */
aclError condition_add_task(Stream *stream, Condition *condition, aclmdlRICondTaskType type, uint32_t count,
                            aclmdlRI *models, const char *api);

/* What a condition task chooses from; NULL for other tasks. */
const Branch *condition_branch(const Task *task);

/* Under the model's lock: an execution begins. */
void condition_reset(Model *model);
void condition_forget(Model *model);

#endif
