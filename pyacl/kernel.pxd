# Kernels and bound launches. Public: `cimport` these to launch from a nogil loop.
from libc.stdint cimport uint32_t

from pyacl._handle cimport Handle
from pyacl.acl cimport aclrtLaunchKernelCfg, aclrtPlaceHolderInfo
from pyacl.callback cimport Callback
from pyacl.launch_config cimport LaunchConfig
from pyacl.stream cimport Stream

cdef class Binary(Handle):
    cdef object _data    # the bytes it was made from: a lazy loader may come back to them
    cdef Callback _on_exception


cdef class Kernel(Handle):
    cdef str _name       # None until somebody asks, if it was not looked up by name
    cdef Binary _binary  # keeps the code loaded; None for a borrowed function

    cdef int require_open(self) except -1


# Of a launch, checked.
cdef uint32_t count_blocks(blocks) except 0


cdef class Plan:
    cdef void *vectorcall          # how CPython calls this object; see the end of kernel.pyx
    cdef readonly Kernel kernel
    cdef readonly Stream stream    # None: the default stream of the current context
    cdef readonly str spec
    cdef uint32_t _blocks
    cdef uint32_t count            # arguments
    cdef size_t bytes              # of all of them, packed
    cdef readonly LaunchConfig config
    cdef aclrtLaunchKernelCfg *cfg    # of the config, or NULL
    cdef object _layout               # owns what follows
    cdef void *slots                  # a Slot for each argument, see csrc/runtime/pack.h
    cdef aclrtPlaceHolderInfo *placeholders
    cdef size_t placeholder_count

    cdef bint is_open(self) noexcept
    cdef int require_open(self) except -1
    cdef int pack(self, void *packed, object arguments) except -1
    # Launches arguments that were packed before; `packed` is copied during the call.
    cdef int submit(self, void *packed) except -1 nogil
