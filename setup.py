"""Build of the native parts; everything else about the package is in pyproject.toml.

Before the Cython modules come the emulated runtime (once under pyacl's own SONAME, once as a drop-in
libascendcl.so), the sample kernels, and copies of the public headers, all into the package.
"""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
EMULATOR_SOURCES = sorted(
    str(path.relative_to(ROOT)) for part in ("api", "engine", "soc", "faults") for path in (ROOT / "csrc/emulator" / part).glob("*.c")
)
KERNEL_SOURCES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "csrc/kernels").glob("*.c"))
C_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-fPIC", "-pthread", "-D_GNU_SOURCE"]
EMULATOR_FLAGS = [*C_FLAGS, "-fvisibility=hidden"]
INCLUDES = ["csrc/include", "csrc/runtime", "pyacl"]
# One library under two names: pyacl loads the first by its path; other programs link the second.
EMULATOR_LIBRARIES = {"lib/libpyacl_emulator.so": "libpyacl_emulator.so", "lib/ascend/libascendcl.so": "libascendcl.so"}
KERNEL_LIBRARY = "lib/kernels/libsample_kernels.so"
HEADERS = ("csrc/include/acl", "csrc/include/pyacl", "csrc/runtime/table.h")


class build_native(build_ext):
    """build_ext, with the C libraries and headers put into the package first."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self):
        package = Path(self.build_lib, "pyacl")
        self.build_emulator(package)
        self.build_kernels(package)
        copy_headers(package / "include")
        super().build_extensions()

    def copy_extensions_to_source(self):  # editable installs and --inplace
        for folder in ("lib", "include"):
            shutil.copytree(Path(self.build_lib, "pyacl", folder), ROOT / "pyacl" / folder, dirs_exist_ok=True)
        super().copy_extensions_to_source()

    def compile_all(self, sources, flags, includes):
        with ThreadPoolExecutor(self.parallel) as pool:
            jobs = [
                pool.submit(self.compiler.compile, [s], self.build_temp, include_dirs=includes, extra_postargs=flags)
                for s in sources
            ]
            return [name for job in jobs for name in job.result()]

    def build_emulator(self, package):
        objects = self.compile_all(EMULATOR_SOURCES, EMULATOR_FLAGS, ["csrc/include", "csrc/emulator"])
        for path, soname in EMULATOR_LIBRARIES.items():
            link_flags = [f"-Wl,-soname,{soname}", "-Wl,-z,defs,-z,now", "-pthread"]
            self.link(objects, package / path, link_flags, ["dl", "m", "rt"])

    def build_kernels(self, package):
        objects = self.compile_all(KERNEL_SOURCES, C_FLAGS, ["csrc/include"])
        self.link(objects, package / KERNEL_LIBRARY, [], [])

    def link(self, objects, path, flags, libraries):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(objects, str(path), libraries=libraries, extra_postargs=flags)


def copy_headers(include):
    for header in HEADERS:
        source = ROOT / header
        if source.is_dir():
            shutil.copytree(source, include / source.name, dirs_exist_ok=True)
        else:
            shutil.copy(source, include / source.name)


def extension(path):
    name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    sources = [path.relative_to(ROOT).as_posix()]
    if name == "pyacl._runtime":
        sources += ["csrc/runtime/load.c", "csrc/runtime/stubs.c"]
    # raw is 400 small wrappers: more optimisation costs build time and gains nothing.
    # Cython's own C is free of none of these warnings.
    flags = ["-O1" if name == "pyacl.raw" else "-O2", "-D_GNU_SOURCE", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Wno-discarded-qualifiers"]
    return Extension(name, sources, include_dirs=INCLUDES, extra_compile_args=flags, extra_link_args=["-pthread", "-ldl"])


MODULES = sorted((ROOT / "pyacl").glob("**/*.pyx"))

setup(
    ext_modules=cythonize(
        [extension(path) for path in MODULES],
        nthreads=os.cpu_count(),
        compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False},
        build_dir="build/cython",
    ),
    cmdclass={"build_ext": build_native},
)
