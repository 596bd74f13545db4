/* Chapter 02, initialisation: a process-wide count of aclInit calls. Nothing else asks whether aclInit ran. */
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

aclError aclInit(const char *configPath) {
    ENTER();
    pthread_mutex_lock(&state.lock);
    aclError code = initialise(configPath);
    pthread_mutex_unlock(&state.lock);
    return code;
}

static aclError finalised_already(const char *api) {
    return emu_fail_unrecorded(ACL_ERROR_REPEAT_FINALIZE, api, "nothing to finalize");
}

aclError aclFinalize(void) {
    ENTER();
    pthread_mutex_lock(&state.lock);
    bool again = state.count == 0 && state.finalized_before;
    state.count = 0;
    state.finalized_before = true;
    pthread_mutex_unlock(&state.lock);
    return again ? finalised_already(__func__) : ACL_SUCCESS;
}

aclError aclFinalizeReference(uint64_t *refCount) {
    ENTER();
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
