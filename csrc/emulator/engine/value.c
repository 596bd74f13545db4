/* Value tasks: see value.h. */
#include "engine/value.h"

#include "engine/error.h"
#include "engine/memory.h"
#include "engine/poll.h"

static bool compares(uint64_t memory, uint64_t value, uint32_t comparison) {
    switch (comparison) {
    case ACL_STREAM_WAIT_VALUE_GEQ: return (int64_t)(memory - value) >= 0; /* counts on after a wrap-around */
    case ACL_STREAM_WAIT_VALUE_EQ: return memory == value;
    case ACL_STREAM_WAIT_VALUE_AND: return (memory & value) != 0;
    default: return ~(memory | value) != 0;
    }
}

/* A cell that was freed meanwhile never compares: the stream goes on waiting, as long as somebody lets it. */
static bool has_come(const void *subject) {
    const ValueTask *wait = subject;
    uint64_t memory;
    return memory_read_cell(wait->cell, &memory) && compares(memory, wait->value, wait->comparison);
}

static int32_t run_write(Stream *stream, Task *task) {
    (void)stream;
    __atomic_store_n(task->as.value.cell, task->as.value.value, __ATOMIC_SEQ_CST);
    poll_now();
    return 0;
}

static int32_t run_wait(Stream *stream, Task *task) {
    return poll_park(stream, has_come, &task->as.value) ? TASK_PARKED : 0;
}

static bool drop_wait(Stream *stream, Task *task, DropReason reason) {
    (void)task;
    (void)reason;
    poll_leave(stream);
    return true;
}

static const TaskOps write_ops = {.name = "value write", .run = run_write, .kind = ACL_MODEL_RI_TASK_VALUE_WRITE};
static const TaskOps wait_ops = {
    .name = "value wait", .run = run_wait, .drop = drop_wait, .kind = ACL_MODEL_RI_TASK_VALUE_WAIT};

static aclError submit(Stream *stream, const TaskOps *ops, ValueTask content, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, ops, &task));
    task->as.value = content;
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError value_write(Stream *stream, uint64_t *cell, uint64_t value, const char *api) {
    return submit(stream, &write_ops, (ValueTask){.cell = cell, .value = value}, api);
}

aclError value_wait(Stream *stream, uint64_t *cell, uint64_t value, uint32_t comparison, const char *api) {
    return submit(stream, &wait_ops, (ValueTask){cell, value, comparison}, api);
}
