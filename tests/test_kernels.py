"""Kernels: what is loaded, what is launched, and that a kernel receives exactly the bytes that were meant."""

import math
import struct
import subprocess
import threading

import numpy as np
import pytest

import pyacl

ECHO = """
#include <string.h>
#include "pyacl/kernel.h"
/* Copies its own arguments to where the first one points. */
PYACL_KERNEL(echo) {
    void *const *out = args;
    memcpy(*out, args, block->argsSize);
    return 0;
}
PYACL_KERNEL(count_blocks) {
    uint32_t *const *out = args;
    (*out)[block->index] = block->count;
    return 0;
}
"""


@pytest.fixture(scope="module")
def echo_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("echo")
    (folder / "echo.c").write_text(ECHO)
    library = folder / "echo.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-I", pyacl.get_include(), str(folder / "echo.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def echo(device, echo_library, stream):
    """Launches with one more argument of the given kind, and returns the 8 (or more) bytes of its slots."""
    kernel = pyacl.Binary(echo_library).kernel("echo")
    out = pyacl.DeviceBuffer(4096)

    def run(kind, value):
        out.fill(0xEE)
        kernel.bind(f"p {kind}", stream=stream)(out, value)
        stream.synchronize()
        size = 8 if "[" not in kind else -(-int(kind[6:-1]) // 8) * 8
        return out.to_numpy()[8 : 8 + size].tobytes()

    return run


# ---- loading ----


def test_a_binary_loads_from_a_path_or_from_its_bytes(device, echo_library):
    for source in (echo_library, str(echo_library), echo_library.read_bytes(), memoryview(echo_library.read_bytes())):
        with pyacl.Binary(source) as binary:
            assert binary.kernel("echo").name == "echo"


def test_a_file_that_does_not_exist_is_no_binary(device):
    with pytest.raises(FileNotFoundError):
        pyacl.Binary("/no/such/kernels.so")


@pytest.mark.parametrize("data", [b"", b"x", b"not an ELF object at all", b"\x7fELF but no more"])
def test_data_that_is_no_elf_object_is_refused(device, data):
    with pytest.raises(pyacl.AclError):
        pyacl.Binary(data)


def test_a_file_that_is_no_elf_object_is_refused(device, tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(pyacl.AclError):
        pyacl.Binary(tmp_path / "text")


@pytest.mark.parametrize("source", [None, 5, 1.5, object()])
def test_a_binary_needs_a_path_or_bytes(device, source):
    with pytest.raises(TypeError):
        pyacl.Binary(source)


def test_an_unknown_kernel_is_refused(acl_kernels):
    with pytest.raises(pyacl.InvalidParamError) as caught:
        acl_kernels.kernel("no_such_kernel")
    assert caught.value.code == 107000


def test_a_kernel_of_a_closed_binary_is_closed(device, stream, acl_emulator):
    binary = pyacl.Binary(acl_emulator.sample_kernels())
    kernel = binary.kernel("noop")
    plan = kernel.bind(stream=stream)
    binary.close()
    for use in (plan, lambda: kernel.launch(stream, 1), lambda: kernel.bind(), lambda: binary.kernel("noop")):
        with pytest.raises(pyacl.ClosedError):
            use()


def test_a_kernel_keeps_its_binary_loaded(device, stream, acl_emulator):
    kernel = pyacl.Binary(acl_emulator.sample_kernels()).kernel("noop")
    kernel.launch(stream, 1)
    stream.synchronize()


# ---- arguments, byte by byte ----

INTEGERS = [
    (kind, struct.calcsize(code), code, value)
    for kind, code in [("u8", "B"), ("u16", "H"), ("u32", "I"), ("u64", "Q"), ("i8", "b"), ("i16", "h"), ("i32", "i"), ("i64", "q")]
    for bits in [8 * struct.calcsize(code)]
    for value in ([0, 1, 2**bits - 1, 2 ** (bits - 1)] if kind[0] == "u" else [0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))])
]  # fmt: skip


@pytest.mark.parametrize("kind, size, code, value", INTEGERS)
def test_integers_arrive_whole_and_the_rest_of_the_slot_is_zero(echo, kind, size, code, value):
    expected = struct.pack("<" + code, value).ljust(8, b"\0")
    assert echo(kind, value) == expected
    assert echo(kind, np.array(value, np.dtype(code))[()]) == expected


@pytest.mark.parametrize("kind, size, code, value", INTEGERS)
def test_integers_out_of_range_are_refused(echo, kind, size, code, value):
    for wrong in (2 ** (8 * size), -(2 ** (8 * size)), 2**64, 2**70, -(2**70)):
        with pytest.raises(OverflowError, match="argument 2"):
            echo(kind, wrong)


@pytest.mark.parametrize("kind", ["u8", "u64", "i32", "i64"])
@pytest.mark.parametrize("value", [1.0, "1", None, b"1", [1]])
def test_what_is_no_integer_is_refused(echo, kind, value):
    with pytest.raises(TypeError, match="argument 2"):
        echo(kind, value)


FLOATS = [0.0, -0.0, 1.5, -1.0, math.inf, -math.inf, 5e-324, 2.0**-149, 2.0**-24, 6e-8, 1e-40, 0.1, 1 / 3, 65504.0, 3.0e38]


@pytest.mark.parametrize("value", FLOATS)
def test_doubles_arrive_bit_by_bit(echo, value):
    assert echo("f64", value) == struct.pack("<d", value)


@pytest.mark.parametrize("value", FLOATS)
def test_floats_are_rounded_to_nearest(echo, value):
    with np.errstate(all="ignore"):
        assert echo("f32", value) == np.float32(value).tobytes().ljust(8, b"\0")
        if not math.isfinite(value) or np.isfinite(np.float16(value)):
            assert echo("f16", value) == np.float16(value).tobytes().ljust(8, b"\0")


def bfloat16(value):
    """Rounded from float32, whose rounding of the same number is exact enough for the values used here."""
    bits = int(np.float32(value).view(np.uint32))
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 1.00390625, 1.01171875, -2.5, 3.0e38, 1e-40, 2.0**-133, math.inf, -math.inf])
def test_bfloat16_is_rounded_to_nearest_even(echo, value):
    assert echo("bf16", value) == bfloat16(value).ljust(8, b"\0")


def test_every_half_survives_the_way_through_a_double(device, kernels):
    plan = kernels("noop").bind("f16 " * 512)
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    for start in range(0, len(halves) - 512, 512):
        some = halves[start : start + 512]
        assert np.array_equal(np.frombuffer(plan.packed(*some), np.float16)[::4], some)


@pytest.mark.parametrize("kind, shift", [("f64", 0), ("f32", 29), ("f16", 42), ("bf16", 45)])
def test_a_nan_keeps_what_fits_of_its_payload(echo, kind, shift):
    payload = 0xFFF8_0000_0000_0000 | 0x5 << max(shift, 1)
    value = struct.unpack("<d", struct.pack("<Q", payload))[0]
    got = int.from_bytes(echo(kind, value), "little")
    fraction_bits = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}[kind]
    assert got >> (fraction_bits - 1) == {"f64": 0x1FFF, "f32": 0x3FF, "f16": 0x7F, "bf16": 0x3FF}[kind]
    assert got & (1 << (fraction_bits - 1)) - 1 == (payload & (1 << 51) - 1) >> shift


@pytest.mark.parametrize("kind, value", [("f32", 1e39), ("f32", -1e39), ("f16", 65520.0), ("f16", 1e5), ("bf16", 3.4e38), ("bf16", 1e40)])
def test_a_number_too_large_for_its_format_is_refused(echo, kind, value):
    with pytest.raises(OverflowError, match="too large"):
        echo(kind, value)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("value", ["1", None, b"", [1.0], object()])
def test_what_is_no_number_is_refused(echo, kind, value):
    with pytest.raises(TypeError, match="argument 2"):
        echo(kind, value)


@pytest.mark.parametrize("value, byte", [(True, 1), (False, 0), (np.True_, 1), (np.False_, 0), (1, 1), (0, 0)])
def test_bools_are_one_byte(echo, value, byte):
    assert echo("bool", value) == bytes([byte]).ljust(8, b"\0")


@pytest.mark.parametrize("value", [2, -1, "yes", None, 0.5])
def test_what_is_no_bool_is_refused(echo, value):
    with pytest.raises(TypeError, match="argument 2"):
        echo("bool", value)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 24, 4000])
def test_raw_bytes_arrive_as_they_are(echo, size):
    data = bytes(range(1, 251)) * 17
    assert echo(f"bytes[{size}]", data[:size]) == data[:size].ljust(-(-size // 8) * 8, b"\0")
    assert echo(f"bytes[{size}]", np.frombuffer(data[:size], np.uint8)) == data[:size].ljust(-(-size // 8) * 8, b"\0")
    with pytest.raises(ValueError, match="argument 2"):
        echo(f"bytes[{size}]", data[: size + 1])


class Tensor:
    def data_ptr(self):
        return 0x1234


def test_whatever_has_an_address_can_be_a_pointer(echo, device):
    array = np.zeros(4)
    buffer = pyacl.DeviceBuffer(64)
    pinned = pyacl.HostBuffer(64)
    cases = [
        (0x7FFF_FFFF_FFFF_FFF0, 0x7FFF_FFFF_FFFF_FFF0),
        (2**64 - 1, 2**64 - 1),
        (None, 0),
        (buffer, buffer.handle),
        (buffer[16:32], buffer.handle + 16),
        (pinned, pinned.handle),
        (array, array.ctypes.data),
        (Tensor(), 0x1234),
        (np.uint64(77), 77),
    ]
    for value, address in cases:
        assert echo("p", value) == address.to_bytes(8, "little")


@pytest.mark.parametrize("value", ["text", 1.5, object(), -1, 2**64])
def test_what_has_no_address_is_no_pointer(echo, value):
    with pytest.raises((TypeError, OverflowError), match="argument 2"):
        echo("p", value)


def test_a_closed_buffer_is_no_pointer(echo, device):
    buffer = pyacl.DeviceBuffer(64)
    view = buffer[:8]
    buffer.close()
    for value in (buffer, view):
        with pytest.raises(pyacl.ClosedError):
            echo("p", value)


# ---- launching ----


def test_arguments_are_copied_at_the_launch(device, stream, kernels, gate):
    out = pyacl.DeviceBuffer(64)
    out.fill(0)
    raw = bytearray(struct.pack("<QQQ", out.handle, 7, 1))
    gate.close(stream)
    kernels("fill").bind("bytes[24]", stream=stream)(raw)
    raw[8:16] = bytes(8)
    gate.open()
    stream.synchronize()
    assert out.to_numpy(np.uint32)[0] == 7


@pytest.mark.parametrize("blocks", [1, 8, 1000])
def test_every_block_runs_once(device, stream, echo_library, blocks):
    out = pyacl.DeviceBuffer(4 * 1000)
    out.fill(0)
    pyacl.Binary(echo_library).kernel("count_blocks").launch(stream, blocks, out)
    stream.synchronize()
    assert out.to_numpy(np.uint32)[:blocks].tolist() == [blocks] * blocks


@pytest.mark.parametrize("blocks", [0, -1, 65536, 2**32])
def test_the_number_of_blocks_has_limits(stream, kernels, blocks):
    with pytest.raises(ValueError, match="blocks"):
        kernels("noop").launch(stream, blocks)
    with pytest.raises(ValueError, match="blocks"):
        kernels("noop").bind(blocks=blocks, stream=stream)


@pytest.mark.parametrize("spec", ["u7", "int", "p;u32", "bytes", "bytes[0]", "bytes[-1]", "bytes[x]", "bytes[70000]"])
def test_an_unknown_kind_is_refused_when_bound(kernels, spec):
    with pytest.raises(ValueError):
        kernels("noop").bind(spec)


def test_a_plan_takes_as_many_values_as_its_spec(stream, kernels):
    plan = kernels("noop").bind("u32 u32", stream=stream)
    for values in ((), (1,), (1, 2, 3)):
        with pytest.raises(TypeError, match="2 arguments"):
            plan(*values)
    with pytest.raises(TypeError, match="positional"):
        plan(1, b=2)


def test_a_plan_says_what_it_is(stream, kernels):
    kernel = kernels("noop")
    plan = kernel.bind("p, u32", blocks=3, stream=stream)
    assert (plan.kernel, plan.stream, plan.spec, plan.blocks) == (kernel, stream, "p u32", 3)
    assert "p u32" in repr(plan)


def test_a_plan_without_a_stream_uses_the_default_one(device, kernels):
    counter = pyacl.DeviceBuffer(8)
    counter.fill(0)
    kernels("add_one").bind("p")(counter)
    device.default_stream.synchronize()
    assert counter.to_numpy(np.uint64)[0] == 1


def test_a_plan_is_safe_from_several_threads(device, kernels):
    counter = pyacl.DeviceBuffer(8 * 5000)
    counter.fill(0)
    log = pyacl.DeviceBuffer(8 * 4001)
    log.fill(0)
    with pyacl.Stream() as stream:
        append = kernels("append").bind("p u64", stream=stream)

        def launch(first):
            pyacl.Device(0)
            for value in range(first, first + 1000):
                append(log, value)

        threads = [threading.Thread(target=launch, args=(1000 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stream.synchronize()
    assert sorted(log.to_numpy(np.uint64)[1:].tolist()) == list(range(4000))


def test_launch_finds_the_kinds_itself(device, stream, kernels):
    x = pyacl.DeviceBuffer(np.arange(8, dtype=np.float32))
    out = pyacl.DeviceBuffer(32)
    kernels("vector_add").launch(stream, 2, x, x, out, 8)
    stream.synchronize()
    assert out.to_numpy(np.float32).tolist() == [2.0 * i for i in range(8)]


def test_launch_with_a_spec(device, stream, kernels):
    out = pyacl.DeviceBuffer(32)
    kernels("fill").launch(stream, 1, "p u32 u64", out, 5, 8)
    stream.synchronize()
    assert out.to_numpy(np.uint32).tolist() == [5] * 8


def test_launch_does_not_guess_the_width_of_a_float(stream, kernels):
    with pytest.raises(TypeError, match="any width"):
        kernels("noop").launch(stream, 1, 1.0)
    kernels("noop").launch(stream, 1, np.float32(1.0), np.float64(1.0), np.float16(1.0))


def test_a_closed_stream_is_refused_before_the_call(device, kernels):
    stream = pyacl.Stream()
    plan = kernels("noop").bind(stream=stream)
    stream.close()
    with pytest.raises(pyacl.ClosedError):
        plan()


def test_many_arguments_take_the_way_through_the_heap(device, stream, echo_library):
    out = pyacl.DeviceBuffer(8 * 200)
    pyacl.Binary(echo_library).kernel("echo").bind("p" + " u64" * 199, stream=stream)(out, *range(199))
    stream.synchronize()
    assert out.to_numpy(np.uint64)[1:].tolist() == list(range(199))


def test_kernels_and_plans_are_not_made_by_hand():
    for made in (pyacl.Kernel, pyacl.Plan):
        with pytest.raises(TypeError):
            made()
