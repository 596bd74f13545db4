"""`pyacl info` and `pyacl bench`, run as a user runs them."""

import json
import os
import re
import subprocess
import sys

import pytest

PYACL = os.path.join(os.path.dirname(sys.executable), "pyacl")


def run(*arguments, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYACL_", "ASCEND_"))}
    return subprocess.run([PYACL, *arguments], capture_output=True, text=True, timeout=110, env={**clean, **environment})


def test_info_names_the_runtime_and_why():
    done = run("info")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^runtime +emulator$", done.stdout, re.M)
    assert re.search(r"^SoC +Ascend910B3$", done.stdout, re.M)
    assert re.search(r"^why +no libascendcl.so of CANN was found$", done.stdout, re.M)
    assert "libpyacl_emulator.so: taken" in done.stdout


def test_info_without_cann_fails_and_says_where_it_looked():
    done = run("info", PYACL_RUNTIME="cann", ASCEND_HOME_PATH="/no/such/toolkit")
    assert done.returncode != 0
    first = done.stderr.splitlines()[0]
    assert "no libascendcl.so was found" in first
    assert "LD_LIBRARY_PATH" in first and "ASCEND_HOME_PATH" in first and "/usr/local/Ascend" in first
    assert "/no/such/toolkit/lib64/libascendcl.so" in done.stderr


def test_info_follows_the_chosen_product():
    assert "Ascend310P3" in run("info", PYACL_EMULATOR_SOC="310P").stdout


def test_unknown_choice_of_runtime_is_refused():
    done = run("info", PYACL_RUNTIME="both")
    assert done.returncode != 0
    assert "PYACL_RUNTIME=both is none of auto, cann, emulator" in done.stderr


@pytest.mark.slow
def test_bench_measures_every_flag_and_caller(tmp_path):
    figures = tmp_path / "bench.json"
    done = run("bench", "--quick", "--json", str(figures), COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert "say nothing about an NPU" in done.stdout
    report = json.loads(figures.read_text())
    assert report["runtime"] == "emulator" and report["soc"] == "Ascend910B3"
    measured = {(r["group"], r["row"], r["caller"]) for r in report["results"]}
    assert len({flags for flags, _, _ in measured}) == 4
    assert len(measured) == 4 * 8 * 4
    assert all(r["median"] > 0 for r in report["results"])


@pytest.mark.slow
def test_bench_of_launches_has_every_group(tmp_path):
    figures = tmp_path / "launch.json"
    done = run("bench", "--suite", "launch", "--quick", "--json", str(figures))
    assert done.returncode == 0, done.stderr
    results = json.loads(figures.read_text())["results"]
    groups = {r["group"] for r in results}
    assert groups == {"arguments", "batch", "busy", "threads", "live streams", "live events", "queued tasks"}
    assert {r["caller"] for r in results} >= {"C", "bound", "bound, released", "unbound", "ctypes", "cffi", "LaunchBatch"}
    assert "LaunchBatch of 1,000" in done.stdout


@pytest.mark.slow
def test_bench_of_copies_has_every_size_and_direction(tmp_path):
    figures = tmp_path / "copies.json"
    done = run("bench", "--suite", "copies", "--quick", "--json", str(figures))
    assert done.returncode == 0, done.stderr
    results = json.loads(figures.read_text())["results"]
    assert len({r["row"] for r in results}) == 4
    assert {r["caller"] for r in results} >= {"memcpy", "H2D", "D2H", "D2D", "H2D, async", "D2H, async", "D2D, async"}
    assert "part of memcpy's rate" in done.stdout


@pytest.mark.slow
def test_bench_of_replays_beside_the_queue_and_launches(tmp_path):
    figures = tmp_path / "replays.json"
    done = run("bench", "--suite", "replays", "--quick", "--json", str(figures))
    assert done.returncode == 0, done.stderr
    results = json.loads(figures.read_text())["results"]
    assert {r["row"] for r in results} == {"1", "10", "100", "1000"}
    assert {r["caller"] for r in results} == {"queued", "replay", "launched, bound", "launched, unbound"}
    assert "A replay of 1,000 costs" in done.stdout
