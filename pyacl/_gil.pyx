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

When the room is used up the stream is asked, which never blocks; if it is not idle this submission releases the GIL.

``PYACL_LAUNCH_GIL`` forces ``release`` (always) or ``hold`` (never, even where it can deadlock: for measuring); the
default is ``auto``. Read once, at import.
"""
import os

from pyacl cimport acl as abi
from pyacl._runtime cimport acl

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
    room.untrusted = policy == RELEASE or not trusted


cdef bint look_for_room(Room *room, void *stream) noexcept:
    cdef abi.aclrtStreamStatus status = abi.ACL_STREAM_STATUS_NOT_READY
    if policy == HOLD:
        return True
    if room.untrusted:
        return False
    if acl.aclrtStreamQuery(stream, &status) != 0 or status != abi.ACL_STREAM_STATUS_COMPLETE:
        return False
    room.left = ROOM - 1
    return True
