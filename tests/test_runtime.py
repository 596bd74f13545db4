"""Which runtime answers, what is said about it, and that importing does nothing. Each case is a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pyacl

LIBRARY = Path(pyacl.__file__).parent / "lib"


def run(code, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYACL_", "ASCEND_", "LD_LIBRARY_PATH"))}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**clean, **environment}
    )


def output(code, **environment):
    done = run(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_touches_no_library_and_no_thread():
    code = """
import threading, pyacl
maps = open("/proc/self/maps").read()
print("libpyacl_emulator" in maps, "libascendcl" in maps, threading.active_count())
print(len([t for t in __import__("os").listdir("/proc/self/task")]) - BEFORE)
"""
    # numpy's own threads are not ours to count
    code = 'import os, numpy; BEFORE = len(os.listdir("/proc/self/task"))\n' + code
    assert output(code).split() == ["False", "False", "1", "0"]


def test_without_cann_the_emulator_answers_with_one_warning():
    done = run("import pyacl; print(pyacl.runtime.kind, pyacl.Device.count()); pyacl.Device(0); pyacl.Stream()")
    assert done.stdout.split() == ["emulator", "2"]
    assert done.stderr.count("EmulatedRuntimeWarning") == 1
    assert done.stderr.startswith("<string>:1: ")


@pytest.mark.parametrize("use", ["raw.aclInit(None)", "raw.aclrtGetSocName()", "pyacl.runtime.soc"])
def test_the_warning_comes_whatever_is_used_first(use):
    done = run(f"import pyacl; from pyacl import raw; {use}")
    assert done.stderr.count("EmulatedRuntimeWarning") == 1


def test_loading_in_one_thread_while_another_holds_the_gil():
    code = """
import threading, pyacl
from pyacl import raw
for name in ("aclrtGetSocName", "aclInit"):
    threading.Thread(target=getattr(raw, name), args=(None,) * (name == "aclInit")).start()
raw.aclrtGetSocName()
"""
    assert run(code).returncode == 0


@pytest.mark.parametrize("environment", [{"PYACL_RUNTIME": "emulator"}, {"PYACL_LIBASCENDCL": str(LIBRARY / "ascend/libascendcl.so")}])
def test_no_warning_when_the_emulator_was_asked_for(environment):
    done = run("import pyacl; pyacl.Device(0); print(pyacl.runtime.kind)", **environment)
    assert (done.stdout.strip(), done.stderr) == ("emulator", "")


def test_the_warning_can_be_made_an_error():
    done = run("import warnings, pyacl; warnings.simplefilter('error'); pyacl.Device(0)")
    assert "EmulatedRuntimeWarning" in done.stderr


def test_cann_only_without_cann_says_what_was_looked_for_and_where():
    code = """
import pyacl
for use in (lambda: pyacl.Device(0), lambda: pyacl.runtime.kind, pyacl.Device.count, lambda: pyacl.raw.aclInit(None)):
    try:
        use()
    except pyacl.RuntimeNotFoundError as error:
        print(error)
"""
    lines = output("import pyacl.raw\n" + code, PYACL_RUNTIME="cann", ASCEND_HOME_PATH="/no/such/cann").splitlines()
    assert len(lines) == 4
    for line in lines:
        for word in ("libascendcl.so", "LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "/usr/local/Ascend"):
            assert word in line


def test_a_named_library_that_does_not_load_is_an_error():
    done = run("import pyacl; pyacl.Device(0)", PYACL_LIBASCENDCL="/no/such/lib.so")
    assert "RuntimeNotFoundError" in done.stderr and "/no/such/lib.so" in done.stderr


def test_an_unknown_choice_is_an_error():
    done = run("import pyacl; pyacl.Device(0)", PYACL_RUNTIME="both")
    assert "RuntimeNotFoundError" in done.stderr and "PYACL_RUNTIME=both" in done.stderr


def test_a_library_on_the_path_with_a_device_is_taken():
    code = "import pyacl; print(pyacl.runtime.path); print(pyacl.runtime.reason)"
    path, reason = output(code, LD_LIBRARY_PATH=str(LIBRARY / "ascend")).splitlines()
    assert path.endswith("lib/ascend/libascendcl.so") and "counts a device" in reason


def test_a_library_of_an_old_version_lacks_functions_and_says_which(tmp_path):
    (tmp_path / "old.c").write_text("int aclInit(const char *p) { (void)p; return 0; }\n")
    library = tmp_path / "libascendcl.so"
    subprocess.run(["gcc", "-shared", "-fPIC", str(tmp_path / "old.c"), "-o", str(library)], check=True)
    done = run("import pyacl; pyacl.Device(0)", PYACL_LIBASCENDCL=str(library))
    assert "NotSupportedError" in done.stderr and str(library) in done.stderr
    assert re.search(r"\(version unknown\) has no function aclrt\w+$", done.stderr, re.M)


def test_asking_for_the_soc_and_the_devices_initialises_nothing():
    code = """
import pyacl
print(pyacl.runtime.soc, pyacl.runtime.device_count, pyacl.runtime.version, pyacl.emulator.counters().contexts)
"""
    assert output(code, PYACL_RUNTIME="emulator").split() == ["Ascend910B3", "2", "1.17.0", "0"]


@pytest.mark.parametrize("soc, name", [("310P", "Ascend310P3"), ("Ascend910B1", "Ascend910B1")])
def test_the_product_is_chosen_before_the_first_use(soc, name):
    code = f"import pyacl; pyacl.emulator.configure({soc!r}, devices=5); print(pyacl.runtime.soc, pyacl.Device.count())"
    done = run(code)
    assert done.stdout.split() == [name, "5"] and done.stderr == ""


def test_the_product_cannot_be_changed_later():
    code = """
import pyacl
pyacl.Device(0)
try:
    pyacl.emulator.configure("310P")
except pyacl.AclError as error:
    print(error.code)
"""
    assert output(code, PYACL_RUNTIME="emulator") == "100002"


@pytest.mark.parametrize("call", ["configure('Ascend000')", "hold_stream(12345)", "fail_next(12345, 507015)"])
def test_control_calls_refuse_what_does_not_exist(call):
    done = run(f"import pyacl; pyacl.emulator.{call}", PYACL_RUNTIME="emulator")
    assert "InvalidParamError" in done.stderr


def test_many_threads_load_it_once():
    code = """
import threading, pyacl
barrier = threading.Barrier(8)
def use():
    barrier.wait()
    pyacl.Device(0)
    pyacl.Stream().close()
threads = [threading.Thread(target=use) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(pyacl.runtime.candidates))
"""
    done = run(code, PYACL_RUNTIME="emulator")
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_somebody_elses_initialisation_is_left_alone():
    code = """
import pyacl
from pyacl import raw
assert raw.aclInit(None) == 0
pyacl.Device(0)
pyacl.Stream()
import pyacl._runtime as runtime
runtime._shut_down()
print(raw.aclFinalize())
"""
    assert output(code, PYACL_RUNTIME="emulator") == "0"


def test_our_own_initialisation_is_finalised_at_exit():
    code = """
import pyacl
from pyacl import raw
import pyacl._runtime as runtime
pyacl.Device(0)
runtime._shut_down()
print(raw.aclFinalize())
"""
    assert output(code, PYACL_RUNTIME="emulator") == "100037"
