"""Counts the conformance rows that ran, and says so at the end, also with -q."""

from collections import Counter

import pytest

ran = Counter()


@pytest.fixture
def conformance_count():
    def count(product):
        ran[product] += 1

    return count


def pytest_terminal_summary(terminalreporter):
    if ran:
        per_product = ", ".join(f"{product} {count}" for product, count in ran.items())
        terminalreporter.write_line(f"conformance: {sum(ran.values())} rows ran ({per_product})")
