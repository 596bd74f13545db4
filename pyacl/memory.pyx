# cython: language_level=3, embedsignature=True
"""Memory of the device, pinned memory of the host, and copies between them and anything with the buffer protocol.

A synchronous copy is finished when it returns, and is not ordered against any stream. An asynchronous one is a task of
a stream; both ends are kept alive until the stream has passed it.
"""
from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int32_t, uintptr_t
from libc.string cimport memcpy

from pyacl cimport acl as abi
from pyacl._handle cimport Handle, current_parent
from pyacl._runtime cimport acl, check, ensure_initialized, fork_generation, is_finalizing
from pyacl.stream cimport Stream

import re

import numpy as np

from pyacl.device import Context
from pyacl.enums import MemMallocPolicy


FIELD_NAME = re.compile(rb":[^:]*:")  # in a buffer format


# ---- the other end of a copy ----

cdef class Side:
    """Memory that is copied from or to: ours, or a buffer of the host, which stays exported as long as this lives."""
    def __dealloc__(self):
        if self.exported:
            PyBuffer_Release(&self.view)


cdef Side make_side(object thing, bint writable):
    cdef Side side = Side.__new__(Side)
    cdef DeviceBuffer buffer
    if isinstance(thing, DeviceBuffer):
        buffer = <DeviceBuffer>thing
        buffer.use_memory()
        side.address = buffer._handle
        side.nbytes = buffer.nbytes
        side.on_device = True
        side.owner = thing
        return side
    if isinstance(thing, HostBuffer):
        (<HostBuffer>thing).use()
    try:
        PyObject_GetBuffer(
            thing, &side.view, PyBUF_ANY_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0)
        )
    except TypeError:
        raise TypeError(
            f"{type(thing).__name__} is no memory: expected a DeviceBuffer, or something with the buffer protocol "
            "such as a HostBuffer or a NumPy array"
        ) from None
    side.exported = True
    if side.view.format is not NULL and b"O" in FIELD_NAME.sub(b"", side.view.format):
        raise TypeError(f"{type(thing).__name__} holds Python objects: their bytes mean nothing to a device")
    side.address = side.view.buf
    side.nbytes = side.view.len
    return side


cdef abi.aclrtMemcpyKind direction(Side target, Side source) noexcept:
    if target.on_device:
        return abi.ACL_MEMCPY_DEVICE_TO_DEVICE if source.on_device else abi.ACL_MEMCPY_HOST_TO_DEVICE
    return abi.ACL_MEMCPY_DEVICE_TO_HOST


cdef int copy(Side target, Side source, size_t nbytes) except -1:
    cdef abi.aclrtMemcpyKind kind = direction(target, source)
    cdef void *to = target.address
    cdef void *origin = source.address
    cdef size_t room = target.nbytes
    with nogil: check(acl.aclrtMemcpy(to, room, origin, nbytes, kind), "aclrtMemcpy")
    return 0


cdef int copy_async(Side target, Side source, size_t nbytes, Stream stream) except -1:
    cdef abi.aclrtMemcpyKind kind = direction(target, source)
    cdef void *to = target.address
    cdef void *origin = source.address
    cdef size_t room = target.nbytes
    cdef void *queue = stream._handle
    with nogil: check(acl.aclrtMemcpyAsync(to, room, origin, nbytes, kind, queue), "aclrtMemcpyAsync")
    return stream.keep(target, source)


cdef Stream require_stream(stream):
    if stream is None:
        context = Context.current()
        if context is None:
            check(abi.ACL_ERROR_RT_CONTEXT_NULL, "aclrtCtxGetCurrentDefaultStream")
        return context.default_stream
    if not isinstance(stream, Stream):
        raise TypeError(f"stream is {stream!r}, expected a pyacl.Stream")
    (<Stream>stream).use()
    return stream


cdef size_t positive_size(nbytes, str what) except 0:
    nbytes = PyNumber_Index(nbytes)
    if nbytes <= 0:
        raise ValueError(f"{what} is {nbytes}, expected at least 1")
    return nbytes


# ---- device memory ----

cdef class DeviceBuffer(Handle):
    """Memory on the current device (``aclrtMalloc``).

    Parameters
    ----------
    source : int or buffer
        A size in bytes, or an array (anything contiguous with the buffer protocol), which is then copied over.
    policy : MemMallocPolicy, default HUGE_FIRST
        Which pages to take.

    Attributes
    ----------
    nbytes : int
        The size.

    Raises
    ------
    OutOfDeviceMemoryError
        The device has no such piece left (207001).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Blocks; releases the GIL. The memory belongs to the device, not to the context. It is freed with the last reference
    or by `close`, at once, whatever still uses it: copies of pyacl keep their buffers, but arguments of a kernel have to
    be kept by the caller until the stream has passed the launch. ``buffer[a:b]`` is a view on bytes a to b.
    Source: CANN Runtime API, 11 Memory management.
    """

    def __init__(self, source, policy=MemMallocPolicy.HUGE_FIRST):
        cdef Side side
        ensure_initialized()
        if hasattr(source, "__index__") and not hasattr(source, "__array_interface__"):
            self.allocate(positive_size(source, "nbytes"), policy)
            return
        side = make_side(source, False)
        self.allocate(positive_size(side.nbytes, "the size of source"), policy)
        copy(make_side(self, True), side, side.nbytes)

    @classmethod
    def from_numpy(cls, array, policy=MemMallocPolicy.HUGE_FIRST):
        """A buffer with the bytes of an array, copied synchronously: ``DeviceBuffer(array)`` in more words."""
        return cls(np.ascontiguousarray(array), policy)

    cdef int allocate(self, size_t nbytes, int policy) except -1:
        cdef void *address = NULL
        cdef abi.aclrtMemMallocPolicy pages = <abi.aclrtMemMallocPolicy>policy
        with nogil: check(acl.aclrtMalloc(&address, nbytes, pages), "aclrtMalloc")
        self.nbytes = nbytes
        self.adopt(address, True, current_parent())
        return 0

    @classmethod
    def from_handle(cls, handle, nbytes, owner=None):
        """Borrow device memory at an address.

        Parameters
        ----------
        handle : int
            The address.
        nbytes : int
            How many bytes there are.
        owner : object, optional
            Kept alive as long as this object.
        """
        cdef DeviceBuffer self = DeviceBuffer.__new__(DeviceBuffer)
        ensure_initialized()
        self.nbytes = positive_size(nbytes, "nbytes")
        self.adopt(<void *><uintptr_t>PyNumber_Index(handle), False, owner)
        return self

    cdef int use_memory(self) except -1:
        self.use()
        if self._base is not None:
            self._base.use()
        return 0

    def data_ptr(self):
        """The address, under the name that tensors use."""
        self.use_memory()
        return <uintptr_t>self._handle

    def __len__(self):
        return self.nbytes

    def __getitem__(self, part):
        """A view on ``buffer[start:stop]`` bytes. It keeps this buffer alive, and is closed with it."""
        cdef DeviceBuffer view
        self.use_memory()
        if not isinstance(part, slice):
            raise TypeError("a DeviceBuffer has no elements: take a slice of bytes, buffer[start:stop]")
        start, stop, step = part.indices(self.nbytes)
        if step != 1:
            raise ValueError(f"step is {step}, expected 1")
        view = DeviceBuffer.__new__(DeviceBuffer)
        view.nbytes = positive_size(stop - start, "the length of the slice")
        view.adopt(<char *>self._handle + <size_t>start, False, self._parent)
        view._base = self if self._base is None else self._base
        return view

    cdef int require_room(self, size_t offset, size_t nbytes, str what) except -1:
        if offset > self.nbytes or nbytes > self.nbytes - offset:
            raise ValueError(f"{what} of {nbytes} bytes at offset {offset} goes past the end: the buffer has {self.nbytes}")
        return 0

    def copy_from(self, source):
        """Copy all of `source` to the beginning of this buffer (``aclrtMemcpy``).

        Parameters
        ----------
        source : DeviceBuffer, HostBuffer or buffer
            At most as large as this buffer. Host arrays have to be contiguous.

        Raises
        ------
        ValueError, BufferError
            `source` is too large, or not contiguous.
        CaptureError
            Refused during a capture (107030).

        Notes
        -----
        Blocks until the bytes are there; releases the GIL. Waits for no stream. Source: 11 Memory management.
        """
        cdef Side target = make_side(self, True)
        cdef Side origin = make_side(source, False)
        self.require_room(0, origin.nbytes, "a copy")
        copy(target, origin, origin.nbytes)

    def copy_to(self, target):
        """Fill all of `target` from the beginning of this buffer (``aclrtMemcpy``). Otherwise like `copy_from`."""
        cdef Side origin = make_side(self, False)
        cdef Side end = make_side(target, True)
        self.require_room(0, end.nbytes, "a copy")
        copy(end, origin, end.nbytes)

    def copy_from_async(self, source, stream=None):
        """`copy_from` as a task of a stream (``aclrtMemcpyAsync``).

        Parameters
        ----------
        source : DeviceBuffer, HostBuffer or buffer
            A HostBuffer is read when the task runs: leave it alone until then. From ordinary memory the call itself
            waits for the stream and copies.
        stream : Stream, optional
            The current context's default stream without one.

        Raises
        ------
        ValueError, BufferError
            `source` is too large, or not contiguous.
        CaptureError
            Ordinary memory during a capture (107041).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Releases the GIL. Both ends stay alive until the stream has passed the copy. Source: 11 Memory management.
        """
        cdef Stream queue = require_stream(stream)
        cdef Side target = make_side(self, True)
        cdef Side origin = make_side(source, False)
        self.require_room(0, origin.nbytes, "a copy")
        copy_async(target, origin, origin.nbytes, queue)

    def copy_to_async(self, target, stream=None):
        """`copy_to` as a task of a stream (``aclrtMemcpyAsync``). Otherwise like `copy_from_async`."""
        cdef Stream queue = require_stream(stream)
        cdef Side origin = make_side(self, False)
        cdef Side end = make_side(target, True)
        self.require_room(0, end.nbytes, "a copy")
        copy_async(end, origin, end.nbytes, queue)

    def fill(self, value, stream=None):
        """Set every byte (``aclrtMemset``, with a stream ``aclrtMemsetAsync``).

        Parameters
        ----------
        value : int
            0 to 255.
        stream : Stream, optional
            Makes it a task of this stream. Without one the bytes are set when the call returns, whatever streams do.

        Notes
        -----
        Blocks; releases the GIL. Source: 11 Memory management.
        """
        cdef Side side = make_side(self, True)
        cdef void *address = side.address
        cdef size_t nbytes = side.nbytes
        cdef int32_t byte
        cdef Stream queue
        cdef void *handle
        byte = PyNumber_Index(value)
        if not 0 <= byte <= 255:
            raise ValueError(f"value is {value}, expected 0 to 255")
        if stream is None:
            with nogil: check(acl.aclrtMemset(address, nbytes, byte, nbytes), "aclrtMemset")
            return
        queue = require_stream(stream)
        handle = queue._handle
        with nogil: check(acl.aclrtMemsetAsync(address, nbytes, byte, nbytes, handle), "aclrtMemsetAsync")
        queue.keep(side, None)

    def to_numpy(self, dtype=np.uint8, shape=None):
        """A new array with the content, copied synchronously (``aclrtMemcpy``).

        Parameters
        ----------
        dtype : dtype, default uint8
            What the bytes are.
        shape : int or tuple of int, optional
            As many elements as fit, in one dimension, without one.

        Raises
        ------
        ValueError
            More elements than the buffer holds.
        """
        self.use_memory()
        dtype = np.dtype(dtype)
        array = np.empty(self.nbytes // dtype.itemsize if shape is None else shape, dtype)
        if array.nbytes > 0:
            self.copy_to(array)
        return array

    def close(self):
        """Free the memory (``aclrtFree``), at once: wait for the streams that use it before. A view just ends.

        Blocks; releases the GIL.
        """
        cdef void *address = self._handle
        if self._closed:
            return
        self.use()
        self._closed = True
        if self._owned and not self.is_orphan():
            with nogil: check(acl.aclrtFree(address), "aclrtFree")
        self._parent = self._base = None

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtFree(self._handle)

    def __repr__(self):
        state = "closed" if self._closed else f"at 0x{<uintptr_t>self._handle:x}"
        return f"<pyacl.DeviceBuffer of {self.nbytes} bytes {state}>"


cdef void *device_memory(DeviceBuffer buffer, size_t nbytes) except NULL:
    buffer.use_memory()
    if buffer.nbytes < nbytes:
        raise ValueError(f"{buffer!r} is too small, expected at least {nbytes} bytes")
    return buffer._handle


# ---- pinned host memory ----

cdef class HostBuffer(Handle):
    """Pinned memory of the host, which the device reaches by itself (``aclrtMallocHost``).

    Asynchronous copies from and to it do not make the caller wait.

    Parameters
    ----------
    source : int, buffer or DeviceBuffer
        A size in bytes, or memory (anything contiguous with the buffer protocol), whose bytes are then copied over.

    Attributes
    ----------
    nbytes : int
        The size.

    Raises
    ------
    OutOfDeviceMemoryError
        No memory (207001).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Has the buffer protocol: ``memoryview(buffer)`` and NumPy look straight at the memory and keep it. Blocks; releases
    the GIL. Source: CANN Runtime API, 11 Memory management.
    """

    def __init__(self, source):
        cdef void *address = NULL
        cdef size_t nbytes
        cdef Side side = None
        ensure_initialized()
        if hasattr(source, "__index__") and not hasattr(source, "__array_interface__"):
            nbytes = positive_size(source, "nbytes")
        else:
            side = make_side(source, False)
            nbytes = positive_size(side.nbytes, "the size of source")
        with nogil: check(acl.aclrtMallocHost(&address, nbytes), "aclrtMallocHost")
        self.nbytes = nbytes
        self.adopt(address, True, current_parent())
        if side is None:
            return
        if side.on_device:
            copy(make_side(self, True), side, nbytes)
        else:
            memcpy(address, side.address, nbytes)

    @classmethod
    def from_handle(cls, handle, nbytes, owner=None):
        """Borrow pinned memory at an address; `owner` is kept alive as long as this object and its views."""
        cdef HostBuffer self = HostBuffer.__new__(HostBuffer)
        ensure_initialized()
        self.nbytes = positive_size(nbytes, "nbytes")
        self.adopt(<void *><uintptr_t>PyNumber_Index(handle), False, owner)
        return self

    def numpy(self, dtype=np.uint8, shape=None):
        """An array that looks at this memory and keeps it alive. Never blocks.

        Parameters
        ----------
        dtype : dtype, default uint8
        shape : int or tuple of int, optional
            As many elements as fit, in one dimension, without one.
        """
        self.use()
        dtype = np.dtype(dtype)
        count = self.nbytes // dtype.itemsize if shape is None else int(np.prod(shape))
        array = np.frombuffer(self, dtype, count)
        return array if shape is None else array.reshape(shape)

    def data_ptr(self):
        """The address, under the name that tensors use."""
        self.use()
        return <uintptr_t>self._handle

    def __len__(self):
        return self.nbytes

    def __getbuffer__(self, Py_buffer *view, int flags):
        self.use()
        PyBuffer_FillInfo(view, self, self._handle, self.nbytes, 0, flags)
        self._exports += 1

    def __releasebuffer__(self, Py_buffer *view):
        self._exports -= 1
        if self._exports == 0 and self._closed:
            self.free(False)

    cdef int free(self, bint checked) except -1:
        cdef void *address = self._handle
        cdef abi.aclError code
        if self._owned and self._generation == fork_generation and not is_finalizing() and not self.is_orphan():
            self._owned = False
            with nogil:
                code = acl.aclrtFreeHost(address)
            if checked:
                check(code, "aclrtFreeHost")
        self._parent = None
        return 0

    def close(self):
        """Free the memory (``aclrtFreeHost``): now, or when the last array that looks at it is gone.

        Wait for the streams that use it before. Blocks; releases the GIL.
        """
        if self._closed:
            return
        self.use()
        self._closed = True
        if self._exports == 0:
            self.free(True)

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtFreeHost(self._handle)

    def __repr__(self):
        state = "closed" if self._closed else f"at 0x{<uintptr_t>self._handle:x}"
        return f"<pyacl.HostBuffer of {self.nbytes} bytes {state}>"
