from pyacl.enums import EngineType

class LaunchConfig:
    """Attributes of launches (``aclrtLaunchKernelCfg``), for `Kernel.bind` and the launches. Cannot be changed."""

    def __init__(
        self,
        *,
        schedule_mode: int | None = None,
        engine: EngineType | int | None = None,
        dynamic_ubuf: int | None = None,
        block_offset: int | None = None,
        timeout: float | None = None,
        prefetch: bool | None = None,
        data_dump: bool | None = None,
        profiling: bool | None = None,
    ) -> None: ...
    @property
    def schedule_mode(self) -> int | None: ...
    @property
    def engine(self) -> EngineType | int | None: ...
    @property
    def dynamic_ubuf(self) -> int | None: ...
    @property
    def block_offset(self) -> int | None: ...
    @property
    def timeout(self) -> float | None: ...
    @property
    def prefetch(self) -> bool | None: ...
    @property
    def data_dump(self) -> bool | None: ...
    @property
    def profiling(self) -> bool | None: ...
