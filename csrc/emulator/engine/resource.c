/* Core limits, the nearest one first: stream, device, hardware. */
#include "engine/resource.h"

#include "soc/soc.h"

uint32_t resource_cores(aclrtDevResLimitType type) {
    const SocModel *model = soc_model();
    if (type == ACL_RT_DEV_RES_VECTOR_CORE) { return model->vector_cores; }
    return model->cube_cores != 0 ? model->cube_cores : model->ai_cores;
}

uint32_t resource_of_device(const Device *device, aclrtDevResLimitType type) {
    uint32_t kept = atomic_load(&device->core_limit[type]);
    return kept != 0 ? kept - 1 : resource_cores(type);
}

uint32_t resource_of_stream(const Stream *stream, aclrtDevResLimitType type) {
    uint32_t kept = atomic_load(&stream->core_limit[type]);
    return kept != 0 ? kept - 1 : resource_of_device(stream->context->device, type);
}
