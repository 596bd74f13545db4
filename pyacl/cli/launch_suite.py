"""What a launch costs: by arguments, in batches, with a busy thread beside, by threads, streams, events and queued tasks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from rich.console import Console

import pyacl
from pyacl.cli import callers, nanobind_build
from pyacl.cli._cloops import CLoops
from pyacl.cli.measure import Result, in_turns, make_python_loop, make_table, show, spread, summarize

FAST = pyacl.StreamFlag.FAST_LAUNCH
ARGUMENT_COUNTS = (0, 1, 4, 8, 16)
THREADS = (1, 2, 4, 8)
LIVE_STREAMS = (1, 10, 100, 1000)
LIVE_EVENTS = (0, 100, 10_000)
QUEUED = (0, 500, 1000, 1400)
LAUNCHES = 500        # in a turn
CHUNK = 100           # launches timed at each point of a curve
BATCH = 1000
RATE_SECONDS = 0.25
STEPS = len(ARGUMENT_COUNTS) + 1 + 2 + len(THREADS) + 3

Measured = Iterator[tuple[str, list[Result]]]


def measure(bench: callers.Bench, turns: int) -> Measured:
    yield from by_arguments(bench, turns)
    yield from in_batches(bench, turns)
    yield from beside_a_busy_thread(bench, turns)
    yield from by_threads(bench)
    yield "live streams", by_live_streams(bench, turns)
    yield "live events", by_live_events(bench, turns)
    yield "queued tasks", by_queued_tasks(bench, turns)


# ---- arguments ----

def by_arguments(bench: callers.Bench, turns: int) -> Measured:
    nanobind = nanobind_build.load()
    for count in ARGUMENT_COUNTS:
        with bench.on_stream(FAST, count) as subjects:
            stream = subjects["pyacl"].stream
            timers = {name: partial(subjects[name].time, "launch") for name in ("C", "ctypes", "cffi")}
            timers |= pyacl_timers(bench, stream, count)
            timers |= nanobind_timers(nanobind, bench, subjects["ctypes"], count)
            loops = {name: partial(per_call, timer) for name, timer in timers.items()}
            yield f"{count} arguments", summarize(str(count), "arguments", in_turns(loops, stream.synchronize, turns))


def per_call(timer: Callable[[int], float]) -> float:
    return timer(LAUNCHES) / LAUNCHES


def pyacl_timers(bench: callers.Bench, stream: pyacl.Stream, count: int) -> dict[str, Callable[[int], float]]:
    """Bound with the GIL kept, bound with the GIL released (as always on a borrowed stream), and unbound."""
    values = tuple(range(1, count + 1))
    spec = callers.spec_of(count)
    borrowed = pyacl.Stream.from_handle(stream.handle, owner=stream)
    return {
        "bound": make_python_loop(bench.kernel.bind(spec, stream=stream), *values),
        "bound, released": make_python_loop(bench.kernel.bind(spec, stream=borrowed), *values),
        "unbound": make_python_loop(bench.kernel.launch, stream, 1, spec, *values),
    }


def nanobind_timers(module, bench, caller, count) -> dict[str, Callable[[int], float]]:
    if module is None:
        return {}
    values = tuple(range(1, count + 1))
    timers = {}
    for name, release in (("nanobind", False), ("nanobind, rel.", True)):
        launcher = module.Launcher(caller.launch_address, bench.kernel.handle, caller.stream.handle, release)
        timers[name] = make_python_loop(getattr(launcher, f"launch{count}"), *values)
    return timers


# ---- batches ----

def in_batches(bench: callers.Bench, turns: int) -> Measured:
    with bench.on_stream(FAST) as subjects:
        stream = subjects["pyacl"].stream
        plan = bench.kernel.bind(callers.spec_of(callers.STANDARD_ARGUMENTS), stream=stream)
        batch = pyacl.LaunchBatch()
        for _ in range(BATCH):
            batch.launch(plan, 1, 2, 3, 4)
        submit = make_python_loop(batch.submit)
        loops = {
            "C": lambda: subjects["C"].time("launch", BATCH) / BATCH,
            "LaunchBatch": lambda: submit(1) / BATCH,
        }
        yield "batches", summarize(f"{BATCH}", "batch", in_turns(loops, stream.synchronize, turns))


# ---- a busy thread beside ----

def beside_a_busy_thread(bench: callers.Bench, turns: int) -> Measured:
    """ns per launch at full rate, alone and with a Python thread that computes."""
    with bench.on_stream(FAST) as subjects:
        stream = subjects["pyacl"].stream
        timers = pyacl_timers(bench, stream, callers.STANDARD_ARGUMENTS)
        for name in ("bound", "bound, released"):
            loops = {
                "alone": partial(at_full_rate, timers[name], stream),
                "busy thread": partial(with_busy_thread, timers[name], stream),
            }
            yield f"busy thread: {name}", summarize(name, "busy", in_turns(loops, stream.synchronize, max(3, turns // 8)))


def at_full_rate(timer: Callable[[int], float], stream: pyacl.Stream) -> float:
    launches = 0
    end = time.perf_counter() + RATE_SECONDS
    start = time.perf_counter_ns()
    while time.perf_counter() < end:
        timer(CHUNK)
        launches += CHUNK
    stream.synchronize()
    return (time.perf_counter_ns() - start) / launches


def with_busy_thread(timer: Callable[[int], float], stream: pyacl.Stream) -> float:
    stop = threading.Event()

    def compute() -> None:
        total = 0
        while not stop.is_set():
            total = sum(range(1000), total & 1)

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        return at_full_rate(timer, stream)
    finally:
        stop.set()
        thread.join()


# ---- threads ----

def by_threads(bench: callers.Bench) -> Measured:
    """ns per launch of all threads together, each on a stream of its own."""
    for count in THREADS:
        yield f"{count} threads", summarize(str(count), "threads", {"pyacl": [thread_rate(bench, count) for _ in range(3)]})


def thread_rate(bench: callers.Bench, count: int) -> float:
    launches: list[int] = []
    start_line = threading.Barrier(count + 1)

    def work() -> None:
        with pyacl.Device(0), pyacl.Stream(FAST) as stream:
            plan = bench.kernel.bind(callers.spec_of(callers.STANDARD_ARGUMENTS), stream=stream)
            timer = make_python_loop(plan, 1, 2, 3, 4)
            start_line.wait()
            end = time.perf_counter() + RATE_SECONDS
            done = 0
            while time.perf_counter() < end:
                timer(CHUNK)
                done += CHUNK
            stream.synchronize()
            launches.append(done)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    start_line.wait()
    start = time.perf_counter_ns()
    for thread in threads:
        thread.join()
    return (time.perf_counter_ns() - start) / sum(launches)


# ---- curves: what must not grow ----

def c_loops(bench: callers.Bench, stream: pyacl.Stream, event: pyacl.Event) -> CLoops:
    return CLoops(stream.handle, event.handle, bench.kernel.handle, int(FAST), callers.STANDARD_ARGUMENTS)


def curve(bench, group: str, points: tuple[int, ...], make: Callable[[int], list], turns: int) -> list[Result]:
    """ns per launch in C on one stream, while `make(n)` keeps n other things alive."""
    results = []
    for point in points:
        alive = make(point)
        with pyacl.Stream(FAST) as stream, pyacl.Event() as event:
            loops = c_loops(bench, stream, event)
            times = in_turns({"C": lambda: loops.launch(LAUNCHES) / LAUNCHES}, stream.synchronize, turns)
            results += summarize(str(point), group, times)
        for thing in alive:
            thing.close()
    return results


def by_live_streams(bench: callers.Bench, turns: int) -> list[Result]:
    return curve(bench, "live streams", LIVE_STREAMS, lambda n: [pyacl.Stream() for _ in range(n - 1)], turns)


def by_live_events(bench: callers.Bench, turns: int) -> list[Result]:
    return curve(bench, "live events", LIVE_EVENTS, lambda n: [pyacl.Event() for _ in range(n)], turns)


def by_queued_tasks(bench: callers.Bench, turns: int) -> list[Result]:
    """ns per launch behind that many tasks: only the emulator can hold a stream."""
    if pyacl.runtime.kind != "emulator":
        return []
    results = []
    with pyacl.Stream(FAST) as stream, pyacl.Event() as event:
        loops = c_loops(bench, stream, event)

        def behind(queued: int) -> float:
            with pyacl.emulator.held(stream):
                loops.launch(queued)
                elapsed = loops.launch(CHUNK) / CHUNK
            return elapsed

        for queued in QUEUED:
            times = in_turns({"C": partial(behind, queued)}, stream.synchronize, turns)
            results += summarize(str(queued), "queued tasks", times)
    return results


# ---- showing ----

ARGUMENT_CALLERS = ["C", "bound", "bound, released", "unbound", "ctypes", "cffi", "nanobind", "nanobind, rel."]


def print_results(console: Console, results: list[Result]) -> None:
    found = {(r.group, r.row, r.caller): r for r in results}
    table = make_table("launch, by 8-byte arguments", "arguments", ARGUMENT_CALLERS)
    for count in ARGUMENT_COUNTS:
        table.add_row(str(count), *[show(found.get(("arguments", str(count), name))) for name in ARGUMENT_CALLERS])
    console.print(table)
    table = make_table("the same, above the C loop", "arguments", ARGUMENT_CALLERS[1:])
    for count in ARGUMENT_COUNTS:
        c = found["arguments", str(count), "C"].median
        cells = [found.get(("arguments", str(count), name)) for name in ARGUMENT_CALLERS[1:]]
        table.add_row(str(count), *["–" if cell is None else f"{cell.median - c:+,.0f}" for cell in cells])
    console.print(table)
    c, ours = (found["batch", str(BATCH), name] for name in ("C", "LaunchBatch"))
    console.print(f"LaunchBatch of {BATCH:,}: {ours.median:,.0f} ns per launch, {ours.median / c.median:.2f}× the C loop.")
    for name in ("bound", "bound, released"):
        alone, busy = (found["busy", name, beside].median for beside in ("alone", "busy thread"))
        console.print(f"With a busy Python thread beside, {name}: {alone / busy:.0%} of the launch rate without one.")
    print_curves(console, results)


def print_curves(console: Console, results: list[Result]) -> None:
    for group in ("threads", "live streams", "live events", "queued tasks"):
        points = [r for r in results if r.group == group]
        if points:
            shown = ", ".join(f"{point.row}: {point.median:,.0f} ±{spread(point):.0%}" for point in points)
            console.print(f"ns per launch by {group}: {shown}.")
