# cython: language_level=3, binding=False, embedsignature=True
"""Report threads: threads of the program that run the callbacks of streams.

Unlike host functions (`Stream.launch_host_func`), which run on pyacl's drain thread, these run on a thread that the
program chooses, and need not hold the stream up. A stream is served by one thread; one thread serves many streams of one
device. `ReportThread` is such a thread; `process_report` makes one of any.
"""
import threading

from libc.stdint cimport int32_t, uint64_t

from pyacl cimport acl as abi
from pyacl._handle cimport current_parent, set_current_parent
from pyacl._runtime cimport acl, check, ensure_initialized, on_main_thread
from pyacl._wait cimport milliseconds
from pyacl.stream cimport Stream, check_on

from pyacl._runtime import register
from pyacl.errors import ClosedError

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    SLICE_MS = 100
    JOIN_S = 10


def subscribe_report(Stream stream not None, thread=None):
    """Let a thread serve a stream (``aclrtSubscribeReport``): its callbacks wait for `process_report` there.

    Parameters
    ----------
    stream : Stream
        Whoever submits to it.
    thread : int, optional
        A thread's `threading.get_ident`; the calling one without it.

    Raises
    ------
    AclError
        The stream is served already, or takes host functions (107011); the thread serves another device (107012).

    Notes
    -----
    Never blocks long; releases the GIL. Source: CANN Runtime API, 12 Callbacks. All products.
    """
    cdef uint64_t number = threading.get_ident() if thread is None else thread
    stream.use()
    with nogil: check_on(stream, acl.aclrtSubscribeReport(number, stream._handle), "aclrtSubscribeReport")


def unsubscribe_report(Stream stream not None, thread=None):
    """Let a thread serve a stream no more (``aclrtUnSubscribeReport``); not while callbacks are queued.

    Parameters
    ----------
    stream : Stream
    thread : int, optional
        The one that serves it; the calling one without it.

    Raises
    ------
    AclError
        The stream is not served (107011), or by another thread (107012).
    """
    cdef uint64_t number = threading.get_ident() if thread is None else thread
    stream.use()
    with nogil: check_on(stream, acl.aclrtUnSubscribeReport(number, stream._handle), "aclrtUnSubscribeReport")


def process_report(timeout=None):
    """Run the callbacks that have come up, here (``aclrtProcessReport``); wait for some if there are none.

    Parameters
    ----------
    timeout : float, optional
        Seconds; forever without one.

    Returns
    -------
    bool
        False if nothing came up in time (507012).

    Raises
    ------
    AclError
        The calling thread serves no stream (107012).

    Notes
    -----
    Blocks; the GIL is released; on the main thread Ctrl-C is noticed within 0.2 s. An exception of a function goes to
    `sys.unraisablehook`.
    """
    cdef int32_t timeout_ms = milliseconds(timeout)
    cdef bint sliced = timeout is None and on_main_thread()
    cdef abi.aclError code
    ensure_initialized()
    while True:
        with nogil:
            code = acl.aclrtProcessReport(SLICE_MS if sliced else timeout_ms)
        if code != abi.ACL_ERROR_RT_REPORT_TIMEOUT:
            check(code, "aclrtProcessReport")
            return True
        if not sliced:
            return False
        PyErr_CheckSignals()


cdef class ReportThread:
    """A thread that serves streams: ``with pyacl.ReportThread() as reports: reports.subscribe(stream)``.

    It works in the context that is current where it is made.

    Notes
    -----
    Closing it, or the end of its block, waits for the callbacks that are queued (ten seconds at most).
    """

    _exit_rank = 0  # before anything that waits for streams

    def __init__(self):
        ensure_initialized()
        self._wake = threading.Condition()
        self._streams = []
        self._parent = current_parent()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), name="pyacl-reports", daemon=True)
        self._thread.start()
        started.wait()
        register(self)

    def _serve(self, started):
        cdef abi.aclError code
        self._number = threading.get_ident()
        if self._parent is not None:
            self._parent.make_current()
        started.set()
        while True:
            with self._wake:
                while not self._streams and not self._stopping:
                    self._wake.wait()
                if not self._streams:
                    return
            with nogil:
                code = acl.aclrtProcessReport(SLICE_MS)
            if code == abi.ACL_ERROR_RT_REPORT_TIMEOUT and self._stopping:
                return

    cdef int use(self) except -1:
        if self._stopping:
            raise ClosedError("this ReportThread is closed")
        return 0

    @property
    def ident(self):
        """The thread's number, as `threading.get_ident` tells it."""
        return self._number

    def subscribe(self, Stream stream not None):
        """Serve a stream (``aclrtSubscribeReport``). Raises as `subscribe_report`."""
        self.use()
        subscribe_report(stream, self._number)
        with self._wake:
            self._streams.append(stream)
            self._wake.notify()

    def unsubscribe(self, Stream stream not None):
        """Serve a stream no more (``aclrtUnSubscribeReport``). Raises as `unsubscribe_report`."""
        self.use()
        unsubscribe_report(stream, self._number)
        with self._wake:
            self._streams.remove(stream)

    def close(self):
        """Run what is queued, unsubscribe all streams and end the thread. Blocks; releases the GIL."""
        if self._stopping:
            return
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(JOIN_S)
        for stream in self._streams:
            if not stream.closed:
                unsubscribe_report(stream, self._number)
        self._streams = []

    def _end(self):
        self.close()

    def __enter__(self):
        self.use()
        return self

    def __exit__(self, *exc):
        self.close()
