/* Chapter 13, exception callbacks: who is told of failed tasks, and what may be asked about one. */
#include "engine/exception.h"

#include "api/api.h"

#define NO_ANSWER UINT32_MAX

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
    ENTER();
    return exception_set(callback) ? ACL_SUCCESS : FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "no thread for callbacks");
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
    ENTER();
    if (callback == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "callback is NULL"); }
    return exception_add(callback) ? ACL_SUCCESS : FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "no thread for callbacks");
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
    ENTER();
    if (callback == NULL) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "callback is NULL"); }
    exception_remove(callback);
    return ACL_SUCCESS;
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void *userData) {
    ENTER();
    REQUIRE(binHandle);
    REQUIRE(callback);
    Binary *binary;
    TRY(binary_find(__func__, binHandle, &binary));
    if (exception_set_for_binary(binary, callback, userData)) { return ACL_SUCCESS; }
    return FAIL(ACL_ERROR_RT_INTERNAL_ERROR, "no thread for callbacks");
}

/* ---- in a callback ---- */

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    return info == NULL ? NO_ANSWER : info->task_id;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    return info == NULL ? NO_ANSWER : info->stream_id;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    return info == NULL ? NO_ANSWER : info->thread_id;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    return info == NULL ? NO_ANSWER : info->device_id;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info) {
    return info == NULL ? NO_ANSWER : info->device_code;
}

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info, void **devArgsPtr, uint32_t *devArgsLen) {
    ENTER();
    if (info == NULL) { return (aclError)NO_ANSWER; }
    REQUIRE(devArgsPtr);
    REQUIRE(devArgsLen);
    if (!info->is_kernel) { return (aclError)NO_ANSWER; }
    *devArgsPtr = info->args;
    *devArgsLen = info->args_size;
    return ACL_SUCCESS;
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info, aclrtFuncHandle *func) {
    ENTER();
    REQUIRE(info);
    REQUIRE(func);
    if (!info->is_kernel) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the failed task was no kernel"); }
    *func = info->function;
    return ACL_SUCCESS;
}
