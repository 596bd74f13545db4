"""Other people's Cython code against the installed package: it cimports the classes and launches in a nogil loop."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MODULE = """
# cython: language_level=3
from libc.stdint cimport uint64_t
from pyacl._runtime cimport acl, check
from pyacl.event cimport Event
from pyacl.kernel cimport Kernel
from pyacl.memory cimport DeviceBuffer
from pyacl.stream cimport Stream


def append_all(Kernel kernel, Stream stream, DeviceBuffer log, uint64_t count, Event event):
    cdef uint64_t args[2]
    cdef uint64_t value
    args[0] = <uint64_t>log._handle
    with nogil:
        for value in range(count):
            args[1] = value
            check(
                acl.aclrtLaunchKernelWithHostArgs(kernel._handle, 1, stream._handle, NULL, args, sizeof(args), NULL, 0),
                "aclrtLaunchKernelWithHostArgs",
            )
        check(acl.aclrtRecordEvent(event._handle, stream._handle), "aclrtRecordEvent")


def launch_without_arguments(Kernel kernel, Stream stream):
    with nogil:
        check(
            acl.aclrtLaunchKernelWithHostArgs(kernel._handle, 1, stream._handle, NULL, NULL, 0, NULL, 0),
            "aclrtLaunchKernelWithHostArgs",
        )
"""

SETUP = """
import pyacl
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="theirs",
    ext_modules=cythonize([Extension("theirs", ["theirs.pyx"], include_dirs=[pyacl.get_include()])]),
    script_args=["-q", "build_ext", "--inplace"],
)
"""

PROGRAM = """
import numpy as np, pyacl, theirs
device = pyacl.Device(0)
kernels = pyacl.Binary(pyacl.emulator.sample_kernels())
log = pyacl.DeviceBuffer(8 * 5001)
log.fill(0)
with pyacl.Stream(pyacl.StreamFlag.FAST_LAUNCH) as stream, pyacl.Event() as event:
    theirs.append_all(kernels.kernel("append"), stream, log, 5000, event)
    event.synchronize()
    assert log.to_numpy(np.uint64).tolist() == [5000, *range(5000)]
    try:
        theirs.launch_without_arguments(kernels.kernel("noop"), stream)
    except pyacl.InvalidParamError as error:
        print(error.code, error.call)
"""


def test_a_third_party_module_launches_in_a_nogil_loop(tmp_path):
    (tmp_path / "theirs.pyx").write_text(MODULE)
    (tmp_path / "build.py").write_text(SETUP)
    (tmp_path / "use.py").write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "PYACL_RUNTIME": "emulator"}
    subprocess.run([sys.executable, "build.py"], cwd=tmp_path, check=True, capture_output=True, text=True, env=environment)
    done = subprocess.run([sys.executable, "use.py"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    assert done.stdout.split() == ["100000", "aclrtLaunchKernelWithHostArgs"]
