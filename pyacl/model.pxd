# Models: built or captured. Public: `cimport` Model to execute it from a nogil block with its `_handle`.
from pyacl._handle cimport Handle
from pyacl._recording cimport Recording
from pyacl.acl cimport aclmdlRI, aclmdlRICaptureMode, aclmdlRICondHandle, aclmdlRITask, aclmdlRITaskParams, aclrtTaskGrp
from pyacl.callback cimport HostCall
from pyacl.stream cimport Stream


cdef class Model(Handle):
    cdef Recording _recording      # what its tasks use, kept as long as the model
    cdef list _bound               # streams of a built model
    cdef list _destroyed           # (function, arguments) to call when it is destroyed
    cdef HostCall _destroy_call    # that does so

    cdef int destroy(self) except -1


cdef class Graph(Model):
    cdef Stream _origin            # that captures it; None once the capture has ended
    cdef list _branches            # of its conditions, and of theirs
    cdef Graph _root               # of a branch: what it is a part of

    cdef aclmdlRI capturing(self, call) except NULL


cdef class Capture:
    cdef Stream stream
    cdef Graph graph
    cdef aclmdlRI target           # the branch to capture into, or NULL for a new model
    cdef aclmdlRICaptureMode mode
    cdef aclmdlRICaptureMode thread_mode_before
    cdef object thread_mode

    cdef int begin(self) except -1
    cdef object end(self, bint failed)


cdef class GraphCondition:
    cdef Graph graph
    cdef aclmdlRICondHandle handle
    cdef object _cell


cdef class Branch:
    cdef Graph graph
    cdef aclmdlRI model
    cdef readonly str name         # how `to_dot` calls it


cdef class TaskGroup:
    cdef Graph graph
    cdef Stream stream             # that records it, within its block
    cdef aclrtTaskGrp handle       # NULL before the end of the block

    cdef int use(self) except -1


cdef class TaskUpdate:
    cdef TaskGroup group
    cdef Stream stream


cdef class Task:
    cdef Model model
    cdef aclmdlRITask handle
    cdef readonly int stream_number

    cdef aclmdlRITaskParams params(self) except *
    cdef int set_params(self, aclmdlRITaskParams *params) except -1
