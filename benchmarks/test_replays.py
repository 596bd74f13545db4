"""Replays by the number of captured kernels, beside launching them: `pytest benchmarks --benchmark-only`."""

import pytest

import pyacl
from pyacl.cli.replay_suite import BOUND, FAST, QUEUED, REPLAY, TASKS, UNBOUND, capture, make_timers


@pytest.mark.parametrize("way", [QUEUED, REPLAY, BOUND, UNBOUND])
@pytest.mark.parametrize("count", TASKS)
def test_replay(benchmark, bench, count, way):
    benchmark.group = f"{count} kernels, to the end of the last one"
    with pyacl.Stream(FAST) as stream, capture(bench, stream, count) as graph:
        timers = make_timers(bench, stream, graph, count, repeats=1)
        benchmark.pedantic(timers[way], rounds=200, warmup_rounds=5)
