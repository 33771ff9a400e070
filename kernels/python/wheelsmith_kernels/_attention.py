"""One call for attention, by whoever takes it: _choose.py says who."""

import typing

import torch
from torch.autograd import forward_ad

from . import _attention_calls, _attention_ops, _fallback
from ._choose import OVERRIDE, choose, choose_once, count_fallback, override
from ._native import HEAD_DIMS, KernelError, NotSupported, refuse
from ._tensors import Plans

__all__ = ["attention", "choose", "select_blocks"]

_Tensor, _grad_enabled, _is_compiling = torch.Tensor, torch.is_grad_enabled, torch.compiler.is_compiling
_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)


class _More(typing.NamedTuple):
    """The arguments of a call besides q, k and v; None means "not given"."""

    cu_q: typing.Any
    cu_k: typing.Any
    used_q: typing.Any
    used_k: typing.Any
    blocks: typing.Any
    max_q: typing.Any
    max_k: typing.Any
    start_q: typing.Any
    start_k: typing.Any
    softcap: float
    sinks: typing.Any
    dropout: float


def _kernel(q, k, v, more, scale, left, right):
    """o. Plain tensors go past torch's dispatcher; what is traced, or a mode looks at, goes through it."""
    words = (q, k, v, *more[:5], more.max_q or 0, more.max_k or 0, scale, left, right)
    if more.softcap or more.dropout or not (more.sinks is more.start_q is more.start_k is None):
        random = None
        if more.dropout:  # from the generator of the device: seeded, checkpointed and captured with it
            random = torch.randint(-(1 << 63), (1 << 63) - 1, (2,), device=q.device)
        words += (more.softcap, more.dropout, random, more.sinks, more.start_q, more.start_k)
    direct = type(q) is type(k) is type(v) is _Tensor and not _is_compiling() and not _modes()
    if not direct:
        return torch.ops.wheelsmith_kernels.forward(*words)[0]
    if _grad_enabled() and any(t is not None and t.requires_grad for t in (q, k, v, more.sinks)):
        return _attention_ops.Attention.apply(*words)
    return _attention_ops.forward_cuda(*words)[0]


def _flash(q, k, v, more, scale, left, right):
    import flash_attn

    words = {"dropout_p": more.dropout, "softmax_scale": scale, "causal": right == 0}
    words["window_size"] = (left, right)
    if more.softcap:
        words["softcap"] = more.softcap
    if more.cu_q is None:
        return flash_attn.flash_attn_func(q, k, v, **words)
    return flash_attn.flash_attn_varlen_func(q, k, v, more.cu_q, more.cu_k, more.max_q, more.max_k, **words)


#: Functions for calls without sequences and gradients, by all that such a call depends on but addresses.
_ready = Plans()


def _constant(head_dim):
    """`head_dim` as a number: a compiler's symbol becomes a guard where there are kernels for it."""
    if not _is_compiling():
        return head_dim
    for known in range(8, HEAD_DIMS[-1] + 8, 8):
        if head_dim == known:
            return known
    return 0


def _attend(q, k, v, more, scale, left, right, key):
    """o, and (backend, why). The backend of a call is cached by the key of the call."""
    packed, starts = more.cu_q is not None, more.start_q is not None or more.start_k is not None
    used = more.used_q is not None or more.used_k is not None
    why = choose_once(
        q.device, q.dtype, _constant(q.shape[-1]), packed, used, more.blocks is not None,
        True if more.dropout else False, True if more.softcap else False, more.sinks is not None, starts,
    )  # fmt: skip
    if why[0] != "sdpa" and not _is_compiling() and forward_ad._current_level >= 0:
        _refuse_tangents(q, k, v)
    if why[0] == "wsk":
        ready = _attention_calls.repeated(q, k, v, scale, left, right) if key else None
        return (_ready.put(key, ready)(q, k, v) if ready else _kernel(q, k, v, more, scale, left, right)), why
    if why[0] == "flash_attention_2":
        return _flash(q, k, v, more, scale, left, right), why
    if not _is_compiling():
        count_fallback(why[1])
    if packed:
        if used or starts:
            raise NotSupported("SDPA of packed sequences", "seqused_k" if used else "seqstart_k", "None")
        return _fallback.sdpa_packed(q, k, v, more.cu_q, more.cu_k, more.dropout, scale, left, right), why
    pairs = (more.used_q, more.used_k), (more.start_q, more.start_k)
    return _fallback.sdpa(q, k, v, *pairs, more.dropout, scale, left, right), why


def _refuse_tangents(*tensors):
    """The kernels have no forward-mode derivative: dropping a tangent would be a wrong result."""
    for name, t in zip("qkv", tensors):
        if forward_ad.unpack_dual(t).tangent is not None:
            raise KernelError(
                "no forward-mode derivative", name, f"without a tangent, or {OVERRIDE}=sdpa"
            )


def _cast(*tensors):
    """As autocast has it: what is float32 becomes its type, as for torch's own attention."""
    if not torch.is_autocast_enabled("cuda"):
        return tensors
    dtype = torch.get_autocast_dtype("cuda")
    return tuple(t.to(dtype) if t.dtype == torch.float32 else t for t in tensors)


def _require_alike(q, k, v, packed):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.dim() != (3 if packed else 4):
            refuse(name, "[rows, heads, head_dim]" if packed else "[batch, rows, heads, head_dim]")
        if t.dtype != q.dtype or t.device != q.device:
            refuse(name, "of q's dtype and device")


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
    seqstart_q=None,
    seqstart_k=None,
    blocks=None,
    softcap=0.0,
    sinks=None,
    dropout_p=0.0,
    return_why=False,
):
    """softmax(scale q k^T) v: a tensor of q's shape and dtype, with gradients of q, k, v and sinks.

    q: [batch, rows, heads, head_dim]; k, v: [batch, keys, heads_k, head_dim], of the same dtype and device;
    heads is a multiple of heads_k. These kernels take float16 and bfloat16 (from compute capability 8.0 on)
    and head dimensions that are a multiple of 8, up to 256, contiguous; the other backends what they take. float32
    tensors become autocast's type where autocast is enabled.

    causal, window: query i of m sees the keys from i + n - m - window[0] to i + n - m + window[1] of n,
    negative: all of them; causal is window[1] = 0. A query that sees no key has 0.
    scale: a number; None: head_dim ** -0.5.
    cu_seqlens_q, cu_seqlens_k: int32 [batch + 1] on q's device, of packed q, k, v [rows, heads, head_dim];
    max_seqlen_q, max_seqlen_k: the longest sequence; None: as many as there are rows.
    seqused_q, seqused_k: int32 [batch], the row behind the last that counts of each sequence; seqstart_q, seqstart_k:
    the first that counts. Rows that do not count are 0, and are not seen; m and n are the numbers of those that do.
    blocks: what select_blocks() makes, not of packed sequences.
    softcap: greater than 0: scores s become softcap tanh(s / softcap). sinks: float [heads]: logits of a key without
    a value. dropout_p: probabilities are dropped, by the device's generator of random numbers.
    return_why: also (backend, why), by choose().

    KernelError: nothing that runs here takes the call, an argument is wrong (its name is in the error), or a
    tensor has a tangent of forward-mode differentiation, which no kernel has.
    """
    # A plain call that was made before takes one look-up, written out here: calls of functions take time.
    left, right = window
    plain = (
        cu_seqlens_q is cu_seqlens_k is seqused_q is seqused_k is blocks is sinks is seqstart_q is seqstart_k is None
        and not (dropout_p or softcap or return_why)
        and type(q) is type(k) is type(v) is _Tensor
        and type(left) is type(right) is int
        and type(scale) is not _Tensor  # it may change in place
        and not (_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad))
        and not _is_compiling()
        and not (q.is_neg() or k.is_neg() or v.is_neg())
        and forward_ad._current_level < 0
        and not _modes()
    )
    key = None
    if plain:
        key = (
            q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), q.dtype, k.dtype, v.dtype,
            q.device, k.device, v.device, causal, left, right, scale, override(),
        )  # fmt: skip
        ready = _ready.get(key)
        if ready is not None:
            return ready(q, k, v)
    cast = _cast(q, k, v)
    if cast[0] is not q or cast[1] is not k or cast[2] is not v:
        key, (q, k, v) = None, cast
    _require_alike(q, k, v, cu_seqlens_q is not None)
    if scale is None:
        scale = q.shape[-1] ** -0.5
    elif isinstance(scale, _Tensor):
        scale = scale.item()
    if cu_seqlens_q is not None:
        max_seqlen_q = q.shape[0] if max_seqlen_q is None else max_seqlen_q
        max_seqlen_k = k.shape[0] if max_seqlen_k is None else max_seqlen_k
    if sinks is not None and sinks.dtype != torch.float32:
        if not sinks.is_floating_point():
            refuse("sinks", f"floating numbers, not {sinks.dtype}")
        sinks = sinks.float()
    more = _More(
        cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k, blocks, max_seqlen_q, max_seqlen_k, seqstart_q, seqstart_k,
        float(softcap or 0), sinks, float(dropout_p or 0),
    )  # fmt: skip
    window = int(left), 0 if causal else int(right)
    o, why = _attend(q, k, v, more, scale, *window, key)
    return (o, why) if return_why else o


def select_blocks(indices, rows, keys):
    """The bit sets of attention(blocks=…): int32 [batch, heads_k, query blocks, ceil(keys / 2048)].

    indices: integers [batch, heads_k, ceil(rows / 64), n], on any device: the blocks of 64 keys that each block of
    64 queries sees. Repeated indices count once; indices outside of the keys are ignored.
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
