/* Chapter 12, how long a kernel may run: a limit for all kernels launched from now on. */
#include "api/op_timeout.h"

#include "api/api.h"
#include "engine/work.h"

/* The emulated device's own: the real ones depend on the firmware. The maximum is about what A2 devices have. */
#define INTERVAL_US 1000U
#define MOST_US (1090ULL * 1000000U)

#define US_PER_S 1000000ULL
#define US_PER_MS 1000ULL
#define NS_PER_US 1000ULL

static _Atomic(uint64_t) limit_us = MOST_US; /* in force only once somebody has set one */

uint64_t op_timeout_actual_us(uint64_t wanted_us) {
    if (wanted_us == 0 || wanted_us > MOST_US) { return MOST_US; }
    return (wanted_us + INTERVAL_US - 1) / INTERVAL_US * INTERVAL_US;
}

static uint64_t set_limit(uint64_t wanted_us) {
    uint64_t actual = op_timeout_actual_us(wanted_us);
    atomic_store(&limit_us, actual);
    work_set_kernel_timeout(actual * NS_PER_US);
    return actual;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
    ENTER();
    set_limit(timeout * US_PER_S);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
    ENTER();
    set_limit(timeout * US_PER_MS);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout) {
    ENTER();
    REQUIRE(actualTimeout);
    *actualTimeout = set_limit(timeout);
    return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs) {
    ENTER();
    REQUIRE(timeoutMs);
    *timeoutMs = (uint32_t)(atomic_load(&limit_us) / US_PER_MS);
    return ACL_SUCCESS;
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval) {
    ENTER();
    REQUIRE(interval);
    CURRENT_CONTEXT(context);
    (void)context;
    *interval = INTERVAL_US;
    return ACL_SUCCESS;
}
