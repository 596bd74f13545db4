# cython: language_level=3, binding=False, embedsignature=True
"""Events: points in a stream that other streams, and the host, can wait for.

``event.record(stream)`` marks what is queued on the stream so far; ``other.wait(event)`` keeps what comes next on the
other stream behind it. A wait is for the newest record at the time of the call: recording again never moves it.
"""
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.number cimport PyNumber_Index  # C's own conversion would take 1.5 for 1
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from pyacl cimport acl as abi
from pyacl._gil cimport keeps_gil
from pyacl._handle cimport Handle, current_parent
from pyacl._runtime cimport acl, check, ensure_initialized
from pyacl._wait cimport synchronize_event
from pyacl.stream cimport Stream, check_on


cdef class Event(Handle):
    """An event of the current context.

    Parameters
    ----------
    flags : EventFlag, optional
        Without flags a default event (``aclrtCreateEvent``): can be recorded, waited for and timed. With flags
        ``aclrtCreateEventWithFlag``: a mix of ``SYNC`` (streams can wait for it, also before it is recorded),
        ``TIME_LINE`` (it has a time) and ``CAPTURE_STREAM_PROGRESS``, or ``DEVICE_USE_ONLY`` or ``EXTERNAL`` alone.
    ex : bool, default False
        ``aclrtCreateEventExWithFlag``: takes a hardware event only while recorded, can be captured, cannot be reset.
        `flags` is then ``SYNC`` unless given; ``IPC`` alone makes one that other processes can open (A3, A2, 950).

    Raises
    ------
    InvalidParamError
        These flags do not go together (107000).
    EventExhaustedError
        No hardware event is left (207007): 65,536 on 950, A3, A2 and 310B, 1,023 on 310P, 65,535 on 910.
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Releases the GIL. Source: CANN Runtime API, 07 Event management.
    """

    def __init__(self, flags=None, *, bint ex=False):
        cdef abi.aclrtEvent event = NULL
        cdef uint32_t bits = 0 if flags is None else PyNumber_Index(flags)
        ensure_initialized()
        if ex:
            bits = bits if flags is not None else abi.ACL_EVENT_SYNC
            with nogil: check(acl.aclrtCreateEventExWithFlag(&event, bits), "aclrtCreateEventExWithFlag")
        elif flags is not None:
            with nogil: check(acl.aclrtCreateEventWithFlag(&event, bits), "aclrtCreateEventWithFlag")
        else:
            with nogil: check(acl.aclrtCreateEvent(&event), "aclrtCreateEvent")
        self.adopt(event, True, current_parent())

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtEvent`` made elsewhere; `owner` is kept alive as long as this object."""
        cdef Event self = Event.__new__(Event)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    @classmethod
    def from_ipc_handle(cls, bytes key not None):
        """Open an event of another process (``aclrtIpcOpenEventHandle``): it can be waited for, queried, synchronized.

        Parameters
        ----------
        key : bytes
            64 bytes, from `ipc_handle` there.

        Raises
        ------
        InvalidParamError
            No such event (107000).
        NotSupportedError
            Another product than A3, A2, 950 (207000).

        Notes
        -----
        Blocks never long; releases the GIL. Source: CANN Runtime API, 07 Event management.
        """
        cdef abi.aclrtIpcEventHandle handle
        cdef abi.aclrtEvent event = NULL
        cdef Event self = Event.__new__(Event)
        if len(key) != sizeof(handle):
            raise ValueError(f"the key has {len(key)} bytes, expected {sizeof(handle)}")
        memcpy(&handle, <const char *>key, sizeof(handle))
        ensure_initialized()
        with nogil: check(acl.aclrtIpcOpenEventHandle(handle, &event), "aclrtIpcOpenEventHandle")
        self.adopt(event, True, current_parent())
        return self

    def ipc_handle(self):
        """A key, 64 bytes, with which another process opens the event (``aclrtIpcGetEventHandle``).

        Raises
        ------
        InvalidParamError
            The event was made without ``EventFlag.IPC`` (107000).
        NotSupportedError
            Another product than A3, A2, 950 (207000).
        """
        cdef abi.aclrtIpcEventHandle handle
        self.use()
        check(acl.aclrtIpcGetEventHandle(self._handle, &handle), "aclrtIpcGetEventHandle")
        return PyBytes_FromStringAndSize(<char *>&handle, sizeof(handle))

    def record(self, Stream stream=None, /, *, bint external=False):
        """Mark the end of what is queued on a stream so far (``aclrtRecordEvent``).

        Parameters
        ----------
        stream : Stream, optional
            The current context's default stream without one.
        external : bool, default False
            During a capture: record it, at each replay, for whoever waits outside the graph (``...WithFlag``). For Ex
            events with SYNC only; one event is always recorded in the same way.

        Raises
        ------
        DeviceMismatchError
            The stream does not belong to the current context (107003).
        NotSupportedError
            A default event on a stream that captures or is bound to a model (207000).
        CaptureError
            `external` on a stream that does not capture (107029).
        StreamAbortedError
            The stream is being aborted (107023).

        Notes
        -----
        Blocks while the stream's queue is full; releases the GIL when that is possible (see pyacl/_gil.pyx).
        Source: 07 Event management.
        """
        cdef void *event = self._handle
        cdef void *queue = NULL
        self.use()
        if stream is not None:
            stream.use()
            queue = stream._handle
        if external:
            with nogil:
                check_on(
                    stream, acl.aclrtRecordEventWithFlag(event, queue, abi.ACL_EVENT_RECORD_EXTERNAL), "aclrtRecordEventWithFlag"
                )
            if stream is not None:
                stream.keep_recorded(self, None)
            return
        if stream is not None:
            if keeps_gil(&stream._room, queue):
                check_on(stream, acl.aclrtRecordEvent(event, queue), "aclrtRecordEvent")
                return
        with nogil: check_on(stream, acl.aclrtRecordEvent(event, queue), "aclrtRecordEvent")
        if stream is not None:
            stream.keep_recorded(self, None)

    def reset(self, Stream stream=None, /):
        """Make the event unreached again, in stream order (``aclrtResetEvent``); not for Ex events (207000).

        Blocks while the queue is full; releases the GIL. Source: 07 Event management.
        """
        cdef void *event = self._handle
        cdef void *queue = NULL
        self.use()
        if stream is not None:
            stream.use()
            queue = stream._handle
        with nogil: check_on(stream, acl.aclrtResetEvent(event, queue), "aclrtResetEvent")
        if stream is not None:
            stream.keep_recorded(self, None)

    def query(self):
        """Whether the newest record was reached (``aclrtQueryEventStatus``). Never blocks; keeps the GIL.

        An event that was never recorded says False, an Ex event True. A captured one raises CaptureError (107028).
        """
        cdef abi.aclrtEventRecordedStatus status
        self.use()
        check(acl.aclrtQueryEventStatus(self._handle, &status), "aclrtQueryEventStatus")
        return status == abi.ACL_EVENT_RECORDED_STATUS_COMPLETE

    def is_pending(self):
        """Whether there is a record that was not reached yet (``aclrtQueryEvent``, deprecated). Never blocks.

        The opposite of `query` but for an event that was never recorded: nothing is pending then. Not for Ex, EXTERNAL and
        IPC events (207000). A captured one raises CaptureError (107028).
        """
        cdef abi.aclrtEventStatus status
        self.use()
        check(acl.aclrtQueryEvent(self._handle, &status), "aclrtQueryEvent")
        return status != abi.ACL_EVENT_STATUS_COMPLETE

    @property
    def waits_pending(self):
        """Whether a stream still waits for it (``aclrtQueryEventWaitStatus``); not for Ex events. Never blocks."""
        cdef abi.aclrtEventWaitStatus status
        self.use()
        check(acl.aclrtQueryEventWaitStatus(self._handle, &status), "aclrtQueryEventWaitStatus")
        return status != abi.ACL_EVENT_WAIT_STATUS_COMPLETE

    def synchronize(self, timeout=None):
        """Wait until the newest record was reached (``aclrtSynchronizeEvent``, ``...WithTimeout``).

        Parameters
        ----------
        timeout : float, optional
            Seconds; forever without one.

        Raises
        ------
        StreamTimeoutError
            Not reached in time (507047).
        StreamAbortedError
            Its stream was aborted meanwhile (107023).
        CaptureError
            The event belongs to a capture (107028).
        DeviceFaultError
            The context failed in STOP mode.

        Notes
        -----
        Returns at once for an event that was never recorded. Blocks; the GIL is released; on the main thread Ctrl-C is
        noticed within 0.2 s. Source: 07 Event management.
        """
        self.use()
        check(synchronize_event(self._handle, timeout), "aclrtSynchronizeEvent")

    def elapsed_ms(self, Event end not None):
        """Milliseconds of device time from this event to `end` (``aclrtEventElapsedTime``); negative if reversed.

        Raises
        ------
        InvalidParamError
            One has no time: made without ``TIME_LINE``, or not reached yet (107006).
        RuntimeFailure
            One was never recorded (507000).
        """
        cdef float ms
        self.use()
        end.use()
        check(acl.aclrtEventElapsedTime(&ms, self._handle, end._handle), "aclrtEventElapsedTime")
        return ms

    @property
    def timestamp_us(self):
        """When it was reached, in microseconds of the device's clock (``aclrtEventGetTimestamp``)."""
        cdef uint64_t us
        self.use()
        check(acl.aclrtEventGetTimestamp(self._handle, &us), "aclrtEventGetTimestamp")
        return us

    @property
    def id(self):
        """Number of the hardware event (``aclrtGetEventId``); an Ex event has none before its first record (507000)."""
        cdef uint32_t number
        self.use()
        check(acl.aclrtGetEventId(self._handle, &number), "aclrtGetEventId")
        return number

    def close(self):
        """Destroy the event (``aclrtDestroyEvent``). Queued records and waits keep working. Never blocks long."""
        cdef void *handle = self._handle
        cdef abi.aclError code = 0
        if self._closed:
            return
        self.use()
        self._closed = True  # before the GIL is released: nobody else may start to use it
        if self._owned and not self.is_orphan():
            with nogil:
                code = acl.aclrtDestroyEvent(handle)
        self._parent = None
        if code != abi.ACL_ERROR_RT_INVALID_HANDLE:  # as it is once the device was reset
            check(code, "aclrtDestroyEvent")

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtDestroyEvent(self._handle)
