"""Timing in turns, and what all suites of `pyacl bench` show alike."""

from __future__ import annotations

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

TURNS, QUICK_TURNS = 25, 7


@dataclass
class Result:
    """Nanoseconds per call of one caller: median of the turns, and their quartiles."""

    row: str
    group: str
    caller: str
    median: float
    low: float
    high: float
    turns: list[float] = field(repr=False)


def make_python_loop(function: Callable[..., object], *arguments: object) -> Callable[[int], float]:
    """A loop as a user writes it, ``for ...: function(a, b, c)``; it gives ns for so many calls, without its own cost."""
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    defaults = ", ".join(f"a{i}=a{i}" for i in range(len(arguments)))
    source = f"""
def loop(calls, *, function=function, clock=clock, repeat=repeat, {defaults}):
    start = clock()
    for _ in repeat(None, calls):
        function({names})
    elapsed = clock() - start
    start = clock()
    for _ in repeat(None, calls):
        pass
    return elapsed - (clock() - start)
"""
    scope = {"function": function, "clock": time.perf_counter_ns, "repeat": repeat}
    scope |= {f"a{i}": argument for i, argument in enumerate(arguments)}
    exec(source, scope)
    return scope["loop"]


def in_turns(loops: dict[str, Callable[[], float]], settle: Callable[[], object], turns: int) -> dict[str, list[float]]:
    """Every loop once, then all again; `settle` after each. The first turn only warms up."""
    times: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(turns + 1):
        for name, loop in loops.items():
            value = loop()
            settle()
            if turn > 0:
                times[name].append(value)
    return times


def summarize(row: str, group: str, times: dict[str, list[float]]) -> list[Result]:
    results = []
    for caller, values in times.items():
        low, median, high = statistics.quantiles(values, n=4)
        results.append(Result(row, group, caller, median, low, high, values))
    return results


def show(result: Result | None) -> str:
    if result is None:
        return "–"
    return f"{result.median:,.0f} [dim]±{spread(result):.0%}[/]"


def spread(result: Result) -> float:
    """Half the distance of the quartiles, as a part of the median."""
    return (result.high - result.low) / 2 / result.median


def make_table(title: str, first: str, headings: list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1), collapse_padding=True)
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


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
    console.print("Nanoseconds per call: median of interleaved turns, ± half the distance of the quartiles.\n")


def write_json(path: str, results: list[Result]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**describe_runtime(), "unit": "ns per call", "results": [asdict(r) for r in results]}, file, indent=1)
