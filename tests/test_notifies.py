"""Notifies, count notifies and values in memory: who waits for whom, across streams, devices and processes."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pyacl
from pyacl import WaitValueMode


def run_program(program, *arguments, soc="A2"):
    """A process of its own, on another product: what it prints."""
    environment = {**os.environ, "PYACL_RUNTIME": "emulator", "PYACL_EMULATOR_SOC": soc}
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.stderr == ""
    return done.stdout.split()


# ---- flags ----


def test_a_wait_queued_before_the_record_holds_the_stream(device, acl_no_leaks):
    with pyacl.Stream() as first, pyacl.Stream() as second, pyacl.Notify() as notify:
        notify.wait(second)
        with pytest.raises(pyacl.StreamTimeoutError):
            second.synchronize(timeout=0.05)
        notify.record(first)
        second.synchronize(timeout=20)


def test_each_record_lets_one_wait_pass(device):
    with pyacl.Stream() as first, pyacl.Stream() as second, pyacl.Notify() as notify:
        for _ in range(100):
            notify.record(first)
            notify.wait(second)
            second.synchronize(timeout=20)
        notify.wait(second)
        with pytest.raises(pyacl.StreamTimeoutError):
            second.synchronize(timeout=0.05)
        notify.record(first)
        second.synchronize(timeout=20)


def test_a_second_record_before_the_wait_is_lost(device):
    with pyacl.Stream() as stream, pyacl.Stream() as other, pyacl.Notify() as notify:
        notify.record(stream)
        notify.record(stream)
        notify.wait(stream)
        stream.synchronize(timeout=20)
        notify.wait(stream)
        with pytest.raises(pyacl.StreamTimeoutError):
            stream.synchronize(timeout=0.05)
        notify.record(other)
        stream.synchronize(timeout=20)


def test_a_wait_that_times_out_fails_the_stream(device):
    with pyacl.Stream() as stream, pyacl.Notify() as notify:
        notify.wait(stream, timeout=0.5)  # rounded up to a second
        with pytest.raises(pyacl.AclError) as caught:
            stream.synchronize(timeout=20)
        assert not isinstance(caught.value, pyacl.StreamTimeoutError)


def test_flags_are_taken_down_together(device):
    with pyacl.Stream() as stream, pyacl.Stream() as other, pyacl.Notify() as first, pyacl.Notify() as second:
        first.record(stream)
        second.record(stream)
        stream.synchronize()
        pyacl.Notify.reset_all([first, second])
        first.wait(stream)
        with pytest.raises(pyacl.StreamTimeoutError):
            stream.synchronize(timeout=0.05)
        first.record(other)
        stream.synchronize(timeout=20)
    with pytest.raises(pyacl.InvalidParamError) as caught:
        pyacl.Notify.reset_all([])
    assert caught.value.code in (100000, 107000)


def test_ids_tell_notifies_apart(device):
    with pyacl.Notify() as first, pyacl.Notify() as second:
        assert first.id != second.id


@pytest.mark.parametrize("flags", [2, 7])
def test_unknown_flags_are_refused(device, flags):
    with pytest.raises(pyacl.InvalidParamError) as caught:
        pyacl.Notify(flags)
    assert caught.value.code == 107000


def test_another_process_opens_a_notify_and_records_it(device):
    record = """
        import sys, pyacl
        pyacl.Device(0)
        with pyacl.Notify.from_key(sys.argv[1]) as notify, pyacl.Stream() as stream:
            notify.record(stream)
            stream.synchronize()
        print("recorded")
    """
    with pyacl.Stream() as stream, pyacl.Notify() as notify:
        notify.wait(stream)
        assert run_program(record, notify.export_key(any_process=True)) == ["recorded"]
        stream.synchronize(timeout=20)


def test_closing_twice_is_nothing_and_use_after_it_raises(stream):
    notify = pyacl.Notify()
    notify.close()
    notify.close()
    for use in (lambda: notify.record(stream), lambda: notify.wait(stream), lambda: notify.id, notify.export_key):
        with pytest.raises(pyacl.ClosedError):
            use()


def test_streams_only(device):
    with pyacl.Notify() as notify:
        for wrong in (5, "stream", notify):
            with pytest.raises(TypeError):
                notify.record(wrong)
            with pytest.raises(TypeError):
                notify.wait(wrong)


# ---- numbers ----


def test_count_notifies_are_for_950(device):
    with pytest.raises(pyacl.NotSupportedError) as caught:
        pyacl.CountNotify()
    assert caught.value.code == 207000


def test_a_count_notify_is_counted_up_and_waited_for():
    program = """
        import pyacl
        from pyacl import CntNotifyRecordMode as Record, CntNotifyWaitMode as Wait
        pyacl.Device(0)
        with pyacl.Stream() as first, pyacl.Stream() as second, pyacl.CountNotify() as count:
            count.wait(3, second, clear=True)
            for _ in range(2):
                count.record(1, first, Record.ADD_MODE)
            first.synchronize()
            print(second.query())
            count.record(1, first, Record.ADD_MODE)
            second.synchronize(timeout=20)
            count.wait(0, second, Wait.EQUAL_MODE)    # cleared by the wait
            second.synchronize(timeout=20)
            count.record(0b1100, first)
            count.record(0b0110, first, Record.BIT_AND_MODE)
            first.synchronize()
            count.wait(0b0100, second, Wait.EQUAL_MODE, timeout=20)
            second.synchronize(timeout=20)
            count.reset(first)
            first.synchronize()
            count.wait(0, second, Wait.EQUAL_MODE)
            second.synchronize(timeout=20)
            print(count.id >= 0)
    """
    assert run_program(program, soc="950") == ["False", "True"]


# ---- values in memory ----


def test_a_written_value_lets_a_waiting_stream_pass(device, acl_no_leaks):
    cell = pyacl.DeviceBuffer(np.zeros(1, np.uint64))
    with pyacl.Stream() as first, pyacl.Stream() as second:
        second.wait_value(cell, 7)
        with pytest.raises(pyacl.StreamTimeoutError):
            second.synchronize(timeout=0.05)
        first.write_value(cell, 6)
        first.synchronize()
        assert second.query() is False
        first.write_value(cell, 7)
        second.synchronize(timeout=20)
        assert cell.to_numpy(np.uint64)[0] == 7


@pytest.mark.parametrize(
    "mode, cell, value, passes",
    [
        (WaitValueMode.GEQ, 5, 5, True),
        (WaitValueMode.GEQ, 4, 5, False),
        (WaitValueMode.GEQ, 1, 2**64 - 1, True),  # as signed numbers, around the end
        (WaitValueMode.EQ, 2**64 - 1, 2**64 - 1, True),
        (WaitValueMode.EQ, 1, 2, False),
        (WaitValueMode.AND, 0b110, 0b010, True),
        (WaitValueMode.AND, 0b110, 0b001, False),
        (WaitValueMode.NOR, 1, 1, True),
        (WaitValueMode.NOR, 2**64 - 2, 1, False),
    ],
)
def test_how_values_compare(device, mode, cell, value, passes):
    memory = pyacl.DeviceBuffer(np.array([cell], np.uint64))
    with pyacl.Stream() as stream, pyacl.Stream() as other:
        stream.wait_value(memory, value, mode)
        if not passes:
            with pytest.raises(pyacl.StreamTimeoutError):
                stream.synchronize(timeout=0.05)
            other.write_value(memory, {WaitValueMode.GEQ: 5, WaitValueMode.EQ: 2, WaitValueMode.AND: 1}.get(mode, 0))
        stream.synchronize(timeout=20)


def test_a_cell_has_eight_bytes(stream):
    memory = pyacl.DeviceBuffer(16)
    for call in (stream.write_value, stream.wait_value):
        with pytest.raises(ValueError, match="too small"):
            call(memory[:4], 1)
        with pytest.raises(pyacl.InvalidParamError) as caught:
            call(memory[4:12], 1)
        assert caught.value.code == 107000
        with pytest.raises(OverflowError):
            call(memory, 2**64)
