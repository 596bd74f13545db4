/* Exception callbacks: a failed task is told to whoever asked for it, on a thread of its own. The runner only leaves
 * a report and goes on; a synchronize that returns the failure waits until the report has been told. */
#ifndef EMU_EXCEPTION_H
#define EMU_EXCEPTION_H

#include "acl/acl.h"
#include "engine/binary.h"
#include "engine/stream.h"

/* What a callback may ask about. Lives during the callback. */
struct rtExceptionInfo {
    uint32_t task_id, stream_id, thread_id, device_id, device_code;
    bool is_kernel;
    void *function; /* handle */
    void *args;
    uint32_t args_size;
};

/* The one slot of aclrtSetExceptionInfoCallback; NULL empties it. False when there is no thread to call from. */
bool exception_set(aclrtExceptionInfoCallback callback);
/* Any number beside it; the same function counts once. */
bool exception_add(aclrtExceptionInfoCallback callback);
void exception_remove(aclrtExceptionInfoCallback callback);
/* For failures of the binary's kernels; replaces an earlier one. */
bool exception_set_for_binary(const Binary *binary, aclrtOpExceptionCallback callback, void *user_data);
void exception_forget_binary(const Binary *binary);

/* The runner: `task` failed with `code`. Costs one load when nobody asked. */
void exception_note(Stream *stream, const Task *task, int32_t code);
/* Waits until all that was noted before has been told, ten seconds at most. Returns at once in a callback. */
void exception_settle(void);

#endif
