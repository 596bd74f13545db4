"""Tell which runtime answers, where it was looked for, and what it is."""

from __future__ import annotations

import argparse
import sys

import pyacl
from pyacl.errors import RuntimeNotFoundError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`pyacl info` takes none."""


def run(options: argparse.Namespace) -> int:
    runtime = pyacl.runtime
    try:
        facts = {
            "pyacl": pyacl.__version__,
            "runtime": runtime.kind,
            "why": runtime.reason,
            "library": runtime.path,
            "ACL version": runtime.version,
            "SoC": runtime.soc or "unknown",
            "devices": runtime.device_count,
        }
    except RuntimeNotFoundError as error:
        print(f"pyacl: {error}", file=sys.stderr)
        print_candidates(runtime.candidates, sys.stderr)
        return 1
    for name, value in facts.items():
        print(f"{name:<12} {value}")
    print_candidates(runtime.candidates, sys.stdout)
    return 0


def print_candidates(candidates: list[str], file) -> None:
    print("looked at:", file=file)
    for candidate in candidates:
        print(f"  {candidate}", file=file)
