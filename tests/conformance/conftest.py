"""Makes a test of each row of each table, on each product it holds on: ``pytest tests/conformance/stream.py -k A2``.

The tables run in processes of their own (runner.py), two at a time; a test only looks up what became of its row. At the
end a summary says how many rows ran.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

import pyacl
from conformance import language, products

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


def soc_name(library):
    """What the library calls its device; asked in another process."""
    program = (
        "import ctypes, sys; ask = ctypes.CDLL(sys.argv[1]).aclrtGetSocName; ask.restype = ctypes.c_char_p;"
        "print((ask() or b'').decode())"
    )
    return subprocess.run([sys.executable, "-c", program, library], capture_output=True, text=True, check=True).stdout.strip()


@cache
def products_to_ask():
    """All that the emulator can play; the one that is there when it is a real runtime."""
    library = library_path()
    if b"pyaclEmuHoldStream" in Path(library).read_bytes():
        return products.PRODUCTS
    product = products.of_soc(soc_name(library))
    return (product,) if product else ()


class Outcomes:
    """Runs the tables that rows were collected of, all of them from the moment the first outcome is asked for."""

    def __init__(self, wanted):
        pool, library = ThreadPoolExecutor(2), library_path()
        self.runs = {(table, product): pool.submit(run_table, table, product, library) for table, product in wanted}

    def of(self, row, product):
        return self.runs[row.table, product].result().get(row.name, ("failed", "no answer for this row"))


OUTCOMES = pytest.StashKey[Outcomes]()


class RowFailed(Exception):
    pass


class RowItem(pytest.Item):
    def __init__(self, row, product, **rest):
        super().__init__(**rest)
        self.row, self.product = row, product
        self.add_marker(pytest.mark.timeout(RUNNER_SECONDS))

    def runtest(self):
        stash = self.session.stash
        if OUTCOMES not in stash:
            items = [item for item in self.session.items if isinstance(item, RowItem)]
            stash[OUTCOMES] = Outcomes(dict.fromkeys((item.row.table, item.product) for item in items))
        status, why = stash[OUTCOMES].of(self.row, self.product)
        self.user_properties.append(("conformance", (self.row.table, self.row.name)))
        if status == "skipped":
            pytest.skip(why)
        if status == "failed":
            raise RowFailed(f"{self.row.table}, on {self.product}: {self.row.name}\n    {why}")

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, RowFailed) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name


class TableFile(pytest.File):
    def collect(self):
        for product in products_to_ask():
            for row in language.load(self.path.stem):
                if product in row.products:
                    yield RowItem.from_parent(self, name=f"{product} {row.name}", row=row, product=product)


def pytest_collect_file(parent, file_path):
    if file_path.parent == FOLDER and file_path.stem in language.TABLES:
        return TableFile.from_parent(parent, path=file_path)
    return None


def pytest_terminal_summary(terminalreporter):
    counted = {}
    for status in ("passed", "failed", "skipped"):
        for report in terminalreporter.getreports(status):
            for table, row in (value for name, value in report.user_properties if name == "conformance"):
                counted.setdefault(table, {"rows": set(), "passed": 0, "failed": 0, "skipped": 0})
                counted[table]["rows"].add(row)
                counted[table][status] += 1
    if not counted:
        return
    write = terminalreporter.write_line
    line = "{:<16} {:>6} {:>8} {:>8} {:>8}"
    terminalreporter.section("conformance")
    write(line.format("table", "rows", "passed", "failed", "skipped") + "   on all products together")
    for table, n in counted.items():
        write(line.format(table, len(n["rows"]), n["passed"], n["failed"], n["skipped"]))
    totals = [sum(n[status] for n in counted.values()) for status in ("passed", "failed", "skipped")]
    write(line.format("all", sum(len(n["rows"]) for n in counted.values()), *totals))
