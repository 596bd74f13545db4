from collections.abc import Callable
from typing import NamedTuple

from pyacl.enums import DeviceState, DeviceTaskAbortStage, StreamState
from pyacl.stream import Stream

class ExceptionInfo(NamedTuple):
    """What is known of a task that failed on the device."""

    device_index: int
    stream_id: int
    task_id: int
    thread_id: int
    error_code: int
    function: int | None
    arguments: tuple[int, int] | None

def register_stream_callback(name: str, function: Callable[[Stream, StreamState], object] | None) -> None:
    """Have a function called whenever a stream was created or is about to be destroyed."""

def register_device_callback(name: str, function: Callable[[int, DeviceState], object] | None) -> None:
    """Have a function called before and after a device is set or reset."""

def register_task_abort_callback(name: str, function: Callable[[int, DeviceTaskAbortStage, float], object] | None) -> None:
    """Have a function called before and after the tasks of a device are aborted."""

def register_exception_callback(function: Callable[[ExceptionInfo], object]) -> None:
    """Have a function called with an `ExceptionInfo` for each task that fails on a device."""

def unregister_exception_callback(function: Callable[[ExceptionInfo], object]) -> None:
    """Call a function no more that `register_exception_callback` was given."""
