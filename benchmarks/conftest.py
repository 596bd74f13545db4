"""What the suites share: the callers of `pyacl bench`, each on the same stream."""

import pytest

import pyacl
from pyacl.cli import callers


@pytest.fixture(scope="session")
def bench():
    with callers.Bench(pyacl.emulator.sample_kernels(), "noop") as opened:
        yield opened


@pytest.fixture(params=[0, 1, 2, 3], ids=["none", "FAST_LAUNCH", "FAST_SYNC", "both"])
def subjects(request, bench):
    """Every caller on one stream with these flags."""
    with bench.on_stream(request.param) as found:
        yield found


@pytest.fixture(params=callers.NAMES)
def caller(request, subjects):
    return subjects[request.param]
