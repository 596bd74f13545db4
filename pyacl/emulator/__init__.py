"""Control of the emulated runtime: which product it plays, and what a test may do to its devices.

Everything here goes through the ``pyaclEmu...`` calls of ``pyacl/emulator.h``, which only the emulator's library has.
On a real runtime each function raises `NotSupportedError`. Nothing here is loaded by ``import pyacl``.

Streams are given as a `pyacl.Stream` or by their id. Ids belong to a device: the current one of the calling thread.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pyacl import raw
from pyacl._runtime import expect_emulator, runtime
from pyacl.errors import NotSupportedError, make_error

if TYPE_CHECKING:
    from pyacl.stream import Stream

__all__ = [
    "Counters",
    "configure",
    "counters",
    "enable_stream_queue",
    "fail_call",
    "fail_next",
    "held",
    "hold_stream",
    "release_stream",
    "sample_kernels",
]

ALL_STREAMS = -1
COUNTERS_ROOM = 64  # numbers; more than there are in a library that is newer than this file


class Counters(NamedTuple):
    """Live resources and work done, process-wide. A leak test compares two of these.

    ``contexts`` to ``event_records`` and ``notifies`` are alive now (default and internal streams included); the others
    count since the start. Dropped tasks count as retired.
    """

    contexts: int
    streams: int
    events: int
    binaries: int
    device_allocations: int
    device_bytes: int
    host_allocations: int
    host_bytes: int
    event_records: int
    tasks_submitted: int
    tasks_retired: int
    tasks_failed: int
    tasks_dropped: int
    workers: int
    notifies: int


def configure(soc: str | None = None, devices: int = 0) -> None:
    """Choose what the emulator plays. C: ``pyaclEmuConfigure``.

    Parameters
    ----------
    soc
        An SoC name (``"Ascend910B3"``) or a product (``"A2"``); None keeps ``PYACL_EMULATOR_SOC``, else A2.
    devices
        Number of devices; 0 keeps ``PYACL_EMULATOR_DEVICES``, else 2.

    Raises
    ------
    InvalidParamError
        No such SoC or product (100000).
    AclError
        A device was used before (100002).
    NotSupportedError
        A real runtime answers.
    """
    if devices < 0:
        raise ValueError(f"devices is {devices}, expected 0 or more")
    name = None if soc is None else os.fsencode(soc)
    _call("pyaclEmuConfigure", ctypes.c_char_p(name), ctypes.c_uint32(devices))


def hold_stream(stream: Stream | int | None = None) -> None:
    """Keep the tasks of a stream (None: of every stream) pending until `release_stream`.

    C: ``pyaclEmuHoldStream``. The task that runs is not touched. No stream of that id: `InvalidParamError` (107000).
    """
    _call("pyaclEmuHoldStream", _stream_id(stream), ctypes.c_int32(1))


def release_stream(stream: Stream | int | None = None) -> None:
    """Let the tasks of a held stream (None: of every stream) run again. C: ``pyaclEmuHoldStream``."""
    _call("pyaclEmuHoldStream", _stream_id(stream), ctypes.c_int32(0))


@contextmanager
def held(stream: Stream | int | None = None) -> Iterator[None]:
    """`hold_stream` for the length of a ``with`` block."""
    hold_stream(stream)
    try:
        yield
    finally:
        release_stream(stream)


def fail_next(stream: Stream | int, code: int) -> None:
    """Let the next task that the stream starts fail on the device with `code`, without running.

    C: ``pyaclEmuFailNextTask``. A code below 1 or no stream of that id: `InvalidParamError`.
    """
    _call("pyaclEmuFailNextTask", _stream_id(stream), ctypes.c_int32(code))


def fail_call(api: str, code: int, nth: int = 1) -> None:
    """Let the `nth` call (1: the next one) of the C function `api` return `code` without doing anything.

    C: ``pyaclEmuFailCall``. One function is armed at a time; `nth` 0 disarms.
    """
    _call("pyaclEmuFailCall", ctypes.c_char_p(os.fsencode(api)), ctypes.c_uint32(nth), ctypes.c_int32(code))


def enable_stream_queue(stream: Stream | int, on: bool = True) -> None:
    """Turn the hardware queue of a stream on or off, as firmware does for streams bound to a model.

    C: ``pyaclEmuEnableStreamQueue``.
    """
    _call("pyaclEmuEnableStreamQueue", _stream_id(stream), ctypes.c_int32(on))


def counters() -> Counters:
    """What is alive and what was done so far. C: ``pyaclEmuGetCounters``."""
    numbers = (ctypes.c_uint64 * COUNTERS_ROOM)()
    _call("pyaclEmuGetCounters", numbers)
    return Counters(*numbers[: len(Counters._fields)])


def sample_kernels() -> str:
    """Path of the shared object with the sample kernels: noop, spin, vector_add, fill, overflow, fail and others.

    Their arguments stand in ``csrc/kernels/sample_kernels.c``. Only the emulator can load it.
    """
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib/kernels/libsample_kernels.so")


def _stream_id(stream: Stream | int | None) -> ctypes.c_int32:
    if stream is None:
        return ctypes.c_int32(ALL_STREAMS)
    return ctypes.c_int32(stream if isinstance(stream, int) else stream.id)


def _call(name: str, *arguments: object) -> None:
    expect_emulator()
    path = runtime.path
    try:
        function = getattr(ctypes.CDLL(path), name)  # the library that is loaded already: dlopen counts, no more
    except AttributeError:
        raise NotSupportedError(-2, name, f"{path} is no pyacl emulator: it has no control calls") from None
    code = function(*arguments)
    if code != 0:
        raise make_error(code, name, (raw.aclGetRecentErrMsg() or b"").decode())
