"""The tables' own machinery: rows that are wrong, crash or hang must show, or the tables prove nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import language, products
from conformance.conftest import library_path, products_to_ask, run_table

PROGRAM = """
import sys
from conformance import language, runner
language.load = lambda table: language.rows("conformance.trial", sys.stdin.read())
runner.main("trial", "A2")
"""

pytestmark = pytest.mark.skipif(len(products_to_ask()) == 1, reason="needs the emulator")


def outcomes(text):
    import pyacl

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYACL_EMULATOR_SOC": "A2"}
    environment |= {"CONFORMANCE_LIBRARY": library_path(), "CONFORMANCE_KERNELS": pyacl.emulator.sample_kernels()}
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=text, env=environment, capture_output=True, text=True, check=True)
    return {name: (status, why) for name, status, why in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ("aclrtStreamQuery(s, i32) -> 0, 1", "expected 0, 1, got 0, 0"),
        ("aclrtStreamQuery(s, i32) -> 107000", "expected 107000, got 0, 0"),
        ("aclrtStreamQuery(s, i32) -> 0, kept", "expected 0, kept, got 0, 0"),
        ("aclrtStreamQuery(dead, i32)", "expected 0, got 107017"),
        ("T: aclrtSynchronizeStream(s) -> 507046", "expected 507046, got 0"),
        ("aclrtSynchronizeStreamWithTimeout(s, 50) -> 0 after 40", "expected at least 40"),
        ("T& aclrtSynchronizeStream(s); busy(T)", "the call is over already, with 0"),
        ("aclrtStreamQuery(nonsense, i32)", "the row names nonsense"),
        ("aclrtMemcpy(1, 4096, h, 4096, 0)", "the process ended with SIGSEGV"),
    ],
)
def test_a_wrong_row_fails(steps, why):
    outcome = outcomes(f"x | wrong | {steps}\nx | right | aclrtStreamQuery(s, i32) -> 0, 0")
    assert outcome["x wrong"][0] == "failed"
    assert why in outcome["x wrong"][1]
    assert outcome["x right"] == ("passed", "")


def test_products_and_marks():
    row = language.parse_row("t", "c1 @!CAPTURE fresh A=1 | title | aclrtStreamAbort(s) -> 0 @A2 else 107000 after 5")
    assert row.products == {"310B", "910"}
    assert (row.fresh, row.environment, row.steps[0].after_ms) == (True, {"A": "1"}, 5)
    assert [set(alternative.products) for alternative in row.steps[0].alternatives] == [{"A2"}, set(products.PRODUCTS) - {"A2"}]


@pytest.mark.parametrize("line", ["c1 title", "c1 | title | s", "c1 @A9 | t | f()", "c1 wrong | t | f()", "c1 | t | f(x=1)", "c1 | t | f("])
def test_a_line_that_is_no_row(line):
    with pytest.raises(ValueError):
        language.parse_row("t", line)


def test_every_row_names_functions_that_exist():
    interface = json.loads((Path(__file__).parents[2] / "csrc/abi/acl_rt.json").read_text())
    functions = {function["name"] for function in interface["functions"]}
    named = {step.function for table in language.TABLES for row in language.load(table) for step in row.steps}
    assert not {name for name in named if name.startswith("acl")} - functions


def test_the_emulator_plays_the_product_that_was_asked_for():
    assert run_table("stream", "A2", library_path())["c10 CreateStream: NULL"] == ("passed", "")
