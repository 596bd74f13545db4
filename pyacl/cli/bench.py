"""Measure what launching and waiting cost, per stream flag, on whatever runtime answers.

Every call is made from a C loop, through pyacl, through ctypes and through cffi, all in this process and in turns, so
that noise hits all alike: the ratios tell, the nanoseconds belong to this machine. What a Python loop costs by itself
is measured in the same turns and taken off the Python rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import repeat

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import pyacl
from pyacl.cli import callers

FLAG_SETS = {
    "none": 0,
    "FAST_LAUNCH": 1,
    "FAST_SYNC": 2,
    "FAST_LAUNCH | FAST_SYNC": 3,
}


@dataclass(frozen=True)
class Row:
    """One measured call: how many per turn, and whether the stream must drain between turns."""

    name: str
    label: str
    calls: int
    drain: bool = False


# Calls per turn stay below the queue depth where the device may fall behind.
STREAM_ROWS = (
    Row("create_destroy", "create + destroy", 100),
    Row("create_launch_destroy", "create, launch, destroy", 30),
    Row("launch", "launch, 4 arguments", 500, drain=True),
    Row("batch", "the same, 1,000 to completion", 1),
    Row("query", "query, idle", 2000),
    Row("record", "event record", 300, drain=True),
    Row("synchronize", "synchronize, idle", 2000),
    Row("launch_synchronize", "launch, then synchronize", 100),
)
BATCH = 1000
DIFFERENCES = ("pyacl − C", "pyacl / C", "ctypes : pyacl")
TURNS, QUICK_TURNS = 25, 7


@dataclass
class Result:
    """Nanoseconds per call of one caller: median of the turns, and their quartiles."""

    row: str
    flags: str
    caller: str
    median: float
    low: float
    high: float
    turns: list[float] = field(repr=False)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="fewer turns: a few seconds instead of half a minute")
    parser.add_argument("--json", metavar="FILE", help="also write every figure to FILE")
    parser.add_argument("--kernel", metavar="FILE", help="binary with the kernel to launch (default: pyacl's host kernels, "
                        "which only the emulator can run)")  # fmt: skip
    parser.add_argument("--kernel-name", metavar="NAME", default="noop", help="a kernel that ignores its arguments")


def run(options: argparse.Namespace) -> int:
    console = Console()
    turns = QUICK_TURNS if options.quick else TURNS
    print_heading(console)
    kernel = options.kernel or pyacl.emulator.sample_kernels()
    with callers.Bench(kernel, options.kernel_name) as bench, make_progress(console) as progress:
        task = progress.add_task("measuring", total=len(FLAG_SETS) * len(STREAM_ROWS))
        results = []
        for flags, value in FLAG_SETS.items():
            with bench.on_stream(value) as subjects:
                for row in STREAM_ROWS:
                    progress.update(task, description=f"{flags}: {row.label}")
                    results += measure(row, flags, subjects, turns)
                    progress.advance(task)
    for flags in FLAG_SETS:
        console.print(make_table(flags, results))
    print_throughput(console, results)
    if options.json:
        write_json(options.json, results)
    return 0


def make_progress(console: Console) -> Progress:
    columns = (BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=True)


def describe_runtime() -> dict[str, str]:
    runtime = pyacl.runtime
    return {"runtime": runtime.kind, "soc": runtime.soc, "library": str(runtime.path), "version": runtime.version}


def print_heading(console: Console) -> None:
    runtime = describe_runtime()
    console.print(f"runtime [bold]{runtime['runtime']}[/] {runtime['version']}, {runtime['soc']}: {runtime['library']}")
    if runtime["runtime"] == "emulator":
        console.print("[yellow]Emulator figures tell what the bindings cost. They say nothing about an NPU.[/]")
    console.print("Nanoseconds per call: median of interleaved turns ± half the distance of the quartiles.")
    console.print("The last column compares what ctypes and pyacl add to C.\n")


def measure(row: Row, flags: str, subjects: dict[str, callers.Caller], turns: int) -> list[Result]:
    """Time one row in turns: every caller once, then all again."""
    loops = {name: make_loop(row, caller) for name, caller in subjects.items()}
    times: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(turns + 1):
        for name, loop in loops.items():
            elapsed = loop() / row.calls
            if row.drain:
                subjects[name].drain()
            if turn > 0:  # the first turn warms up
                times[name].append(elapsed)
    return [summarize(row, flags, name, values) for name, values in times.items()]


def make_loop(row: Row, caller: callers.Caller) -> Callable[[], float]:
    if row.name == "batch":
        return lambda: caller.batch(BATCH) / BATCH
    if caller.times_itself:
        return lambda: caller.time(row.name, row.calls)
    return lambda: time_python(caller.function(row.name), row.calls)


def time_python(function: Callable[[], object], calls: int) -> float:
    """ns for `calls` calls from a Python loop, without what the loop itself costs."""
    start = time.perf_counter_ns()
    for _ in repeat(None, calls):
        function()
    elapsed = time.perf_counter_ns() - start
    start = time.perf_counter_ns()
    for _ in repeat(None, calls):
        pass
    return elapsed - (time.perf_counter_ns() - start)


def summarize(row: Row, flags: str, caller: str, values: list[float]) -> Result:
    low, median, high = statistics.quantiles(values, n=4)
    return Result(row.name, flags, caller, median, low, high, values)


def make_table(flags: str, results: list[Result]) -> Table:
    table = Table(title=f"stream flags: {flags}", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("call")
    for caller in callers.NAMES:
        table.add_column(caller, justify="right")
    for heading in DIFFERENCES:
        table.add_column(heading, justify="right")
    for row in STREAM_ROWS:
        found = {r.caller: r for r in results if r.row == row.name and r.flags == flags}
        table.add_row(row.label, *[show(found.get(name)) for name in callers.NAMES], *show_differences(found))
    return table


def show(result: Result | None) -> str:
    if result is None:
        return "–"
    return f"{result.median:,.0f} [dim]±{(result.high - result.low) / 2:,.0f}[/]"


def show_differences(found: dict[str, Result]) -> tuple[str, str, str]:
    """What pyacl costs above C: in ns, as a ratio, and how many times more ctypes costs above C."""
    c, ours = found["C"].median, found["pyacl"].median
    added = ours - c
    times = f"{(found['ctypes'].median - c) / added:.1f}×" if added > 0 else "–"
    return f"{added:+,.0f}", f"{ours / c:.2f}", times


def print_throughput(console: Console, results: list[Result]) -> None:
    """Launched and completed, the fastest caller's batches."""
    best = min((r for r in results if r.row == "batch"), key=lambda r: r.median)
    console.print(f"Launch to completion in batches of {BATCH:,}: {1e3 / best.median:.1f} million launches/s "
                  f"({best.caller}, {best.flags}).")  # fmt: skip


def write_json(path: str, results: list[Result]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**describe_runtime(), "unit": "ns per call", "results": [asdict(r) for r in results]}, file, indent=1)
