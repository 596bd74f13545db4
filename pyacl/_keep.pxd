# What a stream's tasks still need.
from pyacl.acl cimport aclrtStream


cdef class Keeper:
    cdef list _open        # things used by tasks behind the last mark
    cdef list _closed      # (Mark, things) of the tasks before it, oldest first

    # Called after the task was submitted, on the thread that did: its context is the stream's.
    cdef int keep(self, aclrtStream stream, object one, object two) except -1
    cdef int forget_passed(self) except -1
    # Around a wait for the stream: what it covers is taken out before, and given back if the wait was in vain.
    cdef tuple take(self)
    cdef int give_back(self, tuple taken) except -1
