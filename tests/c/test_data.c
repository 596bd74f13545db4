/* Data buffers, sizes of data types, and half precision against the compiler's own arithmetic. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static void buffers(void) {
    char memory[16];
    aclDataBuffer *buffer = aclCreateDataBuffer(memory, sizeof(memory)), *empty = aclCreateDataBuffer(NULL, 0);
    CHECK(buffer != NULL && empty != NULL);
    CHECK(aclGetDataBufferAddr(buffer) == memory);
    CHECK(aclGetDataBufferSizeV2(buffer) == sizeof(memory) && aclGetDataBufferSize(buffer) == sizeof(memory));
    EXPECT(0, aclUpdateDataBuffer(buffer, memory + 4, (size_t)1 << 33));
    CHECK(aclGetDataBufferAddr(buffer) == memory + 4 && aclGetDataBufferSizeV2(buffer) == (size_t)1 << 33);
    CHECK(aclGetDataBufferAddr(empty) == NULL && aclGetDataBufferSizeV2(empty) == 0);
    EXPECT(0, aclDestroyDataBuffer(buffer));
    EXPECT(0, aclDestroyDataBuffer(empty));
    EXPECT(100000, aclDestroyDataBuffer(NULL));
    EXPECT(100000, aclUpdateDataBuffer(NULL, memory, 4));
    CHECK(aclGetDataBufferAddr(NULL) == NULL && aclGetDataBufferSizeV2(NULL) == 0 && aclGetDataBufferSize(NULL) == 0);
}

static void type_sizes(void) {
    const struct {
        int type;
        size_t bytes;
    } cases[] = {{ACL_DT_UNDEFINED, 0}, {ACL_STRING, 0},     {ACL_INT4, 1},        {ACL_UINT1, 1},     {ACL_BOOL, 1},
                 {ACL_INT8, 1},         {ACL_UINT8, 1},      {ACL_FLOAT8_E5M2, 1}, {ACL_HIFLOAT8, 1},  {ACL_INT16, 2},
                 {ACL_FLOAT16, 2},      {ACL_BF16, 2},       {ACL_UINT16, 2},      {ACL_INT32, 4},     {ACL_FLOAT, 4},
                 {ACL_COMPLEX32, 4},    {ACL_UINT32, 4},     {ACL_INT64, 8},       {ACL_DOUBLE, 8},
                 {ACL_COMPLEX64, 8},    {ACL_UINT64, 8},     {ACL_COMPLEX128, 16}, {9999, 8}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(aclDataTypeSize((aclDataType)cases[i].type) == cases[i].bytes);
    }
}

static double exact(uint16_t half) {
    int exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
    double unit = 0x1p-24; /* of subnormals, and of the smallest exponent */
    for (int i = 1; i < exponent; i++) { unit *= 2; }
    double magnitude = exponent == 0 ? fraction * unit : (1024 + fraction) * unit;
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

/* Every half there is survives the way to float and back. */
static void halves(void) {
    for (uint32_t half = 0; half <= 0xFFFF; half++) {
        float value = aclFloat16ToFloat((uint16_t)half);
        if ((half & 0x7C00) == 0x7C00) {
            CHECK((half & 0x3FF) == 0 ? isinf(value) : isnan(value));
            CHECK((signbit(value) != 0) == ((half & 0x8000) != 0));
        } else {
            CHECK((double)value == exact((uint16_t)half) && (signbit(value) != 0) == ((half & 0x8000) != 0));
        }
        if (!isnan(value)) { CHECK(aclFloatToFloat16(value) == half); }
        else { CHECK(isnan(aclFloat16ToFloat(aclFloatToFloat16(value)))); }
    }
}

/* To the nearest half; in the middle between two, to the even one. */
static void check_rounding(float value) {
    uint16_t half = aclFloatToFloat16(value);
    if ((half & 0x7FFF) == 0x7C00) {
        CHECK(fabs((double)value) >= 65520.0);
        return;
    }
    double error = fabs(exact(half) - (double)value);
    uint16_t below = (half & 0x7FFF) == 0 ? half : half - 1, above = half + 1;
    double below_error = fabs(exact(below) - (double)value), above_error = fabs(exact(above) - (double)value);
    CHECK(error <= below_error || (half & 0x7FFF) == 0);
    if ((above & 0x7FFF) < 0x7C00) { CHECK(error <= above_error); }
    bool tie = (below != half && error == below_error) || (error != 0 && error == above_error);
    if (tie) { CHECK((half & 1) == 0); }
}

static float neighbour(float value, int step) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bits += (uint32_t)step;
    memcpy(&value, &bits, sizeof(bits));
    return value;
}

static void rounding(void) {
    for (uint64_t bits = 0x32000000; bits < 0x48000000; bits += 997) {
        uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof(value));
        check_rounding(value);
        check_rounding(-value);
    }
    for (uint32_t half = 0; half < 0x7BFF; half++) { /* each middle, and just beside it */
        float middle = (float)((exact((uint16_t)half) + exact((uint16_t)(half + 1))) / 2);
        check_rounding(middle);
        check_rounding(neighbour(middle, -1));
        check_rounding(neighbour(middle, 1));
    }
    CHECK(aclFloatToFloat16(65519.996F) == 0x7BFF && aclFloatToFloat16(65520.0F) == 0x7C00);
    CHECK(aclFloatToFloat16(1e30F) == 0x7C00 && aclFloatToFloat16(-1e30F) == 0xFC00);
    CHECK(aclFloatToFloat16(1e-30F) == 0 && aclFloatToFloat16(-1e-30F) == 0x8000);
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    buffers();
    type_sizes();
    halves();
    rounding();
    return 0;
}
