"""Runs conformance rows on one library and prints what each returned, as JSON lines: `runner.py LIBRARY [row id ...]`.

A row is a Python function that gets a `Bench`: the library's functions by their C names, and short words for what rows
need all the time. It runs with device 0 set and nothing else; whatever it leaves behind goes with a forced reset. Calls
go through ctypes with the types of acl_rt.json: no part of pyacl stands between a row and the library.
"""

import ctypes
import json
import sys
import threading
import traceback
from dataclasses import dataclass, field
from pathlib import Path

API = json.loads((Path(__file__).parents[2] / "csrc/abi/acl_rt.json").read_text())
PRODUCTS = ("950", "A3", "A2", "310B", "310P", "910")

NUMBERS = {
    "int": ctypes.c_int32, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "float": ctypes.c_float, "aclError": ctypes.c_int32,
    "aclFloat16": ctypes.c_uint16,
}  # fmt: skip
ENUMS = {enum["name"] for enum in API["enums"]}


@dataclass(frozen=True)
class Row:
    """`expected` is what `run` returns: a code, or a tuple of a code and outputs. `other` names products that differ."""

    id: str
    run: object = field(repr=False)
    expected: object
    other: dict = field(default_factory=dict)
    on: tuple = PRODUCTS
    source: str = ""
    needs_control: bool = False  # holds or fails the device: only the emulator can
    device_decides: bool = False  # outputs depend on the device: on a real runtime only the code is compared

    def expected_on(self, product):
        return self.other.get(product, self.expected)


def ctype(name):
    name = name.replace("const", "").strip()
    if name in NUMBERS:
        return NUMBERS[name]
    return ctypes.c_int32 if name in ENUMS else ctypes.c_void_p


class Bench:
    """The library, and what one row made with it."""

    def __init__(self, path, kernels):
        self.lib = ctypes.CDLL(path)
        self.kernel_path = kernels.encode()
        for function in API["functions"]:
            self.declare(function)
        self.keep, self.contexts = [], []

    def declare(self, function):
        try:
            found = getattr(self.lib, function["name"])
        except AttributeError:
            return  # an older library; a row that calls it fails by name
        if any(struct in p["type"] for p in function["params"] for struct in ("dim3", "aclrtIpcEventHandle handle")):
            return
        found.argtypes = [ctype(p["type"]) for p in function["params"]]
        found.restype = ctype(function["returns"])

    def __getattr__(self, name):
        return getattr(self.lib, name)

    # ---- words for rows ----

    def get(self, name, *before, kind=ctypes.c_uint32, after=()):
        """Call with an out-parameter; gives (code, value), the value only after success."""
        out = kind(0xAAAAAAAA if kind in (ctypes.c_uint32, ctypes.c_uint64) else 0)
        code = getattr(self.lib, name)(*before, ctypes.byref(out), *after)
        return (code, out.value) if code == 0 else code

    def make(self, name, *after, before=()):
        out = ctypes.c_void_p()
        code = getattr(self.lib, name)(*before, ctypes.byref(out), *after)
        if code != 0:
            raise RuntimeError(f"{name} gave {code} while a row was set up")
        return out.value

    def stream(self, flags=0, priority=0):
        return self.make("aclrtCreateStreamWithConfig", priority & 0xFFFFFFFF, flags)

    def dead_stream(self):
        stream = self.stream()
        assert self.aclrtDestroyStream(stream) == 0
        return stream

    def event(self, flag=None):
        return self.make("aclrtCreateEvent") if flag is None else self.make("aclrtCreateEventWithFlag", flag)

    def ex(self, flag=1):
        return self.make("aclrtCreateEventExWithFlag", flag)

    def dead_event(self):
        event = self.event()
        assert self.aclrtDestroyEvent(event) == 0
        return event

    def recorded(self, event, stream=None):
        assert self.aclrtRecordEvent(event, stream) == 0
        assert self.aclrtSynchronizeStream(stream) == 0
        return event

    def malloc(self, size=64):
        return self.make("aclrtMalloc", size, 0)

    def host(self, size=64):
        return self.make("aclrtMallocHost", size)

    def pageable(self, size=64):
        buffer = ctypes.create_string_buffer(size)
        self.keep.append(buffer)
        return ctypes.addressof(buffer)

    def kernel(self, name="noop"):
        binary = self.make("aclrtBinaryLoadFromFile", before=(self.kernel_path, None))
        return self.make("aclrtBinaryGetFunction", before=(binary, name.encode()))

    def launch(self, stream, name="noop", value=0, blocks=1):
        args = ctypes.c_uint64(value)
        return self.aclrtLaunchKernelWithHostArgs(self.kernel(name), blocks, stream, None, ctypes.byref(args), 8, None, 0)

    def attribute(self, stream, number, value):
        union = (ctypes.c_uint64 * 2)(value, 0)
        return self.aclrtSetStreamAttribute(stream, number, union)

    def get_attribute(self, stream, number, bits=32):
        union = (ctypes.c_uint64 * 2)(0xAAAAAAAABBBBBBBB, 0)
        code = self.aclrtGetStreamAttribute(stream, number, union)
        return (code, union[0] & (2**bits - 1)) if code == 0 else code

    def other_context(self):
        """Makes another context current; gives the one before."""
        before = self.make("aclrtGetCurrentContext")
        self.contexts.append(self.make("aclrtCreateContext", 0))
        return before

    def stream_elsewhere(self, flags=0):
        """A stream of a context that is not current."""
        stream = self.stream(flags)
        self.other_context()
        return stream

    def in_new_thread(self, run):
        """What `run` returns in a thread without device or context."""
        result = []
        thread = threading.Thread(target=lambda: result.append(run()))
        thread.start()
        thread.join()
        return result[0]

    def default_stream(self):
        return self.make("aclrtCtxGetCurrentDefaultStream")

    # ---- control of the emulated device ----

    def id_of(self, stream):
        out = ctypes.c_int32()
        assert self.aclrtStreamGetId(stream, ctypes.byref(out)) == 0
        return out.value

    def hold(self, stream, on=1):
        self.lib.pyaclEmuHoldStream(ctypes.c_int32(self.id_of(stream)), ctypes.c_int32(on))
        return stream

    def busy(self, flags=0):
        """A held stream with a task."""
        stream = self.hold(self.stream(flags))
        assert self.launch(stream) == 0
        return stream

    def fail_next(self, stream, code):
        self.lib.pyaclEmuFailNextTask(ctypes.c_int32(self.id_of(stream)), ctypes.c_int32(code))
        return stream

    def failed(self, stream, code=507035):
        """A stream whose only task has failed and is retired (nothing synchronized yet)."""
        self.fail_next(stream, code)
        assert self.launch(stream) == 0
        other = self.event()
        while (state := self.get("aclrtStreamQuery", stream, kind=ctypes.c_int32)) == (0, 1):
            pass
        self.keep.append((other, state))
        return stream


def run_row(bench, row):
    assert bench.aclrtSetDevice(0) == 0
    bench.keep.clear()
    try:
        return row.run(bench)
    except Exception:
        return "error: " + traceback.format_exc(limit=2)
    finally:
        if hasattr(bench.lib, "pyaclEmuHoldStream"):
            bench.lib.pyaclEmuHoldStream(ctypes.c_int32(-1), ctypes.c_int32(0))
        while bench.contexts:  # a reset leaves explicit contexts alone
            bench.aclrtDestroyContext(bench.contexts.pop())
        bench.aclrtSetDevice(0)
        bench.aclrtResetDeviceForce(0)


def main(library, kernels, wanted):
    from stream_rows import ROWS

    bench = Bench(library, kernels)
    for row in ROWS:
        if row.id in wanted:
            got = run_row(bench, row)
            print(json.dumps([row.id, list(got) if isinstance(got, tuple) else got]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], set(json.loads(sys.stdin.read())))
