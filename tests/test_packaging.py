"""What a user installs: the sdist builds the wheel, the wheel carries everything and works from anywhere."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CARRIED = (
    "pyacl/include/acl/acl_rt.h",
    "pyacl/include/pyacl/kernel.h",
    "pyacl/include/pyacl/emulator.h",
    "pyacl/include/table.h",
    "pyacl/acl.pxd",
    "pyacl/stream.pxd",
    "pyacl/raw.pyi",
    "pyacl/py.typed",
    "pyacl/lib/libpyacl_emulator.so",
    "pyacl/lib/ascend/libascendcl.so",
    "pyacl/lib/kernels/libsample_kernels.so",
)

PROGRAM = """
import numpy as np, pyacl
device = pyacl.Device(0)
kernel = pyacl.Binary(pyacl.emulator.sample_kernels()).kernel("fill")
buffer = pyacl.DeviceBuffer(400)
with pyacl.Stream() as stream:
    kernel.bind("p u32 u64", blocks=4, stream=stream)(buffer, 7, 100)
    stream.synchronize()
assert buffer.to_numpy(np.uint32).tolist() == [7] * 100
print(pyacl.__file__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel built from that sdist (not from this checkout)."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", out, ROOT], check=True, capture_output=True, text=True)
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def test_sdist_has_sources_and_no_built_files(built):
    with tarfile.open(built[0]) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"csrc/abi/acl_rt.json", "csrc/emulator/engine/scheduler.c", "pyacl/stream.pyx", "LICENSE"} <= names
    assert not [name for name in names if name.endswith((".so", ".o"))]


def test_wheel_carries_headers_stubs_libraries_and_kernels(built):
    names = set(zipfile.ZipFile(built[1]).namelist())
    assert not set(CARRIED) - names
    assert not [name for name in names if name.endswith((".pyx", ".c"))]


@pytest.fixture(scope="module")
def elsewhere(built, tmp_path_factory):
    """A fresh environment with the wheel installed, and a folder that is not the checkout."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", built[1]], check=True, capture_output=True, text=True)
    return python, folder


def test_installed_wheel_works_from_another_folder(elsewhere):
    python, folder = elsewhere
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([python, "-W", "ignore", "-c", PROGRAM], cwd=folder, capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr
    assert str(folder) in done.stdout
