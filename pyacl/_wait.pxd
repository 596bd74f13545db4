# Waiting that notices Ctrl-C: see _wait.pyx.
from libc.stdint cimport int32_t

from pyacl.acl cimport aclError, aclmdlRI, aclrtEvent, aclrtStream

# A wait that reports a failure may have to wait for a Python function first: it must not hold the GIL.
cdef bint python_hears_failures

# Seconds (float) or None -> milliseconds for C: -1 for ever, at least 1.
cdef int milliseconds(object timeout) except? -2
# Seconds (float) -> whole ones, rounded up, for waits that streams do; None is 0, which is for ever.
cdef int32_t whole_seconds(object timeout) except? -1

cdef aclError synchronize_stream(aclrtStream stream, bint fast_sync) except? -3
cdef aclError synchronize_stream_timeout(aclrtStream stream, bint fast_sync, object timeout) except? -3
cdef aclError synchronize_event(aclrtEvent event, object timeout) except? -3
cdef aclError synchronize_device(object timeout) except? -3
# Executes it, and waits until that is over.
cdef aclError execute_model(aclmdlRI model, object timeout) except? -3
