# When a submission keeps the GIL: see _gil.pyx.
cdef struct Room:
    int left         # submissions that may still keep the GIL
    bint untrusted   # never keep it on this stream
    bint recorded    # its tasks go into a model: even a forced hold would hide them from their keeper
    bint impatient   # the device was too far behind to wait for, when last asked

cdef enum:
    ROOM = 1024

# Starts the count anew; `recorded` comes before. `trusted`: nobody else submits to the stream, and a submission never waits for its task.
cdef void open_room(Room *room, bint trusted) noexcept
cdef bint look_for_room(Room *room, void *stream) noexcept

# A wait for the stream has just ended well.
cdef inline void seen_idle(Room *room) noexcept:
    room.left = 0 if room.untrusted else ROOM

# For submissions that release the GIL in any case.
cdef inline void count_submission(Room *room) noexcept:
    if room.left > 0:
        room.left -= 1

# Whether the submission that comes next may keep the GIL; counts it.
cdef inline bint keeps_gil(Room *room, void *stream) noexcept:
    if room.left > 0:
        room.left -= 1
        return True
    return False if room.untrusted else look_for_room(room, stream)
