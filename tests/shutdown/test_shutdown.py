"""The end of a process, forks and Ctrl-C, whatever is still alive or running. Each case is a process of its own."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROLOGUE = """
import gc, os, signal, sys, threading, time
import numpy as np
import pyacl
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with Ctrl-C ignored
device = pyacl.Device(0)
kernels = pyacl.Binary(pyacl.emulator.sample_kernels())
"""


def start(code):
    environment = {**os.environ, "PYACL_RUNTIME": "emulator"}
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-W", "error", "-c", PROLOGUE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(process, seconds=30):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"did not end\n{out}\n{err}")
    return process.returncode, out.strip(), err.strip()


def check(code, expected=""):
    status, out, err = finish(start(code))
    assert (status, out, err) == (0, expected, "")


# ---- the end of the interpreter ----

ALIVE = {
    "nothing": "",
    "idle streams": "streams = [pyacl.Stream() for _ in range(10)]",
    "streams with work": "s = pyacl.Stream(); [kernels.kernel('spin').launch(s, 1, 1000000) for _ in range(20)]",
    "a stream that never ends": "s = pyacl.Stream(); f = pyacl.DeviceBuffer(4); f.fill(0); kernels.kernel('wait_flag').launch(s, 1, f)",
    "events": "s = pyacl.Stream(); events = [s.record() for _ in range(10)]",
    "memory": "b = pyacl.DeviceBuffer(100); h = pyacl.HostBuffer(100); a = pyacl.HostBuffer(100).numpy()",
    "pending copies": "s = pyacl.Stream(); b = pyacl.DeviceBuffer(100); b.copy_from_async(pyacl.HostBuffer(100), s)",
    "a context": "c = pyacl.Context(1); s = pyacl.Stream()",
    "two devices": "d = pyacl.Device(1); s = pyacl.Stream()",
    "a default stream": "s = pyacl.Stream.default(); kernels.kernel('noop').launch(s, 1)",
    "a plan": "p = kernels.kernel('noop').bind(stream=pyacl.Stream()); p()",
    "host functions": "s = pyacl.Stream(); [s.launch_host_func(time.sleep, 0.01) for _ in range(50)]",
    "a host function that never ends": "s = pyacl.Stream(); s.launch_host_func(threading.Event().wait)",
    "a state callback": "pyacl.register_stream_callback('x', lambda s, t: None); s = pyacl.Stream()",
    "a thread in a wait": (
        "s = pyacl.Stream(); f = pyacl.DeviceBuffer(4); f.fill(0); kernels.kernel('wait_flag').launch(s, 1, f)\n"
        "def wait():\n"
        "    pyacl.Device(0)\n"
        "    try: s.synchronize()\n"
        "    except pyacl.AclError: pass\n"
        "threading.Thread(target=wait, daemon=True).start(); time.sleep(0.1)"
    ),
    "a reference cycle": "s = pyacl.Stream(); l = [s]; l.append(l); b = pyacl.DeviceBuffer(9); b.copy_from_async(pyacl.HostBuffer(9), s)",
    "a closed device": "s = pyacl.Stream(); e = s.record(); b = pyacl.DeviceBuffer(10); h = pyacl.HostBuffer(8); device.close()",
    "a device reset by force": "s = pyacl.Stream(); e = s.record(); b = pyacl.DeviceBuffer(10); device.close(force=True)",
    "an object in sys.modules": "sys.modules['keep'] = [pyacl.Stream(), pyacl.DeviceBuffer(8), pyacl.Event()]",
    "an atexit function that uses it": "import atexit; s = pyacl.Stream(); atexit.register(lambda: s.synchronize())",
}


@pytest.mark.parametrize("alive", ALIVE)
def test_the_interpreter_ends_with(alive):
    check(ALIVE[alive])


@pytest.mark.parametrize("alive", ["idle streams", "streams with work", "host functions", "memory"])
def test_it_ends_after_an_exception_too(alive):
    status, _, err = finish(start(ALIVE[alive] + "\nraise SystemExit(7)"))
    assert (status, err) == (7, "")


def test_dealloc_in_a_thread_without_a_device_destroys_all_the_same():
    check(
        """
s, e = pyacl.Stream(), pyacl.Event()
before = pyacl.emulator.counters()
box = [s, e]
del s, e
thread = threading.Thread(target=box.clear)
thread.start(); thread.join()
after = pyacl.emulator.counters()
print(before.streams - after.streams, before.events - after.events)
""",
        "1 1",
    )


def test_children_of_a_reset_device_close_without_a_crash():
    check(
        """
s, e, b, h, c = pyacl.Stream(), pyacl.Event(), pyacl.DeviceBuffer(64), pyacl.HostBuffer(64), pyacl.Stream()
e.record(s)
device.close(force=True)
pyacl.Device(0)
new = [pyacl.DeviceBuffer(64) for _ in range(100)]  # at the addresses of the old one
try:
    s.synchronize()
except pyacl.InvalidParamError as error:
    print(error.code)
s.close(); e.close()
del c, b, h
gc.collect()
[x.fill(1) for x in new]
print(pyacl.emulator.counters().device_allocations)
""",
        "107017\n100",
    )


# ---- forks ----


def test_after_a_fork_every_use_raises_and_nothing_is_destroyed():
    check(
        """
s, e, b = pyacl.Stream(), pyacl.Event(), pyacl.DeviceBuffer(8)
h, k = pyacl.HostBuffer(8), kernels.kernel("noop")
plan = k.bind(stream=s)
uses = [s.synchronize, s.query, lambda: e.record(s), e.query, lambda: b.to_numpy(), h.numpy, plan, lambda: k.bind(),
        lambda: device.synchronize(), lambda: s.close(), lambda: kernels.kernel("noop"), lambda: b.copy_from(b"1")]
pid = os.fork()
if pid == 0:
    raised = 0
    for use in uses:
        try:
            use()
        except pyacl.ForkedError:
            raised += 1
    del s, e, b, h, plan, uses
    gc.collect()
    os._exit(0 if raised == 12 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
s.synchronize(); plan(); s.synchronize()
print(e.query())
""",
        "0\nFalse",
    )


def test_nothing_new_is_made_in_a_child_of_a_process_that_used_the_runtime():
    check(
        """
pid = os.fork()
if pid == 0:
    try:
        pyacl.Device(0)
    except pyacl.ForkedError as error:
        os._exit("spawn" in str(error))
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
        "1",
    )


def test_a_child_of_a_process_that_only_imported_it_can_use_it():
    code = """
import os, sys, pyacl
pid = os.fork()
if pid == 0:
    with pyacl.Device(0), pyacl.Stream() as stream:
        stream.synchronize()
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    environment = {**os.environ, "PYACL_RUNTIME": "emulator"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=30)
    assert (done.stdout, done.stderr) == ("5\n", "")


def test_a_forked_child_ends_like_any_process():
    check(
        """
s = pyacl.Stream()
s.launch_host_func(lambda: None)
s.synchronize()
pid = os.fork()
if pid == 0:
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
s.launch_host_func(lambda: None)
s.synchronize()
""",
        "3",
    )


# ---- Ctrl-C ----

WAITS = {
    "stream": "s.synchronize()",
    "FAST_SYNC stream": "fast.synchronize()",
    "stream with a timeout": "s.synchronize(timeout=60)",
    "event": "e.synchronize()",
    "event with a timeout": "e.synchronize(timeout=60)",
    "device": "device.synchronize()",
    "device with a timeout": "device.synchronize(timeout=60)",
}

STUCK = """
s, fast = pyacl.Stream(), pyacl.Stream(2)
f = pyacl.DeviceBuffer(4); f.fill(0)
wait_flag = kernels.kernel("wait_flag")
wait_flag.launch(s, 1, f); e = s.record(); wait_flag.launch(fast, 1, f)
print("ready", flush=True)
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", flush=True)
f.fill(1)
s.synchronize(); fast.synchronize(); device.synchronize()
print("fine")
"""


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_is_noticed_at_once_and_the_stream_stays_usable(wait):
    process = start(STUCK.format(wait=WAITS[wait]))
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.perf_counter()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.perf_counter() - sent < 0.5  # 0.2 and what a busy machine adds
    assert finish(process) == (0, "fine", "")


def test_a_signal_handler_that_returns_does_not_end_the_wait():
    process = start(
        """
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
s = pyacl.Stream()
f = pyacl.DeviceBuffer(4); f.fill(0)
kernels.kernel("wait_flag").launch(s, 1, f)
def open_gate():
    pyacl.Device(0)
    while not seen: time.sleep(0.01)
    time.sleep(0.3)
    f.fill(1)
threading.Thread(target=open_gate).start()
print("ready", flush=True)
s.synchronize()
print(len(seen))
"""
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGUSR1)
    assert finish(process) == (0, "1", "")
