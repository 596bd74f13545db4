# cython: language_level=3
"""The one place that decides whether a launch, record or wait keeps the GIL.

Releasing it costs 30 to 80 ns, as much as the call itself, and worse: with a busy Python thread beside, CPython hands the
GIL over for its switch interval each time, and the launch rate falls a hundredfold. Keeping it while a call blocks
stops every Python thread, and for ever if the stream can only drain through a Python callback. A submission blocks when the
stream's queue is full, or in launch-blocking mode. So the GIL is kept only while neither can be:

- fewer than `ROOM` tasks were submitted since the stream was last seen idle. The smallest queue observed on a board took
  1,792 tasks (A2, A3), though the documents promise 2,013; ROOM stays well below.
- the stream was made by this class (who else submits to a borrowed one is not known), is not in launch-blocking mode,
  and has no Python function queued that was not seen done.

When the room is used up the stream is asked, for at most `PATIENCE_US`: a device that runs short tasks has done ROOM of them
by then, and a released GIL can be gone for the 5 ms of a switch interval. If the stream is still busy, this submission and
those that follow release the GIL, without asking for long, until it is seen idle.

``PYACL_LAUNCH_GIL`` forces ``release`` (always) or ``hold`` (never, even where it can deadlock: for measuring); the
default is ``auto``. Read once, at import.
"""
import os

from libc.stdint cimport uint64_t

from pyacl cimport acl as abi
from pyacl._runtime cimport acl

cdef extern from "waiter.h" nogil:
    ctypedef int (*DoneQuestion)(void *subject) noexcept nogil
    int pyacl_poll(DoneQuestion question, void *subject, int spin, uint64_t limit_us)

cdef enum:
    PATIENCE_US = 200

cdef enum Policy:
    AUTO
    RELEASE
    HOLD

POLICIES = {"auto": AUTO, "release": RELEASE, "hold": HOLD}


cdef Policy read_policy() except *:
    text = os.environ.get("PYACL_LAUNCH_GIL", "auto") or "auto"
    if text not in POLICIES:
        raise ValueError(f"PYACL_LAUNCH_GIL={text} is none of {', '.join(POLICIES)}")
    # With this variable every launch waits for its stream.
    if text == "auto" and os.environ.get("ASCEND_RT_LAUNCH_BLOCKING") == "1":
        return RELEASE
    return POLICIES[text]


cdef Policy policy = read_policy()


cdef void open_room(Room *room, bint trusted) noexcept:
    room.left = 0
    room.untrusted = policy == RELEASE or not (trusted or policy == HOLD and not room.recorded)


cdef int is_idle(void *stream) noexcept nogil:
    cdef abi.aclrtStreamStatus status
    return acl.aclrtStreamQuery(stream, &status) == 0 and status == abi.ACL_STREAM_STATUS_COMPLETE


cdef bint look_for_room(Room *room, void *stream) noexcept:
    if policy == HOLD:
        return True
    room.impatient = not pyacl_poll(is_idle, stream, True, 0 if room.impatient else PATIENCE_US)
    if room.impatient:
        return False
    room.left = ROOM - 1
    return True
