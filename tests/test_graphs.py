"""Captured models: streams recorded by ``with stream.capture()``, replayed, branched, changed, drawn; and every way in
which a capture fails."""

import ctypes
import gc
import json
import sys
import threading
import weakref

import numpy as np
import pytest

import pyacl
from pyacl import CaptureMode, CaptureStatus, EventFlag, TaskType

TURNS = 10_000


def counter(value=0):
    return pyacl.DeviceBuffer(np.array([value], np.uint64))


def value_of(buffer):
    return int(buffer.to_numpy(np.uint64)[0])


@pytest.fixture
def log(device):
    return Log()


class Log:
    """What `append` kernels write: the order in which they ran."""

    def __init__(self):
        self.memory = pyacl.DeviceBuffer(np.zeros(64, np.uint64))

    def take(self):
        numbers = self.memory.to_numpy(np.uint64)
        self.memory.fill(0)
        return numbers[1 : 1 + int(numbers[0])].tolist()


@pytest.fixture
def append(kernels, log):
    kernel = kernels("append")
    return lambda stream, number: kernel.launch(stream, 1, log.memory, number)


@pytest.fixture
def second(device):
    with pyacl.Stream() as stream:
        yield stream


def new_event():
    return pyacl.Event(EventFlag.SYNC, ex=True)


# ---- recording and replaying ----


def test_nothing_runs_until_the_replay(stream, kernels, acl_no_leaks):
    count, host, calls = counter(), pyacl.HostBuffer(np.zeros(1, np.uint64)), []
    with stream.capture() as graph:
        assert stream.capture_status is CaptureStatus.ACTIVE
        kernels("add_one").launch(stream, 1, count)
        count.copy_to_async(host, stream)
        stream.launch_host_func(calls.append, 1)
    assert stream.capture_status is CaptureStatus.NONE
    assert value_of(count) == 0
    with graph:
        for i in range(1, 4):
            graph.replay(stream)
            stream.synchronize(timeout=20)
            assert (value_of(count), int(host.numpy(np.uint64)[0]), len(calls)) == (i, i, i)
    count.close()
    host.close()


def test_arguments_are_captured_by_value(stream, append, log):
    number = np.array([5], np.uint64)
    with stream.capture() as graph:
        append(stream, int(number[0]))
        number[0] = 6
    graph.replay(stream)
    stream.synchronize(timeout=20)
    assert log.take() == [5]


def test_streams_fork_and_join(stream, second, append, log):
    forked, joined = new_event(), new_event()
    with stream.capture() as graph:
        append(stream, 1)
        forked.record(stream)
        second.wait(forked)
        assert second.capture_status is CaptureStatus.ACTIVE
        append(second, 2)
        joined.record(second)
        stream.wait(joined)
        append(stream, 3)
    for _ in range(20):
        graph.replay(second)
        second.synchronize(timeout=20)
        assert log.take() == [1, 2, 3]


def test_a_replay_needs_no_gil(stream, kernels):
    """While one call of Python's holds the GIL, the device goes through all of it."""
    count = counter()
    with stream.capture() as graph:
        for _ in range(1000):
            kernels("add_one").launch(stream, 1, count)
    graph.replay(stream)
    ctypes.PyDLL(None).usleep(500_000)  # PyDLL: with the GIL
    assert stream.query()
    stream.synchronize(timeout=20)
    assert value_of(count) == 1000


def test_what_the_tasks_use_lives_as_long_as_the_graph(stream, kernels, acl_no_leaks):
    count = counter()
    with stream.capture() as graph:
        kernels("add_one").launch(stream, 1, count)
    alive = weakref.ref(count)
    del count
    gc.collect()
    graph.replay(stream)
    stream.synchronize(timeout=20)
    assert value_of(alive()) == 1
    graph.close()
    gc.collect()
    assert alive() is None


def test_a_graph_lives_until_its_replays_are_over(stream, kernels, gate):
    count = counter()
    with stream.capture() as graph:
        kernels("add_one").launch(stream, 1, count)
    gate.close(stream)
    graph.replay(stream)
    del graph
    gc.collect()
    gate.open()
    stream.synchronize(timeout=20)
    assert value_of(count) == 1


def test_a_capture_of_another_stream_goes_on_beside_it(stream, second, append, log):
    with stream.capture(CaptureMode.THREAD_LOCAL) as one:
        with second.capture(CaptureMode.THREAD_LOCAL) as two:
            append(second, 2)
        append(stream, 1)
    one.replay(stream)
    two.replay(stream)
    stream.synchronize(timeout=20)
    assert log.take() == [1, 2]


def test_graphs_are_replayed_not_executed(stream):
    with stream.capture() as graph:
        pass
    with pytest.raises(pyacl.InvalidParamError) as caught:
        graph.execute(timeout=1)
    assert caught.value.code == 107000


def test_external_events_order_replays(stream, second, append, log, gate):
    event = new_event()
    with stream.capture() as first:
        gate.close(stream)
        append(stream, 1)
        event.record(stream, external=True)
    with second.capture() as then:
        second.wait(event, external=True)
        append(second, 2)
    first.replay(stream)
    then.replay(second)
    gate.open()
    second.synchronize(timeout=20)
    assert log.take() == [1, 2]


# ---- captures that fail ----


def test_an_exception_in_the_block_ends_the_capture(stream, append, log, acl_no_leaks):
    with pytest.raises(KeyError), stream.capture() as graph:
        append(stream, 1)
        raise KeyError
    assert stream.capture_status is CaptureStatus.NONE
    with pytest.raises((pyacl.ClosedError, RuntimeError)):
        graph.replay(stream)
    append(stream, 2)
    stream.synchronize(timeout=20)
    assert log.take() == [2]


def test_a_stream_that_does_not_come_back(stream, second, append):
    event = new_event()
    with pytest.raises(pyacl.CaptureError) as caught, stream.capture():
        event.record(stream)
        second.wait(event)
        append(second, 1)
    assert caught.value.code == 107025
    assert caught.value.call == "aclmdlRICaptureEnd"
    second.synchronize(timeout=20)


def test_the_call_that_broke_the_capture_is_named(stream, second):
    """Also if the program swallowed its error: with the file and the line of the Python call."""
    event = new_event()
    with pytest.raises(pyacl.CaptureError) as caught, stream.capture():
        event.record(stream)
        with pytest.raises(pyacl.CaptureError) as own, second.capture():
            try:
                second.wait(event)
                line = 0
            except pyacl.CaptureError as error:
                assert error.code == 107032
                line = error.__traceback__.tb_lineno
    for error in (own.value, caught.value):
        assert error.code == 507903
        assert "aclrtStreamWaitEvent" in str(error)
        assert "107032" in str(error)
        assert f"{__file__}" in str(error)
        assert str(line) in str(error)


def test_an_error_that_leaves_the_block_names_its_place(stream):
    with pytest.raises(pyacl.CaptureError) as caught, stream.capture():
        stream.synchronize()
    assert caught.value.code == 107027
    assert "aclrtSynchronizeStream" in str(caught.value)
    assert __file__ in str(caught.value)


def test_a_joined_stream_cannot_begin_another_capture(stream, second):
    event, back = new_event(), new_event()
    with stream.capture() as graph:
        event.record(stream)
        second.wait(event)
        with pytest.raises(pyacl.CaptureError) as caught, second.capture():
            pass
        assert caught.value.code == 107027
        back.record(second)
        stream.wait(back)
    graph.replay(stream)
    stream.synchronize(timeout=20)


def test_an_event_from_outside(stream):
    event = new_event()
    event.record(stream)
    with stream.capture():
        with pytest.raises(pyacl.CaptureError) as caught:
            stream.wait(event)
        assert caught.value.code == 107024


def test_a_captured_event_cannot_be_asked(stream):
    event = new_event()
    with stream.capture():
        event.record(stream)
        for ask in (event.query, event.synchronize, lambda: event.elapsed_ms(event)):
            with pytest.raises(pyacl.CaptureError) as caught:
                ask()
            assert caught.value.code == 107028
    event.record(stream)
    event.synchronize(timeout=20)


def test_the_default_stream_is_not_captured(device, stream):
    with pytest.raises(pyacl.AclError) as caught, pyacl.Stream.default().capture():
        pass
    assert caught.value.code in (100000, 207000)
    event = new_event()
    with stream.capture():
        event.record(stream)
        with pytest.raises(pyacl.CaptureError) as caught:
            pyacl.Stream.default().wait(event)
        assert caught.value.code == 107031


def test_synchronous_copies_are_refused_as_the_mode_says(stream):
    count = counter()
    with stream.capture(CaptureMode.GLOBAL):
        with pytest.raises(pyacl.CaptureError) as caught:
            count.copy_from(np.ones(1, np.uint64))
        assert caught.value.code == 107030
        with pyacl.capture_thread_mode(CaptureMode.RELAXED) as before:
            assert before is CaptureMode.GLOBAL
            count.copy_from(np.full(1, 3, np.uint64))
            assert value_of(count) == 3
    with stream.capture(CaptureMode.RELAXED):
        count.copy_from(np.full(1, 4, np.uint64))
    with stream.capture(CaptureMode.GLOBAL, thread_mode=CaptureMode.RELAXED):
        count.copy_from(np.full(1, 5, np.uint64))
    with pyacl.capture_thread_mode(CaptureMode.GLOBAL) as before:
        assert before is CaptureMode.GLOBAL  # the block gave it back
    assert value_of(count) == 5


def test_another_thread_cannot_end_it(stream):
    capture, errors = stream.capture(), []
    capture.__enter__()

    def end():
        pyacl.Device(0)
        try:
            capture.__exit__(None, None, None)
        except pyacl.CaptureError as error:
            errors.append(error.code)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert errors == [107038]
    assert stream.capture_status is CaptureStatus.NONE


def capture_everything(stream, second, inner, kernels, memory, host):
    """A capture with a call of every kind; the graph is replayed and closed."""
    forked, joined = new_event(), new_event()
    add_one = kernels("add_one")
    with stream.capture(CaptureMode.RELAXED) as graph:
        add_one.launch(stream, 1, memory)
        memory.copy_to_async(host, stream)
        memory[8:].fill(1, stream)
        forked.record(stream)
        second.wait(forked)
        add_one.launch(second, 1, memory)
        joined.record(second)
        stream.wait(joined)
        with graph.task_group():
            add_one.launch(stream, 1, memory)
        branch = graph.when(graph.condition(1))
        with branch.capture(inner, CaptureMode.RELAXED):
            add_one.launch(inner, 1, memory)
    with graph:
        graph.replay(stream)
        stream.synchronize(timeout=20)


CAPTURE_CALLS = {
    "aclmdlRICaptureThreadExchangeMode": 4,
    "aclmdlRICaptureBegin": 1,
    "aclrtLaunchKernelWithHostArgs": 4,
    "aclrtMemcpyAsync": 1,
    "aclrtMemsetAsync": 1,
    "aclrtRecordEvent": 2,
    "aclrtStreamWaitEvent": 2,
    "aclmdlRICaptureTaskGrpBegin": 1,
    "aclmdlRICaptureTaskGrpEnd": 1,
    "aclmdlRICondHandleCreate": 1,
    "aclmdlRIAddCondTask": 1,
    "aclmdlRICaptureToModelRIBegin": 1,
    "aclmdlRICaptureEnd": 2,
    "aclmdlRIExecuteAsync": 1,
}


@pytest.mark.parametrize(
    ("api", "nth"), [(api, nth) for api, count in CAPTURE_CALLS.items() for nth in range(1, count + 1)]
)
def test_a_failure_at_any_call_leaves_all_usable(stream, second, kernels, acl_emulator, acl_no_leaks, api, nth):
    code = 507899
    with (
        pyacl.Stream() as inner,
        pyacl.DeviceBuffer(np.zeros(2, np.uint64)) as memory,
        pyacl.HostBuffer(np.zeros(2, np.uint64)) as host,
    ):
        acl_emulator.fail_call(api, code, nth)
        with pytest.raises(pyacl.AclError) as caught:
            capture_everything(stream, second, inner, kernels, memory, host)
        assert api in str(caught.value), caught.value
        assert str(code) in str(caught.value)
        for each in (stream, second, inner):
            assert each.capture_status is CaptureStatus.NONE
            each.synchronize(timeout=20)
        with pyacl.capture_thread_mode(CaptureMode.GLOBAL) as mode:
            assert mode is CaptureMode.GLOBAL
        memory.fill(0)
        capture_everything(stream, second, inner, kernels, memory, host)  # all works again
        assert memory.to_numpy(np.uint64)[0] == 4
        caught = None
        gc.collect()


# ---- conditions ----


def test_if_and_else(stream, second, append, log):
    with stream.capture(CaptureMode.RELAXED) as graph:
        condition = graph.condition(1)
        then, otherwise = graph.when_else(condition)
        with then.capture(second, CaptureMode.RELAXED):
            append(second, 1)
        with otherwise.capture(second, CaptureMode.RELAXED):
            append(second, 2)
        condition.cell.fill(0, stream)  # behind the decision; each replay begins with 1 again
    for _ in range(3):
        graph.replay(stream)
        stream.synchronize(timeout=20)
        assert log.take() == [1]
    assert [branch.name for branch in graph.branches] == ["then", "else"]


def test_a_switch(stream, second, append, log):
    with stream.capture(CaptureMode.RELAXED) as graph:
        condition = graph.condition(reset=False)
        for number, branch in enumerate(graph.switch(condition, 3)):
            with branch.capture(second, CaptureMode.RELAXED):
                append(second, number)
    for choice in (2, 0, 1, 3):
        condition.cell.copy_from(np.array([choice], np.uint64))
        graph.replay(stream)
        stream.synchronize(timeout=20)
        assert log.take() == ([choice] if choice < 3 else [])


def test_a_loop_that_the_device_ends(stream, second, kernels):
    """The body counts up until the number wraps to 0."""
    count, start = counter(), counter(2**64 - TURNS)
    with stream.capture(CaptureMode.RELAXED) as graph:
        condition = graph.condition(reset=False)
        condition.cell.copy_from_async(start, stream)
        with graph.loop(condition).capture(second, CaptureMode.RELAXED):
            kernels("add_one").launch(second, 1, count)
            kernels("add_one").launch(second, 1, condition.cell)
    graph.replay(stream)
    stream.synchronize(timeout=60)
    assert value_of(count) == TURNS


def test_a_branch_left_open(stream, second):
    with pytest.raises(pyacl.CaptureError) as caught, stream.capture(CaptureMode.RELAXED) as graph:
        graph.when(graph.condition(1)).capture(second, CaptureMode.RELAXED).__enter__()
    assert caught.value.code == 107045
    assert second.capture_status is CaptureStatus.NONE


# ---- changes ----


def test_a_group_is_updated_in_stream_order(stream, append, log):
    with stream.capture() as graph:
        append(stream, 1)
        with graph.task_group() as group:
            append(stream, 2)
            append(stream, 3)
        append(stream, 4)
    graph.replay(stream)
    with group.update(stream):
        append(stream, 20)
        append(stream, 30)
    graph.replay(stream)
    stream.synchronize(timeout=20)
    assert log.take() == [1, 2, 3, 4, 1, 20, 30, 4]


def test_an_update_with_another_number_of_tasks(stream, append, log):
    with stream.capture() as graph:
        with graph.task_group() as group:
            append(stream, 1)
    with pytest.raises(pyacl.RuntimeFailure) as caught, group.update(stream):
        append(stream, 2)
        append(stream, 3)
    assert caught.value.code == 507000
    graph.replay(stream)
    stream.synchronize(timeout=20)
    assert log.take() == [1]


def test_tasks_tell_what_they_are_and_take_new_parameters(stream, kernels, append, log):
    count = counter()
    with stream.capture() as graph:
        append(stream, 1)
        append(stream, 2)
        count.fill(0, stream)
    first, second, fill = graph.tasks
    assert [task.type for task in graph.tasks] == [TaskType.KERNEL, TaskType.KERNEL, TaskType.DEFAULT]
    assert [task.sequence_id for task in graph.tasks] == [0, 1, 2]
    assert first.blocks == 1
    assert np.frombuffer(first.arguments, np.uint64).tolist() == [log.memory.data_ptr(), 1]
    assert fill.kernel is None
    assert fill.arguments is None
    first.set_kernel(kernels("append").bind("p u64"), log.memory, 7)
    second.disable()
    graph.replay(stream)
    stream.synchronize(timeout=20)
    assert log.take() == [1, 2]  # not yet
    graph.update()
    graph.replay(stream)
    stream.synchronize(timeout=20)
    assert log.take() == [7]
    with pytest.raises(pyacl.InvalidParamError):
        fill.set_kernel(kernels("append").bind("p u64"), log.memory, 7)


# ---- looking at it ----


def forked_graph(stream, second, append):
    forked, joined = new_event(), new_event()
    with stream.capture() as graph:
        append(stream, 1)
        forked.record(stream)
        second.wait(forked)
        append(second, 2)
        joined.record(second)
        stream.wait(joined)
    return graph


def test_a_drawing(stream, second, append):
    graph = forked_graph(stream, second, append)
    graph.name = 'the "forked" one'
    dot = graph.to_dot()
    assert dot.startswith('digraph "the \\"forked\\" one" {')
    assert dot.count("subgraph cluster_") == 2
    assert dot.count("append\\n1 blocks") == 2
    assert dot.count("[style=dashed]") == 2  # the fork and the join
    assert dot.count("{") == dot.count("}")


def test_json(stream, second, append, tmp_path):
    graph = forked_graph(stream, second, append)
    graph.name = "näme"
    path = tmp_path / "graph.json"
    graph.dump_json(path, pyacl.DebugJsonFlag.VERBOSE)
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["name"] == "näme"
    one, two = told["streams"]
    assert [task["type"] for task in one["tasks"]] == ["kernel", "event record", "event wait"]
    assert one["tasks"][2]["after"] == {"stream": two["id"], "index": 2}
    assert bytes.fromhex(two["tasks"][1]["args"])[8:] == (2).to_bytes(8, sys.byteorder)
    with pytest.raises(pyacl.InvalidParamError):
        graph.dump_json(path, 2)


def test_printing(stream, second, append, capfd):
    forked_graph(stream, second, append).debug_print()
    assert len(json.loads(capfd.readouterr().out)["streams"]) == 2
