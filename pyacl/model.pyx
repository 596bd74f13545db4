# cython: language_level=3, embedsignature=True
"""Models: tasks recorded once and executed many times, each time with a single call.

There are two ways to one. ``with stream.capture() as graph:`` records what is submitted to the stream, and to the streams
that join it by events, into a `Graph`. ``with Model.build(stream) as model:`` binds PERSISTENT streams, whose tasks then
belong to the model, and which can switch, jump and activate each other. `replay` queues an execution on a stream.
What recorded tasks use stays alive as long as the model (_recording.pyx).
"""
import os

import cython

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.number cimport PyNumber_Index
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from pyacl cimport acl as abi
from pyacl._handle cimport Handle, current_parent
from pyacl._recording cimport Recording, place_of
from pyacl._runtime cimport acl, check, ensure_initialized
from pyacl._wait cimport execute_model
from pyacl.callback cimport call_each, direct_function, new_host_call
from pyacl.device cimport current_context
from pyacl.event cimport Event
from pyacl.kernel cimport Kernel, Plan
from pyacl.memory cimport DeviceBuffer, device_memory
from pyacl.stream cimport Stream, check_on

from pyacl.enums import CaptureMode, TaskType
from pyacl.errors import SYNC_RESULTS, AclError, CaptureError

cdef enum:
    BIND_HEAD = 0
    BIND_OTHER = 0x7FFFFFFF  # named in documents, not in the header
    NAME_BYTES = 4096


# ---- what built and captured models have in common ----

@cython.no_gc_clear  # what tasks use must outlive the model, also when both are garbage
cdef class Model(Handle):
    """A model running instance (``aclmdlRIBuildBegin``), to which streams are bound; `build` does it in one block.

    Raises
    ------
    ResourceExhaustedError
        No model is left (207010).
    NoContextError
        The thread has no device or context (107002).

    Examples
    --------
    >>> with pyacl.Stream(StreamFlag.PERSISTENT) as main, pyacl.Model.build(main) as model:
    ...     plan(x, y)             # bound to main: recorded, not run
    >>> model.execute()

    Notes
    -----
    Releases the GIL. Source: CANN Runtime API, 15 Model running instances.
    """

    def __cinit__(self):
        self._recording = Recording()
        self._bound = []

    def __init__(self):
        cdef abi.aclmdlRI model = NULL
        ensure_initialized()
        with nogil: check(acl.aclmdlRIBuildBegin(&model, 0), "aclmdlRIBuildBegin")
        self.adopt(model, True, current_parent())

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclmdlRI`` made elsewhere; `owner` is kept alive as long as this object."""
        cdef Model self = cls.__new__(cls)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>PyNumber_Index(handle), False, owner)
        return self

    @staticmethod
    def build(Stream head not None, *others, Stream end=None):
        """Make a model of what is submitted within a block: ``with Model.build(head, other) as model:``.

        C: ``aclmdlRIBuildBegin``, ``aclmdlRIBindStream``, ``aclmdlRIEndTask``, ``aclmdlRIBuildEnd``. If the block fails
        the streams are unbound and the model is destroyed.

        Parameters
        ----------
        head : Stream
            PERSISTENT, not FAST_LAUNCH. It starts when the model is executed.
        *others : Stream
            Start when they are activated or switched to.
        end : Stream, optional
            Where the end of the model is marked; `head` without it.
        """
        return ModelBuilder(head, others, head if end is None else end)

    def bind(self, Stream stream not None, *, bint head=True):
        """Let the stream's tasks go into this model from now on (``aclmdlRIBindStream``).

        Parameters
        ----------
        stream : Stream
            PERSISTENT, not FAST_LAUNCH, not in STOP mode. A full one refuses tasks (507002).
        head : bool, default True
            It starts when the model is executed; else when it is activated or switched to.

        Raises
        ------
        InvalidParamError
            The stream is not PERSISTENT (107000).
        RuntimeFailure
            It is bound already (107005).
        NotSupportedError
            It is FAST_LAUNCH, or in STOP mode (207000).
        DeviceMismatchError
            The model belongs to another context (107004).
        """
        cdef uint32_t flag = BIND_HEAD if head else BIND_OTHER
        self.use()
        stream.use()
        with nogil: check_on(stream, acl.aclmdlRIBindStream(self._handle, stream._handle, flag), "aclmdlRIBindStream")
        self._bound.append(stream)
        stream.begin_recording(self._recording)

    def unbind(self, Stream stream not None):
        """Take the stream out of the model, with its tasks (``aclmdlRIUnbindStream``).

        Raises
        ------
        RuntimeFailure
            It is not bound to this model (107005), or the model runs (107037).
        """
        self.use()
        stream.use()
        with nogil: check_on(stream, acl.aclmdlRIUnbindStream(self._handle, stream._handle), "aclmdlRIUnbindStream")
        self._bound = [bound for bound in self._bound if bound is not stream]
        stream.end_recording()

    def end_task(self, Stream stream not None):
        """Mark the end of the whole model on a bound stream (``aclmdlRIEndTask``), once. Releases the GIL."""
        self.use()
        stream.use()
        with nogil: check_on(stream, acl.aclmdlRIEndTask(self._handle, stream._handle), "aclmdlRIEndTask")

    def end_build(self):
        """Say that the model is complete (``aclmdlRIBuildEnd``): no task can be added any more. Releases the GIL."""
        self.use()
        with nogil: check(acl.aclmdlRIBuildEnd(self._handle, NULL), "aclmdlRIBuildEnd")

    # ---- executing ----

    def execute(self, timeout=None):
        """Run a built model and wait until it is over (``aclmdlRIExecute``). Graphs are replayed.

        Parameters
        ----------
        timeout : float, optional
            Seconds, rounded up to milliseconds; the model is aborted then. Forever without one.

        Returns
        -------
        SyncResult

        Raises
        ------
        InvalidParamError
            It was captured (107000).
        DeviceFaultError
            A task failed, or there is no end task (507011).

        Notes
        -----
        Blocks; the GIL is released; on the main thread Ctrl-C is noticed within 0.2 s, and leaves the model running.
        """
        self.use()
        cdef abi.aclError code = execute_model(self._handle, timeout)
        if code in SYNC_RESULTS:
            return SYNC_RESULTS[code]
        check(code, "aclmdlRIExecute")

    def replay(self, Stream stream=None):
        """Queue an execution on a stream (``aclmdlRIExecuteAsync``): in one call, whatever it consists of.

        Parameters
        ----------
        stream : Stream, optional
            What was submitted to it before comes before, what follows comes after. The current context's default
            stream without one. Executions of one model never overlap.

        Raises
        ------
        InvalidParamError
            The stream is bound to a model (107000).
        CaptureError
            The stream captures (107027).
        DeviceMismatchError
            The stream (107003) or the model (107004) does not belong to the current context.

        Notes
        -----
        Returns at once, unless the queue is full; releases the GIL. Failures of its tasks show when the stream is
        synchronized. The model stays alive until the stream has passed it. Products: 950, A3, A2, 310P.
        """
        cdef void *queue = NULL
        self.use()
        if stream is not None:
            stream.use()
            queue = stream._handle
        with nogil: check_on(stream, acl.aclmdlRIExecuteAsync(self._handle, queue), "aclmdlRIExecuteAsync")
        if stream is None:
            return
        stream.keep(self, None)
        if self._recording.has_functions:
            stream._room.left = 0  # it cannot drain without the GIL

    def abort(self):
        """Stop a built model that runs (``aclmdlRIAbort``); it can be executed again.

        Whoever waits for it gets MODEL_ABORTED (507023).

        Raises
        ------
        NotSupportedError
            The runtime below cannot (207000).
        DeviceMismatchError
            The model belongs to another context (107004).
        """
        self.use()
        with nogil: check(acl.aclmdlRIAbort(self._handle), "aclmdlRIAbort")

    # ---- what it is ----

    @property
    def id(self):
        """Number of the model (``aclmdlRIGetId``)."""
        cdef uint32_t number
        self.use()
        check(acl.aclmdlRIGetId(self._handle, &number), "aclmdlRIGetId")
        return number

    @property
    def name(self):
        """Name of the model, empty at first (``aclmdlRISetName``, ``aclmdlRIGetName``); its context must be current."""
        cdef char text[NAME_BYTES]
        self.use()
        check(acl.aclmdlRIGetName(self._handle, NAME_BYTES, text), "aclmdlRIGetName")
        return (<bytes>text).decode("utf-8", "replace")

    @name.setter
    def name(self, str text not None):
        cdef bytes c_text = text.encode()
        cdef const char *c_name = c_text
        self.use()
        check(acl.aclmdlRISetName(self._handle, c_name), "aclmdlRISetName")

    @property
    def streams(self):
        """The streams of the model, borrowed, in the order in which they joined (``aclmdlRIGetStreams``)."""
        cdef uint32_t count = 0
        cdef abi.aclrtStream *handles
        self.use()
        check(acl.aclmdlRIGetStreams(self._handle, NULL, &count), "aclmdlRIGetStreams")
        handles = <abi.aclrtStream *>malloc(max(<size_t>1, count * sizeof(abi.aclrtStream)))
        if handles is NULL:
            raise MemoryError
        try:
            if count > 0:
                check(acl.aclmdlRIGetStreams(self._handle, handles, &count), "aclmdlRIGetStreams")
            return [Stream.from_handle(<uintptr_t>handles[i], self) for i in range(count)]
        finally:
            free(handles)

    @property
    def tasks(self):
        """All its tasks as `Task`, stream by stream (``aclmdlRIGetTasksByStream``). Products: 950, A3, A2."""
        return [task for number, stream in enumerate(self.streams) for task in tasks_of(self, stream, number)]

    def update(self):
        """Let executions from now on go by the changed parameters of its tasks (``aclmdlRIUpdate``).

        Raises
        ------
        NotSupportedError
            Another product than 950, A3, A2 (207000).

        Notes
        -----
        Blocks never long; releases the GIL. An execution that runs is not affected.
        """
        self.use()
        with nogil: check(acl.aclmdlRIUpdate(self._handle), "aclmdlRIUpdate")

    def on_destroy(self, function, *args):
        """Have a function called when the model is destroyed (``aclmdlRIDestroyRegisterCallback``).

        Parameters
        ----------
        function : callable
            Runs on pyacl's drain thread, after the last execution and before `close` returns. Several run in the order
            in which they were given. An exception goes to `sys.unraisablehook`.
        *args
            For the function.
        """
        if not callable(function):
            raise TypeError(f"{function!r} is not callable")
        self.use()
        if self._destroyed is None:
            functions = []
            self._destroy_call = new_host_call(call_all, (functions,))
            with nogil:
                check(
                    acl.aclmdlRIDestroyRegisterCallback(self._handle, direct_function(), <void *>self._destroy_call),
                    "aclmdlRIDestroyRegisterCallback",
                )
            self._destroyed = functions
        self._destroyed.append((function, args))

    def forget_on_destroy(self):
        """Call nothing when the model is destroyed (``aclmdlRIDestroyUnregisterCallback``)."""
        self.use()
        if self._destroyed is None:
            return
        with nogil:
            check(
                acl.aclmdlRIDestroyUnregisterCallback(self._handle, direct_function()),
                "aclmdlRIDestroyUnregisterCallback",
            )
        self._destroyed = self._destroy_call = None

    # ---- looking at it ----

    def to_dot(self):
        """The task graph in Graphviz' language: a cluster per stream, tasks in order, arrows from records to waits.

        ``dot -Tsvg`` draws it. Branches of conditions are listed by name. Products: 950, A3, A2.
        """
        return draw(self.name or f"model {self.id}", self.tasks, getattr(self, "branches", []))

    def debug_print(self):
        """Print the tasks, as the runtime sees them, to its standard output (``aclmdlRIDebugPrint``); captured models."""
        self.use()
        with nogil: check(acl.aclmdlRIDebugPrint(self._handle), "aclmdlRIDebugPrint")

    def dump_json(self, path, flags=0):
        """Write the tasks, as the runtime sees them, to a file (``aclmdlRIDebugJsonPrint``); captured models.

        Parameters
        ----------
        path : str or os.PathLike
            The file; it is written anew.
        flags : DebugJsonFlag, default 0
            How much to tell.

        Raises
        ------
        InvalidParamError
            No such flag (107000).

        Notes
        -----
        Blocks; releases the GIL. Products: 950, A3, A2, 310P.
        """
        cdef bytes name = os.fsencode(path)
        cdef const char *text = name
        cdef uint32_t bits = PyNumber_Index(flags)
        self.use()
        with nogil: check(acl.aclmdlRIDebugJsonPrint(self._handle, text, bits), "aclmdlRIDebugJsonPrint")

    # ---- the end ----

    cdef int destroy(self) except -1:
        for stream in self._bound:
            if not stream.closed:
                with nogil:
                    check(acl.aclmdlRIUnbindStream(self._handle, (<Stream>stream)._handle), "aclmdlRIUnbindStream")
                (<Stream>stream).end_recording()
        self._bound = []
        with nogil: check(acl.aclmdlRIDestroy(self._handle), "aclmdlRIDestroy")
        return 0

    def close(self):
        """Unbind its streams and destroy it (``aclmdlRIUnbindStream``, ``aclmdlRIDestroy``).

        Raises
        ------
        CaptureError
            It is being captured (107026).
        RuntimeFailure
            It still ran after ten seconds (107037). Then it stays open.

        Notes
        -----
        Waits for its executions; releases the GIL.
        """
        if self._closed:
            return
        self.use()
        self._closed = True  # before the GIL is released: nobody else may start to use it
        if self._owned and not self.is_orphan():
            try:
                self.destroy()
            except AclError as error:
                if error.code != abi.ACL_ERROR_RT_INVALID_HANDLE:  # as it is once the device was reset
                    self._closed = False
                    raise
        self._recording = Recording()
        self._parent = None

    def __dealloc__(self):
        cdef abi.aclError code
        if not self.must_destroy():
            return
        for stream in self._bound:
            if not (<Stream>stream)._closed:
                with nogil:
                    acl.aclmdlRIUnbindStream(self._handle, (<Stream>stream)._handle)
                (<Stream>stream).end_recording()
        with nogil:
            code = acl.aclmdlRIDestroy(self._handle)
        if code != 0:
            Py_INCREF(self._recording)  # still in use: better a leak than a crash


def call_all(functions):
    """On the drain thread: the model is being destroyed."""
    call_each(functions)


# ---- building ----

cdef class ModelBuilder:
    """The ``with`` block of `Model.build`."""

    cdef Model model
    cdef Stream head
    cdef Stream last
    cdef tuple others

    def __cinit__(self, Stream head, tuple others, Stream last):
        self.head = head
        self.others = others
        self.last = last

    def __enter__(self):
        self.model = Model()
        try:
            self.model.bind(self.head)
            for stream in self.others:
                self.model.bind(stream, head=False)
        except BaseException:
            self.model.close()
            raise
        return self.model

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            self.model.close()
            return
        try:
            self.model.end_task(self.last)
            self.model.end_build()
        except BaseException:
            self.model.close()
            raise


# ---- captured models ----

cdef class Graph(Model):
    """A captured model, from ``with stream.capture() as graph:``. Can be replayed once the block has ended well."""

    def __init__(self):
        raise TypeError("a Graph comes from Stream.capture(), or from Graph.from_handle(handle)")

    def __cinit__(self):
        self._branches = []

    cdef abi.aclmdlRI capturing(self, call) except NULL:
        """Its handle during the capture, before it is ours."""
        if self._origin is None:
            raise CaptureError(abi.ACL_ERROR_RT_STREAM_NOT_CAPTURED, call, "the capture of this graph has ended")
        return self._recording.model

    @property
    def branches(self):
        """The branches of all its conditions, in the order in which they were made."""
        return list(self._branches)

    def condition(self, initial=0, *, bint reset=True):
        """A number on the device that decides what is executed (``aclmdlRICondHandleCreate``); during the capture.

        Parameters
        ----------
        initial : int, default 0
            0 to 2**32 - 1.
        reset : bool, default True
            Each execution begins with `initial` again.

        Returns
        -------
        GraphCondition

        Notes
        -----
        Products: 950, A3, A2. Source: CANN Runtime API, 15 Model running instances.
        """
        cdef abi.aclmdlRI model = self.capturing("aclmdlRICondHandleCreate")
        cdef uint32_t number = PyNumber_Index(initial)
        cdef int flag = abi.ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT if reset else 0
        cdef GraphCondition condition = GraphCondition.__new__(GraphCondition)
        with nogil:
            check(
                acl.aclmdlRICondHandleCreate(model, number, <abi.aclmdlRICondHandleFlag>flag, &condition.handle),
                "aclmdlRICondHandleCreate",
            )
        condition.graph = self
        return condition

    def when(self, GraphCondition condition not None):
        """Add a task that executes its branch if the number is not 0 (``aclmdlRIAddCondTask``, IF).

        Returns
        -------
        Branch
            To capture into: ``with branch.capture(stream):``, on a stream that does not capture yet.
        """
        return add_branches(self, condition, abi.ACL_MODEL_RI_COND_TYPE_IF, ["then"])[0]

    def when_else(self, GraphCondition condition not None):
        """Add a task that executes one of two branches (``aclmdlRIAddCondTask``, IF): (if not 0, if 0)."""
        return tuple(add_branches(self, condition, abi.ACL_MODEL_RI_COND_TYPE_IF, ["then", "else"]))

    def loop(self, GraphCondition condition not None):
        """Add a task that executes its branch as long as the number is not 0 (``aclmdlRIAddCondTask``, WHILE)."""
        return add_branches(self, condition, abi.ACL_MODEL_RI_COND_TYPE_WHILE, ["body"])[0]

    def switch(self, GraphCondition condition not None, count):
        """Add a task that executes the branch of that number, or none (``aclmdlRIAddCondTask``, SWITCH).

        Parameters
        ----------
        condition : GraphCondition
        count : int
            How many branches, at least 1.

        Returns
        -------
        list of Branch
        """
        return add_branches(
            self, condition, abi.ACL_MODEL_RI_COND_TYPE_SWITCH, [f"case {i}" for i in range(PyNumber_Index(count))]
        )

    def task_group(self, Stream stream=None):
        """Name the tasks of a block, to replace them later: ``with graph.task_group() as group:``; during the capture.

        C: ``aclmdlRICaptureTaskGrpBegin``, ``aclmdlRICaptureTaskGrpEnd``. See `TaskGroup.update`.

        Parameters
        ----------
        stream : Stream, optional
            That records the tasks; the one that the capture began on without it.

        Raises
        ------
        CaptureError
            The stream does not capture (107029), or a group is open there (107033).

        Notes
        -----
        Products: 950, A3, A2.
        """
        cdef TaskGroup group = TaskGroup.__new__(TaskGroup)
        self.capturing("aclmdlRICaptureTaskGrpBegin")
        group.graph = self if self._root is None else self._root
        group.stream = self._origin if stream is None else stream
        return group


cdef class Capture:
    """The ``with`` block of `Stream.capture`."""

    def __init__(self, Stream stream, mode, thread_mode):
        self.stream = stream
        self.mode = <abi.aclmdlRICaptureMode><int>PyNumber_Index(mode)
        self.thread_mode = None if thread_mode is None else CaptureMode(thread_mode)
        self.graph = Graph.__new__(Graph)

    cdef int begin(self) except -1:
        cdef void *stream = self.stream._handle
        if self.target is not NULL:
            with nogil:
                check_on(
                    self.stream, acl.aclmdlRICaptureToModelRIBegin(stream, self.target, self.mode),
                    "aclmdlRICaptureToModelRIBegin",
                )
            return 0
        with nogil: check_on(self.stream, acl.aclmdlRICaptureBegin(stream, self.mode), "aclmdlRICaptureBegin")
        return 0

    def __enter__(self):
        if self.graph._origin is not None:
            raise RuntimeError("this block is open: a capture has an end before it begins anew")
        self.stream.use()
        self.thread_mode_before = exchange(abi.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)
        exchange(self.thread_mode_before if self.thread_mode is None else self.thread_mode)
        try:
            self.begin()
        except BaseException:
            exchange(self.thread_mode_before)
            raise
        self.graph._origin = self.stream
        self.graph._recording.open_capture(self.stream._handle)
        self.stream.begin_recording(self.graph._recording)
        return self.graph

    def __exit__(self, kind, error, traceback):
        failure = self.end(kind is not None)
        if kind is None:
            if failure is not None:
                raise failure
            return
        if isinstance(error, AclError) and getattr(error, "filename", None) is None:
            place = place_of(traceback)
            wrapped = CaptureError(error.code, error.call, error.message)
            raise (wrapped if place is None else wrapped.at(*place)) from error

    cdef object end(self, bint failed):
        """The end, come what may; an error is returned."""
        cdef Recording recording = self.graph._recording
        cdef abi.aclmdlRI model = NULL
        cdef abi.aclError code
        failure = None
        try:
            code = end_capture(self.stream, self.target is not NULL, &model)
            if code != 0:
                failure = self.explain(code)
        finally:
            recording.close_capture()
            for stream in list(recording.streams):
                (<Stream>stream).end_recording()
            self.graph._origin = None
            exchange(self.thread_mode_before)
        if model is not NULL:
            self.graph.adopt(model, True, current_parent())
            if failed:
                self.graph.close()
        elif self.target is NULL:
            self.graph._recording = Recording()  # nothing of it is left
        return failure

    def explain(self, code):
        """Why the capture was in vain: the call that broke it, if one did."""
        cdef Recording recording = self.graph._recording
        try:
            check_on(self.stream, code, "aclmdlRICaptureEnd")
        except AclError as error:
            if recording.culprit is None:
                return error
            culprit = recording.culprit
            why = CaptureError(code, culprit.call, f"{culprit.call} failed with {culprit.code}: {culprit.message}")
            why.at(*recording.where)
            why.__cause__ = culprit
            return why


cdef abi.aclError end_capture(Stream stream, bint branch, abi.aclmdlRI *model) except? -3:
    """Ends it, in the stream's own context. A refusal that left the capture going is not the last word."""
    cdef void *before = current_context()
    cdef void *queue = stream._handle
    cdef abi.aclError code, again
    cdef abi.aclmdlRICaptureStatus status = abi.ACL_MODEL_RI_CAPTURE_STATUS_NONE
    cdef abi.aclmdlRI discarded = NULL
    cdef abi.aclmdlRI *out = NULL if branch else model
    if before != stream._context:
        acl.aclrtSetCurrentContext(stream._context)
    with nogil:
        code = acl.aclmdlRICaptureEnd(queue, out)
    if code != 0 and acl.aclmdlRICaptureGetInfo(queue, &status, NULL) == 0 and status != abi.ACL_MODEL_RI_CAPTURE_STATUS_NONE:
        with nogil:
            again = acl.aclmdlRICaptureEnd(queue, NULL if branch else &discarded)
            if again == 0 and discarded is not NULL:
                acl.aclmdlRIDestroy(discarded)
    if before != stream._context and before is not NULL:
        acl.aclrtSetCurrentContext(before)
    return code


cdef abi.aclmdlRICaptureMode exchange(int mode) except *:
    """The thread's mode becomes `mode`; returns the one before."""
    cdef abi.aclmdlRICaptureMode exchanged = <abi.aclmdlRICaptureMode>mode
    ensure_initialized()
    check(acl.aclmdlRICaptureThreadExchangeMode(&exchanged), "aclmdlRICaptureThreadExchangeMode")
    return exchanged


class capture_thread_mode:
    """A ``with`` block in which this thread has another capture mode (``aclmdlRICaptureThreadExchangeMode``).

    The mode decides about synchronous copies while something is captured in the context. GLOBAL, as every thread begins:
    they are refused while a GLOBAL capture is open, or a THREAD_LOCAL one of this thread. THREAD_LOCAL: while this thread
    has one open. RELAXED: never.

    Parameters
    ----------
    mode : CaptureMode

    Raises
    ------
    InvalidParamError
        No such mode (107000).

    Notes
    -----
    Never blocks. Products: 950, A3, A2, 310P. Source: CANN Runtime API, 15 Model running instances.
    """

    def __init__(self, mode):
        self.mode = PyNumber_Index(mode)

    def __enter__(self):
        self.before = CaptureMode(exchange(self.mode))
        return self.before

    def __exit__(self, *exc):
        exchange(self.before)


# ---- conditions ----

@cython.final
cdef class GraphCondition:
    """A number on the device by which a task of a graph decides: from `Graph.condition`. Good for one such task."""

    def __init__(self):
        raise TypeError("a GraphCondition comes from Graph.condition()")

    @property
    def cell(self):
        """The number, 8 bytes of device memory: kernels, copies and `Stream.write_value` change it.

        C: ``aclmdlRICondHandleGetCondPtr``. It lives as long as the graph, and counts while that is executed.
        """
        cdef uint64_t *address = NULL
        if self._cell is None:
            check(acl.aclmdlRICondHandleGetCondPtr(self.handle, &address), "aclmdlRICondHandleGetCondPtr")
            self._cell = DeviceBuffer.from_handle(<uintptr_t>address, sizeof(uint64_t))
        return self._cell


@cython.final
cdef class Branch:
    """What a condition of a graph executes: ``with branch.capture(stream):`` fills it.

    Attributes
    ----------
    name : str
        What it stands for: ``then``, ``else``, ``body``, ``case 0`` and so on.
    """

    def __init__(self):
        raise TypeError("a Branch comes from Graph.when, when_else, loop or switch")

    def capture(self, Stream stream not None, mode=CaptureMode.GLOBAL):
        """Record tasks into it, like `Stream.capture` (``aclmdlRICaptureToModelRIBegin``, ``aclmdlRICaptureEnd``).

        Parameters
        ----------
        stream : Stream
            One that does not capture yet.
        mode : CaptureMode, default GLOBAL

        Returns
        -------
        context manager
            Its block gets a `Graph` for conditions and task groups within the branch. It is executed by the condition
            only.
        """
        cdef Capture capture
        stream.use()
        capture = Capture(stream, mode, None)
        capture.target = self.model
        capture.graph._recording.things = self.graph._recording.things  # they live as long as the whole
        capture.graph._branches = self.graph._branches
        capture.graph._root = self.graph if self.graph._root is None else self.graph._root
        return capture

    def __repr__(self):
        return f"<pyacl.Branch {self.name}>"


cdef list add_branches(Graph graph, GraphCondition condition, int kind, list names):
    cdef abi.aclmdlRICondTaskParams params
    cdef abi.aclmdlRI *models
    cdef Branch branch
    cdef Stream stream
    cdef list branches = []
    graph.capturing("aclmdlRIAddCondTask")
    stream = graph._origin
    models = <abi.aclmdlRI *>malloc(max(1, len(names)) * sizeof(abi.aclmdlRI))
    if models is NULL:
        raise MemoryError
    try:
        params.handle = condition.handle
        params.type = <abi.aclmdlRICondTaskType>kind
        params.size = len(names)
        params.modelRIArray = models
        with nogil: check_on(stream, acl.aclmdlRIAddCondTask(params, stream._handle, 0), "aclmdlRIAddCondTask")
        for i, name in enumerate(names):
            branch = Branch.__new__(Branch)
            branch.graph = graph
            branch.model = models[i]
            branch.name = name
            branches.append(branch)
    finally:
        free(models)
    graph._branches.extend(branches)
    return branches


# ---- task groups ----

@cython.final
cdef class TaskGroup:
    """Tasks of a graph that can be replaced: from ``with graph.task_group() as group:``."""

    def __init__(self):
        raise TypeError("a TaskGroup comes from Graph.task_group()")

    cdef int use(self) except -1:
        if self.handle is NULL:
            raise RuntimeError("there are no tasks in this group: its block did not end well")
        self.graph.use()
        return 0

    def __enter__(self):
        cdef Stream stream = self.stream
        stream.use()
        with nogil: check_on(stream, acl.aclmdlRICaptureTaskGrpBegin(stream._handle), "aclmdlRICaptureTaskGrpBegin")
        return self

    def __exit__(self, kind, error, traceback):
        cdef Stream stream = self.stream
        cdef abi.aclrtTaskGrp handle = NULL
        cdef abi.aclError code
        with nogil:
            code = acl.aclmdlRICaptureTaskGrpEnd(stream._handle, &handle)
        self.stream = None
        self.handle = handle
        if kind is None:  # else that is what is to be seen
            check_on(stream, code, "aclmdlRICaptureTaskGrpEnd")

    def update(self, Stream stream not None):
        """Replace the tasks by those of a block: ``with group.update(stream):``.

        C: ``aclmdlRICaptureTaskUpdateBegin``, ``aclmdlRICaptureTaskUpdateEnd``. The same number of the same kinds, in the
        same order, submitted to `stream`; only their parameters change.

        Parameters
        ----------
        stream : Stream
            Neither capturing nor bound. The update happens in its order: replays on it that follow see it.

        Raises
        ------
        CaptureError
            The stream captures (107027), or an update is open (107033).
        RuntimeFailure
            Another number of tasks at the end of the block (507000).

        Notes
        -----
        What the new tasks use is kept as long as the graph, as is what the old ones used. Products: 950, A3, A2.
        """
        cdef TaskUpdate update = TaskUpdate.__new__(TaskUpdate)
        self.use()
        stream.use()
        update.group = self
        update.stream = stream
        return update


cdef class TaskUpdate:
    """The ``with`` block of `TaskGroup.update`."""

    def __enter__(self):
        cdef Stream stream = self.stream
        self.group.use()
        stream.use()
        with nogil:
            check_on(
                stream, acl.aclmdlRICaptureTaskUpdateBegin(stream._handle, self.group.handle),
                "aclmdlRICaptureTaskUpdateBegin",
            )
        stream.begin_recording(self.group.graph._recording)
        return self.group

    def __exit__(self, kind, error, traceback):
        cdef Stream stream = self.stream
        cdef abi.aclError code
        with nogil:
            code = acl.aclmdlRICaptureTaskUpdateEnd(stream._handle)
        stream.end_recording()
        if kind is None:  # else that is what is to be seen
            check_on(stream, code, "aclmdlRICaptureTaskUpdateEnd")


# ---- tasks ----

@cython.final
cdef class Task:
    """A task of a model, from `Model.tasks`. Changes count after `Model.update`.

    Attributes
    ----------
    stream_number : int
        The place of its stream in `Model.streams`.
    """

    def __init__(self):
        raise TypeError("a Task comes from Model.tasks")

    cdef abi.aclmdlRITaskParams params(self) except *:
        cdef abi.aclmdlRITaskParams params
        memset(&params, 0, sizeof(params))
        self.model.use()
        check(acl.aclmdlRITaskGetParams(self.handle, &params), "aclmdlRITaskGetParams")
        return params

    cdef int set_params(self, abi.aclmdlRITaskParams *params) except -1:
        self.model.use()
        with nogil: check(acl.aclmdlRITaskSetParams(self.handle, params), "aclmdlRITaskSetParams")
        return 0

    @property
    def type(self):
        """What it does, as a `TaskType` (``aclmdlRITaskGetType``)."""
        cdef abi.aclmdlRITaskType kind
        self.model.use()
        check(acl.aclmdlRITaskGetType(self.handle, &kind), "aclmdlRITaskGetType")
        return TaskType(kind)

    @property
    def sequence_id(self):
        """Its number in the model, in the order of submission (``aclmdlRITaskGetSeqId``)."""
        cdef uint32_t number
        self.model.use()
        check(acl.aclmdlRITaskGetSeqId(self.handle, &number), "aclmdlRITaskGetSeqId")
        return number

    @property
    def kernel(self):
        """The `Kernel` of a kernel task, borrowed; None for others (``aclmdlRITaskGetParams``)."""
        cdef abi.aclmdlRITaskParams params = self.params()
        if params.type != abi.ACL_MODEL_RI_TASK_KERNEL or params.kernelTaskParams.funcHandle is NULL:
            return None
        return Kernel.from_handle(<uintptr_t>params.kernelTaskParams.funcHandle, self.model)

    @property
    def blocks(self):
        """How many blocks run a kernel task; None for others (``aclmdlRITaskGetParams``)."""
        cdef abi.aclmdlRITaskParams params = self.params()
        return params.kernelTaskParams.numBlocks if params.type == abi.ACL_MODEL_RI_TASK_KERNEL else None

    @property
    def arguments(self):
        """The packed arguments of a kernel task, as bytes; None when they are in device memory, or for other tasks."""
        cdef abi.aclmdlRITaskParams params = self.params()
        if params.type != abi.ACL_MODEL_RI_TASK_KERNEL or not params.kernelTaskParams.isHostArgs:
            return None
        return PyBytes_FromStringAndSize(<char *>params.kernelTaskParams.args, params.kernelTaskParams.argsSize)

    @property
    def event(self):
        """Handle of the event of a record, wait or reset; None for others (``aclmdlRITaskGetParams``)."""
        cdef abi.aclmdlRITaskParams params = self.params()
        if params.type == abi.ACL_MODEL_RI_TASK_EVENT_RECORD:
            return <uintptr_t>params.eventRecordTaskParams.event
        if params.type == abi.ACL_MODEL_RI_TASK_EVENT_WAIT:
            return <uintptr_t>params.eventWaitTaskParams.event
        if params.type == abi.ACL_MODEL_RI_TASK_EVENT_RESET:
            return <uintptr_t>params.eventResetTaskParams.event
        return None

    @property
    def value(self):
        """(address, value) of a value write or wait; None for others (``aclmdlRITaskGetParams``)."""
        cdef abi.aclmdlRITaskParams params = self.params()
        if params.type == abi.ACL_MODEL_RI_TASK_VALUE_WRITE:
            return <uintptr_t>params.valueWriteTaskParams.devAddr, params.valueWriteTaskParams.value
        if params.type == abi.ACL_MODEL_RI_TASK_VALUE_WAIT:
            return <uintptr_t>params.valueWaitTaskParams.devAddr, params.valueWaitTaskParams.value
        return None

    def launch_attribute(self, which):
        """One attribute of the `LaunchConfig` that a kernel task was launched with (``aclmdlRIKernelTaskGetAttribute``).

        Parameters
        ----------
        which : LaunchKernelAttrId
            Which of them.

        Returns
        -------
        int
            Timeouts in the unit of their id; 0 for what the launch did not set.

        Raises
        ------
        InvalidParamError
            It is no kernel task (107000).
        """
        cdef abi.aclrtLaunchKernelAttrId kind = which
        cdef abi.aclrtLaunchKernelAttrValue value
        memset(&value, 0, sizeof(value))
        self.model.use()
        check(acl.aclmdlRIKernelTaskGetAttribute(self.handle, kind, &value), "aclmdlRIKernelTaskGetAttribute")
        return value.rsv[0] | <uint64_t>value.rsv[1] << 32

    def set_kernel(self, Plan plan not None, *values):
        """Let a kernel task launch `plan` with these values instead (``aclmdlRITaskSetParams``).

        Parameters
        ----------
        plan : Plan
            Its kernel, blocks and kinds of arguments; its stream does not matter.
        *values
            As for a call of the plan. Kept as long as the model.

        Raises
        ------
        InvalidParamError
            It is no kernel task (107000).
        ValueError
            The plan has ``data`` arguments: a recorded task cannot get new ones.
        """
        cdef abi.aclmdlRITaskParams params
        if plan.placeholder_count > 0:
            raise ValueError(f"{plan!r} has data arguments, which a recorded task cannot take")
        params = self.params()
        packed = plan.packed(*values)
        params.type = abi.ACL_MODEL_RI_TASK_KERNEL
        params.kernelTaskParams.funcHandle = plan.kernel._handle
        params.kernelTaskParams.args = <char *>packed
        params.kernelTaskParams.argsSize = len(packed)
        params.kernelTaskParams.isHostArgs = 1
        params.kernelTaskParams.numBlocks = plan._blocks
        params.kernelTaskParams.cfg = plan.cfg
        self.set_params(&params)
        self.model._recording.add(plan.kernel, values)

    def set_event(self, Event event not None):
        """Let a record, wait or reset use another event (``aclmdlRITaskSetParams``), kept as long as the model."""
        cdef abi.aclmdlRITaskParams params = self.params()
        event.use()
        if params.type == abi.ACL_MODEL_RI_TASK_EVENT_RECORD:
            params.eventRecordTaskParams.event = event._handle
        elif params.type == abi.ACL_MODEL_RI_TASK_EVENT_WAIT:
            params.eventWaitTaskParams.event = event._handle
        elif params.type == abi.ACL_MODEL_RI_TASK_EVENT_RESET:
            params.eventResetTaskParams.event = event._handle
        else:
            raise TypeError(f"{self!r} has no event")
        self.set_params(&params)
        self.model._recording.add(event, None)

    def set_value(self, DeviceBuffer cell not None, value):
        """Let a value write or wait use this cell and number (``aclmdlRITaskSetParams``); kept as long as the model."""
        cdef abi.aclmdlRITaskParams params = self.params()
        cdef void *address = device_memory(cell, sizeof(uint64_t))
        cdef uint64_t number = PyNumber_Index(value)
        if params.type == abi.ACL_MODEL_RI_TASK_VALUE_WRITE:
            params.valueWriteTaskParams.devAddr = address
            params.valueWriteTaskParams.value = number
        elif params.type == abi.ACL_MODEL_RI_TASK_VALUE_WAIT:
            params.valueWaitTaskParams.devAddr = address
            params.valueWaitTaskParams.value = number
        else:
            raise TypeError(f"{self!r} has no value")
        self.set_params(&params)
        self.model._recording.add(cell, None)

    def disable(self):
        """Let executions pass over the task (``aclmdlRITaskDisable``)."""
        self.model.use()
        with nogil: check(acl.aclmdlRITaskDisable(self.handle), "aclmdlRITaskDisable")

    def __repr__(self):
        return f"<pyacl.Task {self.sequence_id}, {self.type.name}>"


cdef list tasks_of(Model model, Stream stream, int number):
    cdef uint32_t count = 0
    cdef abi.aclmdlRITask *handles
    cdef Task task
    cdef list tasks = []
    check(acl.aclmdlRIGetTasksByStream(stream._handle, NULL, &count), "aclmdlRIGetTasksByStream")
    if count == 0:
        return tasks
    handles = <abi.aclmdlRITask *>malloc(count * sizeof(abi.aclmdlRITask))
    if handles is NULL:
        raise MemoryError
    try:
        check(acl.aclmdlRIGetTasksByStream(stream._handle, handles, &count), "aclmdlRIGetTasksByStream")
        for i in range(count):
            task = Task.__new__(Task)
            task.model = model
            task.handle = handles[i]
            task.stream_number = number
            tasks.append(task)
    finally:
        free(handles)
    return tasks


# ---- drawing ----

cdef str quoted(str text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


cdef str label_of(Task task):
    kind = task.type
    if kind == TaskType.KERNEL:
        return f"{function_name(task)}\\n{task.blocks} blocks"
    if task.event is not None:
        return f"{kind.name.lower().replace('_', ' ')}\\n0x{task.event:x}"
    if task.value is not None:
        return f"{kind.name.lower().replace('_', ' ')}\\n0x{task.value[0]:x}: {task.value[1]}"
    return "task"  # a copy, a host function: nothing more is told


cdef str function_name(Task task):
    cdef char text[NAME_BYTES]
    cdef Kernel kernel = task.kernel
    if kernel is None or acl.aclrtGetFunctionName(kernel._handle, NAME_BYTES, text) != 0:
        return "kernel"
    return (<bytes>text).decode("utf-8", "replace")


cdef str draw(str name, list tasks, list branches):
    """Clusters of streams; the order within each; and for each wait the newest record of its event before it."""
    lines = [f"digraph {quoted(name)} {{", "  node [shape=box, fontname=monospace];"]
    streams = {}
    for task in tasks:
        streams.setdefault(task.stream_number, []).append(task)
    for number, own in streams.items():
        lines.append(f"  subgraph cluster_{number} {{ label={quoted(f'stream {number}')};")
        # Not `quoted`: its escapes for new lines are meant
        lines += [f'    t{task.sequence_id} [label="{label_of(task)}"];' for task in own]
        if len(own) > 1:
            lines.append("    " + " -> ".join(f"t{task.sequence_id}" for task in own) + ";")
        lines.append("  }")
    records = {}
    for task in sorted(tasks, key=lambda task: task.sequence_id):
        if task.type == TaskType.EVENT_RECORD:
            records[task.event] = task.sequence_id
        elif task.type == TaskType.EVENT_WAIT and task.event in records:
            lines.append(f"  t{records[task.event]} -> t{task.sequence_id} [style=dashed];")
    lines += [f"  b{i} [shape=folder, label={quoted(branch.name)}];" for i, branch in enumerate(branches)]
    return "\n".join([*lines, "}", ""])
