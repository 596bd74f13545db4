"""The Python outputs: Cython declarations, enums, the table of error codes."""

import os
import re
import textwrap

from interface import MARK, declare, pointer_type, quote, without_top_const

# ---------------------------------------------------------------------------------------------------------------------
# Cython declarations


def pxd(api):
    top = hash_comment(
        "The C interface for `cimport`: types, constants, and the table of all functions. Public, for authors of",
        "extensions: `from pyacl cimport acl`.",
        "Needs pyacl/include (acl/acl.h) and the folder of table.h on the include path, and nothing to link.",
        MARK,
    )
    plain = [t for t in api.typedefs if t["kind"] != "callback"]
    callbacks = [t for t in api.typedefs if t["kind"] == "callback"]
    constants = [m["name"] for m in api.macros] + [e["name"] for e in api.errors]
    parts = [
        *[f"ctypedef {declare(t['type'], t['name'])}" for t in plain],
        pxd_block("enum", constants),
        *[pxd_enum(enum) for enum in api.enums],
        *[pxd_struct(struct) for struct in api.structs],
        *[f"ctypedef {pxd_function(t)}" for t in callbacks],
    ]
    entries = [pxd_function(function) for function in api.functions]
    return f"""{top}
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "acl/acl.h" nogil:
{textwrap.indent(chr(10).join(parts), "    ")}

cdef extern from "table.h" nogil:
{textwrap.indent(pxd_block("ctypedef struct AclTable", entries), "    ")}
{textwrap.indent(pxd_block("enum", ["ACL_FUNCTION_COUNT"]), "    ")}
"""


def hash_comment(*lines):
    return "\n".join(f"# {line}" for line in lines)


def pxd_block(head, lines):
    return f"{head}:\n" + "\n".join(f"    {line}" for line in lines or ["pass"])


def pxd_enum(enum):
    head = f"{'ctypedef ' if enum['typedef'] else ''}enum {enum['name']}"
    return pxd_block(head, [f"{value['name']} = {value['value']}" for value in enum["values"]])


def pxd_struct(struct):
    """Cython has no inline members: an unnamed one lends its fields to the struct, a named one is a type before it."""
    lines, before = [], ""
    for field in struct.get("fields", []):
        if "fields" not in field:
            lines.append(pxd_field(field))
        elif not field["name"]:
            lines += map(pxd_field, field["fields"])
        else:
            inner = f"{struct['name']}_{field['name']}"
            before += pxd_block(f"{field['kind']} {inner}", map(pxd_field, field["fields"])) + "\n"
            lines.append(f"{inner} {field['name']}")
    head = f"ctypedef {struct['kind']} {struct['name']}" if struct["typedef"] else f"{struct['kind']} {struct['tag']}"
    return before + pxd_block(head, lines)


def pxd_field(field):
    ctype = {"_Bool": "bint"}.get(field["type"], field["type"].removeprefix("struct "))
    return declare(ctype, field["name"]) + (f"[{field['array']}]" if "array" in field else "")


def pxd_function(function):
    listed = [declare(without_top_const(p["type"]), p["name"]) for p in function["params"]]
    if function.get("variadic"):
        listed.append("...")
    return f"{pointer_type(function, function['name'], ', '.join(listed) or ' ').replace('( )', '()')} noexcept nogil"


# ---------------------------------------------------------------------------------------------------------------------
# Python enums

CLASS_NAMES = {
    "aclrtMemType": "PhysicalMemType",
    "aclrtMemPgType": "PhysicalPageType",
    "aclCANNPackageName": "CannPackageName",
}

# Where the shared beginning of an enum's C names is not what a reader wants cut off.
CUTS = {
    "aclDataType": ("ACL_DT_", "ACL_"),
    "aclFormat": ("ACL_FORMAT_", "ACL_"),
    "aclrtMemMallocPolicy": ("ACL_MEM_MALLOC_", "ACL_MEM_"),
    "aclrtMemAttr": ("ACL_",),
    "aclrtErrorType": ("ACL_RT_ERROR_", "ACL_RT_"),
    "aclrtIpcMemAttrType": ("ACL_RT_IPC_MEM_ATTR_",),
    "aclrtLastErrLevel": ("ACL_RT_",),
    "aclmdlRICondHandleFlag": ("ACL_MODEL_RI_COND_HANDLE_",),
    "aclrtDevFeatureType": ("ACL_FEATURE_",),
    "aclrtMemLinkType": ("ACL_RT_MEM_ACCESS_",),
    "aclrtAtomicOperation": ("ACL_RT_ATOMIC_OPERATION_",),
    "aclRegisterCallbackType": ("ACL_REG_TYPE_",),
    "aclrtFuncAttribute": ("ACL_FUNC_ATTR_",),
    "aclrtStreamAttr": ("ACL_STREAM_ATTR_", "ACL_STREAM_"),
    "aclrtMemPoolAttr": ("ACL_RT_MEM_POOL_ATTR_", "ACL_RT_MEM_POOL_"),
}

RENAMED = {"ACL_CONTINUE_ON_FAILURE": "CONTINUE", "ACL_STOP_ON_FAILURE": "STOP"}

# The C interface has these as macros only: Python class, base, what the macros begin with, what is left out.
MACRO_ENUMS = [
    ("StreamFlag", "IntFlag", "ACL_STREAM_", ("ACL_STREAM_WAIT_VALUE_", "ACL_STREAM_LAUNCH_BLOCKING_MODE_")),
    ("EventFlag", "IntFlag", "ACL_EVENT_", ("ACL_EVENT_RECORD_", "ACL_EVENT_WAIT_")),
    ("EventRecordFlag", "IntFlag", "ACL_EVENT_RECORD_", ()),
    ("EventWaitFlag", "IntFlag", "ACL_EVENT_WAIT_", ()),
    ("LaunchBlockingMode", "IntEnum", "ACL_STREAM_LAUNCH_BLOCKING_MODE_", ()),
    ("WaitValueMode", "IntEnum", "ACL_STREAM_WAIT_VALUE_", ()),
    ("FailureMode", "IntEnum", ("ACL_CONTINUE_ON_", "ACL_STOP_ON_"), ()),
    ("NotifyFlag", "IntFlag", "ACL_NOTIFY_", ()),
    ("NotifyExportFlag", "IntFlag", "ACL_RT_NOTIFY_EXPORT_FLAG_", ()),
    ("NotifyImportFlag", "IntFlag", "ACL_RT_NOTIFY_IMPORT_FLAG_", ()),
    ("IpcMemExportFlag", "IntFlag", "ACL_RT_IPC_MEM_EXPORT_FLAG_", ()),
    ("IpcMemImportFlag", "IntFlag", "ACL_RT_IPC_MEM_IMPORT_FLAG_", ()),
    ("VmmExportFlag", "IntFlag", "ACL_RT_VMM_EXPORT_FLAG_", ()),
    ("HostRegisterFlag", "IntFlag", "ACL_HOST_REG_", ()),
    ("MemAttachFlag", "IntFlag", "ACL_RT_MEM_ATTACH_", ()),
    ("MemTypeFlag", "IntFlag", "ACL_RT_MEM_TYPE_", ()),
    ("Topology", "IntFlag", "ACL_RT_DEVS_TOPOLOGY_", ()),
    ("ConnectType", "IntEnum", "ACL_HOST_DEVICE_CONNECT_TYPE_", ()),
    ("DeviceFormFactor", "IntEnum", "ACL_DEVICE_FORM_FACTOR_", ()),
    ("BinaryMagic", "IntEnum", "ACL_RT_BINARY_MAGIC_", ()),
    ("DebugJsonFlag", "IntFlag", "ACL_MDLRI_DEBUG_JSON_PRINT_", ()),
]


def enums(api):
    classes = [py_macro_enum(api, *row) for row in MACRO_ENUMS] + [py_enum(enum) for enum in api.enums]
    classes.sort(key=lambda pair: pair[0])
    names = ",\n".join(f'    "{name}"' for name, _ in classes)
    return f'''"""Flags and enums of the runtime interface under Python names; each says which C names it stands for.

{MARK}
"""

from enum import IntEnum, IntFlag

__all__ = [
{names},
]


{(chr(10) * 3).join(text for _, text in classes)}
'''


def py_enum(enum):
    names = [value["name"] for value in enum["values"]]
    cuts = CUTS.get(enum["name"]) or (shared_start(names),)
    name = CLASS_NAMES.get(enum["name"]) or re.sub(r"^acl(rt|mdlRI)?", "", enum["name"])
    base = "IntFlag" if is_bit_set(enum) else "IntEnum"
    return name, py_class(
        name, base, f"C: ``{enum['name']}``.", [(v["name"], cut(v["name"], cuts), v["value"]) for v in enum["values"]]
    )


def py_macro_enum(api, name, base, start, but):
    starts = (start,) if isinstance(start, str) else start
    macros = [m for m in api.macros if m["name"].startswith(starts) and not m["name"].startswith(but)]
    about = f"C: macros {', '.join(f'``{s}*``' for s in starts)}."
    return name, py_class(name, base, about, [(m["name"], cut(m["name"], starts), m["value"]) for m in macros])


def is_bit_set(enum):
    """Only the enum of capabilities has nothing but single bits, and more than two of them."""
    values = {value["value"] for value in enum["values"]}
    return len(values) > 3 and all(value > 0 and value & (value - 1) == 0 for value in values)


def shared_start(names):
    start = os.path.commonprefix(names)
    return start[: start.rfind("_") + 1]


def cut(name, cuts):
    if name in RENAMED:
        return RENAMED[name]
    for start in cuts:
        rest = name.removeprefix(start)
        if rest != name and rest.isidentifier():
            return rest
    return name


def py_class(name, base, about, members):
    number = "{:#x}" if base == "IntFlag" or name == "BinaryMagic" else "{}"
    lines = "\n".join(f"    {python} = {number.format(value)}  # {c}" for c, python, value in members)
    return f'class {name}({base}):\n    """{about}"""\n\n{lines}'


def error_table(api):
    lines = "\n".join(f"    {e['code']}: ({quote(e['name'])}, {quote(e['meaning'])})," for e in api.codes())
    return f'''"""Every error code of the runtime interface: code -> (C name, meaning).

{MARK}
"""

ERRORS = {{
{lines}
}}
'''
