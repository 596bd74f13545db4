/* What allocations of device and host have in common. */
#ifndef EMU_API_MEMORY_H
#define EMU_API_MEMORY_H

#include <stdbool.h>

#include "acl/acl.h"

/* NULL is a good configuration. `wants_mapping`: the device shall have an address for it, too. */
aclError memory_check_config(const char *api, const aclrtMallocConfig *config, bool *wants_mapping);

#endif
