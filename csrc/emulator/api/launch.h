/* What all calls share that launch kernels, or may wait for what they have launched. */
#ifndef EMU_API_LAUNCH_H
#define EMU_API_LAUNCH_H

#include "engine/work.h"

/* Launch blocking: waits for the stream, where its mode says so. */
aclError launch_settle(const char *api, Stream *stream);
/* Checks a launch configuration, or NULL, and takes what is in it. */
aclError launch_read_config(const char *api, const aclrtLaunchKernelCfg *config, KernelLaunch *launch);

#endif
