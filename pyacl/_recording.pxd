# What is being recorded into models: see _recording.pyx.
from pyacl.acl cimport aclmdlRI, aclrtStream

# Captures begun by this package and not ended, in all threads.
cdef int captures_open


cdef class Recording:
    cdef list things             # what the model's tasks use: kept as long as the model
    cdef bint has_functions      # Python ones among them: executing the model needs the GIL to be free
    cdef aclrtStream origin      # of a capture; NULL for a model that is built
    cdef aclmdlRI model          # being captured
    cdef list streams            # that record into it now
    cdef object culprit          # the AclError that invalidated the capture, or None
    cdef tuple where             # (file, line) of the Python call that got it

    cdef int add(self, object one, object two) except -1
    # Between these the recording is found by `recording_of`.
    cdef int open_capture(self, aclrtStream origin) except -1
    cdef int close_capture(self) except -1


# Into what a stream records just now; None if it captures nothing, or somebody else captures it.
cdef Recording recording_of(aclrtStream stream)

# (file, line) of a frame or traceback outside this package.
cdef tuple caller()
cdef tuple place_of(object traceback)
