# cython: language_level=3, binding=False, embedsignature=True
"""Kernels: binaries, the functions in them, and launches.

A launch has two stages. ``plan = kernel.bind("p p u32", blocks=8, stream=s)`` looks everything up and lays the arguments
out, once. ``plan(a, b, n)`` packs the values at their places on the C stack and launches: no allocation, no tuple, no
keywords.
"""
import os
import re

import cython

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from pyacl cimport acl as abi
from pyacl._gil cimport keeps_gil
from pyacl._handle cimport Handle
from pyacl._runtime cimport acl, check, ensure_initialized, fork_generation
from pyacl.callback cimport Callback, exception_function, new_callback
from pyacl.memory cimport DeviceBuffer, HostBuffer
from pyacl.stream cimport Stream, check_on, raise_on

cdef extern from "Python.h":
    unsigned long PyLong_AsUnsignedLong(object) except? 0xFFFFFFFFFFFFFFFF
    long PyLong_AsLong(object) except? -1
    double PyFloat_AsDouble(object) except? -1.0
    object PyNumber_Index(object)

cdef extern from "pack.h":
    enum:
        SLOT "PACK_SLOT"
    ctypedef enum ArgumentKind:
        POINTER
        UNSIGNED
        SIGNED
        BOOL
        FLOAT64
        FLOAT32
        FLOAT16
        BFLOAT16
        RAW
    ctypedef struct Slot:
        ArgumentKind kind
        uint32_t offset
        uint32_t size
        int64_t lowest
        uint64_t highest
        uint64_t mask
    bint pack_fast(const Slot *slot, PyObject *value, unsigned char *packed) noexcept

cdef extern from *:
    """
    static void enable_vectorcall(PyObject *object, Py_ssize_t offset) {
        PyTypeObject *type = (PyTypeObject *)object;
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        type->tp_call = PyVectorcall_Call;
        PyType_Modified(type);
    }
    """
    void enable_vectorcall(object type, Py_ssize_t offset)
    size_t PyVectorcall_NARGS(size_t nargsf)

cdef enum:
    INLINE_BYTES = 512     # arguments up to here are packed on the stack
    MOST_BLOCKS = 65535
    MOST_BYTES = 65528     # more than any product's argument area

# token: kind, bytes
KINDS = {
    "p": (POINTER, 8),
    "u8": (UNSIGNED, 1), "u16": (UNSIGNED, 2), "u32": (UNSIGNED, 4), "u64": (UNSIGNED, 8),
    "i8": (SIGNED, 1), "i16": (SIGNED, 2), "i32": (SIGNED, 4), "i64": (SIGNED, 8),
    "bool": (BOOL, 1),
    "f64": (FLOAT64, 8), "f32": (FLOAT32, 4), "f16": (FLOAT16, 2), "bf16": (BFLOAT16, 2),
}  # fmt: skip
RAW_WORD = re.compile(r"bytes\[([1-9][0-9]*)\]")


# ---- binaries ----

cdef class Binary(Handle):
    """Compiled kernels, loaded onto the device (``aclrtBinaryLoadFromFile``, ``aclrtBinaryLoadFromData``).

    Parameters
    ----------
    source : str, os.PathLike or bytes-like
        A file, or its content. On the emulator a shared object of host functions, see ``pyacl/kernel.h``.
    magic : BinaryMagic, optional
        Which kind of core it is for. Needed for data on a real NPU, where files say it themselves.
    lazy : bool, default False
        Load when the first function of it is launched.

    Raises
    ------
    FileNotFoundError
        No such file.
    InvalidParamError
        Not a kernel binary (107000).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Blocks; releases the GIL. Source: CANN Runtime API, 14 Kernel loading and execution.
    """

    _exit_rank = 1

    def __init__(self, source, magic=None, lazy=False):
        cdef abi.aclrtBinaryLoadOption options[2]
        cdef abi.aclrtBinaryLoadOptions load
        cdef abi.aclrtBinaryLoadOptions *chosen = NULL
        load.options = options
        load.numOpt = 0
        ensure_initialized()
        if magic is not None:
            add_option(&load, abi.ACL_RT_BINARY_LOAD_OPT_MAGIC, magic)
        if lazy:
            add_option(&load, abi.ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, 1)
        if load.numOpt > 0:
            chosen = &load
        if isinstance(source, (str, os.PathLike)):
            self.adopt(load_file(os.fsencode(source), chosen), True, None)
        else:
            self._data = bytes(memoryview(source))
            self.adopt(load_data(self._data, chosen), True, None)

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtBinHandle`` loaded elsewhere; `owner` is kept alive as long as this object."""
        cdef Binary self = Binary.__new__(Binary)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    def kernel(self, str name not None):
        """Look a kernel up by its name (``aclrtBinaryGetFunction``).

        Raises
        ------
        InvalidParamError
            The binary has no kernel of that name (107000).
        """
        cdef bytes c_name = name.encode()
        cdef const char *text = c_name
        cdef abi.aclrtFuncHandle function = NULL
        self.use()
        with nogil: check(acl.aclrtBinaryGetFunction(self._handle, text, &function), "aclrtBinaryGetFunction")
        cdef Kernel kernel = Kernel.__new__(Kernel)
        kernel.adopt(function, False, self)
        kernel.name = name
        kernel._binary = self
        return kernel

    def on_exception(self, function):
        """Have a function called with an `ExceptionInfo` when a kernel of this binary fails.

        C: ``aclrtBinarySetExceptionCallback``. As `register_exception_callback`, after those; a second function takes the
        place of the first. Releases the GIL.
        """
        cdef Callback callback = new_callback(function)
        cdef abi.aclrtOpExceptionCallback called = exception_function()
        self.use()
        with nogil:
            check(
                acl.aclrtBinarySetExceptionCallback(self._handle, called, <void *>callback),
                "aclrtBinarySetExceptionCallback",
            )
        self._on_exception = callback

    def close(self):
        """Unload it (``aclrtBinaryUnLoad``). Its kernels raise `ClosedError` from now on.

        Wait for the launches first: the runtime does not. Blocks; releases the GIL.
        """
        if self._closed:
            return
        self.use()
        self._closed = True
        if self._owned:
            with nogil: check(acl.aclrtBinaryUnLoad(self._handle), "aclrtBinaryUnLoad")
        self._data = self._parent = None

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtBinaryUnLoad(self._handle)


cdef int add_option(abi.aclrtBinaryLoadOptions *load, abi.aclrtBinaryLoadOptionType kind, value) except -1:
    cdef abi.aclrtBinaryLoadOption *option = &load.options[load.numOpt]
    memset(option, 0, sizeof(option[0]))
    option.type = kind
    option.value.magic = value  # all members begin at the same place
    load.numOpt += 1
    return 0


cdef void *load_file(bytes path, abi.aclrtBinaryLoadOptions *options) except? NULL:
    cdef abi.aclrtBinHandle handle = NULL
    cdef const char *name = path
    if not os.path.exists(path):
        raise FileNotFoundError(f"no kernel binary {os.fsdecode(path)!r}")
    with nogil: check(acl.aclrtBinaryLoadFromFile(name, options, &handle), "aclrtBinaryLoadFromFile")
    return handle


cdef void *load_data(bytes data, abi.aclrtBinaryLoadOptions *options) except? NULL:
    cdef abi.aclrtBinHandle handle = NULL
    cdef const char *start = data
    cdef size_t size = len(data)
    with nogil: check(acl.aclrtBinaryLoadFromData(start, size, options, &handle), "aclrtBinaryLoadFromData")
    return handle


# ---- kernels ----

cdef class Kernel(Handle):
    """A kernel of a `Binary`, from ``binary.kernel(name)``. Keeps the binary loaded.

    Attributes
    ----------
    name : str or None
        What it was looked up by; None when borrowed.
    """

    def __init__(self):
        raise TypeError("a Kernel comes from Binary.kernel(name), or from Kernel.from_handle(handle)")

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtFuncHandle``; `owner` is kept alive as long as this object."""
        cdef Kernel self = Kernel.__new__(Kernel)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    def bind(self, spec="", *, blocks=1, stream=None):
        """Prepare launches of this kernel: `plan(values...)` then launches.

        Parameters
        ----------
        spec : str or sequence of str
            One word per argument: ``p`` (address), ``u8 u16 u32 u64``, ``i8 i16 i32 i64``, ``bool``, ``f16``, ``bf16``,
            ``f32``, ``f64``, or ``bytes[N]`` for N raw bytes. Each lands in slots of 8 bytes, in this order.
        blocks : int, default 1
            How many blocks run the kernel, 1 to 65,535.
        stream : Stream, optional
            Where to launch; the current context's default stream without one.

        Returns
        -------
        Plan
        """
        return make_plan(self, spec, blocks, stream)

    def launch(self, stream, blocks, *args):
        """``launch(stream, blocks, [spec,] *values)``: launch once (``aclrtLaunchKernelWithHostArgs``).

        For launches that repeat, `bind` is faster.

        Parameters
        ----------
        stream : Stream or None
            None: the current context's default stream.
        blocks : int
            1 to 65,535.
        spec : str, optional
            As for `bind`. Without it kinds follow from the values: int (64 bits wide: what a narrower parameter reads is
            the same), bool, buffers and arrays (their address), NumPy scalars (their own type), bytes (as they are). A
            Python float could mean any width: pass ``numpy.float32(x)``, or give a spec.
        *values
            The arguments.

        Raises
        ------
        TypeError, OverflowError
            An argument is not what the spec says, or does not fit.
        DeviceMismatchError
            The stream does not belong to the current context (107003).
        StreamAbortedError
            The stream or device is being aborted (107022, 107023).

        Notes
        -----
        Releases the GIL: blocks while the stream's queue is full. The arguments are copied during the call; what they
        point to has to live until the stream has passed. Source: CANN Runtime API, 14 Kernel loading and execution.
        """
        if args and isinstance(args[0], str):
            make_plan(self, args[0], blocks, stream)(*args[1:])
        else:
            make_plan(self, guess_spec(args), blocks, stream)(*args)

    def close(self):
        """Forget the function. It ends with its binary; nothing is destroyed here."""
        self._closed = True
        self._binary = self._parent = None

    def __repr__(self):
        return f"<pyacl.Kernel {self.name or hex(<uintptr_t>self._handle)}{', closed' if self._closed else ''}>"


# ---- plans ----

@cython.final
cdef class Plan:
    """A launch with everything settled but the values: call it with them, in the order of the spec.

    Comes from `Kernel.bind`. Calling it is safe from several threads at once. Whether it releases the GIL: see _gil.pyx.

    Attributes
    ----------
    kernel : Kernel
        What is launched.
    stream : Stream or None
        Where; None is the current context's default stream.
    spec : str
        One word per argument.
    """

    def __cinit__(self):
        self.vectorcall = <void *>call_plan

    def __init__(self):
        raise TypeError("a Plan comes from Kernel.bind(spec, blocks=..., stream=...)")

    def __dealloc__(self):
        free(self.slots)

    @property
    def blocks(self):
        """How many blocks run the kernel."""
        return self._blocks

    cdef bint is_open(self) noexcept:
        """The quick look before each launch; `require_open` then says what is wrong."""
        if self.kernel._closed or self.kernel._generation != fork_generation:
            return False
        if self.kernel._binary is not None and self.kernel._binary._closed:
            return False
        return self.stream is None or not self.stream._closed

    cdef int require_open(self) except -1:
        self.kernel.use()
        if self.kernel._binary is not None:
            self.kernel._binary.use()
        if self.stream is not None:
            self.stream.use()
        return 0

    cdef int pack(self, void *packed, object arguments) except -1:
        cdef Slot *slots = <Slot *>self.slots
        cdef uint32_t index = 0
        if <uint32_t>len(arguments) != self.count:
            return wrong_count(self, len(arguments))
        for argument in arguments:
            put(&slots[index], <unsigned char *>packed + slots[index].offset, argument, index)
            index += 1
        return 0

    cdef int submit(self, void *packed) except -1 nogil:
        return check_on(self.stream, launch(self, packed), "aclrtLaunchKernelWithHostArgs")

    def packed(self, *args):
        """The bytes that a call with these values would hand to the kernel."""
        cdef bytes result = PyBytes_FromStringAndSize(NULL, self.bytes)
        memset(<char *>result, 0, self.bytes)
        self.pack(<char *>result, args)
        return result

    def __call__(self, *args):
        """Launch with these values (``aclrtLaunchKernelWithHostArgs``); positional only."""
        # For whoever calls the slot itself. Calls go to call_plan, which gets its arguments without a tuple.
        call_large(self, args)

    def __repr__(self):
        return f"<pyacl.Plan {self.kernel!r}({self.spec}), {self._blocks} blocks, on {self.stream!r}>"


cdef object call_plan(PyObject *callable, PyObject *const *arguments, size_t nargsf, PyObject *names):
    cdef unsigned char packed[INLINE_BYTES]
    cdef Plan plan = <Plan>callable
    cdef Slot *slot = <Slot *>plan.slots
    cdef uint32_t count = <uint32_t>PyVectorcall_NARGS(nargsf)
    cdef uint32_t index
    cdef abi.aclError code
    if names is not NULL:
        raise TypeError("a plan takes positional arguments only")
    if count != plan.count:
        wrong_count(plan, count)
    if plan.bytes > INLINE_BYTES:
        return call_large(plan, [<object>arguments[index] for index in range(count)])
    if not plan.is_open():
        plan.require_open()
    for index in range(count):
        if not pack_fast(slot, arguments[index], packed):
            put(slot, packed + slot.offset, <object>arguments[index], index)
        slot += 1
    if count == 0:
        memset(packed, 0, SLOT)  # the runtime refuses an empty block; the kernel ignores it
    if plan.stream is not None and keeps_gil(&plan.stream._room, plan.stream._handle):
        code = launch(plan, packed)
    else:
        with nogil:
            code = launch(plan, packed)
        if code == 0 and plan.stream is not None and plan.stream.is_recording():
            plan.stream._recording.add(plan.kernel, tuple([<object>arguments[index] for index in range(count)]))
    if code != 0:
        raise_on(plan.stream, code, "aclrtLaunchKernelWithHostArgs")
    return None


cdef inline abi.aclError launch(Plan plan, void *packed) noexcept nogil:
    cdef void *stream = NULL if plan.stream is None else plan.stream._handle
    return acl.aclrtLaunchKernelWithHostArgs(plan.kernel._handle, plan._blocks, stream, NULL, packed, plan.bytes, NULL, 0)


cdef object call_large(Plan plan, object arguments):
    cdef void *packed
    plan.require_open()
    packed = malloc(plan.bytes)
    if packed is NULL:
        raise MemoryError
    try:
        memset(packed, 0, plan.bytes)
        plan.pack(packed, arguments)
        with nogil:
            plan.submit(packed)
    finally:
        free(packed)
    if plan.stream is not None:
        plan.stream.keep_recorded(plan.kernel, arguments)


cdef int wrong_count(Plan plan, Py_ssize_t given) except -1:
    raise TypeError(f"{plan.kernel!r} takes {plan.count} arguments ({plan.spec}), {given} given")


# ---- making plans ----

cdef Plan make_plan(Kernel kernel, spec, blocks, stream):
    cdef Plan plan = Plan.__new__(Plan)
    cdef Py_ssize_t count
    kernel.use()
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"stream is {stream!r}, expected a pyacl.Stream or None")
    blocks = PyNumber_Index(blocks)
    if not 1 <= blocks <= MOST_BLOCKS:
        raise ValueError(f"blocks is {blocks}, expected 1 to {MOST_BLOCKS}")
    plan.kernel = kernel
    plan.stream = stream
    plan._blocks = blocks
    lay_out(plan, spec)
    plan.require_open()
    return plan


# Layouts seen before, by spec: reading one costs more than a launch. (words, Slots, arguments, bytes in all)
cdef dict layouts = {}
cdef enum:
    MOST_LAYOUTS = 1024


cdef int lay_out(Plan plan, spec) except -1:
    cdef tuple layout
    cdef bytes slots
    key = spec if isinstance(spec, str) else tuple(spec)
    layout = layouts.get(key)
    if layout is None:
        layout = read_spec(key.replace(",", " ").split() if isinstance(key, str) else list(key))
        if len(layouts) == MOST_LAYOUTS:
            layouts.clear()
        layouts[key] = layout
    plan.spec, slots, plan.count, plan.bytes = layout
    plan.slots = malloc(max(1, len(slots)))
    if plan.slots is NULL:
        raise MemoryError
    memcpy(plan.slots, <const char *>slots, len(slots))
    return 0


cdef tuple read_spec(list words):
    cdef uint64_t offset = 0
    cdef bytes slots = PyBytes_FromStringAndSize(NULL, len(words) * sizeof(Slot))
    cdef Slot *slot = <Slot *><char *>slots
    memset(slot, 0, len(slots))
    for word in words:
        kind, size = parse_kind(word)
        slot.kind = kind
        slot.size = size
        slot.offset = offset
        slot.mask = <uint64_t>0xFFFFFFFFFFFFFFFF >> (64 - 8 * min(size, SLOT))
        slot.highest = slot.mask >> 1 if kind == SIGNED else slot.mask
        slot.lowest = -<int64_t>slot.highest - 1 if kind == SIGNED else 0
        offset += (size + SLOT - 1) // SLOT * SLOT
        if offset > MOST_BYTES:
            raise ValueError(f"the arguments take more than {MOST_BYTES} bytes")
        slot += 1
    return " ".join(words), slots, len(words), max(<uint64_t>SLOT, offset)


cdef tuple parse_kind(word):
    if word in KINDS:
        return KINDS[word]
    raw = RAW_WORD.fullmatch(word)
    if raw:
        return RAW, int(raw[1])
    raise ValueError(f"{word!r} is no argument kind: expected one of {', '.join(KINDS)}, bytes[N]")


cdef list guess_spec(tuple values):
    return [guess_kind(value, position) for position, value in enumerate(values, 1)]


cdef str guess_kind(value, Py_ssize_t position):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "i64" if value < 0 else "u64"
    if isinstance(value, (bytes, bytearray)) and len(value) > 0:
        return f"bytes[{len(value)}]"
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(value, "shape", None) == ():
        kind = getattr(dtype, "kind", "")
        word = "bool" if kind == "b" else f"{kind}{8 * dtype.itemsize}"
        if word in KINDS:
            return word
    if isinstance(value, float):
        raise TypeError(f"argument {position}: a float could be of any width; pass numpy.float32(x), or give a spec")
    return "p"


# ---- packing: what pack_fast leaves ----

cdef int put(Slot *slot, unsigned char *place, object value, uint32_t index) except -1:
    cdef uint64_t number
    if slot.kind == POINTER:
        number = address_of(value, index)
    elif slot.kind == UNSIGNED:
        number = unsigned_number(slot, value, index)
    elif slot.kind == SIGNED:
        number = signed_number(slot, value, index)
    else:
        return put_other(slot, place, value, index)
    memcpy(place, &number, SLOT)
    return 0


cdef uint64_t unsigned_number(Slot *slot, object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
    cdef uint64_t number
    try:
        number = PyLong_AsUnsignedLong(integer(value, index))
    except OverflowError:
        return out_of_range(slot, value, index)
    return number if number <= slot.highest else out_of_range(slot, value, index)


cdef uint64_t signed_number(Slot *slot, object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
    cdef int64_t number
    try:
        number = PyLong_AsLong(integer(value, index))
    except OverflowError:
        return out_of_range(slot, value, index)
    if number < slot.lowest or number > <int64_t>slot.highest:
        return out_of_range(slot, value, index)
    return <uint64_t>number & slot.mask


cdef int put_other(Slot *slot, unsigned char *place, object value, uint32_t index) except -1:
    cdef double real
    cdef float single
    cdef uint16_t half
    if slot.kind == RAW:
        return put_raw(slot, place, value, index)
    memset(place, 0, SLOT)
    if slot.kind == BOOL:
        place[0] = truth(value, index)
        return 0
    real = real_number(value, index)
    if slot.kind == FLOAT64:
        memcpy(place, &real, sizeof(real))
    elif slot.kind == FLOAT32:
        single = <float>real
        if isfinite(real) and not isfinite(single):
            too_large("f32", value, index)
        memcpy(place, &single, sizeof(single))
    else:
        half = narrow(real, 5, 10) if slot.kind == FLOAT16 else narrow(real, 8, 7)
        if isfinite(real) and half & 0x7FFF == (0x7C00 if slot.kind == FLOAT16 else 0x7F80):
            too_large("f16" if slot.kind == FLOAT16 else "bf16", value, index)
        memcpy(place, &half, sizeof(half))
    return 0


cdef int put_raw(Slot *slot, unsigned char *place, object value, uint32_t index) except -1:
    cdef Py_buffer view
    PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    try:
        if view.len != slot.size:
            raise ValueError(f"argument {index + 1} has {view.len} bytes, expected {slot.size}")
        memcpy(place, view.buf, slot.size)
        memset(place + slot.size, 0, -slot.size & (SLOT - 1))
    finally:
        PyBuffer_Release(&view)
    return 0


cdef uint64_t address_of(object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
    """The address that something stands for: None, a buffer of ours, a tensor, an array, or an integer of another type."""
    if isinstance(value, DeviceBuffer):
        (<DeviceBuffer>value).use_memory()
        return <uintptr_t>(<Handle>value)._handle
    if value is None:
        return 0
    if hasattr(value, "data_ptr"):
        return PyLong_AsUnsignedLong(value.data_ptr())
    if getattr(value, "shape", ()) != () and hasattr(value, "__array_interface__"):
        return PyLong_AsUnsignedLong(value.__array_interface__["data"][0])
    try:
        return PyLong_AsUnsignedLong(PyNumber_Index(value))
    except OverflowError:
        raise OverflowError(f"argument {index + 1}: {value} is no address") from None
    except TypeError:
        raise TypeError(
            f"argument {index + 1}: {value!r} has no address: expected an int, None, a DeviceBuffer, or something with "
            "data_ptr() or __array_interface__"
        ) from None


cdef object integer(object value, uint32_t index):
    try:
        return PyNumber_Index(value)
    except TypeError:
        raise TypeError(f"argument {index + 1}: {value!r} is no integer") from None


cdef double real_number(object value, uint32_t index) except? -1.0:
    try:
        return PyFloat_AsDouble(value)
    except TypeError:
        raise TypeError(f"argument {index + 1}: {value!r} is no number") from None


cdef int truth(object value, uint32_t index) except -1:
    if value is True:
        return 1
    if value is False:
        return 0
    # numpy's booleans, and the numbers that stand for them
    if getattr(getattr(value, "dtype", None), "kind", "") == "b" or value in (0, 1):
        return bool(value)
    raise TypeError(f"argument {index + 1}: {value!r} is no bool")


cdef uint64_t out_of_range(Slot *slot, object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
    raise OverflowError(f"argument {index + 1}: {value} is not in {slot.lowest}..{slot.highest}")


cdef int too_large(str kind, object value, uint32_t index) except -1:
    raise OverflowError(f"argument {index + 1}: {value} is too large for {kind}")


cdef uint16_t narrow(double value, int exponent_bits, int fraction_bits) noexcept:
    """Round to a 16-bit format, to nearest, ties to even; beyond the largest number it becomes infinity."""
    cdef uint64_t bits, fraction, significand, rest, half
    cdef int exponent, shift
    cdef int bias = (1 << (exponent_bits - 1)) - 1
    cdef uint16_t infinity = ((1 << exponent_bits) - 1) << fraction_bits
    memcpy(&bits, &value, sizeof(bits))
    cdef uint16_t sign = <uint16_t>(bits >> 63) << 15
    fraction = bits & 0xFFFFFFFFFFFFF
    exponent = <int>(bits >> 52 & 0x7FF)
    if exponent == 0x7FF:
        # What fits of a NaN's payload stays; the quiet bit keeps it a NaN when nothing does.
        return sign | infinity | (<uint16_t>(fraction >> (52 - fraction_bits)) | 1 << (fraction_bits - 1) if fraction else 0)
    exponent += bias - 1023
    significand = fraction | <uint64_t>1 << 52
    shift = 52 - fraction_bits
    if exponent <= 0:  # a subnormal of the narrow format
        shift += 1 - exponent
        exponent = 1
    if shift > 54:  # less than half of the smallest one; also zero
        return sign
    rest = significand & ((<uint64_t>1 << shift) - 1)
    half = <uint64_t>1 << (shift - 1)
    significand >>= shift
    if rest > half or (rest == half and significand & 1):
        significand += 1
    # The significand's leading bit adds one to the exponent field, and so does a carry.
    significand += <uint64_t>(exponent - 1) << fraction_bits
    return sign | (infinity if significand >= infinity else <uint16_t>significand)


cdef Plan _sample = Plan.__new__(Plan)
enable_vectorcall(Plan, <char *>&_sample.vectorcall - <char *><PyObject *>_sample)
