from libc.stdint cimport int32_t

from pyacl._handle cimport Handle


# Handle of the calling thread's context; NULL, without an error, when it has none.
cdef void *current_context() except? NULL


cdef class Context(Handle):
    cdef readonly int32_t device_index  # the device it is on
    cdef object _default_stream         # one Stream per context, made when first asked for
    cdef void *_before                  # context to go back to at the end of a with block, or NULL

    cdef int require_current(self, call) except -1
    cdef void forget(self)


cdef class Device(Context):
    pass
