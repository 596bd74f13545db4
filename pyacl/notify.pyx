# cython: language_level=3, binding=False, embedsignature=True
"""Notifies: signals between streams, devices and processes, taken by the wait that gets them.

A `Notify` is a flag: ``notify.record(stream)`` raises it, ``notify.wait(other)`` holds the other stream until it is up and
takes it down again. A second record before the wait is lost. A `CountNotify` is a number that records change and waits
compare. Unlike a wait for an event, both wait for what comes, not for what was recorded before the call.
"""
from cpython.number cimport PyNumber_Index  # C's own conversion would take 1.5 for 1
from libc.stdint cimport int32_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from pyacl cimport acl as abi
from pyacl._gil cimport keeps_gil
from pyacl._handle cimport Handle, current_parent
from pyacl._runtime cimport acl, check, ensure_initialized
from pyacl._wait cimport whole_seconds
from pyacl.stream cimport Stream, check_on

from pyacl.enums import CntNotifyRecordMode, CntNotifyWaitMode

cdef enum:
    KEY_BYTES = 128  # the runtime asks for 65 at least


cdef void *queue_of(Stream stream) except? NULL:
    if stream is None:
        return NULL
    stream.use()
    return stream._handle


cdef bint may_keep_gil(Stream stream) noexcept:
    return stream is not None and keeps_gil(&stream._room, stream._handle)


cdef int keep_recorded(Stream stream, Handle notify) except -1:
    return 0 if stream is None else stream.keep_recorded(notify, None)


cdef bint is_gone(abi.aclError code) noexcept:
    return code == abi.ACL_ERROR_RT_INVALID_HANDLE  # as it is once the device was reset


# ---- flags ----

cdef class Notify(Handle):
    """A notify of the current device (``aclrtCreateNotify``).

    Parameters
    ----------
    flags : NotifyFlag, default DEFAULT
        ``DEVICE_USE_ONLY`` makes one for kernels.

    Raises
    ------
    ResourceExhaustedError
        No notify is left (207009): 8,192 on A3 and A2, 65,535 on 950, 2,048 on 310B, 1,024 on 310P and 910.
    InvalidParamError
        No such flag (107000).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Releases the GIL. Source: CANN Runtime API, 08 Notify management. All products.
    """

    def __init__(self, flags=0):
        cdef abi.aclrtNotify notify = NULL
        cdef uint64_t bits = PyNumber_Index(flags)
        ensure_initialized()
        with nogil: check(acl.aclrtCreateNotify(&notify, bits), "aclrtCreateNotify")
        self.adopt(notify, True, current_parent())

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtNotify`` made elsewhere; `owner` is kept alive as long as this object."""
        cdef Notify self = Notify.__new__(Notify)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    @classmethod
    def from_key(cls, str key not None, *, bint peer_access=False):
        """Open a notify that another process exported (``aclrtNotifyImportByKey``).

        Parameters
        ----------
        key : str
            From `export_key` there.
        peer_access : bool, default False
            Enable access between the two devices too.

        Raises
        ------
        RuntimeFailure, InvalidParamError
            No such notify, or this process is not allowed to (507000 family, 107000).
        NotSupportedError
            310B (207000).

        Notes
        -----
        It can be recorded from anywhere, and waited for on its own device only (107000). Releases the GIL.
        """
        cdef bytes text = key.encode()
        cdef const char *c_key = text
        cdef uint64_t flags = abi.ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS if peer_access else 0
        cdef abi.aclrtNotify notify = NULL
        cdef Notify self = Notify.__new__(Notify)
        ensure_initialized()
        with nogil: check(acl.aclrtNotifyImportByKey(&notify, c_key, flags), "aclrtNotifyImportByKey")
        self.adopt(notify, True, current_parent())
        return self

    def record(self, Stream stream=None, /):
        """Raise the flag when the stream gets here (``aclrtRecordNotify``).

        Parameters
        ----------
        stream : Stream, optional
            The current context's default stream without one. Any device's.

        Raises
        ------
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Blocks while the queue is full; releases the GIL when that is possible (see pyacl/_gil.pyx). Source: 08 Notify
        management.
        """
        cdef void *queue = queue_of(stream)
        self.use()
        if may_keep_gil(stream):
            check_on(stream, acl.aclrtRecordNotify(self._handle, queue), "aclrtRecordNotify")
            return
        with nogil: check_on(stream, acl.aclrtRecordNotify(self._handle, queue), "aclrtRecordNotify")
        keep_recorded(stream, self)

    def wait(self, Stream stream=None, /, timeout=None):
        """Let the tasks that follow wait until the flag is up, and take it down (``aclrtWaitAndResetNotify``).

        Parameters
        ----------
        stream : Stream, optional
            The current context's default stream without one.
        timeout : float, optional
            Seconds, rounded up to whole ones; forever without one. On expiry the stream fails (107020 at its synchronize).

        Raises
        ------
        InvalidParamError
            It was imported, and the stream is on another device than its own (107000).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Returns at once, unless the queue is full; releases the GIL when that is possible. Source: 08 Notify management.
        """
        cdef uint32_t seconds = whole_seconds(timeout)
        cdef void *queue = queue_of(stream)
        self.use()
        if may_keep_gil(stream):
            check_on(stream, acl.aclrtWaitAndResetNotify(self._handle, queue, seconds), "aclrtWaitAndResetNotify")
            return
        with nogil:
            check_on(stream, acl.aclrtWaitAndResetNotify(self._handle, queue, seconds), "aclrtWaitAndResetNotify")
        keep_recorded(stream, self)

    @staticmethod
    def reset_all(notifies):
        """Take many flags down at once, from the host (``aclrtNotifyBatchReset``).

        Parameters
        ----------
        notifies : iterable of Notify
            At least one.

        Raises
        ------
        InvalidParamError
            None given (107000).
        NotSupportedError
            910, 310P (207000).

        Notes
        -----
        Immediate; not ordered against any stream. Releases the GIL.
        """
        cdef list all_of_them = list(notifies)
        cdef size_t count = len(all_of_them)
        cdef size_t i
        cdef abi.aclrtNotify *handles = <abi.aclrtNotify *>malloc(max(<size_t>1, count) * sizeof(abi.aclrtNotify))
        if handles is NULL:
            raise MemoryError
        try:
            for i in range(count):
                if not isinstance(all_of_them[i], Notify):
                    raise TypeError(f"{all_of_them[i]!r} is no Notify")
                (<Notify>all_of_them[i]).use()
                handles[i] = (<Notify>all_of_them[i])._handle
            ensure_initialized()
            with nogil: check(acl.aclrtNotifyBatchReset(handles, count), "aclrtNotifyBatchReset")
        finally:
            free(handles)

    @property
    def id(self):
        """Number of the notify on its device (``aclrtGetNotifyId``)."""
        cdef uint32_t number
        self.use()
        check(acl.aclrtGetNotifyId(self._handle, &number), "aclrtGetNotifyId")
        return number

    def export_key(self, *, bint any_process=False):
        """A key with which another process opens the notify, by `from_key` (``aclrtNotifyGetExportKey``).

        Parameters
        ----------
        any_process : bool, default False
            Every process that has the key may. Otherwise those only that `allow_processes` names.

        Raises
        ------
        InvalidParamError
            It was imported itself (107000).
        NotSupportedError
            310B (207000).
        """
        cdef char key[KEY_BYTES]
        cdef uint64_t flags = abi.ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION if any_process else 0
        self.use()
        memset(key, 0, KEY_BYTES)
        with nogil: check(acl.aclrtNotifyGetExportKey(self._handle, key, KEY_BYTES - 1, flags), "aclrtNotifyGetExportKey")
        return (<bytes>key).decode()

    def allow_processes(self, *pids):
        """Let these processes open it (``aclrtNotifySetImportPid``); after `export_key`.

        Parameters
        ----------
        *pids : int
            Process ids, as ``aclrtDeviceGetBareTgid`` tells them in the other process.
        """
        cdef size_t count = len(pids)
        cdef size_t i
        cdef int32_t *numbers
        self.use()
        numbers = <int32_t *>malloc(max(<size_t>1, count) * sizeof(int32_t))
        if numbers is NULL:
            raise MemoryError
        try:
            for i in range(count):
                numbers[i] = PyNumber_Index(pids[i])
            with nogil: check(acl.aclrtNotifySetImportPid(self._handle, numbers, count), "aclrtNotifySetImportPid")
        finally:
            free(numbers)

    def close(self):
        """Destroy the notify (``aclrtDestroyNotify``); an imported one ends here only. Never blocks long."""
        cdef void *handle = self._handle
        cdef abi.aclError code = 0
        if self._closed:
            return
        self.use()
        self._closed = True  # before the GIL is released: nobody else may start to use it
        if self._owned and not self.is_orphan():
            with nogil:
                code = acl.aclrtDestroyNotify(handle)
        self._parent = None
        if not is_gone(code):
            check(code, "aclrtDestroyNotify")

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtDestroyNotify(self._handle)


# ---- numbers ----

cdef class CountNotify(Handle):
    """A count notify of the current device (``aclrtCntNotifyCreate``): a 32-bit number, 0 at first.

    Parameters
    ----------
    flags : NotifyFlag, default DEFAULT

    Raises
    ------
    NotSupportedError
        Another product than 950 (207000).
    ResourceExhaustedError
        None is left (207009).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Releases the GIL. Source: CANN Runtime API, 08 Notify management. Products: 950.
    """

    def __init__(self, flags=0):
        cdef abi.aclrtCntNotify notify = NULL
        cdef uint64_t bits = PyNumber_Index(flags)
        ensure_initialized()
        with nogil: check(acl.aclrtCntNotifyCreate(&notify, bits), "aclrtCntNotifyCreate")
        self.adopt(notify, True, current_parent())

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtCntNotify`` made elsewhere; `owner` is kept alive as long as this object."""
        cdef CountNotify self = CountNotify.__new__(CountNotify)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    def record(self, value, Stream stream=None, /, mode=CntNotifyRecordMode.SET_VALUE_MODE):
        """Change the number when the stream gets here (``aclrtCntNotifyRecord``).

        Parameters
        ----------
        value : int
            0 to 2**32 - 1.
        stream : Stream, optional
            The current context's default stream without one.
        mode : CntNotifyRecordMode, default SET_VALUE_MODE
            Set it to `value`, add that, or combine the bits (OR, AND).

        Raises
        ------
        InvalidParamError
            No such mode (107000).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Blocks while the queue is full; releases the GIL. Products: 950.
        """
        cdef abi.aclrtCntNotifyRecordInfo info
        cdef void *queue = queue_of(stream)
        self.use()
        info.mode = <abi.aclrtCntNotifyRecordMode><int>PyNumber_Index(mode)
        info.value = PyNumber_Index(value)
        with nogil: check_on(stream, acl.aclrtCntNotifyRecord(self._handle, queue, &info), "aclrtCntNotifyRecord")
        keep_recorded(stream, self)

    def wait(
        self, value, Stream stream=None, /, mode=CntNotifyWaitMode.BIGGER_OR_EQUAL_MODE, *, timeout=None, bint clear=False
    ):
        """Let the tasks that follow wait until the number compares as wanted (``aclrtCntNotifyWaitWithTimeout``).

        Parameters
        ----------
        value : int
            0 to 2**32 - 1.
        stream : Stream, optional
            The current context's default stream without one.
        mode : CntNotifyWaitMode, default BIGGER_OR_EQUAL_MODE
            How the number must compare with `value`.
        timeout : float, optional
            Seconds, rounded up to whole ones; forever without one. On expiry the stream fails.
        clear : bool, default False
            Set the number to 0 afterwards.

        Raises
        ------
        InvalidParamError
            No such mode (107000).
        DeviceMismatchError
            The stream does not belong to the current context (107003).

        Notes
        -----
        Returns at once, unless the queue is full; releases the GIL. Products: 950.
        """
        cdef abi.aclrtCntNotifyWaitInfo info
        cdef void *queue = queue_of(stream)
        self.use()
        memset(&info, 0, sizeof(info))
        info.mode = <abi.aclrtCntNotifyWaitMode><int>PyNumber_Index(mode)
        info.value = PyNumber_Index(value)
        info.timeout = whole_seconds(timeout)
        info.isClear = clear
        with nogil:
            check_on(
                stream, acl.aclrtCntNotifyWaitWithTimeout(self._handle, queue, &info), "aclrtCntNotifyWaitWithTimeout"
            )
        keep_recorded(stream, self)

    def reset(self, Stream stream=None, /):
        """Set the number to 0 when the stream gets here (``aclrtCntNotifyReset``). Releases the GIL. Products: 950."""
        cdef void *queue = queue_of(stream)
        self.use()
        with nogil: check_on(stream, acl.aclrtCntNotifyReset(self._handle, queue), "aclrtCntNotifyReset")
        keep_recorded(stream, self)

    @property
    def id(self):
        """Number of the count notify on its device (``aclrtCntNotifyGetId``)."""
        cdef uint32_t number
        self.use()
        check(acl.aclrtCntNotifyGetId(self._handle, &number), "aclrtCntNotifyGetId")
        return number

    def close(self):
        """Destroy the count notify (``aclrtCntNotifyDestroy``). Never blocks long."""
        cdef void *handle = self._handle
        cdef abi.aclError code = 0
        if self._closed:
            return
        self.use()
        self._closed = True  # before the GIL is released: nobody else may start to use it
        if self._owned and not self.is_orphan():
            with nogil:
                code = acl.aclrtCntNotifyDestroy(handle)
        self._parent = None
        if not is_gone(code):
            check(code, "aclrtCntNotifyDestroy")

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtCntNotifyDestroy(self._handle)
