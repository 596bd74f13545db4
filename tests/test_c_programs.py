"""C programs against the emulator as another program's libascendcl.so: only the package's headers, -lascendcl, and the
sample kernels. Every tests/c/test_*.c is one; each returns 0 or prints the line that failed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import pyacl

FOLDER = Path(__file__).parent / "c"
# test_abi.c is compiled, as C and as C++, by test_generated.py.
PROGRAMS = sorted(path for path in FOLDER.glob("test_*.c") if path.name != "test_abi.c")
COMPILE = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]

pytestmark = pytest.mark.timeout(180)


def build(source, folder, *flags):
    include, libraries = pyacl.get_include(), pyacl.get_library_dir()
    program = folder / source.stem
    command = [*COMPILE, *flags, f"-I{include}", str(source), "-o", str(program)]
    done = subprocess.run([*command, f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lascendcl"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def run(program, *before):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYACL_", "ASCEND_"))}
    command = [*before, str(program), pyacl.emulator.sample_kernels()]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=170)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    return {source.stem: build(source, folder) for source in PROGRAMS}


@pytest.mark.parametrize("name", [source.stem for source in PROGRAMS])
def test_program(programs, name):
    run(programs[name])


@pytest.mark.parametrize("name", [source.stem for source in PROGRAMS])
def test_program_on_one_cpu(programs, name):
    run(programs[name], "taskset", "-c", "0")


def test_first_program_prints_what_it_computed(programs):
    assert run(programs["test_first_program"]) == "3.0 3.0 3.0 3.0, 16 launches in order\n"


def test_stream_sequence_prints_what_it_found(programs):
    assert run(programs["test_stream_sequence"]).splitlines() == [
        "flags 3",
        "failure mode 1",
        "query not ready, then complete",
        "synchronized",
        "one stream less, then as before",
        "107017 after destroy",
    ]


def test_recovery_sequence_prints_what_it_found(programs):
    assert run(programs["test_recovery_sequence"]).splitlines() == [
        "continue: failure reported once, the task behind it ran",
        "stop: the context refuses work on every stream",
        "recovered: new context, new streams, right result",
    ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.timeout(600)
def test_programs_have_no_data_races(tmp_path):
    """The emulator and each program once more under ThreadSanitizer."""
    root = Path(__file__).parent.parent
    sources = sorted(str(path) for part in ("api", "engine", "soc", "faults") for path in (root / "csrc/emulator" / part).glob("*.c"))
    common = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fsanitize=thread", "-pthread", "-fPIC"]
    includes = [f"-I{root}/csrc/include", f"-I{root}/csrc/emulator"]
    library = tmp_path / "libascendcl.so"
    command = [*common, "-shared", "-fvisibility=hidden", *includes, *sources, "-o", str(library), "-ldl", "-lm", "-lrt"]
    subprocess.run(command, check=True, capture_output=True)
    failed = {}
    for source in PROGRAMS:
        program = tmp_path / source.stem
        link = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}", "-lascendcl"]
        subprocess.run([*common, f"-I{root}/csrc/include", str(source), "-o", str(program), *link], check=True, capture_output=True)
        environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1 exitcode=66"}
        done = subprocess.run([program, pyacl.emulator.sample_kernels()], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            failed[source.stem] = done.stderr[-3000:]
    assert not failed
