# Many submissions in one crossing of the border to C.
from libc.stdint cimport uint32_t

from pyacl.acl cimport aclError, aclrtLaunchKernelCfg, aclrtPlaceHolderInfo

cdef enum Step:
    LAUNCH
    RECORD
    WAIT

cdef struct Item:
    Step step
    uint32_t blocks
    void *stream
    void *subject      # kernel function or event
    size_t offset      # of the arguments in `packed`
    size_t size
    aclrtLaunchKernelCfg *cfg
    aclrtPlaceHolderInfo *placeholders
    size_t placeholder_count


cdef class LaunchBatch:
    cdef Item *items
    cdef size_t count
    cdef size_t room
    cdef unsigned char *packed   # all arguments, one launch behind the other
    cdef size_t bytes
    cdef size_t bytes_room
    cdef list _plans             # of each launch, in order
    cdef dict _used              # every plan, event and stream in it, once
    cdef list _launches          # index in `items` of each launch

    cdef Item *add_item(self, Step step, void *stream, void *subject) except NULL
    cdef int reserve(self, size_t size) except -1
    cdef int prepare(self) except -1
    cdef int keep_recorded(self) except -1
    cdef view(self)
    # Submits everything; *failed is the index of the item that was refused. Needs no GIL.
    cdef aclError run(self, size_t *failed) noexcept nogil
