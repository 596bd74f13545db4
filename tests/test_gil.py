"""Who holds the GIL while launches are submitted: never a launch that blocks, also when only Python can unblock it."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pyacl

MORE_THAN_A_QUEUE = 3000  # the deepest queue takes 2,042 tasks


def count(counter):
    return int(counter.to_numpy(np.uint64)[0])


@pytest.fixture
def counter(device):
    buffer = pyacl.DeviceBuffer(8)
    buffer.fill(0)
    return buffer


class Ticker:
    """A Python thread that counts while it gets the GIL."""

    def __enter__(self):
        self.ticks, self.stop = 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while not self.stop:
            self.ticks += 1
            time.sleep(0.001)

    def __exit__(self, *exc):
        self.stop = True
        self.thread.join()


def test_a_python_callback_in_front_of_a_full_queue_gets_to_run(stream, kernels, counter):
    ran = []
    stream.launch_host_func(lambda: (time.sleep(0.05), ran.append(True)))
    add_one = kernels("add_one").bind("p", stream=stream)
    for _ in range(MORE_THAN_A_QUEUE):
        add_one(counter)
    stream.synchronize()
    assert ran == [True]
    assert count(counter) == MORE_THAN_A_QUEUE


def test_callbacks_between_launches_never_lock_up(stream, kernels, counter):
    ran = []
    add_one = kernels("add_one").bind("p", stream=stream)
    for i in range(MORE_THAN_A_QUEUE):
        add_one(counter)
        if i % 500 == 0:
            stream.launch_host_func(ran.append, i)
    stream.synchronize()
    assert ran == list(range(0, MORE_THAN_A_QUEUE, 500))
    assert count(counter) == MORE_THAN_A_QUEUE


@pytest.mark.parametrize("submit", ["launch", "record", "batch"])
def test_other_threads_run_while_a_full_queue_blocks(stream, kernels, gate, submit):
    gate.close(stream)
    plan = kernels("noop").bind("u64", stream=stream)
    event = pyacl.Event()
    batch = pyacl.LaunchBatch()
    for _ in range(MORE_THAN_A_QUEUE):
        batch.launch(plan, 1)
    work = {
        "launch": lambda: [plan(1) for _ in range(MORE_THAN_A_QUEUE)],
        "record": lambda: [event.record(stream) for _ in range(MORE_THAN_A_QUEUE)],
        "batch": batch.submit,
    }[submit]
    opener = gate.open_later(0.3)
    with Ticker() as ticker:
        before = time.perf_counter()
        work()
        blocked = time.perf_counter() - before
        ticks = ticker.ticks
    opener.join()
    stream.synchronize()
    event.close()
    assert blocked > 0.2  # it did block
    assert ticks > 20  # and the other thread did not


def test_a_blocking_stream_releases_the_gil(device, kernels, gate):
    with pyacl.Stream() as stream:
        stream.launch_blocking = pyacl.LaunchBlockingMode.BLOCKING
        opener = gate.open_later(0.2)
        with Ticker() as ticker:
            gate.close(stream)  # the launch waits for its kernel
            ticks = ticker.ticks
        opener.join()
    assert ticks > 20


PROGRAM = """
import pyacl
pyacl.Device(0)
plan = pyacl.Binary(pyacl.emulator.sample_kernels()).kernel("noop").bind("u64", stream=pyacl.Stream())
for i in range(5000):
    plan(i)
plan.stream.synchronize()
print("done")
"""


def run(policy):
    environment = {**os.environ, "PYACL_LAUNCH_GIL": policy, "PYACL_RUNTIME": "emulator"}
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=60)


@pytest.mark.parametrize("policy", ["auto", "release", "hold"])
def test_the_policy_can_be_forced(policy):
    done = run(policy)
    assert done.stdout == "done\n", done.stderr


def test_an_unknown_policy_is_refused():
    done = run("sometimes")
    assert done.returncode != 0
    assert "PYACL_LAUNCH_GIL=sometimes is none of auto, release, hold" in done.stderr
