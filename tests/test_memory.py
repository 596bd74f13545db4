"""Memory: bytes arrive, ends stay alive, wrong sizes are refused before any call."""

import gc
import time
import weakref

import numpy as np
import pytest

import pyacl

DTYPES = [np.uint8, np.int16, np.float32, np.float64, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_comes_back_as_it_went(device, dtype):
    array = np.arange(24).astype(dtype).reshape(2, 3, 4)
    for buffer in (pyacl.DeviceBuffer(array), pyacl.DeviceBuffer.from_numpy(array)):
        assert buffer.nbytes == len(buffer) == array.nbytes
        assert np.array_equal(buffer.to_numpy(dtype, array.shape), array)


@pytest.mark.parametrize("nbytes", [1, 31, 32, 33, 4096, 1 << 20, (1 << 20) + 1])
def test_every_byte_is_copied_in_every_direction(device, stream, nbytes):
    data = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    first, second = pyacl.DeviceBuffer(nbytes), pyacl.DeviceBuffer(nbytes)
    pinned = pyacl.HostBuffer(nbytes)
    first.copy_from(data)
    second.copy_from(first)
    assert np.array_equal(second.to_numpy(), data)
    second.fill(0)
    second.copy_from_async(first, stream)
    second.copy_to_async(pinned, stream)
    stream.synchronize()
    assert np.array_equal(pinned.numpy(), data)
    pinned.numpy()[:] = ~data
    first.copy_from_async(pinned, stream)
    out = np.empty_like(data)
    first.copy_to_async(out, stream)
    stream.synchronize()
    assert np.array_equal(out, ~data)


def test_anything_contiguous_is_a_source(device):
    for source in (b"12345678", bytearray(b"12345678"), memoryview(b"12345678"), np.frombuffer(b"12345678", np.float32)):
        assert pyacl.DeviceBuffer(source).to_numpy().tobytes() == b"12345678"


def test_what_is_not_contiguous_is_refused(device):
    array = np.arange(10)[::2]
    with pytest.raises((BufferError, ValueError)):
        pyacl.DeviceBuffer(array)
    with pytest.raises((BufferError, ValueError)):
        pyacl.DeviceBuffer(40).copy_to(np.empty(10)[::2])
    assert pyacl.DeviceBuffer.from_numpy(array).to_numpy(array.dtype).tolist() == array.tolist()


@pytest.mark.parametrize("dtype", [object, [("x", object)], [("a", np.int64), ("x", [("y", object)])]])
def test_python_objects_are_not_copied(device, dtype):
    array = np.zeros(2, dtype)
    buffer = pyacl.DeviceBuffer(64)
    for copy in (buffer.copy_from, buffer.copy_to, pyacl.DeviceBuffer):
        with pytest.raises(TypeError, match="Python objects"):
            copy(array)


def test_a_field_named_like_the_code_for_objects_is_none(device):
    array = np.array([(1, 2.0)], [("O", np.int64), ("OO", np.float64)])
    assert pyacl.DeviceBuffer(array).to_numpy(array.dtype).tolist() == array.tolist()


def test_what_is_read_only_is_no_target(device):
    buffer = pyacl.DeviceBuffer(8)
    frozen = np.zeros(8, np.uint8)
    frozen.flags.writeable = False
    for target in (b"12345678", frozen):
        with pytest.raises((BufferError, ValueError)):
            buffer.copy_to(target)


@pytest.mark.parametrize("size", [0, -1, 1 << 70])
@pytest.mark.parametrize("kind", [pyacl.DeviceBuffer, pyacl.HostBuffer])
def test_a_size_has_to_be_positive_and_fit(device, kind, size):
    with pytest.raises((ValueError, OverflowError)):
        kind(size)


@pytest.mark.parametrize("source", [1.5, "text", None, object(), [1, 2]])
@pytest.mark.parametrize("kind", [pyacl.DeviceBuffer, pyacl.HostBuffer])
def test_a_source_is_a_size_or_memory(device, kind, source):
    with pytest.raises(TypeError):
        kind(source)


def test_more_than_the_device_has_is_refused(device):
    with pytest.raises(pyacl.OutOfDeviceMemoryError) as caught:
        pyacl.DeviceBuffer(1 << 45)
    assert caught.value.code == 207001 and isinstance(caught.value, MemoryError)


def test_memory_is_accounted(device):
    free, total = device.memory_info()
    with pyacl.DeviceBuffer(1 << 20):
        assert device.memory_info()[0] <= free - (1 << 20)
    assert device.memory_info() == (free, total)


def test_a_copy_past_the_end_is_refused(device, stream):
    buffer = pyacl.DeviceBuffer(8)
    big = np.zeros(9, np.uint8)
    copies = [
        lambda: buffer.copy_from(big),
        lambda: buffer.copy_to(big),
        lambda: buffer.copy_from_async(big, stream),
        lambda: buffer.copy_to_async(big, stream),
        lambda: buffer[:4].copy_from(b"12345"),
        lambda: buffer.to_numpy(np.uint8, 9),
    ]
    for copy in copies:
        with pytest.raises(ValueError, match="past the end"):
            copy()


def test_a_slice_is_a_view(device):
    buffer = pyacl.DeviceBuffer(b"abcdefgh")
    view = buffer[2:6]
    assert view.nbytes == 4 and view.handle == buffer.handle + 2 and not view.owned
    view.copy_from(b"XY")
    view[3:].fill(ord("Z"))
    assert buffer.to_numpy().tobytes() == b"abXYeZgh"
    assert buffer[-2:].to_numpy().tobytes() == b"gh"


def test_a_view_keeps_its_buffer_and_is_closed_with_it(device):
    buffer = pyacl.DeviceBuffer(b"abcdefgh")
    view = buffer[4:]
    alive = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert alive() is not None and view.to_numpy().tobytes() == b"efgh"
    alive().close()
    with pytest.raises(pyacl.ClosedError):
        view.to_numpy()


@pytest.mark.parametrize("part, error", [(3, TypeError), (slice(0, 0), ValueError), (slice(5, 2), ValueError), (slice(0, 4, 2), ValueError)])
def test_only_slices_of_bytes_make_views(device, part, error):
    with pytest.raises(error):
        pyacl.DeviceBuffer(8)[part]


@pytest.mark.parametrize("value", [-1, 256, 1.5, "a", None])
def test_a_buffer_is_filled_with_bytes(device, value):
    with pytest.raises((ValueError, TypeError)):
        pyacl.DeviceBuffer(8).fill(value)


def test_fill_is_a_task_when_given_a_stream(stream, gate):
    buffer = pyacl.DeviceBuffer(8)
    buffer.fill(1)
    gate.close(stream)
    buffer.fill(2, stream)
    assert buffer.to_numpy().tolist() == [1] * 8
    gate.open()
    stream.synchronize()
    assert buffer.to_numpy().tolist() == [2] * 8


# ---- lifetime ----


def test_both_ends_live_until_the_stream_has_passed_the_copy(stream, gate, acl_emulator):
    gate.close(stream)
    pinned, buffer = pyacl.HostBuffer(b"12345678"), pyacl.DeviceBuffer(8)
    watched = [weakref.ref(pinned), weakref.ref(buffer)]
    before = acl_emulator.counters()
    buffer.copy_from_async(pinned, stream)
    del pinned, buffer
    gc.collect()
    assert all(ref() is not None for ref in watched)
    assert stream.query() is False
    assert all(ref() is not None for ref in watched)
    gate.open()
    stream.synchronize()
    gc.collect()
    assert all(ref() is None for ref in watched)
    after = acl_emulator.counters()
    assert (after.host_allocations, after.device_allocations) == (before.host_allocations - 1, before.device_allocations - 1)


def test_a_wait_in_vain_lets_go_of_nothing(stream, gate):
    gate.close(stream)
    pinned, buffer = pyacl.HostBuffer(8), pyacl.DeviceBuffer(8)
    watched = weakref.ref(pinned)
    buffer.copy_from_async(pinned, stream)
    del pinned, buffer
    with pytest.raises(pyacl.StreamTimeoutError):
        stream.synchronize(timeout=0.02)
    gc.collect()
    assert watched() is not None
    gate.open()
    stream.synchronize()
    assert watched() is None


def test_a_stream_that_nobody_waits_for_still_lets_go(stream):
    watched = []
    for _ in range(1000):
        pinned, buffer = pyacl.HostBuffer(64), pyacl.DeviceBuffer(64)
        watched.append(weakref.ref(buffer))
        buffer.copy_from_async(pinned, stream)
        if sum(ref() is not None for ref in watched) > 300:  # the device is behind
            time.sleep(0.01)
    del pinned, buffer
    assert sum(ref() is not None for ref in watched) < 500
    stream.synchronize()
    assert sum(ref() is not None for ref in watched) == 0


def test_closing_a_stream_lets_go_of_everything(device, gate):
    stream = pyacl.Stream()
    pinned, buffer = pyacl.HostBuffer(8), pyacl.DeviceBuffer(8)
    watched = weakref.ref(buffer)
    gate.close(stream)
    buffer.copy_from_async(pinned, stream)
    del buffer
    gate.open()
    stream.close()
    assert watched() is None


def test_an_array_over_pinned_memory_keeps_it(device, acl_emulator):
    array = pyacl.HostBuffer(np.arange(4.0)).numpy(np.float64, (2, 2))
    gc.collect()
    assert array.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    array[:] = 7
    before = acl_emulator.counters().host_allocations
    del array
    assert acl_emulator.counters().host_allocations == before - 1


def test_pinned_memory_starts_with_what_it_is_given(device):
    array = np.arange(8)
    for source in (array, bytes(array), pyacl.HostBuffer(array), pyacl.DeviceBuffer(array)):
        assert pyacl.HostBuffer(source).numpy(array.dtype).tolist() == array.tolist()


def test_closed_pinned_memory_is_freed_after_its_last_array(device, acl_emulator):
    before = acl_emulator.counters().host_allocations
    pinned = pyacl.HostBuffer(8)
    array = pinned.numpy()
    pinned.close()
    pinned.close()
    array[:] = 5  # still there
    with pytest.raises(pyacl.ClosedError):
        pinned.numpy()
    with pytest.raises(pyacl.ClosedError):
        pyacl.DeviceBuffer(8).copy_from(pinned)
    assert acl_emulator.counters().host_allocations == before + 1
    del array
    assert acl_emulator.counters().host_allocations == before


def test_pinned_memory_is_read_when_the_copy_runs(device, stream, gate):
    pinned, buffer = pyacl.HostBuffer(b"old old "), pyacl.DeviceBuffer(8)
    gate.close(stream)
    buffer.copy_from_async(pinned, stream)
    memoryview(pinned)[:] = b"new new "
    gate.open()
    stream.synchronize()
    assert buffer.to_numpy().tobytes() == b"new new "


def test_closed_memory_raises_before_any_call(device, stream):
    buffer = pyacl.DeviceBuffer(8)
    buffer.close()
    buffer.close()
    uses = [
        lambda: buffer.copy_from(b"1"),
        lambda: buffer.to_numpy(),
        lambda: buffer.fill(0),
        lambda: buffer[1:2],
        lambda: buffer.data_ptr(),
        lambda: pyacl.DeviceBuffer(8).copy_from_async(buffer, stream),
    ]
    for use in uses:
        with pytest.raises(pyacl.ClosedError):
            use()


def test_a_stream_is_required_to_be_one(device):
    for stream in (5, "stream", object()):
        with pytest.raises(TypeError):
            pyacl.DeviceBuffer(8).copy_from_async(b"12345678", stream)


def test_without_a_stream_a_copy_goes_to_the_default_one(device):
    buffer = pyacl.DeviceBuffer(8)
    buffer.copy_from_async(pyacl.HostBuffer(b"12345678"))
    device.default_stream.synchronize()
    assert buffer.to_numpy().tobytes() == b"12345678"


def test_borrowed_memory_is_never_freed(device):
    buffer = pyacl.DeviceBuffer(b"12345678")
    borrowed = pyacl.DeviceBuffer.from_handle(buffer.handle, 8, owner=buffer)
    borrowed.close()
    assert buffer.to_numpy().tobytes() == b"12345678"


def test_nothing_is_left_behind(acl_no_leaks, stream):
    for _ in range(50):
        buffer = pyacl.DeviceBuffer(np.arange(100))
        buffer.copy_to_async(pyacl.HostBuffer(800), stream)
    stream.synchronize()
    del buffer
