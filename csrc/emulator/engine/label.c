/* Labels: see label.h. */
#include "engine/label.h"

#include <stdlib.h>

#include "engine/error.h"
#include "engine/execution.h"
#include "engine/handle.h"
#include "soc/soc.h"

static struct {
    pthread_mutex_t lock;
    Label *first;
    uint32_t count;
} labels = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- labels ---- */

static bool enlist(Label *label) {
    pthread_mutex_lock(&labels.lock);
    bool room = labels.count < soc_product()->labels;
    if (room) {
        labels.count++;
        label->next = labels.first;
        labels.first = label;
    }
    pthread_mutex_unlock(&labels.lock);
    return room;
}

aclError label_create(Context *context, Label **out, const char *api) {
    Label *label = calloc(1, sizeof(*label));
    void *handle = label == NULL ? NULL : handle_new(KIND_LABEL, label);
    if (handle == NULL) {
        free(label);
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a label");
    }
    *label = (Label){.handle = handle, .references = 1, .context = context};
    if (enlist(label)) {
        *out = label;
        return ACL_SUCCESS;
    }
    handle_drop(handle);
    free(label);
    return emu_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, api, "all %u labels are in use", soc_product()->labels);
}

aclError label_find(const char *api, aclrtLabel handle, Label **label) {
    *label = handle_get(KIND_LABEL, handle);
    if (*label != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no label, or one that was destroyed", handle);
}

static void release_label(Label *label) {
    if (atomic_fetch_sub(&label->references, 1) != 1) { return; }
    pthread_mutex_lock(&labels.lock);
    Label **link = &labels.first;
    while (*link != label) { link = &(*link)->next; }
    *link = label->next;
    labels.count--;
    pthread_mutex_unlock(&labels.lock);
    free(label);
}

void label_destroy(Label *label) {
    handle_drop(label->handle);
    release_label(label);
}

void label_forget(const Program *program) {
    pthread_mutex_lock(&labels.lock);
    for (Label *label = labels.first; label != NULL; label = label->next) {
        if (label->program == program) { label->program = NULL; }
    }
    pthread_mutex_unlock(&labels.lock);
}

/* ---- lists ---- */

static void release_list(LabelList *list) {
    if (atomic_fetch_sub(&list->references, 1) != 1) { return; }
    for (uint32_t i = 0; i < list->count; i++) { release_label(list->labels[i]); }
    free(list);
}

aclError label_list_create(Label **members, uint32_t count, LabelList **out, const char *api) {
    LabelList *list = calloc(1, sizeof(*list) + count * sizeof(list->labels[0]));
    void *handle = list == NULL ? NULL : handle_new(KIND_LABEL_LIST, list);
    if (handle == NULL) {
        free(list);
        return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a list of %u labels", count);
    }
    list->handle = handle;
    list->count = count;
    atomic_store(&list->references, 1);
    pthread_mutex_lock(&labels.lock);
    for (uint32_t i = 0; i < count; i++) {
        list->labels[i] = members[i];
        members[i]->listed = true;
        atomic_fetch_add(&members[i]->references, 1);
    }
    pthread_mutex_unlock(&labels.lock);
    *out = list;
    return ACL_SUCCESS;
}

aclError label_list_find(const char *api, aclrtLabelList handle, LabelList **list) {
    *list = handle_get(KIND_LABEL_LIST, handle);
    if (*list != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no label list, or one that was destroyed", handle);
}

void label_list_destroy(LabelList *list) {
    handle_drop(list->handle);
    release_list(list);
}

/* ---- tasks ---- */

static int32_t run_label(Stream *stream, Task *task) {
    (void)stream;
    (void)task;
    return 0;
}

static const TaskOps label_ops = {.name = "label", .run = run_label};

aclError label_set(Label *label, Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &label_ops, &task));
    pthread_mutex_lock(&labels.lock);
    bool may = label->listed && label->program == NULL;
    if (may) {
        label->program = stream->program;
        label->position = program_count(stream->program);
    }
    pthread_mutex_unlock(&labels.lock);
    if (may) { stream_commit(stream, task); }
    else { stream_cancel(stream, task); }
    return may ? ACL_SUCCESS : emu_fail(ACL_ERROR_RT_INTERNAL_ERROR, api, "the label is in no list, or set already");
}

/* Where the label is, as long as that is a stream of this model. */
static Stream *find_place(const Label *label, uint32_t *position) {
    pthread_mutex_lock(&labels.lock);
    Stream *stream = label->program == NULL ? NULL : label->program->stream;
    *position = label->position;
    pthread_mutex_unlock(&labels.lock);
    return stream;
}

static int32_t run_switch(Stream *stream, Task *task) {
    const LabelTask *choice = &task->as.label;
    uint32_t limit = choice->limit < choice->list->count ? choice->limit : choice->list->count, position;
    uint32_t index = __atomic_load_n(choice->index, __ATOMIC_RELAXED);
    Stream *target = find_place(choice->list->labels[index < limit ? index : limit - 1], &position);
    if (target == stream) {
        program_jump(stream, position);
        return 0;
    }
    program_stop(stream);
    return execution_start_pass(stream, target, position) ? 0 : ACL_ERROR_RT_MODEL_EXECUTE;
}

static void release_switch(Task *task) { release_list(task->as.label.list); }

static const TaskOps switch_ops = {.name = "label switch", .run = run_switch, .release = release_switch};

aclError label_switch(Stream *stream, const uint32_t *index, uint32_t limit, LabelList *list, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &switch_ops, &task));
    atomic_fetch_add(&list->references, 1);
    task->as.label = (LabelTask){index, list, limit};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
