"""Properties of torch's tensors that every call of the library needs: types, addresses, signatures, streams, devices.

_attention_calls (attention), _scan_calls and _conv_calls use it to pack the structs of wsk.h and to launch. This file
checks and computes no values.
"""

import functools

import torch
from torch import library

from ._native import BFLOAT16, FLOAT16, FLOAT32, KernelError, NoMemory, native, refuse

#: enum wsk_type of each dtype that some kernel takes; attention has no float32
TYPES = {torch.float16: FLOAT16, torch.bfloat16: BFLOAT16, torch.float32: FLOAT32}

#: Calls that reached a kernel, by operator: tests and `patch` prove by it that ours ran.
calls = {"forward": 0, "backward": 0, "decode": 0}

raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)
current_device = getattr(torch._C, "_cuda_getDevice", None) or torch.cuda.current_device
if raw_stream is None:
    raw_stream = lambda device: torch.cuda.current_stream(device).cuda_stream


def _make_room():
    """Gives back what torch holds and no tensor has; not while a graph is captured, which would end by it."""
    if not torch.cuda.is_current_stream_capturing():
        torch.cuda.empty_cache()


def launch(name, arguments, device, counter=None):
    """Calls wsk_<name> with its packed struct on the current stream of a device (its number), and counts it.

    counter: the operator, where it has another name than the function. KernelError where the library refuses,
    torch.cuda.OutOfMemoryError where the device has no room for the kernel.
    """
    try:
        if current_device() == device:
            native().call(name, arguments, raw_stream(device), device, _make_room)
        else:
            with torch.cuda.device(device):
                native().call(name, arguments, raw_stream(device), device, _make_room)
    except NoMemory as error:
        raise torch.cuda.OutOfMemoryError(f"CUDA out of memory: GPU {device} has no room for a kernel of {name}") from error
    counter = counter or name
    calls[counter] = calls.get(counter, 0) + 1


def is_gpu(device):
    """Can kernels read memory of this device?"""
    return device.type == "cuda"


def is_on_gpu(t):
    """Is it a tensor that a kernel can be handed?"""
    return is_gpu(t.device)


def address(t):
    """The address of a tensor's first element on its device; 0 for None."""
    return 0 if t is None else t.data_ptr()


def plain(t):
    """`t`, copied if a flag negates it, because kernels read the memory. Returns None for None."""
    return t.resolve_neg() if t is not None and t.is_neg() else t


def require_plain(name, t):
    """For tensors that are written in place: KernelError if a flag negates it."""
    if t is not None and t.is_neg():
        refuse(name, "without the negative bit, as it is written in place")


def needs_gradient(tensors):
    """Is a graph of gradients made of a call with these, some of them None?"""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def no_second_derivative(name):
    """Makes the operator `name`, a gradient itself, an error to differentiate: else it would count as constant."""

    def refuse(ctx, *grads):
        raise KernelError(f"{name} has no derivative: there are no kernels for second ones")

    library.register_autograd(f"wheelsmith_kernels::{name}", refuse)


def signatures(tensors):
    """All of tensors, some of them None, that a call depends on, but addresses; of devices the number: a key of these has
    the device of one besides."""
    return tuple(
        [None if t is None else (t.shape, t.stride(), t.dtype, t.get_device(), t.is_neg()) for t in tensors]
    )


class Plans:
    """Cache of checked and computed values by signature. The last one found is compared, not hashed:
    layers of a model call with one signature after each other, and hashing it takes longer than the launch.

    Bounded: a signature that grows by one row each step is a new one each step. A full one is emptied."""

    MAX = 4096

    def __init__(self):
        self._all, self._last = {}, (None, None)

    def get(self, key):
        known, plan = self._last
        if known != key:
            plan = self._all.get(key)
            if plan is not None:
                self._last = key, plan
        return plan

    def put(self, key, plan):
        if len(self._all) >= self.MAX:
            self._all.clear()
        self._all[key] = plan
        return plan

    def take(self, given, words, prepare, make):
        """(make(*tensors), tensors) of calls with these tensors, the first of which has the device, and other words.

        prepare(*given): the tensors as the kernels take them, copied where necessary. If it copies no tensor, the plan
        is found directly at the next call.
        """
        key = signatures(given), given[0].device, words
        plan = self.get(key)
        if plan is None:
            tensors = tuple(prepare(*given))
            if any(a is not b for a, b in zip(given, tensors)):
                given, key = tensors, (signatures(tensors), *key[1:])
                plan = self.get(key)
        if plan is None:
            plan = self.put(key, make(*given))
        return plan, given

    def clear(self):
        self.__init__()


@functools.lru_cache(maxsize=None)
def multiprocessors(device):
    """How many a device has."""
    return torch.cuda.get_device_properties(device).multi_processor_count
