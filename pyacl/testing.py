"""A small pytest plugin for code that uses pyacl: ``pytest_plugins = ["pyacl.testing"]`` in a ``conftest.py``.

Fixtures
--------
acl_device
    Device 0, current in the test's thread; closed after the test.
acl_stream
    A stream on it.
acl_kernels
    The sample kernels, loaded. Skips the test on a real runtime, which cannot load them.
acl_emulator
    `pyacl.emulator`; skips the test on a real runtime.
acl_no_leaks
    Fails the test if it leaves a stream, event, binary or memory behind on the emulator.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import ModuleType

import pytest

import pyacl

RESOURCES = ("streams", "events", "binaries", "device_allocations", "host_allocations", "event_records", "notifies")


@pytest.fixture
def acl_device() -> Iterator[pyacl.Device]:
    with pyacl.Device(0) as device:
        yield device


@pytest.fixture
def acl_stream(acl_device: pyacl.Device) -> Iterator[pyacl.Stream]:
    with pyacl.Stream() as stream:
        yield stream


@pytest.fixture
def acl_emulator() -> ModuleType:
    if pyacl.runtime.kind != "emulator":
        pytest.skip("needs the emulator")
    return pyacl.emulator


@pytest.fixture
def acl_kernels(acl_device: pyacl.Device, acl_emulator: ModuleType) -> Iterator[pyacl.Binary]:
    with pyacl.Binary(acl_emulator.sample_kernels()) as binary:
        yield binary


@pytest.fixture
def acl_no_leaks(acl_device: pyacl.Device, acl_emulator: ModuleType) -> Iterator[None]:
    gc.collect()
    before = acl_emulator.counters()
    yield
    gc.collect()
    after = acl_emulator.counters()
    left = {name: getattr(after, name) - getattr(before, name) for name in RESOURCES}
    assert not any(left.values()), f"left behind: { {name: n for name, n in left.items() if n} }"
