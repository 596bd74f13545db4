# cython: language_level=3, embedsignature=True
"""Python functions that the runtime calls: host functions of streams, and stream state callbacks.

The runtime calls C functions of this file on threads of its own. They never take the GIL: they put a request into a
queue and wait, without the GIL, until the drain thread (a Python thread, started with the first function) has run it.
So a stream's later tasks come after the Python function has returned, and no foreign thread ever needs the
interpreter. An exception of a function goes to `sys.unraisablehook`. At exit all waits end at once.
"""
import threading

from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc

from pyacl._handle cimport current_parent, set_current_parent
from pyacl._runtime cimport acl, check, ensure_initialized, fork_generation
from pyacl.acl cimport aclrtStream, aclrtStreamState

from pyacl import stream as streams
from pyacl._runtime import register
from pyacl.enums import StreamState

cdef extern from "Python.h":
    int PyGILState_Check() nogil
    PyObject *call_object "PyObject_Call"(object function, object arguments, PyObject *keywords)
    void PyErr_WriteUnraisable(PyObject *where)
    void Py_DECREF(PyObject *thing)

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

cdef struct Request:
    RunRequest run             # with the GIL
    void *target               # the HostCall or StateCallback; alive while its C function has not returned
    aclrtContext context       # to make current first, or NULL
    aclrtStream stream         # of a state callback
    aclrtStreamState stream_state
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


cdef void submit_and_wait(Request wanted) noexcept nogil:
    """Have the drain thread run it. Returns at once when the interpreter is going down, or after a fork."""
    if queue.generation != fork_generation:
        return
    cdef Request *request = <Request *>malloc(sizeof(Request))
    if request is NULL:
        return
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
    pthread_mutex_unlock(&queue.lock)
    if not running:
        free(request)


cdef void on_host_function(void *arguments) noexcept nogil:
    submit_and_wait(Request(run_host_call, arguments, NULL, NULL, <aclrtStreamState>0, QUEUED, False, NULL))


cdef void run_here_or_there(Request request) noexcept nogil:
    """For calls on the thread that makes the runtime do something, which may be a Python one.

    When that thread is the drain thread itself, or holds the GIL, waiting for the drain thread would never end: then
    the function runs right here.
    """
    cdef bint is_drain = queue.has_drain and pthread_self() == queue.drain
    if queue.stopping or queue.generation != fork_generation:
        return
    if is_drain or PyGILState_Check():
        with gil:
            request.run(&request)
        return
    acl.aclrtGetCurrentContext(&request.context)  # stays NULL if there is none yet
    submit_and_wait(request)


cdef void on_stream_state(aclrtStream stream, aclrtStreamState state, void *arguments) noexcept nogil:
    run_here_or_there(Request(run_state_callback, arguments, NULL, stream, state, QUEUED, False, NULL))


cdef void on_direct_call(void *arguments) noexcept nogil:
    run_here_or_there(Request(run_host_call, arguments, NULL, NULL, <aclrtStreamState>0, QUEUED, False, NULL))


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


cdef void call_function(object function, object arguments):
    """An exception is reported and goes no further: nobody is there to catch it."""
    cdef PyObject *result = call_object(function, arguments, NULL)
    if result is NULL:
        PyErr_WriteUnraisable(<PyObject *>function)
    else:
        Py_DECREF(result)


cdef void enter(aclrtContext context, object parent):
    """A function may use what it could have used where it was asked for."""
    if context is not NULL:
        acl.aclrtSetCurrentContext(context)
        set_current_parent(parent)


cdef void run_host_call(Request *request):
    cdef HostCall call = <HostCall>request.target
    enter(call.context, call.parent)
    call_function(call.function, call.arguments)


cdef void run_state_callback(Request *request):
    cdef StateCallback callback = <StateCallback>request.target
    enter(request.context, None)
    stream = streams.Stream.from_handle(<uintptr_t>request.stream)
    call_function(callback.function, (stream, StreamState(request.stream_state)))


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


cdef int call_each(list functions) except -1:
    for function, arguments in functions:
        call_function(function, arguments)
    return 0


cdef class HostCall:
    pass


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


# ---- stream state callbacks ----

cdef class StateCallback:
    cdef object function


cdef dict state_callbacks = {}  # name -> StateCallback, alive as long as the runtime may call it


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
    cdef StateCallback callback
    ensure_initialized()
    if function is None:
        with nogil: check(acl.aclrtRegStreamStateCallback(text, NULL, NULL), "aclrtRegStreamStateCallback")
        state_callbacks.pop(name, None)
        return
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    start_drain()
    callback = StateCallback.__new__(StateCallback)
    callback.function = function
    with nogil: check(acl.aclrtRegStreamStateCallback(text, on_stream_state, <void *>callback), "aclrtRegStreamStateCallback")
    state_callbacks[name] = callback
