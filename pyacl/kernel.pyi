import os
from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import Buffer

from pyacl._handle import Handle
from pyacl.callback import ExceptionInfo
from pyacl.enums import BinaryMagic, FuncAttribute, KernelType
from pyacl.launch_config import LaunchConfig
from pyacl.memory import DeviceBuffer
from pyacl.stream import Stream

class Binary(Handle):
    """Compiled kernels, loaded onto the device (``aclrtBinaryLoadFromFile``, ``aclrtBinaryLoadFromData``)."""

    def __init__(
        self,
        source: str | os.PathLike[str] | Buffer,
        magic: BinaryMagic | int | None = None,
        lazy: bool = False,
        cpu_mode: int | None = None,
    ) -> None: ...
    @classmethod
    def from_handle(cls, handle: int, owner: object = None) -> Binary: ...
    def kernel(self, name: str) -> Kernel: ...
    def kernel_by_entry(self, entry: int) -> Kernel: ...
    def cpu_kernel(self, function: str, name: str) -> Kernel: ...
    def variable(self, name: str) -> DeviceBuffer: ...
    @property
    def device_extent(self) -> tuple[int, int]: ...
    def on_exception(self, function: Callable[[ExceptionInfo], object]) -> None: ...

class Kernel(Handle):
    """A kernel of a `Binary`, from ``binary.kernel(name)``."""

    @classmethod
    def from_handle(cls, handle: int, owner: object = None) -> Kernel: ...
    @classmethod
    def from_symbol(cls, symbol: int) -> Kernel: ...
    @property
    def name(self) -> str: ...
    @property
    def binary(self) -> Binary: ...
    def attribute(self, which: FuncAttribute | int) -> int: ...
    @property
    def type(self) -> KernelType: ...
    @property
    def addresses(self) -> tuple[int, int]: ...
    @property
    def code_sizes(self) -> tuple[int, int]: ...
    @property
    def parameters(self) -> list[tuple[int, int]]: ...
    def bind(
        self,
        spec: str | Sequence[str] = "",
        *,
        blocks: int = 1,
        stream: Stream | None = None,
        config: LaunchConfig | None = None,
    ) -> Plan: ...
    def launch(self, stream: Stream | None, blocks: int, *args: Any, config: LaunchConfig | None = None) -> None: ...
    def launch_device_args(
        self, stream: Stream, blocks: int, args: DeviceBuffer, config: LaunchConfig | None = None
    ) -> None: ...
    def launch_array(
        self, stream: Stream | None, blocks: int, *args: Any, config: LaunchConfig | None = None
    ) -> None: ...
    def launch_simt(
        self,
        stream: Stream | None,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *args: Any,
        dynamic_ubuf: int = 0,
        config: LaunchConfig | None = None,
    ) -> None: ...
    def launch_simt_array(
        self,
        stream: Stream | None,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *args: Any,
        dynamic_ubuf: int = 0,
        config: LaunchConfig | None = None,
    ) -> None: ...

class Plan:
    """A launch with everything settled but the values: call it with them, in the order of the spec."""

    @property
    def kernel(self) -> Kernel: ...
    @property
    def stream(self) -> Stream | None: ...
    @property
    def spec(self) -> str: ...
    @property
    def config(self) -> LaunchConfig | None: ...
    @property
    def blocks(self) -> int: ...
    def packed(self, *args: Any) -> bytes: ...
    def __call__(self, *args: Any) -> None: ...
