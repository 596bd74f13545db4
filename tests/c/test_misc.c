/* Attributes of the software, versions, logs, notes about tasks, profiler marks. */
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "pyacl/emulator.h"

static void attributes(void) {
    const aclCannAttr *list;
    size_t count;
    int32_t value;
    EXPECT(100000, aclGetCannAttributeList(NULL, &count));
    EXPECT(100000, aclGetCannAttributeList(&list, NULL));
    EXPECT(0, aclGetCannAttributeList(&list, &count));
    CHECK(count == 3 && list[0] == ACL_CANN_ATTR_INF_NAN && list[1] == ACL_CANN_ATTR_BF16);
    CHECK(list[2] == ACL_CANN_ATTR_JIT_COMPILE);
    for (size_t i = 0; i < count; i++) {
        EXPECT(0, aclGetCannAttribute(list[i], &value));
        CHECK(value == 1);
    }
    EXPECT(100000, aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &value));
    EXPECT(100000, aclGetCannAttribute((aclCannAttr)3, &value));
    EXPECT(100000, aclGetCannAttribute(ACL_CANN_ATTR_BF16, NULL));
}

static void compatibility(void) {
    const struct {
        const char *name;
        int32_t compatible;
    } cases[] = {{"Ascend910B1", 1}, {"Ascend910_9392", 1}, {"Ascend910B", 0}, {"Ascend310P3", 0},
                 {"Ascend950PR_9599", 0}, {"A2", 0},            {"", 0}};
    int32_t compatible;
    EXPECT(100000, aclrtCheckArchCompatibility(NULL, &compatible));
    EXPECT(100000, aclrtCheckArchCompatibility("Ascend910B1", NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        EXPECT(0, aclrtCheckArchCompatibility(cases[i].name, &compatible));
        CHECK(compatible == cases[i].compatible);
    }
}

static const char *const folders[] = {"", "/share", "/share/info", "/share/info/runtime"};

static void remove_version(const char *home) {
    char path[512];
    snprintf(path, sizeof(path), "%s/share/info/runtime/version.info", home);
    remove(path);
    for (int i = 3; i >= 0; i--) {
        snprintf(path, sizeof(path), "%s%s", home, folders[i]);
        remove(path);
    }
}

static void write_version(const char *home) {
    char path[512];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s%s", home, folders[i]);
        mkdir(path, 0700);
    }
    snprintf(path, sizeof(path), "%s/share/info/runtime/version.info", home);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs("version_dir=9.1.0\nVersion=9.1.RC2.7\n", file);
    fclose(file);
}

static void versions(void) {
    aclCANNPackageVersion version;
    char text[ACL_PKG_VERSION_MAX_SIZE], home[] = "/tmp/pyacl-version-XXXXXX", runtime[] = "runtime", none[] = "none";
    int32_t number;
    unsetenv("ASCEND_HOME_PATH");
    EXPECT(100000, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, NULL));
    EXPECT(100003, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
    EXPECT(100000, aclsysGetVersionStr(NULL, text));
    EXPECT(100000, aclsysGetVersionStr(runtime, NULL));
    EXPECT(100003, aclsysGetVersionStr(runtime, text));
    EXPECT(100000, aclsysGetVersionNum(runtime, NULL));
    EXPECT(100003, aclsysGetVersionNum(runtime, &number));
    CHECK(mkdtemp(home) != NULL);
    write_version(home);
    setenv("ASCEND_HOME_PATH", home, 1);
    EXPECT(100000, aclsysGetCANNVersion((aclCANNPackageName)8, &version));
    EXPECT(100003, aclsysGetCANNVersion(ACL_PKG_NAME_OPP, &version));
    EXPECT(100003, aclsysGetVersionStr(none, text));
    EXPECT(0, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
    CHECK(strcmp(version.version, "9.1.RC2.7") == 0);
    CHECK(strcmp(version.majorVersion, "9") == 0 && strcmp(version.minorVersion, "1") == 0);
    CHECK(strcmp(version.releaseVersion, "RC2") == 0 && strcmp(version.patchVersion, "7") == 0);
    EXPECT(0, aclsysGetVersionStr(runtime, text));
    CHECK(strcmp(text, "9.1.RC2.7") == 0);
    EXPECT(207000, aclsysGetVersionNum(runtime, &number));
    remove_version(home);
}

static void logs(void) {
    aclAppLog(ACL_ERROR, __func__, __FILE__, __LINE__, "%d of %s", 3, "four");
    aclAppLog(ACL_ERROR, NULL, NULL, 0, NULL);
    aclAppLog((aclLogLevel)77, NULL, NULL, 0, "x");
    setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
    aclAppLog(ACL_INFO, __func__, __FILE__, __LINE__, "below the level: not to be seen");
    aclAppLog(ACL_ERROR, NULL, NULL, 0, "%s", "a line on the standard output");
}

static void notes(void) {
    char text[8] = "op";
    EXPECT(107000, aclrtCacheLastTaskOpInfo(NULL, 8));
    EXPECT(107000, aclrtCacheLastTaskOpInfo(text, 0));
    EXPECT(107000, aclrtCacheLastTaskOpInfo(text, (size_t)1 << 30));
    EXPECT(0, aclrtCacheLastTaskOpInfo(text, sizeof(text)));
    EXPECT(107000, aclrtCacheLastTaskExtendInfo(NULL, 8));
    EXPECT(107000, aclrtCacheLastTaskExtendInfo(text, 0));
    EXPECT(0, aclrtCacheLastTaskExtendInfo(text, 3));
}

static void marks_take_their_place(void) {
    aclrtStream stream;
    char data[18] = {0};
    uint32_t before, after;
    int32_t id;
    aclrtStreamStatus status;
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(100000, aclrtProfTrace(NULL, sizeof(data), stream));
    EXPECT(107017, aclrtProfTrace(data, sizeof(data), data));
    EXPECT(107000, aclrtProfTrace(data, 0, stream));
    EXPECT(0, aclrtStreamGetId(stream, &id));
    EXPECT(0, aclrtProfTrace(data, sizeof(data), stream));
    EXPECT(0, aclrtGetThreadLastTaskId(&before));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, pyaclEmuHoldStream(id, 1));
    EXPECT(0, aclrtProfTrace(data, sizeof(data), stream));
    EXPECT(0, aclrtGetThreadLastTaskId(&after));
    CHECK(after == before + 1);
    EXPECT(0, aclrtStreamQuery(stream, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    EXPECT(0, pyaclEmuHoldStream(id, 0));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(0, aclrtDestroyStream(stream));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    attributes();
    compatibility();
    versions();
    logs();
    notes();
    EXPECT(0, aclrtSetDevice(0));
    marks_take_their_place();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
