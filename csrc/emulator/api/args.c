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
    struct Args *next_user; /* in the list of those in callers' memory */
} Args;

typedef struct ThreadArgs {
    Args args;
    void *handle;
    unsigned char bytes[MOST_BYTES];
} ThreadArgs;

/* ---- finding ---- */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static struct {
    pthread_mutex_t lock;
    Args *first;
} user_args = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_thread_args(void *argument) {
    ThreadArgs *own = argument;
    handle_drop(own->handle);
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
    pthread_setspecific(thread_key, own);
    return own;
}

/* Callers' addresses are compared, never followed. */
static bool is_user_args(const void *address) {
    pthread_mutex_lock(&user_args.lock);
    Args *args = user_args.first;
    while (args != NULL && args != address) { args = args->next_user; }
    pthread_mutex_unlock(&user_args.lock);
    return args != NULL;
}

static void add_user_args(Args *args) {
    bool known = is_user_args(args);
    Args *next = known ? args->next_user : NULL;
    memset(args, 0, sizeof(*args));
    pthread_mutex_lock(&user_args.lock);
    args->next_user = known ? next : user_args.first;
    if (!known) { user_args.first = args; }
    pthread_mutex_unlock(&user_args.lock);
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

/* Parameters are addressed by their number, so that a wrong one is noticed. */
static aclrtParamHandle param_handle(uint32_t index) { return (aclrtParamHandle)(uintptr_t)(index + 1); }

static Param *find_param(Args *args, aclrtParamHandle handle) {
    uintptr_t number = (uintptr_t)handle;
    return number >= 1 && number <= args->count ? &args->params[number - 1] : NULL;
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
    add_user_args(args);
    args->bytes = userHostMem;
    args->room = actualArgsSize;
    return ACL_SUCCESS;
}

/* ---- collecting ---- */

/* Room for `bytes` more in the next slots; 207000 once the layout is fixed. */
static aclError take_room(const char *api, Args *args, size_t bytes, uint32_t *offset) {
    size_t rounded = (bytes + SLOT - 1) / SLOT * SLOT;
    if (bytes > MOST_BYTES || rounded > args->room - args->size) {
        return emu_fail(ACL_ERROR_RT_PARAM_INVALID, api, "%zu bytes more than the %zu there are room for", bytes, args->room);
    }
    *offset = (uint32_t)args->size;
    memset(args->bytes + args->size, 0, rounded);
    args->size += rounded;
    return ACL_SUCCESS;
}

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
    *handle = param_handle(args->count++);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void *param, size_t paramSize, aclrtParamHandle *paramHandle) {
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
    Param *param = find_param(args, paramHandle);
    if (param == NULL || !param->placeholder || param->has_buffer) {
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
    Param *found = find_param(args, paramHandle);
    if (found == NULL || found->placeholder || found->bytes != paramSize) {
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
