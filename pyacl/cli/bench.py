"""Measure what launching and waiting cost, on whatever runtime answers.

Every call is made from a C loop, through pyacl, through ctypes and through cffi, all in this process and in turns, so
that noise hits all alike: the ratios tell, the nanoseconds belong to this machine. What a Python loop costs by itself
is measured in the same turns and taken off the Python rows.
"""

from __future__ import annotations

import argparse

from rich.console import Console

import pyacl
from pyacl.cli import callers, copy_suite, launch_suite, replay_suite, stream_suite
from pyacl.cli.measure import QUICK_TURNS, TURNS, make_progress, print_heading, write_json

TABLE_WIDTH = 118  # a narrow terminal wraps the lines; rich would cut the figures
SUITES = {"streams": stream_suite, "launch": launch_suite, "copies": copy_suite, "replays": replay_suite}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--suite", choices=SUITES, default="streams", help="streams: every call, per stream flag; launch: "
                        "launches by arguments, batches, threads, streams, with a busy thread beside; copies: by size "
                        "and direction; replays: by captured kernels")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--json", metavar="FILE", help="also write every figure to FILE")
    parser.add_argument("--kernel", metavar="FILE", help="binary with the kernel to launch (default: pyacl's host kernels, "
                        "which only the emulator can run)")  # fmt: skip
    parser.add_argument("--kernel-name", metavar="NAME", default="noop", help="a kernel that ignores its arguments")


def run(options: argparse.Namespace) -> int:
    console = Console()
    console.width = max(console.width, TABLE_WIDTH)
    suite = SUITES[options.suite]
    turns = QUICK_TURNS if options.quick else TURNS
    kernel = options.kernel or pyacl.emulator.sample_kernels()
    results = []
    print_heading(console)
    with callers.Bench(kernel, options.kernel_name) as bench, make_progress(console) as progress:
        task = progress.add_task("measuring", total=suite.STEPS)
        for description, found in suite.measure(bench, turns):
            results += found
            progress.update(task, advance=1, description=description)
    suite.print_results(console, results)
    if options.json:
        write_json(options.json, results)
    return 0
