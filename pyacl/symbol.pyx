# cython: language_level=3, embedsignature=True
"""Symbols: device variables that compiled host code has registered under an address of its own."""
from cpython.number cimport PyNumber_Index
from libc.stdint cimport uintptr_t

from pyacl cimport acl as abi
from pyacl._runtime cimport acl, check, ensure_initialized
from pyacl.memory cimport DeviceBuffer, Side, make_side, require_stream
from pyacl.stream cimport Stream


cdef class Symbol:
    """A device variable of compiled host code, by the address of its stand-in on the host.

    Parameters
    ----------
    address : int
        Of the stand-in, for example ``ctypes.addressof(ctypes.c_int.in_dll(library, "table"))``.

    Attributes
    ----------
    address : int
        The same.

    Notes
    -----
    Every method raises `InvalidParamError` when nothing is registered there (107043). On the emulator nothing ever is:
    host programs come without the device compiler's registration. Source: CANN Runtime API, 26 Symbols.
    """

    cdef readonly uintptr_t address

    def __init__(self, address):
        self.address = PyNumber_Index(address)
        if self.address == 0:
            raise ValueError("address is 0, expected that of a registered variable")
        ensure_initialized()

    @property
    def nbytes(self):
        """The variable's size (``aclrtGetSymbolSize``)."""
        cdef void *symbol = <void *>self.address
        cdef size_t nbytes = 0
        with nogil: check(acl.aclrtGetSymbolSize(symbol, &nbytes), "aclrtGetSymbolSize")
        return nbytes

    @property
    def buffer(self):
        """The variable on the current device, as borrowed memory (``aclrtGetSymbolAddress``)."""
        cdef void *symbol = <void *>self.address
        cdef void *memory = NULL
        with nogil: check(acl.aclrtGetSymbolAddress(symbol, &memory), "aclrtGetSymbolAddress")
        return DeviceBuffer.from_handle(<uintptr_t>memory, self.nbytes, self)

    def copy_from(self, source, offset=0):
        """Copy all of `source` into the variable, from byte `offset` on (``aclrtMemcpyToSymbol``). Blocks; releases the GIL."""
        cdef Side side = make_side(source, False)
        cdef void *symbol = <void *>self.address
        cdef size_t start = offset
        cdef abi.aclrtMemcpyKind kind = abi.ACL_MEMCPY_DEVICE_TO_DEVICE if side.on_device else abi.ACL_MEMCPY_HOST_TO_DEVICE
        with nogil: check(acl.aclrtMemcpyToSymbol(symbol, side.address, side.nbytes, start, kind), "aclrtMemcpyToSymbol")

    def copy_to(self, target, offset=0):
        """Fill all of `target` from byte `offset` of the variable (``aclrtMemcpyFromSymbol``). Blocks; releases the GIL."""
        cdef Side side = make_side(target, True)
        cdef void *symbol = <void *>self.address
        cdef size_t start = offset
        cdef abi.aclrtMemcpyKind kind = abi.ACL_MEMCPY_DEVICE_TO_DEVICE if side.on_device else abi.ACL_MEMCPY_DEVICE_TO_HOST
        with nogil:
            check(
                acl.aclrtMemcpyFromSymbol(side.address, side.nbytes, symbol, side.nbytes, start, kind),
                "aclrtMemcpyFromSymbol",
            )

    def copy_from_async(self, source, stream=None, offset=0):
        """`copy_from` as a task of a stream (``aclrtMemcpyToSymbolAsync``); the source is kept until then."""
        cdef Stream queue = require_stream(stream)
        cdef Side side = make_side(source, False)
        cdef void *symbol = <void *>self.address
        cdef size_t start = offset
        cdef abi.aclrtMemcpyKind kind = abi.ACL_MEMCPY_DEVICE_TO_DEVICE if side.on_device else abi.ACL_MEMCPY_HOST_TO_DEVICE
        with nogil:
            check(
                acl.aclrtMemcpyToSymbolAsync(symbol, side.address, side.nbytes, start, kind, queue._handle),
                "aclrtMemcpyToSymbolAsync",
            )
        queue.keep(self, side)

    def copy_to_async(self, target, stream=None, offset=0):
        """`copy_to` as a task of a stream (``aclrtMemcpyFromSymbolAsync``); the target is kept until then."""
        cdef Stream queue = require_stream(stream)
        cdef Side side = make_side(target, True)
        cdef void *symbol = <void *>self.address
        cdef size_t start = offset
        cdef abi.aclrtMemcpyKind kind = abi.ACL_MEMCPY_DEVICE_TO_DEVICE if side.on_device else abi.ACL_MEMCPY_DEVICE_TO_HOST
        with nogil:
            check(
                acl.aclrtMemcpyFromSymbolAsync(side.address, side.nbytes, symbol, side.nbytes, start, kind, queue._handle),
                "aclrtMemcpyFromSymbolAsync",
            )
        queue.keep(self, side)

    def __repr__(self):
        return f"<pyacl.Symbol at 0x{self.address:x}>"
