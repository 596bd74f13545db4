/* What the chapters that know models ask about them. */
#ifndef EMU_API_MODEL_H
#define EMU_API_MODEL_H

#include "engine/model.h"

#define FIND_MODEL(model, handle) \
    Model *model;                 \
    TRY(model_find(__func__, (handle), &model))

/* The calls about single tasks are for the products with a control queue. */
#define SOC_MODEL_TASKS SOC_CONTROL_SQ

/* 107002, 107004. */
aclError model_require_own(const char *api, const Model *model);
/* 207000 for the sub-model of a condition. */
aclError model_refuse_sub(const char *api, const Model *model);

#endif
