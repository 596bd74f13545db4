"""Each row of each table, on each product it holds on, is a test. See language.py for how rows are written."""

import pytest

from conformance import language
from conformance.conftest import products_to_ask


def pytest_generate_tests(metafunc):
    if "row" not in metafunc.fixturenames:
        return
    cases = [
        pytest.param(row, product, id=f"{table}-{product}-{row.name}")
        for product in products_to_ask()
        for table in language.TABLES
        for row in language.load(table)
        if product in row.products
    ]
    metafunc.parametrize(("row", "product"), cases)


@pytest.mark.timeout(600)
def test_row(row, product, conformance, record_property):
    record_property("conformance", (row.table, row.name))
    status, why = conformance(row, product)
    if status == "skipped":
        pytest.skip(why)
    if status == "failed":
        pytest.fail(f"{row.table}: {row.name} on {product}\n    {why}", pytrace=False)
