/* Product profiles: what each Atlas product supports and how much of it. The tables are data, generated from
 * csrc/abi/products.json; this file only knows their shape and which one is in force. */
#ifndef EMU_SOC_H
#define EMU_SOC_H

#include <stdbool.h>
#include <stdint.h>

#include "soc/features.h"

typedef struct SocProduct {
    const char *key;
    const char *title;
    uint32_t streams, queue_depth, persistent_depth, events, notifies, labels, ticks_per_ms, default_stream_flags;
    uint64_t features;
} SocProduct;

typedef struct SocModel {
    const char *name;
    int product; /* index into the products */
    const char *short_name;
    uint32_t arch, ai_cores, cube_cores, vector_cores, ai_cpus;
    uint64_t hbm_bytes, l2_bytes;
} SocModel;

/* The model and product in force. The first call fixes them (PYACL_EMULATOR_SOC, or soc_choose before it). */
const SocModel *soc_model(void);
const SocProduct *soc_product(void);
uint32_t soc_device_count(void);

static inline bool soc_has(uint64_t feature) { return (soc_product()->features & feature) != 0; }

/* By SoC name or product key; NULL when there is none. */
const SocModel *soc_find(const char *name);

/* Chooses by SoC name or product key. False when the name is unknown. */
bool soc_choose(const char *name);
void soc_set_device_count(uint32_t count);

#endif
