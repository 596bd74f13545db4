"""Compiles the nanobind binding that the launch benchmark compares with, if nanobind and a C++ compiler are there."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

NAME = "pyacl_nanobind_launch"
SOURCE = Path(__file__).with_name("nanobind_launch.cpp")


def load() -> ModuleType | None:
    """The compiled module; None where it cannot be made."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if importlib.util.find_spec("nanobind") is None or compiler is None:
        return None
    import nanobind  # an optional dependency of this benchmark only

    root = Path(nanobind.include_dir()).parent
    includes = [root / "include", root / "ext/robin_map/include", sysconfig.get_path("include")]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, NAME + sysconfig.get_config_var("EXT_SUFFIX"))
        command = [compiler, "-std=c++17", "-O3", "-DNDEBUG", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing"]
        command += [f"-I{path}" for path in includes] + [str(root / "src/nb_combined.cpp"), str(SOURCE), "-o", str(target)]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return None
        spec = importlib.util.spec_from_file_location(NAME, target)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
