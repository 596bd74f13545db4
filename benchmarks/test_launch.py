"""Launches by number of arguments, in batches, from several threads: `pytest benchmarks --benchmark-only`."""

import pytest

import pyacl
from pyacl.cli import callers, launch_suite
from pyacl.cli.launch_suite import ARGUMENT_COUNTS, BATCH, FAST, LAUNCHES, THREADS


@pytest.mark.parametrize("count", ARGUMENT_COUNTS)
@pytest.mark.parametrize("name", ["C", "bound", "bound, released", "unbound", "ctypes", "cffi"])
def test_launch(benchmark, bench, name, count):
    benchmark.group = f"{count} arguments, per {LAUNCHES} launches"
    with bench.on_stream(FAST, count) as subjects:
        stream = subjects["pyacl"].stream
        timers = {other: lambda n, c=subjects[other]: c.time("launch", n) for other in ("C", "ctypes", "cffi")}
        timers |= launch_suite.pyacl_timers(bench, stream, count)
        benchmark.pedantic(timers[name], args=(LAUNCHES,), setup=subjects["pyacl"].drain, rounds=50, warmup_rounds=2)


def test_launch_batch(benchmark, bench):
    benchmark.group = f"{BATCH} launches submitted"
    with bench.on_stream(FAST) as subjects:
        stream = subjects["pyacl"].stream
        plan = bench.kernel.bind(callers.spec_of(callers.STANDARD_ARGUMENTS), stream=stream)
        batch = pyacl.LaunchBatch()
        for _ in range(BATCH):
            batch.launch(plan, 1, 2, 3, 4)
        benchmark.pedantic(batch.submit, setup=subjects["pyacl"].drain, rounds=50, warmup_rounds=2)


@pytest.mark.parametrize("threads", THREADS)
def test_threads(benchmark, bench, threads):
    benchmark.group = "launches from several threads, each on its stream"
    benchmark.pedantic(launch_suite.thread_rate, args=(bench, threads), rounds=3)
