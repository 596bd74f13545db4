# Streams. Public: `cimport` Stream to launch, copy or record on it from a nogil loop, through `_handle`.
from libc.stdint cimport int32_t

from pyacl._gil cimport Room
from pyacl._handle cimport Handle
from pyacl._keep cimport Keeper
from pyacl._recording cimport Recording, captures_open
from pyacl.acl cimport aclError
from pyacl.event cimport Event


cdef class Stream(Handle):
    cdef void *_context            # that it belongs to: destroying it needs this one current
    cdef readonly int32_t device_index
    cdef bint _fast_sync           # how to wait for it
    cdef bint _is_default          # of its context: cannot be closed
    cdef Keeper _keeper            # what its queued tasks use; None until one uses anything
    cdef Room _room                # for submissions that keep the GIL; its owner is _gil.keeps_gil
    cdef bint _trusted             # nobody else submits to it, and it is not in launch-blocking mode
    cdef Recording _recording      # of the model that its tasks go into just now; None while they run

    # Call it after submitting a task that uses these: they live until the stream has passed it.
    cdef int keep(self, object one, object two) except -1
    # For tasks that use things only when they are recorded: a kernel's caller keeps the arguments of a plain launch.
    cdef inline int keep_recorded(self, object one, object two) except -1:
        return self.add_to_recording(one, two) if self.may_record() else 0
    cdef inline bint may_record(self) noexcept:
        return self._recording is not None or captures_open > 0
    cdef int add_to_recording(self, object one, object two) except -1
    cdef bint is_recording(self) except -1
    cdef int begin_recording(self, Recording recording) except -1
    cdef int end_recording(self) except -1
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
