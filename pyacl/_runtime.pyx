# cython: language_level=3
"""The function table in Cython, the runtime that answers, initialisation and shutdown.

Importing loads nothing. The first call does, through the table's own entries (csrc/runtime/load.c).
"""
import atexit
import os
import threading
import warnings
import weakref

from pyacl.errors import AclError, EmulatedRuntimeWarning, ForkedError, NotSupportedError, RuntimeNotFoundError, make_error

cdef extern from "load.h" nogil:
    enum:
        PYACL_NO_RUNTIME
        PYACL_ABSENT_FUNCTION
    ctypedef struct PyaclRuntime:
        const char *kind
        int asked_for
        char *path
        char *reason
        char *candidates
    void pyacl_bind(AclTable *table, const char *emulator_path, void (*loaded)() noexcept nogil)
    void pyacl_load()
    const char *pyacl_absent_name()
    const PyaclRuntime *pyacl_runtime()

cdef extern from "Python.h" nogil:
    int Py_AddPendingCall(int (*function)(void *) except -1 with gil, void *argument)

cdef extern from "pthread.h" nogil:
    ctypedef unsigned long pthread_t
    pthread_t pthread_self()
    int pthread_atfork(void (*prepare)() noexcept nogil, void (*parent)() noexcept nogil, void (*child)() noexcept nogil)

from libc.stdint cimport int32_t, uint32_t
from pyacl.acl cimport ACL_ERROR_REPEAT_INITIALIZE

PACKAGE = os.path.dirname(os.path.abspath(__file__))
EMULATOR = os.path.join(PACKAGE, "lib", "libpyacl_emulator.so")


# ---- errors ----

cdef object error_observer = None


cdef int raise_internal(aclError code, const char *call) except -1:
    if code == PYACL_NO_RUNTIME:
        raise RuntimeNotFoundError(pyacl_runtime().reason.decode())
    name = (<bytes>pyacl_absent_name()).decode()
    raise NotSupportedError(
        code, name, f"the runtime at {runtime.path} (version {runtime.version}) has no function {name}"
    )


cdef int raise_error(aclError code, const char *call) except -1:
    """Raise for `code`, with the runtime's own message, read at once on the thread of the failing call."""
    if code < 0:
        return raise_internal(code, call)
    cdef const char *text = acl.aclGetRecentErrMsg()
    message = "" if text is NULL else (<bytes>text).decode("utf-8", "replace")
    error = make_error(code, (<bytes>call).decode(), message)
    if error_observer is not None:
        error_observer(error)
    raise error


# ---- which runtime ----

class Runtime:
    """The runtime that answers. Reading any property loads it if that has not happened yet.

    Attributes
    ----------
    kind : str
        ``"cann"`` or ``"emulator"``.
    path : str
        The library file.
    reason : str
        Why this one was chosen, in a sentence.
    candidates : list of str
        Every library looked at, with the verdict.
    version : str
        Of the ACL interface, e.g. ``"1.17.0"``; ``"unknown"`` when the library does not tell.
    soc : str or None
        SoC name of the device, e.g. ``"Ascend910B3"``. Initialises nothing.
    device_count : int
        Visible devices. Initialises nothing.

    Raises
    ------
    RuntimeNotFoundError
        From every property but `candidates`, when no runtime could be loaded.
    """

    def _load(self):
        with nogil:
            pyacl_load()
        if pyacl_runtime().kind is NULL:
            raise RuntimeNotFoundError(pyacl_runtime().reason.decode())

    @property
    def kind(self):
        self._load()
        return pyacl_runtime().kind.decode()

    @property
    def path(self):
        self._load()
        return (<bytes>pyacl_runtime().path).decode()

    @property
    def reason(self):
        self._load()
        return (<bytes>pyacl_runtime().reason).decode()

    @property
    def candidates(self):
        with nogil:
            pyacl_load()
        return (<bytes>pyacl_runtime().candidates).decode("utf-8", "replace").splitlines()

    @property
    def version(self):
        self._load()
        cdef int32_t major, minor, patch
        if acl.aclrtGetVersion(&major, &minor, &patch) != 0:
            return "unknown"
        return f"{major}.{minor}.{patch}"

    @property
    def soc(self):
        self._load()
        cdef const char *name = acl.aclrtGetSocName()
        return None if name is NULL else (<bytes>name).decode()

    @property
    def device_count(self):
        self._load()
        cdef uint32_t count = 0
        with nogil:
            code = acl.aclrtGetDeviceCount(&count)
        return count if code == 0 else 0

    def __repr__(self):
        return f"<pyacl.runtime {self.kind} {self.version}, {self.soc}, {self.path}>"


runtime = Runtime()


cdef bint expected = False  # somebody uses the emulator's own controls


def expect_emulator():
    """No warning that the emulator answers: it is wanted."""
    global expected
    expected = True


cdef void on_loaded() noexcept nogil:
    # Under the lock of the loader, which another thread may wait for with the GIL: taking it here could be for ever.
    if pyacl_runtime().kind is not NULL and not pyacl_runtime().asked_for:
        Py_AddPendingCall(warn_if_emulated, NULL)


cdef int warn_if_emulated(void *nothing) except -1 with gil:
    if not expected and runtime.kind == "emulator":
        warnings.warn(
            f"no NPU here ({runtime.reason}): pyacl runs on its emulator, {runtime.soc}. "
            "Set PYACL_RUNTIME=emulator to say that this is meant.",
            EmulatedRuntimeWarning,
            stacklevel=1,  # compiled code has no frame: this is the caller's
        )
    return 0


# ---- initialisation and shutdown ----

cdef bint initialized = False      # aclInit has been seen to
cdef unsigned int initialized_in = 0  # which process, as fork_generation counts them
cdef bint ours = False             # and it was we who did it
cdef bint finalizing = False
fork_generation = 1
cdef pthread_t main_thread = 0


cdef bint is_finalizing() noexcept nogil:
    return finalizing


cdef bint on_main_thread() noexcept nogil:
    return pthread_self() == main_thread


cdef void after_fork_in_child() noexcept nogil:
    global fork_generation, main_thread
    fork_generation += 1
    main_thread = pthread_self()  # whichever thread forked is the only one here


cdef object initializing = threading.Lock()


cdef int ensure_initialized() except -1:
    """Call aclInit once per process. 100002 means that somebody else owns it: then we never finalize."""
    global initialized, initialized_in, ours
    cdef aclError code
    if initialized:
        return require_same_process()
    with initializing:
        if initialized:
            return require_same_process()
        with nogil:
            code = acl.aclInit(NULL)
        if code != 0 and code != ACL_ERROR_REPEAT_INITIALIZE:
            return raise_error(code, "aclInit")
        ours = code == 0
        initialized = True
        initialized_in = fork_generation
    return 0


cdef int require_same_process() except -1:
    """The runtime's threads do not survive a fork. A child can use it only if its parent had not begun to."""
    if initialized_in == fork_generation:
        return 0
    raise ForkedError(
        "the runtime was in use before this process was forked, and does not work in the child: start processes with "
        "multiprocessing's \"spawn\" or \"forkserver\""
    )


# Objects that hold something of the runtime, ended at exit in the order of their ranks.
_live = weakref.WeakSet()


def register(thing):
    """Have `thing._end()` called at interpreter exit, by `thing._exit_rank`, smallest first."""
    _live.add(thing)


class StillBusy(Exception):
    """Raised by an `_end` that would wait for ever: everything is left to the operating system then."""


def _shut_down():
    global finalizing
    if initialized_in != fork_generation:  # never used, or used by the process that this one was forked from
        finalizing = True
        return
    try:
        for thing in sorted(_live, key=lambda thing: thing._exit_rank):
            try:
                thing._end()
            except AclError:  # at exit a leak is better than a crash or a traceback about it
                pass
    except StillBusy:
        finalizing = True
        return
    finalizing = True
    if ours:
        with nogil:
            acl.aclFinalize()


atexit.register(_shut_down)
pthread_atfork(NULL, NULL, after_fork_in_child)
if threading.current_thread() is threading.main_thread():
    main_thread = pthread_self()
pyacl_bind(&acl, os.fsencode(EMULATOR), on_loaded)
