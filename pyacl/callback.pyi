from collections.abc import Callable

from pyacl.enums import StreamState
from pyacl.stream import Stream

def register_stream_callback(name: str, function: Callable[[Stream, StreamState], object] | None) -> None:
    """Have a function called whenever a stream was created or is about to be destroyed."""
