# cython: language_level=3, binding=False, embedsignature=True
"""Kernels: binaries, the functions in them, and launches.

A launch has two stages. ``plan = kernel.bind("p p u32", blocks=8, stream=s)`` looks everything up and lays the arguments
out, once. ``plan(a, b, n)`` packs the values at their places on the C stack and launches: no allocation, no tuple, no
keywords.
"""
import os

import cython

from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from pyacl cimport acl as abi
from pyacl._arguments cimport (
    SLOT, Layout, Slot, find_layout, fit_layout, guess_layout, pack_fast, put, wrong_count,
)
from pyacl._gil cimport count_submission, keeps_gil
from pyacl._handle cimport Handle
from pyacl._runtime cimport acl, check, ensure_initialized, fork_generation
from pyacl.callback cimport Callback, exception_function, new_callback
from pyacl.launch_config cimport LaunchConfig, config_address
from pyacl.memory cimport DeviceBuffer
from pyacl.stream cimport Stream, check_on, raise_on

from pyacl.enums import FuncAttribute, KernelType

cdef extern from *:
    """
    static void enable_vectorcall(PyObject *object, Py_ssize_t offset) {
        PyTypeObject *type = (PyTypeObject *)object;
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        type->tp_call = PyVectorcall_Call;
        PyType_Modified(type);
    }
    """
    void enable_vectorcall(object type, Py_ssize_t offset)
    size_t PyVectorcall_NARGS(size_t nargsf)

cdef enum:
    INLINE_BYTES = 512     # arguments up to here are packed on the stack
    MOST_BLOCKS = 65535
    MOST_NAME = 4096


# ---- binaries ----

cdef class Binary(Handle):
    """Compiled kernels, loaded onto the device (``aclrtBinaryLoadFromFile``, ``aclrtBinaryLoadFromData``).

    Parameters
    ----------
    source : str, os.PathLike or bytes-like
        A file, or its content. On the emulator a shared object of host functions, see ``pyacl/kernel.h``.
    magic : BinaryMagic, optional
        Which kind of core it is for. Needed for data on a real NPU, where files say it themselves.
    lazy : bool, default False
        Load when the first function of it is launched.
    cpu_mode : int, optional
        It holds AI CPU kernels: 0 from an operator's description alone, 1 from its library, 2 from a library in `source`.

    Raises
    ------
    FileNotFoundError
        No such file.
    InvalidParamError
        Not a kernel binary (107000).
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Blocks; releases the GIL. Source: CANN Runtime API, 14 Kernel loading and execution.
    """

    _exit_rank = 1

    def __init__(self, source, magic=None, lazy=False, cpu_mode=None):
        cdef abi.aclrtBinaryLoadOption options[3]
        cdef abi.aclrtBinaryLoadOptions load
        cdef abi.aclrtBinaryLoadOptions *chosen = NULL
        load.options = options
        load.numOpt = 0
        ensure_initialized()
        if magic is not None:
            add_option(&load, abi.ACL_RT_BINARY_LOAD_OPT_MAGIC, magic)
        if lazy:
            add_option(&load, abi.ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, 1)
        if cpu_mode is not None:
            add_option(&load, abi.ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, cpu_mode)
        if load.numOpt > 0:
            chosen = &load
        if isinstance(source, (str, os.PathLike)):
            self.adopt(load_file(os.fsencode(source), chosen), True, None)
        else:
            self._data = bytes(memoryview(source))
            self.adopt(load_data(self._data, chosen), True, None)

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtBinHandle`` loaded elsewhere; `owner` is kept alive as long as this object."""
        cdef Binary self = Binary.__new__(Binary)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    def kernel(self, str name not None):
        """Look a kernel up by its name (``aclrtBinaryGetFunction``).

        Raises
        ------
        InvalidParamError
            The binary has no kernel of that name (107000).
        """
        cdef bytes c_name = name.encode()
        cdef const char *text = c_name
        cdef abi.aclrtFuncHandle function = NULL
        self.use()
        with nogil: check(acl.aclrtBinaryGetFunction(self._handle, text, &function), "aclrtBinaryGetFunction")
        return new_kernel(self, function, name)

    def kernel_by_entry(self, entry):
        """Look a kernel up by its entry, the number that tells the variants of one operator apart.

        C: ``aclrtBinaryGetFunctionByEntry``. As in compiled operators, it is the number that the kernel's name ends in:
        7 finds ``add_7``.

        Raises
        ------
        InvalidParamError
            The binary has no kernel of that entry (107000).
        """
        cdef uint64_t key = entry
        cdef abi.aclrtFuncHandle function = NULL
        self.use()
        with nogil:
            check(acl.aclrtBinaryGetFunctionByEntry(self._handle, key, &function), "aclrtBinaryGetFunctionByEntry")
        return new_kernel(self, function, None)

    def cpu_kernel(self, str function not None, str name not None):
        """Register a kernel of AI CPU code: `function` of the library, as the operator `name` (``aclrtRegisterCpuFunc``).

        Raises
        ------
        NotSupportedError
            The binary holds no AI CPU kernels; on the emulator none does (207000).
        """
        cdef bytes c_function = function.encode()
        cdef bytes c_name = name.encode()
        cdef const char *function_text = c_function
        cdef const char *name_text = c_name
        cdef abi.aclrtFuncHandle handle = NULL
        self.use()
        with nogil:
            check(acl.aclrtRegisterCpuFunc(self._handle, function_text, name_text, &handle), "aclrtRegisterCpuFunc")
        return new_kernel(self, handle, name)

    def variable(self, str name not None):
        """A global variable of the binary on the current device, as memory (``aclrtBinaryGetGlobal``).

        Returns
        -------
        DeviceBuffer
            Borrowed; keeps the binary loaded.

        Raises
        ------
        InvalidParamError
            The binary has no variable of that name (107042).
        """
        cdef bytes c_name = name.encode()
        cdef const char *text = c_name
        cdef void *address = NULL
        cdef size_t nbytes = 0
        self.use()
        with nogil: check(acl.aclrtBinaryGetGlobal(self._handle, text, &address, &nbytes), "aclrtBinaryGetGlobal")
        return DeviceBuffer.from_handle(<uintptr_t>address, nbytes, self)

    @property
    def device_extent(self):
        """Where its code lies on the device and how many bytes it has: (address, nbytes) (``aclrtBinaryGetDevAddress``)."""
        cdef void *address = NULL
        cdef size_t nbytes = 0
        self.use()
        with nogil: check(acl.aclrtBinaryGetDevAddress(self._handle, &address, &nbytes), "aclrtBinaryGetDevAddress")
        return <uintptr_t>address, nbytes

    def on_exception(self, function):
        """Have a function called with an `ExceptionInfo` when a kernel of this binary fails.

        C: ``aclrtBinarySetExceptionCallback``. As `register_exception_callback`, after those; a second function takes the
        place of the first. Releases the GIL.
        """
        cdef Callback callback = new_callback(function)
        cdef abi.aclrtOpExceptionCallback called = exception_function()
        self.use()
        with nogil:
            check(
                acl.aclrtBinarySetExceptionCallback(self._handle, called, <void *>callback),
                "aclrtBinarySetExceptionCallback",
            )
        self._on_exception = callback

    def close(self):
        """Unload it (``aclrtBinaryUnLoad``). Its kernels raise `ClosedError` from now on.

        Wait for the launches first: the runtime does not. Blocks; releases the GIL.
        """
        if self._closed:
            return
        self.use()
        self._closed = True
        if self._owned:
            with nogil: check(acl.aclrtBinaryUnLoad(self._handle), "aclrtBinaryUnLoad")
        self._data = self._parent = None

    def __dealloc__(self):
        if self.must_destroy():
            with nogil:
                acl.aclrtBinaryUnLoad(self._handle)


cdef int add_option(abi.aclrtBinaryLoadOptions *load, abi.aclrtBinaryLoadOptionType kind, value) except -1:
    cdef abi.aclrtBinaryLoadOption *option = &load.options[load.numOpt]
    memset(option, 0, sizeof(option[0]))
    option.type = kind
    option.value.magic = value  # all members begin at the same place
    load.numOpt += 1
    return 0


cdef void *load_file(bytes path, abi.aclrtBinaryLoadOptions *options) except? NULL:
    cdef abi.aclrtBinHandle handle = NULL
    cdef const char *name = path
    if not os.path.exists(path):
        raise FileNotFoundError(f"no kernel binary {os.fsdecode(path)!r}")
    with nogil: check(acl.aclrtBinaryLoadFromFile(name, options, &handle), "aclrtBinaryLoadFromFile")
    return handle


cdef void *load_data(bytes data, abi.aclrtBinaryLoadOptions *options) except? NULL:
    cdef abi.aclrtBinHandle handle = NULL
    cdef const char *start = data
    cdef size_t size = len(data)
    with nogil: check(acl.aclrtBinaryLoadFromData(start, size, options, &handle), "aclrtBinaryLoadFromData")
    return handle


# ---- kernels ----

cdef Kernel new_kernel(Binary binary, void *function, name):
    cdef Kernel kernel = Kernel.__new__(Kernel)
    kernel.adopt(function, False, binary)
    kernel._name = name
    kernel._binary = binary
    return kernel


cdef class Kernel(Handle):
    """A kernel of a `Binary`, from ``binary.kernel(name)``. Keeps the binary loaded."""

    def __init__(self):
        raise TypeError("a Kernel comes from Binary.kernel(name), or from Kernel.from_handle(handle)")

    @classmethod
    def from_handle(cls, handle, owner=None):
        """Borrow an ``aclrtFuncHandle``; `owner` is kept alive as long as this object."""
        cdef Kernel self = Kernel.__new__(Kernel)
        ensure_initialized()
        self.adopt(<void *><uintptr_t>handle, False, owner)
        return self

    @classmethod
    def from_symbol(cls, symbol):
        """The kernel that compiled host code has registered under an address (``aclrtGetFuncBySymbol``).

        Raises
        ------
        InvalidParamError
            Nothing is registered there; on the emulator nothing ever is (107044).
        """
        cdef void *address = <void *><uintptr_t>PyNumber_Index(symbol)
        cdef abi.aclrtFuncHandle function = NULL
        ensure_initialized()
        with nogil: check(acl.aclrtGetFuncBySymbol(address, &function), "aclrtGetFuncBySymbol")
        return cls.from_handle(<uintptr_t>function)

    cdef int require_open(self) except -1:
        self.use()
        if self._binary is not None:
            self._binary.use()
        return 0

    @property
    def name(self):
        """What it was looked up by, or else what the runtime calls it (``aclrtGetFunctionName``)."""
        cdef char text[MOST_NAME]
        if self._name is None:
            self.require_open()
            with nogil: check(acl.aclrtGetFunctionName(self._handle, MOST_NAME, text), "aclrtGetFunctionName")
            self._name = text.decode()
        return self._name

    @property
    def binary(self):
        """The binary it is in; for a borrowed function the one that the runtime names (``aclrtFunctionGetBinary``)."""
        cdef abi.aclrtBinHandle handle = NULL
        self.require_open()
        if self._binary is not None:
            return self._binary
        with nogil: check(acl.aclrtFunctionGetBinary(self._handle, &handle), "aclrtFunctionGetBinary")
        return Binary.from_handle(<uintptr_t>handle, self)

    def attribute(self, which):
        """One attribute, an int (``aclrtGetFunctionAttribute``).

        Parameters
        ----------
        which : FuncAttribute
            KERNEL_TYPE, KERNEL_SCHED_MODE, or KERNEL_RATIO (of cube to vector cores, which only mixed kernels have).

        Raises
        ------
        NotSupportedError
            This kernel does not have it (207000).
        """
        cdef abi.aclrtFuncAttribute kind = which
        cdef int64_t value = 0
        self.require_open()
        with nogil: check(acl.aclrtGetFunctionAttribute(self._handle, kind, &value), "aclrtGetFunctionAttribute")
        return value

    @property
    def type(self):
        """Which cores run it, a `KernelType` (``aclrtGetFunctionAttribute``)."""
        return KernelType(self.attribute(FuncAttribute.KERNEL_TYPE))

    @property
    def addresses(self):
        """Where it begins on the device: (cube core, vector core), 0 for none (``aclrtGetFunctionAddr``)."""
        cdef void *cube = NULL
        cdef void *vector = NULL
        self.require_open()
        with nogil: check(acl.aclrtGetFunctionAddr(self._handle, &cube, &vector), "aclrtGetFunctionAddr")
        return <uintptr_t>cube, <uintptr_t>vector

    @property
    def code_sizes(self):
        """Bytes of its code: (cube core, vector core), 0 for none (``aclrtGetFunctionSize``)."""
        cdef size_t cube = 0
        cdef size_t vector = 0
        self.require_open()
        with nogil: check(acl.aclrtGetFunctionSize(self._handle, &cube, &vector), "aclrtGetFunctionSize")
        return cube, vector

    @property
    def parameters(self):
        """Offset and bytes of each parameter (``aclrtFunctionGetParamCount``, ``aclrtFunctionGetParamInfo``).

        Raises
        ------
        InvalidParamError
            The kernel tells nothing about them (107000). On the emulator ``PYACL_KERNEL_PARAMS`` does.
        """
        cdef size_t count = 0
        cdef size_t offset = 0
        cdef size_t nbytes = 0
        cdef size_t i
        self.require_open()
        check(acl.aclrtFunctionGetParamCount(self._handle, &count), "aclrtFunctionGetParamCount")
        result = []
        for i in range(count):
            check(acl.aclrtFunctionGetParamInfo(self._handle, i, &offset, &nbytes), "aclrtFunctionGetParamInfo")
            result.append((offset, nbytes))
        return result

    def bind(self, spec="", *, blocks=1, stream=None, config=None):
        """Prepare launches of this kernel: `plan(values...)` then launches.

        Parameters
        ----------
        spec : str or sequence of str
            One word per argument: ``p`` (address), ``u8 u16 u32 u64``, ``i8 i16 i32 i64``, ``bool``, ``f16``, ``bf16``,
            ``f32``, ``f64``, ``bytes[N]`` for N raw bytes, or ``data[N]`` for N bytes that travel with the arguments and
            reach the kernel as an address (a placeholder). Each lands in slots of 8 bytes, in this order.
        blocks : int, default 1
            How many blocks run the kernel, 1 to 65,535.
        stream : Stream, optional
            Where to launch; the current context's default stream without one.
        config : LaunchConfig, optional
            Attributes of the launches.

        Returns
        -------
        Plan
        """
        return make_plan(self, find_layout(spec), blocks, stream, config)

    def launch(self, stream, blocks, *args, config=None):
        """``launch(stream, blocks, [spec,] *values)``: launch once (``aclrtLaunchKernelWithHostArgs``).

        For launches that repeat, `bind` is faster.

        Parameters
        ----------
        stream : Stream or None
            None: the current context's default stream.
        blocks : int
            1 to 65,535.
        spec : str, optional
            As for `bind`. Without it kinds follow from the values: int (64 bits wide: what a narrower parameter reads is
            the same), bool, buffers and arrays (their address), NumPy scalars (their own type), bytes (as they are). A
            Python float could mean any width: pass ``numpy.float32(x)``, or give a spec.
        *values
            The arguments.
        config : LaunchConfig, optional
            Attributes of the launch.

        Raises
        ------
        TypeError, OverflowError
            An argument is not what the spec says, or does not fit.
        DeviceMismatchError
            The stream does not belong to the current context (107003).
        StreamAbortedError
            The stream or device is being aborted (107022, 107023).

        Notes
        -----
        Releases the GIL: blocks while the stream's queue is full. The arguments are copied during the call; what they
        point to has to live until the stream has passed. Source: CANN Runtime API, 14 Kernel loading and execution.
        """
        layout, values = split(args)
        make_plan(self, layout, blocks, stream, config)(*values)

    def launch_device_args(self, Stream stream not None, blocks, DeviceBuffer args not None, LaunchConfig config=None):
        """Launch with arguments that lie packed in device memory (``aclrtLaunchKernel``, ``…V2`` with a config).

        Parameters
        ----------
        stream : Stream
        blocks : int
            1 to 65,535.
        args : DeviceBuffer
            The packed arguments, all of it; see `Plan.packed`. They are read when the kernel runs: leave them alone until
            then. Kept until the stream has passed the launch.
        config : LaunchConfig, optional
            Attributes of the launch.

        Notes
        -----
        Releases the GIL, raises, and blocks like `launch`.
        """
        cdef uint32_t count = count_blocks(blocks)
        cdef void *queue = stream._handle
        cdef void *address
        cdef size_t nbytes = args.nbytes
        cdef abi.aclrtLaunchKernelCfg *cfg = config_address(config)
        cdef abi.aclError code
        cdef const char *call = "aclrtLaunchKernel" if config is None else "aclrtLaunchKernelV2"
        self.require_open()
        stream.use()
        args.use_memory()
        address = args._handle
        count_submission(&stream._room)
        with nogil:
            if cfg is NULL:
                code = acl.aclrtLaunchKernel(self._handle, count, address, nbytes, queue)
            else:
                code = acl.aclrtLaunchKernelV2(self._handle, count, address, nbytes, cfg, queue)
        if code != 0:
            raise_on(stream, code, call)
        stream.keep(self, args)

    def launch_array(self, Stream stream, blocks, *args, LaunchConfig config=None):
        """`launch` by one pointer per parameter (``aclrtLaunchKernelWithArgsArray``).

        The runtime packs the values by what the kernel tells of its parameters, so they are checked against that first:
        a Python int or float becomes as wide as its parameter.

        Raises
        ------
        InvalidParamError
            The kernel tells nothing about its parameters (107000).
        ValueError, TypeError
            Values that do not fit the parameters' count and sizes.
        """
        cdef ArgumentArray array = ArgumentArray(self, args)
        cdef uint32_t count = count_blocks(blocks)
        cdef void *queue = open_queue(stream)
        cdef abi.aclrtLaunchKernelCfg *cfg = config_address(config)
        cdef abi.aclError code
        with nogil:
            code = acl.aclrtLaunchKernelWithArgsArray(self._handle, count, queue, cfg, array.pointers)
        finish_launch(self, stream, args, code, "aclrtLaunchKernelWithArgsArray")

    def launch_simt(self, Stream stream, grid, block, *args, dynamic_ubuf=0, LaunchConfig config=None):
        """Launch a SIMT kernel on a grid of blocks of threads (``aclrtLaunchSIMTKernelWithHostArgs``).

        Parameters
        ----------
        stream : Stream or None
            None: the current context's default stream.
        grid, block : int or sequence of up to 3 int
            How many blocks, and how many threads in each, along x, y and z.
        *args
            ``[spec,] *values`` as for `launch`.
        dynamic_ubuf : int, default 0
            Bytes of unified buffer for each block, besides the static ones.
        config : LaunchConfig, optional
            Attributes of the launch.

        Raises
        ------
        NotSupportedError
            The product has no SIMT cores; only the 950 does (207000).
        InvalidParamError
            No SIMT kernel, or a dimension that is 0 or over the device's limit (107000).

        Notes
        -----
        Releases the GIL, and blocks like `launch`. On the emulator every thread of the grid is one call of the host kernel.
        """
        cdef Layout layout
        cdef bytes packed
        cdef abi.dim3 blocks = dimensions(grid, "grid")
        cdef abi.dim3 threads = dimensions(block, "block")
        cdef size_t ubuf = dynamic_ubuf
        cdef void *queue = open_queue(stream)
        cdef abi.aclrtLaunchKernelCfg *cfg = config_address(config)
        cdef char *bytes_start
        cdef abi.aclError code
        layout, values = split(args)
        packed = layout.packed(values)
        bytes_start = packed
        self.require_open()
        with nogil:
            code = acl.aclrtLaunchSIMTKernelWithHostArgs(
                self._handle, blocks, threads, ubuf, queue, cfg, bytes_start, layout.bytes, layout.placeholders,
                layout.placeholder_count,
            )
        finish_launch(self, stream, values, code, "aclrtLaunchSIMTKernelWithHostArgs")

    def launch_simt_array(self, Stream stream, grid, block, *args, dynamic_ubuf=0, LaunchConfig config=None):
        """`launch_simt` by one pointer per parameter (``aclrtLaunchSIMTKernelWithArgsArray``); values as for `launch_array`."""
        cdef ArgumentArray array = ArgumentArray(self, args)
        cdef abi.dim3 blocks = dimensions(grid, "grid")
        cdef abi.dim3 threads = dimensions(block, "block")
        cdef size_t ubuf = dynamic_ubuf
        cdef void *queue = open_queue(stream)
        cdef abi.aclrtLaunchKernelCfg *cfg = config_address(config)
        cdef abi.aclError code
        with nogil:
            code = acl.aclrtLaunchSIMTKernelWithArgsArray(self._handle, blocks, threads, ubuf, queue, cfg, array.pointers)
        finish_launch(self, stream, args, code, "aclrtLaunchSIMTKernelWithArgsArray")

    def close(self):
        """Forget the function. It ends with its binary; nothing is destroyed here."""
        self._closed = True
        self._binary = self._parent = None

    def __repr__(self):
        return f"<pyacl.Kernel {self._name or hex(<uintptr_t>self._handle)}{', closed' if self._closed else ''}>"


# ---- what the launches share ----

cdef tuple split(tuple args):
    """The layout and the values of ``[spec,] *values``."""
    if args and isinstance(args[0], str):
        return find_layout(args[0]), args[1:]
    return guess_layout(args), args


cdef uint32_t count_blocks(blocks) except 0:
    blocks = PyNumber_Index(blocks)
    if not 1 <= blocks <= MOST_BLOCKS:
        raise ValueError(f"blocks is {blocks}, expected 1 to {MOST_BLOCKS}")
    return blocks


cdef abi.dim3 dimensions(sizes, str what) except *:
    cdef abi.dim3 result
    sizes = (sizes,) if hasattr(sizes, "__index__") else tuple(sizes)
    if not 1 <= len(sizes) <= 3 or any(not 1 <= size <= 0xFFFFFFFF for size in sizes):
        raise ValueError(f"{what} is {sizes}, expected one to three sizes of at least 1")
    result.x, result.y, result.z = (*sizes, 1, 1)[:3]
    return result


cdef void *open_queue(Stream stream) except? NULL:
    """Of a stream that is about to be submitted to by a call that releases the GIL; NULL stands for the default stream."""
    if stream is None:
        return NULL
    stream.use()
    count_submission(&stream._room)
    return stream._handle


cdef int finish_launch(Kernel kernel, Stream stream, object values, abi.aclError code, const char *call) except -1:
    if code != 0:
        raise_on(stream, code, call)
    if stream is not None:
        stream.keep_recorded(kernel, values)
    return 0


cdef class ArgumentArray:
    """Values packed by what a kernel tells of its parameters, and a pointer to each."""
    cdef bytes packed
    cdef void **pointers

    def __init__(self, Kernel kernel, tuple args):
        cdef Layout layout
        cdef uint32_t i
        sizes = [nbytes for _, nbytes in kernel.parameters]
        if args and isinstance(args[0], str):
            layout, args = split(args)
        else:
            layout = fit_layout(args, sizes)
        given = [layout.slots[i].size for i in range(layout.count)]
        if layout.placeholder_count > 0 or given != sizes:
            raise ValueError(f"{kernel!r} takes parameters of {sizes} bytes, not {given} ({layout.spec})")
        self.packed = layout.packed(args)
        self.pointers = <void **>malloc((layout.count + 1) * sizeof(void *))
        if self.pointers is NULL:
            raise MemoryError
        for i in range(layout.count):
            self.pointers[i] = <char *>self.packed + layout.slots[i].offset

    def __dealloc__(self):
        free(self.pointers)


# ---- plans ----

@cython.final
cdef class Plan:
    """A launch with everything settled but the values: call it with them, in the order of the spec.

    Comes from `Kernel.bind`. Calling it is safe from several threads at once. Whether it releases the GIL: see _gil.pyx.

    Attributes
    ----------
    kernel : Kernel
        What is launched.
    stream : Stream or None
        Where; None is the current context's default stream.
    spec : str
        One word per argument.
    config : LaunchConfig or None
        Attributes of its launches.
    """

    def __cinit__(self):
        self.vectorcall = <void *>call_plan

    def __init__(self):
        raise TypeError("a Plan comes from Kernel.bind(spec, blocks=..., stream=...)")

    @property
    def blocks(self):
        """How many blocks run the kernel."""
        return self._blocks

    cdef bint is_open(self) noexcept:
        """The quick look before each launch; `require_open` then says what is wrong."""
        if self.kernel._closed or self.kernel._generation != fork_generation:
            return False
        if self.kernel._binary is not None and self.kernel._binary._closed:
            return False
        return self.stream is None or not self.stream._closed

    cdef int require_open(self) except -1:
        self.kernel.require_open()
        if self.stream is not None:
            self.stream.use()
        return 0

    cdef int pack(self, void *packed, object arguments) except -1:
        return (<Layout>self._layout).pack(<unsigned char *>packed, arguments)

    cdef int submit(self, void *packed) except -1 nogil:
        return check_on(self.stream, launch(self, packed), "aclrtLaunchKernelWithHostArgs")

    def packed(self, *args):
        """The bytes that a call with these values would hand to the kernel."""
        return (<Layout>self._layout).packed(args)

    def __call__(self, *args):
        """Launch with these values (``aclrtLaunchKernelWithHostArgs``); positional only."""
        # For whoever calls the slot itself. Calls go to call_plan, which gets its arguments without a tuple.
        call_large(self, args)

    def __repr__(self):
        return f"<pyacl.Plan {self.kernel!r}({self.spec}), {self._blocks} blocks, on {self.stream!r}>"


cdef object call_plan(PyObject *callable, PyObject *const *arguments, size_t nargsf, PyObject *names):
    cdef unsigned char packed[INLINE_BYTES]
    cdef Plan plan = <Plan>callable
    cdef Slot *slot = <Slot *>plan.slots
    cdef uint32_t count = <uint32_t>PyVectorcall_NARGS(nargsf)
    cdef uint32_t index
    cdef abi.aclError code
    if names is not NULL:
        raise TypeError("a plan takes positional arguments only")
    if count != plan.count:
        wrong_count(plan._layout, count)
    if plan.bytes > INLINE_BYTES:
        return call_large(plan, [<object>arguments[index] for index in range(count)])
    if not plan.is_open():
        plan.require_open()
    for index in range(count):
        if not pack_fast(slot, arguments[index], packed):
            put(slot, packed + slot.offset, <object>arguments[index], index)
        slot += 1
    if count == 0:
        memset(packed, 0, SLOT)  # the runtime refuses an empty block; the kernel ignores it
    if plan.stream is not None and keeps_gil(&plan.stream._room, plan.stream._handle):
        code = launch(plan, packed)
    else:
        with nogil:
            code = launch(plan, packed)
        if code == 0 and plan.stream is not None and plan.stream.may_record():
            plan.stream.add_to_recording(plan.kernel, tuple([<object>arguments[index] for index in range(count)]))
    if code != 0:
        raise_on(plan.stream, code, "aclrtLaunchKernelWithHostArgs")
    return None


cdef inline abi.aclError launch(Plan plan, void *packed) noexcept nogil:
    cdef void *stream = NULL if plan.stream is None else plan.stream._handle
    return acl.aclrtLaunchKernelWithHostArgs(
        plan.kernel._handle, plan._blocks, stream, plan.cfg, packed, plan.bytes, plan.placeholders, plan.placeholder_count
    )


cdef object call_large(Plan plan, object arguments):
    cdef void *packed
    plan.require_open()
    packed = malloc(plan.bytes)
    if packed is NULL:
        raise MemoryError
    try:
        memset(packed, 0, plan.bytes)
        plan.pack(packed, arguments)
        if plan.stream is not None:
            count_submission(&plan.stream._room)
        with nogil:
            plan.submit(packed)
    finally:
        free(packed)
    if plan.stream is not None:
        plan.stream.keep_recorded(plan.kernel, arguments)


cdef Plan make_plan(Kernel kernel, Layout layout, blocks, stream, config):
    cdef Plan plan = Plan.__new__(Plan)
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"stream is {stream!r}, expected a pyacl.Stream or None")
    if config is not None and not isinstance(config, LaunchConfig):
        raise TypeError(f"config is {config!r}, expected a pyacl.LaunchConfig or None")
    plan.kernel = kernel
    plan.stream = stream
    plan.config = config
    plan.cfg = config_address(config)
    plan.spec = layout.spec
    plan._blocks = count_blocks(blocks)
    plan._layout = layout
    plan.slots = layout.slots
    plan.count = layout.count
    plan.bytes = layout.bytes
    plan.placeholders = layout.placeholders
    plan.placeholder_count = layout.placeholder_count
    plan.require_open()
    return plan


cdef Plan _sample = Plan.__new__(Plan)
enable_vectorcall(Plan, <char *>&_sample.vectorcall - <char *><PyObject *>_sample)
