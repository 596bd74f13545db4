"""Replays give what eager runs give: random programs of kernels, copies and fills on up to eight streams, ordered by
events wherever two of their tasks touch the same memory."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pyacl
from pyacl import EventFlag

STREAMS, BUFFERS, RESULTS, EVENTS = 8, 6, 2, 5
ELEMENTS = 32
BYTES = 4 * ELEMENTS
MOST_TASKS = 200

# Each number is a task; what it does is in its digits, so that a failing program shrinks number by number.
tasks = st.integers(0, 2**32 - 1)
programs = st.integers(1, MOST_TASKS).flatmap(lambda count: st.lists(tasks, min_size=count, max_size=count))


class Digits:
    def __init__(self, number):
        self.number = number

    def below(self, limit):
        self.number, digit = divmod(self.number, limit)
        return digit


class Machine:
    """The streams and the memory that all programs use, one after the other."""

    def __init__(self, kernels):
        self.streams = [pyacl.Stream() for _ in range(STREAMS)]
        self.events = [pyacl.Event(EventFlag.SYNC, ex=True) for _ in range(EVENTS)]
        self.memory = pyacl.DeviceBuffer(BUFFERS * BYTES)
        self.buffers = [self.memory[i * BYTES : (i + 1) * BYTES] for i in range(BUFFERS)]
        self.source = pyacl.HostBuffer(np.linspace(-1, 1, ELEMENTS, dtype=np.float32))
        self.results = [pyacl.HostBuffer(BYTES) for _ in range(RESULTS)]
        self.add = [kernels("vector_add").bind("p p p u64", stream=s) for s in self.streams]
        self.fill = [kernels("fill").bind("p u32 u64", stream=s) for s in self.streams]
        self.start = np.random.default_rng(1).normal(size=BUFFERS * ELEMENTS).astype(np.float32)

    def reset(self):
        self.memory.copy_from(self.start)
        for result in self.results:
            result.numpy()[:] = 0

    def state(self):
        return self.memory.to_numpy().tobytes() + b"".join(result.numpy().tobytes() for result in self.results)

    def close(self):
        for thing in (*self.streams, *self.events, self.memory, self.source, *self.results):
            thing.close()


class Submission:
    """Submits a program. Stream 0 is where it begins and ends; the others fork from one that is part of it already.

    What each stream is known to come behind is kept as a vector clock: an event is recorded and waited for exactly where
    two tasks touch the same memory, one of them writes, and nothing orders them yet.
    """

    def __init__(self, machine):
        self.machine = machine
        self.known = {0: [0] * STREAMS}  # stream -> how many tasks of each stream come before its next one
        self.written = [(0, 0)] * (BUFFERS + RESULTS)  # (stream, its number of tasks then)
        self.read = [[] for _ in range(BUFFERS + RESULTS)]
        self.next_event = 0

    def come_behind(self, stream, other):
        event = self.machine.events[self.next_event % EVENTS]
        self.next_event += 1
        event.record(self.machine.streams[other])
        self.machine.streams[stream].wait(event)
        mine = self.known.setdefault(stream, [0] * STREAMS)
        self.known[stream] = [max(pair) for pair in zip(mine, self.known[other])]

    def order(self, stream, reads, writes):
        before = [self.written[i] for i in (*reads, *writes)] + [access for i in writes for access in self.read[i]]
        for other, count in before:
            if self.known[stream][other] < count:
                self.come_behind(stream, other)
        self.known[stream][stream] += 1
        now = (stream, self.known[stream][stream])
        for i in reads:
            self.read[i].append(now)
        for i in writes:
            self.written[i], self.read[i] = now, []

    def submit(self, program):
        for number in program:
            self.task(Digits(number))
        for other in list(self.known):
            if self.known[0][other] < self.known[other][other]:
                self.come_behind(0, other)

    def task(self, digits):
        machine = self.machine
        stream, kind = digits.below(STREAMS), digits.below(7)
        x, y, z = (digits.below(BUFFERS) for _ in range(3))
        buffers, queue = machine.buffers, machine.streams[stream]
        if stream not in self.known:
            members = list(self.known)
            self.come_behind(stream, members[digits.below(len(members))])
        if kind == 0:
            self.order(stream, (x, y), (z,))
            machine.add[stream](buffers[x], buffers[y], buffers[z], ELEMENTS)
        elif kind == 1:
            self.order(stream, (), (z,))
            machine.fill[stream](buffers[z], digits.number % 2**32, ELEMENTS)
        elif kind == 2 and x != z:
            part = 4 * (1 + digits.below(ELEMENTS))
            self.order(stream, (x,), (z,))
            buffers[z][:part].copy_from_async(buffers[x][BYTES - part :], queue)
        elif kind == 3:
            self.order(stream, (), (z,))
            buffers[z].copy_from_async(machine.source, queue)
        elif kind == 4:
            result = x % RESULTS
            self.order(stream, (z,), (BUFFERS + result,))
            buffers[z].copy_to_async(machine.results[result], queue)
        elif kind == 5:
            self.order(stream, (), (z,))
            buffers[z].fill(digits.number % 256, queue)
        else:
            members = list(self.known)
            self.come_behind(stream, members[x % len(members)])  # also behind itself
            self.known[stream][stream] += 1  # a wait counts: the end has to come behind it


@pytest.fixture
def machine(kernels):
    machine = Machine(kernels)
    yield machine
    machine.close()


def eager(machine, program):
    machine.reset()
    Submission(machine).submit(program)
    machine.streams[0].synchronize(timeout=60)
    return machine.state()


def replayed(machine, graph, stream):
    machine.reset()
    graph.replay(stream)
    stream.synchronize(timeout=60)
    return machine.state()


@pytest.mark.timeout(300)
@settings(
    max_examples=1000, deadline=None, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(program=programs)
def test_replays_equal_eager_runs(machine, program):
    expected = eager(machine, program)
    with machine.streams[0].capture() as graph:
        Submission(machine).submit(program)
    with graph:
        assert replayed(machine, graph, machine.streams[0]) == expected
        assert replayed(machine, graph, machine.streams[1]) == expected


def test_the_programs_do_fork_and_compute(machine):
    """A check of the check: programs reach all streams and change the memory."""
    program = [int(n) for n in np.random.default_rng(7).integers(0, 2**32, MOST_TASKS)]
    machine.reset()
    before = machine.state()
    submission = Submission(machine)
    submission.submit(program)
    machine.streams[0].synchronize(timeout=60)
    assert len(submission.known) == STREAMS
    assert submission.next_event > 50
    assert machine.state() != before
