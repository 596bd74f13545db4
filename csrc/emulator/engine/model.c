/* Models: their life, and what is bound to them. Who executes them: execution.c. */
#include "engine/model.h"

#include <stdlib.h>
#include <string.h>

#include "engine/condition.h"
#include "engine/error.h"
#include "engine/execution.h"
#include "engine/external.h"
#include "engine/handle.h"
#include "engine/label.h"
#include "engine/pool.h"
#include "engine/update.h"

enum { MAX_MODELS = 65535 };

static const uint64_t DESTROY_LIMIT_NS = 10 * NS_PER_S;
static const uint64_t STOP_AGAIN_NS = 5 * NS_PER_MS;

static Pool pool = POOL(Model, pool_next);

static struct {
    pthread_mutex_t lock;
    Model *first;
    uint32_t made, count;
} models = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- life ---- */

static bool count_in(void) {
    pthread_mutex_lock(&models.lock);
    bool room = models.count < MAX_MODELS;
    models.count += room;
    pthread_mutex_unlock(&models.lock);
    return room;
}

static void count_out(void) {
    pthread_mutex_lock(&models.lock);
    models.count--;
    pthread_mutex_unlock(&models.lock);
}

static Model *take_memory(void) {
    int fresh;
    Model *model = pool_take(&pool, &fresh);
    if (model == NULL) { return NULL; }
    if (fresh) { pthread_mutex_init(&model->lock, NULL); }
    memset((char *)model + sizeof(model->lock), 0, sizeof(*model) - sizeof(model->lock));
    return model;
}

aclError model_create(Context *context, Model **out, const char *api) {
    if (!count_in()) { return emu_fail(ACL_ERROR_RT_NO_MODEL_RESOURCE, api, "all %d models are in use", MAX_MODELS); }
    Model *model = take_memory();
    void *handle = model == NULL ? NULL : handle_new(KIND_MODEL, model);
    if (handle == NULL) {
        if (model != NULL) { pool_give(&pool, model); }
        count_out();
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a model");
    }
    model->handle = handle;
    model->context = context;
    atomic_store(&model->references, 1);
    pthread_mutex_lock(&models.lock);
    model->id = models.made++;
    model->next = models.first;
    models.first = model;
    pthread_mutex_unlock(&models.lock);
    *out = model;
    return ACL_SUCCESS;
}

aclError model_find(const char *api, aclmdlRI handle, Model **model) {
    *model = handle_get(KIND_MODEL, handle);
    if (*model != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no model, or one that was destroyed", handle);
}

Model *model_retain(Model *model) {
    atomic_fetch_add(&model->references, 1);
    return model;
}

void model_release(Model *model) {
    if (atomic_fetch_sub(&model->references, 1) == 1) { pool_give(&pool, model); }
}

uint64_t model_live_count(void) {
    pthread_mutex_lock(&models.lock);
    uint64_t count = models.count;
    pthread_mutex_unlock(&models.lock);
    return count;
}

static void delist(Model *model) {
    pthread_mutex_lock(&models.lock);
    Model **link = &models.first;
    while (*link != model) { link = &(*link)->next; }
    *link = model->next;
    models.count--;
    pthread_mutex_unlock(&models.lock);
}

/* ---- binding ---- */

void model_bind(Model *model, Stream *stream, bool head) {
    Program *program = stream->program;
    pthread_mutex_lock(&model->lock);
    program->head = head;
    program->next = NULL;
    if (model->last_program == NULL) { model->programs = program; }
    else { model->last_program->next = program; }
    model->last_program = program;
    for (Node *node = program_first(program); node != NULL; node = program_next(node)) {
        node->sequence = atomic_fetch_add(&model->recorded, 1);
    }
    program->model = model;
    atomic_store(&stream->model, model);
    pthread_mutex_unlock(&model->lock);
}

/* Its tasks stay where they are. */
static void let_go(Program *program) {
    Stream *stream = program->stream;
    program->model = NULL;
    program->head = program->sealed = program->ends_model = false;
    atomic_store(&stream->model, NULL);
    atomic_fetch_and(&stream->attention, ~(uint32_t)ATTENTION_QUEUE_OFF);
}

static void take_out(Model *model, Program *program) {
    Program **link = &model->programs, *previous = NULL;
    while (*link != program) {
        previous = *link;
        link = &previous->next;
    }
    *link = program->next;
    if (model->last_program == program) { model->last_program = previous; }
}

static aclError is_running(const Model *model, const char *api) {
    return emu_fail(ACL_ERROR_RT_MODEL_RUNNING, api, "model %u is running", model->id);
}

aclError model_unbind(Model *model, Stream *stream, const char *api) {
    pthread_mutex_lock(&stream->submit);
    pthread_mutex_lock(&model->lock);
    bool rests = model->running == NULL;
    if (rests) {
        if (stream->program->ends_model) { atomic_store(&model->ended, false); }
        take_out(model, stream->program);
        let_go(stream->program);
    }
    pthread_mutex_unlock(&model->lock);
    pthread_mutex_unlock(&stream->submit);
    label_forget(stream->program);
    return rests ? ACL_SUCCESS : is_running(model, api);
}

aclError model_clean(Model *model, Stream *stream, const char *api) {
    Program *program = stream->program;
    pthread_mutex_lock(&stream->submit);
    pthread_mutex_lock(&model->lock);
    bool rests = model->running == NULL;
    if (rests) {
        if (program->ends_model) { atomic_store(&model->ended, false); }
        program->sealed = program->ends_model = false;
        program_clear(program);
    }
    pthread_mutex_unlock(&model->lock);
    pthread_mutex_unlock(&stream->submit);
    label_forget(program);
    return rests ? ACL_SUCCESS : is_running(model, api);
}

void model_seal(Model *model) {
    pthread_mutex_lock(&model->lock);
    for (Program *program = model->programs; program != NULL; program = program->next) { program->sealed = true; }
    pthread_mutex_unlock(&model->lock);
    atomic_store(&model->built, true);
}

/* ---- callbacks ---- */

static DestroyCallback **find_callback(Model *model, aclrtCallback function) {
    DestroyCallback **link = &model->callbacks;
    while (*link != NULL && (*link)->function != function) { link = &(*link)->next; }
    return link;
}

aclError model_add_callback(Model *model, aclrtCallback function, void *user_data, const char *api) {
    DestroyCallback *added = malloc(sizeof(*added));
    if (added == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a callback"); }
    *added = (DestroyCallback){function, user_data, NULL};
    pthread_mutex_lock(&model->lock);
    DestroyCallback **link = find_callback(model, function);
    bool fresh = *link == NULL;
    if (fresh) { *link = added; }
    pthread_mutex_unlock(&model->lock);
    if (fresh) { return ACL_SUCCESS; }
    free(added);
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the function is registered already");
}

aclError model_remove_callback(Model *model, aclrtCallback function, const char *api) {
    pthread_mutex_lock(&model->lock);
    DestroyCallback **link = find_callback(model, function), *found = *link;
    if (found != NULL) { *link = found->next; }
    pthread_mutex_unlock(&model->lock);
    free(found);
    return found != NULL ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the function is not registered");
}

/* They may call the runtime, and find that the model is gone. */
static void call_back(Model *model) {
    while (model->callbacks != NULL) {
        DestroyCallback *callback = model->callbacks;
        model->callbacks = callback->next;
        callback->function(callback->user_data);
        free(callback);
    }
}

/* ---- tasks as handles ---- */

void *model_task_handle(Node *node) {
    Model *model = node->program->model;
    pthread_mutex_lock(&model->lock);
    if (node->handle == NULL) { node->handle = handle_new(KIND_TASK, node); }
    void *handle = node->handle;
    pthread_mutex_unlock(&model->lock);
    return handle;
}

aclError model_find_task(const char *api, aclmdlRITask handle, Node **node) {
    *node = handle_get(KIND_TASK, handle);
    if (*node != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no task of a model, or one that is gone", handle);
}

/* ---- the end ---- */

static bool is_unused(void *model) { return atomic_load(&((Model *)model)->users) == 0; }

static bool is_at_rest(void *subject) {
    Model *model = subject;
    pthread_mutex_lock(&model->lock);
    bool rests = model->running == NULL;
    pthread_mutex_unlock(&model->lock);
    return rests;
}

/* Nothing is executed from here on; what runs is stopped, again and again, since a next kernel may have been begun. */
static void close_down(Model *model) {
    bool rests = false;
    while (!rests) {
        pthread_mutex_lock(&model->lock);
        model->dead = true;
        execution_cancel_waiting(model);
        execution_stop_running(model, ACL_ERROR_RT_MODEL_EXECUTE);
        pthread_mutex_unlock(&model->lock);
        execution_wake_waiters();
        rests = execution_wait(is_at_rest, model, clock_now() + STOP_AGAIN_NS);
    }
}

static void part_with_streams(Model *model) {
    while (model->programs != NULL) {
        Program *program = model->programs;
        model->programs = program->next;
        label_forget(program);
        bool hidden = program->hidden;
        let_go(program);
        if (hidden) { stream_destroy(program->stream, true); }
    }
    model->last_program = NULL;
}

void model_discard(Model *model, bool force) {
    handle_drop(model->handle);
    if (!force) { execution_wait(is_unused, model, FOREVER); }
    close_down(model);
    call_back(model);
    delist(model);
    update_forget(model);
    external_forget(model);
    condition_forget(model);
    part_with_streams(model);
    model_release(model);
}

aclError model_destroy(Model *model, const char *api) {
    if (!execution_wait(is_unused, model, clock_now() + DESTROY_LIMIT_NS)) { return is_running(model, api); }
    model_discard(model, true);
    return ACL_SUCCESS;
}

/* Sub-models go with their parents. */
static Model *model_of(const Context *context) {
    pthread_mutex_lock(&models.lock);
    Model *model = models.first;
    while (model != NULL && (model->context != context || model->parent != NULL)) { model = model->next; }
    pthread_mutex_unlock(&models.lock);
    return model;
}

void model_destroy_all(Context *context, bool force) {
    for (Model *model; (model = model_of(context)) != NULL;) { model_discard(model, force); }
}
