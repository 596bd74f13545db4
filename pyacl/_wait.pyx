# cython: language_level=3
"""Waiting for the device.

Off the main thread a wait is the plain C call. Python runs signal handlers on the main thread only, so there a wait must
come back to look, at least every 0.2 s, without slicing the C call: on the real runtime each expired ...WithTimeout costs
the device extra work and is logged as an error. So:

1. Ask first. What is done already takes the plain call at once (one question more than C).
2. Poll the question for a short while: with FAST_SYNC spinning, as the flag asks for, else sleeping in between, as the
   runtime itself does. Waits of everyday length end here and cost what the plain call costs.
3. A really long wait is handed to a waiter thread, which makes the plain call; the main thread sleeps on a condition
   and looks for signals ten times a second. Interrupted, it leaves the waiter to finish by itself.

An idle stream is not "done" before the plain call has said so: only that reports errors.
"""
from libc.math cimport ceil
from libc.stdint cimport int32_t, uint64_t

from pyacl cimport acl as abi
from pyacl._runtime cimport acl, on_main_thread

cdef extern from "waiter.h" nogil:
    ctypedef abi.aclError (*WaitCall)(void *subject, int32_t timeout_ms)
    ctypedef int (*SignalCheck)()
    # Makes the call on a waiter thread. -3: interrupted by a signal whose handler raised.
    abi.aclError pyacl_wait_aside(WaitCall call, void *subject, int32_t timeout_ms, SignalCheck check)
    ctypedef int (*DoneQuestion)(void *subject)
    # 1 done or failed, 0 not in `limit_us` microseconds. Spins and yields, or sleeps in between.
    int pyacl_poll(DoneQuestion question, void *subject, int spin, uint64_t limit_us)

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    INTERRUPTED = -3
    POLL_US = 2000
    DEVICE_POLL_US = 0


cdef int milliseconds(object timeout) except? -2:
    if timeout is None:
        return -1
    cdef double seconds = timeout
    if not seconds >= 0:
        raise ValueError(f"timeout {timeout!r} is not a number of seconds >= 0")
    cdef double ms = ceil(seconds * 1000)
    if ms > 0x7FFFFFFF:
        raise OverflowError(f"timeout {timeout!r} s is more than the runtime can count (2,147,483 s)")
    return max(1, <int>ms)


cdef int check_signals() noexcept with gil:
    # The exception stays set: whoever waits with the GIL finds it.
    try:
        PyErr_CheckSignals()
        return 0
    except BaseException as error:
        pending.append(error)
        return -1


cdef list pending = []  # at most one: only the main thread looks


cdef aclError raise_pending() except? -3:
    raise pending.pop()


cdef int stream_done(void *stream) noexcept nogil:
    cdef abi.aclrtStreamStatus status
    cdef abi.aclError code = acl.aclrtStreamQuery(stream, &status)
    return code != 0 or status == abi.ACL_STREAM_STATUS_COMPLETE


cdef int event_done(void *event) noexcept nogil:
    cdef abi.aclrtEventRecordedStatus status
    cdef abi.aclError code = acl.aclrtQueryEventStatus(event, &status)
    return code != 0 or status == abi.ACL_EVENT_RECORDED_STATUS_COMPLETE


cdef abi.aclError wait_stream(void *stream, int32_t timeout_ms) noexcept nogil:
    if timeout_ms < 0:
        return acl.aclrtSynchronizeStream(stream)
    return acl.aclrtSynchronizeStreamWithTimeout(stream, timeout_ms)


cdef abi.aclError wait_event(void *event, int32_t timeout_ms) noexcept nogil:
    if timeout_ms < 0:
        return acl.aclrtSynchronizeEvent(event)
    return acl.aclrtSynchronizeEventWithTimeout(event, timeout_ms)


cdef abi.aclError wait_device(void *unused, int32_t timeout_ms) noexcept nogil:
    if timeout_ms < 0:
        return acl.aclrtSynchronizeDevice()
    return acl.aclrtSynchronizeDeviceWithTimeout(timeout_ms)


cdef abi.aclError wait(WaitCall call, DoneQuestion question, void *subject, bint spin, int32_t timeout_ms) noexcept nogil:
    """The wait of the calling thread; INTERRUPTED when a signal handler raised."""
    if question(subject) or not on_main_thread():
        return call(subject, timeout_ms)
    cdef uint64_t limit_us = POLL_US
    if 0 <= timeout_ms * 1000 < POLL_US:
        return call(subject, timeout_ms)
    if pyacl_poll(question, subject, spin, limit_us):
        return call(subject, timeout_ms)
    return pyacl_wait_aside(call, subject, timeout_ms, check_signals)


cdef aclError synchronize_stream(aclrtStream stream, bint fast_sync) except? -3:
    cdef abi.aclError code
    with nogil:
        code = wait(wait_stream, stream_done, stream, fast_sync, -1)
    return raise_pending() if code == INTERRUPTED else code


cdef aclError synchronize_stream_timeout(aclrtStream stream, object timeout) except? -3:
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    with nogil:
        code = wait(wait_stream, stream_done, stream, False, timeout_ms)
    return raise_pending() if code == INTERRUPTED else code


cdef aclError synchronize_event(aclrtEvent event, object timeout) except? -3:
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    with nogil:
        code = wait(wait_event, event_done, event, False, timeout_ms)
    return raise_pending() if code == INTERRUPTED else code


cdef aclError synchronize_device(object timeout) except? -3:
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    with nogil:
        if on_main_thread():
            code = pyacl_wait_aside(wait_device, NULL, timeout_ms, check_signals)
        else:
            code = wait_device(NULL, timeout_ms)
    return raise_pending() if code == INTERRUPTED else code
