/* Named callbacks, process-wide, in name order. A call works on a copy of the list. */
#include "engine/registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    char *name;
    AnyCallback callback;
    void *argument;
} Entry;

struct Registry {
    pthread_mutex_t lock;
    Entry *entries;
    size_t count;
};

Registry stream_state_callbacks = {.lock = PTHREAD_MUTEX_INITIALIZER};
Registry device_state_callbacks = {.lock = PTHREAD_MUTEX_INITIALIZER};
Registry task_abort_callbacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t find_place(const Registry *registry, const char *name, bool *found) {
    size_t i = 0;
    int order = 1;
    while (i < registry->count && (order = strcmp(registry->entries[i].name, name)) < 0) { i++; }
    *found = i < registry->count && order == 0;
    return i;
}

static void remove_entry(Registry *registry, size_t place) {
    free(registry->entries[place].name);
    registry->count--;
    memmove(&registry->entries[place], &registry->entries[place + 1],
            (registry->count - place) * sizeof(*registry->entries));
}

static void insert_entry(Registry *registry, size_t place, Entry entry) {
    Entry *entries = realloc(registry->entries, (registry->count + 1) * sizeof(*entries));
    if (entries == NULL) { abort(); }
    memmove(&entries[place + 1], &entries[place], (registry->count - place) * sizeof(*entries));
    entries[place] = entry;
    registry->entries = entries;
    registry->count++;
}

bool registry_set(Registry *registry, const char *name, AnyCallback callback, void *argument, bool replace) {
    bool found, accepted = true;
    pthread_mutex_lock(&registry->lock);
    size_t place = find_place(registry, name, &found);
    if (callback == NULL) {
        if (found) { remove_entry(registry, place); }
    } else if (!found) {
        insert_entry(registry, place, (Entry){strdup(name), callback, argument});
    } else if (replace) {
        registry->entries[place].callback = callback;
        registry->entries[place].argument = argument;
    } else {
        accepted = false;
    }
    pthread_mutex_unlock(&registry->lock);
    return accepted;
}

void registry_call(Registry *registry, void (*invoke)(AnyCallback, void *, void *), void *subject) {
    pthread_mutex_lock(&registry->lock);
    size_t count = registry->count;
    Entry *copy = count == 0 ? NULL : malloc(count * sizeof(*copy));
    if (copy != NULL) { memcpy(copy, registry->entries, count * sizeof(*copy)); }
    pthread_mutex_unlock(&registry->lock);
    for (size_t i = 0; copy != NULL && i < count; i++) { invoke(copy[i].callback, copy[i].argument, subject); }
    free(copy);
}

typedef struct StreamNews {
    void *handle;
    aclrtStreamState state;
} StreamNews;

static void tell_stream_state(AnyCallback callback, void *argument, void *subject) {
    StreamNews *news = subject;
    ((aclrtStreamStateCallback)callback)(news->handle, news->state, argument);
}

void report_stream_state(void *stream_handle, aclrtStreamState state) {
    StreamNews news = {stream_handle, state};
    registry_call(&stream_state_callbacks, tell_stream_state, &news);
}

typedef struct DeviceNews {
    int32_t device;
    aclrtDeviceState state;
} DeviceNews;

static void tell_device_state(AnyCallback callback, void *argument, void *subject) {
    DeviceNews *news = subject;
    ((aclrtDeviceStateCallback)callback)(news->device, news->state, argument);
}

void report_device_state(int32_t device, aclrtDeviceState state) {
    DeviceNews news = {device, state};
    registry_call(&device_state_callbacks, tell_device_state, &news);
}
