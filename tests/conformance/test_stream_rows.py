"""Every row of the tables, on every product it holds for: one process a product, one test a row and product.

With PYACL_RUNTIME=cann the same rows run on the real library instead, without those that control the device, and with
the columns of the product named by PYACL_CONFORMANCE_PRODUCT (default A2). That has never been done: no NPU here.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import pyacl

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from row_runner import PRODUCTS  # noqa: E402
from stream_rows import ROWS  # noqa: E402

ON_HARDWARE = os.environ.get("PYACL_RUNTIME") == "cann"
TESTED = (os.environ.get("PYACL_CONFORMANCE_PRODUCT", "A2"),) if ON_HARDWARE else PRODUCTS
CASES = [
    pytest.param(product, row, id=f"{product}: {row.id}")
    for product in TESTED
    for row in ROWS
    if product in row.on and not (ON_HARDWARE and row.needs_control)
]


@cache
def results(product):
    """What each row of the product returned."""
    library = pyacl.runtime.path if ON_HARDWARE else os.path.join(pyacl.get_library_dir(), "libascendcl.so")
    wanted = json.dumps([row.id for row in ROWS if product in row.on and not (ON_HARDWARE and row.needs_control)])
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYACL_", "ASCEND_RT_"))}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", FOLDER / "row_runner.py", library, pyacl.emulator.sample_kernels()],
        input=wanted, capture_output=True, text=True, timeout=100, env={**clean, "PYACL_EMULATOR_SOC": product},
    )  # fmt: skip
    return dict(map(json.loads, done.stdout.splitlines())), done.stderr


@pytest.fixture(scope="module")
def count_row(request):
    """Counts the rows that ran, and says so at the end, also with -q."""
    ran = Counter()

    def count(product):
        ran[product] += 1

    yield count
    per_product = ", ".join(f"{product} {number}" for product, number in ran.items())
    plugins = request.config.pluginmanager
    with plugins.get_plugin("capturemanager").global_and_fixture_disabled():
        reporter = plugins.get_plugin("terminalreporter")
        reporter.ensure_newline()
        reporter.write_line(f"conformance of streams: {sum(ran.values())} rows ran ({per_product})")


@pytest.mark.parametrize(("product", "case"), CASES)
def test_row(product, case, count_row):
    row = case
    found, errors = results(product)
    assert row.id in found, f"the process ended before this row: {errors[-2000:]}"
    got, expected = found[row.id], row.expected_on(product)
    expected = list(expected) if isinstance(expected, tuple) else expected
    if ON_HARDWARE and row.device_decides:
        got, expected = first(got), first(expected)
    count_row(product)
    assert got == expected, f"{row.id} on {product} gave {got}, not {expected} (source: {row.source or 'see the table'})"


def first(value):
    return value[0] if isinstance(value, list) else value
