# Attributes of launches.
from pyacl.acl cimport aclrtLaunchKernelAttr, aclrtLaunchKernelCfg

cdef enum:
    MOST_ATTRIBUTES = 8    # there is one id for each, and a timeout has only one of its two


cdef class LaunchConfig:
    cdef aclrtLaunchKernelCfg cfg              # what the C calls take; it points into this object
    cdef aclrtLaunchKernelAttr attributes[MOST_ATTRIBUTES]
    cdef readonly object schedule_mode, engine, dynamic_ubuf, block_offset, timeout, prefetch, data_dump, profiling


# For calls that take a configuration or NULL.
cdef inline aclrtLaunchKernelCfg *config_address(LaunchConfig config) noexcept:
    return NULL if config is None else &config.cfg
