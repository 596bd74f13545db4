/* What a program may ask about kernels and binaries; kernels by key; variables of binaries; symbols. */
#include <stdbool.h>
#include <string.h>

#include "check.h"

static aclrtBinHandle binary;
static aclrtStream stream;

static aclrtFuncHandle find(const char *name) {
    aclrtFuncHandle function;
    EXPECT(0, aclrtBinaryGetFunction(binary, name, &function));
    return function;
}

static aclrtBinHandle load(uint32_t magic) {
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_MAGIC, .value = {.magic = magic}};
    aclrtBinaryLoadOptions options = {&option, 1};
    aclrtBinHandle loaded;
    EXPECT(0, aclrtBinaryLoadFromFile(kernels(), &options, &loaded));
    return loaded;
}

static void launch(aclrtFuncHandle kernel, uint64_t arg) {
    EXPECT(0, aclrtLaunchKernelWithHostArgs(kernel, 1, stream, NULL, &arg, sizeof(arg), NULL, 0));
}

static void kernels_are_those_of_the_binary_itself(void) {
    aclrtFuncHandle function = stream;
    EXPECT(107000, aclrtBinaryGetFunction(binary, "memcpy", &function)); /* of its libraries */
    CHECK(function == NULL);
    EXPECT(107000, aclrtBinaryGetFunction(binary, "launch_count", &function)); /* no function */
    EXPECT(107000, aclrtBinaryGetFunction(binary, "spin__params", &function));
    EXPECT(107000, aclrtBinaryGetFunction(binary, "", &function));
}

static void kernels_by_key(void) {
    aclrtFuncHandle function = stream;
    uint64_t *out;
    EXPECT(100000, aclrtBinaryGetFunctionByEntry(NULL, 16, &function));
    EXPECT(100000, aclrtBinaryGetFunctionByEntry(binary, 16, NULL));
    EXPECT(107017, aclrtBinaryGetFunctionByEntry(stream, 16, &function));
    EXPECT(107000, aclrtBinaryGetFunctionByEntry(binary, 17, &function));
    CHECK(function == NULL);
    EXPECT(107000, aclrtBinaryGetFunctionByEntry(binary, 6, &function));
    EXPECT(0, aclrtBinaryGetFunctionByEntry(binary, 16, &function));
    CHECK(function == find("tiled_16"));
    EXPECT(0, aclrtMalloc((void **)&out, 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    launch(function, (uint64_t)(uintptr_t)out);
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(*out == 16);
    EXPECT(0, aclrtBinaryGetFunctionByEntry(binary, 32, &function));
    launch(function, (uint64_t)(uintptr_t)out);
    EXPECT(0, aclrtSynchronizeStream(stream));
    CHECK(*out == 32);
    EXPECT(0, aclrtFree(out));
}

static void variables(void) {
    void *address = NULL;
    size_t bytes = 0;
    uint64_t value = 5, back = 0;
    EXPECT(100000, aclrtBinaryGetGlobal(NULL, "launch_count", &address, &bytes));
    EXPECT(100000, aclrtBinaryGetGlobal(binary, NULL, &address, &bytes));
    EXPECT(100000, aclrtBinaryGetGlobal(binary, "launch_count", NULL, NULL));
    EXPECT(107017, aclrtBinaryGetGlobal(stream, "launch_count", &address, &bytes));
    EXPECT(107042, aclrtBinaryGetGlobal(binary, "nothing", &address, &bytes));
    EXPECT(107042, aclrtBinaryGetGlobal(binary, "count_launch", &address, &bytes)); /* a kernel */
    EXPECT(107042, aclrtBinaryGetGlobal(binary, "environ", &address, &bytes));      /* of its libraries */
    EXPECT(0, aclrtBinaryGetGlobal(binary, "launch_count", NULL, &bytes));
    CHECK(bytes == sizeof(uint64_t));
    EXPECT(0, aclrtBinaryGetGlobal(binary, "launch_count", &address, NULL));
    EXPECT(0, aclrtMemcpy(address, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    launch(find("count_launch"), 0);
    launch(find("count_launch"), 0);
    EXPECT(0, aclrtMemcpyAsync(&back, 8, address, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream)); /* waits: pageable */
    CHECK(back == 7);
    EXPECT(0, aclrtMemsetAsync(address, 8, 0, 8, stream));
    EXPECT(0, aclrtSynchronizeStream(stream));
    EXPECT(107000, aclrtFree(address)); /* nobody's to free */
    EXPECT(0, aclrtBinaryGetDevAddress(binary, &address, &bytes));
    CHECK(address != NULL && bytes > 0);
    EXPECT(100000, aclrtBinaryGetDevAddress(binary, NULL, &bytes));
}

static void parameters(void) {
    size_t count = 0, offset = 0, bytes = 0;
    EXPECT(100000, aclrtFunctionGetParamCount(NULL, &count));
    EXPECT(100000, aclrtFunctionGetParamCount(find("fill"), NULL));
    EXPECT(107017, aclrtFunctionGetParamCount(binary, &count));
    EXPECT(107000, aclrtFunctionGetParamCount(find("noop"), &count)); /* tells nothing */
    EXPECT(0, aclrtFunctionGetParamCount(find("fill"), &count));
    CHECK(count == 3);
    EXPECT(100000, aclrtFunctionGetParamInfo(find("fill"), 0, NULL, NULL));
    EXPECT(107000, aclrtFunctionGetParamInfo(find("fill"), 3, &offset, &bytes));
    EXPECT(107000, aclrtFunctionGetParamInfo(find("noop"), 0, &offset, &bytes));
    EXPECT(0, aclrtFunctionGetParamInfo(find("fill"), 1, &offset, &bytes));
    CHECK(offset == 8 && bytes == 4);
    EXPECT(0, aclrtFunctionGetParamInfo(find("fill"), 2, &offset, NULL));
    CHECK(offset == 16);
    EXPECT(0, aclrtFunctionGetParamInfo(find("fill"), 2, NULL, &bytes));
    CHECK(bytes == 8);
}

static void arrays_of_arguments(void) {
    uint32_t *out, value = 9;
    uint64_t count = 4;
    EXPECT(0, aclrtMalloc((void **)&out, 16, ACL_MEM_MALLOC_NORMAL_ONLY));
    void *args[] = {&out, &value, &count}, *missing[] = {&out, NULL, &count};
    EXPECT(107000, aclrtLaunchKernelWithArgsArray(find("fill"), 2, stream, NULL, missing));
    EXPECT(107000, aclrtLaunchKernelWithArgsArray(find("fill"), 2, stream, NULL, NULL));
    EXPECT(107000, aclrtLaunchKernelWithArgsArray(find("noop"), 2, stream, NULL, args));
    EXPECT(100000, aclrtLaunchKernelWithArgsArray(find("fill"), 0, stream, NULL, args));
    EXPECT(107017, aclrtLaunchKernelWithArgsArray(&value, 2, stream, NULL, args)); /* nor a symbol */
    EXPECT(0, aclrtLaunchKernelWithArgsArray(find("fill"), 2, stream, NULL, args));
    value = 0;
    EXPECT(0, aclrtSynchronizeStream(stream));
    for (int i = 0; i < 4; i++) { CHECK(out[i] == 9); }
    EXPECT(0, aclrtFree(out));
}

static void attributes(void) {
    const struct {
        uint32_t magic;
        int64_t type;
    } cases[] = {{ACL_RT_BINARY_MAGIC_ELF_AICORE, ACL_KERNEL_TYPE_AICORE},
                 {ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE, ACL_KERNEL_TYPE_CUBE},
                 {ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE, ACL_KERNEL_TYPE_VECTOR}};
    for (int i = 0; i < 3; i++) {
        aclrtBinHandle own = load(cases[i].magic);
        aclrtFuncHandle function;
        int64_t value = -1;
        void *aic, *aiv;
        size_t aic_bytes, aiv_bytes;
        bool vector = cases[i].type == ACL_KERNEL_TYPE_VECTOR;
        EXPECT(0, aclrtBinaryGetFunction(own, "noop", &function));
        EXPECT(0, aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, &value));
        CHECK(value == cases[i].type);
        EXPECT(0, aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_SCHED_MODE, &value));
        CHECK(value == 0);
        EXPECT(207000, aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_RATIO, &value));
        EXPECT(107000, aclrtGetFunctionAttribute(function, (aclrtFuncAttribute)9, &value));
        EXPECT(100000, aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, NULL));
        EXPECT(0, aclrtGetFunctionAddr(function, &aic, &aiv));
        CHECK((aic == NULL) == vector && (aiv == NULL) == !vector);
        EXPECT(0, aclrtGetFunctionSize(function, &aic_bytes, &aiv_bytes));
        CHECK((aic_bytes == 0) == vector && (aiv_bytes == 0) == !vector);
        EXPECT(0, aclrtBinaryUnLoad(own));
        EXPECT(107017, aclrtGetFunctionAddr(function, &aic, &aiv));
    }
}

static void cpu_kernels_are_not_emulated(void) {
    aclrtFuncHandle function;
    EXPECT(100000, aclrtRegisterCpuFunc(binary, NULL, "kernel", &function));
    EXPECT(107017, aclrtRegisterCpuFunc(stream, "f", "kernel", &function));
    EXPECT(207000, aclrtRegisterCpuFunc(binary, "f", "kernel", &function));
}

static void nothing_is_a_symbol(void) {
    static int variable;
    aclrtFuncHandle function;
    void *address;
    size_t bytes;
    int host = 0;
    EXPECT(100000, aclrtGetFuncBySymbol(NULL, &function));
    EXPECT(107044, aclrtGetFuncBySymbol(&variable, &function));
    EXPECT(100000, aclrtGetSymbolAddress(&variable, NULL));
    EXPECT(107043, aclrtGetSymbolAddress(&variable, &address));
    EXPECT(107043, aclrtGetSymbolSize(&variable, &bytes));
    EXPECT(107043, aclrtMemcpyToSymbol(&variable, &host, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(107043, aclrtMemcpyFromSymbol(&host, 4, &variable, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(107043, aclrtMemcpyToSymbolAsync(&variable, &host, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT(107043, aclrtMemcpyFromSymbolAsync(&host, 4, &variable, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    EXPECT(100000, aclrtMemcpyFromSymbol(NULL, 4, &variable, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void no_simt_on_this_product(void) {
    dim3 one = {1, 1, 1};
    uint64_t args[1] = {0};
    void *array[] = {args};
    EXPECT(100000, aclrtLaunchSIMTKernelWithArgsArray(NULL, one, one, 0, stream, NULL, array));
    EXPECT(207000, aclrtLaunchSIMTKernelWithArgsArray(find("fill"), one, one, 0, stream, NULL, array));
    EXPECT(100000, aclrtLaunchSIMTKernelWithHostArgs(find("noop"), one, one, 0, stream, NULL, args, 0, NULL, 0));
    EXPECT(207000, aclrtLaunchSIMTKernelWithHostArgs(find("noop"), one, one, 0, stream, NULL, args, 8, NULL, 0));
}

int main(int argc, char **argv) {
    guard(argc, argv, 60);
    binary = load(ACL_RT_BINARY_MAGIC_ELF_AICORE);
    void *address;
    size_t bytes;
    EXPECT(107002, aclrtBinaryGetGlobal(binary, "launch_count", &address, &bytes));
    EXPECT(0, aclrtSetDevice(0));
    EXPECT(0, aclrtCreateStream(&stream));
    kernels_are_those_of_the_binary_itself();
    kernels_by_key();
    variables();
    parameters();
    arrays_of_arguments();
    attributes();
    cpu_kernels_are_not_emulated();
    nothing_is_a_symbol();
    no_simt_on_this_product();
    EXPECT(0, aclrtBinaryUnLoad(binary));
    EXPECT(0, aclrtResetDevice(0));
    return 0;
}
