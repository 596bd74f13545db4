# Device and pinned host memory.
from pyacl._handle cimport Handle
from pyacl.stream cimport Stream


cdef class DeviceBuffer(Handle):
    cdef readonly size_t nbytes
    cdef DeviceBuffer _base      # of a view: the buffer that owns the memory; None for an owner

    cdef int use_memory(self) except -1
    cdef int allocate(self, size_t nbytes, int policy) except -1
    cdef int require_room(self, size_t offset, size_t nbytes, str what) except -1


cdef class HostBuffer(Handle):
    cdef readonly size_t nbytes
    cdef Py_ssize_t _exports     # views that still look at the memory: it is freed after the last one

    cdef int free(self, bint checked) except -1


# What a task of the device will read or write: never an address that nobody vouches for.
cdef void *device_memory(DeviceBuffer buffer, size_t nbytes) except NULL


# Memory that is copied from or to: ours, or a buffer of the host, which stays exported as long as this lives.
cdef class Side:
    cdef void *address
    cdef size_t nbytes
    cdef bint on_device
    cdef object owner
    cdef Py_buffer view
    cdef bint exported

cdef Side make_side(object thing, bint writable)
# None stands for the current context's default stream.
cdef Stream require_stream(stream)
