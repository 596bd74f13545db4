# Events. Public: `cimport` Event to record from a nogil block with its `_handle`.
from pyacl._handle cimport Handle


cdef class Event(Handle):
    pass
