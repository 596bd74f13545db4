"""Runs the tables, two at a time, and hands each test its row's outcome; says at the end how many rows ran."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pyacl
from conformance import products

FOLDER = Path(__file__).parent
RUNNER_SECONDS = 600


def library_path():
    """PYACL_LIBASCENDCL, CANN's library when it is what pyacl runs on, else the emulator as another program would link it."""
    named = os.environ.get("PYACL_LIBASCENDCL")
    if named:
        return named
    if pyacl.runtime.kind == "cann":
        return pyacl.runtime.path
    return os.path.join(pyacl.get_library_dir(), "libascendcl.so")


def run_table(table, product, library):
    """{row name: (passed|failed|skipped, why)} of one table on one product."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYACL_EMULATOR", "ASCEND_RT_"))}
    environment |= {
        "PYTHONPATH": str(FOLDER.parent),
        "PYACL_EMULATOR_SOC": product,
        "CONFORMANCE_LIBRARY": library,
        "CONFORMANCE_KERNELS": os.environ.get("ACL_KERNEL", pyacl.emulator.sample_kernels()),
    }
    command = [sys.executable, "-m", "conformance.runner", table, product]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=RUNNER_SECONDS)
    answers = {name: (status, why) for name, status, why in map(json.loads, done.stdout.splitlines())}
    if done.returncode != 0:
        raise RuntimeError(f"{table} on {product}: the runner failed\n{done.stderr[-3000:]}")
    return answers


class Outcomes:
    """Tables run when the first of their rows is asked for, those that come next along with it."""

    def __init__(self, wanted, library):
        self.pool = ThreadPoolExecutor(2)
        self.runs = {(table, product): self.pool.submit(run_table, table, product, library) for table, product in wanted}

    def __call__(self, row, product):
        return self.runs[row.table, product].result().get(row.name, ("failed", "no answer for this row"))


def soc_name(library):
    """What the library calls its device; asked in another process."""
    program = "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).aclrtGetSocName; f.restype = ctypes.c_char_p; print((f() or b'').decode())"
    return subprocess.run([sys.executable, "-c", program, library], capture_output=True, text=True, check=True).stdout.strip()


def is_emulator(library):
    return b"pyaclEmuHoldStream" in Path(library).read_bytes()


@pytest.fixture(scope="session")
def conformance(request):
    wanted = dict.fromkeys(
        (item.callspec.params["row"].table, item.callspec.params["product"])
        for item in request.session.items
        if item.path.parent == FOLDER and hasattr(item, "callspec") and "row" in item.callspec.params
    )
    return Outcomes(wanted, library_path())


def products_to_ask():
    library = library_path()
    if is_emulator(library):
        return products.PRODUCTS
    product = products.of_soc(soc_name(library))
    return (product,) if product else ()


def pytest_terminal_summary(terminalreporter):
    counted = {}
    for status in ("passed", "failed", "skipped"):
        for report in terminalreporter.getreports(status):
            row = dict(report.user_properties).get("conformance") if hasattr(report, "user_properties") else None
            if row:
                counted.setdefault(row[0], {"rows": set(), "passed": 0, "failed": 0, "skipped": 0})
                counted[row[0]]["rows"].add(row[1])
                counted[row[0]][status] += 1
    if not counted:
        return
    terminalreporter.section("conformance")
    line = "{:<16} {:>6} {:>8} {:>8} {:>8}"
    terminalreporter.line(line.format("table", "rows", "passed", "failed", "skipped"))
    for table, n in counted.items():
        terminalreporter.line(line.format(table, len(n["rows"]), n["passed"], n["failed"], n["skipped"]))
    totals = [sum(n[status] for n in counted.values()) for status in ("passed", "failed", "skipped")]
    terminalreporter.line(line.format("all", sum(len(n["rows"]) for n in counted.values()), *totals) + "  (row × product)")
