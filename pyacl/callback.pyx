# cython: language_level=3, embedsignature=True
"""Python functions that the runtime calls: host functions of streams, and callbacks for states, failures and aborts.

The runtime calls C functions of this file on threads of its own. They never take the GIL: they put a request into a
queue and wait, without the GIL, until the drain thread (a Python thread, started with the first function) has run it.
So a stream's later tasks come after the Python function has returned, and no foreign thread ever needs the
interpreter. An exception of a function goes to `sys.unraisablehook`. At exit all waits end at once.
"""
import threading

from typing import NamedTuple

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from pyacl cimport _wait
from pyacl._handle cimport current_parent, set_current_parent
from pyacl._runtime cimport acl, check, ensure_initialized, fork_generation
from pyacl.acl cimport (
    aclrtDeviceState, aclrtDeviceTaskAbortStage, aclrtExceptionInfo, aclrtFuncHandle, aclrtStream, aclrtStreamState,
)

from pyacl import stream as streams
from pyacl._runtime import register
from pyacl.enums import DeviceState, DeviceTaskAbortStage, StreamState

cdef extern from "Python.h":
    int PyGILState_Check() nogil
    PyObject *call_object "PyObject_Call"(object function, object arguments, PyObject *keywords)
    void PyErr_WriteUnraisable(PyObject *where)
    void Py_INCREF(object thing)
    void drop_reference "Py_DECREF"(PyObject *thing)

cdef extern from "pthread.h" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    ctypedef unsigned long pthread_t
    pthread_t pthread_self()
    int pthread_mutex_init(pthread_mutex_t *mutex, void *attributes)
    int pthread_mutex_lock(pthread_mutex_t *mutex)
    int pthread_mutex_unlock(pthread_mutex_t *mutex)
    int pthread_cond_init(pthread_cond_t *condition, void *attributes)
    int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
    int pthread_cond_signal(pthread_cond_t *condition)
    int pthread_cond_broadcast(pthread_cond_t *condition)


cdef enum RequestState:
    QUEUED
    RUNNING
    DONE

ctypedef void (*RunRequest)(Request *request)

# What a callback is told.
cdef struct Facts:
    aclrtStream stream
    int state                  # or stage
    int32_t device
    uint32_t timeout_ms
    uint32_t stream_id
    uint32_t task_id
    uint32_t thread_id
    uint32_t error_code
    aclrtFuncHandle function
    void *arguments
    uint32_t argument_bytes

cdef struct Request:
    RunRequest run             # with the GIL
    void *target               # the HostCall or Callback; alive while its C function has not returned
    aclrtContext context       # to make current first, or NULL
    Facts facts
    int32_t result             # of the function
    RequestState state
    bint abandoned             # nobody waits any more: the drain thread frees it
    Request *next

cdef struct Queue:
    pthread_mutex_t lock       # guards everything below; held for a few instructions, never while waiting for the GIL
    pthread_cond_t work        # there is a request, or the end has come
    pthread_cond_t finished    # some request is done, or the end has come
    Request *first
    Request *last
    bint stopping
    bint has_drain
    pthread_t drain
    unsigned int generation    # of the process whose drain thread serves this queue

cdef Queue queue


# ---- on threads of the runtime: no GIL ----

cdef void append(Request *request) noexcept nogil:
    request.next = NULL
    if queue.last is NULL:
        queue.first = request
    else:
        queue.last.next = request
    queue.last = request
    pthread_cond_signal(&queue.work)


cdef void unlink(Request *request) noexcept nogil:
    cdef Request **link = &queue.first
    cdef Request *previous = NULL
    while link[0] is not request:
        previous = link[0]
        link = &previous.next
    link[0] = request.next
    if queue.last is request:
        queue.last = previous


cdef Request request_for(RunRequest run, void *target) noexcept nogil:
    cdef Request request
    memset(&request, 0, sizeof(request))
    request.run = run
    request.target = target
    return request


cdef int32_t submit_and_wait(Request wanted) noexcept nogil:
    """Have the drain thread run it. Returns at once when the interpreter is going down, or after a fork."""
    cdef int32_t result = 0
    if queue.generation != fork_generation:
        return 0
    cdef Request *request = <Request *>malloc(sizeof(Request))
    if request is NULL:
        return 0
    request[0] = wanted
    request.state = QUEUED
    request.abandoned = False
    pthread_mutex_lock(&queue.lock)
    append(request)
    while request.state != DONE and not queue.stopping:
        pthread_cond_wait(&queue.finished, &queue.lock)
    if request.state == QUEUED:
        unlink(request)
    cdef bint running = request.state == RUNNING
    request.abandoned = running
    if request.state == DONE:
        result = request.result
    pthread_mutex_unlock(&queue.lock)
    if not running:
        free(request)
    return result


cdef int32_t run_here_or_there(Request request) noexcept nogil:
    """For calls on the thread that makes the runtime do something, which may be a Python one.

    When that thread is the drain thread itself, or holds the GIL, waiting for the drain thread would never end: then
    the function runs right here.
    """
    cdef bint is_drain = queue.has_drain and pthread_self() == queue.drain
    if queue.stopping or queue.generation != fork_generation:
        return 0
    if is_drain or PyGILState_Check():
        with gil:
            request.run(&request)
        return request.result
    acl.aclrtGetCurrentContext(&request.context)  # stays NULL if there is none yet
    return submit_and_wait(request)


cdef void on_host_function(void *arguments) noexcept nogil:
    submit_and_wait(request_for(run_host_call, arguments))


cdef void on_direct_call(void *arguments) noexcept nogil:
    run_here_or_there(request_for(run_host_call, arguments))


cdef void on_report(void *arguments) noexcept nogil:
    """Called within aclrtProcessReport, on a thread that Python started or knows."""
    with gil:
        call_report(<HostCall>arguments)


cdef void on_stream_state(aclrtStream stream, aclrtStreamState state, void *arguments) noexcept nogil:
    """Called on the thread that creates or destroys a stream."""
    cdef Request request = request_for(run_stream_state, arguments)
    request.facts.stream = stream
    request.facts.state = state
    run_here_or_there(request)


cdef void on_device_state(int32_t device, aclrtDeviceState state, void *arguments) noexcept nogil:
    """Called on the thread that sets or resets a device."""
    cdef Request request = request_for(run_device_state, arguments)
    request.facts.device = device
    request.facts.state = state
    run_here_or_there(request)


cdef int32_t on_task_abort(
    int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *arguments
) noexcept nogil:
    """Called on the thread that aborts the tasks of a device."""
    cdef Request request = request_for(run_task_abort, arguments)
    request.facts.device = device
    request.facts.state = stage
    request.facts.timeout_ms = timeout
    return run_here_or_there(request)


cdef void on_exception(aclrtExceptionInfo *info) noexcept nogil:
    on_exception_of_binary(info, NULL)


cdef void on_exception_of_binary(aclrtExceptionInfo *info, void *arguments) noexcept nogil:
    """Called on a thread of the runtime's, which a synchronize may be waiting for."""
    cdef Request request = request_for(run_exception, arguments)
    cdef Facts *facts = &request.facts
    facts.device = acl.aclrtGetDeviceIdFromExceptionInfo(info)
    facts.stream_id = acl.aclrtGetStreamIdFromExceptionInfo(info)
    facts.task_id = acl.aclrtGetTaskIdFromExceptionInfo(info)
    facts.thread_id = acl.aclrtGetThreadIdFromExceptionInfo(info)
    facts.error_code = acl.aclrtGetErrorCodeFromExceptionInfo(info)
    if acl.aclrtGetFuncHandleFromExceptionInfo(info, &facts.function) != 0:
        facts.function = NULL
    if acl.aclrtGetArgsFromExceptionInfo(info, &facts.arguments, &facts.argument_bytes) != 0:
        facts.arguments = NULL
    submit_and_wait(request)


# ---- the drain thread ----

cdef Request *take() noexcept nogil:
    """The next request, or NULL at the end."""
    cdef Request *request
    pthread_mutex_lock(&queue.lock)
    while queue.first is NULL and not queue.stopping:
        pthread_cond_wait(&queue.work, &queue.lock)
    request = NULL if queue.stopping else queue.first
    if request is not NULL:
        unlink(request)
        request.state = RUNNING
    pthread_mutex_unlock(&queue.lock)
    return request


cdef void finish(Request *request) noexcept nogil:
    pthread_mutex_lock(&queue.lock)
    cdef bint abandoned = request.abandoned
    request.state = DONE
    pthread_cond_broadcast(&queue.finished)
    pthread_mutex_unlock(&queue.lock)
    if abandoned:
        free(request)


def _drain():
    cdef Request *request
    queue.drain = pthread_self()
    queue.has_drain = True
    while True:
        with nogil:
            request = take()
        if request is NULL:
            return
        if not queue.stopping:  # asked with the GIL: from here to the function's own reference nothing can let go of it
            request.run(request)
        finish(request)


cdef object call_function(object function, object arguments):
    """What it returns; None for an exception, which is reported and goes no further: nobody is there to catch it."""
    cdef PyObject *result = call_object(function, arguments, NULL)
    if result is NULL:
        PyErr_WriteUnraisable(<PyObject *>function)
        return None
    value = <object>result
    drop_reference(result)
    return value


cdef void enter(aclrtContext context, object parent):
    """A function may use what it could have used where it was asked for."""
    if context is not NULL:
        acl.aclrtSetCurrentContext(context)
        set_current_parent(parent)


cdef void run_host_call(Request *request):
    cdef HostCall call = <HostCall>request.target
    enter(call.context, call.parent)
    call_function(call.function, call.arguments)


cdef void call_report(HostCall call):
    call_function(call.function, call.arguments)
    call.release()


cdef void run_stream_state(Request *request):
    enter(request.context, None)
    stream = streams.Stream.from_handle(<uintptr_t>request.facts.stream)
    call_function((<Callback>request.target).function, (stream, StreamState(request.facts.state)))


cdef void run_device_state(Request *request):
    enter(request.context, None)
    call_function((<Callback>request.target).function, (request.facts.device, DeviceState(request.facts.state)))


cdef void run_task_abort(Request *request):
    cdef Facts *facts = &request.facts
    arguments = (facts.device, DeviceTaskAbortStage(facts.state), facts.timeout_ms / 1000)
    request.result = call_function((<Callback>request.target).function, arguments) is False


cdef void run_exception(Request *request):
    cdef Facts *facts = &request.facts
    information = ExceptionInfo(
        facts.device, facts.stream_id, facts.task_id, facts.thread_id, facts.error_code,
        None if facts.function is NULL else <uintptr_t>facts.function,
        None if facts.arguments is NULL else (<uintptr_t>facts.arguments, facts.argument_bytes),
    )
    functions = list(exception_functions) if request.target is NULL else [(<Callback>request.target).function]
    for function in functions:
        call_function(function, (information,))


class _Drain:
    """Makes the drain thread and ends it."""

    _exit_rank = 0  # before anything that waits for streams

    def __init__(self):
        self.thread = None

    def start(self):
        if self.thread is not None and queue.generation == fork_generation:
            return
        pthread_mutex_init(&queue.lock, NULL)
        pthread_cond_init(&queue.work, NULL)
        pthread_cond_init(&queue.finished, NULL)
        queue.first = queue.last = NULL
        queue.stopping = queue.has_drain = False
        queue.generation = fork_generation
        self.thread = threading.Thread(target=_drain, name="pyacl-callbacks", daemon=True)
        self.thread.start()
        register(self)

    def _end(self):
        if self.thread is None or queue.stopping or queue.generation != fork_generation:
            return
        with nogil:
            pthread_mutex_lock(&queue.lock)
            queue.stopping = True
            pthread_cond_broadcast(&queue.work)
            pthread_cond_broadcast(&queue.finished)
            pthread_mutex_unlock(&queue.lock)
        if self.thread is not threading.current_thread():
            self.thread.join(timeout=1.0)  # a function that never returns must not keep the interpreter


_drain_thread = _Drain()
_starting = threading.Lock()


cdef int start_drain() except -1:
    with _starting:
        _drain_thread.start()
    return 0


# ---- host functions ----

cdef aclrtHostFunc host_function() noexcept nogil:
    return <aclrtHostFunc>on_host_function


cdef aclrtCallback direct_function() noexcept nogil:
    return <aclrtCallback>on_direct_call


cdef aclrtCallback report_function() noexcept nogil:
    return <aclrtCallback>on_report


cdef int call_each(list functions) except -1:
    for function, arguments in functions:
        call_function(function, arguments)
    return 0


cdef class HostCall:
    cdef void hold(self, bint blocking):
        self.alone = not blocking
        if self.alone:
            Py_INCREF(self)

    cdef void release(self):
        if self.alone:
            self.alone = False
            drop_reference(<PyObject *>self)


cdef HostCall new_host_call(object function, tuple arguments):
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    start_drain()
    cdef HostCall call = HostCall.__new__(HostCall)
    call.function = function
    call.arguments = arguments
    call.parent = current_parent()
    if acl.aclrtGetCurrentContext(&call.context) != 0:
        call.context = NULL  # the launch itself will say what is wrong
    return call


# ---- callbacks ----

cdef class Callback:
    pass


cdef Callback new_callback(object function):
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    start_drain()
    cdef Callback callback = Callback.__new__(Callback)
    callback.function = function
    return callback


# (kind, name) -> Callback, alive as long as the runtime may call it
cdef dict named_callbacks = {}


def register_stream_callback(str name not None, function):
    """Have a function called whenever a stream was created or is about to be destroyed.

    C: ``aclrtRegStreamStateCallback``. Releases the GIL. Products: all. CANN Runtime API, Stream management.

    Parameters
    ----------
    name
        Names the registration. Several run in the alphabetic order of their names.
    function
        Called as ``function(stream, state)`` with a borrowed `Stream` and `StreamState` ``CREATE_POST`` or
        ``DESTROY_PRE``, before the creating or destroying call returns. Default streams are reported too. Runs on
        pyacl's drain thread; its exceptions go to `sys.unraisablehook`. None unregisters; an unknown name is no error.

    Raises
    ------
    InvalidParamError
        The name is taken (107000).
    """
    cdef bytes c_name = name.encode()
    cdef const char *text = c_name
    cdef Callback callback
    ensure_initialized()
    if function is None:
        with nogil: check(acl.aclrtRegStreamStateCallback(text, NULL, NULL), "aclrtRegStreamStateCallback")
        named_callbacks.pop(("stream", name), None)
        return
    callback = new_callback(function)
    with nogil: check(acl.aclrtRegStreamStateCallback(text, on_stream_state, <void *>callback), "aclrtRegStreamStateCallback")
    named_callbacks["stream", name] = callback


def register_device_callback(str name not None, function):
    """Have a function called before and after a device is set or reset.

    C: ``aclrtRegDeviceStateCallback``. Releases the GIL. Products: all. CANN Runtime API, 12 Callbacks.

    Parameters
    ----------
    name
        Names the registration. Several run in no defined order.
    function
        Called as ``function(device_index, state)`` with a `DeviceState` ``SET_PRE``, ``SET_POST``, ``RESET_PRE`` or
        ``RESET_POST``, before the setting or resetting call returns. Runs on pyacl's drain thread; its exceptions go to
        `sys.unraisablehook`. None unregisters.

    Raises
    ------
    InvalidParamError
        The name is taken (107000).
    """
    cdef bytes c_name = name.encode()
    cdef const char *text = c_name
    cdef Callback callback
    ensure_initialized()
    if function is None:
        with nogil: check(acl.aclrtRegDeviceStateCallback(text, NULL, NULL), "aclrtRegDeviceStateCallback")
        named_callbacks.pop(("device", name), None)
        return
    callback = new_callback(function)
    with nogil: check(acl.aclrtRegDeviceStateCallback(text, on_device_state, <void *>callback), "aclrtRegDeviceStateCallback")
    named_callbacks["device", name] = callback


def register_task_abort_callback(str name not None, function):
    """Have a function called before and after the tasks of a device are aborted (``aclrtDeviceTaskAbort``).

    C: ``aclrtSetDeviceTaskAbortCallback``. Releases the GIL. Products: 950, A3, A2. CANN Runtime API, 12 Callbacks.

    Parameters
    ----------
    name
        Names the registration. Several run in the alphabetic order of their names.
    function
        Called as ``function(device_index, stage, timeout)`` with a `DeviceTaskAbortStage` ``PRE`` or ``POST`` and the
        timeout of the abort in seconds. Returning False makes the abort fail (107019, 107035). Runs on pyacl's drain
        thread, and must not use the device; its exceptions go to `sys.unraisablehook`. None unregisters.
    """
    cdef bytes c_name = name.encode()
    cdef const char *text = c_name
    cdef Callback callback
    ensure_initialized()
    if function is None:
        with nogil: check(acl.aclrtSetDeviceTaskAbortCallback(text, NULL, NULL), "aclrtSetDeviceTaskAbortCallback")
        named_callbacks.pop(("abort", name), None)
        return
    callback = new_callback(function)
    with nogil:
        check(acl.aclrtSetDeviceTaskAbortCallback(text, on_task_abort, <void *>callback), "aclrtSetDeviceTaskAbortCallback")
    named_callbacks["abort", name] = callback


# ---- failures ----

class ExceptionInfo(NamedTuple):
    """What is known of a task that failed on the device.

    Attributes
    ----------
    device_index : int
        The device.
    stream_id : int
        As `Stream.id` tells it.
    task_id : int
        Number of the task on its stream.
    thread_id : int
        Of the thread that submitted it, as `threading.get_native_id` tells it.
    error_code : int
        The device's own code, not the one that a synchronize raises.
    function : int or None
        Handle of the kernel, for `Kernel.from_handle`; None for other tasks.
    arguments : tuple of int or None
        (address, bytes) of the kernel's arguments on the device, valid during the callback.
    """

    device_index: int
    stream_id: int
    task_id: int
    thread_id: int
    error_code: int
    function: int | None
    arguments: tuple[int, int] | None


cdef list exception_functions = []


cdef int listen() except -1:
    """From now on a wait that is to report a failure waits for Python."""
    _wait.python_hears_failures = True
    return 0


def register_exception_callback(function):
    """Have a function called with an `ExceptionInfo` for each task that fails on a device.

    C: ``aclrtExceptionInfoCallbackRegister`` and the getters. Releases the GIL. Products: all. CANN Runtime API, 12
    Callbacks.

    Parameters
    ----------
    function
        Called before the synchronize that reports the failure returns. Several run in the order of their registrations;
        the same one counts once. Runs on pyacl's drain thread; its exceptions go to `sys.unraisablehook`. It must not
        wait for the stream that failed.
    """
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    if function in exception_functions:
        return
    ensure_initialized()
    start_drain()
    listen()
    with nogil: check(acl.aclrtExceptionInfoCallbackRegister(on_exception), "aclrtExceptionInfoCallbackRegister")
    exception_functions.append(function)


def unregister_exception_callback(function):
    """Call a function no more that `register_exception_callback` was given; an unknown one is no error.

    C: ``aclrtExceptionInfoCallbackUnregister``, with the last one. Releases the GIL.
    """
    if function not in exception_functions:
        return
    exception_functions.remove(function)
    if not exception_functions:
        with nogil: check(acl.aclrtExceptionInfoCallbackUnregister(on_exception), "aclrtExceptionInfoCallbackUnregister")


cdef aclrtOpExceptionCallback exception_function() except NULL:
    listen()
    return <aclrtOpExceptionCallback>on_exception_of_binary
