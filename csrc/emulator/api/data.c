/* Chapters 24 and 25, data without a device: data buffers, sizes of data types, half-precision numbers. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

/* ---- data buffers: an address and a size that belong together; the memory stays the caller's ---- */

struct aclDataBuffer {
    void *data;
    size_t bytes;
};

aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) {
    aclDataBuffer *buffer = malloc(sizeof(*buffer));
    if (buffer != NULL) { *buffer = (aclDataBuffer){data, size}; }
    return buffer;
}

aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) {
    ENTER();
    REQUIRE(dataBuffer);
    free((void *)(uintptr_t)dataBuffer);
    return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) {
    ENTER();
    REQUIRE(dataBuffer);
    *dataBuffer = (aclDataBuffer){data, size};
    return ACL_SUCCESS;
}

void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) { return dataBuffer == NULL ? NULL : dataBuffer->data; }

uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) {
    return (uint32_t)aclGetDataBufferSizeV2(dataBuffer);
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) { return dataBuffer == NULL ? 0 : dataBuffer->bytes; }

/* ---- data types ---- */

size_t aclDataTypeSize(aclDataType dataType) {
    switch (dataType) {
    case ACL_DT_UNDEFINED:
    case ACL_STRING: return 0;
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0: return 1;
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_FLOAT16:
    case ACL_BF16: return 2;
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_FLOAT:
    case ACL_COMPLEX32: return 4;
    case ACL_COMPLEX128: return 16;
    default: return 8; /* unknown ones too */
    }
}

/* ---- half precision: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits ---- */

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

float aclFloat16ToFloat(aclFloat16 value) {
    uint32_t sign = (uint32_t)(value & 0x8000U) << 16, exponent = (value >> 10) & 0x1FU, fraction = value & 0x3FFU;
    if (exponent == 0x1F) { return float_of_bits(sign | 0x7F800000U | fraction << 13); } /* infinity, NaN */
    if (exponent != 0) { return float_of_bits(sign | (exponent + 112U) << 23 | fraction << 13); }
    float magnitude = (float)fraction * 0x1p-24F; /* zero and subnormals, exactly */
    return sign != 0 ? -magnitude : magnitude;
}

/* Drops the low `count` bits of `value`, to nearest, ties to even. */
static uint32_t round_off(uint32_t value, uint32_t count) {
    uint32_t half = 1U << (count - 1), kept = value >> count, rest = value & ((half << 1) - 1U);
    return kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
}

aclFloat16 aclFloatToFloat16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) { return (aclFloat16)(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU)); } /* NaN */
    if (magnitude >= 0x477FF000U) { return (aclFloat16)(sign | 0x7C00U); } /* rounds to 65536 or is above: infinity */
    if (magnitude >= 0x38800000U) { return (aclFloat16)(sign | round_off(magnitude - (112U << 23), 13)); }
    if (magnitude < 0x33000000U) { return (aclFloat16)sign; } /* below half of the smallest subnormal */
    uint32_t exponent = magnitude >> 23, fraction = (magnitude & 0x7FFFFFU) | 0x800000U;
    return (aclFloat16)(sign | round_off(fraction, 126U - exponent));
}
