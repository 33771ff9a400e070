"""The library by ctypes: the driver's functions, one handle for the process. This file does not use torch."""

import ctypes
import os
import threading

from ._structs import Driver, Problem

#: Numbers of enum wsk_image that are those of attention: the head dimensions that have no column to spare
HEAD_DIMS = (32, 64, 80, 96, 128, 256)
CONV_IMAGE, SCAN_IMAGE, APPEND_IMAGE = 1, 2, 3
FLOAT16, BFLOAT16, FLOAT32 = 1, 2, 3

_UNSUPPORTED = 4  # WSK_ERR_UNSUPPORTED
#: CUDA_ERROR_OUT_OF_MEMORY, _INVALID_CONTEXT and _UNKNOWN of cuda.h
_NO_MEMORY, _NO_CONTEXT, _UNKNOWN = 2, 201, 999


def image_of(head_dim):
    """The image whose kernels take rows of that many elements; None: there is none."""
    if head_dim % 8 or head_dim < 8:
        return None
    return next((d for d in HEAD_DIMS if head_dim <= d), None)


class KernelError(ValueError):
    """A call that has no kernel or a wrong argument.

    argument: its name, or None; expected: what it must be, or None; driver: the CUresult, 0 where the driver
    refused nothing. The message contains all three.
    """

    def __init__(self, what, argument=None, expected=None, driver=0):
        text = what
        if argument:
            text += f": {argument}"
        if expected:
            text += f" must be {expected}"
        if driver:
            text += f" (CUDA error {driver})"
        super().__init__(text)
        self.argument, self.expected, self.driver = argument, expected, driver


class NotSupported(KernelError, NotImplementedError):
    """The arguments are valid, but no kernel here supports them."""


class NoMemory(KernelError):
    """The device has no room for a kernel, which its first launch brings there."""


def refuse(argument, expected):
    """Raises KernelError for an argument that is not what is expected of it."""
    raise KernelError("wrong argument", argument, expected)


def _open(path):
    library = ctypes.CDLL(path)
    pointer = ctypes.c_void_p
    for name, arguments, result in (
        ("wsk_version", [], ctypes.c_char_p),
        ("wsk_status_text", [ctypes.c_int], ctypes.c_char_p),
        ("wsk_handle_size", [], ctypes.c_size_t),
        ("wsk_init", [pointer, ctypes.c_size_t, pointer, pointer], ctypes.c_int),
        ("wsk_load", [pointer, ctypes.c_int32, pointer], ctypes.c_int),
        ("wsk_load_again", [pointer, ctypes.c_int32, ctypes.c_int32, pointer], ctypes.c_int),
        ("wsk_close", [pointer], ctypes.c_int),
        ("wsk_scan_workspace", [ctypes.c_char_p, ctypes.c_int32], ctypes.c_uint64),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


def library_path():
    """The library beside this file; WHEELSMITH_KERNELS_LIBRARY names another one."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("WHEELSMITH_KERNELS_LIBRARY") or os.path.join(here, "_wsk.so")


class Native:
    """The opened library with its handle. Loading is serialised; launching is not."""

    def __init__(self, path=None):
        self._lock = threading.Lock()
        self._loaded = set()
        self.library = _open(path or library_path())
        self._functions = {}
        self._driver = driver_library = ctypes.CDLL("libcuda.so.1")
        driver = Driver(size=ctypes.sizeof(Driver))
        for name, _ in Driver._fields_[1:]:
            try:
                function = getattr(driver_library, name)
            except AttributeError:
                raise KernelError("the CUDA driver is too old", "driver", "one for CUDA 12.0 or newer")
            setattr(driver, name, ctypes.cast(function, ctypes.c_void_p))
        size = self.library.wsk_handle_size()
        self._memory = (ctypes.c_uint64 * ((size + 7) // 8))()
        self._handle = ctypes.addressof(self._memory)
        problem = Problem()
        status = self.library.wsk_init(self._handle, size, ctypes.addressof(driver), ctypes.addressof(problem))
        self._check(status, problem)

    def _check(self, status, problem):
        if status:
            text = self.library.wsk_status_text(status).decode()
            argument, expected = (
                t.decode() if t else None for t in (problem.argument, problem.expected)
            )
            kind = NotSupported if status == _UNSUPPORTED else NoMemory if problem.driver == _NO_MEMORY else KernelError
            raise kind(text, argument, expected, problem.driver)

    def load(self, image):
        """Loads the kernels of an image (a head dimension, for attention), once."""
        if image in self._loaded:
            return
        with self._lock:
            problem = Problem()
            self._check(self.library.wsk_load(self._handle, image, ctypes.addressof(problem)), problem)
            self._loaded.add(image)

    def function(self, name):
        """wsk_<name> of the library, one that takes a handle, a struct, a stream and a problem."""
        function = self._functions.get(name)
        if function is None:
            function = getattr(self.library, "wsk_" + name)
            pointer = ctypes.c_void_p
            function.argtypes = [pointer, ctypes.c_char_p, pointer, pointer]
            function.restype = ctypes.c_int
            self._functions[name] = function
        return function

    def call(self, name, arguments, stream, device, make_room=None):
        """Calls wsk_<name>; `arguments` is its struct, packed. make_room(): frees memory of the device that is not in use,
        called where there is none for a kernel; NoMemory where there is none after it either."""
        function = self.function(name)
        if function(self._handle, arguments, stream, None) == 0:
            return
        status, problem = self._ask(function, arguments, stream)  # the same call again, for the reason
        if problem.driver == _NO_CONTEXT:
            self._make_current(device)
            status, problem = self._ask(function, arguments, stream)
        mended = set()
        while problem.driver in (_NO_MEMORY, _UNKNOWN) and (problem.image, problem.kernel) not in mended:
            if make_room and not mended:
                make_room()
            mended.add((problem.image, problem.kernel))
            self._load_again(problem)
            status, problem = self._ask(function, arguments, stream)
        self._check(status, problem)

    def _ask(self, function, arguments, stream):
        problem = Problem()
        return function(self._handle, arguments, stream, ctypes.addressof(problem)), problem

    def _load_again(self, lost):
        """A kernel whose first launch found no memory: the driver would answer _UNKNOWN to every later one."""
        with self._lock:
            problem = Problem()
            status = self.library.wsk_load_again(self._handle, lost.image, lost.kernel, ctypes.addressof(problem))
            self._check(status, problem)

    def scan_workspace(self, scan, backward):
        """Bytes of workspace that a struct wsk_scan needs, of which only sizes are read."""
        count = self.library.wsk_scan_workspace(scan, backward)
        if count == 2**64 - 1:
            raise KernelError("no workspace is large enough", "u", "smaller")
        return count

    def scratch(self, name, arguments):
        """Bytes of scratch that wsk_<name> of this struct says are needed."""
        function = getattr(self.library, "wsk_" + name)
        function.argtypes, function.restype = [ctypes.c_char_p], ctypes.c_uint64
        return function(arguments)

    def entry(self, name):
        """(function, handle), for a short path: where the function returns other than 0, call() retries or raises."""
        return self.function(name), ctypes.c_void_p(self._handle)

    def _make_current(self, device):
        """Gives this thread the context that torch uses, the device's primary one.

        A thread that has launched nothing has none, and torch's autograd runs in such a thread: memory that
        torch has at hand is given out without a context, and then ours is the first launch.
        """
        number, context = ctypes.c_int(), ctypes.c_void_p()
        for function, *arguments in (
            (self._driver.cuDeviceGet, ctypes.byref(number), device),
            (self._driver.cuDevicePrimaryCtxRetain, ctypes.byref(context), number),
            (self._driver.cuCtxSetCurrent, context),
            (self._driver.cuDevicePrimaryCtxRelease_v2, number),  # torch holds it
        ):
            result = function(*arguments)
            if result:
                raise KernelError("the CUDA driver refused to make a context current", driver=result)


_native = None
_native_lock = threading.Lock()


def native():
    """The library, opened at first use."""
    global _native
    if _native is None:
        with _native_lock:
            if _native is None:
                _native = Native()
    return _native
