"""ASCEND_RT_LAUNCH_BLOCKING: read once by the runtime; every launch then waits for its task, except where it must not."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys, threading, time
import pyacl
device = pyacl.Device(0)
kernels = pyacl.Binary(pyacl.emulator.sample_kernels())
spin = kernels.kernel("spin")
stream = pyacl.Stream()
os.environ["ASCEND_RT_LAUNCH_BLOCKING"] = "{later}"  # too late: read at the first launch

def done_at_once(launch):
    launch()
    return stream.query()

launch = lambda: spin.launch(stream, 1, 200_000_000)
launch()
stream.synchronize()
print("launch", done_at_once(launch))
with stream.nonblocking_launch():
    stream.synchronize()
    with stream.nonblocking_launch():
        print("in a section", done_at_once(launch))
    print("inner end", stream.query())
print("outer end", stream.query())
stream.synchronize()
stream.launch_blocking = pyacl.LaunchBlockingMode.NON_BLOCKING
print("NON_BLOCKING", done_at_once(launch))
stream.synchronize()
stream.launch_blocking = pyacl.LaunchBlockingMode.BLOCKING
print("BLOCKING", done_at_once(launch))
"""


def answers(value, later):
    environment = {k: v for k, v in os.environ.items() if k != "ASCEND_RT_LAUNCH_BLOCKING"} | {"PYACL_RUNTIME": "emulator"}
    if value is not None:
        environment["ASCEND_RT_LAUNCH_BLOCKING"] = value
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{later}", later)], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


def test_switched_on_every_launch_waits_but_in_a_section():
    assert answers("1", later="1") == {
        "launch": "True",
        "in a section": "False",
        "inner end": "False",
        "outer end": "True",
        "NON_BLOCKING": "False",
        "BLOCKING": "True",
    }


@pytest.mark.parametrize("value", [None, "0", "2", "true", " 1"])
def test_only_the_exact_text_1_switches_it_on(value):
    assert answers(value, later="0") == {
        "launch": "False",
        "in a section": "False",
        "inner end": "False",
        "outer end": "False",
        "NON_BLOCKING": "False",
        "BLOCKING": "True",
    }
