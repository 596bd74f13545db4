/* Which product the emulator plays. Fixed by the first question about it: the environment variable
 * PYACL_EMULATOR_SOC (SoC name or product key), a choice made before, or the default (A2). */
#include "soc/soc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soc/profiles.inc"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define DEFAULT_MODEL "Ascend910B3"
#define DEFAULT_DEVICES 2U
#define MAX_DEVICES 64U

/* A product key stands for one typical model of it. */
static const struct {
    const char *product, *model;
} typical_models[] = {
    {"950", "Ascend950PR_9599"}, {"A3", "Ascend910_9392"}, {"A2", DEFAULT_MODEL},
    {"310B", "Ascend310B1"},     {"310P", "Ascend310P3"},  {"910", "Ascend910A"},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const SocModel *model;
static uint32_t devices;

const SocModel *soc_find(const char *name) {
    for (size_t i = 0; i < COUNT(typical_models); i++) {
        if (strcmp(typical_models[i].product, name) == 0) { name = typical_models[i].model; }
    }
    for (size_t i = 0; i < COUNT(soc_models); i++) {
        if (strcmp(soc_models[i].name, name) == 0) { return &soc_models[i]; }
    }
    return NULL;
}

static uint32_t devices_from_environment(void) {
    const char *text = getenv("PYACL_EMULATOR_DEVICES");
    if (text == NULL) { return DEFAULT_DEVICES; }
    unsigned long count = strtoul(text, NULL, 10);
    return count > MAX_DEVICES ? MAX_DEVICES : (uint32_t)count;
}

static void fix_choice(void) {
    const char *name = getenv("PYACL_EMULATOR_SOC");
    if (model == NULL && name != NULL && *name != '\0') {
        model = soc_find(name);
        if (model == NULL) {
            fprintf(stderr, "pyacl emulator: PYACL_EMULATOR_SOC=%s is no SoC or product known here; using %s\n", name,
                    DEFAULT_MODEL);
        }
    }
    if (model == NULL) { model = soc_find(DEFAULT_MODEL); }
    if (devices == 0) { devices = devices_from_environment(); }
}

const SocModel *soc_model(void) {
    pthread_once(&once, fix_choice);
    return model;
}

const SocProduct *soc_product(void) { return &soc_products[soc_model()->product]; }

uint32_t soc_device_count(void) {
    pthread_once(&once, fix_choice);
    return devices;
}

bool soc_choose(const char *name) {
    const SocModel *found = soc_find(name);
    if (found == NULL) { return false; }
    model = found;
    return true;
}

void soc_set_device_count(uint32_t count) { devices = count > MAX_DEVICES ? MAX_DEVICES : count; }
