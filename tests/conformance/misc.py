"""The small chapters: versions, data types, half precision, data buffers, allocators."""

from conformance import language

SIZES = {-1: 0, 0: 4, 1: 2, 2: 1, 3: 4, 4: 1, 6: 2, 7: 2, 8: 4, 9: 8, 10: 8, 11: 8, 12: 1, 13: 0, 16: 8, 17: 16, 27: 2, 29: 1, 30: 1, 33: 4, 34: 1, 35: 1, 36: 1, 37: 1, 999: 8}  # fmt: skip
HALVES = {0x0000: 0.0, 0x3C00: 1.0, 0xBC00: -1.0, 0x4000: 2.0, 0x7BFF: 65504.0, 0x0001: 2.0**-24, 0x0400: 2.0**-14, 0x3555: 0.333251953125}


def types():
    for kind, size in SIZES.items():
        yield f"13 bare | DataTypeSize of {kind} | aclDataTypeSize({kind}) -> {size}"
    for half, number in HALVES.items():
        yield f"13 bare | half {half:#06x} | aclFloat16ToFloat({half}) -> {number!r}; aclFloatToFloat16({number!r}) -> {half}"
    for number, half in ((1.00048828125, 0x3C00), (1.00146484375, 0x3C02), (65520.0, 0x7C00), (2.0**-26, 0)):
        yield f"13 bare | {number!r} rounds to even | aclFloatToFloat16({number!r}) -> {half}"


ROWS = language.rows(
    __name__,
    "\n".join(types())
    + """
13 bare      | GetVersion | aclrtGetVersion(i32, i32, i32) -> 0, 1, emulated(17), emulated(0)
13 bare      | GetVersion: NULL | aclrtGetVersion(NULL, i32, i32) -> 100000; aclrtGetVersion(i32, NULL, i32) -> 100000; aclrtGetVersion(i32, i32, NULL) -> 100000
13           | CheckArchCompatibility: NULL | aclrtCheckArchCompatibility(NULL, i32) -> 100000; aclrtCheckArchCompatibility(b"Ascend910B3", NULL) -> 100000
13 @A2       | CheckArchCompatibility: this very product | aclrtCheckArchCompatibility(b"Ascend910B3", i32) -> 0, 1
13           | GetCannAttribute: NULL | aclGetCannAttribute(0, NULL) -> 100000; aclGetCannAttributeList(NULL, size) -> 100000; aclGetCannAttributeList(ptr, NULL) -> 100000
13 @A2,A3    | three attributes, each 1 | aclGetCannAttributeList(ptr, size) -> 0, above(0), 3; aclGetCannAttribute(0, i32) -> 0, 1; aclGetCannAttribute(1, i32) -> 0, 1; aclGetCannAttribute(2, i32) -> 0, 1
13 bare      | data buffers | aclCreateDataBuffer(4096, 7) -> above(0); aclDestroyDataBuffer(NULL) -> 100000; aclGetDataBufferSizeV2(NULL) -> 0; aclGetDataBufferAddr(NULL) -> NULL
5.13         | CacheLastTaskOpInfo: NULL, 0 | aclrtCacheLastTaskOpInfo(NULL, 8) -> 107000; aclrtCacheLastTaskOpInfo(b, 0) -> 107000
5.13         | CacheLastTaskExtendInfo: NULL, 0 | aclrtCacheLastTaskExtendInfo(NULL, 8) -> 107000; aclrtCacheLastTaskExtendInfo(b, 0) -> 107000
5.13         | allocators: NULL | aclrtAllocatorRegister(NULL, b) -> 100000; aclrtAllocatorRegister(s, NULL) -> 100000; aclrtAllocatorUnregister(NULL) -> 100000; aclrtAllocatorSetObjToDesc(NULL, b) -> 100000
5.13         | allocators: an unknown stream | aclrtAllocatorUnregister(s) -> 0; aclrtAllocatorGetByStream(s, ptr, ptr, ptr, ptr, ptr, ptr) -> 100000
""",
)
