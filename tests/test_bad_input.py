"""No argument crashes, hangs or leaks: whatever is passed to whatever method, a typed error says so, or it works."""

import gc
import itertools
import sys

import numpy as np
import pytest

import pyacl

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # NumPy's, about arrays taken for numbers

ALLOWED = (TypeError, ValueError, OverflowError, BufferError, OSError, MemoryError, pyacl.AclError, pyacl.ClosedError)


class Liar:
    """Claims to be a number and a tensor, and is neither."""

    def __index__(self):
        raise ZeroDivisionError("index")

    def data_ptr(self):
        return "nowhere"

    @property
    def __array_interface__(self):
        return {"data": None}


def garbage():
    closed = pyacl.Stream()
    closed.close()
    gone = pyacl.DeviceBuffer(8)
    gone.close()
    return [
        None, True, 0, -1, 7, 2**31, 2**32, 2**63, 2**64, -(2**70), 1.5, -0.0, float("nan"), float("inf"),
        "", "text", "\0", "\ud800", b"", b"bytes", bytearray(9), [], [1], (), {}, object(), Ellipsis, int, print, Liar(),
        np.zeros(0), np.zeros((3, 3))[:, 1], np.array([None, 1], object), np.float32(1), np.datetime64("2000-01-01"), closed, gone,
    ]  # fmt: skip


METHODS = {
    "Stream": "wait record activate switch_to get_overflow_status get_resource_limit set_resource_limit launch_host_func "
    "from_handle default",
    "Event": "record reset synchronize elapsed_ms from_handle",
    "DeviceBuffer": "copy_from copy_to copy_from_async copy_to_async fill to_numpy __getitem__ from_numpy",
    "HostBuffer": "numpy",
    "Binary": "kernel from_handle",
    "Kernel": "bind",
    "Context": "from_handle",
}
CONSTRUCTORS = ["Stream", "Event", "DeviceBuffer", "HostBuffer", "Binary", "Context", "Device"]
SETTERS = ["custom_tag", "cache_op_info", "device_priority", "launch_blocking", "overflow_check"]


@pytest.fixture(autouse=True)
def functions_may_fail(monkeypatch):
    """Some of the garbage is callable, and is called with garbage."""
    monkeypatch.setattr(sys, "unraisablehook", lambda report: None)


@pytest.fixture
def subjects(device, stream, acl_kernels):
    return {
        "Stream": stream,
        "Event": pyacl.Event(),
        "DeviceBuffer": pyacl.DeviceBuffer(16),
        "HostBuffer": pyacl.HostBuffer(16),
        "Binary": acl_kernels,
        "Kernel": acl_kernels.kernel("noop"),
        "Context": device,
    }


def attempt(function, *arguments):
    try:
        result = function(*arguments)
    except (*ALLOWED, ZeroDivisionError):
        return
    if isinstance(result, pyacl.Device):
        result.close()


def names():
    return [(cls, method) for cls, methods in METHODS.items() for method in methods.split()]


@pytest.mark.parametrize("cls, method", names())
def test_methods_take_anything(subjects, cls, method, device):
    function = getattr(subjects[cls], method)
    values = garbage()
    attempt(function)
    for value in values:
        attempt(function, value)
    for pair in itertools.product(values[::3], values[::4]):
        attempt(function, *pair)
    if method == "switch_to":
        for rest in itertools.product(values[::6], repeat=3):
            attempt(function, subjects["Stream"], *rest)
    device.make_current()
    subjects["Stream"].synchronize(timeout=60)


@pytest.mark.parametrize("cls", CONSTRUCTORS)
def test_constructors_take_anything(device, cls):
    constructor = getattr(pyacl, cls)
    values = garbage()
    for value in values:
        attempt(constructor, value)
        device.make_current()
    for pair in itertools.product(values[::3], values[::4]):
        attempt(constructor, *pair)
        device.make_current()


@pytest.mark.parametrize("name", SETTERS)
def test_properties_take_anything(stream, name):
    for value in garbage():
        attempt(setattr, stream, name, value)
    stream.launch_blocking = pyacl.LaunchBlockingMode.NON_BLOCKING
    assert stream.synchronize() is pyacl.SyncResult.COMPLETE


@pytest.mark.parametrize("kind", ["p", "u8", "u64", "i32", "bool", "f16", "bf16", "f32", "f64", "bytes[5]"])
def test_plans_take_anything(stream, kernels, kind):
    plan = kernels("noop").bind(f"{kind} {kind}", stream=stream)
    for pair in itertools.product(garbage(), repeat=2):
        attempt(plan, *pair)
    stream.synchronize()


def test_launches_take_anything(stream, kernels):
    launch = kernels("noop").launch
    for value in garbage():
        attempt(launch, stream, 1, value)
        attempt(launch, stream, value)
        attempt(launch, value, 1)
        attempt(launch, stream, 1, "u32", value)
    for timeout in garbage():
        attempt(stream.synchronize, timeout)


def test_garbage_leaves_nothing_behind(acl_no_leaks, device, stream, kernels):
    buffer = pyacl.DeviceBuffer(16)
    for value in garbage():
        for function in (pyacl.DeviceBuffer, pyacl.HostBuffer, buffer.copy_from, buffer.copy_to, kernels("noop").bind):
            attempt(function, value)
        attempt(buffer.copy_from_async, value, stream)
    stream.synchronize()
    gc.collect()


@pytest.mark.parametrize("method", ["synchronize", "query", "abort", "stop"])
def test_a_stale_handle_is_an_error(device, method):
    stream = pyacl.Stream()
    borrowed = pyacl.Stream.from_handle(stream.handle)
    stream.close()
    with pytest.raises(pyacl.AclError) as caught:
        getattr(borrowed, method)()
    assert caught.value.code == 107017


@pytest.mark.parametrize("index", [-1, 2, 99, 2**31 - 1])
def test_a_device_that_does_not_exist_is_an_error(index):
    with pytest.raises(pyacl.InvalidParamError) as caught:
        pyacl.Device(index)
    assert caught.value.code == 107001


@pytest.mark.parametrize("index", [None, 1.5, "0", 2**31])
def test_a_device_is_a_number(index):
    with pytest.raises((TypeError, OverflowError)):
        pyacl.Device(index)
