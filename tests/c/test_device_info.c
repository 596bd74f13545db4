/* What devices tell about themselves: attributes, numbers, links, use, faults; and groups of cores (310P). */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static bool soc_is(const char *prefix) { return strncmp(aclrtGetSocName(), prefix, strlen(prefix)) == 0; }

static int64_t attribute(aclrtDevAttr attr) {
    int64_t value = -1;
    EXPECT(0, aclrtGetDeviceInfo(0, attr, &value));
    return value;
}

static void attributes(void) {
    int64_t value;
    EXPECT(100000, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, NULL));
    EXPECT(107000, aclrtGetDeviceInfo(64, ACL_DEV_ATTR_NPU_ARCH, &value)); /* not 107001 */
    EXPECT(107000, aclrtGetDeviceInfo(0, (aclrtDevAttr)2, &value));
    EXPECT(207000, aclrtGetDeviceInfo(0, ACL_DEV_ATTR_MAINBOARD_ID, &value));
    CHECK(attribute(ACL_DEV_ATTR_AICORE_CORE_NUM) > 0 && attribute(ACL_DEV_ATTR_CUBE_CORE_NUM) > 0);
    CHECK(attribute(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE) >= (int64_t)16 << 30);
    CHECK(attribute(ACL_DEV_ATTR_IS_VIRTUAL) == 0 && attribute(ACL_DEV_ATTR_PHY_CHIP_ID) == 0);
    if (strcmp(aclrtGetSocName(), "Ascend910B3") == 0) {
        CHECK(attribute(ACL_DEV_ATTR_CUBE_CORE_NUM) == 20 && attribute(ACL_DEV_ATTR_VECTOR_CORE_NUM) == 40);
        CHECK(attribute(ACL_DEV_ATTR_NPU_ARCH) == 2201 && attribute(ACL_DEV_ATTR_AICPU_CORE_NUM) == 6);
        CHECK(attribute(ACL_DEV_ATTR_L2_CACHE_SIZE) == (int64_t)192 << 20);
    }
    EXPECT(0, aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value));
    CHECK(value == attribute(ACL_DEV_ATTR_AICORE_CORE_NUM));
    EXPECT(100000, aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value));
    EXPECT(100000, aclGetDeviceCapability(0, (aclDeviceInfo)3, &value));
}

static void capabilities(void) {
    int32_t value = -1;
    aclrtDevFeatureType feature = ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV;
    EXPECT(100000, aclrtGetDeviceCapability(0, feature, NULL));
    EXPECT(107000, aclrtGetDeviceCapability(0, (aclrtDevFeatureType)0, &value));
    EXPECT(107001, aclrtGetDeviceCapability(64, feature, &value));
    EXPECT(107002, aclrtGetDeviceCapability(0, feature, &value));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtGetDeviceCapability(0, feature, &value));
    CHECK(value == ACL_DEV_FEATURE_NOT_SUPPORT);
    EXPECT(107002, aclrtGetDeviceCapability(1, feature, &value));
    EXPECT(0, aclrtResetDevice(0));
}

static void numbers(void) {
    int32_t id = -1;
    EXPECT(0, aclrtGetLogicDevIdByUserDevId(1, &id));
    CHECK(id == 1);
    EXPECT(0, aclrtGetUserDevIdByLogicDevId(0, &id));
    CHECK(id == 0);
    EXPECT(0, aclrtGetLogicDevIdByPhyDevId(1, &id));
    EXPECT(0, aclrtGetPhyDevIdByLogicDevId(1, &id));
    EXPECT(0, aclrtGetUserDevIdByPhyDevId(1, &id));
    EXPECT(0, aclrtGetPhyDevIdByUserDevId(1, &id));
    EXPECT(100000, aclrtGetPhyDevIdByLogicDevId(1, NULL));
    EXPECT(107001, aclrtGetPhyDevIdByLogicDevId(-1, &id));
    EXPECT(0, aclrtSetTsDevice(ACL_TS_ID_AICORE));
    EXPECT(0, aclrtSetTsDevice(ACL_TS_ID_AIVECTOR));
    EXPECT(100000, aclrtSetTsDevice(ACL_TS_ID_RESERVED));
}

static void uuids(void) {
    aclrtUuid first, second, again;
    bool told = !soc_is("Ascend310") && !soc_is("Ascend910A");
    EXPECT(100000, aclrtDeviceGetUuid(0, NULL));
    EXPECT(107001, aclrtDeviceGetUuid(64, &first));
    EXPECT(told ? 0 : 207000, aclrtDeviceGetUuid(0, &first));
    if (!told) { return; }
    EXPECT(0, aclrtDeviceGetUuid(0, &again));
    EXPECT(0, aclrtDeviceGetUuid(1, &second));
    CHECK(memcmp(&first, &again, sizeof(first)) == 0 && memcmp(&first, &second, sizeof(first)) != 0);
}

static void peers(void) {
    int32_t value = -1;
    bool possible = !soc_is("Ascend310B");
    EXPECT(100000, aclrtDeviceCanAccessPeer(NULL, 0, 1));
    EXPECT(100000, aclrtDeviceCanAccessPeer(&value, 1, 1));
    EXPECT(107001, aclrtDeviceCanAccessPeer(&value, 0, 64));
    EXPECT(possible ? 0 : 207000, aclrtDeviceCanAccessPeer(&value, 0, 1));
    EXPECT(200006, aclrtDeviceEnablePeerAccess(1, 1));
    EXPECT(107002, aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(107002, aclrtDeviceDisablePeerAccess(1));
    if (!possible) { return; }
    CHECK(value == 1);
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(100000, aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT(107001, aclrtDeviceEnablePeerAccess(64, 0));
    EXPECT(0, aclrtDeviceDisablePeerAccess(1)); /* was never enabled */
    EXPECT(0, aclrtDeviceEnablePeerAccess(1, 0));
    EXPECT(0, aclrtDevicePeerAccessStatus(0, 1, &value));
    CHECK(value == 0); /* one side is not enough */
    EXPECT(0, aclrtSetDevice(1));
    EXPECT(0, aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT(0, aclrtDevicePeerAccessStatus(0, 1, &value));
    CHECK(value == 1);
    EXPECT(0, aclrtDeviceDisablePeerAccess(0));
    EXPECT(0, aclrtDevicePeerAccessStatus(1, 0, &value));
    CHECK(value == 0);
    EXPECT(0, aclrtResetDevice(1));
    EXPECT(0, aclrtResetDevice(0));
}

static void links(void) {
    uint64_t value = 0;
    EXPECT(100000, aclrtGetDevicesTopo(0, 1, NULL));
    EXPECT(107001, aclrtGetDevicesTopo(0, 64, &value));
    EXPECT(0, aclrtGetDevicesTopo(0, 1, &value));
    CHECK(value == (soc_is("Ascend310") ? ACL_RT_DEVS_TOPOLOGY_PHB : ACL_RT_DEVS_TOPOLOGY_HCCS));
}

static void utilization(void) {
    aclrtUtilizationInfo info = {.utilizationExtend = (void *)&info};
    EXPECT(100000, aclrtGetDeviceUtilizationRate(0, NULL));
    EXPECT(100000, aclrtGetDeviceUtilizationRate(0, &info));
    info.utilizationExtend = NULL;
    EXPECT(107001, aclrtGetDeviceUtilizationRate(64, &info));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtGetDeviceUtilizationRate(0, &info));
    CHECK(info.cubeUtilization == 0 && info.vectorUtilization == 0 && info.memoryUtilization == -1);
    aclrtBinHandle binary;
    aclrtFuncHandle wait_flag;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), NULL, &binary));
    EXPECT(0, aclrtBinaryGetFunction(binary, "wait_flag", &wait_flag));
    _Atomic(uint32_t) flag = 0, *at = &flag;
    EXPECT(0, aclrtLaunchKernelWithHostArgs(wait_flag, 1, NULL, NULL, &at, sizeof(at), NULL, 0));
    do { /* until a worker has taken it */
        sched_yield();
        EXPECT(0, aclrtGetDeviceUtilizationRate(0, &info));
    } while (info.vectorUtilization != 100);
    aclrtUtilizationInfo other = {0};
    EXPECT(0, aclrtGetDeviceUtilizationRate(1, &other));
    CHECK(other.cubeUtilization == 0);
    atomic_store(&flag, 1);
    EXPECT(0, aclrtSynchronizeStream(NULL));
    EXPECT(0, aclrtGetDeviceUtilizationRate(0, &info));
    CHECK(info.cubeUtilization == 0);
    EXPECT(0, aclrtResetDevice(0));
}

static void faults(void) {
    static aclrtMemUceInfo damage[4];
    static aclrtErrorInfo error;
    size_t count = 99;
    EXPECT(100000, aclrtGetMemUceInfo(0, NULL, 4, &count));
    EXPECT(100000, aclrtGetMemUceInfo(0, damage, 4, NULL));
    EXPECT(107001, aclrtGetMemUceInfo(64, damage, 4, &count));
    EXPECT(100000, aclrtGetErrorVerbose(0, NULL));
    if (soc_is("Ascend310") || soc_is("Ascend910A")) {
        EXPECT(207000, aclrtGetMemUceInfo(0, damage, 4, &count));
        return;
    }
    EXPECT(0, aclrtGetMemUceInfo(0, damage, 4, &count));
    CHECK(count == 0);
    EXPECT(0, aclrtMemUceRepair(0, damage, 0));
    error.errorType = ACL_RT_ERROR_LINK;
    EXPECT(0, aclrtGetErrorVerbose(0, &error));
    CHECK(error.errorType == ACL_RT_NO_ERROR && error.tryRepair == 0);
    EXPECT(0, aclrtRepairError(0, &error));
}

static void groups(void) {
    uint32_t count = 0;
    EXPECT(100000, aclrtGetGroupCount(NULL));
    aclrtGroupInfo *info = aclrtCreateGroupInfo();
    if (!soc_is("Ascend310P")) {
        CHECK(info == NULL);
        EXPECT(207000, aclrtGetGroupCount(&count));
        return;
    }
    EXPECT(107002, aclrtGetGroupCount(&count));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtGetGroupCount(&count));
    CHECK(count == 1 && info != NULL);
    int32_t cores = 0;
    size_t bytes = 0;
    EXPECT(100000, aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_AICORE_INT, &cores, sizeof(cores), &bytes));
    EXPECT(0, aclrtGetAllGroupInfo(info));
    EXPECT(0, aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_AICORE_INT, &cores, sizeof(cores), &bytes));
    CHECK(cores == attribute(ACL_DEV_ATTR_AICORE_CORE_NUM) && bytes == sizeof(cores));
    EXPECT(207000, aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_SDMANUM_INT, &cores, sizeof(cores), &bytes));
    EXPECT(0, aclrtSetGroup(0));
    EXPECT(107000, aclrtSetGroup(1));
    EXPECT(0, aclrtDestroyGroupInfo(info));
    EXPECT(100000, aclrtDestroyGroupInfo(NULL));
    EXPECT(0, aclrtResetDevice(0));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    attributes();
    capabilities();
    numbers();
    uuids();
    peers();
    links();
    utilization();
    faults();
    groups();
    return 0;
}
