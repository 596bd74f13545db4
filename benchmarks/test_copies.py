"""Copies by size and direction, beside memcpy between host arrays: `pytest benchmarks --benchmark-only`."""

import pytest

import pyacl
from pyacl.cli.copy_suite import SIZES, make_calls

WAYS = ["memcpy", "H2D", "D2H", "D2D", "H2D, async", "D2H, async", "D2D, async"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("label", SIZES)
def test_copy(benchmark, bench, label, way):
    benchmark.group = f"{label} copied"
    with pyacl.Stream() as stream:
        call = make_calls(SIZES[label], stream)[way]
        benchmark.pedantic(call, rounds=5 if SIZES[label] > 2**28 else 50, warmup_rounds=1)
