# Streams. Public: `cimport` Stream to launch, copy or record on it from a nogil loop, through `_handle`.
from libc.stdint cimport int32_t

from pyacl._gil cimport Room
from pyacl._handle cimport Handle
from pyacl._keep cimport Keeper
from pyacl.acl cimport aclError
from pyacl.event cimport Event


cdef class Stream(Handle):
    cdef void *_context            # that it belongs to: destroying it needs this one current
    cdef readonly int32_t device_index
    cdef bint _fast_sync           # how to wait for it
    cdef bint _is_default          # of its context: cannot be closed
    cdef Keeper _keeper            # what its queued tasks use; None until one uses anything
    cdef Room _room                # for submissions that keep the GIL; its owner is _gil.keeps_gil

    # Call it after submitting a task that uses these: they live until the stream has passed it.
    cdef int keep(self, object one, object two) except -1
    cdef int adopt_here(self, void *stream, bint owned, object parent) except -1
    cdef object synchronize_with_care(self, object timeout)
    cdef object wait_external(self, Event event, object timeout)


# Like `check`, for calls that submit to a stream: says whose stream it was when it is another context's.
cdef int raise_on(Stream stream, aclError code, const char *call) except -1

cdef inline int check_on(Stream stream, aclError code, const char *call) except -1 nogil:
    if code == 0:
        return 0
    with gil:
        return raise_on(stream, code, call)
