/* Chapter 15, captured models for the eye: their streams and tasks as JSON. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/model.h"
#include "engine/condition.h"
#include "engine/event.h"
#include "engine/update.h"
#include "engine/work.h"

static void print_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c == '"' || *c == '\\') { fprintf(out, "\\%c", *c); }
        else if (*c < 0x20) { fprintf(out, "\\u%04x", *c); }
        else { fputc(*c, out); }
    }
    fputc('"', out);
}

/* ---- what is known about a task of each kind ---- */

static void print_args(FILE *out, const Task *task) {
    size_t bytes;
    const unsigned char *args = work_kernel_args(task, &bytes);
    if (task->as.kernel.device_args != NULL) {
        fprintf(out, ", \"deviceArgs\": \"%p\"", (const void *)args);
        return;
    }
    fputs(", \"args\": \"", out);
    for (size_t i = 0; i < bytes; i++) { fprintf(out, "%02x", args[i]); }
    fputc('"', out);
}

static void print_kernel(FILE *out, const Node *node, bool verbose) {
    fputs(", \"kernel\": ", out);
    print_text(out, work_kernel(node->task)->name);
    fprintf(out, ", \"blocks\": %u, \"argsSize\": %u", node->task->as.kernel.blocks, node->task->as.kernel.args_size);
    if (verbose) { print_args(out, node->task); }
}

static void print_event(FILE *out, const Node *node, bool verbose) {
    (void)verbose;
    fprintf(out, ", \"event\": \"%p\", \"external\": %s", node->task->as.event.event->handle,
            node->task->as.event.external ? "true" : "false");
    if (node->after == NULL) { return; }
    fprintf(out, ", \"after\": {\"stream\": %d, \"index\": %u}", node->after->program->stream->id, node->after->index);
}

static void print_value(FILE *out, const Node *node, bool verbose) {
    (void)verbose;
    fprintf(out, ", \"address\": \"%p\", \"value\": %llu", (void *)node->task->as.value.cell,
            (unsigned long long)node->task->as.value.value);
}

static void (*const details[])(FILE *out, const Node *node, bool verbose) = {
    [ACL_MODEL_RI_TASK_KERNEL] = print_kernel,     [ACL_MODEL_RI_TASK_EVENT_RECORD] = print_event,
    [ACL_MODEL_RI_TASK_EVENT_WAIT] = print_event,  [ACL_MODEL_RI_TASK_EVENT_RESET] = print_event,
    [ACL_MODEL_RI_TASK_VALUE_WRITE] = print_value, [ACL_MODEL_RI_TASK_VALUE_WAIT] = print_value,
};

/* ---- the tree: a model, its streams, their tasks; a condition's branches are models again ---- */

static void print_model(FILE *out, Model *model, bool verbose);

static void print_branches(FILE *out, const Task *task, bool verbose) {
    static const char *const types[] = {"if", "while", "switch"};
    const Branch *branch = condition_branch(task);
    if (branch == NULL) { return; }
    fprintf(out, ", \"condition\": \"%s\", \"branches\": [", types[branch->type]);
    for (uint32_t i = 0; i < branch->count; i++) {
        if (i > 0) { fputs(", ", out); }
        print_model(out, branch->models[i], verbose);
    }
    fputc(']', out);
}

static void print_task(FILE *out, const Node *node, bool verbose) {
    const Task *task = node->task;
    fprintf(out, "{\"index\": %u, \"sequence\": %u, \"type\": ", node->index, node->sequence);
    print_text(out, task->ops->name);
    if (node->group != NULL) { fprintf(out, ", \"group\": \"%p\"", node->group->handle); }
    if (node->disabled) { fputs(", \"disabled\": true", out); }
    if (task->ops->kind != ACL_MODEL_RI_TASK_DEFAULT) { details[task->ops->kind](out, node, verbose); }
    print_branches(out, task, verbose);
    fputc('}', out);
}

static void print_stream(FILE *out, const Program *program, bool verbose) {
    fprintf(out, "{\"id\": %d, \"tasks\": [", program->stream->id);
    for (const Node *node = program_first(program); node != NULL; node = program_next(node)) {
        fputs(node->index == 0 ? "\n    " : ",\n    ", out);
        print_task(out, node, verbose);
    }
    fputs("]}", out);
}

static void print_model(FILE *out, Model *model, bool verbose) {
    pthread_mutex_lock(&model->lock);
    fprintf(out, "{\"model\": %u, \"name\": ", model->id);
    print_text(out, model->name);
    fputs(", \"streams\": [", out);
    for (const Program *program = model->programs; program != NULL; program = program->next) {
        fputs(program == model->programs ? "\n  " : ",\n  ", out);
        print_stream(out, program, verbose);
    }
    fputs("]}", out);
    pthread_mutex_unlock(&model->lock);
}

/* ---- the calls ---- */

static aclError check_printable(const char *api, const Model *model) {
    if (!model->captured) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "model %u is not a captured one", model->id); }
    if (!atomic_load(&model->being_captured)) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_MODEL_CAPTURED, api, "model %u is being captured", model->id);
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
    ENTER();
    REQUIRE(modelRI);
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_CAPTURE);
    TRY(check_printable(__func__, model));
    print_model(stdout, model, true);
    putchar('\n');
    fflush(stdout);
    return ACL_SUCCESS;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) {
    ENTER();
    REQUIRE(modelRI);
    REQUIRE(path);
    FIND_MODEL(model, modelRI);
    NEED_FEATURE(SOC_CAPTURE);
    if (flags > ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%x", flags); }
    TRY(check_printable(__func__, model));
    FILE *out = fopen(path, "w");
    if (out == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%s: %s", path, strerror(errno)); }
    print_model(out, model, flags == ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE);
    fputc('\n', out);
    return fclose(out) == 0 ? ACL_SUCCESS : FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "%s: %s", path, strerror(errno));
}
