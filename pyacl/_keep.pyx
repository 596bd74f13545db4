# cython: language_level=3, binding=False
"""Keeping alive what queued tasks use: the two ends of an asynchronous copy, the function of a host call.

A stream passes its tasks in order, so it is enough to know how far it has come. A wait for the stream, or a query that
finds it idle, tells for nothing. For streams that nobody ever waits for, every `PER_MARK` things an event is recorded
as a mark; what lies before a mark that has been passed is let go of.
"""
import cython

from cpython.list cimport PyList_GET_SIZE

from pyacl cimport acl as abi
from pyacl._runtime cimport acl, fork_generation, is_finalizing

cdef enum:
    PER_MARK = 64


cdef class Mark:
    cdef abi.aclrtEvent event
    cdef unsigned int generation

    cdef bint record(self, abi.aclrtStream stream):
        """Whether it worked. If not, the things just wait for the next mark."""
        cdef abi.aclError code
        self.generation = fork_generation
        with nogil:
            # An Ex event takes no hardware event until it is recorded, and may be destroyed at any time.
            code = acl.aclrtCreateEventExWithFlag(&self.event, abi.ACL_EVENT_SYNC)
            if code == 0:
                code = acl.aclrtRecordEvent(self.event, stream)
        return code == 0

    cdef bint passed(self) noexcept:
        cdef abi.aclrtEventRecordedStatus status = abi.ACL_EVENT_RECORDED_STATUS_NOT_READY
        return (
            acl.aclrtQueryEventStatus(self.event, &status) == 0
            and status == abi.ACL_EVENT_RECORDED_STATUS_COMPLETE
        )

    def __dealloc__(self):
        if self.event is not NULL and self.generation == fork_generation and not is_finalizing():
            with nogil:
                acl.aclrtDestroyEvent(self.event)


@cython.no_gc  # what it holds is in use by the device, also when all that Python knows of it is garbage
cdef class Keeper:
    def __cinit__(self):
        self._open = []
        self._closed = []

    cdef int keep(self, abi.aclrtStream stream, object one, object two) except -1:
        cdef Mark mark
        self._open.append(one)
        self._open.append(two)
        if PyList_GET_SIZE(self._open) < PER_MARK:
            return 0
        self.forget_passed()
        mark = Mark.__new__(Mark)
        things = self._open  # what is added from here on comes after the mark
        self._open = []
        if mark.record(stream):
            self._closed.append((mark, things))
        else:
            self._open = things + self._open
        return 0

    cdef int forget_passed(self) except -1:
        cdef Py_ssize_t passed = 0
        while passed < PyList_GET_SIZE(self._closed) and (<Mark>self._closed[passed][0]).passed():
            passed += 1
        del self._closed[:passed]
        return 0

    cdef tuple take(self):
        if not self._open and not self._closed:
            return None
        taken = (self._closed, self._open)
        self._closed = []
        self._open = []
        return taken

    cdef int give_back(self, tuple taken) except -1:
        if taken is not None:
            self._closed[:0] = taken[0]
            self._open[:0] = taken[1]
        return 0
