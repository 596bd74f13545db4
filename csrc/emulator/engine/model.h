/* Model running instances: which PERSISTENT streams make one up. The streams keep the tasks; here is who is bound. */
#ifndef EMU_MODEL_H
#define EMU_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"
#include "engine/context.h"
#include "engine/stream.h"

enum { MODEL_NAME_BYTES = 256 };

typedef struct Model {
    void *handle;
    Context *context;
    uint32_t id;
    bool ended, built; /* aclmdlRIEndTask and aclmdlRIBuildEnd were called */
    char name[MODEL_NAME_BYTES];
    struct Model *next; /* in the list of all */
} Model;

aclError model_create(Context *context, Model **model, const char *api);
aclError model_find(const char *api, aclmdlRI handle, Model **model);
/* Lets go of its streams and ends. */
void model_destroy(Model *model);
void model_destroy_all(Context *context);

#endif
