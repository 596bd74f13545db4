"""Chapter 14, kernels: binaries, functions, launches, arguments."""

from conformance import language

LAUNCHES = {
    "WithHostArgs": "aclrtLaunchKernelWithHostArgs({f}, {n}, {s}, {cfg}, {a}, {size}, NULL, 0)",
    "V2": "aclrtLaunchKernelV2({f}, {n}, {a}, {size}, {cfg}, {s})",
    "plain": "aclrtLaunchKernel({f}, {n}, {a}, {size}, {s})",
}


def launches():
    for form, call in LAUNCHES.items():
        args = "b" if form == "WithHostArgs" else "d"

        def made(**change):
            return call.format(**{"f": "k_noop", "n": 1, "s": "s", "cfg": "NULL", "a": args, "size": 32, **change})

        for what, code, change in (
            ("good", 0, {}),
            ("many blocks", 0, {"n": 64}),
            ("the default stream", 0, {"s": "NULL"}),
            ("a PERSISTENT stream", 0, {"s": "p"}),
            ("a CPU_SCHEDULE stream", 0, {"s": "cs"}),
            ("0 blocks", 107000, {"n": 0}),
            ("NULL function", 100000, {"f": "NULL"}),
            ("NULL arguments", 100000, {"a": "NULL"}),
            ("0 bytes of arguments", 107000, {"size": 0}),
            ("NULL arguments of 0 bytes", 100000, {"a": "NULL", "size": 0}),
            ("a stale stream", 107017, {"s": "dead"}),
            ("an event as stream", 107017, {"s": "e"}),
            ("a stream of another context", 107003, {"s": "o"}),
            ("a stream as function", 107017, {"f": "s2"}),
            ("zeroed memory as function", 107017, {"f": "zeroed"}),
        ):
            yield f"11.2 | launch {form}: {what} | {made(**change)} -> {code}; aclrtSynchronizeDevice() -> 0"
        yield f"11.2 | launch {form}: no context | B: {made()} -> 107002"
        yield f"11.1 | launch {form}: the binary is gone | aclrtBinaryLoadFromFile(kernels, NULL, new.c); aclrtBinaryGetFunction(c, b\"noop\", new.f); aclrtBinaryUnLoad(c); {made(f='f')} -> 107017"


def configurations():
    launch = "aclrtLaunchKernelV2(k_noop, 1, d, 32, {}, s)"
    one = "aclrtLaunchKernelCfg(attrs=[aclrtLaunchKernelAttr(id={}, value={{'{}': {}}})], numAttrs=1)"
    for identity, member, value, code in (
        (1, "schemMode", 0, 0), (1, "schemMode", 1, 0), (1, "schemMode", 2, 107000), (2, "dynUBufSize", 1024, 0),
        (5, "isBlockTaskPrefetch", 1, 0), (5, "isBlockTaskPrefetch", 2, 107000), (6, "isDataDump", 0, 0), (6, "isDataDump", 2, 107000),
        (7, "timeout", 10, 0), (9, "enableProfiling", 1, 0), (9, "enableProfiling", 2, 107000), (0, "timeout", 1, 107000), (99, "timeout", 1, 107000),
    ):  # fmt: skip
        yield f"11.2 @!310P | launch attribute {identity} = {value} | {launch.format(one.format(identity, member, value))} -> {code}"
    yield f"11.2 @!310P | a configuration without attributes | {launch.format('aclrtLaunchKernelCfg(numAttrs=0)')} -> 107000"


ROWS = language.rows(
    __name__,
    "\n".join([*launches(), *configurations()])
    + """

# ---- binaries ----
11.1         | LoadFromFile: NULL | aclrtBinaryLoadFromFile(NULL, NULL, new.c) -> 100000; aclrtBinaryLoadFromFile(kernels, NULL, NULL) -> 100000
11.1         | LoadFromFile: no such file, no ELF file | aclrtBinaryLoadFromFile(b"/nonexistent", NULL, new.c) -> 107000; aclrtBinaryLoadFromFile(b"/etc/passwd", NULL, new.c) -> 107000
11.1         | LoadFromData: NULL, 0 bytes, no ELF | aclrtBinaryLoadFromData(NULL, 8, NULL, new.c) -> 100000; aclrtBinaryLoadFromData(b, 8, NULL, NULL) -> 100000;
             | aclrtBinaryLoadFromData(b, 0, NULL, new.c) -> 107000; aclrtBinaryLoadFromData(b, 64, NULL, new.c) -> 107000
11.1 bare    | LoadFromFile needs no context | aclrtBinaryLoadFromFile(kernels, NULL, new.c) -> 0; aclrtBinaryUnLoad(c) -> 0
11.1         | UnLoad: NULL, twice, a stream | aclrtBinaryUnLoad(NULL) -> 100000; aclrtBinaryLoadFromFile(kernels, NULL, new.c); aclrtBinaryUnLoad(c) -> 0; aclrtBinaryUnLoad(c) -> 107017; aclrtBinaryUnLoad(s) -> 107017
11.1         | GetFunction: NULL | aclrtBinaryGetFunction(NULL, b"noop", new.f) -> 100000; aclrtBinaryGetFunction(bin, NULL, new.f) -> 100000; aclrtBinaryGetFunction(bin, b"noop", NULL) -> 100000
v68          | GetFunction: an unknown name | aclrtBinaryGetFunction(bin, b"nonsense", ptr) -> 107000, NULL
11.1         | GetFunction: a stale binary | aclrtBinaryLoadFromFile(kernels, NULL, new.c); aclrtBinaryUnLoad(c); aclrtBinaryGetFunction(c, b"noop", new.f) -> 107017
11.1         | GetFunctionByEntry | aclrtBinaryGetFunctionByEntry(bin, 16, new.f) -> 0; aclrtBinaryGetFunctionByEntry(bin, 999, new.f) -> 107000
11.1         | GetFunctionName | aclrtGetFunctionName(k_noop, 5, text(16)) -> 0, b"noop"; aclrtGetFunctionName(k_noop, 4, text(16)) -> 107000; aclrtGetFunctionName(k_noop, 16, NULL) -> 100000
11.1         | GetParamCount | aclrtFunctionGetParamCount(k_vector_add, size) -> 0, 4; aclrtFunctionGetParamCount(k_noop, size) -> 107000
11.1         | GetParamInfo | aclrtFunctionGetParamInfo(k_fill, 1, size, size) -> 0, 8, 4; aclrtFunctionGetParamInfo(k_fill, 3, size, size) -> 107000; aclrtFunctionGetParamInfo(k_fill, 0, NULL, NULL) -> 100000
11.1         | GetGlobal | aclrtBinaryGetGlobal(bin, b"launch_count", ptr, size) -> 0, above(0), 8; aclrtBinaryGetGlobal(bin, b"nonsense", ptr, size) -> 107042
11.1         | GetGlobal: no outputs | aclrtBinaryGetGlobal(bin, b"launch_count", NULL, NULL) -> 100000
11.1 @950,A3,A2,310P | GetFuncBySymbol: an unknown symbol | aclrtGetFuncBySymbol(b, new.f) -> 107044
11.1         | CreateBinary of nothing | aclrtCreateBinary(NULL, 8) -> NULL

# ---- what a launch does ----
11.2         | arguments are copied at the call | hold(s); launch(k_add_one, s, d); launch(k_add_one, s, d2); release(s); aclrtSynchronizeStream(s); device(d, 1) -> b"\\1"; device(d2, 1) -> b"\\1"
11.4         | each block runs once | aclrtLaunchKernelWithHostArgs(k_noop, 65535, s, NULL, b, 32, NULL, 0) -> 0; aclrtSynchronizeStream(s) -> 0
11.2         | placeholders out of range
             | aclrtLaunchKernelWithHostArgs(k_noop, 1, s, NULL, b, 32, [aclrtPlaceHolderInfo(addrOffset=32, dataOffset=8)], 1) -> 107000;
             | aclrtLaunchKernelWithHostArgs(k_noop, 1, s, NULL, b, 32, [aclrtPlaceHolderInfo(addrOffset=8, dataOffset=32)], 1) -> 107000;
             | aclrtLaunchKernelWithHostArgs(k_noop, 1, s, NULL, b, 32, [aclrtPlaceHolderInfo(addrOffset=0, dataOffset=8)], 1) -> 0;
             | aclrtLaunchKernelWithHostArgs(k_noop, 1, s, NULL, b, 32, NULL, 1) -> 107000
11.2         | WithArgsArray: 0 blocks | aclrtLaunchKernelWithArgsArray(k_add_one, 0, s, NULL, [b]) -> 100000
11.2         | WithArgsArray: no parameter info, no arguments | aclrtLaunchKernelWithArgsArray(k_noop, 1, s, NULL, [b]) -> 107000; aclrtLaunchKernelWithArgsArray(k_add_one, 1, s, NULL, NULL) -> 107000
11.2         | WithArgsArray: an unknown function | aclrtLaunchKernelWithArgsArray(s2, 1, s, NULL, [b]) -> 107017
11.2 @!950   | SIMT launches | aclrtLaunchSIMTKernelWithArgsArray(k_spin, dim3(x=1, y=1, z=1), dim3(x=1, y=1, z=1), 0, s, NULL, [b]) -> 207000

# ---- argument handles ----
11.3         | KernelArgs: NULL | aclrtKernelArgsInit(NULL, new.a) -> 100000; aclrtKernelArgsInit(k_noop, NULL) -> 100000; aclrtKernelArgsFinalize(NULL) -> 100000
11.3         | KernelArgs: append, finalize, launch often | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppend(a, b, 8, new.q) -> 0; aclrtKernelArgsFinalize(a) -> 0;
             | aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, a, NULL) -> 0; aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, a, NULL) -> 0
11.3         | KernelArgs: append of nothing | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppend(a, NULL, 8, new.q) -> 100000; aclrtKernelArgsAppend(a, b, 0, new.q) -> 100000
v69          | KernelArgs: append after finalize | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppend(a, b, 8, new.q); aclrtKernelArgsFinalize(a); aclrtKernelArgsAppend(a, b, 8, new.r) -> 207000; aclrtKernelArgsAppendPlaceHolder(a, new.r) -> 207000
v70          | KernelArgs: an update has to be finalized | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppend(a, b, 8, new.q); aclrtKernelArgsFinalize(a); aclrtKernelArgsParaUpdate(a, q, b, 8) -> 0;
             | aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, a, NULL) -> 107000; aclrtKernelArgsFinalize(a); aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, a, NULL) -> 0
11.3         | KernelArgs: an update of another size | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppend(a, b, 8, new.q); aclrtKernelArgsParaUpdate(a, q, b, 4) -> 107000
11.3         | KernelArgs: launched before finalize | aclrtKernelArgsInit(k_noop, new.a); aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, a, NULL) -> 107000
v67          | WithConfig: 0 blocks, reserve, NULL handle | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsFinalize(a); aclrtLaunchKernelWithConfig(k_noop, 0, s, NULL, a, NULL) -> 100000;
             | aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, a, b) -> 100000; aclrtLaunchKernelWithConfig(k_noop, 1, s, NULL, NULL, NULL) -> 100000
11.3         | KernelArgs: finalize needs a context | B: aclrtKernelArgsInit(k_noop, new.a); B: aclrtKernelArgsFinalize(a) -> 107002
11.3         | KernelArgs: one handle for each thread | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsInit(k_noop, ptr) -> 0, a
11.3         | KernelArgs: at most 128 parameters | aclrtKernelArgsInit(k_noop, new.a); repeat(128, "aclrtKernelArgsAppend", a, b, 8, new.q) -> 0; aclrtKernelArgsAppend(a, b, 8, new.q) -> 107000
11.3         | KernelArgs: a placeholder's buffer closes the list | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppendPlaceHolder(a, new.q); aclrtKernelArgsGetPlaceHolderBuffer(a, q, 16, ptr) -> 0, above(0); aclrtKernelArgsAppend(a, b, 8, new.r) -> 207000
11.3         | KernelArgs: no buffer for an ordinary parameter | aclrtKernelArgsInit(k_noop, new.a); aclrtKernelArgsAppend(a, b, 8, new.q); aclrtKernelArgsGetPlaceHolderBuffer(a, q, 16, ptr) -> 107000
""",
)
