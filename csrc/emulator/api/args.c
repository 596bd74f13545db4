/* Chapter 14, args handles: arguments of a launch collected one by one. Each value sits in the next 8-byte slot; the
 * data of placeholders follows behind all slots, and their slots get its address at each launch. */
#include "api/args.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "engine/binary.h"

enum {
    SLOT = 8,
    MOST_PARAMS = 128,
    MOST_BYTES = 64 * 1024,
};

/* Its address is the caller's parameter handle. */
typedef struct Param {
    uint32_t offset, bytes;
    bool placeholder, has_buffer;
} Param;

/* Lives per thread (aclrtKernelArgsInit), or in the caller's memory (...ByUserMem). */
typedef struct Args {
    unsigned char *bytes;
    size_t room, size; /* of `bytes`; used so far */
    uint32_t count;
    bool finalized, has_placeholder_data;
    Param params[MOST_PARAMS];
    aclrtPlaceHolderInfo placeholders[MOST_PARAMS];
    size_t placeholder_count;
} Args;

typedef struct ThreadArgs {
    Args args;
    void *handle;
    unsigned char bytes[MOST_BYTES];
} ThreadArgs;

/* ---- finding ---- */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

/* Addresses of callers' memory that holds args: a hash set, open addressing, at most half full. Nothing tells when the
 * caller gives the memory back, so addresses stay, and are never followed before the caller names them. */
static struct {
    pthread_mutex_t lock;
    uintptr_t *slots; /* 0 = free */
    size_t room, count;
} user_args = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_thread_args(void *argument) {
    ThreadArgs *own = argument;
    if (own->handle != NULL) { handle_drop(own->handle); }
    free(own);
}

static void make_key(void) { pthread_key_create(&thread_key, end_thread_args); }

static ThreadArgs *thread_args(void) {
    pthread_once(&thread_once, make_key);
    ThreadArgs *own = pthread_getspecific(thread_key);
    if (own != NULL) { return own; }
    own = calloc(1, sizeof(*own));
    if (own == NULL) { return NULL; }
    own->handle = handle_new(KIND_ARGS, &own->args);
    if (own->handle == NULL || pthread_setspecific(thread_key, own) != 0) {
        end_thread_args(own);
        return NULL;
    }
    return own;
}

/* Where `address` is, or the free slot where it belongs. */
static uintptr_t *user_slot(uintptr_t *slots, size_t room, uintptr_t address) {
    size_t i = (size_t)((uint64_t)address * 0x9E3779B97F4A7C15ULL >> 32) % room;
    while (slots[i] != 0 && slots[i] != address) { i = (i + 1) % room; }
    return &slots[i];
}

static bool is_user_args(const void *address) {
    pthread_mutex_lock(&user_args.lock);
    uintptr_t key = (uintptr_t)address;
    bool known = user_args.room != 0 && *user_slot(user_args.slots, user_args.room, key) == key;
    pthread_mutex_unlock(&user_args.lock);
    return known;
}

static bool grow_user_args(void) {
    size_t room = user_args.room == 0 ? 64 : 2 * user_args.room;
    uintptr_t *slots = calloc(room, sizeof(*slots));
    if (slots == NULL) { return false; }
    for (size_t i = 0; i < user_args.room; i++) {
        uintptr_t address = user_args.slots[i];
        if (address != 0) { *user_slot(slots, room, address) = address; }
    }
    free(user_args.slots);
    user_args.slots = slots;
    user_args.room = room;
    return true;
}

static bool add_user_args(const Args *args) {
    pthread_mutex_lock(&user_args.lock);
    bool roomy = 2 * (user_args.count + 1) <= user_args.room || grow_user_args();
    if (roomy) {
        uintptr_t *slot = user_slot(user_args.slots, user_args.room, (uintptr_t)args);
        if (*slot == 0) { user_args.count++; }
        *slot = (uintptr_t)args;
    }
    pthread_mutex_unlock(&user_args.lock);
    return roomy;
}

static aclError find_args(const char *api, aclrtArgsHandle handle, Args **args) {
    *args = handle_get(KIND_ARGS, handle);
    if (*args == NULL && is_user_args(handle)) { *args = handle; }
    if (*args != NULL) { return ACL_SUCCESS; }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no args handle", handle);
}

#define FIND_ARGS(args, handle) \
    Args *args;                 \
    TRY(find_args(__func__, (handle), &args))

/* A handle that is no parameter of these args is refused without being followed. */
static aclError find_param(const char *api, Args *args, aclrtParamHandle handle, Param **param) {
    *param = NULL;
    for (uint32_t i = 0; i < args->count; i++) {
        if (handle != &args->params[i]) { continue; }
        *param = &args->params[i];
        return ACL_SUCCESS;
    }
    return emu_fail(ACL_ERROR_RT_INVALID_HANDLE, api, "%p is no parameter of these arguments", handle);
}

/* ---- starting ---- */

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(memSize);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    *memSize = sizeof(Args);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t *actualArgsSize) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(actualArgsSize);
    if (userArgsSize == 0) { return INVALID("userArgsSize is 0"); }
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    *actualArgsSize = (userArgsSize + SLOT - 1) / SLOT * SLOT;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(argsHandle);
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    ThreadArgs *own = thread_args();
    if (own == NULL) { return FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for an args handle"); }
    own->args = (Args){.bytes = own->bytes, .room = MOST_BYTES};
    *argsHandle = own->handle;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void *userHostMem,
                                      size_t actualArgsSize) {
    ENTER();
    REQUIRE(funcHandle);
    REQUIRE(argsHandle);
    REQUIRE(userHostMem);
    if (actualArgsSize == 0) { return INVALID("actualArgsSize is 0"); }
    Function *function;
    TRY(function_find(__func__, funcHandle, &function));
    Args *args = argsHandle;
    if (!add_user_args(args)) { return FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for an args handle"); }
    *args = (Args){.bytes = userHostMem, .room = actualArgsSize};
    return ACL_SUCCESS;
}

/* ---- collecting ---- */

/* Room for `bytes` more in the next slots. */
static aclError take_room(const char *api, Args *args, size_t bytes, uint32_t *offset) {
    size_t left = args->room - args->size, rounded = (bytes + SLOT - 1) / SLOT * SLOT;
    if (bytes > left || rounded > left) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%zu bytes more, and %zu of %zu are used", bytes, args->size,
                        args->room);
    }
    *offset = (uint32_t)args->size;
    memset(args->bytes + args->size, 0, rounded);
    args->size += rounded;
    return ACL_SUCCESS;
}

/* 207000 once placeholder data lies behind the slots, or the arguments are final. */
static aclError append(const char *api, Args *args, size_t bytes, bool placeholder, aclrtParamHandle *handle) {
    if (args->finalized || args->has_placeholder_data) {
        return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, api, "the layout of the arguments is fixed");
    }
    if (args->count == MOST_PARAMS) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "more than %d parameters", MOST_PARAMS);
    }
    uint32_t offset;
    TRY(take_room(api, args, bytes, &offset));
    args->params[args->count] = (Param){.offset = offset, .bytes = (uint32_t)bytes, .placeholder = placeholder};
    *handle = &args->params[args->count++];
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize,
                               aclrtParamHandle *paramHandle) {
    ENTER();
    REQUIRE(argsHandle);
    REQUIRE(param);
    REQUIRE(paramHandle);
    if (paramSize == 0) { return INVALID("paramSize is 0"); }
    FIND_ARGS(args, argsHandle);
    TRY(append(__func__, args, paramSize, false, paramHandle));
    memcpy(args->bytes + args->params[args->count - 1].offset, param, paramSize);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle) {
    ENTER();
    REQUIRE(argsHandle);
    REQUIRE(paramHandle);
    FIND_ARGS(args, argsHandle);
    return append(__func__, args, sizeof(void *), true, paramHandle);
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize,
                                             void **bufferAddr) {
    ENTER();
    REQUIRE(argsHandle);
    REQUIRE(paramHandle);
    REQUIRE(bufferAddr);
    if (dataSize == 0) { return INVALID("dataSize is 0"); }
    FIND_ARGS(args, argsHandle);
    if (args->finalized) { return UNSUPPORTED("the arguments are finalized"); }
    Param *param;
    TRY(find_param(__func__, args, paramHandle, &param));
    if (!param->placeholder || param->has_buffer) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "the parameter is no placeholder without data");
    }
    uint32_t offset;
    TRY(take_room(__func__, args, dataSize, &offset));
    param->has_buffer = args->has_placeholder_data = true;
    args->placeholders[args->placeholder_count++] = (aclrtPlaceHolderInfo){param->offset, offset};
    *bufferAddr = args->bytes + offset;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param,
                                   size_t paramSize) {
    ENTER();
    REQUIRE(argsHandle);
    REQUIRE(paramHandle);
    REQUIRE(param);
    if (paramSize == 0) { return INVALID("paramSize is 0"); }
    FIND_ARGS(args, argsHandle);
    Param *found;
    TRY(find_param(__func__, args, paramHandle, &found));
    if (found->placeholder || found->bytes != paramSize) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "no ordinary parameter of %zu bytes", paramSize);
    }
    memcpy(args->bytes + found->offset, param, paramSize);
    args->finalized = false;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
    ENTER();
    REQUIRE(argsHandle);
    FIND_ARGS(args, argsHandle);
    CURRENT_CONTEXT(context);
    (void)context;
    args->finalized = true;
    return ACL_SUCCESS;
}

aclError args_packed(const char *api, aclrtArgsHandle handle, PackedArgs *packed) {
    Args *args;
    TRY(find_args(api, handle, &args));
    if (!args->finalized) { return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "the arguments are not finalized"); }
    *packed = (PackedArgs){args->bytes, args->size, args->placeholders, args->placeholder_count};
    return ACL_SUCCESS;
}
