# cython: language_level=3, binding=False, embedsignature=True
"""Streams: queues of tasks that the device works off in order, several of them side by side."""
import cython

from cpython.number cimport PyNumber_Index  # C's own conversion would take 1.5 for 1
from libc.stdint cimport int32_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

from pyacl cimport acl as abi
from pyacl._gil cimport count_submission, keeps_gil, open_room, seen_idle
from pyacl._handle cimport Handle, current_parent
from pyacl._keep cimport Keeper
from pyacl._recording cimport Recording, captures_open, recording_of
from pyacl._runtime cimport acl, check, ensure_initialized, raise_error
from pyacl._wait cimport synchronize_stream, synchronize_stream_timeout, whole_seconds
from pyacl.acl cimport aclError
from pyacl.callback cimport HostCall, host_function, new_host_call, report_function
from pyacl.device cimport Context, current_context
from pyacl.event cimport Event
from pyacl.memory cimport DeviceBuffer, device_memory

from pyacl import event as events
from pyacl import model as models
from pyacl.enums import (
    CaptureMode, CaptureStatus, CompareDataType, Condition, DevResLimitType, FailureMode, LaunchBlockingMode, StreamFlag,
    WaitValueMode,
)
from pyacl.errors import SYNC_RESULTS, DeviceMismatchError, SyncResult

cdef object COMPLETE = SyncResult.COMPLETE
cdef tuple FLAGS = tuple(map(StreamFlag, range(64)))  # making one costs more than the call that tells its number


cdef int raise_on(Stream stream, aclError code, const char *call) except -1:
    cdef int32_t device = -1
    if code != abi.ACL_ERROR_RT_STREAM_CONTEXT or stream is None:
        return raise_error(code, call)
    acl.aclrtGetDevice(&device)
    raise DeviceMismatchError(
        code, call.decode(),
        f"{stream!r} belongs to the context 0x{<uintptr_t>stream._context:x} of device {stream.device_index}, but this "
        f"thread works in 0x{<uintptr_t>current_context():x} of device {device}",
    )


cdef aclError destroy(void *stream, void *context, bint force) noexcept nogil:
    """Destroy a stream, whatever context the calling thread works in."""
    cdef abi.aclrtContext before = NULL
    cdef aclError code
    acl.aclrtGetCurrentContext(&before)
    if before != context:
        code = acl.aclrtSetCurrentContext(context)
        if code != 0:
            return code
    code = acl.aclrtDestroyStreamForce(stream) if force else acl.aclrtDestroyStream(stream)
    if before != context and before is not NULL:
        acl.aclrtSetCurrentContext(before)
    return code


@cython.no_gc_clear  # what queued tasks use must outlive the stream, also when both are garbage
cdef class Stream(Handle):
    """A stream of the current context (``aclrtCreateStreamWithConfig``).

    Parameters
    ----------
    flags : StreamFlag or int, default 0
        FAST_LAUNCH allocates up front what launches need; FAST_SYNC waits by polling; PERSISTENT keeps tasks for a
        model; HUGE, CPU_SCHEDULE; DEVICE_USE_ONLY goes with no other. Unknown bits are ignored, as C does.
    priority : int, default 0
        0 (first) to 7; others are clamped.
    device : Device or Context, optional
        Where to create it, if not in the current context.

    Attributes
    ----------
    device_index : int
        The device it is on.

    Raises
    ------
    StreamExhaustedError
        The device has no stream left (207008). Default streams count.
    InvalidParamError
        DEVICE_USE_ONLY with another flag (107000).
    NotSupportedError
        HUGE on 310P (207000).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Blocks; releases the GIL. Closed by `close`, at the end of a ``with`` block, or with the last reference; that waits
    for its tasks. Source: CANN Runtime API, 06 Stream management. All products.
    """

    def __init__(self, flags=0, priority=0, Context device=None):
        cdef uint32_t bits = PyNumber_Index(flags)
        cdef uint32_t order = <uint32_t><int32_t>PyNumber_Index(priority)
        cdef abi.aclrtStream stream = NULL
        cdef void *before
        ensure_initialized()
        before = current_context()
        if device is not None:
            device.use()
            check(acl.aclrtSetCurrentContext(device._handle), "aclrtSetCurrentContext")
        try:
            with nogil: check(acl.aclrtCreateStreamWithConfig(&stream, order, bits), "aclrtCreateStreamWithConfig")
            self.adopt_here(stream, True, current_parent() if device is None else device)
        finally:
            if device is not None and before is not NULL:
                check(acl.aclrtSetCurrentContext(before), "aclrtSetCurrentContext")

    cdef int adopt_here(self, void *stream, bint owned, parent) except -1:
        """Take over a stream of the current context."""
        cdef uint32_t flags = 0
        self._context = current_context()
        acl.aclrtGetDevice(&self.device_index)
        acl.aclrtStreamGetFlags(stream, &flags)
        self._fast_sync = flags & abi.ACL_STREAM_FAST_SYNC != 0
        self._trusted = owned
        open_room(&self._room, owned)
        self.adopt(stream, owned, parent)
        return 0

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow a stream made elsewhere, in the current context.

        Parameters
        ----------
        handle : int
            An ``aclrtStream``; 0 is the default stream of whatever context is current when it is used.
        owner : object, optional
            Kept alive as long as this object.
        """
        cdef Stream self = Stream.__new__(Stream)
        ensure_initialized()
        self.adopt_here(<void *><uintptr_t>handle, False, owner)
        return self

    @staticmethod
    def default(Context context=None):
        """The default stream of a device or context (``aclrtCtxGetCurrentDefaultStream``); None: of the current one."""
        if context is None:
            ensure_initialized()
            context = Context.current()
            if context is None:
                check(abi.ACL_ERROR_RT_CONTEXT_NULL, "aclrtCtxGetCurrentDefaultStream")
        return context.default_stream

    @staticmethod
    def _default_of(Context context not None):
        # The context is current. It keeps the only object for its default stream.
        cdef abi.aclrtStream stream = NULL
        cdef Stream self = Stream.__new__(Stream)
        check(acl.aclrtCtxGetCurrentDefaultStream(&stream), "aclrtCtxGetCurrentDefaultStream")
        self.adopt_here(stream, False, context)
        self._is_default = True
        return self

    cdef int keep(self, object one, object two) except -1:
        if self.is_recording():
            return self._recording.add(one, two)
        if self._keeper is None:
            self._keeper = Keeper.__new__(Keeper)
        count_submission(&self._room)
        return self._keeper.keep(self._handle, one, two)

    cdef int add_to_recording(self, object one, object two) except -1:
        return self._recording.add(one, two) if self.is_recording() else 0

    cdef bint is_recording(self) except -1:
        """Whether its tasks go into a model. Notices that it joined a capture."""
        cdef Recording recording
        if self._recording is None and captures_open > 0:
            recording = recording_of(self._handle)
            if recording is not None:
                self.begin_recording(recording)
        return self._recording is not None

    cdef int begin_recording(self, Recording recording) except -1:
        self._recording = recording
        recording.streams.append(self)
        self._room.recorded = True
        open_room(&self._room, False)  # launches take the careful way, where they look whether they are recorded
        return 0

    cdef int end_recording(self) except -1:
        self._recording.streams.remove(self)
        self._recording = None
        self._room.recorded = False
        open_room(&self._room, self._trusted)
        return 0

    # ---- what it is ----

    @property
    def id(self):
        """Number of the stream, unique on its device while it lives (``aclrtStreamGetId``)."""
        cdef int32_t number
        self.use()
        check(acl.aclrtStreamGetId(self._handle, &number), "aclrtStreamGetId")
        return number

    @property
    def flags(self):
        """The flags it was created with, as a `StreamFlag` (``aclrtStreamGetFlags``).

        The default stream has FAST_LAUNCH and FAST_SYNC on 950, A3 and A2, none elsewhere.
        """
        cdef uint32_t bits
        self.use()
        check(acl.aclrtStreamGetFlags(self._handle, &bits), "aclrtStreamGetFlags")
        return FLAGS[bits] if bits < 64 else StreamFlag(bits)

    @property
    def priority(self):
        """The priority it was created with, 0 (first) to 7 (``aclrtStreamGetPriority``)."""
        cdef uint32_t order
        self.use()
        check(acl.aclrtStreamGetPriority(self._handle, &order), "aclrtStreamGetPriority")
        return order

    @property
    def is_default(self):
        """Whether it is a context's default stream."""
        return self._is_default

    # ---- waiting ----

    def query(self):
        """Whether all tasks are done (``aclrtStreamQuery``). Never blocks.

        Raises
        ------
        CaptureError
            The stream is capturing (107027).
        DeviceFaultError
            Its context failed in STOP mode. An error in CONTINUE mode is left for `synchronize`.

        Notes
        -----
        Source: CANN Runtime API, 06 Stream management. All products.
        """
        cdef abi.aclrtStreamStatus status
        self.use()
        check(acl.aclrtStreamQuery(self._handle, &status), "aclrtStreamQuery")
        if status != abi.ACL_STREAM_STATUS_COMPLETE:
            return False
        if self._keeper is not None:
            self._keeper.take()
        return True

    def synchronize(self, timeout=None):
        """Wait until all tasks are done (``aclrtSynchronizeStream``, ``aclrtSynchronizeStreamWithTimeout``).

        Parameters
        ----------
        timeout : float, optional
            Seconds, rounded up to milliseconds. Forever without one.

        Returns
        -------
        SyncResult
            COMPLETE, or how the work ended otherwise: OVERFLOW (207003, 207016, 207017), END_OF_SEQUENCE (507005),
            MODEL_ABORTED (507023), SOCKET_CLOSED (507901).

        Raises
        ------
        StreamTimeoutError
            Not done in time (507046). The stream goes on.
        StreamAbortedError
            It was aborted meanwhile (107023), or its device (107022).
        DeviceFaultError
            A task failed; in CONTINUE mode that is said once.
        CaptureError
            The stream is capturing (107027).

        Notes
        -----
        Blocks; the GIL is released; on the main thread Ctrl-C is noticed within 0.2 s. A PERSISTENT, CPU_SCHEDULE or
        DEVICE_USE_ONLY stream counts as done at once. Source: CANN Runtime API, 06 Stream management. All products.
        """
        cdef aclError code
        self.use()
        if timeout is not None or self._keeper is not None:
            return self.synchronize_with_care(timeout)
        code = synchronize_stream(self._handle, self._fast_sync)
        if code != 0:
            return result_of(code, "aclrtSynchronizeStream")
        seen_idle(&self._room)
        return COMPLETE

    cdef object synchronize_with_care(self, timeout):
        """With a timeout, or with things that its tasks use: a wait in vain must not let go of them."""
        cdef aclError code
        cdef tuple kept = None if self._keeper is None else self._keeper.take()
        try:
            if timeout is None:
                code = synchronize_stream(self._handle, self._fast_sync)
                return result_of(code, "aclrtSynchronizeStream")
            code = synchronize_stream_timeout(self._handle, self._fast_sync, timeout)
            return result_of(code, "aclrtSynchronizeStreamWithTimeout")
        except BaseException:
            if kept is not None:
                self._keeper.give_back(kept)
            raise

    def wait(self, Event event not None, timeout=None, *, bint external=False):
        """Let the tasks that follow wait for an event's newest record (``aclrtStreamWaitEvent``, ``...WithTimeout``).

        Recording the event again later does not move this wait.

        Parameters
        ----------
        event : Event
        timeout : float, optional
            Seconds, rounded up to whole ones. On expiry the stream fails; forever without one. 910 has none, 310P
            ignores it.
        external : bool, default False
            During a capture: wait, at each replay, for what is recorded outside the graph (``...WithFlag``). For Ex events
            with SYNC only; one event is always waited for in the same way.

        Raises
        ------
        InvalidParamError
            The event was never recorded (107000): not for SYNC and Ex events. `external` with a timeout (100000).
        CaptureError
            During a capture: the event was recorded outside it (107024). `external` without a capture (107029).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Returns at once, unless the queue is full; releases the GIL. Source: CANN Runtime API, 07 Event management.
        """
        cdef int32_t seconds
        self.use()
        event.use()
        if external:
            return self.wait_external(event, timeout)
        if timeout is None:
            if keeps_gil(&self._room, self._handle):
                check_on(self, acl.aclrtStreamWaitEvent(self._handle, event._handle), "aclrtStreamWaitEvent")
            else:
                with nogil: check_on(self, acl.aclrtStreamWaitEvent(self._handle, event._handle), "aclrtStreamWaitEvent")
            self.keep_recorded(event, None)
            return
        seconds = whole_seconds(timeout)
        count_submission(&self._room)
        with nogil:
            check_on(
                self,
                acl.aclrtStreamWaitEventWithTimeout(self._handle, event._handle, seconds),
                "aclrtStreamWaitEventWithTimeout",
            )
        self.keep_recorded(event, None)

    cdef object wait_external(self, Event event, timeout):
        cdef uint32_t seconds = whole_seconds(timeout)
        with nogil:
            check_on(
                self,
                acl.aclrtStreamWaitEventWithFlag(self._handle, event._handle, seconds, abi.ACL_EVENT_WAIT_EXTERNAL),
                "aclrtStreamWaitEventWithFlag",
            )
        self.keep_recorded(event, None)

    def record(self, Event event=None):
        """Record an event behind all tasks submitted so far (``aclrtRecordEvent``).

        Parameters
        ----------
        event : Event, optional
            A new one without it.

        Returns
        -------
        Event
        """
        if event is None:
            event = events.Event()
        event.record(self)
        return event

    def write_value(self, DeviceBuffer cell not None, value):
        """Queue a task that writes a number into device memory (``aclrtValueWrite``), for `wait_value` to see.

        Parameters
        ----------
        cell : DeviceBuffer
            At least 8 bytes, aligned to 8; kept until the stream has passed the task.
        value : int
            0 to 2**64 - 1.

        Raises
        ------
        InvalidParamError
            `cell` is not aligned (107000).
        NotSupportedError
            Another product (207000).

        Notes
        -----
        Blocks while the queue is full; releases the GIL. Products: 950, A3, A2. Source: CANN Runtime API, 07 Event
        management.
        """
        cdef void *address = device_memory(cell, 8)
        cdef uint64_t number = PyNumber_Index(value)
        self.use()
        with nogil: check_on(self, acl.aclrtValueWrite(address, number, 0, self._handle), "aclrtValueWrite")
        self.keep(cell, None)

    def wait_value(self, DeviceBuffer cell not None, value, mode=WaitValueMode.GEQ):
        """Let the tasks that follow wait until a number in device memory is as wanted (``aclrtValueWait``).

        Parameters
        ----------
        cell : DeviceBuffer
            At least 8 bytes, aligned to 8; kept until the stream has passed the task.
        value : int
            0 to 2**64 - 1.
        mode : WaitValueMode, default GEQ
            GEQ: ``cell - value``, as a signed number, is at least 0. EQ: they are equal. AND: ``cell & value`` is not 0.
            NOR: ``~(cell | value)`` is not 0.

        Raises
        ------
        InvalidParamError
            `cell` is not aligned, or no such mode (107000).
        NotSupportedError
            Another product (207000).

        Notes
        -----
        Whoever writes the cell wakes the stream: `write_value`, a kernel, a copy. Returns at once, unless the queue is
        full; releases the GIL. Products: 950, A3, A2. Source: CANN Runtime API, 07 Event management.
        """
        cdef void *address = device_memory(cell, 8)
        cdef uint64_t number = PyNumber_Index(value)
        cdef uint32_t how = PyNumber_Index(mode)
        self.use()
        with nogil: check_on(self, acl.aclrtValueWait(address, number, how, self._handle), "aclrtValueWait")
        self.keep(cell, None)

    # ---- failure and control ----

    @property
    def failure_mode(self):
        """What a failed task means: CONTINUE with the next one, or STOP the whole context (`FailureMode`).

        Setting: ``aclrtSetStreamFailureMode``; there is no way back from STOP (207000). Getting:
        ``aclrtGetStreamAttribute``. Products: 950, A3, A2, 310B, 310P, 910.
        """
        return FailureMode(get_attribute(self, abi.ACL_STREAM_ATTR_FAILURE_MODE).failureMode)

    @failure_mode.setter
    def failure_mode(self, mode):
        cdef uint64_t value = PyNumber_Index(mode)
        self.use()
        with nogil:
            check_on(self, acl.aclrtSetStreamFailureMode(self._handle, value), "aclrtSetStreamFailureMode")

    @property
    def overflow_check(self):
        """Whether overflows in saturation mode are noticed (``aclrtSet/GetStreamOverflowSwitch``). Always on 310P, 910."""
        cdef uint32_t on
        self.use()
        check_on(self, acl.aclrtGetStreamOverflowSwitch(self._handle, &on), "aclrtGetStreamOverflowSwitch")
        return on != 0

    @overflow_check.setter
    def overflow_check(self, bint on):
        cdef uint32_t value = on
        self.use()
        with nogil:
            check_on(self, acl.aclrtSetStreamOverflowSwitch(self._handle, value), "aclrtSetStreamOverflowSwitch")

    @property
    def custom_tag(self):
        """A number of the user's, 0xFFFFFFFF at first (stream attribute USER_CUSTOM_TAG)."""
        return get_attribute(self, abi.ACL_STREAM_ATTR_USER_CUSTOM_TAG).userCustomTag

    @custom_tag.setter
    def custom_tag(self, tag):
        cdef abi.aclrtStreamAttrValue value
        value.userCustomTag = PyNumber_Index(tag)
        set_attribute(self, abi.ACL_STREAM_ATTR_USER_CUSTOM_TAG, value)

    @property
    def cache_op_info(self):
        """Whether operator information is kept with captured tasks (stream attribute CACHE_OP_INFO)."""
        return get_attribute(self, abi.ACL_STREAM_ATTR_CACHE_OP_INFO).cacheOpInfoSwitch != 0

    @cache_op_info.setter
    def cache_op_info(self, bint on):
        cdef abi.aclrtStreamAttrValue value
        value.cacheOpInfoSwitch = on
        set_attribute(self, abi.ACL_STREAM_ATTR_CACHE_OP_INFO, value)

    @property
    def device_priority(self):
        """The priority that the device goes by (stream attribute PRIORITY), at first the one of the creation.

        Setting it does not change `priority`. Products: 950, A3, A2; not on CPU_SCHEDULE streams (207000).
        """
        return get_attribute(self, abi.ACL_STREAM_ATTR_PRIORITY).streamPriority

    @device_priority.setter
    def device_priority(self, priority):
        cdef abi.aclrtStreamAttrValue value
        value.streamPriority = <uint32_t><int32_t>PyNumber_Index(priority)
        set_attribute(self, abi.ACL_STREAM_ATTR_PRIORITY, value)

    @property
    def launch_blocking(self):
        """Whether launches wait for their task: `LaunchBlockingMode` (stream attribute LAUNCH_BLOCKING_MODE).

        CTRL_BY_ENV follows ``ASCEND_RT_LAUNCH_BLOCKING=1``, read once by the runtime. Products: 950, A3, A2.
        """
        return LaunchBlockingMode(get_attribute(self, abi.ACL_STREAM_LAUNCH_BLOCKING_MODE).launchBlockingMode)

    @launch_blocking.setter
    def launch_blocking(self, mode):
        cdef abi.aclrtStreamAttrValue value
        value.launchBlockingMode = PyNumber_Index(mode)
        set_attribute(self, abi.ACL_STREAM_LAUNCH_BLOCKING_MODE, value)
        self._trusted = self._owned and value.launchBlockingMode != abi.ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING
        open_room(&self._room, self._trusted and self._recording is None)

    def nonblocking_launch(self):
        """A ``with`` block in which launches do not wait, although the stream is in launch-blocking mode.

        C: ``aclrtNonBlockingLaunchBegin``, ``aclrtNonBlockingLaunchEnd``. Blocks nest; the end of the outermost waits for
        the stream if its launches would have, and raises what went wrong. Releases the GIL. Products: 950, A3, A2.
        """
        self.use()
        return NonBlockingLaunch(self)

    def abort(self):
        """Kill the running task and drop the queued ones (``aclrtStreamAbort``). The stream stays usable.

        Waits in progress end with `StreamAbortedError` (107023). Records that were dropped never happen: whoever waits
        for them hangs. Blocks; releases the GIL. Products: 950, A3, A2.

        Raises
        ------
        NotSupportedError
            Another product (207000).
        DeviceMismatchError
            The stream does not belong to the current context (107003).
        RuntimeFailure
            It is bound to a model (507000).
        """
        self.use()
        with nogil: check_on(self, acl.aclrtStreamAbort(self._handle), "aclrtStreamAbort")

    def stop(self):
        """Stop the running task (``aclrtStreamStop``). Blocks; releases the GIL. Products: 950, A3, A2, 310B.

        Raises
        ------
        NotSupportedError
            Another product (207000).
        RuntimeFailure
            It is bound to a model (507000).
        """
        self.use()
        with nogil: check_on(self, acl.aclrtStreamStop(self._handle), "aclrtStreamStop")

    def activate(self, Stream on not None):
        """Let this stream begin to run when `on` reaches this point (``aclrtActiveStream``); both bound to a model.

        Raises
        ------
        RuntimeFailure
            One of them is not bound to a model (107005).
        DeviceMismatchError
            `on` does not belong to the current context (107003).

        Notes
        -----
        Blocks never long; releases the GIL. Products: 950, A2, 310B, 310P, 910. Source: CANN Runtime API, 06 Stream
        management.
        """
        self.use()
        on.use()
        with nogil: check_on(on, acl.aclrtActiveStream(self._handle, on._handle), "aclrtActiveStream")

    def switch_to(
        self, Stream true_stream not None, DeviceBuffer left not None, condition, DeviceBuffer right not None,
        dtype=CompareDataType.INT32,
    ):
        """Go on with `true_stream` instead of this stream if a comparison on the device holds (``aclrtSwitchStream``).

        Parameters
        ----------
        true_stream : Stream
            Bound to the same model.
        left, right : DeviceBuffer
            The numbers, read when the task runs.
        condition : Condition
        dtype : CompareDataType, default INT32

        Raises
        ------
        InvalidParamError
            No such condition or type (107000).
        RuntimeFailure
            One of the streams is not bound to a model (107005).

        Notes
        -----
        Blocks never long; releases the GIL. Products: as for `activate`. Source: CANN Runtime API, 06 Stream management.
        """
        cdef size_t nbytes = 8 if dtype == CompareDataType.INT64 else 4
        cdef void *left_value = device_memory(left, nbytes)
        cdef void *right_value = device_memory(right, nbytes)
        cdef abi.aclrtCondition compare = <abi.aclrtCondition><int>PyNumber_Index(condition)
        cdef abi.aclrtCompareDataType width = <abi.aclrtCompareDataType><int>PyNumber_Index(dtype)
        self.use()
        true_stream.use()
        with nogil:
            check_on(
                self,
                acl.aclrtSwitchStream(
                    left_value, compare, right_value, width, true_stream._handle, NULL, self._handle
                ),
                "aclrtSwitchStream",
            )
        self.keep(left, right)

    def clean_persistent_tasks(self):
        """Remove the tasks that a PERSISTENT stream keeps, to fill it anew (``aclrtPersistentTaskClean``).

        Raises
        ------
        RuntimeFailure
            It is no PERSISTENT stream of a built model, or its queue is enabled (507000).

        Notes
        -----
        Blocks never long; releases the GIL. Source: CANN Runtime API, 06 Stream management.
        """
        self.use()
        with nogil: check_on(self, acl.aclrtPersistentTaskClean(self._handle), "aclrtPersistentTaskClean")

    def reset_overflow_status(self):
        """Queue a task that clears the overflow status (``aclrtResetOverflowStatus``). Releases the GIL."""
        self.use()
        with nogil: check_on(self, acl.aclrtResetOverflowStatus(self._handle), "aclrtResetOverflowStatus")

    def get_overflow_status(self, DeviceBuffer target not None):
        """Queue a task that writes the 64-byte overflow status (``aclrtGetOverflowStatus``). Releases the GIL.

        A first word other than 0 means that there was an overflow.

        Parameters
        ----------
        target : DeviceBuffer
            At least 64 bytes.
        """
        cdef void *output = device_memory(target, 64)
        self.use()
        with nogil: check_on(self, acl.aclrtGetOverflowStatus(output, 64, self._handle), "aclrtGetOverflowStatus")
        self.keep(target, None)

    def get_resource_limit(self, kind):
        """How many cores its kernels may use (``aclrtGetStreamResLimit``), by `DevResLimitType`."""
        cdef abi.aclrtDevResLimitType which = <abi.aclrtDevResLimitType><int>PyNumber_Index(kind)
        cdef uint32_t value
        self.use()
        check_on(self, acl.aclrtGetStreamResLimit(self._handle, which, &value), "aclrtGetStreamResLimit")
        return value

    def set_resource_limit(self, kind, value):
        """Limit the cores that its kernels may use (``aclrtSetStreamResLimit``), by `DevResLimitType`."""
        cdef abi.aclrtDevResLimitType which = <abi.aclrtDevResLimitType><int>PyNumber_Index(kind)
        cdef uint32_t cores = PyNumber_Index(value)
        self.use()
        check_on(self, acl.aclrtSetStreamResLimit(self._handle, which, cores), "aclrtSetStreamResLimit")

    def reset_resource_limits(self):
        """Go back to the device's limits (``aclrtResetStreamResLimit``)."""
        self.use()
        check_on(self, acl.aclrtResetStreamResLimit(self._handle), "aclrtResetStreamResLimit")

    def use_resources_in_thread(self):
        """Let the calling thread go by this stream's limits (``aclrtUseStreamResInCurrentThread``)."""
        self.use()
        check_on(self, acl.aclrtUseStreamResInCurrentThread(self._handle), "aclrtUseStreamResInCurrentThread")

    def unuse_resources_in_thread(self):
        """Undo `use_resources_in_thread` (``aclrtUnuseStreamResInCurrentThread``)."""
        self.use()
        check_on(self, acl.aclrtUnuseStreamResInCurrentThread(self._handle), "aclrtUnuseStreamResInCurrentThread")

    # ---- functions of the host ----

    def launch_host_func(self, function, *args):
        """Queue a call of a Python function (``aclrtLaunchHostFunc``). What follows waits until it has returned.

        Parameters
        ----------
        function : callable
            Runs on pyacl's drain thread, in this context. It may use other streams, but must not wait for this one. An
            exception goes to `sys.unraisablehook`.
        *args
            For the function. Kept, like the function, until the stream has passed the call.

        Raises
        ------
        AclError
            A report thread serves this stream (107011).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Returns at once, unless the queue is full; releases the GIL. If the stream is aborted the function may never
        run. Source: CANN Runtime API, 12 Callbacks.
        """
        cdef HostCall call
        self.use()
        call = new_host_call(function, args)
        self._room.left = 0  # until the stream is seen idle again: it cannot drain without the GIL
        with nogil:
            check_on(self, acl.aclrtLaunchHostFunc(self._handle, host_function(), <void *>call), "aclrtLaunchHostFunc")
        self.keep(call, None)
        if self._recording is not None:
            self._recording.has_functions = True

    def launch_callback(self, function, *args, bint blocking=True):
        """Queue a call of a Python function on the thread that serves this stream (``aclrtLaunchCallback``).

        Parameters
        ----------
        function : callable
            Runs on that thread, when it asks for work (see `ReportThread`, `process_report`). An exception goes to
            `sys.unraisablehook`.
        *args
            For the function. Kept, like the function, until the stream has passed the call.
        blocking : bool, default True
            What follows on the stream waits until the function has returned. A function must not wait for its stream
            then.

        Raises
        ------
        AclError
            No thread serves the stream (107015), or it takes host functions (107011).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Returns at once, unless the queue is full; releases the GIL. Callbacks of a stream run in order. Source: CANN
        Runtime API, 12 Callbacks. All products.
        """
        cdef HostCall call
        cdef aclError code
        cdef abi.aclrtCallbackBlockType how = abi.ACL_CALLBACK_BLOCK if blocking else abi.ACL_CALLBACK_NO_BLOCK
        self.use()
        call = new_host_call(function, args)
        self._room.left = 0  # until the stream is seen idle again: it cannot drain without the GIL
        call.hold(blocking)
        with nogil:
            code = acl.aclrtLaunchCallback(report_function(), <void *>call, how, self._handle)
        if code != 0:
            call.release()
            check_on(self, code, "aclrtLaunchCallback")
        self.keep(call, None)

    # ---- capture ----

    def capture(self, mode=CaptureMode.GLOBAL, *, thread_mode=None):
        """Record tasks into a `Graph` instead of running them: ``with stream.capture() as graph:``.

        C: ``aclmdlRICaptureBegin``, ``aclmdlRICaptureEnd``. Streams that wait for an event recorded here join in, until
        the origin waits for an event of theirs. The events have to be Ex events. What the tasks use (buffers, kernels,
        functions) stays alive as long as the graph. The end of the block ends the capture in any case, and gives the
        thread the capture mode back that it had.

        Parameters
        ----------
        mode : CaptureMode, default GLOBAL
            Whom synchronous copies are refused to meanwhile: GLOBAL every thread, THREAD_LOCAL this one, RELAXED nobody.
        thread_mode : CaptureMode, optional
            The mode of this thread within the block (``aclmdlRICaptureThreadExchangeMode``); RELAXED allows it
            synchronous copies whatever is captured.

        Returns
        -------
        context manager
            Its block gets the `Graph`, which can be replayed after the block.

        Raises
        ------
        CaptureError
            The stream captures already (107027). At the end of the block: a call in it broke a rule or failed; `filename`
            and `lineno` say which, and the graph is discarded. Also for streams that joined and did not come back
            (107025), and open task groups (107033).
        NotSupportedError
            310B, 910 (207000).

        Notes
        -----
        Blocks never long; releases the GIL. Products: 950, A3, A2, 310P. Source: CANN Runtime API, 15 Model running
        instances.
        """
        self.use()
        return models.Capture(self, mode, thread_mode)

    @property
    def capture_status(self):
        """Whether its tasks are captured: `CaptureStatus` (``aclmdlRICaptureGetInfo``). Never blocks."""
        cdef abi.aclmdlRICaptureStatus status
        self.use()
        check(acl.aclmdlRICaptureGetInfo(self._handle, &status, NULL), "aclmdlRICaptureGetInfo")
        return CaptureStatus(status)

    # ---- the end ----

    def close(self, force=False):
        """Wait for its tasks and destroy it (``aclrtDestroyStream``).

        Parameters
        ----------
        force : bool, default False
            Drop the tasks instead (``aclrtDestroyStreamForce``; 310P and 910 wait all the same).

        Raises
        ------
        CaptureError, RuntimeFailure
            It is capturing (107027), or bound to a model (107005). Then it stays open.
        ValueError
            It is a default stream.

        Notes
        -----
        Closing twice is nothing. A stream whose device was reset is gone already, and closes without an error. Blocks;
        releases the GIL.
        """
        cdef aclError code = 0
        cdef bint drop = force
        if self._closed:
            return
        self.use()
        if self._is_default:
            raise ValueError("a default stream lives as long as its context and cannot be closed")
        self._closed = True  # before the GIL is released: nobody else may start to use it
        if self._owned and not self.is_orphan():
            with nogil:
                code = destroy(self._handle, self._context, drop)
        if code != 0 and not is_gone(code):
            self._closed = False
            check_on(self, code, "aclrtDestroyStreamForce" if drop else "aclrtDestroyStream")
        self._keeper = None
        self._parent = None

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                destroy(self._handle, self._context, False)

    def __repr__(self):
        cdef int32_t number = -1
        if self._closed:
            return "<pyacl.Stream, closed>"
        acl.aclrtStreamGetId(self._handle, &number)
        kind = "default stream" if self._is_default else f"Stream {number}"
        return f"<pyacl.{kind} of device {self.device_index}{'' if self._owned or self._is_default else ', borrowed'}>"


cdef bint is_gone(aclError code) noexcept:
    """Destroyed with its context or device: the handle is stale, or the context is."""
    return code in (abi.ACL_ERROR_RT_INVALID_HANDLE, abi.ACL_ERROR_RT_PARAM_INVALID, abi.ACL_ERROR_RT_CONTEXT_NULL)


cdef class NonBlockingLaunch:
    """The ``with`` block of `Stream.nonblocking_launch`."""

    cdef Stream stream

    def __cinit__(self, Stream stream):
        self.stream = stream

    def __enter__(self):
        self.stream.use()
        with nogil:
            check_on(
                self.stream, acl.aclrtNonBlockingLaunchBegin(self.stream._handle, 0), "aclrtNonBlockingLaunchBegin"
            )
        return self.stream

    def __exit__(self, *exc):
        self.stream.use()
        with nogil:
            check_on(self.stream, acl.aclrtNonBlockingLaunchEnd(self.stream._handle, 0), "aclrtNonBlockingLaunchEnd")


cdef abi.aclrtStreamAttrValue get_attribute(Stream stream, abi.aclrtStreamAttr which) except *:
    cdef abi.aclrtStreamAttrValue value
    memset(&value, 0, sizeof(value))
    stream.use()
    check_on(stream, acl.aclrtGetStreamAttribute(stream._handle, which, &value), "aclrtGetStreamAttribute")
    return value


cdef int set_attribute(Stream stream, abi.aclrtStreamAttr which, abi.aclrtStreamAttrValue value) except -1:
    stream.use()
    with nogil:
        check_on(stream, acl.aclrtSetStreamAttribute(stream._handle, which, &value), "aclrtSetStreamAttribute")
    return 0


cdef object result_of(aclError code, const char *call):
    if code == 0:
        return COMPLETE
    result = SYNC_RESULTS.get(code)
    if result is None:
        raise_error(code, call)
    return result
