/* Chapter 24 and what else is small: attributes of the software, versions, logs, notes about tasks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "engine/capture.h"
#include "engine/work.h"

/* ---- attributes ---- */

static const aclCannAttr attributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num) {
    ENTER();
    REQUIRE(cannAttrList);
    REQUIRE(num);
    *cannAttrList = attributes;
    *num = sizeof(attributes) / sizeof(attributes[0]);
    return ACL_SUCCESS;
}

/* The products that can represent infinity and NaN are those with bfloat16. */
aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value) {
    ENTER();
    REQUIRE(value);
    bool newer = soc_has(SOC_SAT_INFNAN);
    switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN:
    case ACL_CANN_ATTR_BF16: *value = newer; return ACL_SUCCESS;
    case ACL_CANN_ATTR_JIT_COMPILE:
        if (!newer) { return UNSUPPORTED("not known for %s", soc_product()->title); }
        *value = 1;
        return ACL_SUCCESS;
    default: return INVALID("cannAttr is unknown");
    }
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible) {
    ENTER();
    REQUIRE(socVersion);
    REQUIRE(canCompatible);
    const SocModel *model = soc_find(socVersion);
    bool is_soc = model != NULL && strcmp(model->name, socVersion) == 0; /* and no product key */
    *canCompatible = is_soc && model->arch == soc_model()->arch;
    return ACL_SUCCESS;
}

/* ---- versions of installed packages: $ASCEND_HOME_PATH/share/info/<package>/version.info ---- */

static bool read_version_line(FILE *file, char *version, size_t room) {
    char line[512];
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "Version=", strlen("Version=")) != 0) { continue; }
        const char *value = line + strlen("Version=");
        size_t length = strcspn(value, "\r\n");
        if (length >= room) { length = room - 1; }
        memcpy(version, value, length);
        version[length] = '\0';
        return true;
    }
    return false;
}

static aclError read_version(const char *api, const char *package, char *version, size_t room) {
    char path[4096];
    const char *home = getenv("ASCEND_HOME_PATH");
    if (home == NULL) { return emu_fail_unrecorded(ACL_ERROR_INVALID_FILE, api, "ASCEND_HOME_PATH is not set"); }
    int length = snprintf(path, sizeof(path), "%s/share/info/%s/version.info", home, package);
    FILE *file = length < (int)sizeof(path) ? fopen(path, "r") : NULL;
    bool found = file != NULL && read_version_line(file, version, room);
    if (file != NULL) { fclose(file); }
    return found ? ACL_SUCCESS : emu_fail_unrecorded(ACL_ERROR_INVALID_FILE, api, "no version in %s", path);
}

/* major.minor.release.patch; what is missing stays empty. */
static void split_version(aclCANNPackageVersion *version) {
    char *parts[] = {version->majorVersion, version->minorVersion, version->releaseVersion, version->patchVersion};
    const char *rest = version->version;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && *rest != '\0'; i++) {
        int length = (int)strcspn(rest, ".");
        snprintf(parts[i], ACL_PKG_VERSION_PARTS_MAX_SIZE, "%.*s", length, rest);
        rest += length;
        if (*rest == '.') { rest++; }
    }
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version) {
    ENTER();
    static const char *const packages[] = {
        [ACL_PKG_NAME_CANN] = "cann",         [ACL_PKG_NAME_RUNTIME] = "runtime", [ACL_PKG_NAME_COMPILER] = "compiler",
        [ACL_PKG_NAME_HCCL] = "hccl",         [ACL_PKG_NAME_TOOLKIT] = "toolkit", [ACL_PKG_NAME_OPP] = "opp",
        [ACL_PKG_NAME_OPP_KERNEL] = "opp_kernel", [ACL_PKG_NAME_DRIVER] = "driver",
    };
    REQUIRE(version);
    if ((unsigned)name >= sizeof(packages) / sizeof(packages[0])) { return INVALID("name is unknown"); }
    aclCANNPackageVersion read = {0};
    TRY(read_version(__func__, packages[name], read.version, sizeof(read.version)));
    split_version(&read);
    *version = read;
    return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr) {
    ENTER();
    REQUIRE(pkgName);
    REQUIRE(versionStr);
    return read_version(__func__, pkgName, versionStr, ACL_PKG_VERSION_MAX_SIZE);
}

aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum) {
    ENTER();
    REQUIRE(pkgName);
    REQUIRE(versionNum);
    char version[ACL_PKG_VERSION_MAX_SIZE];
    TRY(read_version(__func__, pkgName, version, sizeof(version)));
    return UNSUPPORTED("how a number is made of \"%s\" is not known here", version);
}

/* ---- logs ---- */

/* Real logs go to files unless ASCEND_SLOG_PRINT_TO_STDOUT is 1; the emulator writes no files. */
static bool is_shown(aclLogLevel level) {
    const char *printed = getenv("ASCEND_SLOG_PRINT_TO_STDOUT"), *lowest = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    return printed != NULL && strcmp(printed, "1") == 0 && (int)level >= (lowest == NULL ? ACL_ERROR : atoi(lowest));
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt, ...) {
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    if (fmt == NULL || (unsigned)logLevel > ACL_ERROR || !is_shown(logLevel)) { return; }
    char text[1024];
    va_list values;
    va_start(values, fmt);
    vsnprintf(text, sizeof(text), fmt, values);
    va_end(values);
    printf("[%s] APP(%d,%u):%s:%u %s: %s\n", names[logLevel], (int)getpid(), emu_thread_id(), file == NULL ? "" : file,
           line, func == NULL ? "" : func, text);
    fflush(stdout);
}

/* ---- notes about tasks ---- */

enum { LARGEST_OP_INFO = 64 * 1024 };

/* Kept with tasks only while a stream is captured with CACHE_OP_INFO on; anywhere else the real runtime, too, takes the
 * note and drops it. */
aclError aclrtCacheLastTaskOpInfo(const void *const infoPtr, const size_t infoSize) {
    ENTER();
    if (infoPtr == NULL || infoSize == 0 || infoSize > LARGEST_OP_INFO) {
        return FAIL(ACL_ERROR_RT_PARAM_INVALID, "no information of 1 to %d bytes", LARGEST_OP_INFO);
    }
    if (!capture_note_task(infoPtr, infoSize)) { return FAIL(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for a note"); }
    return ACL_SUCCESS;
}

aclError aclrtCacheLastTaskExtendInfo(const char *const extendInfoPtr, const size_t infoSize) {
    ENTER();
    if (extendInfoPtr == NULL || infoSize == 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "no information"); }
    return ACL_SUCCESS;
}

/* A mark in the stream for a profiler. Nobody listens, but it takes its place in the queue. */
aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream) {
    ENTER();
    REQUIRE(userdata);
    if (length <= 0) { return FAIL(ACL_ERROR_RT_PARAM_INVALID, "length is not positive"); }
    OWN_STREAM(queue, stream);
    return work_mark(queue, __func__);
}
