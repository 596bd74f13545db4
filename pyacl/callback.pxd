# Python functions that the runtime calls.
from pyacl.acl cimport aclrtCallback, aclrtContext, aclrtHostFunc, aclrtOpExceptionCallback


cdef class HostCall:
    # One call of a Python function as a task of a stream. Whoever launches it keeps it until the stream has passed.
    cdef object function
    cdef object arguments
    cdef object parent           # made current on the drain thread before the function runs
    cdef aclrtContext context    # the handle of `parent`
    cdef bint alone              # the stream passes it before it has run: it keeps itself till then

    cdef void hold(self, bint blocking)
    cdef void release(self)


# What to give to aclrtLaunchHostFunc, with the HostCall itself as its argument.
cdef aclrtHostFunc host_function() noexcept nogil
cdef HostCall new_host_call(object function, tuple arguments)

# The same for report threads, which are threads of Python's: what they call runs right there.
cdef aclrtCallback report_function() noexcept nogil
# For calls that a thread of ours may make the runtime do: with a HostCall as argument too.
cdef aclrtCallback direct_function() noexcept nogil
# Calls them all; an exception goes to sys.unraisablehook.
cdef int call_each(list functions) except -1


cdef class Callback:
    # A function that the runtime may call any time, as long as whoever registered it keeps this.
    cdef object function

cdef Callback new_callback(object function)
# With a Callback as its argument.
cdef aclrtOpExceptionCallback exception_function() except NULL
