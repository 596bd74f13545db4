/* The emulator's control calls: what a test may do to the emulated device that no real runtime offers.
 * They exist only in the emulator's library; a program finds out with dlsym. All are thread-safe. */
#ifndef PYACL_EMULATOR_H
#define PYACL_EMULATOR_H

#include <stdint.h>

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Live resources and work done, process-wide. A leak test compares two of these. */
typedef struct pyaclEmuCounters {
    uint64_t contexts, streams, events, binaries; /* alive; default and internal streams included */
    uint64_t deviceAllocations, deviceBytes, hostAllocations, hostBytes;
    uint64_t eventRecords;                        /* alive record points, held by events and queued tasks */
    uint64_t tasksSubmitted, tasksRetired;        /* since the start; dropped tasks count as retired */
    uint64_t tasksFailed, tasksDropped;
    uint64_t workers;                             /* device worker threads made so far */
    uint64_t notifies;                            /* alive, counting ones included */
} pyaclEmuCounters;

/* Chooses the product (an SoC name such as "Ascend910B3", or a product such as "A2"; NULL keeps the choice of
 * PYACL_EMULATOR_SOC) and the number of devices (0 keeps PYACL_EMULATOR_DEVICES, default 2). Only before the first
 * device is used: afterwards 100002. An unknown name: 100000. */
ACL_FUNC_VISIBILITY aclError pyaclEmuConfigure(const char *soc, uint32_t devices);

/* While on, the tasks of the stream (every stream with id -1) stay pending; the one that runs is not touched. */
ACL_FUNC_VISIBILITY aclError pyaclEmuHoldStream(int32_t streamId, int32_t on);

/* The next task that the stream starts fails on the device with `code` instead of running. */
ACL_FUNC_VISIBILITY aclError pyaclEmuFailNextTask(int32_t streamId, int32_t code);

/* Turns the hardware queue of a stream on or off, as firmware does for streams bound to a model. */
ACL_FUNC_VISIBILITY aclError pyaclEmuEnableStreamQueue(int32_t streamId, int32_t on);

/* The `nth` (1 = next) call of the API function `api` returns `code` without doing anything. nth 0 disarms. */
ACL_FUNC_VISIBILITY aclError pyaclEmuFailCall(const char *api, uint32_t nth, aclError code);

ACL_FUNC_VISIBILITY aclError pyaclEmuGetCounters(pyaclEmuCounters *counters);

#ifdef __cplusplus
}
#endif
#endif
