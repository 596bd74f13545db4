"""What replays cost, by the number of captured kernels: per kernel, against the same kernels waiting in a queue and against
launching them one by one."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator

from rich.console import Console

import pyacl
from pyacl.cli import callers
from pyacl.cli.measure import Result, in_turns, make_python_loop, make_table, show, summarize

# What whoever counts microseconds takes: a thread that sleeps until the end pays its wake-up, whatever it waits for.
FAST = pyacl.StreamFlag.FAST_LAUNCH | pyacl.StreamFlag.FAST_SYNC
TASKS = (1, 10, 100, 1000)  # a queue takes as many
KERNELS_A_TURN = 1000
STEPS = len(TASKS)
QUEUED, REPLAY, BOUND, UNBOUND = "queued", "replay", "launched, bound", "launched, unbound"


def measure(bench: callers.Bench, turns: int) -> Iterator[tuple[str, list[Result]]]:
    """ns per kernel until the stream has passed the last one, for each number of kernels."""
    for count in TASKS:
        with pyacl.Stream(FAST) as stream, capture(bench, stream, count) as graph:
            repeats = max(1, KERNELS_A_TURN // count)
            times = in_turns(make_timers(bench, stream, graph, count, repeats), stream.synchronize, turns)
            yield f"{count} kernels", summarize(str(count), "replays", times)


def capture(bench: callers.Bench, stream: pyacl.Stream, count: int) -> pyacl.Graph:
    plan = bench.kernel.bind("", stream=stream)
    with stream.capture() as graph:
        for _ in range(count):
            plan()
    return graph


def make_timers(
    bench: callers.Bench, stream: pyacl.Stream, graph: pyacl.Graph, count: int, repeats: int
) -> dict[str, Callable[[], float]]:
    bound = make_python_loop(bench.kernel.bind("", stream=stream))
    unbound = make_python_loop(bench.kernel.launch, stream, 1)

    def per_kernel(submit: Callable[[int], object]) -> Callable[[], float]:
        def run() -> float:
            start = time.perf_counter_ns()
            for _ in range(repeats):
                submit(count)
                stream.synchronize()
            return (time.perf_counter_ns() - start) / repeats / count

        return run

    def queued() -> float:
        """What the device itself needs: they all wait before it begins."""
        elapsed = 0
        for _ in range(repeats):
            hold(stream_id, 1)
            bound(count)
            start = time.perf_counter_ns()
            hold(stream_id, 0)
            stream.synchronize()
            elapsed += time.perf_counter_ns() - start
        return elapsed / repeats / count

    timers = {}
    if pyacl.runtime.kind == "emulator":  # nothing else can hold a stream
        hold, stream_id = ctypes.CDLL(pyacl.runtime.path).pyaclEmuHoldStream, stream.id
        timers[QUEUED] = queued
    return timers | {REPLAY: per_kernel(lambda _: graph.replay(stream)), BOUND: per_kernel(bound), UNBOUND: per_kernel(unbound)}


def print_results(console: Console, results: list[Result]) -> None:
    found = {(r.row, r.caller): r for r in results}
    ways = list(dict.fromkeys(r.caller for r in results))
    table = make_table("replays: ns per empty kernel, to the end of the last one", "kernels", ways)
    for count in TASKS:
        table.add_row(str(count), *[show(found[str(count), way]) for way in ways])
    console.print(table)
    most = str(TASKS[-1])
    replay = found[most, REPLAY].median
    for way in ways:
        if way != REPLAY:
            console.print(f"A replay of {TASKS[-1]:,} costs {replay / found[most, way].median:.2f}× of them {way}.")
