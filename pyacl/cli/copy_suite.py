"""What copies cost, by size and direction, against the C library's own memcpy between two host arrays."""

from __future__ import annotations

import ctypes
import mmap
import time
from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console

import pyacl
from pyacl.cli import callers
from pyacl.cli.measure import Result, in_turns, make_table, summarize

SIZES = {"4 KiB": 2**12, "1 MiB": 2**20, "64 MiB": 2**26, "1 GiB": 2**30}
BASELINE = "memcpy"
LARGE_TURNS = 5
BYTES_A_TURN = 2**22  # small copies are made several times in a turn
STEPS = len(SIZES)

memcpy = ctypes.CDLL(None).memcpy
memcpy.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t


def measure(bench: callers.Bench, turns: int) -> Iterator[tuple[str, list[Result]]]:
    """ns per copy, for each size."""
    del bench  # copies need its device, not its kernel
    for label, size in SIZES.items():
        with pyacl.Stream() as stream:
            calls = make_calls(size, stream)
            repeats = max(1, BYTES_A_TURN // size)
            loops = {name: timer(call, repeats) for name, call in calls.items()}
            yield label, summarize(label, "copies", in_turns(loops, stream.synchronize, min(turns, LARGE_TURNS if size > 2**28 else turns)))


def make_calls(size: int, stream: pyacl.Stream) -> dict[str, Callable[[], object]]:
    """Every way to copy so many bytes, to its end, on memory whose pages are there already."""
    source, target = page_aligned(size), page_aligned(size)
    read, written = ((ctypes.c_char * size).from_buffer(array) for array in (source, target))  # each keeps its array alive
    pinned = pyacl.HostBuffer(size)
    pinned.numpy()[:] = 1
    device, other = (pyacl.DeviceBuffer(size) for _ in range(2))
    for buffer in (device, other):
        buffer.fill(1)

    def through(start: Callable[..., None], end: object) -> None:
        start(end, stream)
        stream.synchronize()

    return {
        BASELINE: lambda: memcpy(written, read, size),
        "H2D": lambda: device.copy_from(source),
        "D2H": lambda: device.copy_to(target),
        "D2D": lambda: device.copy_to(other),
        "H2D, async": lambda: through(device.copy_from_async, pinned),
        "D2H, async": lambda: through(device.copy_to_async, pinned),
        "D2D, async": lambda: through(device.copy_to_async, other),
    }


def page_aligned(size: int) -> np.ndarray:
    """As device memory is. A target a few bytes further into its page than the source costs memcpy itself half its rate."""
    pages = np.ones(size + mmap.PAGESIZE, np.uint8)
    start = -pages.ctypes.data % mmap.PAGESIZE
    return pages[start : start + size]


def timer(call: Callable[[], object], repeats: int) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter_ns()
        for _ in range(repeats):
            call()
        return (time.perf_counter_ns() - start) / repeats

    return run


def print_results(console: Console, results: list[Result]) -> None:
    found = {(r.row, r.caller): r.median for r in results}
    ways = list(dict.fromkeys(r.caller for r in results))
    table = make_table("copies: GB/s, and the part of memcpy's rate", "size", ways)
    for label, size in SIZES.items():
        base = found[label, BASELINE]
        rates = [f"{size / found[label, way]:.1f} [dim]{base / found[label, way]:.0%}[/]" for way in ways]
        table.add_row(label, *rates)
    console.print(table)
