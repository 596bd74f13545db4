"""Exceptions: one class where a caller would act differently, and everything the runtime said in each.

Business outcomes of a synchronize (overflow, end of sequence, ...) are no errors: see `SyncResult`.
"""

from __future__ import annotations

import enum

from pyacl._error_table import ERRORS

__all__ = [
    "AclError",
    "CaptureError",
    "ClosedError",
    "DeviceFaultError",
    "DeviceMismatchError",
    "EmulatedRuntimeWarning",
    "EventExhaustedError",
    "ForkedError",
    "InvalidParamError",
    "NoContextError",
    "NotInitializedError",
    "NotSupportedError",
    "OutOfDeviceMemoryError",
    "ResourceExhaustedError",
    "RuntimeFailure",
    "RuntimeNotFoundError",
    "StreamAbortedError",
    "StreamExhaustedError",
    "StreamTimeoutError",
    "SyncResult",
]


class EmulatedRuntimeWarning(RuntimeWarning):
    """No NPU answers: the emulator does, and nobody asked for it."""


class SyncResult(enum.Enum):
    """How the work that a synchronize waited for ended. Failures raise instead.

    ======================= ====== =================================================
    member                  code   meaning
    ======================= ====== =================================================
    COMPLETE                0      everything ran
    OVERFLOW                207003 a kernel overflowed (also 207016 vector core, 207017 AI CPU or SDMA)
    END_OF_SEQUENCE         507005 the input ended
    MODEL_ABORTED           507023 a model was aborted on purpose
    SOCKET_CLOSED           507901 the other side of a socket went away
    ======================= ====== =================================================
    """

    COMPLETE = "complete"
    OVERFLOW = "overflow"
    END_OF_SEQUENCE = "end of sequence"
    MODEL_ABORTED = "model aborted"
    SOCKET_CLOSED = "socket closed"


SYNC_RESULTS = {
    0: SyncResult.COMPLETE,
    207003: SyncResult.OVERFLOW,
    207016: SyncResult.OVERFLOW,
    207017: SyncResult.OVERFLOW,
    507005: SyncResult.END_OF_SEQUENCE,
    507023: SyncResult.MODEL_ABORTED,
    507901: SyncResult.SOCKET_CLOSED,
}


class AclError(RuntimeError):
    """A call of the runtime failed.

    Attributes
    ----------
    code : int
        The ``aclError``.
    name : str
        Its C name, e.g. ``"ACL_ERROR_RT_CONTEXT_NULL"``.
    call : str
        The C function that returned it.
    message : str
        What the runtime itself said (``aclGetRecentErrMsg``), read at once on the failing thread; may be empty.
    hint : str
        What usually helps; may be empty.
    category : str
        ``"argument"``, ``"state"``, ``"resource"``, ``"support"``, ``"device"``, ``"capture"`` or ``"internal"``.
    """

    category = "internal"

    def __init__(self, code: int, call: str, message: str = "") -> None:
        self.code = code
        self.call = call
        self.message = message
        self.name, self.meaning = ERRORS.get(code, ("unknown error", ""))
        self.hint = HINTS.get(code, "")
        super().__init__(code, call, message)

    def __str__(self) -> str:
        text = f"{self.call} failed with {self.code} ({self.name}): {self.message or self.meaning}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class InvalidParamError(AclError, ValueError):
    """An argument was refused (100000, 107000, 107001, 107017 and their kin)."""

    category = "argument"


class NotInitializedError(AclError):
    """Something has not been set up (100001, 107021, 507033)."""

    category = "state"


class NoContextError(AclError):
    """The calling thread has no current context (107002), or it is gone (507007)."""

    category = "state"


class DeviceMismatchError(AclError):
    """A stream, event or model of one context was used under another (107003, 107004, 507031)."""

    category = "state"


class ResourceExhaustedError(AclError):
    """There is no more of something."""

    category = "resource"


class StreamExhaustedError(ResourceExhaustedError):
    """All streams of the device are in use (207008); default streams count."""


class EventExhaustedError(ResourceExhaustedError):
    """All events are in use (207007)."""


class OutOfDeviceMemoryError(ResourceExhaustedError, MemoryError):
    """Memory ran out (207001, 207005)."""


class NotSupportedError(AclError, NotImplementedError):
    """This product, library or emulator does not have it (207000, 200001, 200006, or an absent function)."""

    category = "support"


class StreamAbortedError(AclError):
    """The stream or its device was aborted while the call waited or submitted (107022, 107023, 107035)."""

    category = "device"


class StreamTimeoutError(AclError, TimeoutError):
    """The wait ended before the work did (507046, 507047, 507012, 107019); the stream stays usable."""

    category = "state"


class CaptureError(AclError):
    """A call broke a rule of stream capture (1070xx and 507903), or failed within a ``with stream.capture()`` block.

    Attributes
    ----------
    filename : str or None
        Where the Python call stands that broke the capture, if that is known.
    lineno : int or None
        Its line.
    """

    category = "capture"
    filename: str | None = None
    lineno: int | None = None

    def at(self, filename: str, lineno: int) -> CaptureError:
        """This error, with the place of the call that broke the capture."""
        self.filename, self.lineno = filename, lineno
        return self

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n  the capture was broken at {self.filename}:{self.lineno}" if self.filename else text


class DeviceFaultError(AclError):
    """A task failed on the device: exception, trap, timeout, copy error."""

    category = "device"


class RuntimeFailure(AclError):
    """Any other failure of the runtime or the driver."""


class RuntimeNotFoundError(RuntimeError):
    """No runtime could be loaded; the text says what was looked for and where."""


class ClosedError(RuntimeError):
    """The object was closed before. Raised before any call of the runtime."""


class ForkedError(RuntimeError):
    """The object was made before a fork: its streams and threads exist only in the parent."""


CLASSES: dict[int, type[AclError]] = {
    **dict.fromkeys((100000, 107000, 107001, 107006, 107007, 107016, 107017, 107042, 107043, 107044), InvalidParamError),
    **dict.fromkeys((100001, 107021, 507033), NotInitializedError),
    **dict.fromkeys((107002, 507007), NoContextError),
    **dict.fromkeys((107003, 107004, 507031), DeviceMismatchError),
    207008: StreamExhaustedError,
    207007: EventExhaustedError,
    **dict.fromkeys((207001, 207005, 200000), OutOfDeviceMemoryError),
    **dict.fromkeys((207009, 207010, 207011, 507002), ResourceExhaustedError),
    **dict.fromkeys((-2, 200001, 200006, 207000), NotSupportedError),
    **dict.fromkeys((107022, 107023, 107035), StreamAbortedError),
    **dict.fromkeys((107019, 507012, 507046, 507047), StreamTimeoutError),
    **dict.fromkeys((*range(107024, 107035), 107036, 107038, 107041, 107045, 507903), CaptureError),
    **dict.fromkeys((107020, 507011, *range(507013, 507019), *range(507034, 507037)), DeviceFaultError),
}

HINTS = {
    107001: "pyacl.Device.count() tells how many devices are visible; ASCEND_RT_VISIBLE_DEVICES may hide some.",
    107002: "Each thread needs a current context: make it with pyacl.Device(index) in this thread.",
    107003: "Make the stream's device or context current in this thread before using the stream.",
    107005: "The stream is (or is not) bound to a model; unbind it, or bind it first.",
    107006: "Make the event with timing (EventFlag.TIME_LINE) and wait for it before asking for its time.",
    107011: "A stream takes either host functions or a report thread, not both.",
    107017: "The object was destroyed, or its device was reset.",
    107023: "The stream was aborted; it is empty and usable now.",
    107025: "Record an event on every stream that joined the capture, and wait for it on the origin, before the end.",
    107027: "This call is not allowed on a stream that is capturing; end the capture first.",
    107028: "The event belongs to a capture; use one made outside it.",
    107030: "Synchronous copies are not allowed during this capture; use an asynchronous one, or the RELAXED mode.",
    107041: "Copies from pageable memory cannot be captured; use pyacl.HostBuffer.",
    207000: "See the product table of the call in its docstring.",
    207001: "Free device memory, or look for buffers that are still referenced.",
    207007: "Close events that are not needed; Ex events do not use hardware ids.",
    207008: "Close streams that are not needed; the default streams count too.",
    507002: "A persistent stream cannot drain: execute its model, or clean its tasks.",
    507007: "Reset a device once per time it was set.",
    507046: "The stream goes on; synchronize again, or abort() it.",
    507047: "The event is still to come; wait again.",
}


def make_error(code: int, call: str, message: str) -> AclError:
    """The exception for `code` returned by the C function `call`."""
    return CLASSES.get(code, RuntimeFailure)(code, call, message)
