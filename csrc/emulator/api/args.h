/* What a launch needs of an args handle (chapter 14): the packed bytes and the places to patch. */
#ifndef EMU_ARGS_H
#define EMU_ARGS_H

#include <stddef.h>

#include "acl/acl.h"

typedef struct PackedArgs {
    const void *bytes;
    size_t size;
    const aclrtPlaceHolderInfo *placeholders;
    size_t placeholder_count;
} PackedArgs;

/* 107000 when the handle is not finalised. */
aclError args_packed(const char *api, aclrtArgsHandle handle, PackedArgs *packed);

#endif
