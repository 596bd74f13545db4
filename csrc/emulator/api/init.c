/* Chapter 02, initialisation: a process-wide count of aclInit calls, and callbacks at its first and last step. Nothing
 * else asks whether aclInit ran. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

enum { CONFIG_LIMIT = 1 << 20 };

static struct {
    pthread_mutex_t lock;
    uint64_t count;
    bool finalized_before; /* an extra aclFinalize is an error only after a first one */
    char *config;          /* what the first aclInit was given: later ones must agree */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *read_config(const char *path) {
    if (path == NULL || *path == '\0') { return strdup(""); }
    FILE *file = fopen(path, "r");
    if (file == NULL) { return NULL; }
    char *text = calloc(1, CONFIG_LIMIT + 1);
    if (text != NULL && fread(text, 1, CONFIG_LIMIT, file) == 0) { text[0] = '\0'; }
    fclose(file);
    return text;
}

static bool is_json_object(const char *text) {
    const char *first = text + strspn(text, " \t\r\n");
    const char *last = text + strlen(text);
    while (last > first && strchr(" \t\r\n", last[-1]) != NULL) { last--; }
    return last - first >= 2 && *first == '{' && last[-1] == '}';
}

/* Settings that would change what other calls do, and that the emulator does not follow. */
static const char *const unfollowed_settings[] = {"\"defaultDevice\"", "\"acl_graph\"", "\"err_msg_mode\""};

static aclError check_config(const char *config, const char *path) {
    if (*config != '\0' && !is_json_object(config)) {
        return emu_fail_unrecorded(ACL_ERROR_PARSE_FILE, "aclInit", "%s is no JSON object", path);
    }
    for (size_t i = 0; i < sizeof(unfollowed_settings) / sizeof(unfollowed_settings[0]); i++) {
        if (strstr(config, unfollowed_settings[i]) != NULL) {
            return emu_fail_unrecorded(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclInit", "%s: the setting %s is not emulated",
                                       path, unfollowed_settings[i]);
        }
    }
    if (state.config != NULL && strcmp(state.config, config) != 0) {
        return emu_invalid("aclInit", "configuration differs from the first aclInit's");
    }
    return ACL_SUCCESS;
}

static aclError initialise(const char *path) {
    if (state.count > 0) {
        state.count++;
        return emu_fail_unrecorded(ACL_ERROR_REPEAT_INITIALIZE, "aclInit", "initialised before");
    }
    char *config = read_config(path);
    if (config == NULL) { return emu_fail_unrecorded(ACL_ERROR_INVALID_FILE, "aclInit", "cannot read %s", path); }
    aclError code = check_config(config, path);
    if (code != ACL_SUCCESS || state.config != NULL) { free(config); }
    else { state.config = config; }
    if (code == ACL_SUCCESS) { state.count = 1; }
    return code;
}

/* ---- callbacks ---- */

typedef union CallbackFunction {
    aclInitCallbackFunc init;
    aclFinalizeCallbackFunc finalize;
} CallbackFunction;

typedef struct Callback {
    aclRegisterCallbackType type;
    CallbackFunction function;
    void *user_data;
} Callback;

/* In order of registration. Guarded by state.lock; called outside of it, on a copy. */
typedef struct Callbacks {
    Callback *entries;
    size_t count;
} Callbacks;

static Callbacks init_callbacks, finalize_callbacks;

static bool is_same(CallbackFunction one, CallbackFunction other) { return memcmp(&one, &other, sizeof(one)) == 0; }

static bool is_type(aclRegisterCallbackType type) {
    return (unsigned)type <= ACL_REG_TYPE_ACL_RETR || type == ACL_REG_TYPE_OTHER;
}

/* One callback per type, except that OTHER may have many. */
static bool add_callback(Callbacks *callbacks, Callback added) {
    for (size_t i = 0; i < callbacks->count; i++) {
        const Callback *entry = &callbacks->entries[i];
        bool taken = added.type != ACL_REG_TYPE_OTHER || is_same(entry->function, added.function);
        if (entry->type == added.type && taken) { return false; }
    }
    Callback *entries = realloc(callbacks->entries, (callbacks->count + 1) * sizeof(*entries));
    if (entries == NULL) { return false; }
    callbacks->entries = entries;
    entries[callbacks->count++] = added;
    return true;
}

static bool remove_callback(Callbacks *callbacks, aclRegisterCallbackType type, CallbackFunction function) {
    for (size_t i = 0; i < callbacks->count; i++) {
        Callback *entry = &callbacks->entries[i];
        if (entry->type != type || !is_same(entry->function, function)) { continue; }
        memmove(entry, entry + 1, (callbacks->count - i - 1) * sizeof(*entry));
        callbacks->count--;
        return true;
    }
    return false;
}

static Callbacks copy_callbacks(const Callbacks *callbacks) {
    Callbacks copy = {malloc((callbacks->count + 1) * sizeof(Callback)), callbacks->count};
    if (copy.entries == NULL) { copy.count = 0; }
    else if (copy.count > 0) { memcpy(copy.entries, callbacks->entries, copy.count * sizeof(Callback)); }
    return copy;
}

/* The first that does not answer 0 ends the sequence. */
static aclError call_init_callbacks(Callbacks callbacks, const char *config) {
    aclError code = ACL_SUCCESS;
    for (size_t i = 0; i < callbacks.count && code == ACL_SUCCESS; i++) {
        code = callbacks.entries[i].function.init(config, strlen(config), callbacks.entries[i].user_data);
    }
    return code;
}

static aclError call_finalize_callbacks(Callbacks callbacks) {
    aclError code = ACL_SUCCESS;
    for (size_t i = 0; i < callbacks.count && code == ACL_SUCCESS; i++) {
        code = callbacks.entries[i].function.finalize(callbacks.entries[i].user_data);
    }
    return code;
}

static aclError refused(const char *api, const char *why) {
    return emu_fail_unrecorded(ACL_ERROR_INTERNAL_ERROR, api, "%s", why);
}

/* One that comes after aclInit is called at once; its answer does not count. */
aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData) {
    ENTER();
    REQUIRE(cbFunc);
    if (!is_type(type)) { return INVALID("type is unknown"); }
    pthread_mutex_lock(&state.lock);
    bool added = add_callback(&init_callbacks, (Callback){type, {.init = cbFunc}, userData});
    const char *config = state.count > 0 ? state.config : NULL; /* never freed once it is set */
    pthread_mutex_unlock(&state.lock);
    if (!added) { return refused(__func__, "the type has a callback already"); }
    if (config != NULL) { cbFunc(config, strlen(config), userData); }
    return ACL_SUCCESS;
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
    ENTER();
    REQUIRE(cbFunc);
    pthread_mutex_lock(&state.lock);
    bool removed = remove_callback(&init_callbacks, type, (CallbackFunction){.init = cbFunc});
    pthread_mutex_unlock(&state.lock);
    return removed ? ACL_SUCCESS : refused(__func__, "no such callback is registered");
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData) {
    ENTER();
    REQUIRE(cbFunc);
    if (!is_type(type)) { return INVALID("type is unknown"); }
    pthread_mutex_lock(&state.lock);
    bool added = add_callback(&finalize_callbacks, (Callback){type, {.finalize = cbFunc}, userData});
    pthread_mutex_unlock(&state.lock);
    return added ? ACL_SUCCESS : refused(__func__, "the type has a callback already");
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
    ENTER();
    REQUIRE(cbFunc);
    pthread_mutex_lock(&state.lock);
    bool removed = remove_callback(&finalize_callbacks, type, (CallbackFunction){.finalize = cbFunc});
    pthread_mutex_unlock(&state.lock);
    return removed ? ACL_SUCCESS : refused(__func__, "no such callback is registered");
}

/* ---- init and finalize ---- */

/* Runs outside the lock: callbacks may call back. One that fails takes the initialisation back. */
static aclError tell_initialised(void) {
    pthread_mutex_lock(&state.lock);
    Callbacks callbacks = copy_callbacks(&init_callbacks);
    const char *config = state.config;
    pthread_mutex_unlock(&state.lock);
    aclError code = call_init_callbacks(callbacks, config);
    free(callbacks.entries);
    if (code == ACL_SUCCESS) { return ACL_SUCCESS; }
    pthread_mutex_lock(&state.lock);
    state.count = 0;
    pthread_mutex_unlock(&state.lock);
    return code;
}

aclError aclInit(const char *configPath) {
    ENTER();
    pthread_mutex_lock(&state.lock);
    aclError code = initialise(configPath);
    pthread_mutex_unlock(&state.lock);
    return code == ACL_SUCCESS ? tell_initialised() : code;
}

static aclError finalised_already(const char *api) {
    return emu_fail_unrecorded(ACL_ERROR_REPEAT_FINALIZE, api, "nothing to finalize");
}

/* The callbacks are asked only when something was initialised, and may keep it so. */
static aclError ask_to_finalise(bool initialised) {
    if (!initialised) { return ACL_SUCCESS; }
    pthread_mutex_lock(&state.lock);
    Callbacks callbacks = copy_callbacks(&finalize_callbacks);
    pthread_mutex_unlock(&state.lock);
    aclError code = call_finalize_callbacks(callbacks);
    free(callbacks.entries);
    return code;
}

static uint64_t reference_count(void) {
    pthread_mutex_lock(&state.lock);
    uint64_t count = state.count;
    pthread_mutex_unlock(&state.lock);
    return count;
}

aclError aclFinalize(void) {
    ENTER();
    TRY(ask_to_finalise(reference_count() > 0));
    pthread_mutex_lock(&state.lock);
    bool again = state.count == 0 && state.finalized_before;
    state.count = 0;
    state.finalized_before = true;
    pthread_mutex_unlock(&state.lock);
    return again ? finalised_already(__func__) : ACL_SUCCESS;
}

aclError aclFinalizeReference(uint64_t *refCount) {
    ENTER();
    TRY(ask_to_finalise(reference_count() == 1));
    pthread_mutex_lock(&state.lock);
    bool again = state.count == 0;
    if (!again && --state.count == 0) { state.finalized_before = true; }
    if (refCount != NULL) { *refCount = state.count; }
    pthread_mutex_unlock(&state.lock);
    return again ? finalised_already(__func__) : ACL_SUCCESS;
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion) {
    ENTER();
    REQUIRE(majorVersion);
    REQUIRE(minorVersion);
    REQUIRE(patchVersion);
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}
