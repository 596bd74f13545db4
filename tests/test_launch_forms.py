"""The other ways to launch: configurations, arguments on the device or one by one, placeholders, SIMT; and what kernels tell."""

import ctypes
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import pyacl

KERNELS = """
#include <string.h>
#include "pyacl/kernel.h"
typedef struct Mixed { uint64_t *out; uint8_t small; float real; int16_t low; } Mixed;
/* Writes down what it got, each in a slot of its own. */
PYACL_KERNEL(mixed) {
    const unsigned char *bytes = args;
    uint64_t *out = *(uint64_t *const *)args;
    memcpy(out, bytes + 8, 24);
    out[3] = block->argsSize;
    return 0;
}
PYACL_KERNEL_PARAMS(mixed, 8, 1, 4, 2);
/* out[i] = table[i], where the table travelled with the arguments. */
PYACL_KERNEL(copy_table) {
    struct { uint64_t *out; const uint64_t *table; uint64_t n; } const *a = args;
    for (uint64_t i = 0; i < a->n; i++) { a->out[i] = a->table[i]; }
    return 0;
}
PYACL_KERNEL(mark) {
    uint32_t *const *out = args;
    (*out)[block->index] = block->count;
    return 0;
}
PYACL_KERNEL_PARAMS(mark, 8);
/* Runs until it is told to stop. */
PYACL_KERNEL(endless) {
    (void)args;
    while (!*block->cancelled) { }
    return 0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    (folder / "forms.c").write_text(KERNELS)
    command = ["gcc", "-O2", "-shared", "-fPIC", "-I", pyacl.get_include(), str(folder / "forms.c"), "-o", str(folder / "forms.so")]
    subprocess.run(command, check=True)
    return folder / "forms.so"


@pytest.fixture
def forms(device, library):
    with pyacl.Binary(library) as binary:
        yield binary


@pytest.fixture
def out(device):
    buffer = pyacl.DeviceBuffer(4096)
    buffer.fill(0)
    return buffer


def numbers(buffer, count):
    return buffer.to_numpy(np.uint64, count).tolist()


# ---- configurations ----

EVERYTHING = {"schedule_mode": 1, "engine": pyacl.EngineType.AIV, "dynamic_ubuf": 4096, "block_offset": 3, "timeout": 1.5,
              "prefetch": True, "data_dump": False, "profiling": True}  # fmt: skip


def test_a_configuration_tells_what_it_was_made_of():
    config = pyacl.LaunchConfig(**EVERYTHING)
    assert {name: getattr(config, name) for name in EVERYTHING} == EVERYTHING
    assert pyacl.LaunchConfig().timeout is None
    assert repr(pyacl.LaunchConfig(engine=1, timeout=2)) == "pyacl.LaunchConfig(engine=1, timeout=2)"


def test_a_configuration_cannot_be_changed():
    config = pyacl.LaunchConfig(timeout=1)
    with pytest.raises(AttributeError):
        config.timeout = 2
    with pytest.raises(TypeError):
        config.__init__(timeout=2)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("schedule_mode", 2), ("engine", 2), ("dynamic_ubuf", -1), ("dynamic_ubuf", 2**32), ("block_offset", 2**32),
        ("prefetch", 2), ("data_dump", -1), ("profiling", 7), ("timeout", -1), ("timeout", float("nan")), ("timeout", 1e300),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused(name, wrong):
    with pytest.raises(ValueError, match=name):
        pyacl.LaunchConfig(**{name: wrong})


def test_what_the_runtime_gets_is_what_was_asked_for(forms, stream, out):
    """A captured task tells its configuration again, attribute by attribute."""
    config = pyacl.LaunchConfig(**EVERYTHING)
    with stream.capture() as graph:
        forms.kernel("mark").launch(stream, 1, out, config=config)
    [task] = graph.tasks
    got = {which.name: task.launch_attribute(which) for which in pyacl.LaunchKernelAttrId}
    assert got == {
        "SCHEM_MODE": 1, "LOCAL_MEMORY_SIZE": 4096, "ENGINE_TYPE": 1, "BLOCKDIM_OFFSET": 3, "BLOCK_TASK_PREFETCH": 1,
        "DATA_DUMP": 0, "TIMEOUT": 0, "TIMEOUT_US": 1_500_000, "ENABLE_PROFILING": 1,
    }  # fmt: skip
    with stream.capture() as graph:
        forms.kernel("mark").launch(stream, 1, out, config=pyacl.LaunchConfig(timeout=2**16 - 1))
    assert graph.tasks[0].launch_attribute(pyacl.LaunchKernelAttrId.TIMEOUT) == 2**16 - 1


@pytest.mark.timeout(60)
@pytest.mark.parametrize("timeout", [1, 0.05, 0.000_001])
def test_a_kernel_that_outlives_its_own_limit_fails(forms, stream, timeout):
    forms.kernel("endless").launch(stream, 1, config=pyacl.LaunchConfig(timeout=timeout))
    with pytest.raises(pyacl.DeviceFaultError) as caught:
        stream.synchronize(timeout=30)
    assert caught.value.code in (507014, 507034)


def test_every_form_takes_a_configuration(forms, stream, out):
    config = pyacl.LaunchConfig(timeout=20, schedule_mode=0)
    mark = forms.kernel("mark")
    mark.bind("p", blocks=2, stream=stream, config=config)(out)
    mark.launch(stream, 3, out[16:], config=config)
    mark.launch_array(stream, 4, out[32:], config=config)
    mark.launch_device_args(stream, 5, pyacl.DeviceBuffer(np.array([out.data_ptr() + 64], np.uint64)), config=config)
    args = pyacl.KernelArgs(mark)
    args.append("p", out[96:])
    args.launch(stream, 6, config=config)
    stream.synchronize()
    seen = out.to_numpy(np.uint32)
    assert [seen[at] for at in (0, 4, 8, 16, 24)] == [2, 3, 4, 5, 6]
    assert mark.bind("p", config=config).config is config


@pytest.mark.parametrize("config", [5, {}, "timeout"])
def test_what_is_no_configuration_is_refused(forms, stream, out, config):
    kernel = forms.kernel("mark")
    for launch in (kernel.launch, kernel.launch_array):
        with pytest.raises(TypeError, match="config|LaunchConfig"):
            launch(stream, 1, out, config=config)


# ---- data that travels with the arguments ----


def test_data_reaches_the_kernel_as_an_address(forms, stream, out):
    plan = forms.kernel("copy_table").bind("p data[24] u64", stream=stream)
    table = np.array([7, 8, 9], np.uint64)
    plan(out, table, 3)
    table[:] = 0  # it was copied by the call
    stream.synchronize()
    assert numbers(out, 4) == [7, 8, 9, 0]


def test_data_larger_than_what_fits_on_the_stack(forms, stream, out):
    table = np.arange(400, dtype=np.uint64)
    forms.kernel("copy_table").launch(stream, 1, f"p data[{table.nbytes}] u64", out, table, 400)
    stream.synchronize()
    assert numbers(out, 400) == table.tolist()


def test_data_in_a_batch_and_in_a_capture(forms, stream, out):
    plan = forms.kernel("copy_table").bind("p data[8] u64", stream=stream)
    batch = pyacl.LaunchBatch()
    batch.launch(plan, out, b"12345678", 1)
    batch.launch(plan, out[8:], b"abcdefgh", 1)
    batch.replace(1, out[8:], b"ABCDEFGH", 1)
    batch.submit()
    stream.synchronize()
    assert out.to_numpy(np.uint8, 16).tobytes() == b"12345678ABCDEFGH"
    with pytest.raises(ValueError, match=r"data\[8\]"):
        batch.update(np.zeros((2, 3)))
    with stream.capture() as graph:
        plan(out, b"captured", 1)
    out.fill(0)
    graph.replay(stream)
    stream.synchronize()
    assert out.to_numpy(np.uint8, 8).tobytes() == b"captured"
    with pytest.raises(ValueError, match="data"):
        graph.tasks[0].set_kernel(plan, out, b"captured", 1)


@pytest.mark.parametrize("wrong", [b"", b"1234567", b"123456789"])
def test_data_of_another_length_is_refused(forms, stream, out, wrong):
    with pytest.raises(ValueError, match="argument 2 has"):
        forms.kernel("copy_table").launch(stream, 1, "p data[8] u64", out, wrong, 1)


# ---- arguments that lie on the device ----


def test_arguments_on_the_device_are_read_when_the_kernel_runs(forms, stream, out, gate):
    copy = forms.kernel("mixed")
    plan = copy.bind("p u8 f32 i16", stream=stream)
    args = pyacl.DeviceBuffer(np.frombuffer(plan.packed(out, 1, 2.0, 3), np.uint8))
    gate.close(stream)
    copy.launch_device_args(stream, 1, args)
    args.copy_from(np.frombuffer(plan.packed(out, 200, 0.5, -1), np.uint8))
    gate.open()
    stream.synchronize()
    assert numbers(out, 4) == [200, 0x3F000000, 0xFFFF, 32]


@pytest.mark.timeout(60)
def test_arguments_on_the_device_live_until_the_kernel_ran(forms, stream, out, gate, acl_emulator):
    mark = forms.kernel("mark")
    gate.close(stream)
    before = acl_emulator.counters().device_allocations
    mark.launch_device_args(stream, 1, pyacl.DeviceBuffer(np.array([out.data_ptr()], np.uint64)))
    assert acl_emulator.counters().device_allocations == before + 1
    gate.open()
    stream.synchronize()
    assert out.to_numpy(np.uint32, 1)[0] == 1


def test_device_arguments_need_a_buffer_and_a_stream(forms, stream, out):
    mark = forms.kernel("mark")
    for wrong in (lambda: mark.launch_device_args(None, 1, out), lambda: mark.launch_device_args(stream, 1, 5)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="blocks"):
        mark.launch_device_args(stream, 0, out)


# ---- one pointer per parameter ----


def test_numbers_become_as_wide_as_the_kernels_parameters(forms, stream, out):
    forms.kernel("mixed").launch_array(stream, 1, out, 255, 1.5, -2)
    stream.synchronize()
    assert numbers(out, 4) == [255, 0x3FC00000, 0xFFFE, 32]


def test_an_array_launch_takes_a_spec_too(forms, stream, out):
    forms.kernel("mixed").launch_array(stream, 1, "p u8 f32 i16", out, 1, 2, 3)
    stream.synchronize()
    assert numbers(out, 3) == [1, 0x40000000, 3]


@pytest.mark.parametrize("wrong", [(1,), (1, 2, 3.0, 4, 5), ("p u8 f64 i16", 1, 2, 3, 4), ("p u8 data[4] i16", 1, 2, b"1234", 4)])
def test_values_that_do_not_match_the_parameters_are_refused(forms, stream, wrong):
    with pytest.raises(ValueError, match="takes parameters of"):
        forms.kernel("mixed").launch_array(stream, 1, *wrong)


def test_a_number_too_large_for_its_parameter_is_refused(forms, stream, out):
    with pytest.raises(OverflowError, match="argument 2"):
        forms.kernel("mixed").launch_array(stream, 1, out, 256, 1.5, 0)


def test_a_kernel_without_parameter_information_has_no_array_launch(forms, stream, out):
    with pytest.raises(pyacl.InvalidParamError) as caught:
        forms.kernel("copy_table").launch_array(stream, 1, out, out, 1)
    assert caught.value.code == 107000


# ---- arguments collected one by one ----


@pytest.mark.parametrize("nbytes", [None, 256])
def test_collected_arguments_launch_again_and_again(forms, stream, out, nbytes):
    args = pyacl.KernelArgs(forms.kernel("mixed"), nbytes)
    assert [args.append("p", out), args.append("u8", 1), args.append("f32", 2.0), args.append("i16", -3)] == [0, 1, 2, 3]
    args.launch(stream)
    stream.synchronize()
    assert numbers(out, 4) == [1, 0x40000000, 0xFFFD, 32]
    args.update(1, 99)
    args.update(0, out[64:])
    args.launch(stream)
    stream.synchronize()
    assert numbers(out[64:], 3) == [99, 0x40000000, 0xFFFD]
    assert len(args) == 4


@pytest.mark.parametrize("nbytes", [None, 256])
def test_placeholders_carry_data(forms, stream, out, nbytes):
    args = pyacl.KernelArgs(forms.kernel("copy_table"), nbytes)
    args.append("p", out)
    table = args.append_placeholder()
    args.append("u64", 3)
    args.fill_placeholder(table, np.array([1, 2, 3], np.uint64))
    args.launch(stream)
    args.fill_placeholder(table, np.array([4, 5, 6], np.uint64))
    stream.synchronize()
    assert numbers(out, 3) == [1, 2, 3]
    args.launch(stream)
    stream.synchronize()
    assert numbers(out, 3) == [4, 5, 6]
    with pytest.raises(ValueError, match="made for 24"):
        args.fill_placeholder(table, b"12345678")


def test_final_arguments_take_no_more(forms, out):
    args = pyacl.KernelArgs(forms.kernel("mark"))
    args.append("p", out)
    args.finalize()
    for call in (lambda: args.append("p", out), args.append_placeholder):
        with pytest.raises(pyacl.NotSupportedError) as caught:
            call()
        assert caught.value.code == 207000


def test_arguments_have_limits(forms, out):
    small = pyacl.KernelArgs(forms.kernel("mark"), 8)
    small.append("u8", 1)
    with pytest.raises(pyacl.InvalidParamError):
        small.append("u8", 2)
    many = pyacl.KernelArgs(forms.kernel("mark"))
    for i in range(128):
        many.append("u64", i)
    with pytest.raises(pyacl.InvalidParamError):
        many.append("u64", 0)


def test_what_cannot_be_collected_is_refused(forms, out):
    args = pyacl.KernelArgs(forms.kernel("mark"))
    args.append("u8", 1)
    hole = args.append_placeholder()
    wrong = {
        TypeError: [lambda: args.fill_placeholder(0, b"1"), lambda: args.update(hole, 1), lambda: args.append("p", 1.5)],
        ValueError: [lambda: args.append("p p", 1), lambda: args.append("data[8]", b"12345678"), lambda: args.fill_placeholder(hole, b"")],
        IndexError: [lambda: args.update(2, 1), lambda: args.fill_placeholder(-1, b"1")],
        OverflowError: [lambda: args.append("u8", 256), lambda: args.update(0, -1)],
    }
    for error, calls in wrong.items():
        for call in calls:
            with pytest.raises(error):
                call()
    assert len(args) == 2


def test_a_thread_has_one_area_for_arguments(forms, stream, out):
    kernel = forms.kernel("mark")
    first, own = pyacl.KernelArgs(kernel), pyacl.KernelArgs(kernel, 64)
    first.append("p", out)
    own.append("p", out)
    second = pyacl.KernelArgs(kernel)
    with pytest.raises(RuntimeError, match="newest"):
        first.append("p", out)
    caught = []

    def elsewhere():
        pyacl.Device(0)
        try:
            second.append("p", out)
        except RuntimeError as error:
            caught.append(error)
        own.launch(None)
        pyacl.Context.current().default_stream.synchronize()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(30)
    assert len(caught) == 1
    assert out.to_numpy(np.uint32, 1)[0] == 1


def test_collected_arguments_are_captured_by_value(forms, stream, out):
    args = pyacl.KernelArgs(forms.kernel("mixed"), 64)
    for kind, value in zip(("p", "u8", "f32", "i16"), (out, 1, 2.0, 3), strict=True):
        args.append(kind, value)
    with stream.capture() as graph:
        args.launch(stream)
    args.update(1, 77)
    del args
    graph.replay(stream)
    stream.synchronize()
    assert numbers(out, 1) == [1]


# ---- SIMT ----

SIMT = """
import numpy as np, pyacl
pyacl.Device(0)
stream = pyacl.Stream()
mark = pyacl.Binary({library!r}).kernel("mark")
for name in ("launch_simt", "launch_simt_array"):
    for grid, block in ((2, 3), ((2,), (1, 3)), ((1, 2, 1), [3, 1, 1])):
        out = pyacl.DeviceBuffer(64)
        out.fill(0)
        try:
            getattr(mark, name)(stream, grid, block, out, dynamic_ubuf=1024, config=pyacl.LaunchConfig(timeout=10))
        except pyacl.NotSupportedError as error:
            print(error.code)
            continue
        stream.synchronize()
        print("".join(map(str, out.to_numpy(np.uint32, 7))))
"""


@pytest.mark.parametrize(("soc", "printed"), [("950", "6666660"), ("A2", "207000"), ("310P", "207000")])
def test_simt_launches(library, soc, printed):
    program = textwrap.dedent(SIMT).format(library=str(library))
    environment = {**os.environ, "PYACL_RUNTIME": "emulator", "PYACL_EMULATOR_SOC": soc}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.stdout.split(), done.stderr) == ([printed] * 6, "")


@pytest.mark.parametrize("grid", [0, (), (1, 1, 1, 1), (1, 0), -1, 2**32])
def test_grids_that_cannot_be_are_refused(forms, stream, out, grid):
    for arguments in ((grid, 1), (1, grid)):
        with pytest.raises(ValueError, match="one to three sizes"):
            forms.kernel("mark").launch_simt(stream, *arguments, out)


# ---- what binaries and kernels tell ----


def test_a_kernel_tells_about_itself(forms):
    kernel = forms.kernel("mixed")
    assert kernel.parameters == [(0, 8), (8, 1), (16, 4), (24, 2)]
    assert kernel.type in pyacl.KernelType
    assert kernel.attribute(pyacl.FuncAttribute.KERNEL_SCHED_MODE) == 0
    assert kernel.binary is forms
    assert sum(bool(address) for address in kernel.addresses) == 1
    assert sum(bool(size) for size in kernel.code_sizes) == 1
    with pytest.raises(pyacl.NotSupportedError):
        kernel.attribute(pyacl.FuncAttribute.KERNEL_RATIO)
    with pytest.raises(pyacl.InvalidParamError):
        forms.kernel("copy_table").parameters  # noqa: B018
    start, size = forms.device_extent
    assert start <= max(kernel.addresses) < start + size


def test_a_borrowed_kernel_has_its_name_and_binary(forms):
    kernel = forms.kernel("mixed")
    borrowed = pyacl.Kernel.from_handle(kernel.handle, kernel)
    assert borrowed.name == "mixed"
    assert borrowed.binary.handle == forms.handle


def test_the_magic_decides_which_cores_a_kernel_is_for(library, device):
    kinds = {pyacl.BinaryMagic.ELF_VECTOR_CORE: pyacl.KernelType.VECTOR, pyacl.BinaryMagic.ELF_CUBE_CORE: pyacl.KernelType.CUBE}
    for magic, kind in kinds.items():
        with pyacl.Binary(library.read_bytes(), magic=magic) as binary:
            kernel = binary.kernel("mark")
            assert kernel.type == kind
            assert bool(kernel.addresses[1]) == (kind == pyacl.KernelType.VECTOR)


def test_kernels_are_found_by_their_entry(acl_kernels, stream, out):
    for entry in (16, 32):
        acl_kernels.kernel_by_entry(entry).launch(stream, 1, out)
        stream.synchronize()
        assert numbers(out, 1) == [entry]
    with pytest.raises(pyacl.InvalidParamError) as caught:
        acl_kernels.kernel_by_entry(17)
    assert caught.value.code == 107000


def test_variables_of_a_binary_are_memory(acl_kernels, stream):
    count = acl_kernels.variable("launch_count")
    count.fill(0)
    for _ in range(3):
        acl_kernels.kernel("count_launch").launch(stream, 2)
    stream.synchronize()
    assert (count.nbytes, numbers(count, 1)) == (8, [6])
    with pytest.raises(pyacl.InvalidParamError) as caught:
        acl_kernels.variable("no_such")
    assert caught.value.code == 107042


def test_cpu_kernels_are_not_emulated(acl_kernels):
    with pytest.raises(pyacl.NotSupportedError):
        acl_kernels.cpu_kernel("function", "Operator")


def test_nothing_is_registered_as_a_symbol(acl_kernels, stream):
    stand_in = ctypes.c_uint64()
    symbol = pyacl.Symbol(ctypes.addressof(stand_in))
    array = np.zeros(1, np.uint64)
    calls = [lambda: symbol.nbytes, lambda: symbol.buffer, lambda: symbol.copy_from(array), lambda: symbol.copy_to(array)]
    calls += [lambda: symbol.copy_from_async(array, stream), lambda: symbol.copy_to_async(array, stream)]
    for call in calls:
        with pytest.raises(pyacl.InvalidParamError) as caught:
            call()
        assert caught.value.code == 107043
    with pytest.raises(pyacl.InvalidParamError) as caught:
        pyacl.Kernel.from_symbol(symbol.address)
    assert caught.value.code == 107044
    with pytest.raises(ValueError, match="address is 0"):
        pyacl.Symbol(0)


# ---- tensors ----


class Tensor:
    """What has nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_a_dlpack_tensor_is_passed_by_the_address_of_its_first_element(forms):
    array = np.arange(10, dtype=np.int32)
    plan = forms.kernel("mark").bind("p")
    assert plan.packed(Tensor(array)) == array.ctypes.data.to_bytes(8, "little")
    assert plan.packed(Tensor(array[3:])) == array[3:].ctypes.data.to_bytes(8, "little")


@pytest.mark.timeout(60)
def test_a_large_launch_counts_as_a_submission(forms, stream, out):
    """Launches beyond the size packed on the stack fill the queue as others do: none may block while it holds the GIL."""
    gate = threading.Event()
    stream.launch_host_func(gate.wait)
    launch = forms.kernel("copy_table").bind("p data[1024] u64", stream=stream)
    table = bytes(1024)

    def open_soon():
        time.sleep(0.2)
        gate.set()

    threading.Thread(target=open_soon).start()
    for _ in range(3000):
        launch(out, table, 128)
    stream.synchronize()
