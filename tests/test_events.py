"""Events: what they order, what they tell, and what is refused."""

import os
import subprocess
import sys
import threading
import time

import pytest

import pyacl
from pyacl import EventFlag


@pytest.mark.parametrize("make", [pyacl.Event, lambda: pyacl.Event(EventFlag.SYNC), lambda: pyacl.Event(ex=True)])
def test_a_record_is_reached_when_the_stream_has_passed_it(stream, gate, make):
    with make() as event:
        gate.close(stream)
        event.record(stream)
        assert event.query() is False
        gate.open()
        event.synchronize()
        assert event.query() is True


@pytest.mark.parametrize(
    "make, reached",
    [(pyacl.Event, False), (lambda: pyacl.Event(EventFlag.SYNC), False), (lambda: pyacl.Event(ex=True), True)],
)
def test_an_event_that_was_never_recorded(device, make, reached):
    with make() as event:
        assert event.query() is reached
        event.synchronize()  # returns at once, whatever the query says


def test_waiting_for_a_default_event_that_was_never_recorded_is_refused(stream):
    with pyacl.Event() as event, pytest.raises(pyacl.InvalidParamError) as caught:
        stream.wait(event)
    assert caught.value.code == 107000


def test_a_sync_event_holds_the_stream_until_it_is_recorded(device):
    with pyacl.Stream() as first, pyacl.Stream() as second, pyacl.Event(EventFlag.SYNC) as event:
        first.wait(event)
        with pytest.raises(pyacl.StreamTimeoutError):
            first.synchronize(timeout=0.05)
        event.record(second)
        first.synchronize(timeout=20)


def test_a_timeout_raises_and_the_event_stays_usable(stream, gate):
    gate.close(stream)
    with pyacl.Event() as event:
        event.record(stream)
        with pytest.raises(pyacl.StreamTimeoutError) as caught:
            event.synchronize(timeout=0.05)
        assert caught.value.code == 507047
        gate.open()
        event.synchronize(timeout=20)


@pytest.mark.parametrize("timeout", [-1, float("nan"), "soon"])
def test_a_timeout_is_a_number_of_seconds(stream, timeout):
    with pyacl.Event() as event:
        event.record(stream)
        with pytest.raises((ValueError, TypeError)):
            event.synchronize(timeout=timeout)


def test_the_gil_is_free_during_a_wait(stream, gate):
    gate.close(stream)
    with pyacl.Event() as event:
        event.record(stream)
        opener = gate.open_later(0.1)
        ticks = []

        def tick():
            while opener.is_alive():
                ticks.append(1)
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        event.synchronize()
        ticker.join()
        assert len(ticks) > 10


def test_elapsed_time_is_in_milliseconds_and_may_be_negative(stream, kernels):
    with pyacl.Event() as start, pyacl.Event() as end:
        start.record(stream)
        kernels("spin").launch(stream, 1, 20_000_000)
        end.record(stream)
        stream.synchronize()
        assert 19 < start.elapsed_ms(end) < 2000
        assert end.elapsed_ms(start) == -start.elapsed_ms(end)
        assert end.timestamp_us - start.timestamp_us >= 19_000


def test_no_time_without_the_flag_or_before_the_record(stream):
    with pyacl.Event(EventFlag.SYNC) as timeless, pyacl.Event() as never:
        timeless.record(stream)
        stream.synchronize()
        with pytest.raises(pyacl.AclError) as caught:
            timeless.elapsed_ms(timeless)
        assert caught.value.code == 107006
        with pytest.raises(pyacl.AclError) as caught:
            never.elapsed_ms(never)
        assert caught.value.code == 507000


@pytest.mark.parametrize("flags, ex", [(0, False), (0x11, False), (0x40, False), (0x80, False), (0, True), (0x10, True)])
def test_flags_that_do_not_go_together_are_refused(device, flags, ex):
    with pytest.raises(pyacl.InvalidParamError) as caught:
        pyacl.Event(flags, ex=ex)
    assert caught.value.code == 107000


def test_a_reset_event_is_waited_for_again(device):
    with pyacl.Stream() as stream, pyacl.Event(EventFlag.SYNC) as event:
        event.record(stream)
        stream.wait(event)
        event.reset(stream)
        stream.synchronize()
        stream.wait(event)
        with pytest.raises(pyacl.StreamTimeoutError):
            stream.synchronize(timeout=0.05)
        with pyacl.Stream() as other:
            event.record(other)
        stream.synchronize(timeout=20)


def test_an_ex_event_cannot_be_reset(stream):
    with pyacl.Event(ex=True) as event, pytest.raises(pyacl.NotSupportedError):
        event.reset(stream)


def test_pending_waits_are_seen(device, gate):
    with pyacl.Stream() as first, pyacl.Stream() as second, pyacl.Event() as event:
        gate.close(first)
        event.record(first)
        second.wait(event)
        assert event.waits_pending is True
        gate.open()
        second.synchronize()
        assert event.waits_pending is False


def test_an_event_may_be_closed_while_it_is_waited_for(device, gate):
    with pyacl.Stream() as first, pyacl.Stream() as second:
        gate.close(first)
        event = first.record()
        second.wait(event)
        event.close()
        gate.open()
        second.synchronize(timeout=20)


def test_an_ex_event_has_no_id_before_its_first_record(stream):
    with pyacl.Event(ex=True) as event:
        with pytest.raises(pyacl.AclError) as caught:
            _ = event.id
        assert caught.value.code == 507000
        event.record(stream)
        assert event.id >= 0


def test_closing_twice_is_nothing_and_use_after_it_raises(stream):
    event = pyacl.Event()
    event.close()
    event.close()
    for use in (event.query, event.synchronize, lambda: event.record(stream), lambda: stream.wait(event), lambda: event.id):
        with pytest.raises(pyacl.ClosedError):
            use()


def test_only_events_are_waited_for(stream):
    for thing in (5, None, stream):
        with pytest.raises(TypeError):
            stream.wait(thing)
    with pytest.raises(TypeError):
        pyacl.Event().record(5)


def test_a_wait_on_the_stream_of_the_record_is_harmless(stream):
    stream.wait(stream.record())
    stream.synchronize(timeout=20)


def test_nothing_is_left_behind(acl_no_leaks, stream):
    for _ in range(100):
        stream.wait(stream.record())
    stream.synchronize()


def test_the_three_queries_of_a_default_event(stream, gate):
    with pyacl.Event() as event:
        assert (event.query(), event.is_pending(), event.waits_pending) == (False, False, False)  # never recorded
        gate.close(stream)
        event.record(stream)
        assert (event.query(), event.is_pending()) == (False, True)
        gate.open()
        stream.synchronize()
        assert (event.query(), event.is_pending(), event.waits_pending) == (True, False, False)


def test_the_old_query_is_not_for_ex_events(stream):
    with pyacl.Event(ex=True) as event, pytest.raises(pyacl.NotSupportedError):
        event.is_pending()


def test_a_record_for_outside_needs_a_capture(stream):
    with pyacl.Event(ex=True) as event:
        with pytest.raises(pyacl.CaptureError) as caught:
            event.record(stream, external=True)
        assert caught.value.code == 107029
        with pytest.raises(pyacl.CaptureError) as caught:
            stream.wait(event, external=True)
        assert caught.value.code == 107029


def test_events_are_recorded_here_and_waited_for_in_another_process(device):
    program = """
import sys, pyacl
pyacl.Device(0)
with pyacl.Event.from_ipc_handle(bytes.fromhex(sys.argv[1])) as event, pyacl.Stream() as stream:
    print(event.query(), flush=True)
    stream.wait(event)
    stream.synchronize(timeout=20)
    event.synchronize(timeout=20)
    print(event.query())
"""
    with pyacl.Stream() as stream, pyacl.Event(EventFlag.IPC, ex=True) as event, pyacl.emulator.held(stream):
        event.record(stream)
        child = subprocess.Popen(
            [sys.executable, "-c", program, event.ipc_handle().hex()],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYACL_RUNTIME": "emulator"},
        )  # fmt: skip
        try:
            assert child.stdout.readline().strip() == "False"
            pyacl.emulator.release_stream(stream)
            assert child.communicate(timeout=60)[0].strip() == "True"
        finally:
            child.kill()


def test_only_ipc_events_go_to_other_processes(device):
    with pyacl.Event() as event:
        with pytest.raises(pyacl.InvalidParamError) as caught:
            event.ipc_handle()
        assert caught.value.code == 107000
    with pytest.raises(ValueError, match="64"):
        pyacl.Event.from_ipc_handle(b"short")
