# cython: language_level=3, binding=False, embedsignature=True
"""Launch configurations: the attributes that a launch may carry."""
from cpython.number cimport PyNumber_Index
from libc.stdint cimport uint64_t
from libc.string cimport memset

from pyacl cimport acl as abi

cdef enum:
    MOST_SECONDS = 0xFFFF

# name: id, largest value. All values sit at the beginning of their union.
ATTRIBUTES = {
    "schedule_mode": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 1),
    "dynamic_ubuf": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE, 0xFFFFFFFF),
    "engine": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, 1),
    "block_offset": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET, 0xFFFFFFFF),
    "prefetch": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH, 1),
    "data_dump": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP, 1),
    "profiling": (abi.ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING, 1),
}  # fmt: skip


cdef class LaunchConfig:
    """Attributes of launches (``aclrtLaunchKernelCfg``), for `Kernel.bind` and the launches. Cannot be changed.

    What is left out is left to the runtime.

    Parameters
    ----------
    schedule_mode : int, optional
        0 normal, 1 batch: all blocks start together.
    engine : EngineType, optional
        Which cores run the kernel: cube (AIC) or vector (AIV). Mixed kernels on the 310P need it.
    dynamic_ubuf : int, optional
        Bytes of unified buffer for a SIMT kernel, besides its static ones. At most 2**32 - 1.
    block_offset : int, optional
        Added to the index of each block. At most 2**32 - 1.
    timeout : float, optional
        Seconds that the kernel may run until its task fails with a timeout (507014, 507034); 0 for ever. Whole seconds
        go to the runtime as such (up to 65,535), others as microseconds.
    prefetch : bool, optional
        Let the device fetch the blocks' task ahead.
    data_dump : bool, optional
        Whether the kernel's data is dumped, where dumps are on.
    profiling : bool, optional
        Whether the kernel is profiled, where profiling is on.

    Raises
    ------
    ValueError
        A value out of its range.

    Notes
    -----
    Calls nothing. On the emulator only the timeout and its checks have an effect. Source: CANN Runtime API, 14 Kernel
    loading and execution.
    """

    def __init__(
        self, *, schedule_mode=None, engine=None, dynamic_ubuf=None, block_offset=None, timeout=None, prefetch=None,
        data_dump=None, profiling=None,
    ):
        if self.cfg.attrs is not NULL:
            raise TypeError("a LaunchConfig cannot be changed")
        self.cfg.attrs = self.attributes  # even without any: the runtime refuses NULL
        self.schedule_mode = schedule_mode
        self.engine = engine
        self.dynamic_ubuf = dynamic_ubuf
        self.block_offset = block_offset
        self.timeout = timeout
        self.prefetch = prefetch
        self.data_dump = data_dump
        self.profiling = profiling
        for name, (kind, highest) in ATTRIBUTES.items():
            value = getattr(self, name)
            if value is None:
                continue
            number = PyNumber_Index(value)
            if not 0 <= number <= highest:
                raise ValueError(f"{name} is {value}, expected 0 to {highest}")
            add(self, kind, number)
        if timeout is not None:
            add_timeout(self, timeout)

    def __repr__(self):
        values = ((name, getattr(self, name)) for name in (*ATTRIBUTES, "timeout"))
        return f"pyacl.LaunchConfig({', '.join(f'{name}={value!r}' for name, value in values if value is not None)})"


cdef int add(LaunchConfig config, abi.aclrtLaunchKernelAttrId kind, uint64_t number) except -1:
    cdef abi.aclrtLaunchKernelAttr *attribute = &config.attributes[config.cfg.numAttrs]
    memset(attribute, 0, sizeof(attribute[0]))
    attribute.id = kind
    attribute.value.rsv[0] = number & 0xFFFFFFFF  # little-endian: the narrower members read the same
    attribute.value.rsv[1] = number >> 32
    config.cfg.numAttrs += 1
    return 0


cdef int add_timeout(LaunchConfig config, timeout) except -1:
    if not 0 <= timeout < 2**63 / 1e6:
        raise ValueError(f"timeout is {timeout} s, expected at least 0")
    if timeout == int(timeout) and timeout <= MOST_SECONDS:
        return add(config, abi.ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, int(timeout))
    return add(config, abi.ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, max(1, round(timeout * 1e6)))
