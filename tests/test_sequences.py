"""The two sequences that most programs make, in Python; tests/c has the same in C, with the same output."""

import numpy as np
import pytest

import pyacl

FAULT = 507015


def test_one_stream_from_creation_to_forced_end(device, kernels, gate):
    before = device.available_streams
    stream = pyacl.Stream(pyacl.StreamFlag.FAST_LAUNCH | pyacl.StreamFlag.FAST_SYNC)
    assert stream.flags == 3
    stream.failure_mode = pyacl.FailureMode.STOP
    assert stream.failure_mode == pyacl.FailureMode.STOP
    gate.close(stream)
    assert not stream.query()
    with pytest.raises(pyacl.StreamTimeoutError) as timeout:
        stream.synchronize(timeout=0.02)
    assert timeout.value.code == 507046
    gate.open()
    assert stream.synchronize(timeout=5) is pyacl.SyncResult.COMPLETE
    assert stream.query()
    assert device.available_streams == before - 1
    handle = stream.handle
    stream.close(force=True)
    assert device.available_streams == before
    with pytest.raises(pyacl.InvalidParamError) as stale:
        pyacl.Stream.from_handle(handle).id
    assert stale.value.code == 107017


@pytest.fixture
def counter(device):
    buffer = pyacl.DeviceBuffer(8)
    buffer.fill(0)
    return buffer


def count(counter):
    return int(counter.to_numpy(np.uint64)[0])


def test_failures_in_both_modes_and_the_way_back(device, kernels, counter):
    fail, add_one = kernels("fail"), kernels("add_one")
    with pyacl.Stream() as stream:  # CONTINUE: said once, and what follows runs
        fail.launch(stream, 1, "i32", FAULT)
        add_one.launch(stream, 1, counter)
        with pytest.raises(pyacl.DeviceFaultError) as fault:
            stream.synchronize()
        assert fault.value.code == FAULT
        assert stream.synchronize() is pyacl.SyncResult.COMPLETE
        assert count(counter) == 1

    context = pyacl.Context(0)  # STOP: the whole context refuses work
    failing, stopping = pyacl.Stream(), pyacl.Stream()
    stopping.failure_mode = pyacl.FailureMode.STOP
    fail.launch(failing, 1, "i32", FAULT)
    for refused in (
        failing.synchronize,
        stopping.synchronize,
        stopping.query,
        context.synchronize,
        lambda: add_one.launch(stopping, 1, counter),
        lambda: add_one.launch(pyacl.Stream(), 1, counter),
        lambda: add_one.launch(None, 1, counter),
    ):
        with pytest.raises(pyacl.DeviceFaultError) as fault:
            refused()
        assert fault.value.code == FAULT
    assert count(counter) == 1  # synchronous copies still work
    context.close()
    with pytest.raises(pyacl.NoContextError):
        pyacl.Stream()

    with pyacl.Context(0), pyacl.Stream() as stream:  # recovered
        add_one.launch(stream, 1, counter)
        stream.synchronize()
    device.make_current()
    assert count(counter) == 2
