# cython: language_level=3, binding=False, embedsignature=True
"""What all classes that stand for a handle have in common: owning, borrowing, closing, and whose child they are."""
from cpython.dict cimport PyDict_GetItem
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uintptr_t

from pyacl._runtime cimport acl, fork_generation, is_finalizing

from pyacl.errors import ClosedError, ForkedError

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()

cdef object CURRENT = "pyacl.current"


cdef enum:
    MOST_DEVICES = 256

# How often each device was reset in this process.
cdef unsigned int resets[MOST_DEVICES]


cdef void note_reset(int32_t device) noexcept:
    if 0 <= device < MOST_DEVICES:
        resets[device] += 1


cdef object current_parent():
    cdef PyObject *state = PyThreadState_GetDict()
    if state is NULL:
        return None
    cdef PyObject *found = PyDict_GetItem(<dict>state, CURRENT)
    return None if found is NULL else <object>found


cdef int set_current_parent(object parent) except -1:
    cdef PyObject *state = PyThreadState_GetDict()
    if state is not NULL:
        (<dict>state)[CURRENT] = parent
    return 0


cdef class Handle:
    """A handle of the runtime.

    Made by calling the class: owned, destroyed by `close`, at the end of a ``with`` block, or with the last reference.
    Made by ``from_handle``: borrowed, never destroyed.
    """

    cdef int refuse(self) except -1:
        if self._generation != fork_generation:
            raise ForkedError(f"this {type(self).__name__} was made before a fork; make a new one in this process")
        raise ClosedError(f"this {type(self).__name__} is closed")

    cdef void adopt(self, void *handle, bint owned, object parent):
        self._handle = handle
        self._owned = owned
        self._parent = parent
        self._closed = False
        self._generation = fork_generation
        self._device = -1
        if owned and acl.aclrtGetDevice(&self._device) == 0 and self._device < MOST_DEVICES:
            self._resets = resets[self._device]

    cdef bint is_orphan(self) noexcept:
        return 0 <= self._device < MOST_DEVICES and self._resets != resets[self._device]

    cdef bint must_destroy(self) noexcept:
        if not self._owned or self._closed or self._generation != fork_generation or is_finalizing():
            return False
        return not self.is_orphan()

    def __cinit__(self):
        self._closed = True  # until the runtime has given a handle

    @property
    def handle(self):
        """The handle as C sees it, an int."""
        self.use()
        return <uintptr_t>self._handle

    @property
    def closed(self):
        """Whether `close` was called."""
        return self._closed

    @property
    def owned(self):
        """Whether `close` destroys the handle: False for one that was borrowed."""
        return self._owned

    def __enter__(self):
        self.use()
        return self

    def __exit__(self, *exc):
        self.close()

    def __eq__(self, other):
        if not isinstance(other, Handle):
            return NotImplemented
        return type(self) is type(other) and self._handle == (<Handle>other)._handle and self._closed == other.closed

    def __hash__(self):
        return hash((type(self), <uintptr_t>self._handle))

    def __repr__(self):
        state = "closed" if self._closed else f"0x{<uintptr_t>self._handle:x}"
        return f"<pyacl.{type(self).__name__} {state}{'' if self._owned else ', borrowed'}>"

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} belongs to its process and cannot be pickled")
