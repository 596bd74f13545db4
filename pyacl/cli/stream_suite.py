"""What each stream flag costs: creation, launches, queries, records and waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import Console

from pyacl.cli import callers
from pyacl.cli.measure import Result, in_turns, make_table, show, summarize

FLAG_SETS = {
    "none": 0,
    "FAST_LAUNCH": 1,
    "FAST_SYNC": 2,
    "FAST_LAUNCH | FAST_SYNC": 3,
}


@dataclass(frozen=True)
class Row:
    """One measured call, and how often in a turn: below the queue depth where the device may fall behind."""

    name: str
    label: str
    calls: int


ROWS = (
    Row("create_destroy", "create+destroy", 100),
    Row("create_launch_destroy", "with first launch", 30),
    Row("launch", "launch (4 args)", 500),
    Row("batch", "batch of 1,000", 1),
    Row("query", "query (idle)", 2000),
    Row("record", "record", 300),
    Row("synchronize", "sync (idle)", 2000),
    Row("launch_synchronize", "launch+sync", 100),
)
BATCH = 1000
STEPS = len(FLAG_SETS) * len(ROWS)


def measure(bench: callers.Bench, turns: int) -> Iterator[tuple[str, list[Result]]]:
    """What is measured next, and the results of what was measured last."""
    for flags, value in FLAG_SETS.items():
        with bench.on_stream(value) as subjects:
            for row in ROWS:
                loops = {name: make_loop(row, caller) for name, caller in subjects.items()}
                times = in_turns(loops, subjects["pyacl"].drain, turns)
                yield f"{flags}: {row.label}", summarize(row.name, flags, times)


def make_loop(row: Row, caller: callers.Caller) -> Callable[[], float]:
    """ns per call of one turn."""
    if row.name == "batch":
        return lambda: caller.batch(BATCH) / BATCH
    return lambda: caller.time(row.name, row.calls) / row.calls


def print_results(console: Console, results: list[Result]) -> None:
    for flags in FLAG_SETS:
        table = make_table(f"stream flags: {flags}", "call", [*callers.NAMES, "pyacl−C", "pyacl/C", "×"])
        for row in ROWS:
            found = {r.caller: r for r in results if r.row == row.name and r.group == flags}
            table.add_row(row.label, *[show(found.get(name)) for name in callers.NAMES], *differences(found))
        console.print(table)
    console.print("with first launch: create, launch, synchronize, destroy. batch: per launch, until all have run.")
    console.print("×: how many times more ctypes adds to C than pyacl does.")
    best = min((r for r in results if r.row == "batch"), key=lambda r: r.median)
    console.print(f"Launch to completion in batches of {BATCH:,}: {1e3 / best.median:.1f} million launches/s "
                  f"({best.caller}, {best.group}).")  # fmt: skip


def differences(found: dict[str, Result]) -> tuple[str, str, str]:
    """What pyacl costs above C: in ns, as a ratio, and how many times more ctypes costs above C."""
    c, ours = found["C"].median, found["pyacl"].median
    added = ours - c
    times = f"{(found['ctypes'].median - c) / added:.1f}×" if added > 0 else "–"
    return f"{added:+,.0f}", f"{ours / c:.2f}", times
