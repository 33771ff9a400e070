"""Chooses the backend of an attention call (flash_attn, the kernels of this package or torch's own) and gives the
reason.

A small trial call shows whether a backend works; the result is cached where it cannot change. A fallback is counted,
and a warning is given once for each reason.
"""

import contextlib
import functools
import os
import sys
import typing
import warnings

import torch

from . import _attention_ops, _tensors
from ._attention_calls import TYPES
from ._native import HEAD_DIMS, KernelError, NotSupported, image_of, refuse

__all__ = ["BACKENDS", "HEAD_DIMS", "Call", "FallbackWarning", "choose", "fallbacks"]

BACKENDS = ("flash_attention_2", "wsk", "sdpa")
OVERRIDE = "WHEELSMITH_ATTENTION"

# os.environ encodes a name each time it is asked; what it keeps inside, on POSIX, is asked at once.
_environment = getattr(os.environ, "_data", os.environ)
_OVERRIDE_KEY = os.environ.encodekey(OVERRIDE) if _environment is not os.environ else OVERRIDE

#: Count of calls that fell back to SDPA without being asked for, by reason.
fallbacks = {}


def override():
    """The current value of WHEELSMITH_ATTENTION, as a cache key: the value may change."""
    return _environment.get(_OVERRIDE_KEY)


class Call(typing.NamedTuple):
    """The properties of a call that decide which backends support it."""

    device: torch.device
    dtype: torch.dtype
    head_dim: int
    packed: bool = False
    used: bool = False
    blocks: bool = False
    dropout: bool = False
    softcap: bool = False
    sinks: bool = False
    starts: bool = False


class FallbackWarning(UserWarning):
    """SDPA replaces a kernel: correct, but slower."""


def _tiny(device, dtype, head_dim, rows=16):
    generator = torch.Generator(device=device).manual_seed(0)
    make = functools.partial(torch.randn, device=device, dtype=torch.float32, generator=generator)
    return [make(1, rows, 2, head_dim).to(dtype) for _ in range(3)]


def _agrees(o, q, k, v):
    scale = q.shape[-1] ** -0.5
    s = torch.einsum("bmhd,bnhd->bhmn", q.float(), k.float()) * scale
    s = s.masked_fill(torch.ones_like(s[0, 0], dtype=torch.bool).triu(1), float("-inf"))
    r = torch.einsum("bhmn,bnhd->bmhd", s.softmax(-1), v.float())
    return bool((o.float() - r).abs().max() < 0.05)


@contextlib.contextmanager
def _for_real():
    """A trial computes: without gradients, autocast or a mode that would only pretend, such as FakeTensorMode."""
    from torch.utils._python_dispatch import _disable_current_modes

    if torch.cuda.is_current_stream_capturing():
        raise KernelError("attention of this kind must be called once before a CUDA graph is captured")
    with _disable_current_modes(), torch.no_grad(), torch.autocast("cuda", enabled=False):
        yield


def _remembered(find):
    """find(device, dtype, head_dim, …) asked once for each; what it raises is not an answer, and it is asked again."""
    known = {}

    @functools.wraps(find)
    def ask(*key):
        if key not in known:
            with _for_real():
                known[key] = find(*key)
        return known[key]

    ask.forget = known.clear
    return ask


def flash_is_ours():
    """Is the flash_attn that imports upstream's Python over these very kernels?"""
    return getattr(sys.modules.get("flash_attn_2_cuda"), "wheelsmith", False)


@_remembered
def flash_problem(device, dtype, head_dim, packed):
    """Returns None if flash_attn imports, runs on this device and computes correctly; else the reason."""
    try:
        import flash_attn
    except Exception as error:  # a wheel for another torch fails with whatever it likes
        return f"flash_attn does not import: {type(error).__name__}"
    if flash_is_ours():
        return "flash_attn is these kernels"
    try:
        q, k, v = _tiny(device, dtype, head_dim)
        if packed:
            cu = torch.tensor([0, 16], dtype=torch.int32, device=device)
            o = flash_attn.flash_attn_varlen_func(q[0], k[0], v[0], cu, cu, 16, 16, causal=True)[None]
        else:
            o = flash_attn.flash_attn_func(q, k, v, causal=True)
        if not _agrees(o, q, k, v):
            return "flash_attn computes something else"
    except torch.cuda.OutOfMemoryError:
        raise
    except Exception as error:
        return f"flash_attn does not run: {type(error).__name__}"
    return None


@_remembered
def wsk_problem(device, dtype, head_dim):
    """Returns None if the kernels of this package have code for the device and compute correctly; else the reason."""
    if image_of(head_dim) is None:
        return f"no kernel for head_dim {head_dim}"
    if dtype not in TYPES:
        return f"no kernel for {dtype}"
    try:
        q, k, v = _tiny(device, dtype, head_dim)
        o, _ = _attention_ops.forward_cuda(q, k, v, None, None, None, None, None, 0, 0, head_dim**-0.5, -1, 0)
        return None if _agrees(o, q, k, v) else "the kernel computes something else"
    except (NotSupported, OSError) as error:  # no code for it; no library, or no driver
        return f"the kernel does not run: {error}"


def _refuse_flash(call):
    if call.blocks:
        return "flash_attn has no selected blocks"
    if call.used or call.starts:
        return "flash_attn has no seqused and seqstart here"
    if call.sinks:
        return "flash_attn has no sinks"
    return flash_problem(call.device, call.dtype, call.head_dim, call.packed)


def _refuse_wsk(call):
    return wsk_problem(call.device, call.dtype, call.head_dim)


def _refuse_sdpa(call):
    for name in ("blocks", "softcap", "sinks"):
        if getattr(call, name):
            return f"SDPA has no {name}"
    return None


_REFUSE = {"flash_attention_2": _refuse_flash, "wsk": _refuse_wsk, "sdpa": _refuse_sdpa}


def choose(call):
    """(backend, why) of a Call: the first of BACKENDS that takes it, or the one that WHEELSMITH_ATTENTION names.

    KernelError: neither a default backend nor the named one supports the call, or the name is unknown. A backend is
    tried
    by a small call, once for each device, dtype and head dimension, which waits for the GPU. A fallback to SDPA that
    was not asked for gives one FallbackWarning with the reason.
    """
    named = os.environ.get(OVERRIDE)
    if named:
        if named not in BACKENDS:
            refuse(OVERRIDE, "one of " + ", ".join(BACKENDS))
        problem = "not on a GPU" if named != "sdpa" and not _tensors.is_gpu(call.device) else _REFUSE[named](call)
        if problem:
            raise KernelError(f"{OVERRIDE}={named}: {problem}")
        return named, f"{OVERRIDE} says so"
    if not _tensors.is_gpu(call.device):
        refuse("q", "on a CUDA device")
    reasons = []
    for name in BACKENDS:
        problem = _REFUSE[name](call)
        if not problem:
            why = "; ".join(reasons) or "it runs here"
            if name == "sdpa":
                _tell(why)
            return name, why
        reasons.append(problem)
    raise NotSupported("nothing computes this: " + "; ".join(reasons))


def _tell(why):
    if why not in fallbacks:
        fallbacks[why] = 0
        warnings.warn(f"attention is SDPA's: {why}", FallbackWarning, stacklevel=2)


def count_fallback(why):
    """Counts a call that choose() gave to SDPA for this reason."""
    if why in fallbacks:
        fallbacks[why] += 1


_choices = {}


@torch.compiler.assume_constant_result  # of a Call, torch 2.15 would pass on no members
def choose_once(*call):
    """choose(), remembered: the environment is read again each time, it may change."""
    key = call, override()
    found = _choices.get(key)
    if found is None:
        found = _choices[key] = choose(Call(*call))
    return found


def forget():
    """All that is remembered of what runs."""
    _choices.clear(), flash_problem.forget(), wsk_problem.forget()
