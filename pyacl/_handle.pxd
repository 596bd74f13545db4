# The one shape of everything that stands for a handle of the runtime.
from libc.stdint cimport int32_t


cdef class Handle:
    cdef void *_handle
    cdef bint _owned             # made by us: close() destroys it
    cdef bint _closed            # a state of its own: NULL is the default stream, not "closed"
    cdef unsigned int _generation  # of the process that made it (see _runtime.fork_generation)
    cdef int32_t _device         # that it lives on, or -1
    cdef unsigned int _resets    # of that device, when the handle was made
    cdef object _parent          # kept alive: the device or context it belongs to, or the owner given to from_handle
    cdef object __weakref__

    cdef inline int use(self) except -1:
        # Every method starts here. One branch while all is well.
        if self._closed or self._generation != fork_generation:
            return self.refuse()
        return 0

    cdef int refuse(self) except -1
    cdef void adopt(self, void *handle, bint owned, object parent)
    # Whether its device was reset meanwhile: then the handle is gone, and its address may be somebody else's.
    cdef bint is_orphan(self) noexcept
    # In __dealloc__: whether there is something of ours left to destroy.
    cdef bint must_destroy(self) noexcept


from pyacl._runtime cimport fork_generation

# What the calling thread made current last: a Device or Context, or None.
cdef object current_parent()
cdef int set_current_parent(object parent) except -1

# To be called when a device was reset for good.
cdef void note_reset(int32_t device) noexcept
