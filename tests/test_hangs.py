"""Every call that can block, with the device stuck, failing, aborted and reset under it: it ends, with the right error, and
Python goes on meanwhile."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import pyacl

MORE_THAN_A_QUEUE = 3000
FAULT = 507015


class Scene:
    """A stream that is stuck in a kernel, and the calls that then block on it."""

    def __init__(self, device, kernels, gate):
        self.device, self.gate = device, gate
        self.stream, self.sibling = pyacl.Stream(), pyacl.Stream()
        self.fail, self.noop = kernels("fail"), kernels("noop").bind("u64", stream=self.stream)
        gate.close(self.stream)
        self.event = pyacl.Event()
        self.event.record(self.stream)

    def fill_queue(self):
        for _ in range(MORE_THAN_A_QUEUE):
            self.noop(1)


BLOCKING = {
    "synchronize": lambda scene: scene.stream.synchronize(),
    "synchronize within a minute": lambda scene: scene.stream.synchronize(timeout=60),
    "event synchronize": lambda scene: scene.event.synchronize(),
    "event synchronize within a minute": lambda scene: scene.event.synchronize(timeout=60),
    "device synchronize": lambda scene: scene.device.synchronize(),
    "launch into a full queue": lambda scene: scene.fill_queue(),
}


def stop_mode_failure(scene):
    """A sibling in STOP mode fails: the whole context does, the stuck stream included."""
    scene.sibling.failure_mode = pyacl.FailureMode.STOP
    scene.fail.launch(scene.sibling, 1, "i32", FAULT)


UNDER_IT = {
    "released": (lambda scene: scene.gate.open(), None),
    "aborted": (lambda scene: scene.stream.abort(), pyacl.StreamAbortedError),
    "failed in STOP mode": (stop_mode_failure, pyacl.DeviceFaultError),
}


def run_beside(work):
    """Runs `work` on a thread with a device; gives the thread and the list that its outcome goes to."""
    outcome = []

    def run():
        pyacl.Device(0)
        try:
            work()
            outcome.append(None)
        except pyacl.AclError as error:
            outcome.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def ticks_during(seconds):
    """How often this thread gets to run while others are blocked."""
    ticks, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(0.001)
        ticks += 1
    return ticks


@pytest.mark.parametrize("call", BLOCKING)
@pytest.mark.parametrize("cause", UNDER_IT)
def test_a_blocked_call_ends(device, kernels, gate, call, cause):
    scene = Scene(device, kernels, gate)
    trigger, error = UNDER_IT[cause]
    thread, outcome = run_beside(lambda: BLOCKING[call](scene))
    assert ticks_during(0.2) > 20  # the GIL is free meanwhile
    assert not outcome
    trigger(scene)
    thread.join(20)
    gate.open()  # the kernel itself, for those that leave it running
    assert outcome == [error]


@pytest.mark.parametrize("call", BLOCKING)
def test_a_blocked_call_ends_when_the_device_is_reset(call):
    """In a process of its own: the reset takes everything along that other tests have."""
    code = f"""
import sys, threading, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import pyacl
from test_hangs import BLOCKING, Scene, run_beside
from conftest import Gate
device = pyacl.Device(0)
kernels = pyacl.Binary(pyacl.emulator.sample_kernels()).kernel
scene = Scene(device, kernels, Gate(kernels))
thread, outcome = run_beside(lambda: BLOCKING[{call!r}](scene))
time.sleep(0.2)
assert not outcome
device.close(force=True)
thread.join(20)
print("ended" if outcome and outcome[0] is not None else outcome)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ended\n", done.stderr
