/* Chapter 10, labels. */
#include "engine/label.h"

#include <stdlib.h>

#include "api/api.h"
#include "api/model.h"

aclError aclrtCreateLabel(aclrtLabel *label) {
    ENTER();
    REQUIRE(label);
    CURRENT_CONTEXT(context);
    Label *made;
    TRY(label_create(context, &made, __func__));
    *label = made->handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyLabel(aclrtLabel label) {
    ENTER();
    REQUIRE(label);
    Label *found;
    TRY(label_find(__func__, label, &found));
    label_destroy(found);
    return ACL_SUCCESS;
}

/* Of a model that is built, not of one that is captured. */
static aclError check_model(const char *api, const Model *model, const Stream *stream) {
    if (model == NULL) { return emu_fail(ACL_ERROR_RT_STREAM_MODEL, api, "stream %d is not bound to a model", stream->id); }
    if (!model->captured) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the model of stream %d is a captured one", stream->id);
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
    ENTER();
    REQUIRE(label);
    REQUIRE(stream);
    Label *found;
    TRY(label_find(__func__, label, &found));
    ANY_STREAM(valid, stream);
    CURRENT_CONTEXT(context);
    if (found->context != context) { return FAIL(ACL_ERROR_RT_LABEL_CONTEXT, "the label belongs to another context"); }
    OWN_STREAM(queue, stream);
    const Model *model = valid->model;
    if (model != NULL) { TRY(model_refuse_sub(__func__, model)); }
    TRY(check_model(__func__, model, queue));
    return label_set(found, queue, __func__);
}

static aclError find_labels(const char *api, const aclrtLabel *handles, size_t count, Label **labels) {
    for (size_t i = 0; i < count; i++) { TRY(label_find(api, handles[i], &labels[i])); }
    return ACL_SUCCESS;
}

static aclError create_list(const char *api, const aclrtLabel *handles, size_t count, LabelList **list) {
    Label **labels = malloc(count * sizeof(*labels));
    if (labels == NULL) { return emu_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, api, "no memory for %zu labels", count); }
    aclError code = find_labels(api, handles, count, labels);
    if (code == ACL_SUCCESS) { code = label_list_create(labels, (uint32_t)count, list, api); }
    free(labels);
    return code;
}

aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList) {
    ENTER();
    REQUIRE(labels);
    REQUIRE(labelList);
    if (num == 0 || num > soc_product()->labels) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "%zu labels", num); }
    LabelList *list;
    TRY(create_list(__func__, labels, num, &list));
    *labelList = list->handle;
    return ACL_SUCCESS;
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
    ENTER();
    REQUIRE(labelList);
    LabelList *list;
    TRY(label_list_find(__func__, labelList, &list));
    label_list_destroy(list);
    return ACL_SUCCESS;
}

aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream) {
    ENTER();
    REQUIRE(ptr);
    REQUIRE(labelList);
    REQUIRE(stream);
    LabelList *list;
    TRY(label_list_find(__func__, labelList, &list));
    OWN_STREAM(queue, stream);
    if (maxValue == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "maxValue is 0"); }
    TRY(check_model(__func__, queue->model, queue));
    return label_switch(queue, ptr, maxValue, list, __func__);
}
