"""Huawei Ascend NPU streams from Python at the speed of C, and an emulated runtime for machines without an NPU.

Importing this package touches no library, no device and no thread; the first use does. See `pyacl.runtime` for what
answers the calls, and `pyacl.emulator` for the control of the emulated one.
"""

import os as _os

from pyacl import emulator, enums, errors
from pyacl._runtime import runtime
from pyacl.batch import LaunchBatch
from pyacl.callback import (
    ExceptionInfo,
    register_device_callback,
    register_exception_callback,
    register_stream_callback,
    register_task_abort_callback,
    unregister_exception_callback,
)
from pyacl.device import Context, Device
from pyacl.enums import *
from pyacl.errors import *
from pyacl.event import Event
from pyacl.kernel import Binary, Kernel, Plan
from pyacl.kernel_args import KernelArgs
from pyacl.launch_config import LaunchConfig
from pyacl.memory import DeviceBuffer, HostBuffer
from pyacl.model import Branch, Graph, GraphCondition, Model, Task, TaskGroup, capture_thread_mode
from pyacl.notify import CountNotify, Notify
from pyacl.report import ReportThread, process_report, subscribe_report, unsubscribe_report
from pyacl.stream import Stream
from pyacl.symbol import Symbol

__version__ = "0.1.0"

__all__ = [
    "Binary",
    "Branch",
    "Context",
    "CountNotify",
    "Device",
    "DeviceBuffer",
    "Event",
    "ExceptionInfo",
    "Graph",
    "GraphCondition",
    "HostBuffer",
    "Kernel",
    "KernelArgs",
    "LaunchBatch",
    "LaunchConfig",
    "Model",
    "Notify",
    "Plan",
    "ReportThread",
    "Stream",
    "Symbol",
    "Task",
    "TaskGroup",
    "capture_thread_mode",
    "emulator",
    "get_include",
    "get_library_dir",
    "process_report",
    "register_device_callback",
    "register_exception_callback",
    "register_stream_callback",
    "register_task_abort_callback",
    "runtime",
    "subscribe_report",
    "unregister_exception_callback",
    "unsubscribe_report",
]
__all__ += enums.__all__
__all__ += errors.__all__


def get_include() -> str:
    """The folder with the C headers: ``acl/acl.h``, ``pyacl/kernel.h``, and ``table.h`` for ``cimport pyacl.acl``."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def get_library_dir() -> str:
    """The folder with the emulator as ``libascendcl.so``, for programs that link ``-lascendcl`` without an NPU."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "lib", "ascend")
