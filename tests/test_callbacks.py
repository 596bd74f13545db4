"""Python functions that the runtime calls: in stream order, off foreign threads, and no exception lost."""

import gc
import sys
import threading
import time

import pytest

import pyacl


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
