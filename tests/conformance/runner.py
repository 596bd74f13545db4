"""Runs the rows of one table for one product: ``python -m conformance.runner TABLE PRODUCT``, told by CONFORMANCE_LIBRARY and
CONFORMANCE_KERNELS which library to ask. Prints one JSON object a row.

This process never calls the library: rows run in forked children, so that each starts with a library in which nothing
happened yet, and a crash or a hang costs one row. Rows that can share a process do.
"""

import ctypes
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from itertools import zip_longest

from conformance import language, objects, products
from conformance.library import Library, array

HANG_SECONDS = 20  # a row that takes longer hangs
HANG_SECONDS_ON_HARDWARE = 240  # where a failing kernel alone takes seconds
BUSY_MS = 30
SENTINEL = 0xDEAD57
HANDLES_FROM = 1 << 20  # what callbacks are told: smaller values are numbers


class Failed(Exception):
    """A step gave something else than the row says."""


# ---- outputs and what a row expects of them ----


class Out:
    """An output parameter. Starts as SENTINEL, so that an untouched one shows."""

    def __init__(self, kind, size=0, name=""):
        self.name = name
        self.cell = kind(SENTINEL) if not size else (ctypes.c_uint64 * (size // 8))(SENTINEL)
        self.kind = kind
        self.before = self.value

    @property
    def argument(self):
        return ctypes.byref(self.cell)

    @property
    def value(self):
        return self.kind.from_buffer(self.cell).value


class Text:
    """A character buffer as output."""

    def __init__(self, size):
        self.argument = ctypes.create_string_buffer(b"\xff" * (size - 1), size)
        self.before = self.value

    @property
    def value(self):
        return self.argument.value


class Field:
    """One field of a structure as output: ``field("aclrtPtrAttributes", "location.type")``."""

    def __init__(self, library, name, path):
        self.made, self.path = library.struct(name)(), path.split(".")
        self.before = self.value

    @property
    def argument(self):
        return ctypes.byref(self.made)

    @property
    def value(self):
        value = self.made
        for name in self.path:
            value = getattr(value, name)
        return value


class New:
    """``new.x``: an output handle that is called x afterwards."""

    def __getattr__(self, name):
        return Out(ctypes.c_void_p, name=name)


class Expected:
    def __init__(self, text, test):
        self.text, self.test = text, test

    def __repr__(self):
        return self.text


ANYTHING = Expected("_", lambda value, before: True)
KEPT = Expected("kept", lambda value, before: value == before)
OUTS = (Out, Text, Field)


class Callback:
    def __init__(self, name, result):
        self.name, self.result = name, result


class Callbacks:
    """``on.a``: a callback called "a", of whatever kind a function wants; ``fails.a``: one that returns 1."""

    def __init__(self, result):
        self.result = result

    def __getattr__(self, name):
        return Callback(name, self.result)


COMPARISONS = {
    "_": ANYTHING,
    "kept": KEPT,
    "above": lambda low: Expected(f"above({low})", lambda value, before: value > low),
    "below": lambda high: Expected(f"below({high})", lambda value, before: value < high),
    "between": lambda low, high: Expected(f"between({low}, {high})", lambda value, before: low <= value <= high),
    "one_of": lambda *values: Expected(f"one_of{values}", lambda value, before: value in values),
}
OUTPUTS = {
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32,
    "u64": ctypes.c_uint64,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "size": ctypes.c_size_t,
    "ptr": ctypes.c_void_p,
}


def agrees(expected, value, before):
    return expected.test(value, before) if isinstance(expected, Expected) else expected == value


# ---- names of a row ----


class Names(dict):
    """What the expressions of a row can name: its objects and handles, outputs, ACL's constants and structures."""

    def __init__(self, library, product, emulated):
        super().__init__(COMPARISONS)
        self.library = library
        self.update(NULL=None, new=New(), text=Text, on=Callbacks(0), fails=Callbacks(1), len=len, bytes=bytes)
        self["field"] = lambda name, path: Field(library, name, path)
        self["i32s"] = lambda *values: (ctypes.c_int32 * len(values))(*values)
        self["emulated"] = (lambda value: value) if emulated else (lambda value: ANYTHING)
        for limit in ("STREAMS", "QUEUE", "PERSISTENT_QUEUE", "EVENTS", "NOTIFIES", "TICKS_PER_MS"):
            self[limit] = getattr(products, limit)[product]
        self["SOC"] = products.SOC[product].encode()
        self["this_thread"] = threading.get_ident
        self["kernels"] = os.environ["CONFORMANCE_KERNELS"].encode()
        for limit in ("CUBE_CORES", "VECTOR_CORES"):
            self[limit] = getattr(products, limit).get(product, ANYTHING)

    def __missing__(self, name):
        if name in OUTPUTS:
            return Out(OUTPUTS[name])
        if name in ("attr32", "attr64"):  # aclrtStreamAttrValue
            return Out(OUTPUTS["u" + name[4:]], size=16)
        if name in self.library.constants:
            return self.library.constants[name]
        if name in self.library.structs:
            return lambda **values: self.library.make(name, values)
        raise Failed(f"the row names {name}, which is nothing")


# ---- threads of a row ----


class Worker(threading.Thread):
    def __init__(self, context, library):
        super().__init__(daemon=True)
        self.jobs, self.results = queue.SimpleQueue(), queue.SimpleQueue()
        self.context, self.library = context, library
        self.start()

    def run(self):
        if self.context is not None:
            self.library.function("aclrtSetCurrentContext")(self.context)
        while (job := self.jobs.get()) is not None:
            self.results.put(job())


# ---- one row ----


class Run:
    def __init__(self, row, library, kernels, product, primary):
        self.row, self.library, self.product, self.primary = row, library, product, primary
        self.objects = objects.Objects(library, kernels)
        self.names = Names(library, product, library.has_control)
        self.workers, self.kept, self.log, self.callbacks, self.held = {}, [], [], {}, {}
        self.context = None
        self.actions = {name: getattr(self, "do_" + name) for name in ACTIONS}

    def call(self, function, *arguments):
        return self.library.function(function)(*arguments)

    def run(self):
        try:
            self.prepare()
            for step in self.row.steps:
                self.step(step)
        except (Failed, objects.NotMade) as problem:
            return str(problem)
        except Exception as problem:  # a mistake in the row
            return f"{type(problem).__name__}: {problem}"
        finally:
            self.clean()
        return None

    def prepare(self):
        self.call("aclrtGetLastError", 0)
        if not self.row.bare:
            context = ctypes.c_void_p()
            if self.row.alone:
                code = self.call("aclrtGetCurrentContext", ctypes.byref(context))
            else:
                code = self.call("aclrtCreateContext", ctypes.byref(context), 0)
            if code != 0:
                raise Failed(f"no context for the row: {code}")
            self.context = self.names["ctx"] = context.value
        for name in self.row.objects:
            value = self.objects.make(name) if name not in self.names else None
            if value is not None:
                self.names[name] = value
        self.call("aclrtGetLastError", 0)

    def clean(self):
        if self.row.alone:
            return  # the process ends
        if self.library.has_control:
            self.library.cdll.pyaclEmuHoldStream(-1, 0)
        for worker in self.workers.values():
            worker.jobs.put(None)
            worker.join()
        self.call("aclrtSetCurrentContext", self.context)
        self.objects.end_work()
        self.call("aclrtDestroyContext", self.context)
        self.call("aclrtSetCurrentContext", self.primary)
        self.objects.free()
        while self.call("aclGetRecentErrMsg"):
            pass

    # -- steps --

    def step(self, step):
        began = time.monotonic()
        if step.function == "wait":
            thread = step.text.partition("(")[2].partition(")")[0]
            values, outs = self.workers[thread].results.get()
        elif step.function == "busy":
            thread = step.text.partition("(")[2].partition(")")[0]
            return self.expect_busy(step, thread)
        else:
            arguments = [eval(code, {"__builtins__": {}}, self.names) for code in step.arguments]
            outs = [argument for argument in arguments if isinstance(argument, OUTS)]
            job = self.job(step.function, arguments, outs)
            if step.thread:
                worker = self.worker(step.thread)
                worker.jobs.put(lambda: (job(), outs))
                if not step.waited:
                    return None
                values, outs = worker.results.get()
            else:
                values = job()
        took_ms = (time.monotonic() - began) * 1000
        for out in outs:
            if isinstance(out, Out) and out.name:
                self.names[out.name] = out.value
        shown = [out for out in outs if not getattr(out, "name", "")]
        self.compare(step, values, shown, took_ms)
        return None

    def worker(self, name):
        if name not in self.workers:
            self.workers[name] = Worker(self.context if name.startswith("T") else None, self.library)
        return self.workers[name]

    def job(self, function, arguments, outs):
        if function in self.actions:
            return lambda: self.actions[function](*arguments)
        made = self.library.function(function)
        declared = [parameter["type"] for parameter in self.library.declared.get(function, {"params": []})["params"]]
        converted = [self.convert(argument, kind) for argument, kind in zip_longest(arguments, declared)]
        self.kept += [arguments, converted]
        return lambda: made(*converted)

    def convert(self, argument, kind):
        """A value of a row as ctypes wants it for a parameter of the C type `kind`."""
        if isinstance(argument, OUTS):
            return argument.argument
        if isinstance(argument, Callback):
            return self.callback(argument, kind)
        if isinstance(argument, (ctypes.Structure, ctypes.Union)) and self.library.type(kind) is ctypes.c_void_p:
            return ctypes.byref(argument)
        return array(argument) if isinstance(argument, list) else argument

    def callback(self, wanted, kind):
        """A C function of the type `kind` that writes its name, and what numbers it was given, into the log."""
        key = wanted.name, wanted.result, kind
        if key not in self.callbacks:
            signature = self.library.typedefs[kind]
            types = [self.library.type(parameter["type"]) for parameter in signature["params"]]
            result = self.library.type(signature["returns"])

            def tell(*arguments):
                numbers = [a for a in arguments if isinstance(a, int) and a < HANDLES_FROM]
                self.log.append(f"{wanted.name}({','.join(map(str, numbers))})")
                return None if result is None else wanted.result

            self.callbacks[key] = ctypes.CFUNCTYPE(result, *types)(tell)
        return self.callbacks[key]

    def expect_busy(self, step, thread):
        time.sleep(BUSY_MS / 1000)
        if not self.workers[thread].results.empty():
            code, _ = self.workers[thread].results.get()
            raise Failed(f"{step.text}: the call is over already, with {code}")

    def compare(self, step, value, outs, took_ms):
        expected = (0,)
        for alternative in step.alternatives:
            if self.product in alternative.products:
                expected = eval(alternative.values, {"__builtins__": {}}, self.names)
        if not step.alternatives and value is None:
            return
        got = (value, *(out.value for out in outs))
        before = (None, *(out.before for out in outs))
        if len(expected) > len(got) or not all(map(agrees, expected, got, before)):
            raise Failed(f"{step.text}\n    expected {shown(expected)}, got {shown(got)}")
        if took_ms < step.after_ms:
            raise Failed(f"{step.text}\n    took {took_ms:.0f} ms, expected at least {step.after_ms}")

    # -- what a row can do beside calling the API --

    def stream_id(self, stream):
        number = ctypes.c_int32()
        self.call("aclrtStreamGetId", stream, ctypes.byref(number))
        return number

    def do_hold(self, stream):
        self.held[stream] = self.stream_id(stream)
        return self.library.cdll.pyaclEmuHoldStream(self.held[stream], 1)

    def do_release(self, stream):
        return self.library.cdll.pyaclEmuHoldStream(self.held[stream], 0)  # by then it may be in its destruction

    def do_fail(self, stream, code):
        return self.library.cdll.pyaclEmuFailNextTask(self.stream_id(stream), code)

    def do_queue_off(self, stream):
        return self.library.cdll.pyaclEmuEnableStreamQueue(self.stream_id(stream), 0)

    def do_launch(self, kernel, stream, *values):
        """aclrtLaunchKernelWithHostArgs of one block, the arguments as 8-byte slots."""
        slots = (ctypes.c_uint64 * max(len(values), 4))(*values)
        return self.call("aclrtLaunchKernelWithHostArgs", kernel, 1, stream, None, slots, ctypes.sizeof(slots), None, 0)

    def do_attribute_set(self, stream, attribute, value):
        """aclrtSetStreamAttribute with `value` in all members of the union."""
        union = self.library.make("aclrtStreamAttrValue", {"failureMode": value})
        return self.call("aclrtSetStreamAttribute", stream, attribute, ctypes.byref(union))

    def do_ids_differ(self, one, other):
        return int(self.stream_id(one).value != self.stream_id(other).value)

    def do_same_id(self, one, other):
        return int(self.stream_id(one).value == self.stream_id(other).value)

    def do_differ(self, *values):
        return int(len(set(values)) == len(values) and None not in values)

    def do_sleep(self, milliseconds):
        time.sleep(milliseconds / 1000)

    def do_host(self, address, count):
        """Bytes of host memory."""
        return ctypes.string_at(address, count)

    def do_put(self, address, data):
        """Writes host memory."""
        ctypes.memmove(address, data, len(data))

    def do_device(self, address, count):
        """Bytes of device memory."""
        buffer = ctypes.create_string_buffer(count)
        code = self.call("aclrtMemcpy", buffer, count, address, count, 2)
        return buffer.raw if code == 0 else code

    def do_load(self, address, data):
        """Writes device memory."""
        return self.call("aclrtMemcpy", address, len(data), data, len(data), 1)

    def do_repeat(self, count, function, *arguments):
        """Calls a function that often, or until it fails. Gives its last code."""
        job = self.job(function, arguments, [])
        for _ in range(count):
            if (code := job()) != 0:
                return code
        return 0

    def do_log(self):
        """What the callbacks told since the last look."""
        told = " ".join(self.log)
        self.log.clear()
        return told


ACTIONS = [name.removeprefix("do_") for name in dir(Run) if name.startswith("do_")]


def shown(values):
    return ", ".join(hex(v) if isinstance(v, int) and v > 0xFFFFFF else repr(v) for v in values)


# ---- a table ----


def run_rows(rows, library, kernels, product, send):
    """In a forked child: all of `rows`, which share the process."""
    os.environ.update(rows[0].environment)
    primary = None if rows[0].bare else set_up(library)
    for row in rows:
        signal.alarm(HANG_SECONDS if library.has_control else HANG_SECONDS_ON_HARDWARE)
        send(row, Run(row, library, kernels, product, primary).run())


def set_up(library):
    """Initialises device 0. Gives its primary context."""
    signal.alarm(HANG_SECONDS_ON_HARDWARE)
    context = ctypes.c_void_p()
    library.function("aclInit")(None)
    library.function("aclrtSetDevice")(0)
    library.function("aclrtGetCurrentContext")(ctypes.byref(context))
    return context.value


def fork(rows, library, kernels, product):
    """Runs `rows` in a child; yields (row name, what went wrong or None) as they end, and at last (None, how it ended)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)

        def send(row, problem):
            os.write(writer, (json.dumps([row.name, problem]) + "\n").encode())

        try:
            run_rows(rows, library, kernels, product, send)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        yield from map(json.loads, lines)
    yield None, os.waitpid(child, 0)[1]


def how_it_ended(status):
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return "the row hung" if name == "SIGALRM" else f"the process ended with {name}"
    return f"the process ended with {os.waitstatus_to_exitcode(status)}"


def run_batch(rows, library, kernels, product):
    """Yields (name, problem) for each row; begins anew behind one that ends the process."""
    while rows:
        done = 0
        for name, outcome in fork(rows, library, kernels, product):
            if name is not None:
                yield name, outcome
                done += 1
            elif done < len(rows):
                yield rows[done].name, how_it_ended(outcome)
                done += 1
        rows = rows[done:]


def why_skipped(row, library):
    if library.has_control:
        return None
    if not row.cann:
        return "the real library crashes here, or nobody knows its answer"
    return "needs the emulator's control calls or kernels" if row.emulator_only else None


def main(table, product):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed

    def answer(name, status, text=""):
        print(json.dumps([name, status, text]), file=answers, flush=True)

    library, kernels = Library(os.environ["CONFORMANCE_LIBRARY"]), os.environ["CONFORMANCE_KERNELS"]
    rows = [row for row in language.load(table) if product in row.products]
    skipped = {row.name: reason for row in rows if (reason := why_skipped(row, library))}
    for name, reason in skipped.items():
        answer(name, "skipped", reason)
    rows = [row for row in rows if row.name not in skipped]
    for batch in [[row] for row in rows if row.alone] + [[row for row in rows if not row.alone]]:
        for name, problem in run_batch(batch, library, kernels, product):
            answer(name, "failed" if problem else "passed", problem or "")


if __name__ == "__main__":
    main(*sys.argv[1:])
