/* Core limits of devices, streams and threads (the nearest one counts), and system parameters. */
#include <pthread.h>

#include "check.h"

static const aclrtDevResLimitType CUBE = ACL_RT_DEV_RES_CUBE_CORE, VECTOR = ACL_RT_DEV_RES_VECTOR_CORE;
static uint32_t cubes, vectors; /* of the hardware */

static uint32_t of_device(aclrtDevResLimitType type) {
    uint32_t value = 999;
    EXPECT(0, aclrtGetDeviceResLimit(0, type, &value));
    return value;
}

static uint32_t of_stream(aclrtStream stream, aclrtDevResLimitType type) {
    uint32_t value = 999;
    EXPECT(0, aclrtGetStreamResLimit(stream, type, &value));
    return value;
}

static uint32_t of_thread(aclrtDevResLimitType type) {
    uint32_t value = 999;
    EXPECT(0, aclrtGetResInCurrentThread(type, &value));
    return value;
}

static void a_device_must_be_set(void) {
    uint32_t value;
    EXPECT(107002, aclrtGetDeviceResLimit(0, CUBE, &value));
    EXPECT(107002, aclrtSetDeviceResLimit(0, CUBE, 1));
    EXPECT(107002, aclrtResetDeviceResLimit(0));
    EXPECT(107002, aclrtGetResInCurrentThread(CUBE, &value));
    EXPECT(107002, aclrtGetStreamResLimit(NULL, CUBE, &value));
    EXPECT(107002, aclrtUseStreamResInCurrentThread(NULL));
}

static void arguments(aclrtStream stream) {
    uint32_t value;
    EXPECT(100000, aclrtGetDeviceResLimit(0, CUBE, NULL));
    EXPECT(100000, aclrtGetStreamResLimit(stream, CUBE, NULL));
    EXPECT(100000, aclrtGetResInCurrentThread(CUBE, NULL));
    EXPECT(107000, aclrtGetDeviceResLimit(0, (aclrtDevResLimitType)2, &value));
    EXPECT(107000, aclrtSetDeviceResLimit(0, (aclrtDevResLimitType)2, 1));
    EXPECT(107000, aclrtGetStreamResLimit(stream, (aclrtDevResLimitType)2, &value));
    EXPECT(107000, aclrtSetStreamResLimit(stream, (aclrtDevResLimitType)2, 1));
    EXPECT(107000, aclrtGetResInCurrentThread((aclrtDevResLimitType)2, &value));
    EXPECT(107000, aclrtSetDeviceResLimit(0, CUBE, cubes + 1));
    EXPECT(107000, aclrtSetStreamResLimit(stream, VECTOR, vectors + 1));
    EXPECT(107000, aclrtSetStreamResLimit(stream, VECTOR, UINT32_MAX));
    EXPECT(107001, aclrtGetDeviceResLimit(-1, CUBE, &value));
    EXPECT(107001, aclrtSetDeviceResLimit(64, CUBE, 1));
    EXPECT(107001, aclrtResetDeviceResLimit(64));
    EXPECT(507033, aclrtGetDeviceResLimit(1, CUBE, &value));
    EXPECT(107017, aclrtSetStreamResLimit(&value, CUBE, 1));
    EXPECT(107017, aclrtResetStreamResLimit(&value));
    EXPECT(107017, aclrtUseStreamResInCurrentThread(&value));
}

static void the_nearest_limit_counts(aclrtStream stream) {
    CHECK(of_device(CUBE) == cubes && of_device(VECTOR) == vectors);
    CHECK(of_stream(stream, CUBE) == cubes && of_thread(CUBE) == cubes);
    EXPECT(0, aclrtSetDeviceResLimit(0, CUBE, 5));
    CHECK(of_device(CUBE) == 5 && of_stream(stream, CUBE) == 5 && of_stream(NULL, CUBE) == 5 && of_thread(CUBE) == 5);
    CHECK(of_device(VECTOR) == vectors);
    EXPECT(0, aclrtSetStreamResLimit(stream, CUBE, 3));
    CHECK(of_stream(stream, CUBE) == 3 && of_device(CUBE) == 5 && of_stream(NULL, CUBE) == 5 && of_thread(CUBE) == 5);
    EXPECT(0, aclrtSetStreamResLimit(NULL, CUBE, 0));
    CHECK(of_stream(NULL, CUBE) == 0);
    EXPECT(0, aclrtResetStreamResLimit(NULL));
    EXPECT(0, aclrtResetDeviceResLimit(0));
    CHECK(of_stream(stream, CUBE) == 3 && of_stream(NULL, CUBE) == cubes);
    EXPECT(0, aclrtResetStreamResLimit(stream));
    CHECK(of_stream(stream, CUBE) == cubes);
}

static void *ask_in_other_thread(void *value) {
    EXPECT(107002, aclrtGetResInCurrentThread(CUBE, value));
    EXPECT(0, aclrtSetDevice(0));
    *(uint32_t *)value = of_thread(CUBE);
    EXPECT(0, aclrtResetDevice(0));
    return NULL;
}

static void a_thread_chooses_a_stream(aclrtStream stream, aclrtStream other) {
    EXPECT(0, aclrtSetStreamResLimit(stream, CUBE, 2));
    EXPECT(0, aclrtUseStreamResInCurrentThread(stream));
    CHECK(of_thread(CUBE) == 2 && of_thread(VECTOR) == vectors);
    uint32_t elsewhere;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask_in_other_thread, &elsewhere) == 0);
    pthread_join(thread, NULL);
    CHECK(elsewhere == cubes);
    EXPECT(0, aclrtUnuseStreamResInCurrentThread(other));
    CHECK(of_thread(CUBE) == 2);
    EXPECT(0, aclrtUnuseStreamResInCurrentThread(stream));
    CHECK(of_thread(CUBE) == cubes);
    EXPECT(0, aclrtUseStreamResInCurrentThread(stream));
    EXPECT(0, aclrtDestroyStream(stream));
    CHECK(of_thread(CUBE) == cubes);
}

static void limits_end_with_the_device(void) {
    EXPECT(0, aclrtSetDeviceResLimit(0, VECTOR, 1));
    EXPECT(0, aclrtResetDevice(0));
    EXPECT(0, aclrtSetDevice(0));
    CHECK(of_device(VECTOR) == vectors);
}

static void system_parameters(void) {
    int64_t value = 0;
    EXPECT(107002, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    EXPECT(107021, aclrtGetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, &value));
    EXPECT(0, aclrtSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 7));
    EXPECT(0, aclrtGetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, &value));
    CHECK(value == 7);
    EXPECT(100000, aclrtSetSysParamOpt((aclSysParamOpt)4, 1));
    EXPECT(100000, aclrtGetSysParamOpt((aclSysParamOpt)4, &value));
    EXPECT(100000, aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(100000, aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1));
    EXPECT(100000, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL));
    EXPECT(107021, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(0, aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, -3));
    EXPECT(0, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == -3);
    EXPECT(107021, aclrtCtxGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value));
    aclrtContext own, other;
    EXPECT(0, aclrtGetCurrentContext(&own));
    EXPECT(0, aclrtCreateContext(&other, 0));
    EXPECT(107021, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT(0, aclrtDestroyContext(other));
    EXPECT(0, aclrtSetCurrentContext(own));
    EXPECT(0, aclrtResetDevice(0));
}

int main(int argc, char **argv) {
    guard(argc, argv, 20);
    a_device_must_be_set();
    system_parameters();
    EXPECT(0, aclrtSetDevice(0));
    cubes = of_device(CUBE);
    vectors = of_device(VECTOR);
    aclrtStream stream, other;
    EXPECT(0, aclrtCreateStream(&stream));
    EXPECT(0, aclrtCreateStream(&other));
    arguments(stream);
    the_nearest_limit_counts(stream);
    a_thread_chooses_a_stream(stream, other);
    limits_end_with_the_device();
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
