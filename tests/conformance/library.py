"""A libascendcl.so through ctypes: its functions, structures and constants by name, as csrc/abi/acl_rt.json describes them."""

import ctypes
import json
from functools import cache
from pathlib import Path

INTERFACE = Path(__file__).parents[2] / "csrc/abi/acl_rt.json"
SCALARS = {
    "int": ctypes.c_int,
    "char": ctypes.c_char,
    "float": ctypes.c_float,
    "size_t": ctypes.c_size_t,
    "void": None,
    "bool": ctypes.c_bool,
    **{f"int{n}_t": getattr(ctypes, f"c_int{n}") for n in (8, 16, 32, 64)},
    **{f"uint{n}_t": getattr(ctypes, f"c_uint{n}") for n in (8, 16, 32, 64)},
}


class Library:
    def __init__(self, path):
        self.cdll = ctypes.CDLL(path)  # loads; runs nothing of it
        self.data = json.loads(INTERFACE.read_text())
        self.structs = {struct["name"]: struct for struct in self.data["structs"]}
        self.typedefs = {typedef["name"]: typedef for typedef in self.data["typedefs"]}
        self.enums = {enum["name"] for enum in self.data["enums"]}
        self.declared = {function["name"]: function for function in self.data["functions"]}
        self.constants = {value["name"]: value["value"] for enum in self.data["enums"] for value in enum["values"]}
        self.constants |= {macro["name"]: macro["value"] for macro in self.data["macros"] if "value" in macro}

    @property
    def has_control(self):
        """Whether this is pyacl's emulator, which can hold and fail its streams."""
        return hasattr(self.cdll, "pyaclEmuHoldStream")

    @cache
    def function(self, name):
        made = getattr(self.cdll, name)
        if name in self.declared:
            declared = self.declared[name]
            made.restype = self.type(declared["returns"])
            made.argtypes = [self.type(parameter["type"]) for parameter in declared["params"]]
            if name == "aclAppLog":
                made.argtypes = made.argtypes[:5]
        return made

    @cache
    def type(self, name):
        """The ctypes type of a C type; every pointer is a c_void_p."""
        if name == "const char *":
            return ctypes.c_char_p
        if name.endswith("*") or name.endswith("*const"):
            return ctypes.c_void_p
        name = name.removeprefix("const ").removeprefix("struct ")
        if name in SCALARS:
            return SCALARS[name]
        if name in self.enums:
            return ctypes.c_int32
        if name in self.structs:
            return self.struct(name)
        typedef = self.typedefs[name]
        return self.type(typedef["type"]) if typedef["kind"] == "alias" else ctypes.c_void_p

    @cache
    def struct(self, name):
        return self.build(name, self.structs[name])

    def build(self, name, described):
        base = ctypes.Union if described["kind"] == "union" else ctypes.Structure
        fields, anonymous = [], []
        for position, entry in enumerate(described["fields"]):
            if "type" in entry:
                made = self.type(entry["type"])
                fields.append((entry["name"], made * entry["array"] if "array" in entry else made))
            else:  # a union or structure without a name of its own
                label = entry["name"] or f"part{position}"
                fields.append((label, self.build(f"{name}_{label}", entry)))
                anonymous += [] if entry["name"] else [label]
        return type(name, (base,), {"_anonymous_": anonymous, "_fields_": fields})

    def make(self, name, values):
        """A structure with these fields; inner ones as dictionaries, arrays as lists, what is pointed to as structures."""
        made = self.struct(name)()
        made.kept = []
        for field, value in values.items():
            assign(made, field, value, made.kept)
        return made


def assign(target, field, value, kept):
    """Sets a field. What a pointer field points to goes into `kept`, to live as long as the structure."""
    inner = getattr(target, field)
    if isinstance(value, dict):
        for name, part in value.items():
            assign(inner, name, part, kept)
    elif isinstance(inner, ctypes.Array) and isinstance(value, (list, tuple)):
        inner[: len(value)] = value
    elif isinstance(value, (list, ctypes.Structure, ctypes.Union)) and not isinstance(inner, type(value)):
        pointed_to = array(value) if isinstance(value, list) else value
        kept.append(pointed_to)
        setattr(target, field, ctypes.addressof(pointed_to))
    else:
        setattr(target, field, value)


def array(items):
    """A C array: of structures, or of pointers and other 8-byte values."""
    kind = type(items[0]) if items and isinstance(items[0], ctypes.Structure) else ctypes.c_void_p
    return (kind * len(items))(*items)
