# cython: language_level=3, boundscheck=False
"""The calls that `pyacl bench` measures, made from C: the floor that every binding stands on.

They go through the same function table as the classes. Return codes are not looked at inside the loops; the benchmark
synchronizes and checks its streams afterwards.
"""
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from pyacl._runtime cimport acl
from pyacl.acl cimport aclrtEvent, aclrtFuncHandle, aclrtStream, aclrtStreamStatus

cdef enum:
    MAX_ARGS = 16

cdef struct Operands:
    aclrtStream stream
    aclrtEvent event
    aclrtFuncHandle function
    uint32_t flags
    uint64_t args[MAX_ARGS]
    size_t args_size

ctypedef void (*Call)(Operands *on) noexcept nogil


cdef void nothing(Operands *on) noexcept nogil:
    pass


cdef void create_destroy(Operands *on) noexcept nogil:
    cdef aclrtStream stream
    acl.aclrtCreateStreamWithConfig(&stream, 0, on.flags)
    acl.aclrtDestroyStream(stream)


cdef void create_launch_destroy(Operands *on) noexcept nogil:
    cdef aclrtStream stream
    acl.aclrtCreateStreamWithConfig(&stream, 0, on.flags)
    acl.aclrtLaunchKernelWithHostArgs(on.function, 1, stream, NULL, on.args, on.args_size, NULL, 0)
    acl.aclrtSynchronizeStream(stream)
    acl.aclrtDestroyStream(stream)


cdef void launch(Operands *on) noexcept nogil:
    acl.aclrtLaunchKernelWithHostArgs(on.function, 1, on.stream, NULL, on.args, on.args_size, NULL, 0)


cdef void query(Operands *on) noexcept nogil:
    cdef aclrtStreamStatus status
    acl.aclrtStreamQuery(on.stream, &status)


cdef void record(Operands *on) noexcept nogil:
    acl.aclrtRecordEvent(on.event, on.stream)


cdef void synchronize(Operands *on) noexcept nogil:
    acl.aclrtSynchronizeStream(on.stream)


cdef void launch_synchronize(Operands *on) noexcept nogil:
    launch(on)
    acl.aclrtSynchronizeStream(on.stream)


cdef double now_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1e9 + now.tv_nsec


cdef double time_calls(Call call, Operands *on, int n) noexcept nogil:
    cdef double start = now_ns()
    cdef int i
    for i in range(n):
        call(on)
    return now_ns() - start


cdef class CLoops:
    """One stream, event and kernel, and C loops over the calls on them.

    Parameters
    ----------
    stream, event, function : int
        Handles.
    flags : int
        Stream flags for the loops that create streams.
    arg_count : int
        8-byte kernel arguments per launch, 0 to 16. (A launch without arguments passes one that the kernel ignores:
        the runtime refuses an empty block.)
    """

    cdef Operands on

    def __init__(self, stream, event, function, flags=0, arg_count=4):
        if not 0 <= arg_count <= MAX_ARGS:
            raise ValueError(f"arg_count {arg_count} is not in 0..{MAX_ARGS}")
        self.on.stream = <aclrtStream><uintptr_t>stream
        self.on.event = <aclrtEvent><uintptr_t>event
        self.on.function = <aclrtFuncHandle><uintptr_t>function
        self.on.flags = flags
        self.on.args_size = 8 * max(arg_count, 1)

    cdef double _time(self, Call call, int n):
        cdef double elapsed
        with nogil:
            elapsed = time_calls(call, &self.on, n)
        return elapsed

    def nothing(self, int n):
        """ns for `n` empty calls: what the loop itself costs."""
        return self._time(nothing, n)

    def create_destroy(self, int n):
        return self._time(create_destroy, n)

    def create_launch_destroy(self, int n):
        return self._time(create_launch_destroy, n)

    def launch(self, int n):
        return self._time(launch, n)

    def query(self, int n):
        return self._time(query, n)

    def record(self, int n):
        return self._time(record, n)

    def synchronize(self, int n):
        return self._time(synchronize, n)

    def launch_synchronize(self, int n):
        return self._time(launch_synchronize, n)
