"""How a row is written, and its parser.

A table is text; a line is a row: ``source marks | title | step; step; ...``. A line that begins with ``|`` goes on with the
row above; ``#`` begins a comment. A row passes when each step gives what is written behind its ``->``.

source    Where the truth stands: ``c15`` a case observed on the real host runtime, ``4.2`` a section of the behaviour
          sheet, ``v33`` one of the sheet's test vectors. What was observed wins.
marks     ``@A2,310P`` ``@CAPTURE`` ``@!CAPTURE``  the products it holds on (products.py); without it: all
          ``fresh``     a process of its own, with aclInit and aclrtSetDevice(0) done: ``ctx`` is the primary context
          ``bare``      a process of its own in which nothing was called
          ``NAME=value``  an environment variable, set before the library does anything (in a process of its own)
          ``nocann``    what the real library answers with a crash, or only a guess says: not asked there
          Rows without ``fresh``, ``bare`` and variables share a process; each gets a new context, ``ctx``.
step      A call as in C, with ``->`` and what it gives: the code, then the outputs in order. Without ``->``: code 0.
          ``T: call`` in thread T, ``T& call`` the same but not waited for; then ``busy(T)`` (still in it after 30 ms)
          and ``wait(T) -> ...``. Threads T, T2, ... have ``ctx`` current; B, B2, ... start with no context.
arguments Python expressions over ACL's own names. ``NULL``, bytes for text, lists as arrays of pointers,
          ``new.x`` an output handle that later steps call ``x``; ``u32 i32 u64 i64 f32 size ptr`` outputs that are
          compared; ``attr32 attr64`` a stream attribute as output; ``text(n)`` a buffer; structures by their own name.
objects   Made before the first step when a row names them without making them: see objects.py.
gives     Numbers and names, ``_`` (anything), ``kept`` (the output was not touched), ``above(n)``, ``below(n)``,
          ``between(a, b)``, ``emulated(x)`` (a real device may say something else). ``0 @CAPTURE else 207000`` differs by
          product. ``after 50`` at the end: not before 50 ms.
"""

import ast
import importlib
import re
from dataclasses import dataclass, field

from conformance import products

TABLES = ("stream", "context_device", "event", "memory", "kernel", "callback", "notify", "model", "misc")

# Steps that need the emulator's control calls or its host kernels.
CONTROL = {"hold", "release", "fail", "queue_off", "launch"}
EMULATOR_OBJECTS = re.compile(r"k_\w+|bin|kernels")
THREAD = re.compile(r"([TB]\d?)([:&])\s+(.*)", re.DOTALL)


@dataclass(frozen=True)
class Alternative:
    products: frozenset
    values: object  # compiled; a tuple


@dataclass(frozen=True)
class Step:
    text: str
    function: str
    arguments: tuple  # compiled
    names: frozenset
    made: frozenset  # handles that this step makes
    alternatives: tuple = ()  # none: code 0
    after_ms: int = 0
    thread: str = ""
    waited: bool = True


@dataclass(frozen=True)
class Row:
    table: str
    source: str
    title: str
    steps: tuple
    products: frozenset
    fresh: bool = False
    bare: bool = False
    cann: bool = True
    environment: dict = field(default_factory=dict, hash=False)

    @property
    def name(self):
        return f"{self.source} {self.title}"

    @property
    def alone(self):
        return self.fresh or self.bare or bool(self.environment)

    @property
    def emulator_only(self):
        """Holds or fails the device, or runs host kernels."""
        return any(
            step.function in CONTROL or any(EMULATOR_OBJECTS.fullmatch(name) for name in step.names) for step in self.steps
        )

    @property
    def objects(self):
        """Names that some step uses before any step made them."""
        made, used = set(), []
        for step in self.steps:
            used += [name for name in sorted(step.names) if name not in made]
            made |= step.made
        return list(dict.fromkeys(used))


def load(table):
    return importlib.import_module(f"conformance.{table}").ROWS


def rows(module, text):
    """The rows of a table. `module` is its ``__name__``."""
    table = module.rpartition(".")[2]
    made = [parse_row(table, line) for line in join_lines(text)]
    seen = set()
    for row in made:
        if row.name in seen:
            raise ValueError(f"{table}: two rows are called {row.name!r}")
        seen.add(row.name)
    return made


def join_lines(text):
    joined = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("|"):
            joined[-1] += (" " if joined[-1].count(" | ") > 1 else " | ") + line[1:].strip()
        elif line and not line.startswith("#"):
            joined.append(line)
    return joined


def parse_row(table, line):
    try:
        head, title, steps = (part.strip() for part in line.split(" | ", 2))
        source, *marks = head.split()
        return Row(table, source, title, tuple(map(parse_step, split_steps(steps))), **parse_marks(marks))
    except (SyntaxError, ValueError) as problem:
        raise ValueError(f"{table}: {line}: {problem}") from problem


def split_steps(text):
    return [step.strip() for step in text.split(";") if step.strip()]


def parse_marks(marks):
    parsed = {"products": frozenset(products.PRODUCTS), "environment": {}}
    for mark in marks:
        if mark.startswith("@"):
            parsed["products"] = products.select(mark[1:])
        elif "=" in mark:
            parsed["environment"].update([mark.split("=", 1)])
        elif mark == "nocann":
            parsed["cann"] = False
        elif mark in ("fresh", "bare"):
            parsed[mark] = True
        else:
            raise ValueError(f"mark {mark!r}")
    return parsed


def parse_step(text):
    thread, waited, rest = "", True, text
    if match := THREAD.fullmatch(text):
        thread, waited, rest = match[1], match[2] == ":", match[3]
    call, _, gives = rest.partition("->")
    tree = ast.parse(call.strip(), mode="eval").body
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.keywords:
        raise ValueError(f"{call!r} is no call")
    alternatives, after_ms = parse_gives(gives.strip())
    return Step(
        text=text,
        function=tree.func.id,
        arguments=tuple(map(compile_expression, tree.args)),
        names=frozenset(names_in([*tree.args, *expected_trees(gives.strip())])) - frozenset(made_in(tree.args)),
        made=frozenset(made_in(tree.args)),
        alternatives=alternatives,
        after_ms=after_ms,
        thread=thread,
        waited=waited,
    )


def parse_gives(text):
    """``0, 7 @A2 else 107000 after 50``: what a step gives on which product, and no sooner than when."""
    if not text:
        return (), 0
    text, _, after = text.partition(" after ")
    left, alternatives = set(products.PRODUCTS), []
    for part in text.split(" else "):
        values, _, chosen = part.partition("@")
        holds = left & products.select(chosen.strip()) if chosen else left
        left = left - holds
        alternatives.append(Alternative(frozenset(holds), compile_expression(ast.parse(f"({values},)", mode="eval").body)))
    return tuple(alternatives), int(after or 0)


def expected_trees(text):
    """The expressions of what a step gives, for the names in them."""
    values = [part.partition("@")[0] for part in text.partition(" after ")[0].split(" else ")] if text else []
    return [ast.parse(f"({value},)", mode="eval").body for value in values]


def compile_expression(tree):
    return compile(ast.Expression(tree), "<row>", "eval")


def nodes(trees):
    return [node for tree in trees for node in ast.walk(tree)]


def names_in(trees):
    return [node.id for node in nodes(trees) if isinstance(node, ast.Name)]


def made_in(trees):
    """x of each ``new.x``."""
    return [
        node.attr
        for node in nodes(trees)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "new"
    ]
