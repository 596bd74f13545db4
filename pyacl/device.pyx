# cython: language_level=3, binding=False, embedsignature=True
"""Devices and contexts: what a thread works on.

Every thread has a current context, or none. ``Device(index)`` makes the device's primary context current; ``Context``
makes another one. Streams and events belong to the context that was current when they were made.
"""
from cpython.number cimport PyNumber_Index  # C's own conversion would take 1.5 for 1
from libc.stdint cimport int32_t, int64_t, uint32_t

from pyacl cimport acl as abi
from pyacl._handle cimport Handle, current_parent, note_reset, set_current_parent
from pyacl._runtime cimport acl, check, ensure_initialized, fork_generation
from pyacl._wait cimport synchronize_device

from pyacl._runtime import StillBusy, register
from pyacl.errors import DeviceMismatchError, SYNC_RESULTS, SyncResult, make_error


cdef enum:
    EXIT_TIMEOUT_MS = 5000


cdef void *current_context() except? NULL:
    """Handle of the calling thread's context; NULL, without an error, when it has none."""
    cdef abi.aclrtContext context = NULL
    cdef abi.aclError code = acl.aclrtGetCurrentContext(&context)
    if code != 0 and code != abi.ACL_ERROR_RT_CONTEXT_NULL:
        check(code, "aclrtGetCurrentContext")
    return context


cdef int note_if_reset(int32_t device) except -1:
    """The last reference resets a device; whose that is only the runtime knows."""
    cdef int32_t active = 0
    if acl.aclrtGetPrimaryCtxState(device, NULL, &active) != 0 or not active:
        note_reset(device)
    return 0


cdef class Context(Handle):
    """A context of its own on a device (``aclrtCreateContext``), current in the calling thread from now on.

    Parameters
    ----------
    device : int or Device, default 0
        The device, as counted by ``ASCEND_RT_VISIBLE_DEVICES``.

    Attributes
    ----------
    device_index : int
        The device it is on; -1 for a borrowed context.

    Raises
    ------
    InvalidParamError
        No such device (107001).

    Notes
    -----
    Releases the GIL. A ``with`` block ends by destroying the context and making the one before current again.
    Source: CANN Runtime API, 05 Context management. All products but IPV350.
    """

    _exit_rank = 1

    def __init__(self, device=0):
        cdef abi.aclrtContext context = NULL
        cdef int32_t index = device.device_index if isinstance(device, Device) else PyNumber_Index(device)
        ensure_initialized()
        self._before = current_context()
        with nogil: check(acl.aclrtCreateContext(&context, index), "aclrtCreateContext")
        self.device_index = index
        self.adopt(context, True, device if isinstance(device, Device) else None)
        set_current_parent(self)
        register(self)

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow a context made elsewhere.

        Parameters
        ----------
        handle : int
            An ``aclrtContext``.
        owner : object, optional
            Kept alive as long as this object.
        """
        cdef Context self = Context.__new__(Context)
        ensure_initialized()
        self.device_index = -1
        self.adopt(<void *><size_t>handle, False, owner)
        return self

    @staticmethod
    def current():
        """The calling thread's context, borrowed (``aclrtGetCurrentContext``); None without one. Never blocks."""
        ensure_initialized()
        cdef void *context = current_context()
        if context is NULL:
            return None
        parent = current_parent()
        if parent is not None and (<Context>parent)._handle == context:
            return parent
        return Context.from_handle(<size_t>context)

    def make_current(self):
        """Make this the calling thread's context (``aclrtSetCurrentContext``). Releases the GIL.

        Raises
        ------
        InvalidParamError
            The context is gone (107000).
        """
        self.use()
        with nogil: check(acl.aclrtSetCurrentContext(self._handle), "aclrtSetCurrentContext")
        set_current_parent(self)

    cdef int require_current(self, call) except -1:
        if current_context() != self._handle:
            raise DeviceMismatchError(
                abi.ACL_ERROR_RT_STREAM_CONTEXT, call, f"{self!r} is not current in this thread: call make_current() first"
            )
        return 0

    def synchronize(self, timeout=None):
        """Wait for all streams of this context (``aclrtSynchronizeDevice``, ``...WithTimeout``).

        Parameters
        ----------
        timeout : float, optional
            Seconds. Forever without one.

        Returns
        -------
        SyncResult

        Raises
        ------
        StreamTimeoutError
            Not done in time (507046); the streams go on.
        DeviceMismatchError
            This context is not current in the calling thread.
        CaptureError
            A stream of the context is capturing (107027).
        DeviceFaultError
            A task failed.

        Notes
        -----
        Blocks; the GIL is released; on the main thread Ctrl-C is noticed within 0.2 s. Streams of other contexts on the
        same device are not waited for. Source: CANN Runtime API, 04 Device management.
        """
        self.use()
        self.require_current("aclrtSynchronizeDevice")
        cdef abi.aclError code = synchronize_device(timeout)
        if code == 0:
            return SyncResult.COMPLETE
        if code in SYNC_RESULTS:
            return SYNC_RESULTS[code]
        check(code, "aclrtSynchronizeDevice")

    @property
    def available_streams(self):
        """How many more streams the device can have (``aclrtGetStreamAvailableNum``); the context must be current."""
        cdef uint32_t count
        self.use()
        self.require_current("aclrtGetStreamAvailableNum")
        check(acl.aclrtGetStreamAvailableNum(&count), "aclrtGetStreamAvailableNum")
        return count

    @property
    def available_events(self):
        """How many more hardware events there are (``aclrtGetEventAvailNum``); the context must be current."""
        cdef uint32_t count
        self.use()
        self.require_current("aclrtGetEventAvailNum")
        check(acl.aclrtGetEventAvailNum(&count), "aclrtGetEventAvailNum")
        return count

    @property
    def default_stream(self):
        """The context's default stream: always the same object, which cannot be closed.

        The context must be current when it is first asked for (``aclrtCtxGetCurrentDefaultStream``).
        """
        self.use()
        if self._default_stream is None:
            from pyacl.stream import Stream  # stream.pyx needs this module: a cycle otherwise
            self.require_current("aclrtCtxGetCurrentDefaultStream")
            self._default_stream = Stream._default_of(self)
        return self._default_stream

    def close(self):
        """Destroy the context and what is left in it (``aclrtDestroyContext``). Blocks until its streams are done."""
        cdef void *handle = self._handle
        if self._closed:
            return
        self.use()
        if self._owned:
            with nogil: check(acl.aclrtDestroyContext(handle), "aclrtDestroyContext")
        self.forget()

    cdef void forget(self):
        self._closed = True
        self._default_stream = None
        self._parent = None
        if current_parent() is self:
            set_current_parent(None)

    def _end(self):
        # At interpreter exit. Work that is still queued gets a while to finish, but must not keep the process.
        cdef abi.aclError code
        if self._closed or self._generation != fork_generation:
            return
        with nogil:
            code = acl.aclrtSetCurrentContext(self._handle)
            if code == 0:
                code = acl.aclrtSynchronizeDeviceWithTimeout(EXIT_TIMEOUT_MS)
        if code == abi.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT:
            raise StillBusy
        self.close()

    def __exit__(self, *exc):
        cdef void *before = self._before
        self.close()
        if before is not NULL and before != self._handle:
            with nogil: check(acl.aclrtSetCurrentContext(before), "aclrtSetCurrentContext")

    def __dealloc__(self):
        # A subclass has its own way to end: Device marks itself closed first.
        if self.must_destroy():
            with nogil:
                acl.aclrtDestroyContext(self._handle)


cdef class Device(Context):
    """A device, set for the calling thread (``aclrtSetDevice``) as long as the object lives.

    Its context is the device's primary one. The runtime counts: the device is reset when as many objects were closed
    as were made, in all threads together.

    Parameters
    ----------
    index : int, default 0
        As counted by ``ASCEND_RT_VISIBLE_DEVICES``.

    Raises
    ------
    InvalidParamError
        No such device (107001).
    RuntimeNotFoundError
        No runtime could be loaded.

    Notes
    -----
    Releases the GIL. The thread keeps its last Device alive, so ``pyacl.Device(0)`` alone on a line is enough.
    Source: CANN Runtime API, 04 Device management.
    """

    _exit_rank = 2

    def __init__(self, index=0):
        cdef int32_t number = PyNumber_Index(index)
        ensure_initialized()
        self._before = current_context()
        with nogil: check(acl.aclrtSetDevice(number), "aclrtSetDevice")
        self.device_index = number
        self.adopt(current_context(), True, None)
        set_current_parent(self)
        register(self)

    @property
    def index(self):
        """The number of the device."""
        return self.device_index

    @staticmethod
    def count():
        """How many devices are visible (``aclrtGetDeviceCount``). Initialises nothing."""
        cdef uint32_t count
        with nogil: check(acl.aclrtGetDeviceCount(&count), "aclrtGetDeviceCount")
        return count

    @staticmethod
    def soc_name():
        """SoC name of the devices, e.g. ``"Ascend910B3"`` (``aclrtGetSocName``). Initialises nothing."""
        cdef const char *name = acl.aclrtGetSocName()
        return None if name is NULL else (<bytes>name).decode()

    @staticmethod
    def stream_priority_range():
        """(least, greatest) stream priority (``aclrtDeviceGetStreamPriorityRange``); the smaller number goes first."""
        cdef int32_t least = 0, greatest = 0
        check(acl.aclrtDeviceGetStreamPriorityRange(&least, &greatest), "aclrtDeviceGetStreamPriorityRange")
        return least, greatest

    def memory_info(self):
        """(free, total) bytes of the device's memory (``aclrtGetMemInfo``); the device must be current."""
        cdef size_t free, total
        self.use()
        self.require_current("aclrtGetMemInfo")
        with nogil: check(acl.aclrtGetMemInfo(abi.ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo")
        return free, total

    def close(self, force=False):
        """Give up this reference to the device; the last one resets it.

        Parameters
        ----------
        force : bool, default False
            Reset at once, whoever else uses the device, and without waiting for its tasks
            (``aclrtResetDeviceForce``).

        Notes
        -----
        Blocks until the streams are done; releases the GIL. Streams, events and device memory of the primary context
        end with the reset; using one afterwards raises InvalidParamError (107017).
        """
        cdef int32_t index = self.device_index
        if self._closed:
            return
        self.use()
        if force:
            with nogil: check(acl.aclrtResetDeviceForce(index), "aclrtResetDeviceForce")
        else:
            with nogil: check(acl.aclrtResetDevice(index), "aclrtResetDevice")
        note_if_reset(index)
        self.forget()

    def __dealloc__(self):
        cdef int32_t index = self.device_index
        if self.must_destroy():
            self._closed = True
            with nogil:
                acl.aclrtResetDevice(index)
            note_if_reset(index)

    def __repr__(self):
        return f"<pyacl.Device {self.device_index}{', closed' if self._closed else ''}>"
