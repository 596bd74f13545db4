/* What every chapter of the API starts from: the engine's errors and lookups, and the entry of each function.
 * The chapters check arguments in the real runtime's order and return its codes; the engine never checks. */
#ifndef EMU_API_H
#define EMU_API_H

#include "acl/acl.h"
#include "engine/context.h"
#include "engine/error.h"
#include "engine/handle.h"
#include "engine/stream.h"
#include "engine/thread.h"
#include "faults/faults.h"
#include "soc/soc.h"

/* First line of every function that can fail: an armed fault for it fires here. */
#define ENTER()                                                                    \
    do {                                                                           \
        if (atomic_load_explicit(&faults_armed, memory_order_relaxed)) {           \
            aclError injected_ = faults_take(__func__);                            \
            if (injected_ != ACL_SUCCESS) { return FAIL(injected_, "injected"); }  \
        }                                                                          \
    } while (0)

#define CURRENT_CONTEXT(context) \
    Context *context;            \
    TRY(context_current(__func__, &context))

/* NULL means the default stream. */
#define ANY_STREAM(stream, handle) \
    Stream *stream;                \
    TRY(stream_find(__func__, (handle), &stream))

/* The same, and it must belong to the current context. */
#define OWN_STREAM(stream, handle) \
    Stream *stream;                \
    TRY(stream_find_own(__func__, (handle), &stream))

#define UNSUPPORTED(...) emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__, __VA_ARGS__)
#define NEED_FEATURE(feature)                                                                      \
    do {                                                                                           \
        if (!soc_has(feature)) { return UNSUPPORTED("%s has no such feature", soc_product()->title); } \
    } while (0)

#endif
