/* Chapter 04, what a device is, what its numbers are, and how devices reach each other. The emulated machine: all
 * devices on one board, physical, logical and user numbers the same, each device able to reach every other. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"

enum { MAX_DEVICES = 64 };

static aclError find_device(const char *api, int32_t id, Device **device) {
    *device = device_get(id);
    if (*device != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_DEVICEID, api, "device %d does not exist", id);
}

/* ---- attributes ---- */

/* False for attributes that nothing in the emulated machine decides. */
static bool attribute_of(const Device *device, aclrtDevAttr attribute, int64_t *value) {
    const SocModel *model = soc_model();
    switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM: *value = model->ai_cpus; return true;
    case ACL_DEV_ATTR_AICORE_CORE_NUM: *value = model->ai_cores; return true;
    case ACL_DEV_ATTR_CUBE_CORE_NUM: *value = model->cube_cores != 0 ? model->cube_cores : model->ai_cores; return true;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = model->vector_cores; return true;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: *value = (int64_t)model->hbm_bytes; return true;
    case ACL_DEV_ATTR_L2_CACHE_SIZE: *value = (int64_t)model->l2_bytes; return true;
    case ACL_DEV_ATTR_PHY_CHIP_ID: *value = device->id; return true;
    case ACL_DEV_ATTR_IS_VIRTUAL: *value = 0; return true; /* a whole device, no share of one */
    case ACL_DEV_ATTR_NPU_ARCH: *value = model->arch; return true;
    default: return false;
    }
}

static bool is_attribute(unsigned attribute) {
    return attribute == ACL_DEV_ATTR_AICPU_CORE_NUM ||
           (attribute >= ACL_DEV_ATTR_AICORE_CORE_NUM && attribute <= ACL_DEV_ATTR_CUBE_CORE_NUM) ||
           (attribute >= ACL_DEV_ATTR_VECTOR_CORE_NUM && attribute <= ACL_DEV_ATTR_MAX_BLOCK_DIM_Z) ||
           (attribute >= ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE && attribute <= ACL_DEV_ATTR_L2_CACHE_SIZE) ||
           (attribute >= ACL_DEV_ATTR_SMP_ID && attribute <= ACL_DEV_ATTR_DEVICE_FORM_FACTOR) ||
           attribute == ACL_DEV_ATTR_IS_VIRTUAL || attribute == ACL_DEV_ATTR_NPU_ARCH;
}

/* The one call that answers a bad device with 107000. */
aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
    ENTER();
    REQUIRE(value);
    Device *device = device_get((int32_t)deviceId);
    if (device == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "device %u does not exist", deviceId); }
    if (!is_attribute(attr)) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "attribute %d", (int)attr); }
    if (attribute_of(device, attr, value)) { return ACL_SUCCESS; }
    return UNSUPPORTED("attribute %d is not known for the emulated device", (int)attr);
}

/* Both features need firmware that the emulator does not play. */
aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value) {
    ENTER();
    REQUIRE(value);
    if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
        devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "feature %d", (int)devFeatureType);
    }
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    CURRENT_CONTEXT(context);
    if (context->device != device) { return FAIL(ACL_ERROR_RT_CONTEXT_NULL, "no context of device %d", deviceId); }
    *value = ACL_DEV_FEATURE_NOT_SUPPORT;
    return ACL_SUCCESS;
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
    ENTER();
    REQUIRE(value);
    static const aclrtDevAttr attributes[] = {
        [ACL_DEVICE_INFO_AI_CORE_NUM] = ACL_DEV_ATTR_AICORE_CORE_NUM,
        [ACL_DEVICE_INFO_VECTOR_CORE_NUM] = ACL_DEV_ATTR_VECTOR_CORE_NUM,
        [ACL_DEVICE_INFO_L2_SIZE] = ACL_DEV_ATTR_L2_CACHE_SIZE,
    };
    if ((unsigned)deviceInfo >= sizeof(attributes) / sizeof(attributes[0])) { return INVALID("deviceInfo is unknown"); }
    Device *device;
    TRY(find_device(__func__, (int32_t)deviceId, &device));
    attribute_of(device, attributes[deviceInfo], value);
    return ACL_SUCCESS;
}

typedef struct Business {
    const Device *device;
    bool busy;
} Business;

static void look_for_work(Stream *stream, void *argument) {
    Business *business = argument;
    int state = atomic_load(&stream->state);
    bool runs = (state == STREAM_RUNNING || state == STREAM_NOTIFIED) && !stream_is_done(stream);
    if (runs && stream->context->device == business->device) { business->busy = true; }
}

/* At this moment: 100 while a task of the device runs. AI CPUs run nothing here; memory is always -1. */
aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo) {
    ENTER();
    REQUIRE(utilizationInfo);
    if (utilizationInfo->utilizationExtend != NULL) { return INVALID("utilizationExtend must be NULL"); }
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    Business business = {device, false};
    stream_for_each(look_for_work, &business);
    int32_t rate = business.busy ? 100 : 0;
    *utilizationInfo =
        (aclrtUtilizationInfo){.cubeUtilization = rate, .vectorUtilization = rate, .memoryUtilization = -1};
    return ACL_SUCCESS;
}

/* The engine has one task scheduler: the choice changes nothing. */
aclError aclrtSetTsDevice(aclrtTsId tsId) {
    ENTER();
    return (unsigned)tsId < ACL_TS_ID_RESERVED ? ACL_SUCCESS : INVALID("tsId is neither AI core nor vector core");
}

/* ---- numbers ---- */

/* FNV-1a: the same device of the same model has the same UUID in every process. */
static uint64_t hash_text(const char *text, uint64_t hash) {
    for (; *text != '\0'; text++) { hash = (hash ^ (unsigned char)*text) * 0x100000001B3U; }
    return hash;
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid) {
    ENTER();
    REQUIRE(uuid);
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    NEED_FEATURE(SOC_STREAM_ABORT); /* the same products: 950, A3, A2 */
    char name[64];
    snprintf(name, sizeof(name), "pyacl emulator %s %d", soc_model()->name, device->id);
    uint64_t halves[2];
    halves[0] = hash_text(name, 0xCBF29CE484222325U);
    halves[1] = hash_text(name, halves[0]);
    memcpy(uuid->bytes, halves, sizeof(halves));
    return ACL_SUCCESS;
}

static aclError same_number(const char *api, int32_t from, int32_t *to) {
    if (to == NULL) { return emu_invalid(api, "the result's address is NULL"); }
    Device *device;
    TRY(find_device(api, from, &device));
    *to = device->id;
    return ACL_SUCCESS;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId) {
    ENTER();
    return same_number(__func__, userDevid, logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid) {
    ENTER();
    return same_number(__func__, logicDevId, userDevid);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId) {
    ENTER();
    return same_number(__func__, phyDevId, logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId) {
    ENTER();
    return same_number(__func__, logicDevId, phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId) {
    ENTER();
    return same_number(__func__, phyDevId, userDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId) {
    ENTER();
    return same_number(__func__, userDevId, phyDevId);
}

/* ---- between devices ---- */

/* The 310 products sit behind a PCIe host bridge, the others are linked among themselves. */
aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value) {
    ENTER();
    REQUIRE(value);
    Device *device, *other;
    TRY(find_device(__func__, (int32_t)deviceId, &device));
    TRY(find_device(__func__, (int32_t)otherDeviceId, &other));
    if (device == other) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "twice device %u", deviceId); }
    bool behind_bridge = strncmp(soc_model()->name, "Ascend310", strlen("Ascend310")) == 0;
    *value = behind_bridge ? ACL_RT_DEVS_TOPOLOGY_PHB : ACL_RT_DEVS_TOPOLOGY_HCCS;
    return ACL_SUCCESS;
}

/* peer_access[a][b]: device a wants to reach b. Data passes once both sides want it. */
static _Atomic(bool) peer_access[MAX_DEVICES][MAX_DEVICES];

/* The products with memory shared between processes are those with access between devices: all but 310B. */
#define SOC_PEER_ACCESS SOC_IPC_MEM

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    ENTER();
    REQUIRE(canAccessPeer);
    if (deviceId == peerDeviceId) { return INVALID("a device is no peer of itself"); }
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    TRY(find_device(__func__, peerDeviceId, &device));
    NEED_FEATURE(SOC_PEER_ACCESS);
    *canAccessPeer = 1;
    return ACL_SUCCESS;
}

/* Withdrawing what was never granted is no error. */
static aclError set_peer_access(const char *api, int32_t peer_id, bool on) {
    Context *context;
    TRY(context_current(api, &context));
    int32_t own_id = context->device->id;
    if (own_id == peer_id) { return emu_invalid(api, "a device is no peer of itself"); }
    Device *peer;
    TRY(find_device(api, peer_id, &peer));
    if (!soc_has(SOC_PEER_ACCESS)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "no access between devices");
    }
    atomic_store(&peer_access[own_id][peer_id], on);
    return ACL_SUCCESS;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    ENTER();
    if (flags != 0) { return emu_fail_unrecorded(ACL_ERROR_FEATURE_UNSUPPORTED, __func__, "flags is not 0"); }
    return set_peer_access(__func__, peerDeviceId, true);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
    ENTER();
    return set_peer_access(__func__, peerDeviceId, false);
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status) {
    ENTER();
    REQUIRE(status);
    Device *device;
    TRY(find_device(__func__, deviceId, &device));
    TRY(find_device(__func__, peerDeviceId, &device));
    *status = atomic_load(&peer_access[deviceId][peerDeviceId]) && atomic_load(&peer_access[peerDeviceId][deviceId]);
    return ACL_SUCCESS;
}
