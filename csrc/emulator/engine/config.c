/* Launch configurations that outlive the launch: see config.h. */
#include "engine/config.h"

#include <stdlib.h>
#include <string.h>

LaunchConfig *config_copy(const aclrtLaunchKernelCfg *config) {
    size_t bytes = config->numAttrs * sizeof(config->attrs[0]);
    LaunchConfig *copy = malloc(sizeof(*copy) + bytes);
    if (copy == NULL) { return NULL; }
    copy->config = (aclrtLaunchKernelCfg){.attrs = copy->attributes, .numAttrs = config->numAttrs};
    if (bytes > 0) { memcpy(copy->attributes, config->attrs, bytes); }
    return copy;
}

void config_free(LaunchConfig *config) { free(config); }

const aclrtLaunchKernelAttrValue *config_find(const LaunchConfig *config, aclrtLaunchKernelAttrId id) {
    for (size_t i = 0; config != NULL && i < config->config.numAttrs; i++) {
        if (config->attributes[i].id == id) { return &config->attributes[i].value; }
    }
    return NULL;
}
