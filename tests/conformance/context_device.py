"""Chapters 02 to 05: initialisation, devices, contexts, resource limits, system parameters."""

from conformance import language

BAD_DEVICES = (-1, 2, 9999, 0x7FFFFFFF)


def bad_devices():
    """The emulator has two devices; on hardware 9999 is as good."""
    for device in BAD_DEVICES:
        mark = "nocann " if device == 2 else ""
        for call in (
            f"aclrtSetDevice({device})",
            f"aclrtResetDevice({device})",
            f"aclrtResetDeviceForce({device})",
            f"aclrtCreateContext(new.c, {device})",
            f"aclrtGetPrimaryCtxState({device}, NULL, i32)",
            f"aclrtQueryDeviceStatus({device}, i32)",
            f"aclrtGetDeviceCapability({device}, 1, i32)",
        ):
            yield f"3.2 {mark}| no such device: {call} | {call} -> 107001"
        if device > 0:
            yield f"3.6 {mark}| GetDeviceInfo of device {device} | aclrtGetDeviceInfo({device}, 1, i64) -> 107000, kept"


def nothing_set_up():
    for call, gives in (
        ("aclrtSynchronizeDevice()", "107002"),
        ("aclrtGetDevice(i32)", "107002, kept"),
        ("aclrtGetDeviceCount(u32)", "0, emulated(2)"),
        ("aclrtGetCurrentContext(ptr)", "107002, kept"),
        ("aclrtGetRunMode(i32)", "0, emulated(1)"),
        ("aclFinalize()", "0"),
        ("aclrtResetDevice(0)", "507007"),
        ("aclrtResetDeviceForce(0)", "507007"),
        ("aclrtCreateEvent(new.f)", "107002"),
        ("aclrtMalloc(new.q, 64, 0)", "107002"),
        ("aclrtMallocHost(new.q, 64)", "107002"),
    ):
        yield f"c01 bare | before anything: {call} | {call} -> {gives}"
    for call, gives in (
        ("aclrtGetDevice(NULL)", "100000"),
        ("aclrtCtxGetCurrentDefaultStream(ptr)", "107002, kept"),
        ("aclrtCtxSetSysParamOpt(0, 1)", "107002"),
        ("aclrtCtxGetSysParamOpt(0, i64)", "107002, kept"),
        ("aclrtCtxGetFloatOverflowAddr(ptr)", "107002, kept"),
        ("aclrtGetResInCurrentThread(0, u32)", "107002, kept"),
        ("aclrtGetEventAvailNum(u32)", "107002, kept"),
        ("aclrtCreateNotify(new.f, 0)", "107002"),
    ):
        yield f"1.3 bare | before anything, no context: {call} | {call} -> {gives}"


def resource_limits():
    for kind, cores in ((0, "CUBE_CORES"), (1, "VECTOR_CORES")):
        has_cores = "@!910" if kind == 1 else ""
        products = "@950,A3,A2,310B"
        yield f"3.16 {products} | limit {kind} of the device at first | aclrtGetDeviceResLimit(0, {kind}, u32) -> 0, emulated({cores})"
        yield f"3.16 {products} | limit {kind} of a stream at first | aclrtGetStreamResLimit(s, {kind}, u32) -> 0, emulated({cores})"
        yield f"3.16 {products} nocann | limit {kind} above the cores there are | aclrtSetDeviceResLimit(0, {kind}, {cores} + 1) -> 107000"
        yield f"3.16 {products} nocann | limit {kind} of a stream above the cores | aclrtSetStreamResLimit(s, {kind}, {cores} + 1) -> 107000"
        yield (
            f"3.16 {has_cores} fresh | limit {kind} of the device, set and reset | aclrtSetDeviceResLimit(0, {kind}, 1);"
            f" aclrtGetDeviceResLimit(0, {kind}, u32) -> 0, 1; aclrtResetDeviceResLimit(0); aclrtGetStreamResLimit(s, {kind}, u32) -> 0, above(0)"
        )
        yield (
            f"3.16 {has_cores} fresh | limit {kind}: a stream without its own has the device's | aclrtSetDeviceResLimit(0, {kind}, 1);"
            f" aclrtGetStreamResLimit(s, {kind}, u32) -> 0, 1; aclrtGetResInCurrentThread({kind}, u32) -> 0, 1"
        )
        yield (
            f"3.16 {has_cores} | limit {kind}: a stream's own, and reset | aclrtSetStreamResLimit(s, {kind}, 1); aclrtGetStreamResLimit(s, {kind}, u32) -> 0, 1;"
            f" aclrtResetStreamResLimit(s); aclrtGetStreamResLimit(s, {kind}, u32) -> 0, emulated({cores})"
        )
        yield (
            f"3.16 @950,A3,A2 | limit {kind}: the thread's chosen stream | aclrtSetStreamResLimit(s, {kind}, 1); aclrtUseStreamResInCurrentThread(s);"
            f" aclrtGetResInCurrentThread({kind}, u32) -> 0, 1; aclrtUnuseStreamResInCurrentThread(s);"
            f" aclrtGetResInCurrentThread({kind}, u32) -> 0, emulated({cores})"
        )
    for kind in (2, -1, 99):
        for call in (
            f"aclrtGetDeviceResLimit(0, {kind}, u32)",
            f"aclrtSetDeviceResLimit(0, {kind}, 1)",
            f"aclrtGetStreamResLimit(s, {kind}, u32)",
            f"aclrtSetStreamResLimit(s, {kind}, 1)",
            f"aclrtGetResInCurrentThread({kind}, u32)",
        ):
            yield f"3.16 | no such resource: {call} | {call} -> 107000"


def system_parameters():
    for where, count in (("Ctx", 3), ("", 4)):
        for option in range(count):
            yield (
                f"3.12 fresh | {where}SysParamOpt {option} | aclrt{where}GetSysParamOpt({option}, i64) -> 107021, kept;"
                f" aclrt{where}SetSysParamOpt({option}, 7) -> 0; aclrt{where}GetSysParamOpt({option}, i64) -> 0, 7"
            )
        for option in (count, -1, 99):
            yield (
                f"3.12 | no {where}SysParamOpt {option} | aclrt{where}SetSysParamOpt({option}, 1) -> 100000;"
                f" aclrt{where}GetSysParamOpt({option}, i64) -> 100000, kept"
            )


ROWS = language.rows(
    __name__,
    "\n".join([*nothing_set_up(), *bad_devices(), *resource_limits(), *system_parameters()])
    + """

# ---- aclInit, aclFinalize ----
c03 bare     | init twice, one finalize is enough
             | aclInit(NULL) -> 0; aclInit(NULL) -> 100002; aclFinalize() -> 0; aclFinalize() -> 100037; aclFinalize() -> 100037
c03 bare     | init again after finalize | aclInit(NULL); aclFinalize(); aclInit(NULL) -> 0; aclFinalize() -> 0
c04 bare     | references are counted
             | aclInit(NULL); aclInit(NULL) -> 100002; aclFinalizeReference(u64) -> 0, 1; aclFinalizeReference(u64) -> 0, 0;
             | aclFinalizeReference(u64) -> 100037, 0; aclFinalizeReference(NULL) -> 100037
2 bare       | FinalizeReference without output | aclInit(NULL); aclFinalizeReference(NULL) -> 0; aclFinalizeReference(NULL) -> 100037
2 bare       | Finalize takes all references | aclInit(NULL); aclInit(NULL) -> 100002; aclFinalize() -> 0; aclFinalizeReference(u64) -> 100037, 0
c04 bare     | a configuration that is not there | aclInit(b"/nonexistent.json") -> 100003
c02 bare     | finalize without init | aclrtSetDevice(0); aclrtResetDevice(0); aclFinalize() -> 0
2 bare       | an empty path is no configuration | aclInit(b"") -> 0; aclFinalize() -> 0
2 fresh      | streams live on after finalize | aclFinalize(); aclrtSynchronizeStream(s) -> 0; aclrtCreateStream(new.t) -> 0
2 bare       | init callback: NULL | aclInitCallbackRegister(0, NULL, NULL) -> 100000; aclFinalizeCallbackRegister(0, NULL, NULL) -> 100000
2 bare       | init callback: unregister NULL | aclInitCallbackUnRegister(0, NULL) -> 100000; aclFinalizeCallbackUnRegister(0, NULL) -> 100000
2 bare       | init callback: one for each type | aclInitCallbackRegister(0, on.a, NULL); aclInitCallbackRegister(0, on.b, NULL) -> 500000
2 bare       | finalize callback: one for each type | aclFinalizeCallbackRegister(0, on.a, NULL); aclFinalizeCallbackRegister(0, on.b, NULL) -> 500000
2 bare       | init callback: many for OTHER
             | aclInitCallbackRegister(65535, on.a, NULL); aclInitCallbackRegister(65535, on.b, NULL) -> 0; aclInit(NULL); log() -> "a(0) b(0)"
2 bare       | init callback: unregister what is unknown | aclInitCallbackUnRegister(0, on.a) -> 500000; aclFinalizeCallbackUnRegister(0, on.a) -> 500000
2 bare       | init callback: registered late, it runs at once | aclInit(NULL); log() -> ""; aclInitCallbackRegister(0, on.a, 7); log() -> "a(0,7)"
2 bare       | init callback: its failure is aclInit's | aclInitCallbackRegister(0, fails.a, NULL); aclInit(NULL) -> 1
2 bare       | finalize callback: its failure is aclFinalize's | aclInit(NULL); aclFinalizeCallbackRegister(0, fails.a, NULL); aclFinalize() -> 1
2 bare       | finalize callback runs | aclInit(NULL); aclFinalizeCallbackRegister(0, on.a, 5); aclFinalize() -> 0; log() -> "a(5)"

# ---- devices ----
c03          | GetDevice: NULL | aclrtGetDevice(NULL) -> 100000
c03          | GetDeviceCount: NULL | aclrtGetDeviceCount(NULL) -> 100000
3.6          | GetRunMode: NULL | aclrtGetRunMode(NULL) -> 100000
c03 bare     | the newest device is the current one
             | aclrtSetDevice(0); aclrtSetDevice(0); aclrtSetDevice(1); aclrtGetDevice(i32) -> 0, 1; aclrtResetDevice(1); aclrtGetDevice(i32) -> 107002
c03 bare     | devices are counted
             | aclrtSetDevice(0); aclrtSetDevice(0); aclrtResetDevice(0) -> 0; aclrtResetDevice(0) -> 0; aclrtResetDevice(0) -> 507007;
             | aclrtResetDeviceForce(0) -> 507007
3.4 bare     | ResetDeviceForce takes all references
             | aclrtSetDevice(0); aclrtSetDevice(0); aclrtResetDeviceForce(0) -> 0; aclrtResetDeviceForce(0) -> 507007; aclrtResetDevice(0) -> 507007
3.4 bare     | a device reset by force can be set again | aclrtSetDevice(0); aclrtResetDeviceForce(0); aclrtSetDevice(0) -> 0; aclrtCreateStream(new.t) -> 0
3.3 bare     | one reset of two keeps the context | aclrtSetDevice(0); aclrtSetDevice(0); aclrtCreateStream(new.t); aclrtResetDevice(0); aclrtSynchronizeStream(t) -> 0
v80 bare     | ResetDevice without SetDevice | aclrtResetDevice(0) -> 507007
3.3 bare     | after the last reset the thread has no context | aclrtSetDevice(0); aclrtResetDevice(0); aclrtCreateStream(new.t) -> 107002
c22e fresh   | streams go with their device
             | aclrtCreateStream(new.t); aclrtResetDevice(0); aclrtStreamGetId(t, i32) -> 107017; aclrtDestroyStream(t) -> 107017
c22e fresh   | ResetDevice waits for what is queued
             | aclrtCreateStream(new.t); hold(t); aclrtCreateEvent(new.f); aclrtRecordEvent(f, t); T& aclrtResetDevice(0); busy(T); release(t); wait(T) -> 0
3.1          | a new thread has no context | B: aclrtGetDevice(i32) -> 107002, kept; B: aclrtCreateStream(new.t) -> 107002
v83          | GetDevice without context leaves no error | B: aclrtGetDevice(i32) -> 107002; B: aclrtPeekAtLastError(0) -> 0
3.1 fresh    | devices are counted across threads | B: aclrtSetDevice(0); aclrtResetDevice(0) -> 0; B: aclrtResetDevice(0) -> 0; B: aclrtResetDevice(0) -> 507007
3.5          | GetDevice of an explicit context | aclrtGetDevice(i32) -> 0, 0
3.5 fresh nocann | GetDevice of a context on device 1 | aclrtCreateContext(new.c, 1); aclrtGetDevice(i32) -> 0, 1; aclrtDestroyContext(c)
3.6 bare     | GetSocName needs nothing | aclrtGetSocName() -> emulated(SOC)
3.6          | QueryDeviceStatus | aclrtQueryDeviceStatus(0, i32) -> 0, 0; aclrtQueryDeviceStatus(0, NULL) -> 100000
3.6          | SetTsDevice | aclrtSetTsDevice(0) -> 0; aclrtSetTsDevice(1) -> 0; aclrtSetTsDevice(2) -> 100000; aclrtSetTsDevice(-1) -> 100000
3.6          | GetDeviceInfo: NULL | aclrtGetDeviceInfo(0, 1, NULL) -> 100000
3.6          | GetDeviceCapability: NULL | aclrtGetDeviceCapability(0, 1, NULL) -> 100000
3.6          | GetDeviceCapability: an unknown feature | aclrtGetDeviceCapability(0, 9999, i32) -> 107000
3.6          | GetDeviceCapability without context | B: aclrtGetDeviceCapability(0, 1, i32) -> 107002, kept
3.6          | DeviceCanAccessPeer: itself | aclrtDeviceCanAccessPeer(i32, 0, 0) -> 100000
3.6          | DeviceCanAccessPeer: NULL | aclrtDeviceCanAccessPeer(NULL, 0, 1) -> 100000
3.6          | DeviceEnablePeerAccess: flags | aclrtDeviceEnablePeerAccess(1, 1) -> 200006
3.6          | DeviceEnablePeerAccess: itself | aclrtDeviceEnablePeerAccess(0, 0) -> 100000
3.6          | DeviceEnablePeerAccess without context | B: aclrtDeviceEnablePeerAccess(1, 0) -> 107002

# ---- contexts ----
c23          | CreateContext: NULL | aclrtCreateContext(NULL, 0) -> 100000
c23          | SetCurrentContext: NULL | aclrtSetCurrentContext(NULL) -> 100000
c23          | DestroyContext: NULL | aclrtDestroyContext(NULL) -> 100000
3.9          | GetCurrentContext: NULL | aclrtGetCurrentContext(NULL) -> 100000
c12          | CtxGetCurrentDefaultStream: NULL | aclrtCtxGetCurrentDefaultStream(NULL) -> 100000
c23          | a new context is the current one | aclrtCreateContext(new.c, 0); aclrtGetCurrentContext(ptr) -> 0, c; aclrtDestroyContext(c)
c23          | DestroyContext twice | aclrtCreateContext(new.c, 0); aclrtDestroyContext(c) -> 0; aclrtDestroyContext(c) -> 107002
v82          | SetCurrentContext: destroyed | aclrtCreateContext(new.c, 0); aclrtDestroyContext(c); aclrtSetCurrentContext(c) -> 107000
c23          | after its context is gone a thread has none
             | aclrtCreateContext(new.c, 0); aclrtDestroyContext(c); aclrtGetCurrentContext(ptr) -> 107002, kept; aclrtCreateStream(new.t) -> 107002
v81 fresh    | the primary context cannot be destroyed | aclrtDestroyContext(ctx) -> 107002; aclrtCreateStream(new.t) -> 0
v81b fresh   | an earlier SetDevice does not come back
             | aclrtCreateContext(new.c, 0); aclrtDestroyContext(c); aclrtCreateStream(new.t) -> 107002; aclrtSetDevice(0); aclrtCreateStream(new.t) -> 0
3.7 bare     | CreateContext needs no SetDevice | aclrtCreateContext(new.c, 0) -> 0; aclrtCreateStream(new.t) -> 0; aclrtDestroyContext(c) -> 0
3.7 bare     | CreateContext does not activate the primary one | aclrtCreateContext(new.c, 0); aclrtGetPrimaryCtxState(0, NULL, i32) -> 0, 0; aclrtDestroyContext(c)
3.8          | a context destroyed under another thread
             | aclrtCreateContext(new.c, 0); T: aclrtSetCurrentContext(c); aclrtDestroyContext(c); T: aclrtCreateStream(new.t) -> 107002
3.9          | a context can be current in several threads | B: aclrtSetCurrentContext(ctx) -> 0; B: aclrtGetCurrentContext(ptr) -> 0, ctx; aclrtGetCurrentContext(ptr) -> 0, ctx
3.1 fresh    | SetDevice puts the primary context in front | aclrtCreateContext(new.c, 0); aclrtSetDevice(0); aclrtGetCurrentContext(ptr) -> 0, ctx; aclrtDestroyContext(c)
3.10 fresh   | GetPrimaryCtxState | aclrtGetPrimaryCtxState(0, NULL, i32) -> 0, 1; aclrtGetPrimaryCtxState(0, NULL, NULL) -> 100000
3.10         | GetPrimaryCtxState: flags are reserved | aclrtGetPrimaryCtxState(0, u32, i32) -> 100000
3.10 bare    | GetPrimaryCtxState before anything | aclrtGetPrimaryCtxState(0, NULL, i32) -> 0, 0
3.11         | the default stream has one handle | aclrtCtxGetCurrentDefaultStream(ptr) -> 0, dflt
3.11         | default streams of contexts differ | aclrtCreateContext(new.c, 0); aclrtCtxGetCurrentDefaultStream(new.t); aclrtDestroyContext(c); aclrtSetCurrentContext(ctx); differ(t, dflt) -> 1
1.1          | a stream is no context | aclrtSetCurrentContext(s) -> 107000; aclrtDestroyContext(s) -> 107002
1.1 nocann   | nothing is no context | aclrtSetCurrentContext(wild) -> 107000; aclrtDestroyContext(wild) -> 107002

# ---- device state callbacks ----
3.15         | device callback: NULL name | aclrtRegDeviceStateCallback(NULL, on.a, NULL) -> 100000
3.15 bare    | device callback: the name is taken | aclrtRegDeviceStateCallback(b"a", on.a, NULL); aclrtRegDeviceStateCallback(b"a", on.b, NULL) -> 107000
3.15 bare    | device callback: SetDevice and ResetDevice
             | aclrtRegDeviceStateCallback(b"a", on.a, 9); aclrtSetDevice(0); log() -> "a(0,0,9) a(0,1,9)"; aclrtSetDevice(0); log() -> "a(0,1,9)";
             | aclrtResetDevice(0); log() -> ""; aclrtResetDevice(0); log() -> "a(0,2,9) a(0,3,9)"
3.15 bare    | device callback: removed | aclrtRegDeviceStateCallback(b"a", on.a, 9); aclrtRegDeviceStateCallback(b"a", NULL, NULL) -> 0; aclrtSetDevice(0); log() -> ""

# ---- saturation mode ----
c18 @A2,A3 fresh | saturation mode at first | aclrtGetDeviceSatMode(i32) -> 0, 1
c18          | saturation mode 2 | aclrtSetDeviceSatMode(2) -> 107000
3.17         | saturation mode -1 | aclrtSetDeviceSatMode(-1) -> 107000
3.17         | GetDeviceSatMode: NULL | aclrtGetDeviceSatMode(NULL) -> 100000
3.17 fresh   | SATURATION | aclrtSetDeviceSatMode(0) -> 207000 @950 else 0
3.17 fresh   | INFNAN | aclrtSetDeviceSatMode(1) -> 0 @950,A3,A2 else 207000
3.17 @A2,A3 fresh | saturation mode is read back | aclrtSetDeviceSatMode(0); aclrtGetDeviceSatMode(i32) -> 0, 0; aclrtSetDeviceSatMode(1); aclrtGetDeviceSatMode(i32) -> 0, 1

# ---- overflow status ----
3.17         | GetOverflowStatus: NULL | aclrtGetOverflowStatus(NULL, 64, s) -> 100000
3.17         | GetOverflowStatus: sizes | aclrtGetOverflowStatus(d, 63, s) -> 107000; aclrtGetOverflowStatus(d, 65, s) -> 107000; aclrtGetOverflowStatus(d, 0, s) -> 107000
3.17         | GetOverflowStatus: the default stream | aclrtGetOverflowStatus(d, 64, NULL) -> 0; aclrtSynchronizeStream(NULL)
3.17         | GetOverflowStatus: another context | aclrtGetOverflowStatus(d, 64, o) -> 107003; aclrtResetOverflowStatus(o) -> 107003
3.17         | overflow status: a stale stream | aclrtGetOverflowStatus(d, 64, dead) -> 107017; aclrtResetOverflowStatus(dead) -> 107017
3.17 fresh   | overflow status: clean after a reset | aclrtResetOverflowStatus(s); aclrtGetOverflowStatus(d, 64, s); aclrtSynchronizeStream(s) -> 0; device(d, 4) -> bytes(4)
3.12         | CtxGetFloatOverflowAddr | aclrtCtxGetFloatOverflowAddr(ptr) -> 0, above(0); aclrtCtxGetFloatOverflowAddr(NULL) -> 100000

# ---- resource limits, arguments ----
3.16         | limits: NULL | aclrtGetDeviceResLimit(0, 0, NULL) -> 100000; aclrtGetStreamResLimit(s, 0, NULL) -> 100000; aclrtGetResInCurrentThread(0, NULL) -> 100000
3.16         | limits of a stream of another context | aclrtSetStreamResLimit(o, 0, 1) -> 107003; aclrtResetStreamResLimit(o) -> 107003
3.16         | limits of a stale stream | aclrtSetStreamResLimit(dead, 0, 1) -> 107017; aclrtGetStreamResLimit(dead, 0, u32) -> 107017; aclrtUseStreamResInCurrentThread(dead) -> 107017
3.16         | limits of the default stream | aclrtSetStreamResLimit(NULL, 0, 1); aclrtGetStreamResLimit(dflt, 0, u32) -> 0, 1; aclrtResetStreamResLimit(NULL) -> 0
3.16         | unuse of another stream has no effect | aclrtSetStreamResLimit(s, 0, 1); aclrtUseStreamResInCurrentThread(s); aclrtUnuseStreamResInCurrentThread(s2) -> 0; aclrtGetResInCurrentThread(0, u32) -> 0, 1; aclrtUnuseStreamResInCurrentThread(s)

# ---- device task abort ----
3.14 fresh   | DeviceTaskAbort, idle | aclrtDeviceTaskAbort(0, 1000) -> 0 @TASK_ABORT else 207000
3.14 @TASK_ABORT | DeviceTaskAbort: too long | aclrtDeviceTaskAbort(0, 2160001) -> 107000
3.14 @TASK_ABORT | DeviceTaskAbort: no such device | aclrtDeviceTaskAbort(9999, 100) -> 107001
3.14         | task abort callback: NULL name | aclrtSetDeviceTaskAbortCallback(NULL, on.a, NULL) -> 100000
3.14 fresh @TASK_ABORT | task abort callbacks run before and after, in name order
             | aclrtSetDeviceTaskAbortCallback(b"b", on.b, NULL); aclrtSetDeviceTaskAbortCallback(b"a", on.a, NULL); aclrtDeviceTaskAbort(0, 1000);
             | log() -> "a(0,0,1000) b(0,0,1000) a(0,1,1000) b(0,1,1000)"
3.14 fresh @TASK_ABORT | DeviceTaskAbort under a synchronize
             | hold(s); launch(k_noop, s); T& aclrtSynchronizeStream(s); busy(T); aclrtDeviceTaskAbort(0, 5000) -> 0; wait(T) -> 107022; release(s);
             | aclrtSynchronizeStream(s) -> 0
3.14 fresh @TASK_ABORT | DeviceTaskAbort clears a STOP failure
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; aclrtDeviceTaskAbort(0, 5000) -> 0; aclrtSynchronizeStream(s) -> 0
""",
)
