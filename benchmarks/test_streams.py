"""Calls on streams and events, per stream flag, for each way of making them: `pytest benchmarks --benchmark-only`.

`pyacl bench` measures the same in turns and prints ratios; here pytest-benchmark keeps the history.
"""

import pytest

from pyacl.cli.stream_suite import BATCH, ROWS


@pytest.mark.parametrize("row", [row for row in ROWS if row.name != "batch"], ids=lambda row: row.name)
def test_call(benchmark, caller, row):
    benchmark.group = f"{row.name}, per {row.calls} calls"
    benchmark.pedantic(caller.time, args=(row.name, row.calls), setup=caller.drain, rounds=50, warmup_rounds=2)


def test_batch_to_completion(benchmark, caller):
    benchmark.group = f"{BATCH} launches, to completion"
    benchmark.pedantic(caller.batch, args=(BATCH,), setup=caller.drain, rounds=30, warmup_rounds=2)
