/* One armed fault at a time. The calls pay one load while none is armed. */
#include "faults/faults.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Atomic(bool) faults_armed;

static struct {
    pthread_mutex_t lock;
    char api[96];
    uint32_t remaining;
    aclError code;
} fault = {.lock = PTHREAD_MUTEX_INITIALIZER};

void faults_arm(const char *api, uint32_t nth, aclError code) {
    pthread_mutex_lock(&fault.lock);
    snprintf(fault.api, sizeof(fault.api), "%s", api);
    fault.remaining = nth;
    fault.code = code;
    atomic_store(&faults_armed, nth != 0);
    pthread_mutex_unlock(&fault.lock);
}

aclError faults_take(const char *api) {
    aclError code = ACL_SUCCESS;
    pthread_mutex_lock(&fault.lock);
    if (fault.remaining > 0 && strcmp(fault.api, api) == 0 && --fault.remaining == 0) {
        code = fault.code;
        atomic_store(&faults_armed, false);
    }
    pthread_mutex_unlock(&fault.lock);
    return code;
}
