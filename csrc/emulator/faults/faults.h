/* Fault injection into API calls: the nth next call of a function fails without doing anything. */
#ifndef EMU_FAULTS_H
#define EMU_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "acl/acl.h"

extern _Atomic(bool) faults_armed __attribute__((visibility("hidden")));

void faults_arm(const char *api, uint32_t nth, aclError code);
/* The code that this call of `api` is to fail with, or 0. */
aclError faults_take(const char *api);

#endif
