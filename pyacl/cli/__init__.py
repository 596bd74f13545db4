"""The command line: ``pyacl info`` and ``pyacl bench``.

Only this package needs rich and cffi; nothing in the core imports it.
"""

from __future__ import annotations

import argparse
import sys

from pyacl.cli import bench, info

COMMANDS = {"info": info, "bench": bench}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="pyacl", description="Ascend streams from Python, on an NPU or emulated.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.__doc__.splitlines()[0], description=module.__doc__)
        module.add_arguments(command)
    options = parser.parse_args(argv)
    return COMMANDS[options.command].run(options)


if __name__ == "__main__":
    sys.exit(main())
