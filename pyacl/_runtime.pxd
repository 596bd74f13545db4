# What every module of pyacl shares: the function table and the one way to check a call.
#
#     with nogil: check(acl.aclrtRecordEvent(event, stream), "aclrtRecordEvent")
#
# `acl` is the table itself: a call costs one load more than C. `check` takes the GIL only when something failed.
from pyacl.acl cimport AclTable, aclError

cdef AclTable acl

cdef int raise_error(aclError code, const char *call) except -1
cdef int raise_internal(aclError code, const char *call) except -1


# Called with each error before it is raised, or None: see _recording.pyx.
cdef object error_observer


cdef inline int check(aclError code, const char *call) except -1 nogil:
    if code == 0:
        return 0
    with gil:
        return raise_error(code, call)


# Changes with every fork: an object that carries another number was made in another process.
cdef unsigned int fork_generation

# Loads the runtime if that has not happened, and calls aclInit once.
cdef int ensure_initialized() except -1

# True once the interpreter is going down: destructors then leave everything to the operating system.
cdef bint is_finalizing() noexcept nogil
cdef bint on_main_thread() noexcept nogil
