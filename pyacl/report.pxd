# Threads that serve streams.
from pyacl.stream cimport Stream


cdef class ReportThread:
    cdef object _thread
    cdef object _wake            # a condition: a first stream to serve, or the end
    cdef unsigned long _number   # of the thread, as C knows it
    cdef list _streams           # that it serves
    cdef object _parent
    cdef bint _stopping
    cdef object __weakref__

    cdef int use(self) except -1
