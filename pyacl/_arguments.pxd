# Kernel arguments: their kinds, where they go, and how values become bytes. The fast way is in csrc/runtime/pack.h.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

from pyacl.acl cimport aclrtPlaceHolderInfo

cdef extern from "pack.h":
    enum:
        SLOT "PACK_SLOT"
    ctypedef enum ArgumentKind:
        POINTER
        UNSIGNED
        SIGNED
        BOOL
        FLOAT64
        FLOAT32
        FLOAT16
        BFLOAT16
        RAW
    ctypedef struct Slot:
        ArgumentKind kind
        uint32_t offset
        uint32_t size
        int64_t lowest
        uint64_t highest
        uint64_t mask
    bint pack_fast(const Slot *slot, PyObject *value, unsigned char *packed) noexcept


cdef class Layout:
    cdef readonly str spec
    cdef uint32_t count                        # arguments
    cdef size_t bytes                          # of all of them, packed
    cdef Slot *slots                           # one for each
    cdef aclrtPlaceHolderInfo *placeholders    # one for each data[N]
    cdef size_t placeholder_count

    cdef int read(self, list words) except -1
    cdef int pack(self, unsigned char *packed, object values) except -1
    cdef bytes packed(self, object values)


# The layout of a spec; read once, then remembered.
cdef Layout find_layout(spec)
# The layout that values ask for by their types.
cdef Layout guess_layout(tuple values)
# The same for a kernel that tells its parameters' sizes: they decide how wide a Python number is.
cdef Layout fit_layout(tuple values, list sizes)
# Any value, at its place; what pack_fast leaves.
cdef int put(const Slot *slot, unsigned char *place, object value, uint32_t index) except -1
cdef int wrong_count(Layout layout, Py_ssize_t given) except -1
