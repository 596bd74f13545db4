"""Batches: the same work as one launch after the other, in one crossing, with arguments that can be changed."""

import numpy as np
import pytest

import pyacl


@pytest.fixture
def log(device):
    buffer = pyacl.DeviceBuffer(8 * 3001)
    buffer.fill(0)
    return buffer


def entries(log):
    values = log.to_numpy(np.uint64)
    return values[1 : 1 + int(values[0])].tolist()


@pytest.fixture
def batch(stream, kernels, log):
    plan = kernels("append").bind("p u64", stream=stream)
    batch = pyacl.LaunchBatch()
    for value in range(1000):
        batch.launch(plan, log, value)
    return batch


def test_a_batch_runs_in_order_and_again(stream, batch, log):
    for _ in range(3):
        batch.submit()
    stream.synchronize()
    assert entries(log) == list(range(1000)) * 3
    assert len(batch) == 1000


def test_arguments_are_replaced_by_launch_or_from_an_array(stream, batch, log):
    batch.replace(0, log, 12345)
    batch.submit()
    stream.synchronize()
    assert entries(log)[0] == 12345 and entries(log)[1] == 1
    log.fill(0)
    values = np.empty((1000, 2), np.uint64)
    values[:, 0], values[:, 1] = log.handle, np.arange(1000)[::-1] * 7
    batch.update(values)
    batch.submit()
    stream.synchronize()
    assert entries(log) == (np.arange(1000)[::-1] * 7).tolist()


def test_arguments_are_copied_when_submitted(stream, kernels, log, gate):
    gate.close(stream)
    batch = pyacl.LaunchBatch()
    batch.launch(kernels("append").bind("p u64", stream=stream), log, 1)
    batch.submit()
    batch.replace(0, log, 2)
    gate.open()
    stream.synchronize()
    assert entries(log) == [1]


def test_events_order_the_streams_of_a_batch(device, kernels, log):
    append = kernels("append")
    with pyacl.Stream() as one, pyacl.Stream() as two, pyacl.Event() as event:
        plans = [append.bind("p u64", stream=s) for s in (one, two)]
        batch = pyacl.LaunchBatch()
        for i in range(100):
            streams = (one, two) if i % 2 == 0 else (two, one)
            batch.launch(plans[i % 2], log, i)
            batch.record(event, streams[0])
            batch.wait(streams[1], event)
        batch.submit()
        one.synchronize()
        two.synchronize()
    assert entries(log) == list(range(100))


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (np.zeros((999, 2), np.uint64), ValueError),
        (np.zeros((1000, 3), np.uint64), ValueError),
        (np.full((1000, 2), -1, np.int64), OverflowError),
        (np.full((1000, 2), 0.5), OverflowError),
    ],
)
def test_wrong_values_are_refused_and_change_nothing(stream, batch, log, values, error):
    with pytest.raises(error):
        batch.update(values)
    batch.submit()
    stream.synchronize()
    assert entries(log) == list(range(1000))


def test_every_width_from_an_array_arrives(stream, kernels):
    words = "u8 u16 u32 u64 i8 i16 i32 i64 bool f16 f32 f64"
    plan = kernels("noop").bind(words, stream=stream)
    rows = np.array([[1, 2, 3, 4, -1, -2, -3, -4, 1, 0.5, -0.25, 1e300], [255, 65535, 9, 9, 127, 7, 7, 7, 0, 1, 2, 3]])
    rows[1, 10] = -0.0
    batch = pyacl.LaunchBatch()
    for row in rows:
        batch.launch(plan, *[int(v) for v in row[:8]], bool(row[8]), *map(float, row[9:]))
    same = pyacl.LaunchBatch()
    for _ in rows:
        same.launch(plan, *[0] * 8, False, 0.0, 0.0, 0.0)
    same.update(rows)
    assert same.arguments() == batch.arguments()


def test_a_refused_item_is_named_and_what_came_before_runs(device, stream, kernels, log):
    append = kernels("append")
    batch = pyacl.LaunchBatch()
    batch.launch(append.bind("p u64", stream=stream), log, 5)
    with pyacl.Context(0):
        other = pyacl.Stream()
        batch.launch(append.bind("p u64", stream=other), log, 6)
        device.make_current()
        with pytest.raises(pyacl.DeviceMismatchError) as caught:
            batch.submit()
        if hasattr(caught.value, "__notes__"):
            assert "item 1 of a batch of 2" in caught.value.__notes__[0]
        stream.synchronize()
        assert entries(log) == [5]
        other.close()


def test_a_closed_stream_is_refused_before_anything_is_submitted(device, kernels, log):
    stream = pyacl.Stream()
    batch = pyacl.LaunchBatch()
    batch.launch(kernels("append").bind("p u64", stream=stream), log, 5)
    stream.close()
    with pytest.raises(pyacl.ClosedError):
        batch.submit()
