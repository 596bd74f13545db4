/* Chapter 13, memory and other hardware errors. The emulated hardware has none: counts are 0, the verbose report says
 * "no error", and repairs find nothing to do. */
#include <string.h>

#include "api/api.h"

/* The products that tell about their faults are those that can abort: 950, A3, A2. */
#define SOC_FAULT_REPORTS SOC_STREAM_ABORT

static aclError check(const char *api, int32_t id) {
    if (device_get(id) == NULL) {
        return emu_fail(ACL_ERROR_RT_INVALID_DEVICEID, api, "device %d does not exist", id);
    }
    if (soc_has(SOC_FAULT_REPORTS)) { return ACL_SUCCESS; }
    return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s does not tell", soc_product()->title);
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize) {
    ENTER();
    REQUIRE(memUceInfoArray);
    REQUIRE(retSize);
    if (arraySize == 0) { return INVALID("arraySize is 0"); }
    TRY(check(__func__, deviceId));
    *retSize = 0;
    return ACL_SUCCESS;
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize) {
    ENTER();
    REQUIRE(memUceInfoArray);
    if (arraySize > MAX_MEM_UCE_INFO_ARRAY_SIZE) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu entries, more than %d", arraySize, MAX_MEM_UCE_INFO_ARRAY_SIZE);
    }
    return check(__func__, deviceId);
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo) {
    ENTER();
    REQUIRE(errorInfo);
    TRY(check(__func__, deviceId));
    memset(errorInfo, 0, sizeof(*errorInfo));
    errorInfo->errorType = ACL_RT_NO_ERROR;
    return ACL_SUCCESS;
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo) {
    ENTER();
    REQUIRE(errorInfo);
    return check(__func__, deviceId);
}
