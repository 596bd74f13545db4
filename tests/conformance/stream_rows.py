"""Chapter 06, streams: creation, flags, priorities, destruction, waiting, failure modes, control, attributes.

Sources: "4.2" and the like are sections of the behaviour sheet this was built from; "observed" are codes that CANN 9.1's
own host runtime returned.
"""

import ctypes
import os

from row_runner import PRODUCTS, Row

MODERN = ("950", "A3", "A2")  # products with a control queue
OLD = ("310P", "910")
i32, u64 = ctypes.c_int32, ctypes.c_uint64
STREAM_LIMITS = {"950": 1984, "A3": 1984, "A2": 1984, "310B": 512, "310P": 1024, "910": 2048}
QUEUE_DEPTH = {"950": 2014, "A3": 2013, "A2": 2013, "310B": 2010, "310P": 2042, "910": 2042}
PERSISTENT_DEPTH = {"950": 60000, "A3": 60000, "A2": 60000, "310B": 65535, "310P": 32760, "910": 60000}
HUGE, PERSISTENT, CPU_SCHEDULE, DEVICE_ONLY = 8, 4, 0x10, 0x20
INVALID, PARAM, NO_CONTEXT, ELSEWHERE, HANDLE, UNSUPPORTED = 100000, 107000, 107002, 107003, 107017, 207000
INTERNAL, TIMEOUT, FAILED = 507000, 507046, 507035
STOP = 1


def rows():
    yield from creation()
    yield from null_stream()
    yield from dead_and_foreign_handles()
    yield from other_contexts()
    yield from without_context()
    yield from waiting()
    yield from failure_modes()
    yield from failures()
    yield from abort_and_stop()
    yield from models_needed()
    yield from state_callbacks()
    yield from overflow()
    yield from attributes()
    yield from launch_blocking()
    yield from limits()


def create(b, priority, flags):
    return b.aclrtCreateStreamWithConfig(ctypes.byref(ctypes.c_void_p()), priority, flags)


def creation():
    yield Row("create", lambda b: b.aclrtCreateStream(ctypes.byref(ctypes.c_void_p())), 0, source="4.1")
    yield Row("create: NULL out", lambda b: b.aclrtCreateStream(None), INVALID, source="4.1")
    yield Row("create with config: NULL out", lambda b: b.aclrtCreateStreamWithConfig(None, 0, 0), INVALID, source="4.2")
    yield Row("create with config: NULL out before bad flags", lambda b: b.aclrtCreateStreamWithConfig(None, 0, 0x21), INVALID)
    for flags in range(0x40):
        alone = flags in (0, DEVICE_ONLY) or not flags & DEVICE_ONLY
        expected = (0, flags) if alone else PARAM
        # HUGE is refused where there is no deep queue, and before the combination is looked at.
        other = {"310P": UNSUPPORTED} if flags & HUGE else {}
        run = lambda b, f=flags: create(b, 0, f) or b.get("aclrtStreamGetFlags", b.stream(f))
        yield Row(f"flags 0x{flags:02x}", run, expected, other, source="4.2, observed")
    for flags, kept in ((0x40, 0), (0x80, 0), (0x100, 0), (0x1000, 0), (0x41, 1), (0x80000000, 0), (0xFFFFFFC3, 3)):
        run = lambda b, f=flags: b.get("aclrtStreamGetFlags", b.stream(f))
        yield Row(f"unknown bits dropped: 0x{flags:x}", run, (0, kept), source="4.2, observed")
    for flags in (0x7FFFFFFF, 0xFFFFFFFF):
        yield Row(f"flags 0x{flags:x}", lambda b, f=flags: create(b, 0, f), PARAM, {"310P": UNSUPPORTED}, source="observed")
    for given, kept in ((0, 0), (1, 1), (6, 6), (7, 7), (8, 7), (9, 7), (9999, 7), (0xFFFFFFFF, 0), (0x80000000, 0)):
        run = lambda b, p=given: b.get("aclrtStreamGetPriority", b.stream(priority=p))
        yield Row(f"priority 0x{given:x} reads {kept}", run, (0, kept), source="4.2, observed")
    run = lambda b: b.get("aclrtStreamGetId", b.stream(CPU_SCHEDULE), kind=i32)[1] >= 2048
    yield Row("CPU_SCHEDULE streams are numbered from 2048", run, True, source="observed", device_decides=True)
    run = lambda b: (0, *priority_range(b))
    yield Row("priority range", run, (0, 7, 0), source="3.6")
    yield Row("priority range: both NULL", lambda b: b.aclrtDeviceGetStreamPriorityRange(None, None), 0, source="3.6")


def priority_range(b):
    least, greatest = i32(-1), i32(-1)
    b.aclrtDeviceGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
    return least.value, greatest.value


def null_stream():
    old = dict.fromkeys(("310B", *OLD), 0)
    yield Row("NULL: flags", lambda b: b.get("aclrtStreamGetFlags", None), (0, 3), {p: (0, 0) for p in old}, source="4.7")
    yield Row("NULL: priority", lambda b: b.get("aclrtStreamGetPriority", None), (0, 0), source="4.7")
    yield Row("NULL: id", lambda b: b.get("aclrtStreamGetId", None, kind=i32), (0, 0), source="4.7", device_decides=True)
    yield Row("NULL: query", lambda b: b.get("aclrtStreamQuery", None, kind=i32), (0, 0), source="4.6")
    yield Row("NULL: synchronize", lambda b: b.aclrtSynchronizeStream(None), 0, source="4.6")
    for ms, code in ((-1, 0), (1, 0), (100, 0), (2**31 - 1, 0), (0, PARAM), (-2, PARAM), (-100, PARAM), (-(2**31), PARAM)):
        run = lambda b, ms=ms: b.aclrtSynchronizeStreamWithTimeout(None, ms)
        yield Row(f"NULL: synchronize within {ms} ms", run, code, source="5.1, observed")
    for name in ("aclrtDestroyStream", "aclrtDestroyStreamForce"):
        yield Row(f"NULL: {name}", lambda b, n=name: getattr(b, n)(None), INVALID, source="4.5")
    yield Row("NULL: stop", lambda b: b.aclrtStreamStop(None), PARAM, source="5.6, observed")
    yield Row("NULL: clean", lambda b: b.aclrtPersistentTaskClean(None), PARAM, source="5.7, observed")
    # Only products with a control queue take NULL for the default stream here.
    refused = {p: PARAM for p in PRODUCTS if p not in MODERN}
    yield Row("NULL: failure mode", lambda b: b.aclrtSetStreamFailureMode(None, STOP), 0, refused, source="4.6, 5.4")
    yield Row("NULL: abort", lambda b: b.aclrtStreamAbort(None), 0, refused, source="4.6, 5.5")
    yield Row("NULL: get failure mode", lambda b: b.get_attribute(None, 1, 64), (0, 0), refused, source="4.6")
    yield Row("NULL: set cache-op-info", lambda b: b.attribute(None, 4, 1), 0, refused, source="4.6")
    yield Row("NULL: set priority", lambda b: b.attribute(None, 5, 1), PARAM, source="4.6, observed")
    yield Row("NULL: set overflow switch", lambda b: b.aclrtSetStreamOverflowSwitch(None, 1), 0, source="4.6")
    yield Row("NULL: set tag", lambda b: b.attribute(None, 3, 1), 0, source="5.12")
    yield Row("NULL: record", lambda b: b.aclrtRecordEvent(b.event(), None), 0, source="4.6")
    yield Row("NULL: wait", lambda b: b.aclrtStreamWaitEvent(None, b.recorded(b.event())), 0, source="4.6")
    yield Row("NULL: launch", lambda b: b.launch(None), 0, source="4.6")
    yield Row("NULL: host function", lambda b: b.aclrtLaunchHostFunc(None, None, None), PARAM, source="10.2")
    yield Row("NULL: memset async", lambda b: b.aclrtMemsetAsync(b.malloc(), 64, 0, 64, None), 0, source="9.5")
    yield Row("default by handle: flags as by NULL", lambda b: b.get("aclrtStreamGetFlags", b.default_stream()), (0, 3),
              {p: (0, 0) for p in old}, source="observed")
    yield Row("default by handle: synchronize", lambda b: b.aclrtSynchronizeStream(b.default_stream()), 0, source="observed")
    yield Row("default by handle: stop", lambda b: b.aclrtStreamStop(b.default_stream()), 0,
              dict.fromkeys(OLD, UNSUPPORTED), source="observed")  # fmt: skip
    yield Row("default by handle: destroy, then force", destroy_default, (0, HANDLE), source="observed")
    yield Row("default by handle: NULL out", lambda b: b.aclrtCtxGetCurrentDefaultStream(None), INVALID, source="3.11")


def destroy_default(b):
    stream = b.default_stream()
    return b.aclrtDestroyStream(stream), b.aclrtDestroyStreamForce(stream)


# Every call that takes a stream, with otherwise good arguments.
def with_stream(b, stream):
    status, number, flag, union = i32(), ctypes.c_uint32(), ctypes.c_uint32(), (u64 * 2)(0, 0)
    d = b.malloc()
    event = b.recorded(b.event())
    return {
        "aclrtDestroyStream": lambda: b.aclrtDestroyStream(stream),
        "aclrtDestroyStreamForce": lambda: b.aclrtDestroyStreamForce(stream),
        "aclrtStreamGetId": lambda: b.aclrtStreamGetId(stream, ctypes.byref(status)),
        "aclrtStreamGetFlags": lambda: b.aclrtStreamGetFlags(stream, ctypes.byref(number)),
        "aclrtStreamGetPriority": lambda: b.aclrtStreamGetPriority(stream, ctypes.byref(number)),
        "aclrtStreamQuery": lambda: b.aclrtStreamQuery(stream, ctypes.byref(status)),
        "aclrtSynchronizeStream": lambda: b.aclrtSynchronizeStream(stream),
        "aclrtSynchronizeStreamWithTimeout": lambda: b.aclrtSynchronizeStreamWithTimeout(stream, 100),
        "aclrtRecordEvent": lambda: b.aclrtRecordEvent(event, stream),
        "aclrtStreamWaitEvent": lambda: b.aclrtStreamWaitEvent(stream, event),
        "aclrtResetEvent": lambda: b.aclrtResetEvent(event, stream),
        "aclrtStreamAbort": lambda: b.aclrtStreamAbort(stream),
        "aclrtStreamStop": lambda: b.aclrtStreamStop(stream),
        "aclrtSetStreamFailureMode": lambda: b.aclrtSetStreamFailureMode(stream, 1),
        "aclrtSetStreamAttribute": lambda: b.aclrtSetStreamAttribute(stream, 3, union),
        "aclrtGetStreamAttribute": lambda: b.aclrtGetStreamAttribute(stream, 1, union),
        "aclrtSetStreamOverflowSwitch": lambda: b.aclrtSetStreamOverflowSwitch(stream, 1),
        "aclrtGetStreamOverflowSwitch": lambda: b.aclrtGetStreamOverflowSwitch(stream, ctypes.byref(flag)),
        "aclrtPersistentTaskClean": lambda: b.aclrtPersistentTaskClean(stream),
        "aclrtActiveStream": lambda: b.aclrtActiveStream(stream, stream),
        "aclrtMemcpyAsync": lambda: b.aclrtMemcpyAsync(d, 64, d, 64, 3, stream),
        "aclrtMemsetAsync": lambda: b.aclrtMemsetAsync(d, 64, 0, 64, stream),
        "aclrtMemsetD32Async": lambda: b.aclrtMemsetD32Async(d, 64, 0, 16, stream),
        "aclrtLaunchKernelWithHostArgs": lambda: b.launch(stream),
        "aclrtGetStreamResLimit": lambda: b.aclrtGetStreamResLimit(stream, 0, ctypes.byref(number)),
        "aclrtResetStreamResLimit": lambda: b.aclrtResetStreamResLimit(stream),
    }


CALLS = (
    "aclrtDestroyStream", "aclrtDestroyStreamForce", "aclrtStreamGetId", "aclrtStreamGetFlags", "aclrtStreamGetPriority",
    "aclrtStreamQuery", "aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout", "aclrtRecordEvent",
    "aclrtStreamWaitEvent", "aclrtResetEvent", "aclrtStreamAbort", "aclrtStreamStop", "aclrtSetStreamFailureMode",
    "aclrtSetStreamAttribute", "aclrtGetStreamAttribute", "aclrtSetStreamOverflowSwitch", "aclrtGetStreamOverflowSwitch",
    "aclrtPersistentTaskClean", "aclrtActiveStream", "aclrtMemcpyAsync", "aclrtMemsetAsync", "aclrtMemsetD32Async",
    "aclrtLaunchKernelWithHostArgs", "aclrtGetStreamResLimit", "aclrtResetStreamResLimit",
)  # fmt: skip


def dead_and_foreign_handles():
    for name in CALLS:
        yield Row(f"destroyed: {name}", lambda b, n=name: with_stream(b, b.dead_stream())[n](), HANDLE, source="1.1, observed")
        yield Row(f"an event as stream: {name}", lambda b, n=name: with_stream(b, b.event())[n](), HANDLE, source="1.1")
        run = lambda b, n=name: with_stream(b, b.pageable(4096) + 64)[n]()
        yield Row(f"zeroed memory as stream: {name}", run, HANDLE, source="observed")
    for value in (0x1234, 1, 2**47 - 1, 2**63 - 16):
        run = lambda b, v=value: b.get("aclrtStreamGetId", v, kind=i32)
        yield Row(f"wild handle 0x{value:x}", run, HANDLE, source="the real library crashes", needs_control=True)
    yield Row("destroy twice", lambda b: (lambda s: (b.aclrtDestroyStream(s), b.aclrtDestroyStream(s)))(b.stream()), (0, HANDLE))
    yield Row("a reset device takes its streams along", after_reset, HANDLE, source="3.3, observed")
    for name in ("aclrtStreamGetId", "aclrtStreamGetFlags", "aclrtStreamGetPriority", "aclrtStreamQuery",
                 "aclrtGetStreamOverflowSwitch"):  # fmt: skip
        yield Row(f"NULL out: {name}", lambda b, n=name: getattr(b, n)(b.stream(), None), INVALID, source="4.7, observed")
    yield Row("NULL out: available number", lambda b: b.aclrtGetStreamAvailableNum(None), INVALID, source="4.4")
    yield Row("NULL value: get attribute", lambda b: b.aclrtGetStreamAttribute(b.stream(), 1, None), INVALID, source="5.12")
    yield Row("NULL value: set attribute", lambda b: b.aclrtSetStreamAttribute(b.stream(), 1, None), INVALID, source="5.12")


def after_reset(b):
    stream = b.stream()
    b.aclrtResetDeviceForce(0)
    return b.get("aclrtStreamGetId", stream, kind=i32)


# On a stream of a context that is not the current one.
ELSEWHERE_OK = {"aclrtStreamGetId", "aclrtStreamGetFlags", "aclrtStreamGetPriority", "aclrtStreamQuery", "aclrtSynchronizeStream",
                "aclrtSynchronizeStreamWithTimeout", "aclrtGetStreamAttribute", "aclrtMemcpyAsync"}  # fmt: skip
ELSEWHERE_ODD = {"aclrtPersistentTaskClean": INTERNAL, "aclrtActiveStream": 107005}


def other_contexts():
    for name in CALLS:
        expected = 0 if name in ELSEWHERE_OK else ELSEWHERE_ODD.get(name, ELSEWHERE)
        other = dict.fromkeys(OLD, UNSUPPORTED) if name == "aclrtStreamStop" else {}
        run = lambda b, n=name: with_stream(b, b.stream_elsewhere())[n]()
        yield Row(f"of another context: {name}", run, expected, other, source="4.5, 5, observed")


def without_context():
    for name in ("aclrtStreamGetFlags", "aclrtStreamGetPriority", "aclrtStreamQuery", "aclrtStreamGetId"):
        run = lambda b, n=name: b.in_new_thread(lambda: b.get(n, None, kind=i32))
        yield Row(f"no context: {name} of NULL", run, NO_CONTEXT, source="observed")
    run = lambda b: b.in_new_thread(lambda: create(b, 0, 0))
    yield Row("no context: create", run, NO_CONTEXT, source="4.1, observed")
    yield Row("no context: available number", lambda b: b.in_new_thread(lambda: b.get("aclrtGetStreamAvailableNum")), NO_CONTEXT)
    yield Row("no context: synchronize NULL", lambda b: b.in_new_thread(lambda: b.aclrtSynchronizeStream(None)), NO_CONTEXT)
    yield Row("no context: id of a live stream", lambda b: (lambda s: b.in_new_thread(
        lambda: b.get("aclrtStreamGetId", s, kind=i32))[0])(b.stream()), 0, source="observed")  # fmt: skip
    yield Row("no context: synchronize a live stream", lambda b: (lambda s: b.in_new_thread(
        lambda: b.aclrtSynchronizeStream(s)))(b.stream()), NO_CONTEXT, source="observed")  # fmt: skip
    for flag in (PERSISTENT, CPU_SCHEDULE, DEVICE_ONLY):
        run = lambda b, f=flag: (lambda s: b.in_new_thread(lambda: b.aclrtSynchronizeStream(s)))(b.stream(f))
        yield Row(f"no context: synchronize a stream with flag 0x{flag:x}", run, 0, source="5.1")
    for name, args, code in (("aclrtDestroyStream", (), INVALID), ("aclrtStreamAbort", (), PARAM), ("aclrtStreamStop", (), PARAM),
                             ("aclrtSetStreamFailureMode", (1,), PARAM)):  # fmt: skip
        run = lambda b, n=name, a=args: b.in_new_thread(lambda: getattr(b, n)(None, *a))
        yield Row(f"no context: {name} of NULL", run, code, source="observed")
    run = lambda b: b.in_new_thread(lambda: b.get_attribute(None, 1))
    yield Row("no context: get failure mode of NULL", run, PARAM, source="observed")


def waiting():
    yield Row("query idle", lambda b: b.get("aclrtStreamQuery", b.stream(), kind=i32), (0, 0), source="5.2")
    yield Row("query busy", lambda b: b.get("aclrtStreamQuery", b.busy(), kind=i32), (0, 1), source="5.2", needs_control=True)
    for ms, code in ((-1, 0), (0, PARAM), (1, 0), (-2, PARAM), (2**31 - 1, 0), (-(2**31), PARAM)):
        run = lambda b, ms=ms: b.aclrtSynchronizeStreamWithTimeout(b.stream(), ms)
        yield Row(f"synchronize idle within {ms} ms", run, code, source="5.1, observed")
    for flags in (0, 1, 2, 3):
        run = lambda b, f=flags: b.aclrtSynchronizeStreamWithTimeout(b.busy(f), 20)
        yield Row(f"synchronize busy within 20 ms, flags {flags}", run, TIMEOUT, source="5.1", needs_control=True)
    yield Row("a timeout leaves the stream usable", timeout_then_done, (TIMEOUT, 0), source="5.1", needs_control=True)
    yield Row("a timeout is the last error, once", timeout_last_error, (TIMEOUT, 0), source="1.4", needs_control=True)
    run = lambda b: b.busy() and b.aclrtSynchronizeDeviceWithTimeout(20)
    yield Row("device synchronize busy within 20 ms", run, TIMEOUT, source="3.13", needs_control=True)
    for flag in (PERSISTENT, CPU_SCHEDULE, DEVICE_ONLY):
        run = lambda b, f=flag: (lambda s: (b.aclrtSynchronizeStream(s), *b.get("aclrtStreamQuery", s, kind=i32)))(b.stream(f))
        yield Row(f"flag 0x{flag:x} counts as done", run, (0, 0, 0), source="5.1, 5.2")
    for ms, code in ((-1, 0), (0, PARAM), (1, 0), (-2, PARAM)):
        run = lambda b, ms=ms: b.aclrtSynchronizeDeviceWithTimeout(ms)
        yield Row(f"device synchronize idle within {ms} ms", run, code, source="3.13")
    yield Row("force destroys a busy stream", lambda b: b.aclrtDestroyStreamForce(b.busy()), 0,
              on=("950", "A3", "A2", "310B"), source="observed", needs_control=True)  # fmt: skip
    yield Row("last task id: NULL", lambda b: b.aclrtGetThreadLastTaskId(None), INVALID, source="5.13")
    yield Row("last task ids go up", task_ids, True, source="5.13")


def timeout_then_done(b):
    stream = b.busy()
    first = b.aclrtSynchronizeStreamWithTimeout(stream, 20)
    b.hold(stream, 0)
    return first, b.aclrtSynchronizeStream(stream)


def timeout_last_error(b):
    b.aclrtSynchronizeStreamWithTimeout(b.busy(), 20)
    return b.aclrtGetLastError(0), b.aclrtGetLastError(0)


def task_ids(b):
    stream, ids = b.stream(), []
    for _ in range(3):
        b.launch(stream)
        ids.append(b.get("aclrtGetThreadLastTaskId")[1])
    return ids == sorted(set(ids))


def failure_modes():
    for mode, kept in ((0, 0), (1, 1), (2, 0), (3, 1), (2**64 - 2, 0), (2**64 - 1, 1)):
        run = lambda b, m=mode: (lambda s: (b.aclrtSetStreamFailureMode(s, m), *b.get_attribute(s, 1, 64)))(b.stream())
        yield Row(f"failure mode 0x{mode:x} reads {kept}", run, (0, 0, kept), source="5.4, observed")
    for name, modes, codes in (("the same again", (1, 1, 3), (0, 0, 0)), ("no way back", (1, 0), (0, UNSUPPORTED)),
                               ("nor by other bits", (1, 2), (0, UNSUPPORTED)), ("continue twice", (0, 0, 1), (0, 0, 0))):  # fmt: skip
        run = lambda b, ms=modes: (lambda s: tuple(b.aclrtSetStreamFailureMode(s, m) for m in ms))(b.stream())
        yield Row(f"failure mode: {name}", run, codes, source="5.4, observed")
    run = lambda b: b.aclrtSetStreamFailureMode(b.stream(), 1) or b.get_attribute(b.stream(), 1, 64)
    yield Row("a sibling of a STOP stream reads CONTINUE", run, (0, 0), source="5.4, observed")
    for flag, code in ((PERSISTENT, 0), (CPU_SCHEDULE, 0), (DEVICE_ONLY, UNSUPPORTED)):
        run = lambda b, f=flag: b.aclrtSetStreamFailureMode(b.stream(f), 1)
        yield Row(f"failure mode of a stream with flag 0x{flag:x}", run, code, source="5.4, observed")
    run = lambda b: (b.attribute(s := b.stream(), 1, 1), b.attribute(s, 1, 0), *b.get_attribute(s, 1, 64))
    yield Row("failure mode by attribute", run, (0, UNSUPPORTED, 0, 1), source="5.12, observed")


def failures():
    """The device fails a task with 507035; what the host then hears."""
    sync = lambda b, s: b.aclrtSynchronizeStream(s)
    run = lambda b: (sync(b, s := b.failed(b.stream())), sync(b, s))
    yield Row("CONTINUE: said once", run, (FAILED, 0), source="5.3", needs_control=True)
    run = lambda b: (lambda s: (b.failed(s, 507015), b.failed(s, 507016), sync(b, s))[2])(b.stream())
    yield Row("CONTINUE: the last one wins", run, 507016, source="5.3", needs_control=True)
    run = lambda b: b.get("aclrtStreamQuery", b.failed(b.stream()), kind=i32)
    yield Row("CONTINUE: a query says nothing", run, (0, 0), source="5.2", needs_control=True)
    run = lambda b: (b.failed(b.stream()), b.launch(s := b.stream()), sync(b, s))[1:]
    yield Row("CONTINUE: siblings go on", run, (0, 0), source="5.3", needs_control=True)
    run = lambda b: (b.failed(b.stream()), b.aclrtSynchronizeDevice(), b.aclrtSynchronizeDevice())[1:]
    yield Row("CONTINUE: device synchronize says it", run, (FAILED, 0), source="3.13", needs_control=True)
    run = lambda b: (sync(b, b.failed(b.stream())), b.aclrtPeekAtLastError(0), b.aclrtGetLastError(0), b.aclrtGetLastError(0))
    yield Row("CONTINUE: last error", run, (FAILED, FAILED, FAILED, 0), source="1.4, observed", needs_control=True)
    for code in (207003, 207016, 207017, 507005, 507023, 507901):
        run = lambda b, c=code: (b.aclrtGetLastError(0), sync(b, b.failed(b.stream(), c)), b.aclrtPeekAtLastError(0))[1:]
        yield Row(f"business code {code}: returned, no last error", run, (code, 0), source="5.1, 1.4", needs_control=True)
    for name, call, code in (
        ("synchronize, three times", lambda b, s, t: tuple(sync(b, s) for _ in range(3)), (FAILED,) * 3),
        ("query", lambda b, s, t: b.get("aclrtStreamQuery", s, kind=i32), FAILED),
        ("launch", lambda b, s, t: b.launch(s), FAILED),
        ("launch on a sibling", lambda b, s, t: b.launch(t), FAILED),
        ("synchronize a sibling", lambda b, s, t: sync(b, t), FAILED),
        ("launch on the default stream", lambda b, s, t: b.launch(None), FAILED),
        ("launch on a new stream", lambda b, s, t: b.launch(b.stream()), FAILED),
        ("record", lambda b, s, t: b.aclrtRecordEvent(b.event(), s), FAILED),
        ("asynchronous fill", lambda b, s, t: b.aclrtMemsetAsync(b.malloc(), 64, 0, 64, t), FAILED),
        ("device synchronize", lambda b, s, t: b.aclrtSynchronizeDevice(), FAILED),
        ("abort does not clear it", lambda b, s, t: (b.aclrtStreamAbort(s) in (0, UNSUPPORTED, FAILED), sync(b, s)), (True, FAILED)),
        ("synchronous copy still works", lambda b, s, t: b.aclrtMemcpy(d := b.malloc(), 64, b.host(), 64, 1), 0),
        ("malloc and free still work", lambda b, s, t: b.aclrtFree(b.malloc()), 0),
        ("destroy still works", lambda b, s, t: b.aclrtDestroyStream(s), 0),
        ("failure mode again", lambda b, s, t: b.aclrtSetStreamFailureMode(s, 1), UNSUPPORTED),
    ):
        run = lambda b, c=call: c(b, *stopped(b))
        yield Row(f"STOP, after a failure: {name}", run, code, source="5.4, observed", needs_control=True)
    run = lambda b: (stopped(b), b.aclrtResetDeviceForce(0), b.aclrtSetDevice(0), b.launch(s := b.stream()), sync(b, s))[3:]
    yield Row("STOP: a reset clears it", run, (0, 0), source="5.4", needs_control=True)
    run = lambda b: (b.aclrtSetStreamFailureMode(b.stream(), 1), b.failed(s := b.stream()), sync(b, s))[2]
    yield Row("STOP is the context's: any stream's failure counts", run, FAILED, source="5.4", needs_control=True)
    run = lambda b: (stopped(b), b.other_context(), b.launch(s := b.stream()), sync(b, s))[2:]
    yield Row("STOP: other contexts go on", run, (0, 0), source="5.4", needs_control=True)


def stopped(b):
    """A stream in STOP mode after its failure, and a sibling made before."""
    stream, sibling = b.stream(), b.stream()
    assert b.aclrtSetStreamFailureMode(stream, 1) == 0
    return b.failed(stream), sibling


def abort_and_stop():
    unsupported = {p: UNSUPPORTED for p in PRODUCTS if p not in MODERN}
    yield Row("abort idle", lambda b: (b.aclrtStreamAbort(s := b.stream()), b.aclrtSynchronizeStream(s))[0], 0, unsupported, source="5.5")
    yield Row("abort busy, then use", abort_busy, (0, 0, 0, 0), on=MODERN, source="5.5, observed", needs_control=True)
    yield Row("abort drops a pending error", lambda b: (b.aclrtStreamAbort(s := b.failed(b.stream())), b.aclrtSynchronizeStream(s)),
              (0, 0), on=MODERN, source="5.5", needs_control=True)  # fmt: skip
    yield Row("abort a CPU_SCHEDULE stream", lambda b: b.aclrtStreamAbort(b.stream(CPU_SCHEDULE)), PARAM, source="observed")
    run = lambda b: b.aclrtStreamAbort(b.stream(PERSISTENT))
    yield Row("abort a PERSISTENT stream", run, 0, {**unsupported, "950": INTERNAL}, source="5.5, observed")
    run = lambda b: b.get("aclrtQueryEventStatus", aborted_event(b), kind=i32)
    yield Row("an event on an aborted stream counts as complete", run, (0, 1), on=MODERN, source="observed", needs_control=True)
    stop_refused = dict.fromkeys(OLD, UNSUPPORTED)
    run = lambda b: (b.aclrtStreamStop(s := b.stream()), b.aclrtSynchronizeStream(s))[0]
    yield Row("stop idle", run, 0, stop_refused, source="5.6, observed")
    for flag in (PERSISTENT, CPU_SCHEDULE, DEVICE_ONLY):
        yield Row(f"stop a stream with flag 0x{flag:x}", lambda b, f=flag: b.aclrtStreamStop(b.stream(f)), 0, stop_refused)


def abort_busy(b):
    stream = b.busy()
    aborted = b.aclrtStreamAbort(stream)
    b.hold(stream, 0)
    return aborted, b.aclrtSynchronizeStream(stream), b.launch(stream), b.aclrtSynchronizeStream(stream)


def aborted_event(b):
    stream, event = b.busy(), b.event()
    b.aclrtRecordEvent(event, stream)
    b.aclrtStreamAbort(stream)
    return event


def models_needed():
    for name, make in (("plain", lambda b: b.stream()), ("fresh persistent", lambda b: b.stream(PERSISTENT))):
        yield Row(f"clean a {name} stream", lambda b, m=make: b.aclrtPersistentTaskClean(m(b)), INTERNAL, source="5.7, observed")
    run = lambda b: (b.aclrtRecordEvent(b.event(), p := b.stream(PERSISTENT)), b.aclrtPersistentTaskClean(p))
    yield Row("clean a persistent stream with a task", run, (0, INTERNAL), source="observed")
    run = lambda b: b.get("aclrtStreamQuery", (p := b.stream(PERSISTENT), b.launch(p))[0], kind=i32)
    yield Row("a persistent stream with a task counts as done", run, (0, 0), source="observed")
    for name, a, s, code in (("unbound", 1, 1, 107005), ("NULL to activate", 0, 1, INVALID), ("NULL stream", 1, 0, INVALID)):
        run = lambda b, a=a, s=s: b.aclrtActiveStream(b.stream() if a else None, b.stream() if s else None)
        yield Row(f"activate: {name}", run, code, source="5.8, observed")
    base = {"left": 1, "cond": 0, "right": 1, "kind": 0, "true": 1, "false": 0, "stream": 1}
    for name, change, code in (
        ("unbound", {}, 107005), ("left NULL", {"left": 0}, INVALID), ("right NULL", {"right": 0}, INVALID),
        ("true stream NULL", {"true": 0}, INVALID), ("stream NULL", {"stream": 0}, INVALID),
        ("false stream given", {"false": 1}, INVALID), ("condition 99", {"cond": 99}, PARAM), ("condition -1", {"cond": -1}, PARAM),
        ("condition 6", {"cond": 6}, PARAM), ("type 9", {"kind": 9}, PARAM), ("type 2", {"kind": 2}, PARAM),
        ("NULL before bad condition", {"left": 0, "cond": 99}, INVALID), ("type int64", {"kind": 1}, 107005),
    ):  # fmt: skip
        yield Row(f"switch: {name}", lambda b, o={**base, **change}: switch(b, o), code, source="5.9, observed")


def switch(b, o):
    d = b.malloc()
    stream = lambda key: b.stream() if o[key] else None
    cell = lambda key: d if o[key] else None
    return b.aclrtSwitchStream(cell("left"), o["cond"], cell("right"), o["kind"], stream("true"), stream("false"), stream("stream"))


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def state_callbacks():
    for name, calls, expected in (
        ("NULL name", [(None, 1)], (INVALID,)), ("the same name again", [(b"x", 1), (b"x", 1), (b"x", 0)], (0, PARAM, 0)),
        ("unknown name removed", [(b"nobody", 0)], (0,)), ("empty name", [(b"", 1), (b"", 0)], (0, 0)),
        ("long name", [(b"y" * 300, 1), (b"y" * 300, 0)], (0, 0)),
        ("removed and registered again", [(b"x", 1), (b"x", 0), (b"x", 1), (b"x", 0)], (0, 0, 0, 0)),
    ):  # fmt: skip
        yield Row(f"stream callback: {name}", lambda b, c=calls: register_all(b, c), expected, source="5.10, observed")
    yield Row("stream callbacks run in name order", callback_order, ["a1", "b1", "a2", "b2"], source="5.10")
    yield Row("default streams are reported", default_reported, [1, 2], source="5.10")


def register_all(b, calls):
    callback = CALLBACK(lambda stream, state, args: None)
    b.keep.append(callback)
    return tuple(b.aclrtRegStreamStateCallback(name, ctypes.cast(callback, ctypes.c_void_p) if on else None, None)
                 for name, on in calls)  # fmt: skip


def record_states(b, names, run):
    log = []
    callbacks = {n: CALLBACK(lambda s, state, a, n=n: log.append(f"{n}{state}" if len(names) > 1 else state)) for n in names}
    for name, callback in callbacks.items():
        b.aclrtRegStreamStateCallback(name.encode(), ctypes.cast(callback, ctypes.c_void_p), None)
    run()
    for name in names:
        b.aclrtRegStreamStateCallback(name.encode(), None, None)
    return log


def callback_order(b):
    return record_states(b, ("b", "a"), lambda: b.aclrtDestroyStream(b.stream()))


def default_reported(b):
    def run():
        context = b.make("aclrtCreateContext", 0)
        b.aclrtDestroyContext(context)

    return record_states(b, ("d",), run)


def overflow():
    always_on = dict.fromkeys(OLD, (0, 1))
    for value, code, read in ((0, 0, 0), (1, 0, 1)):
        run = lambda b, v=value: b.aclrtSetStreamOverflowSwitch(s := b.stream(), v) or b.get("aclrtGetStreamOverflowSwitch", s)
        other = {**always_on, "310B": (0, 0)}
        yield Row(f"overflow switch {value}", run, (0, read), other, source="5.11, observed")
    for value in (2, 0xFFFFFFFF):
        run = lambda b, v=value: b.aclrtSetStreamOverflowSwitch(b.stream(), v)
        yield Row(f"overflow switch 0x{value:x}", run, INVALID, source="5.11, observed")
    yield Row("overflow switch at first", lambda b: b.get("aclrtGetStreamOverflowSwitch", b.stream()), (0, 0), always_on)
    yield Row("saturation mode 2", lambda b: b.aclrtSetDeviceSatMode(2), PARAM, source="3.17, observed")
    yield Row("saturation mode: NULL out", lambda b: b.aclrtGetDeviceSatMode(None), INVALID, source="3.17")
    only_infnan, only_saturation = {"950": UNSUPPORTED}, dict.fromkeys(("310B", *OLD), UNSUPPORTED)
    yield Row("saturation mode SATURATION", lambda b: b.aclrtSetDeviceSatMode(0), 0, only_infnan, source="3.17")
    yield Row("saturation mode INFNAN", lambda b: b.aclrtSetDeviceSatMode(1), 0, only_saturation, source="3.17")
    yield Row("overflow status: NULL out", lambda b: b.aclrtGetOverflowStatus(None, 64, b.stream()), INVALID, source="3.17")
    for size in (0, 63, 65):
        run = lambda b, n=size: b.aclrtGetOverflowStatus(b.malloc(), n, b.stream())
        yield Row(f"overflow status: size {size}", run, PARAM, source="3.17")
    yield Row("overflow status", lambda b: b.aclrtGetOverflowStatus(b.malloc(), 64, b.stream()), 0, source="3.17")
    yield Row("overflow status of NULL", lambda b: b.aclrtGetOverflowStatus(b.malloc(), 64, None), 0, source="3.17")
    yield Row("overflow status reset", lambda b: b.aclrtResetOverflowStatus(b.stream()), 0, source="3.17")


def attributes():
    for number in (0, -1, 7, 99, 9999):
        yield Row(f"attribute {number}: get", lambda b, n=number: b.get_attribute(b.stream(), n), PARAM, source="5.12, observed")
        yield Row(f"attribute {number}: set", lambda b, n=number: b.attribute(b.stream(), n, 1), PARAM, source="5.12, observed")
    always_on = dict.fromkeys(OLD, (0, 1))
    no_tag = {p: (0, 0xFFFFFFFF) for p in PRODUCTS if p not in MODERN}
    no_priority = {p: UNSUPPORTED for p in PRODUCTS if p not in MODERN}
    for number, name, initial, other in ((1, "failure mode", 0, {}), (2, "overflow", 0, always_on), (3, "tag", 0xFFFFFFFF, {}),
                                         (4, "cache-op-info", 0, {}), (5, "priority", 0, {}), (6, "launch blocking", 0, {})):  # fmt: skip
        run = lambda b, n=number: b.get_attribute(b.stream(), n)
        yield Row(f"{name} at first", run, (0, initial), other, source="5.12, observed")
    for value in (0, 1, 2, 7, 8, 0xFFFFFFFF):
        set_get = lambda b, n, v: b.attribute(s := b.stream(), n, v) or b.get_attribute(s, n)
        yield Row(f"tag 0x{value:x}", lambda b, v=value: set_get(b, 3, v), (0, value), no_tag, source="5.12, observed")
        expected = (0, value) if value < 2 else PARAM
        on = {p: (0, 1) for p in OLD} | {"310B": (0, 0)}
        yield Row(f"overflow attribute 0x{value:x}", lambda b, v=value: set_get(b, 2, v), expected, on, source="5.12, observed")
        expected = (0, 0) if value < 2 else PARAM  # taken, and read as 0 outside a capture
        yield Row(f"cache-op-info 0x{value:x}", lambda b, v=value: set_get(b, 4, v), expected, source="5.12, observed")
        kept = 0 if value > 0x7FFFFFFF else min(value, 7)
        yield Row(f"priority attribute 0x{value:x}", lambda b, v=value: set_get(b, 5, v), (0, kept), no_priority, source="observed")
    run = lambda b: b.attribute(s := b.stream(), 5, 3) or b.get("aclrtStreamGetPriority", s)
    yield Row("the priority attribute leaves the creation priority", run, (0, 0), on=MODERN, source="observed")
    yield Row("priority attribute of CPU_SCHEDULE", lambda b: b.attribute(b.stream(CPU_SCHEDULE), 5, 1), UNSUPPORTED, source="5.12")
    yield Row("attributes elsewhere: set", lambda b: b.attribute(b.stream_elsewhere(), 3, 1), ELSEWHERE, source="5.12")
    yield Row("attributes elsewhere: get", lambda b: b.get_attribute(b.stream_elsewhere(), 3), (0, 0xFFFFFFFF), source="observed")


def launch_blocking():
    """Newer than the observed runtime, which answers 107000 for attribute 6."""
    unsupported = {p: UNSUPPORTED for p in PRODUCTS if p not in MODERN}
    for mode in (0, 1, 2):
        run = lambda b, m=mode: b.attribute(s := b.stream(), 6, m) or b.get_attribute(s, 6)
        yield Row(f"launch-blocking mode {mode}", run, (0, mode), unsupported, source="6")
    yield Row("launch-blocking mode 3", lambda b: b.attribute(b.stream(), 6, 3), PARAM, unsupported, source="6")
    for name in ("aclrtNonBlockingLaunchBegin", "aclrtNonBlockingLaunchEnd"):
        yield Row(f"{name}: flag 1", lambda b, n=name: getattr(b, n)(b.stream(), 1), INVALID, source="6")
        yield Row(f"{name}: destroyed", lambda b, n=name: getattr(b, n)(b.dead_stream(), 0), HANDLE, source="6")
        yield Row(f"{name}: of another context", lambda b, n=name: getattr(b, n)(b.stream_elsewhere(), 0), ELSEWHERE, source="6")
        run = lambda b, n=name: b.in_new_thread(lambda: getattr(b, n)(None, 0))
        yield Row(f"{name}: no context", run, NO_CONTEXT, source="6")
    end, begin = lambda b, s: b.aclrtNonBlockingLaunchEnd(s, 0), lambda b, s: b.aclrtNonBlockingLaunchBegin(s, 0)
    yield Row("end without begin", lambda b: end(b, b.stream()), PARAM, unsupported, source="6")
    yield Row("begin and end", lambda b: (begin(b, s := b.stream()), end(b, s), end(b, s)), (0, 0, PARAM), on=MODERN, source="6")
    run = lambda b: (begin(b, s := b.stream()), begin(b, s), end(b, s), end(b, s), end(b, s))
    yield Row("sections nest", run, (0, 0, 0, 0, PARAM), on=MODERN, source="6")
    yield Row("begin on NULL", lambda b: (begin(b, None), end(b, None)), (0, 0), on=MODERN, source="6")
    run = lambda b: (begin(b, s := b.stream()), b.in_new_thread(lambda: b.aclrtSetDevice(0) or end(b, s)))
    yield Row("end in another thread", run, (0, 0), on=MODERN, source="6")
    run = lambda b: (b.attribute(s := b.stream(), 6, 2), b.launch(s), *b.get("aclrtStreamQuery", s, kind=i32))
    yield Row("a blocking launch is done when it returns", run, (0, 0, 0, 0), on=MODERN, source="6")
    run = lambda b: (b.attribute(s := b.fail_next(b.stream(), FAILED), 6, 2), b.launch(s), b.aclrtSynchronizeStream(s))
    yield Row("a blocking launch returns the task's error", run, (0, FAILED, 0), on=MODERN, source="6", needs_control=True)
    run = lambda b: (b.attribute(s := b.hold(b.stream()), 6, 2), begin(b, s), b.launch(s), *b.get("aclrtStreamQuery", s, kind=i32))
    yield Row("inside a section launches return at once", run, (0, 0, 0, 0, 1), on=MODERN, source="6", needs_control=True)
    run = lambda b: (b.attribute(s := b.stream(PERSISTENT), 6, 2), b.launch(s))
    yield Row("a persistent stream never blocks", run, (0, 0), on=MODERN, source="6")


def limits():
    yield Row("streams run out at the documented number", exhaust, (207008, STREAM_LIMITS["A2"] - 1, 0),
              {p: (207008, n - 1, 0) for p, n in STREAM_LIMITS.items()}, source="4.4", needs_control=True)  # fmt: skip
    run = lambda b: b.get("aclrtGetStreamAvailableNum")
    yield Row("available at first", run, (0, STREAM_LIMITS["A2"] - 1), {p: (0, n - 1) for p, n in STREAM_LIMITS.items()},
              source="4.4", device_decides=True)  # fmt: skip
    yield Row("available goes down and up", available, (-1, 0), source="4.4")
    yield Row("a queue takes this much without blocking", fill_queue, (0, 0), source="4.4", needs_control=True)
    yield Row("a persistent stream is full at", fill_persistent, (507002, PERSISTENT_DEPTH["A2"]),
              {p: (507002, n) for p, n in PERSISTENT_DEPTH.items()}, source="4.4", needs_control=True)  # fmt: skip


def exhaust(b):
    made, out = 0, ctypes.c_void_p()
    while (code := b.aclrtCreateStream(ctypes.byref(out))) == 0:
        made, last = made + 1, out.value
    b.aclrtDestroyStream(last)
    return code, made, b.aclrtCreateStream(ctypes.byref(out))


def available(b):
    count = lambda: b.get("aclrtGetStreamAvailableNum")[1]
    first = count()
    stream = b.stream()
    second = count()
    b.aclrtDestroyStream(stream)
    return second - first, count() - first


def fill_queue(b):
    stream, kernel, args = b.hold(b.stream()), b.kernel(), u64()
    depth = QUEUE_DEPTH[os.environ["PYACL_EMULATOR_SOC"]]
    codes = {b.aclrtLaunchKernelWithHostArgs(kernel, 1, stream, None, ctypes.byref(args), 8, None, 0) for _ in range(depth)}
    b.hold(stream, 0)
    return max(codes), b.aclrtSynchronizeStream(stream)


def fill_persistent(b):
    stream, kernel, args, count = b.stream(PERSISTENT), b.kernel(), u64(), 0
    while (code := b.aclrtLaunchKernelWithHostArgs(kernel, 1, stream, None, ctypes.byref(args), 8, None, 0)) == 0:
        count += 1
    return code, count


ROWS = list(rows())
assert len({row.id for row in ROWS}) == len(ROWS), "two rows have one id"
