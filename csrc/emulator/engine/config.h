/* Launch configurations that outlive the launch: recorded kernels keep theirs. */
#ifndef EMU_CONFIG_H
#define EMU_CONFIG_H

#include "acl/acl.h"

typedef struct LaunchConfig {
    aclrtLaunchKernelCfg config; /* its attributes lie behind it */
    aclrtLaunchKernelAttr attributes[];
} LaunchConfig;

/* NULL when memory ran out. */
LaunchConfig *config_copy(const aclrtLaunchKernelCfg *config);
void config_free(LaunchConfig *config);
/* The value of an attribute, or NULL when the launch did not set it. */
const aclrtLaunchKernelAttrValue *config_find(const LaunchConfig *config, aclrtLaunchKernelAttrId id);

#endif
