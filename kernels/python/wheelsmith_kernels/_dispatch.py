"""One call for attention: which of the kernels that are there takes it, and why.

In this order: flash_attn where it imports and runs for this very kind of call, the kernels of this
package, torch's scaled_dot_product_attention without expanding K and V. WHEELSMITH_ATTENTION names one
of them; what it cannot do is then an error.
"""

import functools
import os
import typing

import torch
from torch.autograd import forward_ad

from . import _calls, _ops
from ._calls import TYPES
from ._native import HEAD_DIMS, KernelError, refuse
from ._tensors import multiprocessors as _multiprocessors
from ._tensors import remember

_Tensor, _grad_enabled, _is_compiling = torch.Tensor, torch.is_grad_enabled, torch.compiler.is_compiling
_HAS_GQA = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 5)

BACKENDS = ("flash_attention_2", "wsk", "sdpa")
OVERRIDE = "WHEELSMITH_ATTENTION"

# os.environ encodes a name each time it is asked; what it keeps inside, on POSIX, is asked at once.
_environment = getattr(os.environ, "_data", os.environ)
_OVERRIDE_KEY = os.environ.encodekey(OVERRIDE) if _environment is not os.environ else OVERRIDE


class Call(typing.NamedTuple):
    """What a call asks for, as far as it decides who can take it."""

    device: torch.device
    dtype: torch.dtype
    head_dim: int
    packed: bool = False
    used: bool = False
    blocks: bool = False
    dropout: bool = False


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


def _not_while_capturing():
    """What runs is found out by running it, which waits for the answer. Nothing is remembered of a call that raises."""
    if torch.cuda.is_current_stream_capturing():
        raise KernelError("attention of this kind must be called once before a CUDA graph is captured")


@functools.lru_cache(maxsize=None)
def flash_problem(device, dtype, head_dim, packed):
    """None where flash_attn imports, runs on this device and is right; else why not."""
    _not_while_capturing()
    try:
        import flash_attn
    except Exception as error:  # a wheel for another torch fails with whatever it likes
        return f"flash_attn does not import: {type(error).__name__}"
    try:
        q, k, v = _tiny(device, dtype, head_dim)
        if packed:
            cu = torch.tensor([0, 16], dtype=torch.int32, device=device)
            o = flash_attn.flash_attn_varlen_func(q[0], k[0], v[0], cu, cu, 16, 16, causal=True)[None]
        else:
            o = flash_attn.flash_attn_func(q, k, v, causal=True)
        if not _agrees(o, q, k, v):
            return "flash_attn computes something else"
    except Exception as error:
        return f"flash_attn does not run: {type(error).__name__}"
    return None


@functools.lru_cache(maxsize=None)
def wsk_problem(device, dtype, head_dim):
    """None where the kernels of this package have code for the device and are right; else why not."""
    if head_dim not in HEAD_DIMS:
        return f"no kernel for head_dim {head_dim}"
    if dtype not in TYPES:
        return f"no kernel for {dtype}"
    _not_while_capturing()
    try:
        q, k, v = _tiny(device, dtype, head_dim)
        o, _ = _ops.forward_cuda(
            q, k, v, None, None, None, None, None, 0, 0, head_dim**-0.5, -1, 0
        )
        return None if _agrees(o, q, k, v) else "the kernel computes something else"
    except Exception as error:
        return f"the kernel does not run: {error}"


def _refuse_flash(call):
    if call.blocks:
        return "flash_attn has no selected blocks"
    if call.used:
        return "flash_attn has no seqused here"
    return flash_problem(call.device, call.dtype, call.head_dim, call.packed)


def _refuse_wsk(call):
    if call.dropout:
        return "dropout goes to SDPA"
    return wsk_problem(call.device, call.dtype, call.head_dim)


def _refuse_sdpa(call):
    if call.blocks:
        return "SDPA has no selected blocks"
    return None


_REFUSE = {"flash_attention_2": _refuse_flash, "wsk": _refuse_wsk, "sdpa": _refuse_sdpa}


def choose(call):
    """(backend, why) of a Call: the first of BACKENDS that takes it, or the one that WHEELSMITH_ATTENTION names.

    KernelError: nothing takes it, the one that is named does not, or there is no such name. A backend is tried
    by a small call, once for each device, dtype and head dimension, which waits for the GPU.
    """
    named = os.environ.get(OVERRIDE)
    if named:
        if named not in BACKENDS:
            refuse(OVERRIDE, "one of " + ", ".join(BACKENDS))
        problem = "not on a GPU" if named != "sdpa" and call.device.type != "cuda" else _REFUSE[named](call)
        if problem:
            raise KernelError(f"{OVERRIDE}={named}: {problem}")
        return named, f"{OVERRIDE} says so"
    if call.device.type != "cuda":
        refuse("q", "on a CUDA device")
    reasons = []
    for name in BACKENDS:
        problem = _REFUSE[name](call)
        if not problem:
            return name, "; ".join(reasons) or "it runs here"
        reasons.append(problem)
    raise KernelError("nothing computes this: " + "; ".join(reasons))


_choices = {}


@torch.compiler.assume_constant_result  # of a Call, torch 2.15 would pass on no members
def _choose_once(*call):
    """choose(), remembered: the environment is read again each time, it may change."""
    key = call, _environment.get(_OVERRIDE_KEY)
    found = _choices.get(key)
    if found is None:
        found = _choices[key] = choose(Call(*call))
    return found


def decode_splits(batch, heads_k, rows, keys, head_dim, device):
    """Into how many parts the keys are split: as many blocks of threads as are resident at once, because a
    second turn that is half empty costs more than it hides, and at least 256 keys a part."""
    resident = 3 if head_dim <= 80 else 2  # by the registers in resources.txt
    blocks = batch * heads_k * -(-rows // 16)
    return max(1, min(resident * _multiprocessors(device) // blocks, keys // 256, 256))


def _splits(q, k):
    """What _kernel() splits the keys into; 0: the queries are too many for the decode kernel."""
    if q.dim() != 4 or k.dim() != 4:
        return 0  # and _calls says what is wrong with that
    rows, keys = q.shape[1] * (q.shape[2] // max(k.shape[2], 1)), k.shape[1]
    few = 0 < rows <= 16 and keys >= 256 and q.shape[0] > 0
    return decode_splits(q.shape[0], k.shape[2], rows, keys, q.shape[3], q.device) if few else 0


def _kernel(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right):
    """o. Plain tensors go past torch's dispatcher; what is traced goes through it."""
    words = (q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right)
    direct = type(q) is type(k) is type(v) is _Tensor and not _is_compiling()
    if _grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
        return _ops.Attention.apply(*words) if direct else torch.ops.wheelsmith_kernels.forward(*words)[0]
    splits = _splits(q, k) if cu_q is None and blocks is None else 0
    if splits:
        decode = _ops.decode_cuda if direct else torch.ops.wheelsmith_kernels.decode
        return decode(q, k, v, used_q, used_k, scale, left, right, splits)[0]
    return (_ops.forward_cuda if direct else torch.ops.wheelsmith_kernels.forward)(*words)[0]


def _mask(m, n, used_q, used_k, left, right, device):
    """[batch or 1, 1, m, n]: who sees whom, aligned at the bottom right of what is used."""
    lengths_q = torch.tensor([m], device=device) if used_q is None else used_q.long()
    lengths_k = torch.tensor([n], device=device) if used_k is None else used_k.long()
    i = torch.arange(m, device=device)[None, :, None] + (lengths_k - lengths_q)[:, None, None]
    j = torch.arange(n, device=device)[None, None, :]
    seen = (j < lengths_k[:, None, None]) & (torch.arange(m, device=device)[None, :, None] < lengths_q[:, None, None])
    if left >= 0:
        seen = seen & (j >= i - left)
    if right >= 0:
        seen = seen & (j <= i + right)
    return seen[:, None]


def _sdpa(q, k, v, used_q, used_k, dropout, scale, left, right):
    """K and V are not expanded. Rows that see no key are 0."""
    attend = torch.nn.functional.scaled_dot_product_attention
    m, n, heads, heads_k = q.shape[1], k.shape[1], q.shape[2], k.shape[2]
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    plain = used_q is None and used_k is None and left < 0
    words = {"dropout_p": dropout, "scale": scale}
    seen = None
    if plain and right < 0:
        pass
    elif plain and right == 0 and m == n:
        words["is_causal"] = True
    else:
        seen = _mask(m, n, used_q, used_k, left, right, q.device)
        words["attn_mask"] = seen | ~seen.any(-1, keepdim=True)
    group = heads // heads_k
    if group > 1 and _HAS_GQA:
        o = attend(q, k, v, enable_gqa=True, **words)
    elif group > 1:  # torch 2.4: one head of each group after the other
        of_group = q.unflatten(1, (heads_k, group)).unbind(2)
        o = torch.stack([attend(x, k, v, **words) for x in of_group], 2).flatten(1, 2)
    else:
        o = attend(q, k, v, **words)
    o = o.transpose(1, 2)
    return o if seen is None else o * seen.any(-1).transpose(1, 2)[..., None]


def _sdpa_packed(q, k, v, cu_q, cu_k, dropout, scale, left, right):
    """One sequence after the other: the lengths are read from the device."""
    ends_q, ends_k = cu_q.tolist(), cu_k.tolist()
    parts = [
        _sdpa(q[None, a:b], k[None, c:d], v[None, c:d], None, None, dropout, scale, left, right)[0]
        for a, b, c, d in zip(ends_q, ends_q[1:], ends_k, ends_k[1:])
        if b > a
    ]
    return torch.cat(parts) if parts else q * 0


def _flash(q, k, v, cu_q, cu_k, max_q, max_k, dropout, scale, left, right):
    import flash_attn

    words = {"dropout_p": dropout, "softmax_scale": scale, "causal": right == 0}
    words["window_size"] = (left, right)
    if cu_q is None:
        return flash_attn.flash_attn_func(q, k, v, **words)
    return flash_attn.flash_attn_varlen_func(q, k, v, cu_q, cu_k, max_q, max_k, **words)


#: Functions for calls without sequences and gradients, by all that such a call depends on but addresses.
_ready = {}


def _make_ready(key, q, k, v, scale, left, right):
    """f(q, k, v) for calls with this key; None where there is nothing to compute."""
    call = _calls.repeated(_splits(q, k), q, k, v, scale, left, right)
    return None if call is None else remember(_ready, key, call)


class _Sequences(typing.NamedTuple):
    """What a call has beside q, k and v; None: nothing."""

    cu_q: typing.Any
    cu_k: typing.Any
    used_q: typing.Any
    used_k: typing.Any
    blocks: typing.Any
    max_q: typing.Any
    max_k: typing.Any


def _attend(q, k, v, sequences, dropout, scale, left, right, key):
    """o, and (backend, why). What takes a call with a key is remembered by it."""
    cu_q, cu_k, used_q, used_k, blocks, max_q, max_k = sequences
    packed = cu_q is not None
    if packed and (max_q is None or max_k is None):
        max_q, max_k = max_q or q.shape[0], max_k or k.shape[0]
    used = used_q is not None or used_k is not None
    why = _choose_once(q.device, q.dtype, q.shape[-1], packed, used, blocks is not None, dropout > 0)
    if why[0] != "sdpa" and forward_ad._current_level >= 0:
        _refuse_tangents(q, k, v)
    if why[0] == "wsk":
        ready = _make_ready(key, q, k, v, scale, left, right) if key else None
        if ready is not None:
            return ready(q, k, v), why
        most = max_q or 0, max_k or 0
        return _kernel(q, k, v, cu_q, cu_k, used_q, used_k, blocks, *most, scale, left, right), why
    if why[0] == "flash_attention_2":
        return _flash(q, k, v, cu_q, cu_k, max_q, max_k, dropout, scale, left, right), why
    if packed:
        return _sdpa_packed(q, k, v, cu_q, cu_k, dropout, scale, left, right), why
    return _sdpa(q, k, v, used_q, used_k, dropout, scale, left, right), why


def _refuse_tangents(*tensors):
    """The kernels have no forward-mode derivative: dropping a tangent would be a wrong result."""
    for name, t in zip("qkv", tensors):
        if forward_ad.unpack_dual(t).tangent is not None:
            raise KernelError(
                "no forward-mode derivative", name, f"without a tangent, or {OVERRIDE}=sdpa"
            )


def attention(
    q,
    k,
    v,
    *,
    causal=False,
    window=(-1, -1),
    scale=None,
    cu_seqlens_q=None,
    cu_seqlens_k=None,
    max_seqlen_q=None,
    max_seqlen_k=None,
    seqused_q=None,
    seqused_k=None,
    blocks=None,
    dropout_p=0.0,
    return_why=False,
):
    """softmax(scale q k^T) v: a tensor of q's shape and dtype, with gradients of q, k and v.

    q: [batch, rows, heads, head_dim]; k, v: [batch, keys, heads_k, head_dim], of the same dtype and device;
    heads is a multiple of heads_k. These kernels take float16 and bfloat16 (from compute capability 8.0 on)
    and head dimensions of 64, 80, 96 and 128, contiguous; the other backends what they take.

    causal, window: query i of m sees the keys from i + n - m - window[0] to i + n - m + window[1] of n,
    negative: all of them; causal is window[1] = 0. A query that sees no key has 0.
    scale: a number; None: head_dim ** -0.5.
    cu_seqlens_q, cu_seqlens_k: int32 [batch + 1] on q's device, of packed q, k, v [rows, heads, head_dim];
    max_seqlen_q, max_seqlen_k: the longest sequence; None: as many as there are rows.
    seqused_q, seqused_k: int32 [batch], rows that count of each sequence.
    blocks: what select_blocks() makes, not of packed sequences. dropout_p: these kernels have none.
    return_why: also (backend, why), by choose().

    KernelError: nothing that runs here takes the call, an argument is wrong (its name is in the error), or a
    tensor has a tangent of forward-mode differentiation, which no kernel has.
    """
    # A plain call that was made before takes one look-up, written out here: calls of functions take time.
    left, right = window
    plain = (
        cu_seqlens_q is cu_seqlens_k is seqused_q is seqused_k is blocks is None
        and not (dropout_p or return_why)
        and type(q) is type(k) is type(v) is _Tensor
        and type(left) is type(right) is int
        and type(scale) is not _Tensor  # it may change in place
        and not (_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad))
        and forward_ad._current_level < 0
        and not _is_compiling()
    )
    key = None
    if plain:
        key = (
            q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), q.dtype, k.dtype, v.dtype,
            q.device, k.device, v.device, causal, left, right, scale, _environment.get(_OVERRIDE_KEY),
        )  # fmt: skip
        ready = _ready.get(key)
        if ready is not None:
            return ready(q, k, v)
    if scale is None:
        scale = q.shape[-1] ** -0.5
    elif isinstance(scale, _Tensor):
        scale = scale.item()
    sequences = _Sequences(
        cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k, blocks, max_seqlen_q, max_seqlen_k
    )
    window = int(left), 0 if causal else int(right)
    o, why = _attend(q, k, v, sequences, dropout_p, scale, *window, key)
    return (o, why) if return_why else o


def select_blocks(indices, rows, keys):
    """The bit sets of attention(blocks=…): int32 [batch, heads_k, query blocks, ceil(keys / 2048)].

    indices: integers [batch, heads_k, ceil(rows / 64), n], on any device: the blocks of 64 keys that each block of
    64 queries sees. Those that are named twice count once; those outside of the keys count as none.
    rows, keys: of q and k. KernelError: another number of query blocks than rows has.
    """
    batch, heads, query_blocks, _ = indices.shape
    if query_blocks != -(-rows // 64):
        refuse("indices", f"for {-(-rows // 64)} blocks of 64 queries")
    words, count = -(-keys // 2048), -(-keys // 64)
    inside = (indices >= 0) & (indices < count)
    bits = torch.zeros(
        (batch, heads, query_blocks, words * 32 + 1), dtype=torch.bool, device=indices.device
    )
    bits.scatter_(-1, torch.where(inside, indices, words * 32).long(), True)
    weights = (1 << torch.arange(32, device=indices.device, dtype=torch.int64))[None]
    sums = (bits[..., :-1].unflatten(-1, (words, 32)) * weights).sum(-1)
    return torch.where(sums >= 1 << 31, sums - (1 << 32), sums).to(torch.int32)
