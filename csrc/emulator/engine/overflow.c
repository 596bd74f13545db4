/* Overflow status. One area for the whole process on the newer products, one for each device on the others. */
#include "engine/overflow.h"

#include "engine/error.h"
#include "soc/soc.h"

enum {
    MAX_DEVICES = 64,
    WORDS = OVERFLOW_STATUS_BYTES / sizeof(uint32_t),
};

/* Word by word atomic: one stream may raise while another reads or clears. */
typedef struct Area {
    _Alignas(OVERFLOW_STATUS_BYTES) _Atomic(uint32_t) words[WORDS];
} Area;

static Area areas[MAX_DEVICES];

/* The products with an effective overflow switch are those that count for the process as a whole. */
static Area *area_of(const Device *device) { return &areas[soc_has(SOC_OVERFLOW_SWITCH) ? 0 : device->id]; }

void *overflow_area(const Device *device) { return area_of(device); }

void overflow_raise(const Device *device) { atomic_store(&area_of(device)->words[0], 1); }

static int32_t run_read(Stream *stream, Task *task) {
    Area *area = area_of(stream->context->device);
    uint32_t *destination = task->as.copy.destination;
    for (size_t i = 0; i < WORDS; i++) { destination[i] = atomic_load(&area->words[i]); }
    return 0;
}

static int32_t run_clear(Stream *stream, Task *task) {
    (void)task;
    Area *area = area_of(stream->context->device);
    for (size_t i = 0; i < WORDS; i++) { atomic_store(&area->words[i], 0); }
    return 0;
}

static const TaskOps read_ops = {.name = "overflow status", .run = run_read};
static const TaskOps clear_ops = {.name = "overflow status reset", .run = run_clear};

aclError overflow_read(Stream *stream, void *destination, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &read_ops, &task));
    task->as.copy = (CopyTask){.destination = destination, .bytes = OVERFLOW_STATUS_BYTES};
    stream_commit(stream, task);
    return ACL_SUCCESS;
}

aclError overflow_clear(Stream *stream, const char *api) {
    Task *task;
    TRY(stream_begin(stream, api, &clear_ops, &task));
    stream_commit(stream, task);
    return ACL_SUCCESS;
}
