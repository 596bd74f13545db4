/* Tasks that decide which streams of a built model run. */
#ifndef EMU_FLOW_H
#define EMU_FLOW_H

#include "engine/model.h"

/* `target` begins to run beside `stream`. */
aclError flow_activate(Stream *stream, const Stream *target, const char *api);
/* If the values compare as asked, `target` runs instead of what is left of `stream`. */
aclError flow_switch(Stream *stream, const Stream *target, const void *left, aclrtCondition condition,
                     const void *right, aclrtCompareDataType type, const char *api);

#endif
