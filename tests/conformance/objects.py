"""What rows may name without making it. Made before the first step, undone after the last.

====================  =====================================================================================
s, s2, ...            streams of aclrtCreateStream
fast, p, p2, cs, du   streams with the flags 3, PERSISTENT, CPU_SCHEDULE, DEVICE_USE_ONLY
dflt                  the handle of the default stream
o                     a stream of another context, ctx2
e, e2, ...            events of aclrtCreateEvent
sync, sync2           ... of aclrtCreateEventWithFlag(ACL_EVENT_SYNC)
time                  ... of aclrtCreateEventWithFlag(ACL_EVENT_TIME_LINE)
x, x2, ...            ... of aclrtCreateEventExWithFlag(ACL_EVENT_SYNC)
dead, dead_e, dead_n  a stream, an event, a notify that were destroyed
n, n2, ...            notifies
d, d2, ...            4096 bytes of device memory, zero
h, h2, ...            4096 bytes of pinned host memory, zero
b, b2, ...            4096 bytes of ordinary host memory, zero
zeroed, wild          an address of zeroed memory and one of nothing, as handles
m, m2                 models being built (aclmdlRIBuildBegin)
bin, k_noop, k_...    the emulator's sample kernels: the binary, and functions of it
====================  =====================================================================================
"""

import ctypes
import re

BYTES = 4096
# What a context takes with it, in the order in which it has to go; everything else outlives the work that uses it.
OF_THE_CONTEXT = ("aclmdlRIDestroy", "aclrtDestroyStreamForce", "aclrtDestroyContext")
WILD = 0x1234


class NotMade(Exception):
    """An object that a row needs could not be made."""


def handle(call, function, *before, after=()):
    """The handle that a function of the form f(before..., &handle, after...) makes."""
    out = ctypes.c_void_p()
    code = call(function, *before, ctypes.byref(out), *after)
    if code != 0:
        raise NotMade(f"{function} gave {code}")
    return out.value


class Objects:
    """The objects of one row, by name."""

    def __init__(self, library, kernels):
        self.library, self.kernels = library, kernels
        self.undo = []  # (function, handle)
        self.kept = []
        self.alive = {}

    def call(self, function, *arguments):
        return self.library.function(function)(*arguments)

    def make(self, name):
        """The value of `name`, or None when no such object is known."""
        if name in self.alive:
            return self.alive[name]
        for pattern, maker in MAKERS.items():
            if re.fullmatch(pattern, name):
                self.alive[name] = maker(self, name)
                return self.alive[name]
        return None

    def end_work(self):
        """Destroys what belongs to the row's context."""
        for function in OF_THE_CONTEXT:
            for value in [value for destroy, value in self.undo if destroy == function]:
                self.call(function, value)

    def free(self):
        """Frees what tasks may have used, now that none runs any more."""
        for destroy, value in self.undo:
            if destroy not in OF_THE_CONTEXT:
                self.call(destroy, value)

    def made(self, value, destroy):
        self.undo.append((destroy, value))
        return value

    def stream(self, flags):
        return self.made(handle(self.call, "aclrtCreateStreamWithConfig", after=(0, flags)), "aclrtDestroyStreamForce")

    def plain_stream(self, name):
        return self.made(handle(self.call, "aclrtCreateStream"), "aclrtDestroyStreamForce")

    def default_stream(self, name):
        return handle(self.call, "aclrtCtxGetCurrentDefaultStream")

    def event(self, function="aclrtCreateEvent", *flags):
        return self.made(handle(self.call, function, after=flags), "aclrtDestroyEvent")

    def notify(self, name):
        return self.made(handle(self.call, "aclrtCreateNotify", after=(0,)), "aclrtDestroyNotify")

    def model(self, name):
        return self.made(handle(self.call, "aclmdlRIBuildBegin", after=(0,)), "aclmdlRIDestroy")

    def dead_stream(self, name):
        made = handle(self.call, "aclrtCreateStream")
        self.call("aclrtDestroyStream", made)
        return made

    def dead_event(self, name):
        made = handle(self.call, "aclrtCreateEvent")
        self.call("aclrtDestroyEvent", made)
        return made

    def dead_notify(self, name):
        made = handle(self.call, "aclrtCreateNotify", after=(0,))
        self.call("aclrtDestroyNotify", made)
        return made

    def other_context(self, name):
        here = handle(self.call, "aclrtGetCurrentContext")
        made = handle(self.call, "aclrtCreateContext", after=(0,))
        self.call("aclrtSetCurrentContext", here)
        return self.made(made, "aclrtDestroyContext")

    def other_stream(self, name):
        here, there = handle(self.call, "aclrtGetCurrentContext"), self.make("ctx2")
        self.call("aclrtSetCurrentContext", there)
        made = handle(self.call, "aclrtCreateStream")
        self.call("aclrtSetCurrentContext", here)
        return made  # goes with ctx2

    def device_memory(self, name):
        made = handle(self.call, "aclrtMalloc", after=(BYTES, 0))
        self.call("aclrtMemset", made, BYTES, 0, BYTES)
        return self.made(made, "aclrtFree")

    def pinned_memory(self, name):
        made = handle(self.call, "aclrtMallocHost", after=(BYTES,))
        ctypes.memset(made, 0, BYTES)
        return self.made(made, "aclrtFreeHost")

    def ordinary_memory(self, name):
        buffer = ctypes.create_string_buffer(BYTES)
        self.kept.append(buffer)
        return ctypes.addressof(buffer)

    def zeroed(self, name):
        return self.ordinary_memory(name) + 64

    def binary(self, name):
        return self.made(handle(self.call, "aclrtBinaryLoadFromFile", self.kernels.encode(), None), "aclrtBinaryUnLoad")

    def kernel(self, name):
        return handle(self.call, "aclrtBinaryGetFunction", self.make("bin"), name.removeprefix("k_").encode())


MAKERS = {
    r"s\d?": Objects.plain_stream,
    r"fast": lambda self, name: self.stream(0x3),
    r"p\d?": lambda self, name: self.stream(0x4),
    r"cs": lambda self, name: self.stream(0x10),
    r"du": lambda self, name: self.stream(0x20),
    r"dflt": Objects.default_stream,
    r"ctx2": Objects.other_context,
    r"o": Objects.other_stream,
    r"e\d?": lambda self, name: self.event(),
    r"sync\d?": lambda self, name: self.event("aclrtCreateEventWithFlag", 0x1),
    r"time": lambda self, name: self.event("aclrtCreateEventWithFlag", 0x8),
    r"x\d?": lambda self, name: self.event("aclrtCreateEventExWithFlag", 0x1),
    r"dead": Objects.dead_stream,
    r"dead_e": Objects.dead_event,
    r"dead_n": Objects.dead_notify,
    r"n\d?": Objects.notify,
    r"d\d?": Objects.device_memory,
    r"h\d?": Objects.pinned_memory,
    r"b\d?": Objects.ordinary_memory,
    r"zeroed": Objects.zeroed,
    r"wild": lambda self, name: WILD,
    r"m\d?": Objects.model,
    r"bin": Objects.binary,
    r"k_\w+": Objects.kernel,
}
