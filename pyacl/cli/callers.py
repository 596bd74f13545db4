"""The four ways to make one call, with the same operands: a C loop, pyacl's classes, ctypes and cffi."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import cffi

import pyacl
from pyacl.cli._cloops import CLoops
from pyacl.cli.measure import make_python_loop

NAMES = ("C", "pyacl", "ctypes", "cffi")
STANDARD_ARGUMENTS = 4

CFFI_DECLARATIONS = """
    int aclrtCreateStreamWithConfig(void **stream, uint32_t priority, uint32_t flag);
    int aclrtDestroyStream(void *stream);
    int aclrtSynchronizeStream(void *stream);
    int aclrtStreamQuery(void *stream, int *status);
    int aclrtRecordEvent(void *event, void *stream);
    int aclrtLaunchKernelWithHostArgs(void *function, uint32_t blocks, void *stream, void *cfg, void *args,
                                      size_t size, void *placeholders, size_t count);
"""


def spec_of(arguments: int) -> str:
    """That many 8-byte arguments."""
    return " ".join(["u64"] * arguments)


class Caller:
    """Calls by name on one stream: `time` gives the ns that so many of them took."""

    def __init__(self, stream: pyacl.Stream) -> None:
        self.stream = stream
        self.loops: dict[str, Callable[[int], float]] = {}

    def add(self, name: str, function: Callable[..., object], *arguments: object) -> None:
        self.loops[name] = make_python_loop(function, *arguments)

    def time(self, name: str, calls: int) -> float:
        return self.loops[name](calls)

    def batch(self, launches: int) -> float:
        """ns for that many launches and the wait for the last of them."""
        return self.time("launch", launches) + self.time("synchronize", 1)

    def drain(self) -> None:
        self.stream.synchronize()


class CCaller(Caller):
    def __init__(self, stream, event, kernel, flags, arguments) -> None:
        super().__init__(stream)
        self.c = CLoops(stream.handle, event.handle, kernel.handle, flags, arguments)

    def time(self, name: str, calls: int) -> float:
        return getattr(self.c, name)(calls)


class PyaclCaller(Caller):
    def __init__(self, stream, event, kernel, flags, arguments) -> None:
        super().__init__(stream)
        spec, values = spec_of(arguments), tuple(range(1, arguments + 1))
        plan = kernel.bind(spec, blocks=1, stream=stream)

        def create_destroy() -> None:
            pyacl.Stream(flags).close()

        def create_launch_destroy() -> None:
            with pyacl.Stream(flags) as new:
                kernel.bind(spec, blocks=1, stream=new)(*values)
                new.synchronize()

        def launch_synchronize() -> None:
            plan(*values)
            stream.synchronize()

        self.add("create_destroy", create_destroy)
        self.add("create_launch_destroy", create_launch_destroy)
        self.add("launch", plan, *values)
        self.add("query", stream.query)
        self.add("record", event.record, stream)
        self.add("synchronize", stream.synchronize)
        self.add("launch_synchronize", launch_synchronize)


class ForeignCaller(Caller):
    """ctypes or cffi over the library itself: what a program without pyacl would write.

    Parameters
    ----------
    lib
        The library with callable functions.
    new_handle, new_status, new_args
        Make an out-parameter for a handle, one for a status, and the packed arguments.
    """

    def __init__(self, stream, event, kernel, flags, arguments, lib, pointer, new_handle, new_status, new_args) -> None:
        super().__init__(stream)
        handle, function = pointer(stream.handle), pointer(kernel.handle)
        packed = new_args(list(range(1, max(arguments, 1) + 1)))
        size = 8 * max(arguments, 1)
        none = pointer(0)

        def launch_on(target: object) -> None:
            lib.aclrtLaunchKernelWithHostArgs(function, 1, target, none, packed, size, none, 0)

        def create_destroy() -> None:
            out, read = new_handle()
            lib.aclrtCreateStreamWithConfig(out, 0, flags)
            lib.aclrtDestroyStream(read())

        def create_launch_destroy() -> None:
            out, read = new_handle()
            lib.aclrtCreateStreamWithConfig(out, 0, flags)
            launch_on(read())
            lib.aclrtSynchronizeStream(read())
            lib.aclrtDestroyStream(read())

        def launch_synchronize() -> None:
            lib.aclrtLaunchKernelWithHostArgs(function, 1, handle, none, packed, size, none, 0)
            lib.aclrtSynchronizeStream(handle)

        self.add("create_destroy", create_destroy)
        self.add("create_launch_destroy", create_launch_destroy)
        self.add("launch", lib.aclrtLaunchKernelWithHostArgs, function, 1, handle, none, packed, size, none, 0)
        self.add("query", lib.aclrtStreamQuery, handle, new_status())
        self.add("record", lib.aclrtRecordEvent, pointer(event.handle), handle)
        self.add("synchronize", lib.aclrtSynchronizeStream, handle)
        self.add("launch_synchronize", launch_synchronize)


def make_ctypes_caller(stream, event, kernel, flags, arguments) -> ForeignCaller:
    lib = ctypes.CDLL(str(pyacl.runtime.path))
    pointer, u32, size = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t
    lib.aclrtCreateStreamWithConfig.argtypes = (pointer, u32, u32)
    lib.aclrtDestroyStream.argtypes = lib.aclrtSynchronizeStream.argtypes = (pointer,)
    lib.aclrtStreamQuery.argtypes = lib.aclrtRecordEvent.argtypes = (pointer, pointer)
    lib.aclrtLaunchKernelWithHostArgs.argtypes = (pointer, u32, pointer, pointer, pointer, size, pointer, size)

    def new_handle():
        handle = pointer()
        return ctypes.byref(handle), lambda: handle

    caller = ForeignCaller(
        stream, event, kernel, flags, arguments, lib, pointer, new_handle,
        new_status=lambda: ctypes.byref(ctypes.c_int()),
        new_args=lambda values: (ctypes.c_uint64 * len(values))(*values),
    )  # fmt: skip
    caller.launch_address = ctypes.cast(lib.aclrtLaunchKernelWithHostArgs, pointer).value
    return caller


def make_cffi_caller(stream, event, kernel, flags, arguments) -> ForeignCaller:
    ffi = cffi.FFI()
    ffi.cdef(CFFI_DECLARATIONS)
    lib = ffi.dlopen(str(pyacl.runtime.path))

    def new_handle():
        handle = ffi.new("void **")
        return handle, lambda: handle[0]

    return ForeignCaller(
        stream, event, kernel, flags, arguments, lib, partial(ffi.cast, "void *"), new_handle,
        new_status=lambda: ffi.new("int *"),
        new_args=lambda values: ffi.new("uint64_t[]", values),
    )  # fmt: skip


MAKERS = {"C": CCaller, "pyacl": PyaclCaller, "ctypes": make_ctypes_caller, "cffi": make_cffi_caller}


class Bench:
    """Device 0 and a kernel, for as long as the benchmark runs."""

    def __init__(self, binary: str, kernel: str) -> None:
        self.binary_path, self.kernel_name = binary, kernel

    def __enter__(self) -> Bench:
        self.device = pyacl.Device(0)
        self.binary = pyacl.Binary(self.binary_path)
        self.kernel = self.binary.kernel(self.kernel_name)
        return self

    def __exit__(self, *exc: object) -> None:
        self.binary.close()
        self.device.close()

    @contextmanager
    def on_stream(self, flags: int, arguments: int = STANDARD_ARGUMENTS) -> Iterator[dict[str, Caller]]:
        """One stream with these flags, and every caller on it."""
        with pyacl.Stream(flags) as stream, pyacl.Event() as event:
            yield {name: make(stream, event, self.kernel, flags, arguments) for name, make in MAKERS.items()}
            stream.synchronize()
