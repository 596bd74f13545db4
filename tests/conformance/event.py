"""Chapter 07, events: the three families, what each can do, and what a wait means."""

from conformance import language

# flag: (id before the first record, elapsed after a record, can be waited for)
CLASSIC = {0x1: (0, 107006, 0), 0x2: (507000, 107006, 207000), 0x3: (0, 107006, 0), 0x4: (0, 107006, 0), 0x8: (507000, 0, 207000),
           0x9: (0, 0, 0), 0xA: (507000, 0, 207000), 0xB: (0, 0, 0), 0xC: (0, 0, 0)}  # fmt: skip
REFUSED = (0x0, 0x11, 0x18, 0x1B, 0x28, 0x30, 0x40, 0x48, 0x7F, 0x80, 0xFFFFFFFF)
EX = (0x1, 0x2, 0x3, 0x8, 0x9, 0xA, 0xB)
EX_REFUSED = (0x0, 0x10, 0x11, 0x20, 0x21, 0x41, 0x48, 0x50, 0x60, 0x80, 0xFFFFFFFF)


def kinds():
    for flag, (identity, elapsed, wait) in CLASSIC.items():
        make = f"aclrtCreateEventWithFlag(new.f, {flag}); aclrtCreateEventWithFlag(new.g, {flag})"
        yield f"c31 | WithFlag {flag:#x}: id | {make}; aclrtGetEventId(f, u32) -> {identity}, {'_' if identity == 0 else 'kept'}"
        yield (
            f"c31 | WithFlag {flag:#x}: record, synchronize, query | {make}; aclrtRecordEvent(f, s) -> 0; aclrtSynchronizeEvent(f) -> 0;"
            " aclrtQueryEventStatus(f, i32) -> 0, 1"
        )
        yield (
            f"c31 | WithFlag {flag:#x}: elapsed time | {make}; aclrtRecordEvent(f, s); aclrtRecordEvent(g, s); aclrtSynchronizeStream(s);"
            f" aclrtEventElapsedTime(f32, f, g) -> {elapsed}"
        )
        yield f"c31 | WithFlag {flag:#x}: wait | {make}; aclrtRecordEvent(f, s); aclrtStreamWaitEvent(s, f) -> {wait}; aclrtSynchronizeStream(s) -> 0"
        yield f"c31 | WithFlag {flag:#x}: reset | {make}; aclrtRecordEvent(f, s); aclrtResetEvent(f, s) -> {wait}; aclrtSynchronizeStream(s) -> 0"
    for flag in REFUSED:
        yield f"c31 | WithFlag {flag:#x} | aclrtCreateEventWithFlag(new.f, {flag}) -> 107000"
    for flag in EX:
        yield f"7.1 | ExWithFlag {flag:#x} | aclrtCreateEventExWithFlag(new.f, {flag}) -> 0; aclrtRecordEvent(f, s) -> 0; aclrtSynchronizeEvent(f) -> 0"
        yield f"7.8 | ExWithFlag {flag:#x} has no id before its first record | aclrtCreateEventExWithFlag(new.f, {flag}); aclrtGetEventId(f, u32) -> 507000"
        yield f"7.3 | ExWithFlag {flag:#x} has no reset | aclrtCreateEventExWithFlag(new.f, {flag}); aclrtRecordEvent(f, s); aclrtResetEvent(f, s) -> 207000"
        yield f"7.6 | ExWithFlag {flag:#x}: QueryEvent | aclrtCreateEventExWithFlag(new.f, {flag}); aclrtQueryEvent(f, i32) -> 207000, kept"
        yield f"7.6 | ExWithFlag {flag:#x}: QueryEventWaitStatus | aclrtCreateEventExWithFlag(new.f, {flag}); aclrtQueryEventWaitStatus(f, i32) -> 207000, kept"
        yield f"v47 | ExWithFlag {flag:#x}: never recorded is complete | aclrtCreateEventExWithFlag(new.f, {flag}); aclrtQueryEventStatus(f, i32) -> 0, 1"
    for flag in EX_REFUSED:
        yield f"7.1 | ExWithFlag {flag:#x} | aclrtCreateEventExWithFlag(new.f, {flag}) -> 107000"


def stale_events():
    for call, outputs in (
        ("aclrtDestroyEvent({})", ""),
        ("aclrtRecordEvent({}, s)", ""),
        ("aclrtRecordEventWithFlag({}, s, 0)", ""),
        ("aclrtSynchronizeEvent({})", ""),
        ("aclrtSynchronizeEventWithTimeout({}, 10)", ""),
        ("aclrtQueryEvent({}, i32)", ", kept"),
        ("aclrtQueryEventStatus({}, i32)", ", kept"),
        ("aclrtQueryEventWaitStatus({}, i32)", ", kept"),
        ("aclrtStreamWaitEvent(s, {})", ""),
        ("aclrtStreamWaitEventWithTimeout(s, {}, 1)", ""),
        ("aclrtResetEvent({}, s)", ""),
        ("aclrtEventElapsedTime(f32, {}, e)", ", kept"),
        ("aclrtEventElapsedTime(f32, e, {})", ", kept"),
        ("aclrtEventGetTimestamp({}, u64)", ", kept"),
        ("aclrtGetEventId({}, u32)", ", kept"),
    ):
        for name, source in (("dead_e", "c30"), ("s2", "1.1"), ("zeroed", "1.1")):
            yield f"{source} | a stale event: {call.format(name)} | {call.format(name)} -> 107017{outputs}"
        code = 107000 if "WithTimeout(s" in call else 100000
        yield f"c30 | a NULL event: {call.format('NULL')} | {call.format('NULL')} -> {code}{outputs}"


ROWS = language.rows(
    __name__,
    "\n".join([*kinds(), *stale_events()])
    + """

# ---- creation ----
c30          | create: NULL | aclrtCreateEvent(NULL) -> 100000; aclrtCreateEventWithFlag(NULL, 1) -> 100000; aclrtCreateEventExWithFlag(NULL, 1) -> 100000
7.1          | create without context | B: aclrtCreateEvent(new.f) -> 107002; B: aclrtCreateEventWithFlag(new.f, 1) -> 107002; B: aclrtCreateEventExWithFlag(new.f, 1) -> 107002
c31          | DEVICE_USE_ONLY | aclrtCreateEventWithFlag(new.f, 0x10); aclrtRecordEvent(f, s) -> 107000; aclrtQueryEventStatus(f, i32) -> 0, 0;
             | aclrtSynchronizeEvent(f) -> 0; aclrtStreamWaitEvent(s, f) -> 107000; aclrtResetEvent(f, s) -> 107000
c31          | EXTERNAL | aclrtCreateEventWithFlag(new.f, 0x20); aclrtGetEventId(f, u32) -> 0, _; aclrtRecordEvent(f, s) -> 0;
             | aclrtQueryEventStatus(f, i32) -> 207000, kept; aclrtSynchronizeEvent(f) -> 207000; aclrtStreamWaitEvent(s, f) -> 0; aclrtResetEvent(f, s) -> 0
7.1          | IPC events | aclrtCreateEventExWithFlag(new.f, 0x40) -> 0 @IPC_EVENT else 207000
7.1 @IPC_EVENT | IPC events mixed with others | aclrtCreateEventExWithFlag(new.f, 0x41) -> 107000; aclrtCreateEventExWithFlag(new.f, 0x48) -> 107000
7.8          | GetEventAvailNum | aclrtGetEventAvailNum(u32) -> 0, above(0); aclrtGetEventAvailNum(NULL) -> 100000
7.8          | GetEventId: NULL | aclrtGetEventId(e, NULL) -> 100000

# ---- never recorded ----
c30          | never recorded: queries | aclrtQueryEventStatus(e, i32) -> 0, 0; aclrtQueryEvent(e, i32) -> 0, 0; aclrtQueryEventWaitStatus(e, i32) -> 0, 0
v52          | never recorded: synchronize | aclrtSynchronizeEvent(e) -> 0; aclrtSynchronizeEventWithTimeout(e, 10) -> 0
c30          | never recorded: times | aclrtEventElapsedTime(f32, e, e2) -> 507000, kept; aclrtEventGetTimestamp(e, u64) -> 507000, kept
v51          | elapsed time to one never recorded | aclrtRecordEvent(e, s); aclrtSynchronizeEvent(e); aclrtEventElapsedTime(f32, e, e2) -> 507000, kept
v44          | wait for a default event never recorded | aclrtStreamWaitEvent(s, e) -> 107000
v45          | wait for an Ex event never recorded | aclrtStreamWaitEvent(s, x) -> 0; aclrtSynchronizeStreamWithTimeout(s, 2000) -> 0
v46          | wait for a SYNC event never recorded | aclrtStreamWaitEvent(s, sync) -> 0; aclrtSynchronizeStreamWithTimeout(s, 40) -> 507046;
             | aclrtRecordEvent(sync, s2); aclrtSynchronizeStream(s) -> 0
c30          | never recorded: reset | aclrtResetEvent(e, s) -> 0
v47          | never recorded, by family | aclrtQueryEventStatus(x, i32) -> 0, 1; aclrtQueryEventStatus(e, i32) -> 0, 0; aclrtQueryEventStatus(sync, i32) -> 0, 0

# ---- record ----
c30          | record on the default stream | aclrtRecordEvent(e, NULL) -> 0; aclrtSynchronizeEvent(e) -> 0
c30          | recorded and complete | aclrtRecordEvent(e, s); aclrtSynchronizeEvent(e); aclrtQueryEventStatus(e, i32) -> 0, 1; aclrtQueryEvent(e, i32) -> 0, 0
7.2          | RecordEventWithFlag 0 | aclrtRecordEventWithFlag(e, s, 0) -> 0; aclrtSynchronizeStream(s) -> 0
7.2          | RecordEventWithFlag 2 | aclrtRecordEventWithFlag(e, s, 2) -> 100000
7.2          | EXTERNAL record of a default event | aclrtRecordEventWithFlag(e, s, 1) -> 207000
7.2          | EXTERNAL record outside a capture | aclrtRecordEventWithFlag(x, s, 1) -> 107029
7.2          | default and external records do not mix | aclrtRecordEventWithFlag(x, s, 1) -> 107029; aclrtRecordEventWithFlag(x, s, 0) -> 107000
7.2          | record without context | B: aclrtRecordEvent(e, s) -> 107002
7.2          | a bad record flag comes before a stale event | aclrtRecordEventWithFlag(dead_e, s, 2) -> 100000
7.2          | an event counts with its newest record
             | aclrtRecordEvent(e, s); aclrtSynchronizeEvent(e); hold(s2); aclrtRecordEvent(e, s2); aclrtQueryEventStatus(e, i32) -> 0, 0; release(s2); aclrtSynchronizeEvent(e) -> 0
7.2          | a wait keeps the record that was newest when it was queued
             | aclrtRecordEvent(e, s); aclrtStreamWaitEvent(s2, e); hold(s3); aclrtRecordEvent(e, s3); aclrtSynchronizeStreamWithTimeout(s2, 5000) -> 0

# ---- wait ----
c30          | wait of the default stream | aclrtRecordEvent(e, s); aclrtStreamWaitEvent(NULL, e) -> 0; aclrtSynchronizeStream(NULL) -> 0
7.4          | wait on the recording stream is harmless | aclrtRecordEvent(e, s); aclrtStreamWaitEvent(s, e); aclrtSynchronizeStream(s) -> 0
7.4          | a wait holds its stream until the record | hold(s); aclrtRecordEvent(e, s); aclrtStreamWaitEvent(s2, e); aclrtStreamQuery(s2, i32) -> 0, 1;
             | aclrtQueryEventWaitStatus(e, i32) -> 0, 1; release(s); aclrtSynchronizeStream(s2) -> 0; aclrtQueryEventWaitStatus(e, i32) -> 0, 0
7.4          | kernels are ordered by events | hold(s); launch(k_add_one, s, d); aclrtRecordEvent(e, s); aclrtStreamWaitEvent(s2, e); aclrtMemcpyAsync(h, 8, d, 8, 2, s2);
             | release(s); aclrtSynchronizeStream(s2) -> 0; host(h, 1) -> b"\\1"
c30          | WaitEventWithTimeout: 0, -1, -2
             | aclrtRecordEvent(e, s); aclrtStreamWaitEventWithTimeout(s, e, 0) -> 0; aclrtStreamWaitEventWithTimeout(s, e, -1) -> 107000; aclrtStreamWaitEventWithTimeout(s, e, -2) -> 107000
7.4          | WaitEventWithFlag: flag 2 | aclrtRecordEvent(e, s); aclrtStreamWaitEventWithFlag(s, e, 0, 2) -> 100000
7.4          | WaitEventWithFlag: EXTERNAL takes no timeout | aclrtStreamWaitEventWithFlag(s, x, 1, 1) -> 100000
7.4          | WaitEventWithFlag: EXTERNAL outside a capture | aclrtStreamWaitEventWithFlag(s, x, 0, 1) -> 107029
7.4          | WaitEventWithFlag: EXTERNAL on a default event | aclrtStreamWaitEventWithFlag(s, e, 0, 1) -> 207000
7.4          | wait for a TIME_LINE event | aclrtRecordEvent(time, s); aclrtStreamWaitEvent(s2, time) -> 207000
7.4          | wait without context | aclrtRecordEvent(e, s); B: aclrtStreamWaitEvent(s, e) -> 107002
7.4 @WAIT_TIMEOUT | a wait that times out fails its stream
             | aclrtStreamWaitEventWithTimeout(s, sync, 1) -> 0; aclrtSynchronizeStreamWithTimeout(s, 10000) -> emulated(107020) after 900

# ---- reset ----
c30          | reset of a recorded event | aclrtRecordEvent(e, s); aclrtSynchronizeEvent(e); aclrtResetEvent(e, s) -> 0; aclrtSynchronizeStream(s); aclrtQueryEventStatus(e, i32) -> 0, 0
7.3          | reset: another context | aclrtResetEvent(e, o) -> 107003
7.3          | reset of a TIME_LINE event | aclrtResetEvent(time, s) -> 207000
7.3          | after a reset a wait waits for the next record
             | aclrtRecordEvent(sync, s); aclrtResetEvent(sync, s); aclrtSynchronizeStream(s); aclrtStreamWaitEvent(s2, sync); aclrtSynchronizeStreamWithTimeout(s2, 30) -> 507046;
             | aclrtRecordEvent(sync, s); aclrtSynchronizeStream(s2) -> 0
7.3          | reset without context | B: aclrtResetEvent(e, s) -> 107002

# ---- synchronize and query ----
c30          | SynchronizeEventWithTimeout: 0, -2 | aclrtSynchronizeEventWithTimeout(e, 0) -> 107000; aclrtSynchronizeEventWithTimeout(e, -2) -> 107000
7.5          | a bad timeout comes before a stale event | aclrtSynchronizeEventWithTimeout(dead_e, 0) -> 107000
v53          | SynchronizeEventWithTimeout of a pending record | hold(s); aclrtRecordEvent(e, s); aclrtSynchronizeEventWithTimeout(e, 40) -> 507047 after 35; release(s); aclrtSynchronizeEvent(e) -> 0
7.5          | SynchronizeEvent needs no context | aclrtRecordEvent(e, s); B: aclrtSynchronizeEvent(e) -> 0; B: aclrtQueryEventStatus(e, i32) -> 0, 1
7.5          | SynchronizeEvent waits | hold(s); aclrtRecordEvent(e, s); T& aclrtSynchronizeEvent(e); busy(T); release(s); wait(T) -> 0
c30          | queries: NULL output | aclrtQueryEvent(e, NULL) -> 100000; aclrtQueryEventStatus(e, NULL) -> 100000; aclrtQueryEventWaitStatus(e, NULL) -> 100000

# ---- time ----
c30          | elapsed time in order and reversed | aclrtRecordEvent(e, s); sleep(5); aclrtRecordEvent(e2, s); aclrtSynchronizeStream(s); aclrtEventElapsedTime(f32, e, e2) -> 0, above(0);
             | aclrtEventElapsedTime(f32, e2, e) -> 0, below(0); aclrtEventElapsedTime(f32, e, e) -> 0, 0
v49          | a kernel's time in milliseconds | aclrtRecordEvent(e, s); launch(k_spin, s, 20000000); aclrtRecordEvent(e2, s); aclrtSynchronizeStream(s); aclrtEventElapsedTime(f32, e, e2) -> 0, between(19, 2000)
c30          | elapsed time: NULL | aclrtEventElapsedTime(NULL, e, e2) -> 100000
v50          | elapsed time without TIME_LINE | aclrtRecordEvent(x, s); aclrtRecordEvent(x2, s); aclrtSynchronizeStream(s); aclrtEventElapsedTime(f32, x, x2) -> 107006, kept
7.7          | elapsed time of a pending record | aclrtRecordEvent(e, s); aclrtSynchronizeStream(s); hold(s); aclrtRecordEvent(e2, s); aclrtEventElapsedTime(f32, e, e2) -> 107006, kept
c30          | timestamp | aclrtRecordEvent(e, s); aclrtSynchronizeStream(s); aclrtEventGetTimestamp(e, u64) -> 0, above(0); aclrtEventGetTimestamp(e, NULL) -> 100000
7.7          | timestamp: NULL output comes before a stale event | aclrtEventGetTimestamp(dead_e, NULL) -> 100000

# ---- destruction ----
c22c         | destroy while the record is pending | aclrtCreateEvent(new.f); hold(s); aclrtRecordEvent(f, s); aclrtDestroyEvent(f) -> 0; release(s); aclrtSynchronizeStream(s) -> 0
7.8          | waits outlive their event | aclrtCreateEvent(new.f); hold(s); aclrtRecordEvent(f, s); aclrtStreamWaitEvent(s2, f); aclrtDestroyEvent(f); aclrtStreamQuery(s2, i32) -> 0, 1;
             | release(s); aclrtSynchronizeStream(s2) -> 0
c30          | destroy twice | aclrtCreateEvent(new.f); aclrtDestroyEvent(f) -> 0; aclrtDestroyEvent(f) -> 107017
7.8 fresh nocann @310P | the event behind the last one | repeat(EVENTS, "aclrtCreateEventWithFlag", new.f, 1); aclrtCreateEventWithFlag(new.g, 1) -> 207007

# ---- between processes: arguments ----
7.8 @IPC_EVENT | IpcGetEventHandle: NULL | aclrtIpcGetEventHandle(NULL, text(64)) -> 100000; aclrtIpcGetEventHandle(e, NULL) -> 100000
7.2 @IPC_EVENT | IPC events: no reset, no id, no time | aclrtCreateEventExWithFlag(new.f, 0x40); aclrtResetEvent(f, s) -> 207000; aclrtGetEventId(f, u32) -> 207000;
             | aclrtQueryEvent(f, i32) -> 207000; aclrtEventGetTimestamp(f, u64) -> 207000
""",
)
