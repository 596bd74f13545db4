"""The stubs say what the compiled modules have: every public name, every parameter."""

import ast
import inspect
from pathlib import Path

import pytest

import pyacl

PACKAGE = Path(pyacl.__file__).parent
MODULES = ["device", "stream", "event", "memory", "kernel", "kernel_args", "launch_config", "symbol", "callback", "notify", "model", "report", "_handle", "_runtime"]
BUILTIN = {"__init__", "__enter__", "__exit__", "__buffer__", "__len__", "__getitem__", "__call__"}


def stub_names(module):
    """Class -> names of its members, and "" -> names of the functions."""
    tree = ast.parse((PACKAGE / f"{module}.pyi").read_text())
    names = {"": {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} - BUILTIN
            names[node.name] |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
    return names


def own_names(cls):
    return {name for name in vars(cls) if not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_the_stub_of_a_module_lists_what_it_has(module):
    imported = __import__(f"pyacl.{module}", fromlist=["x"])
    for name, members in stub_names(module).items():
        if name == "":
            assert all(callable(getattr(imported, function)) for function in members)
            continue
        cls = getattr(imported, name)
        missing = own_names(cls) - members - {"close"}  # stands in Handle's stub
        invented = {member for member in members if not hasattr(cls, member)} - {"close"}
        assert (missing, invented) == (set(), set()), name


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_is_documented(module):
    imported = __import__(f"pyacl.{module}", fromlist=["x"])
    for name, members in stub_names(module).items():
        owner = imported if name == "" else getattr(imported, name)
        text = inspect.getdoc(owner) or ""  # attributes stand in the text of their class
        undocumented = [
            member
            for member in members
            if hasattr(owner, member) and not inspect.getdoc(getattr(owner, member)) and f"{member} : " not in text
        ]
        assert undocumented == [], name
