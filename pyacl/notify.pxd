# Notifies and count notifies. Public: `cimport` them to record or wait from a nogil block with their `_handle`.
from pyacl._handle cimport Handle


cdef class Notify(Handle):
    pass


cdef class CountNotify(Handle):
    pass
