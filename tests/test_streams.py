"""Streams: they run in order, side by side, and say truly whether they are done."""

import threading
import time

import numpy as np
import pytest

import pyacl
from pyacl import SyncResult


def make_log(entries=5000):
    log = pyacl.DeviceBuffer(8 * (entries + 1))
    log.fill(0)
    return log


def read_log(log):
    entries = log.to_numpy(np.uint64)
    return entries[1 : 1 + int(entries[0])].tolist()


# ---- life ----


def test_a_stream_has_the_flags_and_priority_it_was_made_with(device):
    with pyacl.Stream(pyacl.StreamFlag.FAST_LAUNCH | pyacl.StreamFlag.FAST_SYNC, priority=3) as stream:
        assert stream.flags == pyacl.StreamFlag.FAST_LAUNCH | pyacl.StreamFlag.FAST_SYNC
        assert stream.priority == 3
        assert stream.id >= 0


@pytest.mark.parametrize("given, kept", [(-1, 0), (0, 0), (7, 7), (8, 7), (9999, 7)])
def test_priority_is_clamped(device, given, kept):
    with pyacl.Stream(priority=given) as stream:
        assert stream.priority == kept


def test_the_device_goes_by_a_priority_of_its_own(stream):
    stream.device_priority = 4
    assert (stream.device_priority, stream.priority) == (4, 0)


def test_unknown_flags_are_ignored(device):
    with pyacl.Stream(0x100) as stream:
        assert stream.flags == 0


def test_device_use_only_goes_with_no_other_flag(device):
    with pytest.raises(pyacl.InvalidParamError) as caught:
        pyacl.Stream(0x21)
    assert caught.value.code == 107000


@pytest.mark.parametrize("arguments", [("fast",), (1.5,), (0, "first"), (-1,), (1 << 33,), (0, 1 << 40)])
def test_flags_and_priority_have_to_be_numbers_that_fit(device, arguments):
    with pytest.raises((TypeError, OverflowError)):
        pyacl.Stream(*arguments)


def test_closing_twice_is_nothing_and_use_after_it_raises_before_any_call(device):
    stream = pyacl.Stream()
    stream.close()
    stream.close()
    assert stream.closed
    for use in (stream.synchronize, stream.query, stream.abort, lambda: stream.handle, lambda: stream.id):
        with pytest.raises(pyacl.ClosedError):
            use()


def test_the_default_stream_is_one_object_and_cannot_be_closed(device):
    stream = pyacl.Stream.default()
    assert stream is device.default_stream is pyacl.Stream.default(device)
    assert stream.is_default
    with pytest.raises(ValueError):
        stream.close()
    assert stream.synchronize() is SyncResult.COMPLETE


def test_a_borrowed_stream_is_never_destroyed(stream):
    borrowed = pyacl.Stream.from_handle(stream.handle)
    assert borrowed == stream and not borrowed.owned
    borrowed.close()
    del borrowed
    assert stream.query()


def test_streams_of_a_dropped_reference_are_destroyed(device, acl_emulator):
    before = acl_emulator.counters().streams
    streams = [pyacl.Stream() for _ in range(10)]
    assert acl_emulator.counters().streams == before + 10
    del streams
    assert acl_emulator.counters().streams == before


def test_streams_run_out_at_the_documented_number_and_come_back(device):
    free = device.available_streams
    streams = [pyacl.Stream() for _ in range(free)]
    with pytest.raises(pyacl.StreamExhaustedError) as caught:
        pyacl.Stream()
    assert caught.value.code == 207008
    streams.pop().close()
    pyacl.Stream().close()
    for stream in streams:
        stream.close()
    assert device.available_streams == free


def test_every_stream_of_the_device_can_have_work(device, kernels):
    counter = pyacl.DeviceBuffer(8)
    counter.fill(0)
    streams = [pyacl.Stream() for _ in range(device.available_streams)]
    for stream in streams:
        kernels("add_one").launch(stream, 1, counter)
    for stream in streams:
        stream.synchronize()
    assert counter.to_numpy(np.uint64)[0] == len(streams)
    for stream in streams:
        stream.close()


# ---- order ----


def test_tasks_of_a_stream_run_in_order(stream, kernels):
    log = make_log()
    append = kernels("append").bind("p u64", stream=stream)
    for value in range(5000):
        append(log, value)
    stream.synchronize()
    assert read_log(log) == list(range(5000))


def test_two_streams_overlap(device, kernels, gate):
    with pyacl.Stream() as first, pyacl.Stream() as second:
        gate.close(first)  # goes on only when the other stream has run
        kernels("set_flag").launch(second, 1, gate.flag)
        first.synchronize(timeout=20)


def test_query_is_false_while_the_last_task_runs(stream, gate):
    gate.close(stream)
    for _ in range(20):
        assert stream.query() is False
        time.sleep(0.001)
    gate.open()
    stream.synchronize()
    assert stream.query() is True


def test_synchronize_waits_for_the_last_task(stream, kernels):
    spin = kernels("spin")
    for _ in range(5):
        start = time.perf_counter()
        spin.launch(stream, 1, 20_000_000)
        stream.synchronize()
        assert time.perf_counter() - start >= 0.020


def test_an_event_orders_two_streams(device, kernels, gate):
    log = make_log()
    append = kernels("append")
    with pyacl.Stream() as first, pyacl.Stream() as second:
        gate.close(first)
        append.launch(first, 1, log, 1)
        second.wait(first.record())
        append.launch(second, 1, log, 2)
        time.sleep(0.02)
        assert read_log(log) == []
        gate.open()
        second.synchronize()
        assert read_log(log) == [1, 2]


def test_recording_again_does_not_move_an_earlier_wait(device, kernels, gate):
    log = make_log()
    with pyacl.Stream() as first, pyacl.Stream() as second, pyacl.Event() as event:
        event.record(first)
        second.wait(event)
        kernels("append").launch(second, 1, log, 1)
        gate.close(first)
        event.record(first)  # this one is not reached before the gate opens
        second.synchronize(timeout=20)
        assert read_log(log) == [1]
        gate.open()


def test_a_full_queue_blocks_the_launcher_and_loses_nothing(stream, kernels, gate):
    log = make_log()
    append = kernels("append").bind("p u64", stream=stream)
    gate.close(stream)
    launched = []

    def launch():
        pyacl.Device(0)
        for value in range(3000):
            append(log, value)
            launched.append(value)

    thread = threading.Thread(target=launch)
    thread.start()
    time.sleep(0.2)
    stuck_at = len(launched)
    assert 1000 < stuck_at < 3000 and thread.is_alive()  # and this thread ran meanwhile: the GIL was free
    gate.open()
    thread.join(timeout=30)
    stream.synchronize()
    assert read_log(log) == list(range(3000))


# ---- waiting ----


def test_a_timeout_raises_and_leaves_the_stream_usable(stream, gate):
    gate.close(stream)
    start = time.perf_counter()
    with pytest.raises(pyacl.StreamTimeoutError) as caught:
        stream.synchronize(timeout=0.05)
    assert 0.04 < time.perf_counter() - start < 5
    assert caught.value.code == 507046 and isinstance(caught.value, TimeoutError)
    gate.open()
    assert stream.synchronize(timeout=20) is SyncResult.COMPLETE


@pytest.mark.parametrize("timeout", [-2, -0.001, float("nan"), "1", float("inf"), 1e10])
def test_a_timeout_has_to_be_a_number_of_seconds(stream, timeout):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        stream.synchronize(timeout=timeout)


@pytest.mark.parametrize("flags", [0, 1, 2, 3])
def test_another_thread_runs_while_one_waits(device, kernels, gate, flags):
    with pyacl.Stream(flags) as stream:
        gate.close(stream)
        opener = gate.open_later(0.1)
        ticks = []

        def tick():
            while opener.is_alive():
                ticks.append(1)
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        stream.synchronize()
        ticker.join()
        assert len(ticks) > 10


def test_a_thread_that_is_not_the_main_one_waits_too(stream, gate):
    results = []

    def wait():
        pyacl.Device(0)
        results.append(stream.synchronize())

    gate.close(stream)
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    assert results == []
    gate.open()
    thread.join(timeout=20)
    assert results == [SyncResult.COMPLETE]


# ---- failure ----


def test_overflow_is_a_result_and_no_failure(stream, kernels):
    kernels("overflow").launch(stream, 1)
    assert stream.synchronize() is SyncResult.OVERFLOW
    assert stream.synchronize() is SyncResult.COMPLETE


@pytest.mark.parametrize(
    "code, result",
    [
        (507005, SyncResult.END_OF_SEQUENCE),
        (507023, SyncResult.MODEL_ABORTED),
        (507901, SyncResult.SOCKET_CLOSED),
        (207016, SyncResult.OVERFLOW),
    ],
)
def test_business_codes_are_results(stream, kernels, acl_emulator, code, result):
    acl_emulator.fail_next(stream, code)
    kernels("noop").launch(stream, 1)
    assert stream.synchronize() is result


def test_in_continue_mode_the_next_task_runs_and_the_error_is_said_once(stream, kernels):
    log = make_log()
    kernels("fail").launch(stream, 1, 507015)
    kernels("append").launch(stream, 1, log, 1)
    with pytest.raises(pyacl.DeviceFaultError) as caught:
        stream.synchronize()
    assert caught.value.code == 507015
    assert caught.value.call == "aclrtSynchronizeStream"
    assert read_log(log) == [1]
    assert stream.synchronize() is SyncResult.COMPLETE


def test_in_stop_mode_the_whole_context_fails_and_stays_so(device, acl_kernels):
    with pyacl.Context(0), pyacl.Binary(pyacl.emulator.sample_kernels()) as binary:
        first, second = pyacl.Stream(), pyacl.Stream()
        first.failure_mode = pyacl.FailureMode.STOP
        assert first.failure_mode is pyacl.FailureMode.STOP
        binary.kernel("fail").launch(second, 1, 507015)
        for stream in (second, first, second):
            with pytest.raises(pyacl.DeviceFaultError) as caught:
                stream.synchronize()
            assert caught.value.code == 507015
        with pytest.raises(pyacl.DeviceFaultError):
            binary.kernel("noop").launch(first, 1)
        with pytest.raises(pyacl.NotSupportedError):
            first.failure_mode = pyacl.FailureMode.CONTINUE
        first.close(force=True)
        second.close(force=True)
    device.make_current()
    with pyacl.Stream() as after:
        assert after.synchronize() is SyncResult.COMPLETE


def test_abort_ends_a_wait_in_another_thread_and_the_stream_works_again(stream, kernels, gate):
    caught = []

    def wait():
        pyacl.Device(0)
        try:
            stream.synchronize()
        except pyacl.AclError as error:
            caught.append(error)

    gate.close(stream)
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    stream.abort()
    thread.join(timeout=20)
    assert [error.code for error in caught] == [107023]
    assert isinstance(caught[0], pyacl.StreamAbortedError)
    log = make_log()
    kernels("append").launch(stream, 1, log, 7)
    assert stream.synchronize() is SyncResult.COMPLETE
    assert read_log(log) == [7]


def test_forced_closing_drops_what_is_queued(device, kernels, gate):
    log = make_log()
    stream = pyacl.Stream()
    gate.close(stream)
    kernels("append").launch(stream, 1, log, 1)
    start = time.perf_counter()
    stream.close(force=True)
    assert time.perf_counter() - start < 10
    assert read_log(log) == []


def test_devices_inside_each_other_end_in_any_order():
    outer = pyacl.Device(0)
    with pyacl.Device(0):
        outer.close()
    with pytest.raises(pyacl.NoContextError):
        pyacl.Stream()


def test_a_stream_of_another_context_is_refused_naming_both(device, kernels):
    with pyacl.Stream() as stream:
        noop = kernels("noop").bind(stream=stream)
        with pyacl.Device(1):
            with pytest.raises(pyacl.DeviceMismatchError) as caught:
                noop()
            assert caught.value.code == 107003
            assert "of device 0" in caught.value.message and "of device 1" in caught.value.message
            with pytest.raises(pyacl.DeviceMismatchError):
                stream.abort()
        device.make_current()
        noop()
        stream.synchronize()


def test_a_thread_without_a_device_is_told_what_to_do(device):
    caught = []

    def make():
        try:
            pyacl.Stream()
        except pyacl.AclError as error:
            caught.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert isinstance(caught[0], pyacl.NoContextError) and caught[0].code == 107002
    assert "pyacl.Device" in caught[0].hint and "pyacl.Device" in str(caught[0])


# ---- attributes and control ----


def test_attributes_read_back(stream):
    assert stream.custom_tag == 0xFFFFFFFF
    stream.custom_tag = 42
    assert stream.custom_tag == 42
    assert stream.overflow_check is False
    stream.overflow_check = True
    assert stream.overflow_check is True
    assert stream.launch_blocking is pyacl.LaunchBlockingMode.CTRL_BY_ENV
    assert stream.failure_mode is pyacl.FailureMode.CONTINUE


def test_a_blocking_stream_launches_in_step_unless_told_not_to(stream, kernels):
    spin = kernels("spin").bind("u64", stream=stream)
    stream.launch_blocking = pyacl.LaunchBlockingMode.BLOCKING
    spin(10_000_000)
    assert stream.query()
    with stream.nonblocking_launch(), stream.nonblocking_launch():
        start = time.perf_counter()
        spin(50_000_000)
        assert time.perf_counter() - start < 0.045
    assert stream.query()  # the end of the outermost block waited


def test_the_end_of_a_section_without_a_beginning_is_refused(stream):
    section = stream.nonblocking_launch()
    with pytest.raises(pyacl.InvalidParamError):
        section.__exit__(None, None, None)


def test_streams_outside_models_cannot_be_switched(device):
    with pyacl.Stream() as first, pyacl.Stream() as second:
        numbers = pyacl.DeviceBuffer(16)
        with pytest.raises(pyacl.AclError) as caught:
            first.activate(on=second)
        assert caught.value.code in (107005, 207000)
        with pytest.raises(pyacl.AclError) as caught:
            first.switch_to(second, numbers, pyacl.Condition.EQUAL, numbers[8:16])
        assert caught.value.code in (107005, 207000)


def test_nothing_is_left_behind(acl_no_leaks, kernels):
    for flags in range(4):
        with pyacl.Stream(flags) as stream:
            kernels("noop").launch(stream, 1)
            stream.record().synchronize()
