"""The raw layer: one Python function per C function (raw.pyx) and its type stub (raw.pyi)."""

import re

from interface import MARK, NO_BREAK, declare, is_pointer, prototype, without_top_const, wrap

RAW_ABOUT = """Every function of the runtime interface, 1:1: C's name, C's parameters in their order, C's result.

An error code is returned, not raised. Only a missing runtime, or one that lacks the function, raises.

- A handle is an int (None is NULL).
- A pointer is an int address, None (NULL), or an object with the buffer protocol whose address is passed: bytes,
  bytearray, ctypes objects, numpy arrays. Where C may write through the pointer the buffer has to be writable. It is
  pinned for the call, not longer: what a task reads or writes later has to be kept alive by the caller.
- A `const char *` also takes str (passed as UTF-8).
- A callback is an int address, None, or a ctypes function object (its buffer holds the address). The caller keeps it
  alive.
- A struct passed by value is a buffer of exactly that size; it is copied.
- `const char *` results come back as bytes or None, pointer results as int (0 is NULL).
- Calls that can block release the GIL, the others keep it; each docstring says which. Timeouts are in C's own units."""

RAW_HELPERS = """cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    bint PyIndex_Check(object value)


cdef struct Pins:
    # The buffers held during one call. Whatever can fail comes before the first pin, or lets go of all pins itself.
    int count
    Py_buffer views[@@PINS@@]


cdef inline void unpin(Pins *pins) noexcept:
    while pins.count:
        pins.count -= 1
        PyBuffer_Release(&pins.views[pins.count])


cdef inline bint is_number(object value):
    # Integers of numpy offer their bytes as a buffer too; what a caller means by one is the number. Arrays are none.
    return isinstance(value, int) or (PyIndex_Check(value) and not PySequence_Check(value))


cdef inline void *address(object value) except? NULL:
    return NULL if value is None else <void *><uintptr_t>value


cdef void *pin(Pins *pins, object value, int flags) except? NULL:
    if value is None:
        return NULL
    try:
        if is_number(value):
            return <void *><uintptr_t>value
        PyObject_GetBuffer(value, &pins.views[pins.count], flags)
    except BaseException:
        unpin(pins)
        raise
    pins.count += 1
    return pins.views[pins.count - 1].buf


cdef const char *pin_text(Pins *pins, object value) except? NULL:
    if not isinstance(value, str):
        return <const char *>pin(pins, value, PyBUF_SIMPLE)
    cdef Py_ssize_t size
    cdef const char *text
    try:
        text = PyUnicode_AsUTF8AndSize(value, &size)  # belongs to the str object, which the caller holds
        if strlen(text) != <size_t>size:
            raise ValueError("embedded null character")
    except BaseException:
        unpin(pins)
        raise
    return text


cdef int copy_value(object value, void *target, size_t size, str name) except -1:
    cdef Py_buffer view
    PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    try:
        if <size_t>view.len != size:
            raise ValueError(f"{name} has {view.len} bytes, expected {size}")
        memcpy(target, view.buf, size)
    finally:
        PyBuffer_Release(&view)
    return 0


cdef void *function_address(object value, str name) except? NULL:
    cdef void *function
    if value is None or is_number(value):
        return address(value)
    copy_value(value, &function, sizeof(function), name)
    return function"""


def raw(api):
    functions = "\n\n\n".join(raw_function(api, function) for function in api.functions)
    helpers = RAW_HELPERS.replace("@@PINS@@", str(most_pins(api)))
    return f'''# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: autotestdict=False
"""{RAW_ABOUT}

{MARK}
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.sequence cimport PySequence_Check
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, strlen

from pyacl cimport acl as abi
from pyacl._runtime cimport acl, raise_internal

{helpers}

{functions}
'''


def most_pins(api):
    return max(sum(raw_kind(api, p["type"]) in ("text", "pointer") for p in f["params"]) for f in api.functions)


def is_read_only(pointer):
    """C promises not to write where the pointer leads. (`const T **` leads to a pointer that may well be written.)"""
    return pointer.startswith("const ") and pointer.count("*") == 1


def raw_kind(api, ctype):
    """How the raw layer takes a parameter: scalar, handle, callback, value (a struct), text or pointer."""
    bare = without_top_const(ctype)
    if is_pointer(bare):
        return "text" if bare == "const char *" else "pointer"
    if bare in api.struct_of:
        return "value"
    typedef = api.typedef_of.get(bare)
    return typedef["kind"] if typedef and typedef["kind"] != "alias" else "scalar"


def raw_scalar(api, ctype):
    """The C type a number is converted to. An enum is taken as the integer behind it."""
    bare = without_top_const(ctype)
    if bare in api.enum_of:
        return api.enum_of[bare]["underlying"]
    return api.typedef_of[bare]["type"] if bare in api.typedef_of else bare


def qualified(api, ctype):
    """The type as the raw module writes it: names of the interface carry the module they come from."""
    own = lambda match: f"abi.{match[0]}" if match[0] in known else match[0]
    known = api.typedef_of.keys() | api.enum_of.keys() | api.struct_of.keys()
    return re.sub(r"\w+", own, without_top_const(ctype))


def raw_signature(api, function):
    listed = []
    for param in function["params"]:
        scalar = raw_kind(api, param["type"]) == "scalar"
        listed.append(declare(raw_scalar(api, param["type"]), param["name"]) if scalar else param["name"])
    return f"def {function['name']}({', '.join([*listed, '/'] if listed else [])}):"


def raw_steps(api, function):
    """Declarations, steps that may fail before anything is pinned, pins, and the arguments of the C call."""
    declared, first, pins, arguments = [], [], [], []
    for param in function["params"]:
        name, ctype = param["name"], qualified(api, param["type"])
        kind, local = raw_kind(api, param["type"]), f"c_{name}"
        if kind == "scalar":
            arguments.append(f"<{ctype}>{name}" if ctype.startswith("abi.") else name)
            continue
        arguments.append(local if kind in ("value", "text") or ctype == "void *" else f"<{ctype}>{local}")
        declared.append(f"cdef {declare({'value': ctype, 'text': 'const char *'}.get(kind, 'void *'), local)}")
        if kind == "value":
            first.append(f'copy_value({name}, &{local}, sizeof({local}), "{name}")')
        elif kind == "handle":
            first.append(f"{local} = address({name})")
        elif kind == "callback":
            first.append(f'{local} = function_address({name}, "{name}")')
        elif kind == "text":
            pins.append(f"{local} = pin_text(&pins, {name})")
        else:
            flags = "PyBUF_SIMPLE" if is_read_only(ctype) else "PyBUF_WRITABLE"
            pins.append(f"{local} = pin(&pins, {name}, {flags})")
    return declared, first, pins, arguments


def raw_function(api, function):
    declared, first, pins, arguments = raw_steps(api, function)
    if function.get("variadic"):
        arguments.insert(-1, '"%s"')  # the text is passed as it is, never read as a format
    returns = function["returns"]
    result = "" if returns == "void" else "result = "
    if result:
        declared.append(f"cdef {declare(qualified(api, returns), 'result')}")
    if pins:
        declared.append("cdef Pins pins")
        pins.insert(0, "pins.count = 0")
    call = [wrap(f"{result}acl.{function['name']}({', '.join(arguments)})", 8 if function["blocks"] else 4).strip()]
    if function["blocks"]:
        call = ["with nogil:", "    " + call[0]]
    lines = [*declared, *first, *pins, *call, *(["unpin(&pins)"] if pins else []), *raw_return(function)]
    return "\n".join([wrap(raw_signature(api, function)), raw_doc(api, function), *(f"    {line}" for line in lines)])


def raw_return(function):
    returns = function["returns"]
    if returns == "aclError":
        return ["if result < 0:", f'    raise_internal(result, "{function["name"]}")', "return result"]
    if returns == "void":
        return []
    if returns == "const char *":
        return ["return None if result is NULL else <bytes>result"]
    if is_pointer(returns) or returns in ("aclrtAllocatorDesc", "aclrtBinary"):
        return ["return <uintptr_t>result"]
    return ["return result"]


def raw_doc(api, function):
    gil = "Can block or touch a device: releases the GIL." if function["blocks"] else "Never blocks: keeps the GIL."
    units = [f"{p['name']}: {p['unit']}." for p in function["params"] if "unit" in p]
    notes = [word for word in ("deprecated", "newer") if function.get(word)]
    facts = [
        f"Products: {raw_products(api, function)}.",
        gil,
        *units,
        f"CANN Runtime API, {function['chapter']}." if function["chapter"] else "",
        "Deprecated." if "deprecated" in notes else "",
        f"Newer than {api.version}." if "newer" in notes else "",
    ]
    text = wrap(" ".join(filter(None, facts)), 4).replace("\n        ", "\n    ")
    return wrap(f'"""C: {prototype(function)}', 4) + f'\n\n{text}\n    """'


def raw_products(api, function):
    support = function["support"]
    if all(support[key] is None for key in api.product_keys):
        return "not documented"
    return ", ".join(key for key in api.product_keys if support[key]) or "none"


PYI_TYPES = {"handle": "_Handle", "callback": "_Callback", "value": "ReadableBuffer", "text": "_Text"}


def raw_stub(api):
    functions = "\n\n".join(pyi_function(api, function) for function in api.functions)
    return f'''"""{RAW_ABOUT}

{MARK}
"""

from typing import TypeAlias

from _typeshed import ReadableBuffer, WriteableBuffer

_Handle: TypeAlias = int | None
_Callback: TypeAlias = int | ReadableBuffer | None
_Text: TypeAlias = int | str | ReadableBuffer | None
_ConstPointer: TypeAlias = int | ReadableBuffer | None
_Pointer: TypeAlias = int | WriteableBuffer | None

{functions}
'''


def pyi_function(api, function):
    listed = [f"{p['name']}: {pyi_type(api, p['type'])}" for p in function["params"]]
    returns = f"-> {pyi_returns(function['returns'])}:".replace(" ", NO_BREAK)
    head = f"def {function['name']}({', '.join([*listed, '/'] if listed else [])}){NO_BREAK}{returns}"
    return f"{wrap(head)}\n{raw_doc(api, function)}"


def pyi_type(api, ctype):
    kind = raw_kind(api, ctype)
    if kind == "pointer":
        return "_ConstPointer" if is_read_only(ctype) else "_Pointer"
    return PYI_TYPES.get(kind) or pyi_number(raw_scalar(api, ctype))


def pyi_number(ctype):
    return "float" if ctype == "float" else "int"


def pyi_returns(ctype):
    return {"void": "None", "const char *": "bytes | None"}.get(ctype) or pyi_number(ctype)
