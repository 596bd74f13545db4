/* Chapters 14 and 26, symbols: names of the host program that stand for kernels and device variables. A compiler for
 * the device registers them; programs of the emulator are built without one, so that no address is a symbol. */
#include "api/api.h"

static aclError no_symbol(const char *api, const void *symbol) {
    return emu_fail(ACL_ERROR_RT_INVALID_SYMBOL, api, "%p is no registered device variable", symbol);
}

aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *funcHandle) {
    ENTER();
    REQUIRE(symbol);
    REQUIRE(funcHandle);
    return FAIL(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION, "%p is no registered kernel", symbol);
}

aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr) {
    ENTER();
    REQUIRE(symbol);
    REQUIRE(devPtr);
    return no_symbol(__func__, symbol);
}

aclError aclrtGetSymbolSize(const void *symbol, size_t *size) {
    ENTER();
    REQUIRE(symbol);
    REQUIRE(size);
    return no_symbol(__func__, symbol);
}

aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind) {
    ENTER();
    (void)count, (void)offset, (void)kind;
    REQUIRE(symbol);
    REQUIRE(src);
    return no_symbol(__func__, symbol);
}

aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                  aclrtMemcpyKind kind, aclrtStream stream) {
    ENTER();
    (void)count, (void)offset, (void)kind, (void)stream;
    REQUIRE(symbol);
    REQUIRE(src);
    return no_symbol(__func__, symbol);
}

aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
                               aclrtMemcpyKind kind) {
    ENTER();
    (void)dstMax, (void)count, (void)offset, (void)kind;
    REQUIRE(dst);
    REQUIRE(symbol);
    return no_symbol(__func__, symbol);
}

aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
    ENTER();
    (void)dstMax, (void)count, (void)offset, (void)kind, (void)stream;
    REQUIRE(dst);
    REQUIRE(symbol);
    return no_symbol(__func__, symbol);
}
