/* Model running instances: programs that are executed together. A model is either built (streams are bound to it, their
 * tasks recorded) or captured (capture.h), or the branch of a condition in a captured one (condition.h).
 * Under the model's lock is what its life and its executions (execution.h) share. */
#ifndef EMU_MODEL_H
#define EMU_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"
#include "engine/context.h"
#include "engine/program.h"
#include "engine/stream.h"

enum { MODEL_NAME_BYTES = 256 };

typedef struct DestroyCallback {
    aclrtCallback function;
    void *user_data;
    struct DestroyCallback *next;
} DestroyCallback;

typedef struct Model {
    pthread_mutex_t lock; /* survives the model: the memory is used again */
    void *handle;
    Context *context;
    uint32_t id;
    char name[MODEL_NAME_BYTES];
    bool captured;                  /* made by a capture */
    struct Model *parent;           /* whose condition it is a branch of, or NULL */
    _Atomic(bool) being_captured;
    _Atomic(bool) ended, built;     /* aclmdlRIEndTask and aclmdlRIBuildEnd were called */
    _Atomic(uint32_t) recorded;     /* tasks so far: they are numbered through */
    _Atomic(uint32_t) references;   /* the handle, and tasks that will need it */

    /* Under `lock`. */
    bool dead;                      /* destroyed: nothing is executed any more */
    Program *programs, *last_program;
    struct Execution *running, *first_waiting, *last_waiting;
    _Atomic(uint32_t) users;        /* executions that are submitted and not over */
    struct Update *pending, *last_pending; /* updates that the running execution is not to see */
    struct Condition *conditions;
    struct Branch *branches;
    struct TaskGroup *groups;
    struct External *externals, *last_external; /* events that other models wait for, or record */
    uint32_t external_count;
    DestroyCallback *callbacks;

    struct Model *next; /* in the list of all */
    struct Model *pool_next;
} Model;

aclError model_create(Context *context, Model **model, const char *api);
aclError model_find(const char *api, aclmdlRI handle, Model **model);
/* Waits up to ten seconds for its executions, else 107037; then calls back, lets go of its streams, and ends. */
aclError model_destroy(Model *model, const char *api);
/* Ends it whatever runs. `force`: executions are stopped; else waited for. */
void model_discard(Model *model, bool force);
void model_destroy_all(Context *context, bool force);

Model *model_retain(Model *model);
void model_release(Model *model);

/* Its program becomes part of the model. */
void model_bind(Model *model, Stream *stream, bool head);
/* 107037 while the model runs. */
aclError model_unbind(Model *model, Stream *stream, const char *api);
/* The tasks are forgotten, the binding stays. 107037 while the model runs. */
aclError model_clean(Model *model, Stream *stream, const char *api);
/* No more tasks on the streams bound so far. */
void model_seal(Model *model);

/* 107000: the same function again, or one that is not there. */
aclError model_add_callback(Model *model, aclrtCallback function, void *user_data, const char *api);
aclError model_remove_callback(Model *model, aclrtCallback function, const char *api);

/* An aclmdlRITask for a recorded task, and back. */
void *model_task_handle(Node *node);
aclError model_find_task(const char *api, aclmdlRITask handle, Node **node);

uint64_t model_live_count(void);

#endif
