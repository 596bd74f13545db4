# cython: language_level=3, binding=False, embedsignature=True
"""Arguments of launches collected one by one, in the runtime's own form: an args handle."""
import threading

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from pyacl cimport acl as abi
from pyacl._arguments cimport Layout, find_layout
from pyacl._gil cimport count_submission
from pyacl._runtime cimport acl, check
from pyacl.kernel cimport Kernel, count_blocks
from pyacl.launch_config cimport LaunchConfig, config_address
from pyacl.stream cimport Stream, raise_on

of_thread = threading.local()  # .newest: the token of the arguments in the thread's own area


cdef class Parameter:
    cdef abi.aclrtParamHandle handle
    cdef Layout layout       # None for a placeholder
    cdef void *data          # of a placeholder that has been filled
    cdef size_t nbytes       # of these
    cdef object value        # kept for recorded launches


cdef class KernelArgs:
    """Arguments of a kernel, appended one by one (``aclrtKernelArgsInit``, or ``aclrtKernelArgsInitByUserMem``).

    The form for arguments whose number is known only while running, and for data that travels with them. A launch costs
    more than by a `Plan`.

    Parameters
    ----------
    kernel : Kernel
        Whose arguments.
    nbytes : int, optional
        Bytes of arguments and placeholder data at most, in memory of this object. Without it they are collected in an
        area that the thread has one of (64 KiB): use them in this thread only, and until the thread makes the next ones.

    Attributes
    ----------
    kernel : Kernel
        The same.

    Examples
    --------
    >>> args = pyacl.KernelArgs(kernel)
    >>> args.append("p", x)
    0
    >>> tiling = args.append_placeholder()
    >>> args.fill_placeholder(tiling, numpy.arange(16))
    >>> args.launch(stream, blocks=8)

    Raises
    ------
    NoContextError
        The thread has no device or context (107002).

    Notes
    -----
    Not for use by several threads at once. Source: CANN Runtime API, 14 Kernel loading and execution.
    """

    cdef readonly Kernel kernel
    cdef abi.aclrtArgsHandle _args    # in `_handle_memory`, or the thread's own
    cdef object _token            # of the thread's area; None with memory of our own
    cdef void *_handle_memory     # ours, for arguments in memory of our own
    cdef void *_bytes             # the arguments themselves then
    cdef list _parameters         # a Parameter for each
    cdef bint _final              # nothing was changed since the runtime made them ready

    def __init__(self, Kernel kernel not None, nbytes=None):
        if self.kernel is not None:
            raise TypeError("a KernelArgs cannot be initialised twice")
        kernel.require_open()
        self._parameters = []
        if nbytes is not None:
            if nbytes < 1:
                raise ValueError(f"nbytes is {nbytes}, expected at least 1")
            self.kernel = kernel
            self.init_own_memory(nbytes)
            return
        check(acl.aclrtKernelArgsInit(kernel._handle, &self._args), "aclrtKernelArgsInit")
        self.kernel = kernel
        of_thread.newest = self._token = object()

    cdef int init_own_memory(self, size_t nbytes) except -1:
        cdef size_t handle_bytes = 0
        cdef size_t actual = 0
        cdef void *function = self.kernel._handle
        check(acl.aclrtKernelArgsGetHandleMemSize(function, &handle_bytes), "aclrtKernelArgsGetHandleMemSize")
        check(acl.aclrtKernelArgsGetMemSize(function, nbytes, &actual), "aclrtKernelArgsGetMemSize")
        self._handle_memory = calloc(1, handle_bytes)
        self._bytes = calloc(1, actual)
        if self._handle_memory is NULL or self._bytes is NULL:
            raise MemoryError
        check(
            acl.aclrtKernelArgsInitByUserMem(function, self._handle_memory, self._bytes, actual),
            "aclrtKernelArgsInitByUserMem",
        )
        self._args = self._handle_memory
        return 0

    def __dealloc__(self):
        free(self._handle_memory)
        free(self._bytes)

    cdef int use(self) except -1:
        if self._args is NULL:
            raise TypeError("the KernelArgs was not initialised")
        self.kernel.require_open()
        if self._token is not None and getattr(of_thread, "newest", None) is not self._token:
            raise RuntimeError("these arguments have no memory of their own: only the newest of a thread can be used, in it")
        return 0

    def __len__(self):
        return len(self._parameters)

    def append(self, str kind not None, value):
        """Append an argument (``aclrtKernelArgsAppend``).

        Parameters
        ----------
        kind : str
            One word of a spec, see `Kernel.bind`; no ``data``.
        value
            What it says.

        Returns
        -------
        int
            Its number, for `update`.

        Raises
        ------
        NotSupportedError
            The arguments are final, or a placeholder has its data (207000).
        InvalidParamError
            More than 128 arguments, or no room left (107000).
        """
        cdef Parameter parameter = Parameter.__new__(Parameter)
        cdef bytes packed
        self.use()
        parameter.layout = single(kind)
        packed = parameter.layout.packed((value,))
        parameter.value = value
        check(
            acl.aclrtKernelArgsAppend(self._args, <char *>packed, parameter.layout.slots[0].size, &parameter.handle),
            "aclrtKernelArgsAppend",
        )
        self._parameters.append(parameter)
        return len(self._parameters) - 1

    def append_placeholder(self):
        """Append an address that the runtime fills in at each launch: of data that `fill_placeholder` gives.

        C: ``aclrtKernelArgsAppendPlaceHolder``. Returns and raises like `append`.
        """
        cdef Parameter parameter = Parameter.__new__(Parameter)
        self.use()
        check(acl.aclrtKernelArgsAppendPlaceHolder(self._args, &parameter.handle), "aclrtKernelArgsAppendPlaceHolder")
        self._parameters.append(parameter)
        return len(self._parameters) - 1

    def fill_placeholder(self, index, data):
        """Copy the data of a placeholder, which travels behind the arguments (``aclrtKernelArgsGetPlaceHolderBuffer``).

        Parameters
        ----------
        index : int
            What `append_placeholder` returned.
        data : buffer
            Contiguous, of at least 1 byte. A second time it has to be as long as the first.

        Raises
        ------
        NotSupportedError
            The arguments are final, and the placeholder has no data yet (207000).
        InvalidParamError
            No room left (107000).
        """
        cdef Parameter parameter = self.find(index)
        cdef Py_buffer view
        if parameter.layout is not None:
            raise TypeError(f"argument {index} is no placeholder")
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            if view.len == 0:
                raise ValueError("the data of a placeholder needs at least 1 byte")
            if parameter.data is NULL:
                check(
                    acl.aclrtKernelArgsGetPlaceHolderBuffer(self._args, parameter.handle, view.len, &parameter.data),
                    "aclrtKernelArgsGetPlaceHolderBuffer",
                )
                parameter.nbytes = view.len
            if <size_t>view.len != parameter.nbytes:
                raise ValueError(f"the data has {view.len} bytes, the placeholder was made for {parameter.nbytes}")
            memcpy(parameter.data, view.buf, parameter.nbytes)
        finally:
            PyBuffer_Release(&view)

    def update(self, index, value):
        """Give an argument another value, of the same kind (``aclrtKernelArgsParaUpdate``)."""
        cdef Parameter parameter = self.find(index)
        cdef bytes packed
        if parameter.layout is None:
            raise TypeError(f"argument {index} is a placeholder: fill_placeholder changes its data")
        packed = parameter.layout.packed((value,))
        check(
            acl.aclrtKernelArgsParaUpdate(self._args, parameter.handle, <char *>packed, parameter.layout.slots[0].size),
            "aclrtKernelArgsParaUpdate",
        )
        parameter.value = value
        self._final = False

    cdef Parameter find(self, index):
        self.use()
        if not 0 <= index < len(self._parameters):
            raise IndexError(f"argument {index} of {len(self._parameters)}")
        return self._parameters[index]

    def finalize(self):
        """Make the arguments ready (``aclrtKernelArgsFinalize``): none can be appended from here. `launch` does it too."""
        self.use()
        check(acl.aclrtKernelArgsFinalize(self._args), "aclrtKernelArgsFinalize")
        self._final = True

    def launch(self, Stream stream, blocks=1, LaunchConfig config=None):
        """Launch the kernel with these arguments, any number of times (``aclrtLaunchKernelWithConfig``).

        Parameters
        ----------
        stream : Stream or None
            None: the current context's default stream.
        blocks : int, default 1
            1 to 65,535.
        config : LaunchConfig, optional
            Attributes of the launch.

        Notes
        -----
        Releases the GIL, raises, and blocks like `Kernel.launch`; the arguments are copied during the call.
        """
        cdef uint32_t count = count_blocks(blocks)
        cdef void *queue = NULL
        cdef abi.aclrtLaunchKernelCfg *cfg = config_address(config)
        cdef abi.aclError code
        self.use()
        if not self._final:
            self.finalize()
        if stream is not None:
            stream.use()
            queue = stream._handle
            count_submission(&stream._room)
        with nogil:
            code = acl.aclrtLaunchKernelWithConfig(self.kernel._handle, count, queue, cfg, self._args, NULL)
        if code != 0:
            raise_on(stream, code, "aclrtLaunchKernelWithConfig")
        if stream is not None:
            stream.keep_recorded(self.kernel, [(<Parameter>parameter).value for parameter in self._parameters])

    def __repr__(self):
        return f"<pyacl.KernelArgs of {self.kernel!r}, {len(self)} arguments>"


cdef Layout single(str kind):
    cdef Layout layout = find_layout(kind)
    if layout.count != 1 or layout.placeholder_count > 0:
        raise ValueError(f"{kind!r} is not one argument kind; append_placeholder takes the place of data")
    return layout
