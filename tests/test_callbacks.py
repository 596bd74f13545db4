"""Python functions that the runtime calls: in stream order, off foreign threads, and no exception lost."""

import gc
import sys
import threading
import time

import pytest

import pyacl
from pyacl import raw


@pytest.fixture
def unraisable(monkeypatch):
    caught = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)
    return caught


def test_a_function_runs_in_stream_order(stream, kernels):
    counter = pyacl.DeviceBuffer(8)
    counter.fill(0)
    seen = []
    add_one = kernels("add_one").bind("p", stream=stream)
    for _ in range(50):
        add_one(counter)
        stream.launch_host_func(lambda: seen.append(int.from_bytes(counter.to_numpy().tobytes(), "little")))
    stream.synchronize()
    assert seen == list(range(1, 51))


def test_what_follows_waits_until_the_function_has_returned(stream, kernels):
    order = []

    def slow():
        time.sleep(0.05)
        order.append("returned")

    stream.launch_host_func(slow)
    stream.launch_host_func(order.append, "next")
    stream.synchronize()
    assert order == ["returned", "next"]


def test_functions_run_on_one_thread_that_is_not_this_one(stream):
    threads = set()
    for _ in range(10):
        stream.launch_host_func(lambda: threads.add(threading.current_thread()))
    stream.synchronize()
    assert len(threads) == 1 and threading.current_thread() not in threads
    assert threads.pop().name == "pyacl-callbacks"


def test_an_exception_is_reported_and_the_stream_goes_on(stream, unraisable):
    def fail():
        raise KeyError("lost?")

    seen = []
    stream.launch_host_func(fail)
    stream.launch_host_func(seen.append, 1)
    stream.synchronize()
    assert seen == [1]
    assert [report.exc_type for report in unraisable] == [KeyError]
    assert unraisable[0].object is fail


def test_a_function_may_use_another_stream(device, kernels):
    results = []
    with pyacl.Stream() as first, pyacl.Stream() as second:
        counter = pyacl.DeviceBuffer(8)
        counter.fill(0)

        def work():
            kernels("add_one").launch(second, 1, counter)
            second.synchronize()
            results.append(int(counter.to_numpy()[0]))

        first.launch_host_func(work)
        first.synchronize()
    assert results == [1]


def test_a_function_lives_until_it_has_run(stream, gate):
    class Owner:
        def __init__(self):
            self.ran = ran

        def run(self):
            self.ran.append(1)

    ran = []
    gate.close(stream)
    stream.launch_host_func(Owner().run)
    gate.open()
    stream.synchronize()
    assert ran == [1]


def test_a_function_in_a_cycle_with_its_stream_survives_the_collector(device, gate):
    class Owner:
        def __init__(self):
            self.stream = pyacl.Stream()
            self.stream.launch_host_func(self.run)

        def run(self):
            ran.append(self.stream.closed)

    ran = []
    pyacl.emulator.hold_stream()
    Owner()
    gc.collect()
    pyacl.emulator.release_stream()
    deadline = time.monotonic() + 20
    while not ran and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ran == [False]


def test_a_busy_thread_does_not_keep_functions_from_running(stream):
    stop = threading.Event()

    def burn():
        while not stop.is_set():
            sum(range(1000))

    burner = threading.Thread(target=burn)
    burner.start()
    seen = []
    for value in range(20):
        stream.launch_host_func(seen.append, value)
    stream.synchronize(timeout=60)
    stop.set()
    burner.join()
    assert seen == list(range(20))


def test_a_queue_full_of_functions_drains(stream, gate):
    """Launching blocks on the full queue without the GIL, or the functions could never run."""
    seen = []
    for value in range(3000):
        stream.launch_host_func(seen.append, value)
    stream.synchronize()
    assert seen == list(range(3000))


@pytest.mark.parametrize("function", [None, 5, "print"])
def test_only_callables_are_launched(stream, function):
    with pytest.raises(TypeError):
        stream.launch_host_func(function)


def test_functions_of_an_aborted_stream_do_not_run_and_nothing_hangs(stream, gate):
    seen = []
    gate.close(stream)
    stream.launch_host_func(seen.append, 1)
    stream.abort()
    assert stream.synchronize() is pyacl.SyncResult.COMPLETE
    stream.launch_host_func(seen.append, 2)
    stream.synchronize()
    assert seen == [2]


# ---- stream state callbacks ----


@pytest.fixture
def states():
    seen = []

    def note(stream, state):
        seen.append((stream.id, state))

    pyacl.register_stream_callback("test", note)
    yield seen
    pyacl.register_stream_callback("test", None)


def test_creation_and_destruction_are_reported_before_the_calls_return(device, states):
    stream = pyacl.Stream()
    number = stream.id
    assert states == [(number, pyacl.StreamState.CREATE_POST)]
    stream.close()
    assert states[1:] == [(number, pyacl.StreamState.DESTROY_PRE)]


def test_default_streams_are_reported_too(device, states):
    with pyacl.Context(0):
        assert [state for _, state in states] == [pyacl.StreamState.CREATE_POST]
    assert [state for _, state in states] == [pyacl.StreamState.CREATE_POST, pyacl.StreamState.DESTROY_PRE]


def test_callbacks_go_by_their_names(device):
    order = []
    for name in ("b", "a", "c"):
        pyacl.register_stream_callback(name, lambda stream, state, name=name: order.append(name))
    try:
        pyacl.Stream().close()
        assert order == ["a", "b", "c", "a", "b", "c"]
        with pytest.raises(pyacl.InvalidParamError):
            pyacl.register_stream_callback("a", print)
    finally:
        for name in ("b", "a", "c"):
            pyacl.register_stream_callback(name, None)
    order.clear()
    pyacl.Stream().close()
    assert order == []


def test_unregistering_an_unknown_name_is_no_error(device):
    pyacl.register_stream_callback("nobody", None)


def test_a_callback_may_make_streams_itself(device):
    made, wanted = [], [True]

    def make_another(stream, state):
        if wanted:
            wanted.clear()  # making it calls this function again
            made.append(pyacl.Stream())

    pyacl.register_stream_callback("maker", make_another)
    try:
        pyacl.Stream().close()
        assert len(made) == 1
        made.pop().close()
    finally:
        pyacl.register_stream_callback("maker", None)


def test_an_exception_of_a_callback_is_reported(device, unraisable):
    def fail(stream, state):
        raise ValueError("no")

    pyacl.register_stream_callback("fails", fail)
    try:
        pyacl.Stream().close()
    finally:
        pyacl.register_stream_callback("fails", None)
    assert [report.exc_type for report in unraisable] == [ValueError, ValueError]


# ---- devices and aborts ----


def test_setting_and_resetting_a_device_is_told(device):
    seen = []
    pyacl.register_device_callback("test", lambda index, state: seen.append((index, state)))
    try:
        with pyacl.Device(1):
            pass
    finally:
        pyacl.register_device_callback("test", None)
    states = [state for index, state in seen if index == 1]
    assert states == [
        pyacl.DeviceState.SET_PRE, pyacl.DeviceState.SET_POST, pyacl.DeviceState.RESET_PRE, pyacl.DeviceState.RESET_POST,
    ]  # fmt: skip
    device.make_current()
    with pyacl.Device(1):
        assert len(states) == 4  # nobody listens any more
    device.make_current()


def test_an_abort_is_told_before_and_after(device):
    seen = []
    pyacl.register_task_abort_callback("test", lambda *what: seen.append(what))
    try:
        assert raw.aclrtDeviceTaskAbort(0, 5000) == 0
    finally:
        pyacl.register_task_abort_callback("test", None)
    assert seen == [(0, pyacl.DeviceTaskAbortStage.PRE, 5.0), (0, pyacl.DeviceTaskAbortStage.POST, 5.0)]


def test_a_function_can_make_an_abort_fail(device):
    pyacl.register_task_abort_callback("test", lambda index, stage, timeout: False)
    try:
        assert raw.aclrtDeviceTaskAbort(0, 5000) == 107035
    finally:
        pyacl.register_task_abort_callback("test", None)
    assert raw.aclrtDeviceTaskAbort(0, 5000) == 0


# ---- failures ----


@pytest.fixture
def failures():
    seen = []
    pyacl.register_exception_callback(seen.append)
    yield seen
    pyacl.unregister_exception_callback(seen.append)


def test_a_failed_task_is_told_before_synchronize_raises(stream, kernels, failures):
    kernels("fail").launch(stream, 1, "i32", 507015)
    with pytest.raises(pyacl.DeviceFaultError):
        stream.synchronize(timeout=20)
    (failure,) = failures
    assert (failure.device_index, failure.stream_id) == (0, stream.id)
    assert failure.thread_id == threading.get_native_id()
    assert failure.function == kernels("fail").handle
    assert failure.error_code not in (0, 507015)  # the device has codes of its own
    address, nbytes = failure.arguments
    assert address != 0 and nbytes == 8


def test_a_failure_is_told_while_the_main_thread_asks_all_the_time(stream, kernels, failures):
    """Whoever waits for the failure must not hold what its listener needs."""
    started = time.monotonic()
    for _ in range(20):
        kernels("fail").launch(stream, 1, "i32", 507015)
        time.sleep(0.002)  # most often the stream is done when it is asked
        with pytest.raises(pyacl.DeviceFaultError):
            stream.synchronize()
    assert len(failures) == 20
    assert time.monotonic() - started < 15


def test_the_same_function_counts_once_and_can_go(stream, kernels, unraisable):
    calls = []

    def fail(failure):
        calls.append(failure)
        raise KeyError

    pyacl.register_exception_callback(fail)
    pyacl.register_exception_callback(fail)
    try:
        kernels("fail").launch(stream, 1, "i32", 507015)
        with pytest.raises(pyacl.DeviceFaultError):
            stream.synchronize(timeout=20)
    finally:
        pyacl.unregister_exception_callback(fail)
    assert len(calls) == 1
    assert [report.exc_type for report in unraisable] == [KeyError]
    pyacl.unregister_exception_callback(fail)  # unknown: no error
    kernels("fail").launch(stream, 1, "i32", 507015)
    with pytest.raises(pyacl.DeviceFaultError):
        stream.synchronize(timeout=20)
    assert len(calls) == 1


def test_a_binary_tells_of_its_own_kernels_only(stream):
    seen = []
    with pyacl.Binary(pyacl.emulator.sample_kernels()) as mine, pyacl.Binary(pyacl.emulator.sample_kernels()) as other:
        mine.on_exception(seen.append)
        for binary in (mine, other):
            binary.kernel("fail").launch(stream, 1, "i32", 507015)
            with pytest.raises(pyacl.DeviceFaultError):
                stream.synchronize(timeout=20)
        assert len(seen) == 1


# ---- report threads ----


def test_a_report_thread_runs_callbacks_in_order(device, kernels):
    order = []
    with pyacl.Stream() as stream, pyacl.ReportThread() as reports:
        reports.subscribe(stream)
        for i in range(20):
            stream.launch_callback(order.append, i)
        stream.launch_callback(lambda: order.append(threading.get_ident()))
        stream.synchronize(timeout=20)
        assert order == [*range(20), reports.ident]


def test_a_callback_need_not_hold_the_stream_up(device):
    go, ran = threading.Event(), threading.Event()

    def wait():
        go.wait(20)
        ran.set()

    with pyacl.Stream() as stream, pyacl.ReportThread() as reports:
        reports.subscribe(stream)
        stream.launch_callback(wait, blocking=False)
        stream.synchronize(timeout=20)
        assert not ran.is_set()
        go.set()
        assert ran.wait(20)


def test_callbacks_that_do_not_block_are_kept_until_they_ran(device):
    class Function:
        def __call__(self):
            ran.set()

    ran = threading.Event()
    with pyacl.Stream() as stream:
        pyacl.subscribe_report(stream)
        stream.launch_callback(Function(), blocking=False)
        stream.synchronize(timeout=20)
        gc.collect()
        assert not ran.is_set()
        assert pyacl.process_report(timeout=20) is True
        assert ran.is_set()
        assert pyacl.process_report(timeout=0.01) is False
        pyacl.unsubscribe_report(stream)


def test_an_exception_of_a_callback_is_reported(device, unraisable):
    def fail():
        raise KeyError

    with pyacl.Stream() as stream, pyacl.ReportThread() as reports:
        reports.subscribe(stream)
        stream.launch_callback(fail)
        stream.synchronize(timeout=20)
    assert [report.exc_type for report in unraisable] == [KeyError]


def test_who_serves_whom_is_checked(device):
    with pyacl.Stream() as stream, pyacl.ReportThread() as reports:
        with pytest.raises(pyacl.AclError) as caught:
            stream.launch_callback(print)
        assert caught.value.code == 107015
        with pytest.raises(pyacl.AclError) as caught:
            pyacl.process_report(timeout=0.01)
        assert caught.value.code == 107012
        reports.subscribe(stream)
        with pytest.raises(pyacl.AclError) as caught:
            pyacl.subscribe_report(stream)
        assert caught.value.code == 107011
        with pytest.raises(pyacl.AclError) as caught:
            pyacl.unsubscribe_report(stream)
        assert caught.value.code == 107012
        with pytest.raises(pyacl.AclError) as caught:
            stream.launch_host_func(print)
        assert caught.value.code == 107011
        reports.unsubscribe(stream)
        stream.launch_host_func(lambda: None)
        stream.synchronize(timeout=20)
        with pytest.raises(pyacl.AclError) as caught:
            reports.subscribe(stream)
        assert caught.value.code == 107011


def test_a_closed_report_thread_serves_nobody(device):
    with pyacl.Stream() as stream:
        reports = pyacl.ReportThread()
        reports.subscribe(stream)
        reports.close()
        reports.close()
        with pytest.raises(pyacl.ClosedError):
            reports.subscribe(stream)
        with pyacl.ReportThread() as another:  # the stream is free
            another.subscribe(stream)
