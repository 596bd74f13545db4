"""Chapter 06, streams, and what it leans on: failure, abort, overflow switch, launch blocking, last errors."""

from conformance import language

FLAGS = range(0x40)
ODD_FLAGS = {0x40: 0, 0x80: 0, 0x100: 0, 0x200: 0, 0x400: 0, 0x800: 0, 0x1000: 0, 0x41: 1, 0x80000000: 0}
PRIORITIES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 7, 9: 7, 9999: 7, 0x7FFFFFFF: 7, 0x80000000: 0, 0xFFFFFFFF: 0}
TIMEOUTS = {-1: 0, 1: 0, 100: 0, 0x7FFFFFFF: 0, 0: 107000, -2: 107000, -100: 107000, -0x80000000: 107000}
MODES = {0: 0, 1: 1, 2: 0, 3: 1, 0xFFFFFFFFFFFFFFFE: 0, 0xFFFFFFFFFFFFFFFF: 1}


def creation_flags():
    """Every mix of the six flags, and bits that mean nothing."""
    for flag in FLAGS:
        mark = "@!310P " if flag & 0x8 else ""
        if flag & 0x20 and flag != 0x20:
            yield f"c11 {mark}| CreateStreamWithConfig flags {flag:#x} | aclrtCreateStreamWithConfig(new.t, 0, {flag}) -> 107000"
        else:
            yield (
                f"c11 {mark}| CreateStreamWithConfig flags {flag:#x} | aclrtCreateStreamWithConfig(new.t, 0, {flag});"
                f" aclrtStreamGetFlags(t, u32) -> 0, {flag}; aclrtStreamQuery(t, i32) -> 0, 0;"
                " aclrtSynchronizeStreamWithTimeout(t, 200); aclrtDestroyStream(t)"
            )
    for flag, kept in ODD_FLAGS.items():
        yield (
            f"c11 | CreateStreamWithConfig drops the unknown bits of {flag:#x} | aclrtCreateStreamWithConfig(new.t, 0, {flag});"
            f" aclrtStreamGetFlags(t, u32) -> 0, {kept}; aclrtDestroyStream(t)"
        )
    for flag in (0x8, 0x9, 0xC, 0x18, 0x1F):
        yield f"4.2 @310P | no deep queue: flags {flag:#x} | aclrtCreateStreamWithConfig(new.t, 0, {flag}) -> 207000"


def priorities():
    for given, kept in PRIORITIES.items():
        yield (
            f"c10 | priority {given:#x} reads back {kept} | aclrtCreateStreamWithConfig(new.t, {given}, 0);"
            f" aclrtStreamGetPriority(t, u32) -> 0, {kept}; aclrtDestroyStream(t)"
        )
        yield (
            f"c17 @PRIORITY_ATTR | attribute PRIORITY {given:#x} | attribute_set(s, 5, {given});"
            f" aclrtGetStreamAttribute(s, 5, attr32) -> 0, {kept}; aclrtStreamGetPriority(s, u32) -> 0, 0"
        )


def timeouts():
    for timeout, code in TIMEOUTS.items():
        for stream, where in (("s", "c15"), ("NULL", "c12"), ("dflt", "c12"), ("p", "5.1"), ("fast", "5.1")):
            call = f"aclrtSynchronizeStreamWithTimeout({stream}, {timeout})"
            yield f"{where} | an idle stream, {call} | {call} -> {code}"


def failure_modes():
    for mode, kept in MODES.items():
        yield (
            f"c16 | failure mode {mode:#x} of a fresh stream | aclrtSetStreamFailureMode(s, {mode});"
            f" aclrtGetStreamAttribute(s, 1, attr64) -> 0, {kept}"
        )
        yield (
            f"c17 | attribute FAILURE_MODE {mode:#x} of a fresh stream |"
            f" aclrtSetStreamAttribute(s, 1, aclrtStreamAttrValue(failureMode={mode}));"
            f" aclrtGetStreamAttribute(s, 1, attr64) -> 0, {kept}"
        )
    for mode in (0, 2, 8, 0xFFFFFFFFFFFFFFFE):
        yield (
            f"c16 | no way back from STOP with {mode:#x} | aclrtSetStreamFailureMode(s, 1);"
            f" aclrtSetStreamFailureMode(s, {mode}) -> 207000; aclrtGetStreamAttribute(s, 1, attr64) -> 0, 1"
        )
        yield (
            f"c17 | no way back from STOP with attribute value {mode:#x} | aclrtSetStreamFailureMode(s, 1);"
            f" aclrtSetStreamAttribute(s, 1, aclrtStreamAttrValue(failureMode={mode})) -> 207000"
        )
    for mode in (1, 3, 7, 0xFFFFFFFF):
        yield (
            f"c16 | STOP once more with {mode:#x} | aclrtSetStreamFailureMode(s, 1); aclrtSetStreamFailureMode(s, {mode}) -> 0;"
            f" aclrtGetStreamAttribute(s, 1, attr64) -> 0, 1"
        )


def unknown_attributes():
    for attribute in (0, -1, 7, 100, 9999, 0x7FFFFFFF, -0x80000000):
        for stream in ("s", "NULL"):
            yield (
                f"c17 | attribute {attribute} of {stream} | attribute_set({stream}, {attribute}, 1) -> 107000;"
                f" aclrtGetStreamAttribute({stream}, {attribute}, attr32) -> 107000, kept"
            )


def attribute_values():
    for value in (0, 1):
        yield (
            f"c17 @OVERFLOW_SWITCH | attribute FLOAT_OVERFLOW_CHECK {value} | attribute_set(s, 2, {value});"
            f" aclrtGetStreamAttribute(s, 2, attr32) -> 0, {value}; aclrtGetStreamOverflowSwitch(s, u32) -> 0, {value}"
        )
        yield (
            f"c17 | attribute CACHE_OP_INFO {value} is taken and reads 0 outside a capture | attribute_set(s, 4, {value});"
            f" aclrtGetStreamAttribute(s, 4, attr32) -> 0, 0"
        )
    for value in (2, 7, 8, 0xFFFFFFFF):
        yield (
            f"c17 @OVERFLOW_SWITCH | attribute FLOAT_OVERFLOW_CHECK {value:#x} | attribute_set(s, 2, {value}) -> 107000;"
            f" aclrtGetStreamAttribute(s, 2, attr32) -> 0, 0"
        )
        yield f"5.12 @!OVERFLOW_SWITCH | no overflow switch: attribute value {value:#x} | attribute_set(s, 2, {value}) -> 0"
        yield (
            f"c17 | attribute CACHE_OP_INFO {value:#x} | attribute_set(s, 4, {value}) -> 107000;"
            f" aclrtGetStreamAttribute(s, 4, attr32) -> 0, 0"
        )
    for value in (0, 1, 2, 7, 8, 0xFFFFFFFF):
        yield (
            f"c17 @CUSTOM_TAG | attribute USER_CUSTOM_TAG {value:#x} | attribute_set(s, 3, {value});"
            f" aclrtGetStreamAttribute(s, 3, attr32) -> 0, {value}"
        )
    for value in (0, 5):
        yield (
            f"5.12 @!CUSTOM_TAG | no custom tags: {value} has no effect | attribute_set(s, 3, {value});"
            f" aclrtGetStreamAttribute(s, 3, attr32) -> 0, 0xFFFFFFFF"
        )
    for value in (0, 1, 2):
        yield (
            f"6 @LAUNCH_BLOCKING | attribute LAUNCH_BLOCKING_MODE {value} | attribute_set(s, 6, {value});"
            f" aclrtGetStreamAttribute(s, 6, attr32) -> 0, {value}"
        )
    for value in (3, 0xFFFFFFFF):
        yield f"6 @LAUNCH_BLOCKING | attribute LAUNCH_BLOCKING_MODE {value:#x} | attribute_set(s, 6, {value}) -> 107000"


def stale_streams():
    """What every call answers to a stream that is gone, or never was one."""
    calls = """
        aclrtDestroyStream({}) | aclrtDestroyStreamForce({}) | aclrtStreamGetId({}, i32) | aclrtStreamGetFlags({}, u32)
        aclrtStreamGetPriority({}, u32) | aclrtStreamQuery({}, i32) | aclrtSynchronizeStream({})
        aclrtSynchronizeStreamWithTimeout({}, 100) | aclrtSynchronizeStreamWithTimeout({}, 0) | aclrtStreamAbort({})
        aclrtStreamStop({}) | aclrtSetStreamFailureMode({}, 1) | aclrtPersistentTaskClean({}) | aclrtActiveStream({}, {})
        aclrtSetStreamOverflowSwitch({}, 1) | aclrtGetStreamOverflowSwitch({}, u32)
        aclrtSetStreamAttribute({}, 1, aclrtStreamAttrValue()) | aclrtGetStreamAttribute({}, 1, attr64)
        aclrtSetStreamAttribute({}, 2, aclrtStreamAttrValue()) | aclrtGetStreamAttribute({}, 3, attr32)
        aclrtSetStreamAttribute({}, 4, aclrtStreamAttrValue()) | aclrtSetStreamAttribute({}, 5, aclrtStreamAttrValue())
        aclrtSwitchStream(d, 0, d, 0, {}, NULL, {}) | aclrtRecordEvent(e, {}) | aclrtStreamWaitEvent({}, e)
        aclrtMemcpyAsync(d, 64, d2, 64, 3, {}) | aclrtMemsetAsync(d, 64, 0, 64, {})
    """
    for call in (call.strip() for line in calls.strip().splitlines() for call in line.split(" | ")):
        function = call.partition("(")[0]
        outputs = ", kept" if call.endswith(("32)", "64)")) else ""
        for name, source, marks in (
            ("dead", "c13", ""),
            ("zeroed", "c14", ""),
            ("e", "1.1", ""),
            ("wild", "c14", "nocann "),
        ):
            values = call.replace("{}", name)
            yield f"{source} {marks}| {function} of a stale stream: {values} | {values} -> 107017{outputs}"


def without_context():
    """A thread with no context, on a stream that another thread made."""
    for call, gives in (
        ("aclrtStreamGetId(s, i32)", "0, _"),
        ("aclrtStreamGetFlags(s, u32)", "107002, kept"),
        ("aclrtStreamGetPriority(s, u32)", "107002, kept"),
        ("aclrtStreamQuery(s, i32)", "107002, kept"),
        ("aclrtSynchronizeStream(s)", "107002"),
        ("aclrtSynchronizeStreamWithTimeout(s, 100)", "107002"),
        ("aclrtSynchronizeStreamWithTimeout(s, -2)", "107000"),
        ("aclrtSynchronizeStreamWithTimeout(s, 0)", "107000"),
        ("aclrtSynchronizeStreamWithTimeout(NULL, 0)", "107000"),
        ("aclrtSynchronizeStream(p)", "0"),
        ("aclrtSynchronizeStream(cs)", "0"),
        ("aclrtSynchronizeStreamWithTimeout(p, 5)", "0"),
        ("aclrtStreamQuery(p, i32)", "0, 0"),
        ("aclrtDestroyStream(s)", "107002"),
        ("aclrtDestroyStreamForce(s)", "107002"),
        ("aclrtDestroyStream(NULL)", "100000"),
        ("aclrtStreamStop(s)", "107002"),
        ("aclrtStreamStop(NULL)", "107000"),
        ("aclrtPersistentTaskClean(p)", "107002"),
        ("aclrtPersistentTaskClean(NULL)", "107000"),
        ("aclrtSetStreamOverflowSwitch(s, 1)", "107002"),
        ("aclrtSetStreamOverflowSwitch(s, 2)", "100000"),
        ("aclrtSetStreamFailureMode(s, 1)", "107002"),
        ("attribute_set(s, 1, 1)", "107002"),
        ("aclrtGetStreamAttribute(s, 1, attr64)", "107002, kept"),
        ("aclrtActiveStream(NULL, s)", "100000"),
        ("aclrtActiveStream(s, NULL)", "100000"),
        ("aclrtCreateStream(new.t)", "107002"),
        ("aclrtCreateStream(NULL)", "100000"),
        ("aclrtCreateStreamWithConfig(new.t, 0, 3)", "107002"),
        ("aclrtCreateStreamWithConfig(new.t, 0, 0x21)", "107000"),
        ("aclrtGetStreamAvailableNum(u32)", "107002, kept"),
        ("aclrtGetStreamAvailableNum(NULL)", "100000"),
    ):
        yield f"1.1 | no context: {call} | B: {call} -> {gives}"
    yield "1.1 | no context: aclrtStreamAbort(s) | B: aclrtStreamAbort(s) -> 107002"
    yield "5.4 | no context: failure mode of a DEVICE_USE_ONLY stream | B: aclrtSetStreamFailureMode(du, 1) -> 207000"


def nothing_set_up():
    for call, gives in (
        ("aclrtGetStreamAvailableNum(u32)", "107002, kept"),
        ("aclrtCreateStream(new.t)", "107002"),
        ("aclrtCreateStreamWithConfig(new.t, 0, 0)", "107002"),
        ("aclrtStreamGetId(NULL, i32)", "107002, kept"),
        ("aclrtStreamGetFlags(NULL, u32)", "107002, kept"),
        ("aclrtStreamGetPriority(NULL, u32)", "107002, kept"),
        ("aclrtStreamQuery(NULL, i32)", "107002, kept"),
        ("aclrtSynchronizeStream(NULL)", "107002"),
        ("aclrtSynchronizeStreamWithTimeout(NULL, -1)", "107002"),
        ("aclrtDestroyStream(NULL)", "100000"),
        ("aclrtDestroyStreamForce(NULL)", "100000"),
        ("aclrtStreamAbort(NULL)", "107000"),
        ("aclrtStreamStop(NULL)", "107000"),
        ("aclrtSetStreamFailureMode(NULL, 1)", "107000"),
        ("aclrtGetStreamAttribute(NULL, 1, attr64)", "107000, kept"),
    ):
        yield f"c01 bare | before anything: {call} | {call} -> {gives}"


ROWS = language.rows(
    __name__,
    "\n".join(
        [
            *nothing_set_up(),
            *creation_flags(),
            *priorities(),
            *timeouts(),
            *failure_modes(),
            *unknown_attributes(),
            *attribute_values(),
            *stale_streams(),
            *without_context(),
        ]
    )
    + """

# ---- creation ----
c10          | CreateStream: NULL | aclrtCreateStream(NULL) -> 100000
c10          | CreateStreamWithConfig: NULL | aclrtCreateStreamWithConfig(NULL, 0, 0) -> 100000
4.2          | CreateStreamWithConfig: NULL comes before bad flags | aclrtCreateStreamWithConfig(NULL, 0, 0x21) -> 100000
v2           | CreateStream gives flags 0 and priority 0
             | aclrtCreateStream(new.t); aclrtStreamGetFlags(t, u32) -> 0, 0; aclrtStreamGetPriority(t, u32) -> 0, 0
4.2          | priority and flags together
             | aclrtCreateStreamWithConfig(new.t, 5, 3); aclrtStreamGetFlags(t, u32) -> 0, 3; aclrtStreamGetPriority(t, u32) -> 0, 5
c8d @!310P   | flags 0x48 read back 8 | aclrtCreateStreamWithConfig(new.t, 0, 0x48); aclrtStreamGetFlags(t, u32) -> 0, 8
c11 @!310P   | flags 0x7fffffff | aclrtCreateStreamWithConfig(new.t, 0, 0x7FFFFFFF) -> 107000
c11 @!310P   | flags 0xffffffff | aclrtCreateStreamWithConfig(new.t, 0, 0xFFFFFFFF) -> 107000
c02 bare     | a device is enough, aclInit is not needed
             | aclrtSetDevice(0); aclrtCreateStream(new.t); aclrtSynchronizeStream(t); aclrtDestroyStream(t); aclrtResetDevice(0)
1.5          | live streams have different ids
             | aclrtStreamGetId(s, i32) -> 0, above(0); aclrtStreamGetId(s2, i32) -> 0, above(0); ids_differ(s, s2) -> 1
4.1          | stream handles are not NULL and differ | aclrtCreateStream(new.t); aclrtCreateStream(new.u); differ(t, u) -> 1

# ---- how many ----
c10          | AvailableNum: NULL | aclrtGetStreamAvailableNum(NULL) -> 100000
4.4 fresh    | AvailableNum with the default stream alone | aclrtGetStreamAvailableNum(u32) -> 0, emulated(STREAMS - 1)
4.4 fresh    | AvailableNum falls by one for each stream and rises again
             | aclrtCreateStream(new.t); aclrtGetStreamAvailableNum(u32) -> 0, emulated(STREAMS - 2); aclrtDestroyStream(t);
             | aclrtGetStreamAvailableNum(u32) -> 0, emulated(STREAMS - 1)
4.4 fresh    | AvailableNum counts the default streams of all contexts
             | aclrtCreateContext(new.c, 0); aclrtGetStreamAvailableNum(u32) -> 0, emulated(STREAMS - 2); aclrtDestroyContext(c);
             | aclrtSetDevice(0); aclrtGetStreamAvailableNum(u32) -> 0, emulated(STREAMS - 1)
4.4 fresh    | AvailableNum is counted per device
             | aclrtCreateStream(new.t); aclrtSetDevice(1); aclrtGetStreamAvailableNum(u32) -> 0, emulated(STREAMS - 1)
v42 fresh nocann | the stream behind the last one, and after closing one
             | repeat(STREAMS - 1, "aclrtCreateStream", new.t); aclrtGetStreamAvailableNum(u32) -> 0, 0;
             | aclrtCreateStream(new.u) -> 207008; aclrtCreateStreamWithConfig(new.u, 0, 3) -> 207008; aclrtDestroyStream(t);
             | aclrtCreateStream(new.u) -> 0; aclrtGetStreamAvailableNum(u32) -> 0, 0

# ---- destruction ----
c12          | Destroy: NULL | aclrtDestroyStream(NULL) -> 100000
c12          | DestroyForce: NULL | aclrtDestroyStreamForce(NULL) -> 100000
v10          | Destroy twice | aclrtCreateStream(new.t); aclrtDestroyStream(t) -> 0; aclrtDestroyStream(t) -> 107017
c13          | DestroyForce after Destroy | aclrtCreateStream(new.t); aclrtDestroyStream(t); aclrtDestroyStreamForce(t) -> 107017
c13          | Destroy after DestroyForce | aclrtCreateStream(new.t); aclrtDestroyStreamForce(t); aclrtDestroyStream(t) -> 107017
c14 nocann   | a handle stays dead while others are made in its place
             | aclrtCreateStream(new.t); aclrtDestroyStream(t); repeat(200, "aclrtCreateStream", new.u); aclrtStreamGetId(t, i32) -> 107017
c86          | Destroy of a CPU_SCHEDULE stream
             | aclrtCreateStreamWithConfig(new.t, 0, 0x10); aclrtDestroyStream(t) -> 0; aclrtDestroyStreamForce(t) -> 107017
4.5          | Destroy of a DEVICE_USE_ONLY stream | aclrtCreateStreamWithConfig(new.t, 0, 0x20); aclrtDestroyStream(t) -> 0
4.5          | Destroy of a PERSISTENT stream | aclrtCreateStreamWithConfig(new.t, 0, 4); aclrtDestroyStream(t) -> 0
c12 fresh nocann | Destroy of the default stream's handle | aclrtDestroyStream(dflt) -> 0; aclrtDestroyStreamForce(dflt) -> 107017
c22b         | Destroy waits for what is queued
             | aclrtCreateStream(new.t); hold(t); aclrtRecordEvent(e, t); T& aclrtDestroyStream(t); busy(T); release(t); wait(T) -> 0
c22 @FORCE_DESTROY | DestroyForce does not wait
             | aclrtCreateStream(new.t); hold(t); aclrtRecordEvent(e, t); aclrtDestroyStreamForce(t) -> 0; aclrtStreamGetId(t, i32) -> 107017
4.5 @!FORCE_DESTROY | DestroyForce is Destroy here
             | aclrtCreateStream(new.t); hold(t); aclrtRecordEvent(e, t); T& aclrtDestroyStreamForce(t); busy(T); release(t); wait(T) -> 0
4.5          | events recorded on a destroyed stream count as complete
             | aclrtCreateStream(new.t); aclrtRecordEvent(e, t); aclrtDestroyStream(t); aclrtQueryEventStatus(e, i32) -> 0, 1;
             | aclrtSynchronizeEvent(e) -> 0

# ---- getters ----
c12          | GetId: the default stream | aclrtStreamGetId(NULL, i32) -> 0, _; same_id(NULL, dflt) -> 1
c12          | GetId: NULL output | aclrtStreamGetId(s, NULL) -> 100000; aclrtStreamGetId(NULL, NULL) -> 100000
c12          | GetFlags: the default stream | aclrtStreamGetFlags(NULL, u32) -> 0, 3 @CONTROL_SQ else 0, 0
c12          | GetFlags: the default stream by its handle | aclrtStreamGetFlags(dflt, u32) -> 0, 3 @CONTROL_SQ else 0, 0
c15          | GetFlags: NULL output | aclrtStreamGetFlags(s, NULL) -> 100000; aclrtStreamGetFlags(NULL, NULL) -> 100000
c12          | GetPriority: the default stream | aclrtStreamGetPriority(NULL, u32) -> 0, 0; aclrtStreamGetPriority(dflt, u32) -> 0, 0
c15          | GetPriority: NULL output | aclrtStreamGetPriority(s, NULL) -> 100000; aclrtStreamGetPriority(NULL, NULL) -> 100000
c13          | GetId: NULL output comes before a stale stream | aclrtStreamGetId(dead, NULL) -> 100000
c13          | GetFlags: NULL output comes before a stale stream | aclrtStreamGetFlags(dead, NULL) -> 100000
c13          | GetPriority: NULL output comes before a stale stream | aclrtStreamGetPriority(dead, NULL) -> 100000
1.1          | Query: NULL output comes before a stale stream | aclrtStreamQuery(dead, NULL) -> 100000
3.6 bare     | the priority range needs no device | aclrtDeviceGetStreamPriorityRange(i32, i32) -> 0, 7, 0
3.6          | either half of the priority range may be NULL
             | aclrtDeviceGetStreamPriorityRange(NULL, i32) -> 0, 0; aclrtDeviceGetStreamPriorityRange(i32, NULL) -> 0, 7;
             | aclrtDeviceGetStreamPriorityRange(NULL, NULL) -> 0

# ---- streams of another context ----
c23          | another context: GetId | aclrtStreamGetId(o, i32) -> 0, _
c23          | another context: GetFlags | aclrtStreamGetFlags(o, u32) -> 0, 0
c23          | another context: GetPriority | aclrtStreamGetPriority(o, u32) -> 0, 0
c23          | another context: Query | aclrtStreamQuery(o, i32) -> 0, 0
c23          | another context: Synchronize | aclrtSynchronizeStream(o) -> 0
c23          | another context: SynchronizeWithTimeout | aclrtSynchronizeStreamWithTimeout(o, 10) -> 0
c23          | another context: GetAttribute FAILURE_MODE | aclrtGetStreamAttribute(o, 1, attr64) -> 0, 0
c23          | another context: Destroy | aclrtDestroyStream(o) -> 107003
c23          | another context: DestroyForce | aclrtDestroyStreamForce(o) -> 107003
c23          | another context: SetFailureMode | aclrtSetStreamFailureMode(o, 1) -> 107003
5.4          | another context: the failure mode it has already | aclrtSetStreamFailureMode(o, 0) -> 0
c23          | another context: Abort | aclrtStreamAbort(o) -> 107003
5.6 @FORCE_DESTROY | another context: Stop | aclrtStreamStop(o) -> 107003
c23 @CONTROL_SQ | another context: PersistentTaskClean | aclrtPersistentTaskClean(o) -> 507000
c23          | another context: RecordEvent | aclrtRecordEvent(e, o) -> 107003
c23          | another context: StreamWaitEvent | aclrtRecordEvent(e, s); aclrtStreamWaitEvent(o, e) -> 107003
c23          | another context: MemcpyAsync | aclrtMemcpyAsync(d, 64, d2, 64, 3, o) -> 0; aclrtSynchronizeStream(o) -> 0
5.11         | another context: SetStreamOverflowSwitch | aclrtSetStreamOverflowSwitch(o, 1) -> 107003
5.11         | another context: the flag is looked at first | aclrtSetStreamOverflowSwitch(o, 2) -> 100000
5.12         | another context: SetAttribute FAILURE_MODE | attribute_set(o, 1, 1) -> 107003
5.12         | another context: SetAttribute FLOAT_OVERFLOW_CHECK | attribute_set(o, 2, 1) -> 107003
5.12         | another context: SetAttribute USER_CUSTOM_TAG | attribute_set(o, 3, 1) -> 107003
5.12         | another context: SetAttribute CACHE_OP_INFO | attribute_set(o, 4, 1) -> 107003
5.12 @PRIORITY_ATTR | another context: SetAttribute PRIORITY | attribute_set(o, 5, 1) -> 107003
v12          | another thread with another context: Destroy | T: aclrtCreateContext(new.c, 0); T: aclrtDestroyStream(s) -> 107003; T: aclrtDestroyContext(c)
v13          | another thread with another context: Synchronize
             | T: aclrtCreateContext(new.c, 0); T: aclrtSynchronizeStream(s) -> 0; T: aclrtDestroyContext(c)
c23          | streams go with their context
             | aclrtCreateContext(new.c, 0); aclrtCreateStream(new.t); aclrtDestroyContext(c); aclrtStreamGetId(t, i32) -> 107017;
             | aclrtSetCurrentContext(ctx); aclrtDestroyStream(t) -> 107017; aclrtSynchronizeStream(t) -> 107017

# ---- synchronize and query ----
c12          | Synchronize: the default stream | aclrtSynchronizeStream(NULL) -> 0; aclrtSynchronizeStream(dflt) -> 0
c12          | Query: the default stream | aclrtStreamQuery(NULL, i32) -> 0, 0; aclrtStreamQuery(dflt, i32) -> 0, 0
c15          | Query: NULL output | aclrtStreamQuery(s, NULL) -> 100000; aclrtStreamQuery(NULL, NULL) -> 100000
v16          | Query: idle and blocked
             | aclrtStreamQuery(s, i32) -> 0, 0; aclrtWaitAndResetNotify(n, s, 0); aclrtStreamQuery(s, i32) -> 0, 1;
             | aclrtRecordNotify(n, s2); aclrtSynchronizeStream(s) -> 0; aclrtStreamQuery(s, i32) -> 0, 0
5.1          | a stale stream comes behind a timeout below -1 | aclrtSynchronizeStreamWithTimeout(dead, -2) -> 107000
5.1          | a stale stream comes before a timeout of 0 | aclrtSynchronizeStreamWithTimeout(dead, 0) -> 107017
v15          | a blocked stream: the timeout strikes, the stream goes on
             | aclrtWaitAndResetNotify(n, s, 0); aclrtSynchronizeStreamWithTimeout(s, 50) -> 507046 after 45;
             | aclrtSynchronizeStreamWithTimeout(s, 20) -> 507046 after 18; aclrtRecordNotify(n, s2); aclrtSynchronizeStream(s) -> 0;
             | aclrtRecordEvent(e, s); aclrtSynchronizeStreamWithTimeout(s, 5000) -> 0
c22          | a held stream: what queries say
             | hold(s); aclrtRecordEvent(e, s); aclrtStreamQuery(s, i32) -> 0, 1; aclrtQueryEventStatus(e, i32) -> 0, 0;
             | aclrtQueryEvent(e, i32) -> 0, 1
c22          | a held stream: timeouts of three calls
             | hold(s); aclrtRecordEvent(e, s); aclrtSynchronizeStreamWithTimeout(s, 30) -> 507046;
             | aclrtSynchronizeEventWithTimeout(e, 30) -> 507047; aclrtSynchronizeDeviceWithTimeout(30) -> 507046 after 28
c22          | a timeout is the last error
             | hold(s); aclrtRecordEvent(e, s); aclrtSynchronizeStreamWithTimeout(s, 10) -> 507046; aclrtGetLastError(0) -> 507046;
             | aclrtGetLastError(0) -> 0; aclrtPeekAtLastError(0) -> 0
c22d         | a held stream and a timeout of 0 | hold(s); aclrtRecordEvent(e, s); aclrtSynchronizeStreamWithTimeout(s, 0) -> 107000
5.1          | Synchronize waits until the work is done
             | hold(s); aclrtRecordEvent(e, s); T& aclrtSynchronizeStream(s); busy(T); release(s); wait(T) -> 0
5.1          | Synchronize of the default stream waits
             | hold(NULL); aclrtRecordEvent(e, NULL); T& aclrtSynchronizeStream(NULL); busy(T); release(NULL); wait(T) -> 0
5.1          | Synchronize waits for a stream of another context
             | aclrtWaitAndResetNotify(n, s, 0); B& aclrtSynchronizeStream(s); wait(B) -> 107002; T: aclrtCreateContext(new.c, 0);
             | T& aclrtSynchronizeStream(s); busy(T); aclrtRecordNotify(n, s2); wait(T) -> 0; T: aclrtDestroyContext(c)
5.1          | a stream that is not held does not wait for one that is
             | hold(s); aclrtRecordEvent(e, s); aclrtRecordEvent(e2, s2); aclrtSynchronizeStreamWithTimeout(s2, 5000) -> 0
5.1          | PERSISTENT: never waited for
             | aclrtMemcpyAsync(d, 64, d2, 64, 3, p); aclrtSynchronizeStream(p) -> 0; aclrtStreamQuery(p, i32) -> 0, 0
5.1          | CPU_SCHEDULE: never waited for | aclrtSynchronizeStream(cs) -> 0; aclrtStreamQuery(cs, i32) -> 0, 0
5.1          | DEVICE_USE_ONLY: never waited for | aclrtSynchronizeStream(du) -> 0; aclrtStreamQuery(du, i32) -> 0, 0
c20          | PERSISTENT: record, query, wait
             | aclrtRecordEvent(e, p); aclrtStreamQuery(p, i32) -> 0, 0; aclrtSynchronizeStream(p); aclrtSynchronizeStreamWithTimeout(p, 100)
c20 @A2,A3   | PERSISTENT: abort and stop are harmless | aclrtStreamAbort(p) -> 0; aclrtStreamStop(p) -> 0
c86 @!310P   | PERSISTENT: copy, wait for an event, overflow switch, flags
             | aclrtRecordEvent(e, p); aclrtMemcpyAsync(d, 32, d2, 32, 3, p); aclrtStreamWaitEvent(p, e);
             | aclrtSynchronizeStreamWithTimeout(p, 200); aclrtSetStreamOverflowSwitch(p, 1); aclrtStreamGetFlags(p, u32) -> 0, 4
c86          | CPU_SCHEDULE: record, copy, wait for an event
             | aclrtRecordEvent(e, cs); aclrtMemcpyAsync(d, 32, d2, 32, 3, cs); aclrtStreamWaitEvent(cs, e); aclrtStreamQuery(cs, i32) -> 0, 0;
             | aclrtSynchronizeStreamWithTimeout(cs, 200) -> 0; aclrtSetStreamOverflowSwitch(cs, 1); aclrtStreamGetFlags(cs, u32) -> 0, 16

# ---- failure modes: arguments ----
c12          | failure mode of the default stream as NULL | aclrtSetStreamFailureMode(NULL, 1) -> 0 @CONTROL_SQ else 107000
c12 @CONTROL_SQ | failure mode of the default stream, again | aclrtSetStreamFailureMode(NULL, 1); aclrtSetStreamFailureMode(NULL, 1) -> 0
c16 @CONTROL_SQ | failure mode of the default stream: no way back
             | aclrtSetStreamFailureMode(NULL, 1); aclrtSetStreamFailureMode(NULL, 0) -> 207000; aclrtGetStreamAttribute(NULL, 1, attr64) -> 0, 1
5.4          | failure mode of the default stream by its handle
             | aclrtSetStreamFailureMode(dflt, 1) -> 0; aclrtGetStreamAttribute(dflt, 1, attr64) -> 0, 1
5.12         | attribute FAILURE_MODE of the default stream as NULL | attribute_set(NULL, 1, 1) -> 0 @CONTROL_SQ else 107000
5.12         | reading attribute FAILURE_MODE of NULL | aclrtGetStreamAttribute(NULL, 1, attr64) -> 0, 0 @CONTROL_SQ else 107000, kept
c16          | the modes of siblings are their own
             | aclrtSetStreamFailureMode(s, 1); aclrtGetStreamAttribute(s2, 1, attr64) -> 0, 0; aclrtGetStreamAttribute(dflt, 1, attr64) -> 0, 0;
             | aclrtCreateStream(new.t); aclrtGetStreamAttribute(t, 1, attr64) -> 0, 0
c16          | seven modes one after another
             | aclrtSetStreamFailureMode(s, 0); aclrtSetStreamFailureMode(s, 0); aclrtSetStreamFailureMode(s, 1);
             | aclrtSetStreamFailureMode(s, 1); aclrtSetStreamFailureMode(s, 3); aclrtSetStreamFailureMode(s, 0) -> 207000;
             | aclrtSetStreamFailureMode(s, 2) -> 207000; aclrtGetStreamAttribute(s, 1, attr64) -> 0, 1
c16          | failure mode of a PERSISTENT stream | aclrtSetStreamFailureMode(p, 1) -> 0
c16          | failure mode of a CPU_SCHEDULE stream | aclrtSetStreamFailureMode(cs, 1) -> 0
c16          | failure mode of a DEVICE_USE_ONLY stream | aclrtSetStreamFailureMode(du, 1) -> 207000; aclrtSetStreamFailureMode(du, 0) -> 207000
c17          | GetAttribute FAILURE_MODE at first | aclrtGetStreamAttribute(s, 1, attr64) -> 0, 0

# ---- continue mode, with tasks that fail ----
v18          | a failure is told once, and what is behind it runs
             | fail(s, 507015); launch(k_noop, s); launch(k_add_one, s, d); aclrtSynchronizeStream(s) -> 507015;
             | aclrtSynchronizeStream(s) -> 0; device(d, 1) -> b"\\1"
v19          | of two failures the later one is told
             | launch(k_fail, s, 507015); launch(k_fail, s, 507035); aclrtSynchronizeStream(s) -> 507035; aclrtSynchronizeStream(s) -> 0
c8c          | a kernel exception, CONTINUE mode
             | fail(s, 507035); launch(k_noop, s); aclrtSynchronizeStream(s) -> 507035; aclrtSynchronizeStream(s) -> 0;
             | aclrtGetLastError(0) -> 507035; aclrtDestroyStreamForce(s) -> 0
5.2          | a query does not take the error away
             | fail(s, 507015); launch(k_noop, s); aclrtSynchronizeDevice() -> 507015; launch(k_fail, s, 507014); sleep(30);
             | aclrtStreamQuery(s, i32) -> 0, 0; aclrtStreamQuery(s, i32) -> 0, 0; aclrtSynchronizeStream(s) -> 507014
5.3          | siblings are not affected
             | fail(s, 507015); launch(k_noop, s); launch(k_noop, s2); aclrtSynchronizeStream(s2) -> 0; aclrtSynchronizeStream(s) -> 507015
5.3          | the failing thread's error is told to whoever synchronizes
             | T: launch(k_fail, s, 507018); aclrtSynchronizeStream(s) -> 507018; T: aclrtSynchronizeStream(s) -> 0
5.3          | a timeout form tells it too | launch(k_fail, s, 507016); aclrtSynchronizeStreamWithTimeout(s, 5000) -> 507016
5.3          | the default stream tells it too | launch(k_fail, NULL, 507036); aclrtSynchronizeStream(NULL) -> 507036; aclrtSynchronizeStream(NULL) -> 0
5.3          | a failed stream can be destroyed | aclrtCreateStream(new.t); launch(k_fail, t, 507015); aclrtDestroyStream(t) -> 0
"""
    + "".join(
        f"""
5.3          | a kernel that fails with {code} | launch(k_fail, s, {code}); aclrtSynchronizeStream(s) -> {code}; aclrtSynchronizeStream(s) -> 0
5.4          | STOP: a kernel that fails with {code}
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, {code}); aclrtSynchronizeStream(s) -> {code}; aclrtSynchronizeStream(s) -> {code}
"""
        for code in (507013, 507014, 507015, 507016, 507017, 507018, 507034, 507035, 507036)
    )
    + """
# ---- outcomes that are no errors ----
v28          | overflow of an AI core | launch(k_overflow, s); aclrtSynchronizeStream(s) -> 207003; aclrtPeekAtLastError(0) -> 0
v28          | overflow of a vector core | launch(k_fail, s, 207016); aclrtSynchronizeStream(s) -> 207016; aclrtPeekAtLastError(0) -> 0
5.1          | overflow of an AI CPU | launch(k_fail, s, 207017); aclrtSynchronizeStream(s) -> 207017; aclrtPeekAtLastError(0) -> 0
5.1          | end of sequence | launch(k_fail, s, 507005); aclrtSynchronizeStream(s) -> 507005; aclrtPeekAtLastError(0) -> 0
5.1          | a model that aborted as asked | launch(k_fail, s, 507023); aclrtSynchronizeStream(s) -> 507023; aclrtPeekAtLastError(0) -> 0
5.1          | a closed socket | launch(k_fail, s, 507901); aclrtSynchronizeStream(s) -> 507901; aclrtPeekAtLastError(0) -> 0

# ---- stop mode, with tasks that fail ----
c84b         | STOP: everything on the stream fails with the code
             | aclrtSetStreamFailureMode(s, 1); fail(s, 507035); launch(k_noop, s) -> 0; aclrtSynchronizeStreamWithTimeout(s, 5000) -> 507035;
             | aclrtSynchronizeStreamWithTimeout(s, 1000) -> 507035; aclrtStreamQuery(s, i32) -> 507035, kept; launch(k_noop, s) -> 507035;
             | aclrtSynchronizeStreamWithTimeout(s, 1000) -> 507035; aclrtRecordEvent(e, s) -> 507035
c84b         | STOP: siblings and the device fail with it
             | aclrtSetStreamFailureMode(s, 1); fail(s, 507035); launch(k_noop, s); aclrtSynchronizeStream(s) -> 507035;
             | launch(k_noop, s2) -> 507035; aclrtSynchronizeStreamWithTimeout(s2, 1000) -> 507035; aclrtSynchronizeDeviceWithTimeout(1000) -> 507035
c84b         | STOP: the code is the last error, once; destroying works
             | aclrtSetStreamFailureMode(s, 1); fail(s, 507035); launch(k_noop, s); aclrtSynchronizeStream(s) -> 507035;
             | aclrtGetLastError(0) -> 507035; aclrtGetLastError(0) -> 0; aclrtDestroyStream(s) -> 0
v20          | STOP: a sibling's query | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015;
             | aclrtStreamQuery(s2, i32) -> 507015, kept
v21          | STOP: the default stream, and a stream made later
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015;
             | launch(k_noop, NULL) -> 507015; aclrtSynchronizeStream(NULL) -> 507015; aclrtCreateStream(new.t) -> 0; launch(k_noop, t) -> 507015
v22          | STOP: sticky | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015;
             | aclrtSynchronizeStream(s) -> 507015; aclrtSynchronizeStream(s) -> 507015
v23          | STOP: synchronous copies and allocation still work
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015;
             | aclrtMemcpy(h, 64, d, 64, 2) -> 0; aclrtMemset(d, 64, 1, 64) -> 0; aclrtMalloc(new.q, 64, 0) -> 0; aclrtFree(q) -> 0
5.4          | STOP: asynchronous copies and waits do not
             | aclrtRecordEvent(e, s2); aclrtSynchronizeStream(s2); aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015);
             | aclrtSynchronizeStream(s) -> 507015; aclrtMemcpyAsync(d, 64, d2, 64, 3, s2) -> 507015; aclrtMemsetAsync(d, 64, 0, 64, s2) -> 507015;
             | aclrtStreamWaitEvent(s2, e) -> 507015; aclrtSynchronizeEvent(e) -> 507015; aclrtSynchronizeDevice() -> 507015
v24          | STOP: over with the context
             | aclrtCreateContext(new.c, 0); aclrtCreateStream(new.t); aclrtSetStreamFailureMode(t, 1); launch(k_fail, t, 507015);
             | aclrtSynchronizeStream(t) -> 507015; aclrtDestroyContext(c) -> 0; aclrtSetCurrentContext(ctx); launch(k_noop, s) -> 0;
             | aclrtSynchronizeStream(s) -> 0
5.4          | STOP: other contexts are not affected
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015;
             | T: aclrtCreateContext(new.c, 0); T: aclrtCreateStream(new.t); T: launch(k_noop, t) -> 0; T: aclrtSynchronizeStream(t) -> 0;
             | T: aclrtDestroyContext(c)
v24b         | STOP: set on one stream, another one fails
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s2, 507018); aclrtSynchronizeStream(s2) -> 507018; aclrtSynchronizeStream(s) -> 507018
v24c         | STOP: waits for an event behind the failing task are released
             | aclrtSetStreamFailureMode(s, 1); hold(s); launch(k_fail, s, 507015); aclrtRecordEvent(e, s); aclrtStreamWaitEvent(s2, e);
             | T& aclrtSynchronizeEvent(e); release(s); wait(T) -> _; aclrtQueryEventStatus(e, i32) -> _, _; aclrtSynchronizeStream(s2) -> 507015
5.4          | STOP: what was queued behind the failing task never runs
             | aclrtSetStreamFailureMode(s, 1); hold(s); launch(k_fail, s, 507015); launch(k_add_one, s, d); release(s);
             | aclrtSynchronizeStream(s) -> 507015; sleep(20); device(d, 1) -> b"\\0"
5.4          | STOP: the first failure is the one that stays
             | aclrtSetStreamFailureMode(s, 1); hold(s2); launch(k_fail, s2, 507018); launch(k_fail, s, 507015);
             | aclrtSynchronizeStream(s) -> 507015; release(s2); sleep(20); aclrtSynchronizeStream(s2) -> 507015
5.4 @STREAM_ABORT | STOP: abort does not clear it
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; aclrtStreamAbort(s) -> _;
             | aclrtSynchronizeStream(s) -> 507015
5.4          | STOP: the mode of the failed stream cannot be set any more, not even to STOP
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015;
             | aclrtSetStreamFailureMode(s, 1) -> 207000; aclrtSetStreamFailureMode(s, 0) -> 207000
5.4          | STOP: reading the mode of the failed stream
             | aclrtSetStreamFailureMode(s, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; aclrtGetStreamAttribute(s, 1, attr64) -> 0, 1
5.4 @CONTROL_SQ | STOP: on the default stream
             | aclrtSetStreamFailureMode(NULL, 1); launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; aclrtSynchronizeStream(NULL) -> 507015
5.4          | STOP: forced destroy of the failed stream
             | aclrtCreateStream(new.t); aclrtSetStreamFailureMode(t, 1); launch(k_fail, t, 507015); aclrtSynchronizeStream(t) -> 507015;
             | aclrtDestroyStreamForce(t) -> 0
5.4          | STOP: a synchronize in flight ends with the code
             | aclrtSetStreamFailureMode(s, 1); hold(s2); launch(k_noop, s2); T& aclrtSynchronizeStream(s2); busy(T);
             | launch(k_fail, s, 507015); aclrtSynchronizeStream(s) -> 507015; wait(T) -> 507015
5.4 fresh    | STOP: over with the device
             | aclrtCreateStream(new.t); aclrtSetStreamFailureMode(t, 1); launch(k_fail, t, 507015); aclrtSynchronizeStream(t) -> 507015;
             | aclrtResetDeviceForce(0); aclrtSetDevice(0); aclrtCreateStream(new.u); aclrtCreateEvent(new.f); aclrtRecordEvent(f, u) -> 0;
             | aclrtSynchronizeStream(u) -> 0

# ---- abort and stop ----
c12          | Abort: NULL | aclrtStreamAbort(NULL) -> 0 @STREAM_ABORT else 107000
5.5          | Abort: an idle stream | aclrtStreamAbort(s) -> 0 @STREAM_ABORT else 207000
c12 @STREAM_ABORT | Abort: the default stream by its handle | aclrtStreamAbort(dflt) -> 0
c86 @STREAM_ABORT | Abort: a CPU_SCHEDULE stream | aclrtStreamAbort(cs) -> 107000
5.5          | Abort: a PERSISTENT stream | aclrtStreamAbort(p) -> 0 @A2,A3 else 507000 @950 else 207000
c12          | Stop: NULL | aclrtStreamStop(NULL) -> 107000
5.6          | Stop: an idle stream | aclrtStreamStop(s) -> 0 @FORCE_DESTROY else 207000
c12 @FORCE_DESTROY | Stop: the default stream by its handle | aclrtStreamStop(dflt) -> 0
c86 @FORCE_DESTROY | Stop: a CPU_SCHEDULE stream | aclrtStreamStop(cs) -> 0
c20 @FORCE_DESTROY | Stop: a PERSISTENT stream | aclrtStreamStop(p) -> 0
c21 @STREAM_ABORT | the stream works on after stop and abort
             | aclrtStreamStop(s); aclrtSynchronizeStream(s); aclrtStreamAbort(s); aclrtSynchronizeStream(s); aclrtRecordEvent(e, s); aclrtSynchronizeStream(s)
c88 @STREAM_ABORT | abort under a synchronize
             | hold(s); aclrtRecordEvent(e, s); aclrtRecordEvent(e, s); T& aclrtSynchronizeStreamWithTimeout(s, 5000); busy(T);
             | aclrtStreamAbort(s) -> 0; wait(T) -> 107023; release(s); aclrtStreamQuery(s, i32) -> 0, 0; aclrtQueryEventStatus(e, i32) -> 0, 1;
             | aclrtSynchronizeStream(s); aclrtRecordEvent(e, s); aclrtSynchronizeStreamWithTimeout(s, 1000) -> 0
v33 @STREAM_ABORT | abort under a synchronize without timeout
             | hold(s); aclrtRecordEvent(e, s); T& aclrtSynchronizeStream(s); busy(T); aclrtStreamAbort(s) -> 0; wait(T) -> 107023;
             | release(s); aclrtSynchronizeStream(s) -> 0
5.5 @STREAM_ABORT | abort under an event synchronize
             | hold(s); aclrtRecordEvent(e, s); T& aclrtSynchronizeEvent(e); busy(T); aclrtStreamAbort(s) -> 0; wait(T) -> 107023
5.5 @STREAM_ABORT | abort drops what is queued
             | hold(s); launch(k_add_one, s, d); launch(k_add_one, s, d); aclrtStreamAbort(s); release(s); aclrtSynchronizeStream(s) -> 0;
             | device(d, 1) -> b"\\0"; launch(k_add_one, s, d); aclrtSynchronizeStream(s) -> 0; device(d, 1) -> b"\\1"
5.5 @STREAM_ABORT | abort ends a kernel that runs for ever
             | launch(k_wait_flag, s, d); aclrtSynchronizeStreamWithTimeout(s, 20) -> 507046; aclrtStreamAbort(s) -> 0; aclrtSynchronizeStream(s) -> 0
5.5 @STREAM_ABORT | abort of the default stream under a synchronize
             | hold(NULL); launch(k_noop, NULL); T& aclrtSynchronizeStream(NULL); busy(T); aclrtStreamAbort(NULL) -> 0; wait(T) -> 107023
5.5 @STREAM_ABORT | abort leaves siblings alone
             | hold(s); hold(s2); launch(k_add_one, s2, d); aclrtStreamAbort(s); release(s2); aclrtSynchronizeStream(s2) -> 0; device(d, 1) -> b"\\1"
5.5 @STREAM_ABORT | abort ends a wait for a notify | aclrtWaitAndResetNotify(n, s, 0); aclrtStreamAbort(s) -> 0; aclrtSynchronizeStream(s) -> 0
5.5 @STREAM_ABORT | abort twice | hold(s); launch(k_noop, s); aclrtStreamAbort(s) -> 0; aclrtStreamAbort(s) -> 0; release(s); aclrtSynchronizeStream(s) -> 0
5.6 @FORCE_DESTROY | stop ends the running kernel
             | launch(k_wait_flag, s, d); aclrtSynchronizeStreamWithTimeout(s, 20) -> 507046; aclrtStreamStop(s) -> 0;
             | aclrtSynchronizeStreamWithTimeout(s, 5000) -> _; launch(k_add_one, s, d2); aclrtSynchronizeStream(s) -> 0; device(d2, 1) -> b"\\1"
5.5          | without abort the timeout is all there is
             | aclrtWaitAndResetNotify(n, s, 0); aclrtSynchronizeStreamWithTimeout(s, 20) -> 507046; aclrtRecordNotify(n, s2); aclrtSynchronizeStream(s) -> 0

# ---- activate, switch, clean: what they refuse without a model ----
c20          | ActiveStream: not bound | aclrtActiveStream(s, s2) -> 107005
c20          | ActiveStream: PERSISTENT, not bound | aclrtActiveStream(p, p2) -> 107005
c20          | ActiveStream: NULL first | aclrtActiveStream(NULL, s) -> 100000
c20          | ActiveStream: NULL second | aclrtActiveStream(s, NULL) -> 100000
c12          | ActiveStream: NULL both | aclrtActiveStream(NULL, NULL) -> 100000
5.8          | ActiveStream: NULL comes before a stale stream | aclrtActiveStream(dead, NULL) -> 100000
5.8          | ActiveStream: a stale second stream | aclrtActiveStream(s, dead) -> 107017
c20          | SwitchStream: not bound | aclrtSwitchStream(d, 0, d, 0, s, NULL, s) -> 107005
c20          | SwitchStream: NULL left | aclrtSwitchStream(NULL, 0, d, 0, s, NULL, s) -> 100000
5.9          | SwitchStream: NULL right | aclrtSwitchStream(d, 0, NULL, 0, s, NULL, s) -> 100000
c20          | SwitchStream: NULL trueStream | aclrtSwitchStream(d, 0, d, 0, NULL, NULL, s) -> 100000
c20          | SwitchStream: a falseStream | aclrtSwitchStream(d, 0, d, 0, s, s, s) -> 100000
c20          | SwitchStream: NULL stream | aclrtSwitchStream(d, 0, d, 0, s, NULL, NULL) -> 100000
c20          | SwitchStream: condition 99 | aclrtSwitchStream(d, 99, d, 0, s, NULL, s) -> 107000
5.9          | SwitchStream: condition 6 | aclrtSwitchStream(d, 6, d, 0, s, NULL, s) -> 107000
5.9          | SwitchStream: condition -1 | aclrtSwitchStream(d, -1, d, 0, s, NULL, s) -> 107000
c20          | SwitchStream: data type 9 | aclrtSwitchStream(d, 0, d, 9, s, NULL, s) -> 107000
5.9          | SwitchStream: data type 2 | aclrtSwitchStream(d, 5, d, 2, s, NULL, s) -> 107000
5.9          | SwitchStream: the highest condition and type are known | aclrtSwitchStream(d, 5, d, 1, s, NULL, s) -> 107005
5.9          | SwitchStream: a stale stream comes before a bad condition | aclrtSwitchStream(d, 99, d, 0, dead, NULL, s) -> 107017
5.9          | SwitchStream: a bad condition comes before "not bound" | aclrtSwitchStream(d, 99, d, 9, p, NULL, p2) -> 107000
c12          | PersistentTaskClean: NULL | aclrtPersistentTaskClean(NULL) -> 107000
c20 @CONTROL_SQ | PersistentTaskClean: an ordinary stream | aclrtPersistentTaskClean(s) -> 507000
c20 @CONTROL_SQ | PersistentTaskClean: a fresh PERSISTENT stream | aclrtPersistentTaskClean(p) -> 507000
c20 @CONTROL_SQ | PersistentTaskClean: a PERSISTENT stream with a task | aclrtRecordEvent(e, p); aclrtPersistentTaskClean(p) -> 507000
c20b @CONTROL_SQ | PersistentTaskClean: the queue turned off, no model | queue_off(p); aclrtPersistentTaskClean(p) -> 507000
c20b @CONTROL_SQ | PersistentTaskClean: an ordinary stream, the queue turned off | queue_off(s); aclrtPersistentTaskClean(s) -> 507000

# ---- overflow switch ----
c18          | overflow switch at first | aclrtGetStreamOverflowSwitch(s, u32) -> 0, 1 @OVERFLOW_ALWAYS_ON else 0, 0
c18 @OVERFLOW_SWITCH | overflow switch on and off
             | aclrtSetStreamOverflowSwitch(s, 1); aclrtGetStreamOverflowSwitch(s, u32) -> 0, 1;
             | aclrtSetStreamOverflowSwitch(s, 0); aclrtGetStreamOverflowSwitch(s, u32) -> 0, 0
v30 @OVERFLOW_ALWAYS_ON | overflow switch without effect | aclrtSetStreamOverflowSwitch(s, 0) -> 0; aclrtGetStreamOverflowSwitch(s, u32) -> 0, 1
5.11 @310B   | overflow switch accepted | aclrtSetStreamOverflowSwitch(s, 1) -> 0
v29          | overflow switch 2 | aclrtSetStreamOverflowSwitch(s, 2) -> 100000
c18          | overflow switch 0xffffffff | aclrtSetStreamOverflowSwitch(s, 0xFFFFFFFF) -> 100000
c18 @OVERFLOW_SWITCH | a refused overflow switch changes nothing
             | aclrtSetStreamOverflowSwitch(s, 1); aclrtSetStreamOverflowSwitch(s, 2) -> 100000; aclrtGetStreamOverflowSwitch(s, u32) -> 0, 1
5.11         | overflow switch: a bad flag comes before a stale stream | aclrtSetStreamOverflowSwitch(dead, 2) -> 100000
c15          | GetOverflowSwitch: NULL output | aclrtGetStreamOverflowSwitch(s, NULL) -> 100000
c12 @OVERFLOW_SWITCH | overflow switch of the default stream
             | aclrtSetStreamOverflowSwitch(NULL, 1); aclrtGetStreamOverflowSwitch(NULL, u32) -> 0, 1; aclrtGetStreamOverflowSwitch(dflt, u32) -> 0, 1
5.11 @OVERFLOW_SWITCH | overflow switches of streams are their own
             | aclrtSetStreamOverflowSwitch(s, 1); aclrtGetStreamOverflowSwitch(s2, u32) -> 0, 0
c18 @A2,A3 fresh | overflow switch in saturation mode
             | aclrtSetDeviceSatMode(0); aclrtSetStreamOverflowSwitch(s, 1); aclrtGetStreamOverflowSwitch(s, u32) -> 0, 1

# ---- other attributes ----
c15          | GetAttribute: NULL value | aclrtGetStreamAttribute(s, 1, NULL) -> 100000
c15          | SetAttribute: NULL value | aclrtSetStreamAttribute(s, 1, NULL) -> 100000
v31          | NULL value comes before an unknown attribute | aclrtSetStreamAttribute(s, 9, NULL) -> 100000; aclrtGetStreamAttribute(s, 9, NULL) -> 100000
v31          | attribute 9 | attribute_set(s, 9, 1) -> 107000
v32          | USER_CUSTOM_TAG at first | aclrtGetStreamAttribute(s, 3, attr32) -> 0, 0xFFFFFFFF
c17          | CACHE_OP_INFO at first | aclrtGetStreamAttribute(s, 4, attr32) -> 0, 0
c17 @PRIORITY_ATTR | PRIORITY at first | aclrtGetStreamAttribute(s, 5, attr32) -> 0, 0
5.12 @PRIORITY_ATTR | PRIORITY of a stream made with one | aclrtCreateStreamWithConfig(new.t, 4, 0); aclrtGetStreamAttribute(t, 5, attr32) -> 0, 4
5.12         | PRIORITY of NULL | attribute_set(NULL, 5, 1) -> 107000
5.12         | reading PRIORITY of NULL | aclrtGetStreamAttribute(NULL, 5, attr32) -> 107000, kept
5.12 @PRIORITY_ATTR | PRIORITY of a CPU_SCHEDULE stream | attribute_set(cs, 5, 1) -> 207000
5.12 @!PRIORITY_ATTR | no priority attribute | attribute_set(s, 5, 1) -> 207000
c8d @PRIORITY_ATTR | PRIORITY changes what the device sees, not what the stream was made with
             | attribute_set(s, 5, 3); aclrtStreamGetPriority(s, u32) -> 0, 0; aclrtGetStreamAttribute(s, 5, attr32) -> 0, 3
5.12 @OVERFLOW_SWITCH | FLOAT_OVERFLOW_CHECK of NULL | attribute_set(NULL, 2, 1); aclrtGetStreamAttribute(NULL, 2, attr32) -> 0, 1
5.12 @CUSTOM_TAG | USER_CUSTOM_TAG of NULL | attribute_set(NULL, 3, 7); aclrtGetStreamAttribute(NULL, 3, attr32) -> 0, 7
4.6          | CACHE_OP_INFO of NULL | attribute_set(NULL, 4, 1) -> 0 @CONTROL_SQ else 107000
5.12 @CUSTOM_TAG | tags of streams are their own | attribute_set(s, 3, 7); aclrtGetStreamAttribute(s2, 3, attr32) -> 0, 0xFFFFFFFF
5.11 @OVERFLOW_SWITCH | the switch through the call reads back as attribute | aclrtSetStreamOverflowSwitch(s, 1); aclrtGetStreamAttribute(s, 2, attr32) -> 0, 1
5.4          | the mode through the call reads back as attribute | aclrtSetStreamFailureMode(s, 1); aclrtGetStreamAttribute(s, 1, attr64) -> 0, 1
5.12 @OVERFLOW_ALWAYS_ON | FLOAT_OVERFLOW_CHECK always reads 1 | attribute_set(s, 2, 0); aclrtGetStreamAttribute(s, 2, attr32) -> 0, 1

# ---- callbacks about streams ----
c19          | state callback: NULL name | aclrtRegStreamStateCallback(NULL, on.a, NULL) -> 100000
5.10         | state callback: NULL name, NULL callback | aclrtRegStreamStateCallback(NULL, NULL, NULL) -> 100000
c19 fresh    | state callback: an empty name | aclrtRegStreamStateCallback(b"", on.a, NULL) -> 0
c19 fresh    | state callback: a long name
             | aclrtRegStreamStateCallback(b"x" * 300, on.a, NULL) -> 0; aclrtRegStreamStateCallback(b"x" * 300, NULL, NULL) -> 0
c19 fresh    | state callback: the name is taken
             | aclrtRegStreamStateCallback(b"a", on.a, 17) -> 0; aclrtRegStreamStateCallback(b"a", on.a, 17) -> 107000;
             | aclrtRegStreamStateCallback(b"a", on.b, 18) -> 107000
c19 fresh    | state callback: one function under two names | aclrtRegStreamStateCallback(b"a", on.a, 17); aclrtRegStreamStateCallback(b"b", on.a, 18) -> 0
c19          | state callback: removing what is unknown | aclrtRegStreamStateCallback(b"zz", NULL, NULL) -> 0
v37 fresh    | state callbacks run in the order of their names
             | aclrtRegStreamStateCallback(b"b", on.b, 2); aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtCreateStream(new.t);
             | log() -> "a(1,1) b(1,2)"; aclrtDestroyStream(t); log() -> "a(2,1) b(2,2)"
c19 fresh    | state callbacks: forced destroy tells too
             | aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtCreateStream(new.t); aclrtDestroyStreamForce(t); log() -> "a(1,1) a(2,1)"
c19 fresh    | state callbacks: removed and registered again
             | aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtRegStreamStateCallback(b"a", NULL, NULL); aclrtRegStreamStateCallback(b"a", NULL, NULL) -> 0;
             | aclrtCreateStream(new.t); log() -> ""; aclrtRegStreamStateCallback(b"a", on.b, 2) -> 0; aclrtDestroyStream(t); log() -> "b(2,2)"
v39 fresh    | state callbacks: a context's default stream
             | aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtCreateContext(new.c, 0); log() -> "a(1,1)"; aclrtDestroyContext(c); log() -> "a(2,1)"
3.8 fresh    | state callbacks: the streams that a context takes with it
             | aclrtCreateContext(new.c, 0); aclrtCreateStream(new.t); aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtDestroyContext(c);
             | log() -> "a(2,1) a(2,1)"
c19 bare     | state callbacks: aclrtSetDevice makes two streams, aclrtResetDevice tells of one
             | aclInit(NULL); aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtSetDevice(0); log() -> "a(1,1) a(1,1)";
             | aclrtResetDevice(0); log() -> "a(2,1)"
5.10 fresh   | state callbacks: with flags and priority too
             | aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtCreateStreamWithConfig(new.t, 3, 4); log() -> "a(1,1)"; aclrtDestroyStream(t);
             | log() -> "a(2,1)"
5.10 fresh   | state callbacks: a refused create tells nothing
             | aclrtRegStreamStateCallback(b"a", on.a, 1); aclrtCreateStreamWithConfig(new.t, 0, 0x21) -> 107000; aclrtCreateStream(NULL) -> 100000; log() -> ""

# ---- the queue ----
v40          | a full queue blocks the launcher, no error
             | hold(s); T& repeat(QUEUE + 90, "launch", k_noop, s); busy(T); release(s); wait(T) -> 0; aclrtSynchronizeStream(s) -> 0
4.4          | as many tasks as the queue holds do not block
             | hold(s); T: repeat(QUEUE, "launch", k_noop, s) -> 0; T& launch(k_noop, s); busy(T); release(s); wait(T) -> 0
4.4 @STREAM_ABORT | abort wakes a launcher that waits for room
             | hold(s); T& repeat(QUEUE + 90, "launch", k_noop, s); busy(T); aclrtStreamAbort(s) -> 0; wait(T) -> 107023
4.4          | a failure in STOP mode wakes a launcher that waits for room
             | aclrtSetStreamFailureMode(s, 1); hold(s2); T& repeat(QUEUE + 90, "launch", k_noop, s2); busy(T); launch(k_fail, s, 507015);
             | wait(T) -> 507015

# ---- launch blocking (newer versions) ----
6 @LAUNCH_BLOCKING | NonBlockingLaunchBegin: flag 1 | aclrtNonBlockingLaunchBegin(s, 1) -> 100000
6 @LAUNCH_BLOCKING | NonBlockingLaunchEnd: flag 1 | aclrtNonBlockingLaunchEnd(s, 1) -> 100000
v90 @LAUNCH_BLOCKING | NonBlockingLaunchEnd without Begin | aclrtNonBlockingLaunchEnd(s, 0) -> 107000
6 @LAUNCH_BLOCKING | NonBlockingLaunch: nested
             | aclrtNonBlockingLaunchBegin(s, 0); aclrtNonBlockingLaunchBegin(s, 0); aclrtNonBlockingLaunchEnd(s, 0); aclrtNonBlockingLaunchEnd(s, 0);
             | aclrtNonBlockingLaunchEnd(s, 0) -> 107000
6 @LAUNCH_BLOCKING | NonBlockingLaunch: the default stream | aclrtNonBlockingLaunchBegin(NULL, 0) -> 0; aclrtNonBlockingLaunchEnd(dflt, 0) -> 0
6 @LAUNCH_BLOCKING | NonBlockingLaunch: the counter is the stream's
             | aclrtNonBlockingLaunchBegin(s, 0); aclrtNonBlockingLaunchEnd(s2, 0) -> 107000; T: aclrtNonBlockingLaunchEnd(s, 0) -> 0
6 @LAUNCH_BLOCKING | NonBlockingLaunchBegin: no context | B: aclrtNonBlockingLaunchBegin(s, 0) -> 107002; B: aclrtNonBlockingLaunchBegin(NULL, 0) -> 107002
6 @LAUNCH_BLOCKING | NonBlockingLaunchBegin: another context | aclrtNonBlockingLaunchBegin(o, 0) -> 107003
6 @LAUNCH_BLOCKING | NonBlockingLaunchBegin: a stale stream | aclrtNonBlockingLaunchBegin(dead, 0) -> 107017; aclrtNonBlockingLaunchEnd(dead, 0) -> 107017
6 @!LAUNCH_BLOCKING | NonBlockingLaunch: no such feature | aclrtNonBlockingLaunchBegin(s, 0) -> 207000
6 @LAUNCH_BLOCKING | LAUNCH_BLOCKING_MODE at first | aclrtGetStreamAttribute(s, 6, attr32) -> 0, 0
6 @LAUNCH_BLOCKING | LAUNCH_BLOCKING_MODE of the default stream | attribute_set(NULL, 6, 1); aclrtGetStreamAttribute(dflt, 6, attr32) -> 0, 1
v88 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | a launch behind a closed gate blocks
             | aclrtWaitAndResetNotify(n, s, 0); T& launch(k_noop, s); busy(T); aclrtRecordNotify(n, s2); wait(T) -> 0
v89 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | within Begin and End it does not, the outermost End does
             | aclrtWaitAndResetNotify(n, s, 0); aclrtNonBlockingLaunchBegin(s, 0); aclrtNonBlockingLaunchBegin(s, 0); launch(k_noop, s) -> 0;
             | aclrtNonBlockingLaunchEnd(s, 0) -> 0; aclrtStreamQuery(s, i32) -> 0, 1; T& aclrtNonBlockingLaunchEnd(s, 0); busy(T);
             | aclrtRecordNotify(n, s2); wait(T) -> 0
v91 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | attribute NON_BLOCKING overrules the environment
             | attribute_set(s, 6, 1); aclrtWaitAndResetNotify(n, s, 0); launch(k_noop, s) -> 0; aclrtStreamQuery(s, i32) -> 0, 1; aclrtRecordNotify(n, s2)
v91 @LAUNCH_BLOCKING | attribute BLOCKING without the environment
             | attribute_set(s, 6, 2); aclrtWaitAndResetNotify(n, s, 0); T& launch(k_noop, s); busy(T); aclrtRecordNotify(n, s2); wait(T) -> 0
6 @LAUNCH_BLOCKING | no blocking without attribute and environment
             | aclrtWaitAndResetNotify(n, s, 0); launch(k_noop, s) -> 0; aclrtStreamQuery(s, i32) -> 0, 1; aclrtRecordNotify(n, s2)
6 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=true | only "1" turns it on
             | aclrtWaitAndResetNotify(n, s, 0); launch(k_noop, s) -> 0; aclrtStreamQuery(s, i32) -> 0, 1; aclrtRecordNotify(n, s2)
6 @!LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | a product without it does not block
             | aclrtWaitAndResetNotify(n, s, 0); launch(k_noop, s) -> 0; aclrtStreamQuery(s, i32) -> 0, 1; aclrtRecordNotify(n, s2)
6 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | blocking launches tell of the failure themselves
             | launch(k_fail, s, 507015) -> 507015; aclrtSynchronizeStream(s) -> 0; launch(k_overflow, s) -> 207003
6 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | the outermost End tells of the failure
             | aclrtNonBlockingLaunchBegin(s, 0); launch(k_fail, s, 507015) -> 0; aclrtNonBlockingLaunchEnd(s, 0) -> 507015
6 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | copies, fills, records and notifies do not block
             | hold(s); aclrtMemcpyAsync(d, 64, h, 64, 1, s) -> 0; aclrtMemsetAsync(d, 64, 1, 64, s) -> 0; aclrtRecordEvent(e, s) -> 0;
             | aclrtStreamWaitEvent(s, e) -> 0; aclrtRecordNotify(n, s) -> 0; aclrtLaunchHostFunc(s, on.a, NULL) -> 0
6 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | PERSISTENT and CPU_SCHEDULE streams do not block | launch(k_noop, p) -> 0; launch(k_noop, cs) -> 0
6 @LAUNCH_BLOCKING ASCEND_RT_LAUNCH_BLOCKING=1 | the default stream blocks too
             | aclrtWaitAndResetNotify(n, NULL, 0); T& launch(k_noop, NULL); busy(T); aclrtRecordNotify(n, s2); wait(T) -> 0
6 @LAUNCH_BLOCKING | BLOCKING set while work is queued blocks the next launch
             | hold(s); launch(k_noop, s) -> 0; attribute_set(s, 6, 2); T& launch(k_noop, s); busy(T); release(s); wait(T) -> 0

# ---- last errors ----
v84          | the last error stays until it is taken
             | aclrtDestroyStream(o) -> 107003; aclrtPeekAtLastError(0) -> 107003; aclrtPeekAtLastError(0) -> 107003; aclrtGetLastError(0) -> 107003;
             | aclrtPeekAtLastError(0) -> 0
1.4          | success does not clear the last error | aclrtDestroyStream(o) -> 107003; aclrtStreamGetId(s, i32) -> 0, _; aclrtPeekAtLastError(0) -> 107003
1.4          | the newest error is the last one | aclrtDestroyStream(o) -> 107003; aclrtDestroyStream(dead) -> 107017; aclrtGetLastError(0) -> 107017
v85          | 100000 is not recorded | aclrtDestroyStream(o) -> 107003; aclrtCreateStream(NULL) -> 100000; aclrtPeekAtLastError(0) -> 107003
v85          | 100000 alone leaves no error | aclrtDestroyStream(NULL) -> 100000; aclrtPeekAtLastError(0) -> 0
v86          | Peek: another level | aclrtPeekAtLastError(1) -> 100000; aclrtPeekAtLastError(-1) -> 100000
v86          | Get: another level | aclrtGetLastError(1) -> 100000; aclrtGetLastError(-1) -> 100000
1.4          | another level takes nothing away | aclrtDestroyStream(o) -> 107003; aclrtGetLastError(1) -> 100000; aclrtGetLastError(0) -> 107003
1.4          | each thread has its own last error
             | aclrtDestroyStream(o) -> 107003; T: aclrtPeekAtLastError(0) -> 0; T: aclrtDestroyStream(dead) -> 107017; aclrtGetLastError(0) -> 107003;
             | T: aclrtGetLastError(0) -> 107017
1.4          | 207000 of a feature gate is not recorded | aclrtSetStreamFailureMode(du, 1) -> 207000; aclrtPeekAtLastError(0) -> 0
1.4          | 107000 is recorded | aclrtSynchronizeStreamWithTimeout(s, 0) -> 107000; aclrtGetLastError(0) -> 107000
1.4          | 107002 is recorded | B: aclrtSynchronizeStream(s) -> 107002; B: aclrtGetLastError(0) -> 107002
v87          | the error message is handed out once
             | aclrtDestroyStream(o) -> 107003; aclGetRecentErrMsg() -> above(b""); aclGetRecentErrMsg() -> NULL
1.4          | no error, no message | aclrtStreamGetId(s, i32) -> 0, _; aclGetRecentErrMsg() -> NULL
1.4          | the message and the last error are apart
             | aclrtDestroyStream(o) -> 107003; aclGetRecentErrMsg() -> above(b""); aclrtGetLastError(0) -> 107003; aclrtDestroyStream(o) -> 107003;
             | aclrtGetLastError(0) -> 107003; aclGetRecentErrMsg() -> above(b"")
1.4          | the message is the thread's | aclrtDestroyStream(o) -> 107003; T: aclGetRecentErrMsg() -> NULL; aclGetRecentErrMsg() -> above(b"")

# ---- ids of tasks ----
5.13         | GetThreadLastTaskId: NULL | aclrtGetThreadLastTaskId(NULL) -> 100000
5.13         | GetThreadLastTaskId moves with each task of the thread
             | aclrtRecordEvent(e, s); aclrtGetThreadLastTaskId(u32) -> 0, _; aclrtSynchronizeStream(s) -> 0

# ---- the device's synchronize, seen from streams ----
3.13         | SynchronizeDevice waits for every stream of the context
             | hold(s); aclrtRecordEvent(e, s); T& aclrtSynchronizeDevice(); busy(T); release(s); wait(T) -> 0
3.13         | SynchronizeDevice waits for the default stream
             | hold(NULL); launch(k_noop, NULL); T& aclrtSynchronizeDevice(); busy(T); release(NULL); wait(T) -> 0
3.13         | SynchronizeDevice does not wait for other contexts
             | hold(o); aclrtMemcpyAsync(d, 64, d2, 64, 3, o); aclrtSynchronizeDevice() -> 0; release(o); aclrtSynchronizeStream(o) -> 0
3.13         | SynchronizeDevice tells the failure of a stream, once | launch(k_fail, s, 507015); aclrtSynchronizeDevice() -> 507015; aclrtSynchronizeDevice() -> 0
3.13         | SynchronizeDeviceWithTimeout: 0, -2 | aclrtSynchronizeDeviceWithTimeout(0) -> 107000; aclrtSynchronizeDeviceWithTimeout(-2) -> 107000
3.13         | SynchronizeDeviceWithTimeout: -1, 1 | aclrtSynchronizeDeviceWithTimeout(-1) -> 0; aclrtSynchronizeDeviceWithTimeout(1) -> 0
3.13         | SynchronizeDevice without context | B: aclrtSynchronizeDevice() -> 107002; B: aclrtSynchronizeDeviceWithTimeout(5) -> 107002
3.13         | a bad timeout comes before "no context" | B: aclrtSynchronizeDeviceWithTimeout(0) -> 107000; B: aclrtSynchronizeDeviceWithTimeout(-2) -> 107000
""",
)
