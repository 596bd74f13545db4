# cython: language_level=3, binding=False, embedsignature=True
"""Batches: launches, event records and waits, on one or several streams, submitted in one go.

The border between Python and C is crossed once for all of them, so a launch costs what a C loop pays. A batch can be
submitted again and again; its arguments can be changed in between, one launch at a time or all from an array.
"""
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

import numpy as np

from pyacl._handle cimport Handle
from pyacl._runtime cimport acl, raise_error
from pyacl.acl cimport aclError
from pyacl.event cimport Event
from pyacl.kernel cimport Plan
from pyacl.stream cimport Stream

cdef enum:
    SLOT = 8
    FIRST_ROOM = 64

# What NumPy calls the kinds of a spec. bf16 has no NumPy type: its launches are changed one at a time.
DTYPES = {
    "p": np.uint64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "bool": np.bool_,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip

NAMES = {LAUNCH: "aclrtLaunchKernelWithHostArgs", RECORD: "aclrtRecordEvent", WAIT: "aclrtStreamWaitEvent"}


cdef class LaunchBatch:
    """An ordered list of submissions.

    Examples
    --------
    >>> batch = pyacl.LaunchBatch()
    >>> for row in rows:
    ...     batch.launch(plan, row.address, row.length)
    >>> batch.record(done, stream)
    >>> batch.submit()
    """

    def __dealloc__(self):
        free(self.items)
        free(self.packed)

    def __init__(self):
        self._plans = []
        self._used = {}
        self._launches = []

    def __len__(self):
        return self.count

    cdef int reserve(self, size_t size) except -1:
        """Room for one item and `size` bytes of arguments more."""
        cdef size_t room
        if self.count == self.room:
            room = max(<size_t>FIRST_ROOM, 2 * self.room)
            items = realloc(self.items, room * sizeof(Item))
            if items is NULL:
                raise MemoryError
            self.items = <Item *>items
            self.room = room
        if self.bytes + size > self.bytes_room:
            room = max(2 * self.bytes_room, self.bytes + size, <size_t>FIRST_ROOM * SLOT)
            packed = realloc(self.packed, room)
            if packed is NULL:
                raise MemoryError
            self.packed = <unsigned char *>packed
            self.bytes_room = room
        return 0

    cdef Item *add_item(self, Step step, void *stream, void *subject) except NULL:
        cdef Item *item = &self.items[self.count]
        memset(item, 0, sizeof(Item))
        item.step = step
        item.stream = stream
        item.subject = subject
        item.offset = self.bytes
        self.count += 1
        return item

    def launch(self, Plan plan not None, *args):
        """Add a launch of `plan` with these values, packed now; what they point to has to live until it ran."""
        cdef Item *item
        cdef void *stream
        plan.require_open()
        self.reserve(plan.bytes)
        memset(self.packed + self.bytes, 0, plan.bytes)
        plan.pack(self.packed + self.bytes, args)
        stream = NULL if plan.stream is None else plan.stream._handle
        item = self.add_item(LAUNCH, stream, plan.kernel._handle)
        item.blocks = plan._blocks
        item.size = plan.bytes
        item.cfg = plan.cfg
        item.placeholders = plan.placeholders
        item.placeholder_count = plan.placeholder_count
        self.bytes += plan.bytes
        self._plans.append(plan)
        self._used[plan] = None
        self._launches.append(self.count - 1)

    def record(self, Event event not None, Stream stream not None):
        """Add a record of `event` on `stream`."""
        event.use()
        stream.use()
        self.reserve(0)
        self.add_item(RECORD, stream._handle, event._handle)
        self._used[event] = self._used[stream] = None

    def wait(self, Stream stream not None, Event event not None):
        """Let what follows on `stream` wait for `event`: its newest record when the batch gets here."""
        event.use()
        stream.use()
        self.reserve(0)
        self.add_item(WAIT, stream._handle, event._handle)
        self._used[event] = self._used[stream] = None

    def replace(self, size_t index, *args):
        """Give the launch number `index` (counted from 0, launches only) new values."""
        cdef Item *item
        cdef Plan plan
        if index >= <size_t>len(self._launches):
            raise IndexError(f"launch {index} of {len(self._launches)}")
        plan = self._plans[index]
        item = &self.items[<size_t>self._launches[index]]
        fresh = plan.packed(*args)
        memcpy(self.packed + item.offset, <char *>(<bytes>fresh), item.size)

    def update(self, values):
        """Give every launch new values from an array, in place.

        Parameters
        ----------
        values : array_like, shape (launches, arguments)
            Row by row in the order of the launches, which must all have the same spec.

        Raises
        ------
        ValueError
            Wrong shape, launches of different specs, or a ``bytes``, ``data`` or ``bf16`` argument among them.
        OverflowError
            A value does not fit its argument. Nothing is changed then.
        """
        cdef Plan first
        if not self._plans:
            raise ValueError("the batch has no launches")
        first = self._plans[0]
        words = first.spec.split()
        if any((<Plan>plan).spec != first.spec for plan in self._plans):
            raise ValueError("the launches have different specs")
        unknown = [word for word in words if word not in DTYPES]
        if unknown:
            raise ValueError(f"arguments {', '.join(unknown)} cannot come from an array")
        values = np.asarray(values)
        if values.shape != (len(self._plans), len(words)):
            raise ValueError(f"values have the shape {values.shape}, expected {(len(self._plans), len(words))}")
        columns = [convert(values[:, i], word, i) for i, word in enumerate(words)]
        target = np.ndarray((len(self._plans), first.bytes), np.uint8, self.view())
        for i, column in enumerate(columns):
            size = column.dtype.itemsize
            target[:, i * SLOT : i * SLOT + size] = column.view(np.uint8).reshape(-1, size)

    def arguments(self):
        """The packed arguments of all launches, one behind the other, as bytes."""
        return <bytes>self.packed[:self.bytes]

    cdef view(self):
        """All arguments as a writable buffer, for the length of one call."""
        return <unsigned char[:self.bytes]>self.packed

    cdef int prepare(self) except -1:
        """Everything is still open; and its streams are no longer known to have room (see _gil.pyx)."""
        cdef Plan plan
        for thing in self._used:
            if isinstance(thing, Plan):
                plan = thing
                plan.require_open()
                stream = plan.stream
            else:
                (<Handle>thing).use()
                stream = thing
            if isinstance(stream, Stream):
                (<Stream>stream)._room.left = 0
        return 0

    cdef int keep_recorded(self) except -1:
        """What was recorded by a capture belongs to its graph now."""
        used = list(self._used)
        for stream in {(<Plan>thing).stream if isinstance(thing, Plan) else thing for thing in used}:
            if isinstance(stream, Stream):
                (<Stream>stream).keep_recorded(used, None)
        return 0

    cdef aclError run(self, size_t *failed) noexcept nogil:
        cdef size_t i
        cdef Item *item
        cdef aclError code = 0
        for i in range(self.count):
            item = &self.items[i]
            if item.step == LAUNCH:
                code = acl.aclrtLaunchKernelWithHostArgs(
                    item.subject, item.blocks, item.stream, item.cfg, self.packed + item.offset, item.size,
                    item.placeholders, item.placeholder_count,
                )
            elif item.step == RECORD:
                code = acl.aclrtRecordEvent(item.subject, item.stream)
            else:
                code = acl.aclrtStreamWaitEvent(item.stream, item.subject)
            if code != 0:
                failed[0] = i
                return code
        return 0

    def submit(self):
        """Submit everything, in order (one C call each, all in one crossing).

        Raises
        ------
        AclError
            An item was refused, with its number in a note; the items before it are submitted.

        Notes
        -----
        Blocks while a stream's queue is full; releases the GIL, once. Source: CANN Runtime API, 14 Kernel loading and
        execution, 07 Event management.
        """
        cdef size_t failed = 0
        cdef aclError code
        self.prepare()
        with nogil:
            code = self.run(&failed)
        if code == 0:
            self.keep_recorded()
            return
        try:
            raise_error(code, NAMES[self.items[failed].step].encode())
        except Exception as error:
            note = f"item {failed} of a batch of {self.count}; those before it are submitted"
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(note)
            raise

    def __repr__(self):
        return f"<pyacl.LaunchBatch, {len(self._launches)} launches, {self.count - <size_t>len(self._launches)} records and waits>"


cdef convert(column, str word, int index):
    """The column as the argument's own type; refuses values that would become others."""
    dtype = np.dtype(DTYPES[word])
    with np.errstate(over="ignore", invalid="ignore"):
        converted = np.ascontiguousarray(column.astype(dtype))
    if dtype.kind in "iu" and not np.array_equal(converted.astype(object), column.astype(object)):
        raise OverflowError(f"argument {index + 1}: a value does not fit {word}")
    if dtype.kind == "f" and not np.array_equal(np.isfinite(converted), np.isfinite(column.astype(np.float64))):
        raise OverflowError(f"argument {index + 1}: a value is too large for {word}")
    return converted
