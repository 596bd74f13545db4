"""Models that are built: streams bound, tasks recorded, executed as one, and everything given back."""

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pyacl
from pyacl import Condition, StreamFlag, SyncResult


@pytest.fixture
def bound(device):
    """A PERSISTENT stream, which can be bound."""
    with pyacl.Stream(StreamFlag.PERSISTENT) as stream:
        yield stream


def counter():
    return pyacl.DeviceBuffer(np.zeros(1, np.uint64))


def value_of(buffer):
    return int(buffer.to_numpy(np.uint64)[0])


def test_what_is_submitted_in_the_block_runs_when_the_model_is_executed(bound, kernels, acl_no_leaks):
    count = counter()
    add_one = kernels("add_one").bind("p", stream=bound)
    with pyacl.Model.build(bound) as model:
        for _ in range(10):
            add_one(count)
    assert value_of(count) == 0
    for _ in range(3):
        assert model.execute(timeout=20) is SyncResult.COMPLETE
    assert value_of(count) == 30
    model.close()


def test_a_replay_takes_its_place_in_a_stream(bound, stream, kernels, gate):
    log = pyacl.DeviceBuffer(np.zeros(10, np.uint64))
    append = kernels("append")
    with pyacl.Model.build(bound) as model:
        append.launch(bound, 1, log, 2)
    with model:
        gate.close(stream)
        append.launch(stream, 1, log, 1)
        model.replay(stream)
        append.launch(stream, 1, log, 3)
        assert value_of(log) == 0
        gate.open()
        stream.synchronize(timeout=20)
        assert log.to_numpy(np.uint64)[:4].tolist() == [3, 1, 2, 3]


def test_another_stream_runs_when_it_is_activated(bound, kernels):
    count = counter()
    with pyacl.Stream(StreamFlag.PERSISTENT) as second:
        with pyacl.Model.build(bound, second) as model:
            second.activate(on=bound)
            kernels("add_one").launch(second, 1, count)
        model.execute(timeout=20)
        assert value_of(count) == 1
        model.close()


def test_a_loop_goes_on_as_often_as_the_device_says(bound, kernels):
    """The stream switches to itself by way of another until a counter on the device has come to its end."""
    rounds = 1000
    count, end = counter(), pyacl.DeviceBuffer(np.array([rounds], np.int64))
    with pyacl.Stream(StreamFlag.PERSISTENT) as body:
        with pyacl.Model.build(bound, body) as model:
            body.activate(on=bound)
            kernels("add_one").launch(body, 1, count)
            body.switch_to(body, count, Condition.LESS, end, pyacl.CompareDataType.INT64)
        model.execute(timeout=60)
        assert value_of(count) == rounds
        model.close()


def test_names_and_numbers(device):
    with pyacl.Model() as first, pyacl.Model() as second:
        assert first.id != second.id
        assert first.name == ""
        first.name = "größer"
        assert first.name == "größer"
        assert second.name == ""


def test_a_block_that_fails_leaves_nothing_behind(bound, kernels, acl_no_leaks):
    with pytest.raises(KeyError), pyacl.Model.build(bound):
        kernels("noop").launch(bound, 1)
        raise KeyError
    with pyacl.Model.build(bound) as model:  # the stream can be bound again
        pass
    model.execute(timeout=20)
    model.close()


def test_streams_that_cannot_be_bound(device, stream):
    with pyacl.Model() as model:
        with pytest.raises(pyacl.InvalidParamError) as caught:
            model.bind(stream)
        assert caught.value.code == 107000
        with pyacl.Stream(StreamFlag.PERSISTENT | StreamFlag.FAST_LAUNCH) as fast, pytest.raises(pyacl.NotSupportedError):
            model.bind(fast)
        with pyacl.Stream(StreamFlag.PERSISTENT) as persistent:
            model.bind(persistent)
            with pytest.raises(pyacl.RuntimeFailure) as caught:
                model.bind(persistent)
            assert caught.value.code == 107005
            with pytest.raises(pyacl.RuntimeFailure) as caught:
                persistent.close()
            assert caught.value.code == 107005
            model.unbind(persistent)
            with pytest.raises(pyacl.RuntimeFailure) as caught:
                model.unbind(persistent)
            assert caught.value.code == 107005


def test_a_model_without_an_end_is_not_executed(bound):
    with pyacl.Model() as model:
        model.bind(bound)
        with pytest.raises(pyacl.DeviceFaultError) as caught:
            model.execute(timeout=20)
        assert caught.value.code == 507011


def test_a_failing_task_fails_the_execution(bound, kernels):
    with pyacl.Model.build(bound) as model:
        kernels("fail").launch(bound, 1, "i32", 507015)
    with pytest.raises(pyacl.DeviceFaultError):
        model.execute(timeout=20)
    model.close()


def test_an_execution_that_takes_too_long_is_aborted(bound, kernels):
    flag = pyacl.DeviceBuffer(np.zeros(1, np.uint32))
    with pyacl.Model.build(bound) as model:
        kernels("wait_flag").launch(bound, 1, flag)
    with pytest.raises(pyacl.AclError):
        model.execute(timeout=0.1)
    flag.fill(1)
    assert model.execute(timeout=20) is SyncResult.COMPLETE
    model.close()


def test_an_aborted_model_says_so_and_can_be_executed_again(bound, stream, kernels):
    flag = pyacl.DeviceBuffer(np.zeros(1, np.uint32))
    with pyacl.Model.build(bound) as model:
        kernels("wait_flag").launch(bound, 1, flag)
    model.replay(stream)
    time.sleep(0.05)
    model.abort()
    assert stream.synchronize(timeout=20) is SyncResult.MODEL_ABORTED
    flag.fill(1)
    assert model.execute(timeout=20) is SyncResult.COMPLETE
    model.close()


def test_the_gil_is_free_while_a_model_runs(bound, kernels, gate):
    with pyacl.Model.build(bound) as model:
        gate.close(bound)
    opener = gate.open_later(0.1)
    ticks = []

    def tick():
        while opener.is_alive():
            ticks.append(1)
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    model.execute(timeout=20)
    ticker.join()
    assert len(ticks) > 10
    model.close()


def test_what_the_tasks_use_lives_as_long_as_the_model(bound, kernels):
    class Function:
        calls = 0

        def __call__(self):
            Function.calls += 1

    count, function = counter(), Function()
    with pyacl.Model.build(bound) as model:
        kernels("add_one").bind("p", stream=bound)(count)
        bound.launch_host_func(function)
    alive = weakref.ref(count), weakref.ref(function)
    del count, function
    bound.synchronize()  # says that all is done, and means nothing
    gc.collect()
    model.execute(timeout=20)
    model.execute(timeout=20)
    assert Function.calls == 2
    assert all(reference() is not None for reference in alive)
    model.close()
    gc.collect()
    assert all(reference() is None for reference in alive)


def test_a_model_lives_until_its_replays_are_over(bound, stream, kernels, gate):
    count = counter()
    with pyacl.Model.build(bound) as model:
        kernels("add_one").launch(bound, 1, count)
    gate.close(stream)
    model.replay(stream)
    del model
    gc.collect()
    gate.open()
    stream.synchronize(timeout=20)
    assert value_of(count) == 1


def test_functions_are_called_when_a_model_is_destroyed(device, monkeypatch):
    reports, calls = [], []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)

    def fail():
        raise KeyError

    model = pyacl.Model()
    model.on_destroy(calls.append, 1)
    model.on_destroy(fail)
    model.on_destroy(calls.append, 2)
    assert calls == []
    model.close()
    assert calls == [1, 2]
    assert [report.exc_type for report in reports] == [KeyError]
    forgetful = pyacl.Model()
    forgetful.on_destroy(calls.append, 3)
    forgetful.forget_on_destroy()
    forgetful.close()
    assert calls == [1, 2]


def test_functions_are_called_on_the_last_reference_and_from_a_callback_too(stream):
    calls = []
    model = pyacl.Model()
    model.on_destroy(calls.append, 1)
    del model
    assert calls == [1]
    models = [pyacl.Model()]
    models[0].on_destroy(calls.append, 2)
    stream.launch_host_func(lambda: models.pop().close())  # on the drain thread itself
    stream.synchronize(timeout=20)
    assert calls == [1, 2]


def test_a_full_stream_says_so(bound, kernels):
    noop = kernels("noop").bind("", stream=bound)
    with pyacl.Model() as model:
        model.bind(bound)
        with pytest.raises(pyacl.ResourceExhaustedError) as caught:
            for _ in range(100_000):
                noop()
        assert caught.value.code == 507002


def test_closing_twice_is_nothing_and_use_after_it_raises(stream):
    model = pyacl.Model()
    model.close()
    model.close()
    for use in (model.execute, lambda: model.replay(stream), model.abort, lambda: model.id, lambda: model.name, model.update):
        with pytest.raises(pyacl.ClosedError):
            use()


def test_a_bound_stream_is_an_ordinary_one_again_after_the_model(bound, kernels, acl_no_leaks):
    """Its tasks are kept by nobody any more, and run."""
    count = counter()
    with pyacl.Model.build(bound) as model:
        kernels("noop").launch(bound, 1)
    model.close()
    model = pyacl.Model()
    model.bind(bound)
    del model
    gc.collect()
    with pyacl.Model.build(bound) as model:
        kernels("add_one").launch(bound, 1, count)
    model.execute(timeout=20)
    model.close()
    assert value_of(count) == 1
