# cython: language_level=3
"""Waiting for the device.

Off the main thread a wait is the plain C call. Python runs signal handlers on the main thread only, so there a wait must
come back to look, at least every 0.2 s, without slicing the C call: on the real runtime each expired ...WithTimeout costs
the device extra work and is logged as an error. So:

1. Ask first. What is done already takes the call at once, and keeps the GIL: releasing it would cost more than both. In
   case another thread submits in between, that call is limited to a millisecond, and on expiry the real wait follows.
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

from pyacl.errors import SYNC_RESULTS, make_error

cdef extern from "waiter.h" nogil:
    enum:
        WAIT_INTERRUPTED
        WAIT_TEXT
    ctypedef abi.aclError (*WaitCall)(void *subject, void *context, int32_t timeout_ms) noexcept nogil
    ctypedef int (*DoneQuestion)(void *subject) noexcept nogil
    ctypedef int (*SignalCheck)() noexcept nogil
    ctypedef const char *(*LastMessage)() noexcept nogil
    abi.aclError pyacl_wait_aside(WaitCall call, void *subject, void *context, int32_t timeout_ms, LastMessage message,
                                  SignalCheck check, char *text)
    int pyacl_poll(DoneQuestion question, void *subject, int spin, uint64_t limit_us)

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    IDLE_MS = 1
    POLL_US = 2000

# Written by the main thread only, the one that waits aside.
cdef char aside_text[WAIT_TEXT]
cdef list interruptions = []


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


cdef int32_t whole_seconds(object timeout) except? -1:
    if timeout is None:
        return 0
    cdef double seconds = timeout
    if not seconds > 0:
        raise ValueError(f"timeout {timeout!r} is not a number of seconds > 0")
    seconds = ceil(seconds)
    if seconds > 0x7FFFFFFF:
        raise OverflowError(f"timeout {timeout!r} s is more than the runtime can count")
    return <int32_t>seconds


cdef int check_signals() noexcept with gil:
    """-1 when a handler raised; the exception waits in `interruptions` until the wait has ended."""
    try:
        PyErr_CheckSignals()
        return 0
    except BaseException as error:
        interruptions.append(error)
        return -1


cdef int stream_done(void *stream) noexcept nogil:
    cdef abi.aclrtStreamStatus status
    cdef abi.aclError code = acl.aclrtStreamQuery(stream, &status)
    return code != 0 or status == abi.ACL_STREAM_STATUS_COMPLETE


cdef int event_done(void *event) noexcept nogil:
    cdef abi.aclrtEventRecordedStatus status
    cdef abi.aclError code = acl.aclrtQueryEventStatus(event, &status)
    return code != 0 or status == abi.ACL_EVENT_RECORDED_STATUS_COMPLETE


cdef void enter(void *context) noexcept nogil:
    if context is not NULL:
        acl.aclrtSetCurrentContext(context)


cdef abi.aclError wait_stream(void *stream, void *context, int32_t timeout_ms) noexcept nogil:
    enter(context)
    if timeout_ms < 0:
        return acl.aclrtSynchronizeStream(stream)
    return acl.aclrtSynchronizeStreamWithTimeout(stream, timeout_ms)


cdef abi.aclError wait_event(void *event, void *context, int32_t timeout_ms) noexcept nogil:
    enter(context)
    if timeout_ms < 0:
        return acl.aclrtSynchronizeEvent(event)
    return acl.aclrtSynchronizeEventWithTimeout(event, timeout_ms)


cdef abi.aclError wait_device(void *device, void *context, int32_t timeout_ms) noexcept nogil:
    enter(context)
    if timeout_ms < 0:
        return acl.aclrtSynchronizeDevice()
    return acl.aclrtSynchronizeDeviceWithTimeout(timeout_ms)


cdef abi.aclError wait_model(void *model, void *context, int32_t timeout_ms) noexcept nogil:
    enter(context)
    return acl.aclmdlRIExecute(model, timeout_ms)


cdef abi.aclError wait_aside(WaitCall call, void *subject, int32_t timeout_ms) noexcept nogil:
    """The long way, on the main thread. A thread without a context gets the plain call's own answer."""
    cdef abi.aclrtContext context = NULL
    if acl.aclrtGetCurrentContext(&context) != 0:
        return call(subject, NULL, timeout_ms)
    return pyacl_wait_aside(call, subject, context, timeout_ms, acl.aclGetRecentErrMsg, check_signals, aside_text)


cdef abi.aclError wait(WaitCall call, DoneQuestion question, void *subject, bint spin, int32_t timeout_ms,
                       bint *aside) noexcept nogil:
    aside[0] = False
    if question(subject) or not on_main_thread():
        return call(subject, NULL, timeout_ms)
    if 0 <= timeout_ms * 1000LL <= POLL_US or pyacl_poll(question, subject, spin, POLL_US):
        return call(subject, NULL, timeout_ms)
    aside[0] = True
    return wait_aside(call, subject, timeout_ms)


cdef abi.aclError finish_aside(abi.aclError code, const char *name) except? -3:
    """What a wait aside ended with: its failure carries the message of the waiter's thread."""
    if code == WAIT_INTERRUPTED:
        raise interruptions.pop()
    if code not in SYNC_RESULTS:
        raise make_error(code, name.decode(), aside_text.decode("utf-8", "replace"))
    return code


cdef aclError synchronize_stream(aclrtStream stream, bint fast_sync) except? -3:
    cdef abi.aclError code
    cdef bint aside
    if not python_hears_failures and stream_done(stream):
        code = acl.aclrtSynchronizeStreamWithTimeout(stream, IDLE_MS)
        if code != abi.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:
            return code
    with nogil:
        code = wait(wait_stream, stream_done, stream, fast_sync, -1, &aside)
    return finish_aside(code, "aclrtSynchronizeStream") if aside else code


cdef aclError synchronize_stream_timeout(aclrtStream stream, bint fast_sync, object timeout) except? -3:
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    cdef bint aside
    with nogil:
        code = wait(wait_stream, stream_done, stream, fast_sync, timeout_ms, &aside)
    return finish_aside(code, "aclrtSynchronizeStreamWithTimeout") if aside else code


cdef aclError synchronize_event(aclrtEvent event, object timeout) except? -3:
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    cdef bint aside
    with nogil:
        code = wait(wait_event, event_done, event, False, timeout_ms, &aside)
    return finish_aside(code, "aclrtSynchronizeEvent") if aside else code


cdef aclError synchronize_device(object timeout) except? -3:
    """Nothing tells whether a device is idle: on the main thread this always goes the long way (tens of µs)."""
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    cdef bint aside = on_main_thread()
    with nogil:
        code = wait_aside(wait_device, NULL, timeout_ms) if aside else wait_device(NULL, NULL, timeout_ms)
    return finish_aside(code, "aclrtSynchronizeDevice") if aside else code


cdef aclError execute_model(aclmdlRI model, object timeout) except? -3:
    """The call begins the work that it waits for: asking first makes no sense."""
    cdef int timeout_ms = milliseconds(timeout)
    cdef abi.aclError code
    cdef bint aside = on_main_thread()
    with nogil:
        code = wait_aside(wait_model, model, timeout_ms) if aside else wait_model(model, NULL, timeout_ms)
    return finish_aside(code, "aclmdlRIExecute") if aside else code
