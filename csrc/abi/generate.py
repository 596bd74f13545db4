"""Writes everything that is derived from acl_rt.json (the API as data) and products.json (the products as data).

    python csrc/abi/generate.py           write the files
    python csrc/abi/generate.py --check   write nothing; list the files that differ and exit with 1

One function per output, listed in OUTPUTS. Standard library only. Knows nothing about the emulator or the Python
classes beyond the names they agreed on.
"""

import argparse
import os
import sys
from pathlib import Path

import emit_c
import emit_python
import emit_raw
from interface import Api

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

OUTPUTS = {
    "csrc/include/acl/acl.h": emit_c.umbrella,
    **{f"csrc/include/acl/{name}": emit_c.header_emitter(name) for name in emit_c.HEADERS},
    "csrc/runtime/table.h": emit_c.table,
    "csrc/runtime/stubs.c": emit_c.stubs,
    "csrc/emulator/api/fallback.c": emit_c.fallback,
    "csrc/emulator/soc/features.h": emit_c.features,
    "csrc/emulator/soc/profiles.inc": emit_c.profiles,
    "csrc/emulator/engine/error_names.inc": emit_c.error_names,
    "tests/c/test_abi.c": emit_c.test_abi,
    "pyacl/acl.pxd": emit_python.pxd,
    "pyacl/enums.py": emit_python.enums,
    "pyacl/_error_table.py": emit_python.error_table,
    "pyacl/raw.pyx": emit_raw.raw,
    "pyacl/raw.pyi": emit_raw.raw_stub,
}


def drifted(api, root):
    """The outputs whose text on disk is not what the data says, with the text they should have."""
    for path, emit in OUTPUTS.items():
        text = emit(api)
        target = root / path
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            yield path, text


def write(target, text):
    """Replaces the file in one step, so that a build running beside us never sees half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(target.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, target)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Writes the files derived from acl_rt.json and products.json.")
    parser.add_argument("--check", action="store_true", help="only list the files that differ; exit 1 if there are any")
    options = parser.parse_args(arguments)
    changed = list(drifted(Api(HERE), ROOT))
    for path, text in changed:
        print(path)
        if not options.check:
            write(ROOT / path, text)
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
