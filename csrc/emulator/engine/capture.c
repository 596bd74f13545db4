/* Captures: see capture.h. Whether a stream captures changes under its `submit` and under the lock here, in this order:
 * either is enough to read it. */
#include "engine/capture.h"

#include <stdlib.h>
#include <string.h>

#include "engine/error.h"
#include "engine/external.h"
#include "engine/handle.h"
#include "engine/thread.h"
#include "engine/update.h"

typedef struct Capture Capture;

/* A stream that is recorded. */
typedef struct Member {
    Capture *capture;
    Stream *stream;
    Recording *before; /* what it recorded into without the capture */
    Program *program;
    bool in_group;
    uint32_t group_start;
    struct Member *next;
} Member;

/* An event's record in the capture. */
typedef struct Captured {
    Capture *capture;
    Event *event;
    const Node *node;
    Record *record;
    struct Captured *next;
} Captured;

struct Capture {
    Model *model;
    aclmdlRICaptureMode mode;
    uint32_t thread; /* that began it */
    bool invalid, ending;
    Member *origin, *last; /* of its members */
    Captured *events;
    Capture *next;
};

static struct {
    pthread_mutex_t lock;
    Capture *first;
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void) { pthread_mutex_lock(&captures.lock); }
static void unlock(void) { pthread_mutex_unlock(&captures.lock); }

/* ---- members ---- */

static Recording *own_recording(const Stream *stream) {
    return stream->program == NULL ? NULL : &stream->program->recording;
}

static aclError no_memory(const char *api) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for a capture"); }

/* Under both locks. */
static aclError enter(Capture *capture, Stream *stream, const char *api) {
    if (stream->recording != own_recording(stream)) {
        return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, api, "stream %d is in an update, or ends", stream->id);
    }
    Member *member = malloc(sizeof(*member));
    if (member == NULL) { return no_memory(api); }
    Stream *hidden;
    aclError code = stream_create_hidden(stream->context, stream->priority, ACL_STREAM_PERSISTENT, &hidden, api);
    if (code != ACL_SUCCESS) {
        free(member);
        return code;
    }
    hidden->program->hidden = true;
    model_bind(capture->model, hidden, true);
    *member = (Member){.capture = capture, .stream = stream, .before = stream->recording, .program = hidden->program};
    if (capture->origin == NULL) { capture->origin = member; }
    else { capture->last->next = member; }
    capture->last = member;
    stream->recording = &hidden->program->recording;
    atomic_fetch_add(&stream->context->capturing, 1);
    atomic_store(&stream->capture, member);
    return ACL_SUCCESS;
}

/* Under both locks. */
static void detach(Stream *stream) {
    stream->cache_op_info = 0;
    atomic_fetch_sub(&stream->context->capturing, 1);
    atomic_store(&stream->capture, NULL);
}

/* A stream that has ended meanwhile is no member any more. */
static void leave(Member *member) {
    Stream *stream = member->stream;
    pthread_mutex_lock(&stream->submit);
    lock();
    if (atomic_load(&stream->capture) == member) {
        stream->recording = member->before;
        detach(stream);
    }
    unlock();
    pthread_mutex_unlock(&stream->submit);
}

void capture_abandon(Stream *stream) {
    lock();
    Member *member = atomic_load(&stream->capture);
    if (member != NULL) {
        member->capture->invalid = true;
        detach(stream);
    }
    unlock();
}

/* ---- beginning ---- */

aclError capture_begin(Stream *stream, Model *model, aclmdlRICaptureMode mode, const char *api) {
    Capture *capture = calloc(1, sizeof(*capture));
    if (capture == NULL) { return no_memory(api); }
    *capture = (Capture){.model = model, .mode = mode, .thread = emu_thread_id()};
    pthread_mutex_lock(&stream->submit);
    lock();
    aclError code = capture_has_stream(stream)
                        ? emu_fail(ACL_ERROR_RT_STREAM_CAPTURED, api, "stream %d captures already", stream->id)
                        : enter(capture, stream, api);
    if (code == ACL_SUCCESS) {
        atomic_store(&model->being_captured, true);
        capture->next = captures.first;
        captures.first = capture;
    }
    unlock();
    pthread_mutex_unlock(&stream->submit);
    if (code != ACL_SUCCESS) { free(capture); }
    return code;
}

/* ---- asking ---- */

Model *capture_model(Stream *stream, bool *invalid) {
    lock();
    const Member *member = atomic_load(&stream->capture);
    Model *model = member == NULL ? NULL : member->capture->model;
    *invalid = member != NULL && member->capture->invalid;
    unlock();
    return model;
}

bool capture_is_origin(Stream *stream) {
    lock();
    const Member *member = atomic_load(&stream->capture);
    bool is_origin = member != NULL && member->capture->origin == member;
    unlock();
    return is_origin;
}

/* GLOBAL threads must not disturb a GLOBAL capture of anybody, nor their own; THREAD_LOCAL ones only their own. */
static bool forbids(const Capture *capture, const Context *context, int32_t thread_mode) {
    bool own = capture->thread == emu_thread_id();
    if (capture->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
        return own || (thread_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && capture->model->context == context);
    }
    return own && capture->mode == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
}

bool capture_forbids(Context *context) {
    int32_t mode = emu_thread.capture_mode;
    if (context == NULL || atomic_load(&context->capturing) == 0) { return false; }
    if (mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) { return false; }
    lock();
    const Capture *capture = captures.first;
    while (capture != NULL && !forbids(capture, context, mode)) { capture = capture->next; }
    unlock();
    return capture != NULL;
}

/* ---- events ---- */

/* Something of the capture could not be recorded: its end will say so. */
static void invalidate(Stream *stream) {
    lock();
    const Member *member = atomic_load(&stream->capture);
    if (member != NULL) { member->capture->invalid = true; }
    unlock();
}

/* Under both locks. The task is the one that has begun on the member's stream. */
static void add_record(Member *member, Event *event, Record *record, Captured *captured) {
    Capture *capture = member->capture;
    *captured = (Captured){.capture = capture, .event = event_retain(event), .node = program_open_node(member->program),
                           .record = record_retain(record), .next = capture->events};
    capture->events = captured;
    atomic_store(&event->captured, captured);
}

static aclError record_into(Event *event, Stream *stream, Record *record, Captured *captured, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &event_captured_record_ops, &task));
    Member *member = atomic_load(&stream->capture);
    if (member == NULL) {
        stream_cancel(stream, task);
        return emu_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, api, "the capture of stream %d has just ended", stream->id);
    }
    lock();
    add_record(member, event, record, captured);
    unlock();
    task->as.event = (EventTask){.event = event_retain(event), .record = record};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError capture_record(Event *event, Stream *stream, const char *api) {
    Captured *captured = malloc(sizeof(*captured));
    Record *record = record_new(RECORD_PENDING);
    aclError code = captured == NULL || record == NULL ? no_memory(api) : record_into(event, stream, record, captured, api);
    if (code == ACL_SUCCESS) { return ACL_SUCCESS; }
    free(captured);
    record_release(record);
    invalidate(stream);
    return code;
}

void capture_forget_event(Event *event) {
    lock();
    atomic_store(&event->captured, NULL);
    unlock();
}

static aclError check_joining(const Capture *capture, const Stream *stream, const char *api) {
    if (stream->is_default) {
        return emu_fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, api, "the default stream cannot join a capture");
    }
    if ((stream->flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) != 0) {
        return emu_fail(ACL_ERROR_RT_INTERNAL_ERROR, api, "a stream with flags 0x%x cannot join a capture", stream->flags);
    }
    if (stream->context == capture->model->context) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_CONTEXT, api, "the capture is one of another context than stream %d", stream->id);
}

/* Under both locks. */
static aclError join(Capture *capture, Stream *stream, const char *api) {
    TRY(check_joining(capture, stream, api));
    aclError code = enter(capture, stream, api);
    if (code != ACL_SUCCESS) { capture->invalid = true; }
    return code;
}

static aclError join_by(Event *event, Stream *stream, const char *api) {
    pthread_mutex_lock(&stream->submit);
    lock();
    const Captured *captured = atomic_load(&event->captured);
    bool joins = captured != NULL && !captured->capture->ending && !capture_has_stream(stream);
    aclError code = joins ? join(captured->capture, stream, api) : ACL_SUCCESS;
    unlock();
    pthread_mutex_unlock(&stream->submit);
    return code;
}

/* Under both locks: what the stream waits for is in the same capture. */
static aclError check_dependency(const Member *member, const Captured *captured, const char *api) {
    if (captured == NULL) {
        return emu_fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY, api, "the event was recorded outside of the capture");
    }
    if (captured->capture == member->capture) { return ACL_SUCCESS; }
    captured->capture->invalid = member->capture->invalid = true;
    return emu_fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT, api, "the event belongs to another capture");
}

/* Under the stream's `submit`, whose task has begun. */
static aclError add_wait(Event *event, Stream *stream, Task *task, uint64_t timeout_ns, const char *api) {
    const Member *member = atomic_load(&stream->capture);
    lock();
    const Captured *captured = atomic_load(&event->captured);
    aclError code = check_dependency(member, captured, api);
    if (code == ACL_SUCCESS) {
        program_open_node(member->program)->after = captured->node;
        task->as.event = (EventTask){event_retain(event), record_retain(captured->record), timeout_ns, false};
    }
    unlock();
    return code;
}

aclError capture_wait(Event *event, Stream *stream, uint64_t timeout_ns, const char *api) {
    if (!capture_has_stream(stream)) { TRY(join_by(event, stream, api)); }
    Task *task;
    aclError code = stream_begin(stream, api, &event_captured_wait_ops, &task);
    if (code != ACL_SUCCESS) {
        invalidate(stream);
        return code;
    }
    if (!capture_has_stream(stream)) { /* both have just ended */
        stream_cancel(stream, task);
        return event->recorded ? event_wait(event, stream, timeout_ns, api) : ACL_SUCCESS;
    }
    code = add_wait(event, stream, task, timeout_ns, api);
    if (code == ACL_SUCCESS) { stream_commit(stream, task); }
    else { stream_cancel(stream, task); }
    return code;
}

aclError capture_external(Event *event, Stream *stream, bool is_record, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, is_record ? &event_external_record_ops : &event_external_wait_ops, &task));
    Member *member = atomic_load(&stream->capture);
    if (member == NULL) {
        stream_cancel(stream, task);
        return emu_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, api, "stream %d does not capture", stream->id);
    }
    if (!external_add(member->capture->model, program_open_node(member->program), is_record)) {
        stream_cancel(stream, task);
        invalidate(stream);
        return no_memory(api);
    }
    task->as.event = (EventTask){.event = event_retain(event), .external = true};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

/* ---- notes ---- */

/* Under the stream's `submit`. */
static Node *last_recorded(Stream *stream) {
    const Member *member = atomic_load(&stream->capture);
    if (member == NULL || stream->cache_op_info == 0 || program_count(member->program) == 0) { return NULL; }
    Node *last = &member->program->last->nodes[(program_count(member->program) - 1) % PROGRAM_CHUNK_TASKS];
    return last->task->id == emu_thread.last_task_id ? last : NULL;
}

static bool note(Node *node, const void *info, size_t bytes) {
    void *copy = malloc(bytes);
    if (copy == NULL) { return false; }
    free(node->op_info);
    node->op_info = memcpy(copy, info, bytes);
    node->op_info_bytes = bytes;
    return true;
}

bool capture_note_task(const void *info, size_t bytes) {
    Stream *stream = emu_thread.recorded_on == NULL ? NULL : handle_get(KIND_STREAM, emu_thread.recorded_on);
    if (stream == NULL) { return true; }
    pthread_mutex_lock(&stream->submit);
    Node *node = last_recorded(stream);
    bool noted = node == NULL || note(node, info, bytes);
    pthread_mutex_unlock(&stream->submit);
    return noted;
}

/* ---- task groups ---- */

static aclError not_captured(const Stream *stream, const char *api) {
    return emu_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, api, "stream %d does not capture", stream->id);
}

static aclError begin_group(Member *member, const char *api) {
    if (member->in_group) { return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, api, "a task group is open already"); }
    member->in_group = true;
    member->group_start = program_count(member->program);
    return ACL_SUCCESS;
}

aclError capture_group_begin(Stream *stream, const char *api) {
    pthread_mutex_lock(&stream->submit);
    Member *member = atomic_load(&stream->capture);
    aclError code = member == NULL ? not_captured(stream, api) : begin_group(member, api);
    pthread_mutex_unlock(&stream->submit);
    return code;
}

static aclError end_group(Member *member, TaskGroup **group, const char *api) {
    if (!member->in_group) { return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, api, "no task group is open"); }
    member->in_group = false;
    if (member->capture->invalid) {
        return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_INTR, api, "the capture became invalid meanwhile");
    }
    uint32_t count = program_count(member->program) - member->group_start;
    *group = group_new(member->capture->model, member->program, member->group_start, count);
    return *group != NULL ? ACL_SUCCESS : no_memory(api);
}

aclError capture_group_end(Stream *stream, TaskGroup **group, const char *api) {
    pthread_mutex_lock(&stream->submit);
    Member *member = atomic_load(&stream->capture);
    aclError code = member == NULL ? not_captured(stream, api) : end_group(member, group, api);
    pthread_mutex_unlock(&stream->submit);
    return code;
}

/* ---- have all come back? ---- */

/* Tasks before `reach` have come back; what their waits wait for has, too. True when that was news. */
static bool follow(Program *program) {
    bool news = false;
    const Node *node = program->scanned < program->reach ? program_node(program, program->scanned) : NULL;
    for (; node != NULL && node->index < program->reach; node = program_next(node)) {
        Program *other = node->after == NULL ? NULL : node->after->program;
        if (other == NULL || other->reach > node->after->index) { continue; }
        other->reach = node->after->index + 1;
        news = true;
    }
    program->scanned = program->reach;
    return news;
}

/* A record that nobody waits for leaves nothing undone. */
static bool is_back(const Program *program) {
    const Node *node = program_count(program) == program->reach ? NULL : program_node(program, program->reach);
    while (node != NULL && node->task->ops->kind == ACL_MODEL_RI_TASK_EVENT_RECORD) { node = program_next(node); }
    return node == NULL;
}

/* The first stream that has not, or NULL. */
static const Member *find_unjoined(const Capture *capture) {
    for (Member *member = capture->origin; member != NULL; member = member->next) {
        member->program->reach = member->program->scanned = 0;
    }
    capture->origin->program->reach = program_count(capture->origin->program);
    for (bool news = true; news;) {
        news = false;
        for (Member *member = capture->origin; member != NULL; member = member->next) { news |= follow(member->program); }
    }
    const Member *member = capture->origin;
    while (member != NULL && is_back(member->program)) { member = member->next; }
    return member;
}

/* ---- ending ---- */

static void take_out(Capture *capture) {
    Capture **link = &captures.first;
    while (*link != capture) { link = &(*link)->next; }
    *link = capture->next;
    capture->ending = true;
}

static void forget_events(Capture *capture) {
    lock();
    for (Captured *captured = capture->events; captured != NULL; captured = captured->next) {
        if (atomic_load(&captured->event->captured) == captured) { atomic_store(&captured->event->captured, NULL); }
    }
    unlock();
    while (capture->events != NULL) {
        Captured *captured = capture->events;
        capture->events = captured->next;
        event_release(captured->event);
        record_release(captured->record);
        free(captured);
    }
}

static void free_capture(Capture *capture) {
    forget_events(capture);
    while (capture->origin != NULL) {
        Member *member = capture->origin;
        capture->origin = member->next;
        free(member);
    }
    free(capture);
}

/* It is out of the list: nobody joins any more. */
static void stop_recording(Capture *capture) {
    for (Member *member = capture->origin; member != NULL; member = member->next) { leave(member); }
    model_seal(capture->model);
    atomic_store(&capture->model->being_captured, false);
}

static bool is_inside(const Model *model, const Model *outer) {
    while (model != NULL && model != outer) { model = model->parent; }
    return model != NULL;
}

/* Takes one capture into a branch of the model out of the list. */
static Capture *take_inner(const Model *outer) {
    lock();
    Capture *capture = captures.first;
    while (capture != NULL && !is_inside(capture->model, outer)) { capture = capture->next; }
    if (capture != NULL) { take_out(capture); }
    unlock();
    return capture;
}

static bool discard_inner(const Model *outer) {
    bool any = false;
    for (Capture *inner; (inner = take_inner(outer)) != NULL; any = true) {
        stop_recording(inner);
        free_capture(inner);
    }
    return any;
}

static bool has_open_group(const Capture *capture) {
    const Member *member = capture->origin;
    while (member != NULL && !member->in_group) { member = member->next; }
    return member != NULL;
}

static aclError judge(const Capture *capture, const char *api) {
    bool inner = discard_inner(capture->model);
    if (capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && capture->thread != emu_thread_id()) {
        return emu_fail(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, api, "thread %u began the capture", capture->thread);
    }
    if (capture->invalid) { return emu_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, api, "the capture became invalid"); }
    if (inner) { return emu_fail(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, api, "a branch is still being captured"); }
    if (has_open_group(capture)) { return emu_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, api, "a task group is open"); }
    const Member *unjoined = find_unjoined(capture);
    if (unjoined == NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_UNJOINED, api, "stream %d has not come back by an event", unjoined->stream->id);
}

/* Without one of its branches the whole is of no use. */
static void invalidate_outer(const Model *model) {
    lock();
    for (Capture *capture = captures.first; capture != NULL; capture = capture->next) {
        capture->invalid |= capture->model == model->parent;
    }
    unlock();
}

static void discard_model(Model *model) {
    if (model->parent == NULL) { model_discard(model, true); }
    else { invalidate_outer(model); }
}

static aclError take_for_end(Stream *stream, Capture **out, const char *api) {
    lock();
    const Member *member = atomic_load(&stream->capture);
    Capture *capture = member == NULL || member->capture->ending ? NULL : member->capture;
    bool is_origin = capture != NULL && capture->origin == member;
    if (is_origin) { take_out(capture); }
    unlock();
    *out = capture;
    if (capture == NULL) { return not_captured(stream, api); }
    if (is_origin) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, api, "stream %d joined the capture, it did not begin it", stream->id);
}

aclError capture_end(Stream *stream, Model **model, const char *api) {
    Capture *capture;
    TRY(take_for_end(stream, &capture, api));
    stop_recording(capture);
    aclError code = judge(capture, api);
    *model = code == ACL_SUCCESS ? capture->model : NULL;
    if (code != ACL_SUCCESS) { discard_model(capture->model); }
    free_capture(capture);
    return code;
}

static Capture *take_of(const Context *context) {
    lock();
    Capture *capture = captures.first;
    while (capture != NULL && capture->model->context != context) { capture = capture->next; }
    if (capture != NULL) { take_out(capture); }
    unlock();
    return capture;
}

void capture_discard_all(const Context *context) {
    for (Capture *capture; (capture = take_of(context)) != NULL;) {
        stop_recording(capture);
        free_capture(capture);
    }
}
