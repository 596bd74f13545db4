/* Models: a list under one lock. A stream knows its model; a model finds its streams by asking all. */
#include "engine/model.h"

#include <stdlib.h>

#include "engine/error.h"
#include "engine/handle.h"

static struct {
    pthread_mutex_t lock;
    Model *first;
    uint32_t made;
} models = {.lock = PTHREAD_MUTEX_INITIALIZER};

aclError model_create(Context *context, Model **out, const char *api) {
    Model *model = calloc(1, sizeof(*model));
    void *handle = model == NULL ? NULL : handle_new(KIND_MODEL, model);
    if (handle == NULL) {
        free(model);
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a model");
    }
    model->handle = handle;
    model->context = context;
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

static void unbind(Stream *stream, void *model) {
    if (stream->model == model) { stream->model = NULL; }
}

static void delist(Model *model) {
    pthread_mutex_lock(&models.lock);
    Model **link = &models.first;
    while (*link != model) { link = &(*link)->next; }
    *link = model->next;
    pthread_mutex_unlock(&models.lock);
}

void model_destroy(Model *model) {
    handle_drop(model->handle);
    stream_for_each(unbind, model);
    delist(model);
    free(model);
}

static Model *model_of(Context *context) {
    pthread_mutex_lock(&models.lock);
    Model *model = models.first;
    while (model != NULL && model->context != context) { model = model->next; }
    pthread_mutex_unlock(&models.lock);
    return model;
}

void model_destroy_all(Context *context) {
    for (Model *model; (model = model_of(context)) != NULL;) { model_destroy(model); }
}
