/* Chapter 16, groups of cores, of one product only (310P). The emulated device is not divided: one group, number 0,
 * has everything. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

enum { GROUPS = 1 };

/* What the program holds between asking for all groups and asking for their details. */
struct tagRtGroupInfo {
    uint32_t count; /* 0 until aclrtGetAllGroupInfo */
};

static aclError enter(const char *api) {
    if (!soc_has(SOC_GROUPS)) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "%s has no groups", soc_product()->title);
    }
    Context *context;
    return context_current(api, &context);
}

aclError aclrtGetGroupCount(uint32_t *count) {
    ENTER();
    REQUIRE(count);
    TRY(enter(__func__));
    *count = GROUPS;
    return ACL_SUCCESS;
}

aclError aclrtSetGroup(int32_t groupId) {
    ENTER();
    TRY(enter(__func__));
    return groupId == 0 ? ACL_SUCCESS : FAIL(ACL_ERROR_RT_PARAM_INVALID, "group %d", groupId);
}

aclrtGroupInfo *aclrtCreateGroupInfo(void) {
    if (!soc_has(SOC_GROUPS)) {
        UNSUPPORTED("%s has no groups", soc_product()->title);
        return NULL;
    }
    return calloc(1, sizeof(aclrtGroupInfo));
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo) {
    ENTER();
    REQUIRE(groupInfo);
    free(groupInfo);
    return ACL_SUCCESS;
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo) {
    ENTER();
    REQUIRE(groupInfo);
    TRY(enter(__func__));
    groupInfo->count = GROUPS;
    return ACL_SUCCESS;
}

/* Copy channels and queues are not counted in the emulated device. */
static bool attribute_of_group(aclrtGroupAttr attribute, int32_t *value) {
    const SocModel *model = soc_model();
    switch (attribute) {
    case ACL_GROUP_AICORE_INT: *value = (int32_t)model->ai_cores; return true;
    case ACL_GROUP_AIV_INT: *value = (int32_t)model->vector_cores; return true;
    case ACL_GROUP_AIC_INT: *value = (int32_t)model->ai_cpus; return true;
    case ACL_GROUP_GROUPID_INT: *value = 0; return true;
    default: return false;
    }
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr,
                                 void *attrValue, size_t valueLen, size_t *paramRetSize) {
    ENTER();
    REQUIRE(groupInfo);
    REQUIRE(attrValue);
    REQUIRE(paramRetSize);
    TRY(enter(__func__));
    if (groupIndex < 0 || (uint32_t)groupIndex >= groupInfo->count) { return INVALID("groupIndex is out of range"); }
    if ((unsigned)attr > ACL_GROUP_GROUPID_INT) { return INVALID("attr is unknown"); }
    int32_t value;
    if (!attribute_of_group(attr, &value)) { return UNSUPPORTED("attribute %d is not counted here", (int)attr); }
    *paramRetSize = sizeof(value);
    if (valueLen < sizeof(value)) { return INVALID("valueLen is too small"); }
    memcpy(attrValue, &value, sizeof(value));
    return ACL_SUCCESS;
}
