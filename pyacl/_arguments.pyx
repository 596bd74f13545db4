# cython: language_level=3
"""Kernel arguments: the kinds there are, where each goes, and how a value becomes the bytes that a kernel reads.

Arguments sit in slots of 8 bytes, in order. ``data[N]`` is N bytes that travel behind the slots, with their address on
the device in the argument's own slot: what CANN calls a placeholder.
"""
import re

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from pyacl._handle cimport Handle
from pyacl.memory cimport DeviceBuffer

cdef extern from "Python.h":
    unsigned long PyLong_AsUnsignedLong(object) except? 0xFFFFFFFFFFFFFFFF
    long PyLong_AsLong(object) except? -1
    double PyFloat_AsDouble(object) except? -1.0
    object PyNumber_Index(object)

cdef extern from *:
    """
    /* The beginning of DLPack's DLManagedTensor, which is all that has to be known here. */
    typedef struct {
        void *data;
        struct { int32_t device_type, device_id; } device;
        int32_t ndim;
        struct { uint8_t code, bits; uint16_t lanes; } dtype;
        int64_t *shape, *strides;
        uint64_t byte_offset;
    } DLTensor;
    """
    ctypedef struct DLTensor:
        void *data
        uint64_t byte_offset

cdef enum:
    MOST_BYTES = 65528     # more than any product's argument area
    MOST_LAYOUTS = 1024

# word: kind, bytes
KINDS = {
    "p": (POINTER, 8),
    "u8": (UNSIGNED, 1), "u16": (UNSIGNED, 2), "u32": (UNSIGNED, 4), "u64": (UNSIGNED, 8),
    "i8": (SIGNED, 1), "i16": (SIGNED, 2), "i32": (SIGNED, 4), "i64": (SIGNED, 8),
    "bool": (BOOL, 1),
    "f64": (FLOAT64, 8), "f32": (FLOAT32, 4), "f16": (FLOAT16, 2), "bf16": (BFLOAT16, 2),
}  # fmt: skip
RAW_WORD = re.compile(r"(bytes|data)\[([1-9][0-9]*)\]")


# ---- layouts ----

cdef class Layout:
    """Where the arguments of a spec go. Never changes once it was read: plans share it."""

    def __dealloc__(self):
        free(self.slots)
        free(self.placeholders)

    cdef int read(self, list words) except -1:
        cdef uint64_t end = 0
        cdef Slot *slot
        cdef aclrtPlaceHolderInfo *placeholder
        kinds = [parse_kind(word) for word in words]
        self.spec = " ".join(words)
        self.count = len(words)
        self.slots = <Slot *>calloc(len(words) + 1, sizeof(Slot))
        self.placeholders = <aclrtPlaceHolderInfo *>calloc(len(words) + 1, sizeof(aclrtPlaceHolderInfo))
        if self.slots is NULL or self.placeholders is NULL:
            raise MemoryError
        for index, (kind, size, is_data) in enumerate(kinds):
            slot = &self.slots[<size_t>index]
            slot.kind = kind
            slot.size = size
            slot.mask = <uint64_t>0xFFFFFFFFFFFFFFFF >> (64 - 8 * min(size, SLOT))
            slot.highest = slot.mask >> 1 if kind == SIGNED else slot.mask
            slot.lowest = -<int64_t>slot.highest - 1 if kind == SIGNED else 0
            end = take(slot, end, SLOT if is_data else size)
        for index, (_, size, is_data) in enumerate(kinds):
            if not is_data:
                continue
            slot = &self.slots[<size_t>index]
            placeholder = &self.placeholders[self.placeholder_count]
            self.placeholder_count += 1
            placeholder.addrOffset = slot.offset
            end = take(slot, end, size)
            placeholder.dataOffset = slot.offset
        self.bytes = max(<uint64_t>SLOT, end)
        return 0

    cdef int pack(self, unsigned char *packed, object values) except -1:
        cdef uint32_t index = 0
        if <uint32_t>len(values) != self.count:
            return wrong_count(self, len(values))
        for value in values:
            put(&self.slots[index], packed + self.slots[index].offset, value, index)
            index += 1
        return 0

    cdef bytes packed(self, object values):
        cdef bytes packed = PyBytes_FromStringAndSize(NULL, self.bytes)
        memset(<char *>packed, 0, self.bytes)
        self.pack(<unsigned char *><char *>packed, values)
        return packed


cdef uint64_t take(Slot *slot, uint64_t end, uint64_t size) except 0:
    """Put the slot at the end; returns the new end."""
    slot.offset = end
    end += (size + SLOT - 1) // SLOT * SLOT
    if end > MOST_BYTES:
        raise ValueError(f"the arguments take more than {MOST_BYTES} bytes")
    return end


cdef int wrong_count(Layout layout, Py_ssize_t given) except -1:
    raise TypeError(f"the kernel takes {layout.count} arguments ({layout.spec}), {given} given")


# Layouts seen before, by spec: reading one costs more than a launch.
cdef dict layouts = {}


cdef Layout find_layout(spec):
    key = spec if isinstance(spec, str) else tuple(spec)
    cdef Layout layout = layouts.get(key)
    if layout is None:
        layout = Layout.__new__(Layout)
        layout.read(key.replace(",", " ").split() if isinstance(key, str) else list(key))
        if len(layouts) == MOST_LAYOUTS:
            layouts.clear()
        layouts[key] = layout
    return layout


cdef tuple parse_kind(word):
    """Kind, bytes, and whether the bytes travel behind the slots."""
    if word in KINDS:
        return *KINDS[word], False
    raw = RAW_WORD.fullmatch(word)
    if raw:
        return RAW, int(raw[2]), raw[1] == "data"
    raise ValueError(f"{word!r} is no argument kind: expected one of {', '.join(KINDS)}, bytes[N], data[N]")


# ---- guessing ----

cdef Layout guess_layout(tuple values):
    return find_layout([guess_kind(value, position) for position, value in enumerate(values, 1)])


cdef Layout fit_layout(tuple values, list sizes):
    words = []
    for position, value in enumerate(values, 1):
        size = sizes[position - 1] if position <= len(sizes) else SLOT
        words.append(fit_kind(value, position, size))
    return find_layout(words)


cdef str fit_kind(value, Py_ssize_t position, size_t size):
    if isinstance(value, int) and not isinstance(value, bool) and size in (1, 2, 4, 8):
        return f"{'i' if value < 0 else 'u'}{8 * size}"
    if type(value) is float and size in (4, 8):
        return f"f{8 * size}"
    return guess_kind(value, position)


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


# ---- values ----

cdef int put(const Slot *slot, unsigned char *place, object value, uint32_t index) except -1:
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


cdef uint64_t unsigned_number(const Slot *slot, object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
    cdef uint64_t number
    try:
        number = PyLong_AsUnsignedLong(integer(value, index))
    except OverflowError:
        return out_of_range(slot, value, index)
    return number if number <= slot.highest else out_of_range(slot, value, index)


cdef uint64_t signed_number(const Slot *slot, object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
    cdef int64_t number
    try:
        number = PyLong_AsLong(integer(value, index))
    except OverflowError:
        return out_of_range(slot, value, index)
    if number < slot.lowest or number > <int64_t>slot.highest:
        return out_of_range(slot, value, index)
    return <uint64_t>number & slot.mask


cdef int put_other(const Slot *slot, unsigned char *place, object value, uint32_t index) except -1:
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


cdef int put_raw(const Slot *slot, unsigned char *place, object value, uint32_t index) except -1:
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
    if hasattr(value, "__dlpack__"):
        return dlpack_address(value)
    try:
        return PyLong_AsUnsignedLong(PyNumber_Index(value))
    except OverflowError:
        raise OverflowError(f"argument {index + 1}: {value} is no address") from None
    except TypeError:
        raise TypeError(
            f"argument {index + 1}: {value!r} has no address: expected an int, None, a DeviceBuffer, or something with "
            "data_ptr(), __array_interface__ or __dlpack__()"
        ) from None


cdef uint64_t dlpack_address(object value) except? 0xFFFFFFFFFFFFFFFF:
    """Where the tensor's elements begin. The capsule gives the tensor back when it goes."""
    capsule = value.__dlpack__()
    cdef DLTensor *tensor = <DLTensor *>PyCapsule_GetPointer(capsule, "dltensor")
    return <uintptr_t>tensor.data + tensor.byte_offset


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


cdef uint64_t out_of_range(const Slot *slot, object value, uint32_t index) except? 0xFFFFFFFFFFFFFFFF:
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
