# cython: language_level=3
"""Recording into models: keeping alive what recorded tasks use, and knowing which call broke a capture.

While a stream records, by capture or because it is bound to a model, what its tasks use belongs to the model and not to
the stream's queue: buffers, kernels, functions. A stream joins a capture by waiting for one of its events, so whoever
submits or waits has to ask; that costs nothing while no capture is open.

A call that breaks a capture returns an error itself, but nothing makes its caller pass that on. So while captures are
open every error is looked at as it is made: the one after which a capture is found invalidated was its end.
"""
import os
import sys

from libc.stdint cimport uintptr_t

from pyacl cimport _runtime
from pyacl cimport acl as abi
from pyacl._runtime cimport acl

PACKAGE = os.path.dirname(os.path.abspath(__file__))

cdef dict open_recordings = {}  # handle of the model being captured -> Recording


cdef abi.aclmdlRICaptureStatus status_of(abi.aclrtStream stream, abi.aclmdlRI *model) noexcept:
    cdef abi.aclmdlRICaptureStatus status = abi.ACL_MODEL_RI_CAPTURE_STATUS_NONE
    model[0] = NULL
    if acl.aclmdlRICaptureGetInfo(stream, &status, model) != 0:
        return abi.ACL_MODEL_RI_CAPTURE_STATUS_NONE
    return status


cdef Recording recording_of(abi.aclrtStream stream):
    cdef abi.aclmdlRI model
    if captures_open == 0 or status_of(stream, &model) == abi.ACL_MODEL_RI_CAPTURE_STATUS_NONE:
        return None
    return open_recordings.get(<uintptr_t>model)


cdef class Recording:
    def __cinit__(self):
        self.things = []
        self.streams = []

    cdef int add(self, object one, object two) except -1:
        self.things.append(one)
        if two is not None:
            self.things.append(two)
        return 0

    cdef int open_capture(self, abi.aclrtStream origin) except -1:
        global captures_open
        self.origin = origin
        status_of(origin, &self.model)
        self.culprit = self.where = None
        open_recordings[<uintptr_t>self.model] = self
        captures_open += 1
        _runtime.error_observer = observe
        return 0

    cdef int close_capture(self) except -1:
        global captures_open
        if open_recordings.pop(<uintptr_t>self.model, None) is None:
            return 0
        captures_open -= 1
        if captures_open == 0:
            _runtime.error_observer = None
        return 0


def observe(error):
    """Called with every error of the runtime while a capture is open, before it is raised."""
    cdef Recording recording
    cdef abi.aclmdlRI model
    for recording in list(open_recordings.values()):
        if recording.culprit is None and status_of(recording.origin, &model) == abi.ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED:
            recording.culprit = error
            recording.where = caller()


cdef bint is_ours(str filename):
    return filename.startswith("pyacl/") or filename.startswith(PACKAGE)


cdef tuple caller():
    frame = sys._getframe()  # functions of this package have none of their own
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


cdef tuple place_of(object traceback):
    """Where the innermost call out of Python was made, as a traceback tells."""
    cdef tuple place = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename):
            place = (code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return place
