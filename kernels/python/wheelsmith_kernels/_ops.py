"""Operators of torch: wheelsmith_kernels::forward, backward and decode, with fakes and gradients.

Tensors are [batch, rows, heads, head_dim], or [rows, heads, head_dim] where sequences are packed.
"""

import collections
import struct

import torch

from ._native import ATTENTION, BFLOAT16, FLOAT16, HEAD_DIMS, KernelError, native

_TYPES = {torch.float16: FLOAT16, torch.bfloat16: BFLOAT16}

#: Calls that reached a kernel, by operator: tests and `patch` prove by it that ours ran.
calls = {"forward": 0, "backward": 0, "decode": 0}

_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)


def _stream(device):
    return _raw_stream(device) if _raw_stream else torch.cuda.current_stream(device).cuda_stream


def _pointer(t):
    return 0 if t is None else t.data_ptr()


def _fail(argument, expected):
    raise KernelError("wrong argument", argument, expected)


def _check(q, k, v, cu_q, cu_k, used_q, used_k, blocks):
    """Whatever the library cannot see: types, devices, shapes. Strides and sizes are checked there."""
    dims = 3 if cu_q is not None else 4
    if not q.is_cuda:
        _fail("q", "on a CUDA device")
    if q.dtype not in _TYPES:
        _fail("q", f"float16 or bfloat16, not {q.dtype}")
    if q.dim() != dims:
        _fail("q", "[rows, heads, head_dim]" if dims == 3 else "[batch, rows, heads, head_dim]")
    if q.shape[-1] not in HEAD_DIMS:
        _fail("head_dim", "64, 80, 96 or 128")
    for name, t in (("k", k), ("v", v)):
        if t.dtype != q.dtype or t.device != q.device:
            _fail(name, "of q's dtype and device")
        if t.dim() != dims or t.shape[-1] != q.shape[-1] or (dims == 4 and t.shape[0] != q.shape[0]):
            _fail(name, "of q's batch and head_dim")
    if k.shape != v.shape:
        _fail("v", "of k's shape")
    if k.shape[-2] == 0 or q.shape[-2] % k.shape[-2]:
        _fail("q", "of a number of heads that is a multiple of k's")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(-1) != 1:
            _fail(name, "contiguous in its last dimension")
    batch = q.shape[0] if dims == 4 else None
    if (cu_q is None) != (cu_k is None):
        _fail("cu_seqlens_k", "given together with cu_seqlens_q")
    if cu_q is not None:
        batch = cu_q.numel() - 1
        if batch < 1:
            _fail("cu_seqlens_q", "at least two numbers")
    for name, t, count in (
        ("cu_seqlens_q", cu_q, batch + 1),
        ("cu_seqlens_k", cu_k, batch + 1),
        ("seqused_q", used_q, batch),
        ("seqused_k", used_k, batch),
    ):
        if t is not None and (
            t.dtype != torch.int32 or t.device != q.device or t.shape != (count,) or not t.is_contiguous()
        ):
            _fail(name, f"int32, contiguous, of shape ({count},), on q's device")
    if blocks is not None:
        shape = (batch, k.shape[-2], -(-q.shape[1] // 64), -(-k.shape[1] // 2048)) if dims == 4 else None
        if shape is None:
            _fail("blocks", "None where sequences are packed")
        if blocks.dtype != torch.int32 or blocks.device != q.device or tuple(blocks.shape) != shape:
            _fail("blocks", f"int32 bit sets of shape {shape} on q's device")
        if blocks.stride(-1) != 1:
            _fail("blocks", "contiguous in its last dimension")


#: The struct of a call with its pointers apart: the rest depends on shapes alone and is kept.
_CALL = struct.Struct("=56sQ24sQ24sQ24sQ24sQ16sQQQQQ24s160s")
_NOTHING = bytes(160)
_Plan = collections.namedtuple("_Plan", "head q k v o lse blocks lse_shape load")

#: Plans by shape, so that a call that was checked is not checked again. Small: shapes recur.
_plans = {}
_PLANS_MAX = 4096


def _strides(t):
    s = t.stride()
    return struct.pack("qqq", *(s[:3] if len(s) == 4 else (0,) + s[:2]))


def _lse_shape(q):
    return (q.shape[1], q.shape[0]) if q.dim() == 3 else (q.shape[0], q.shape[2], q.shape[1])


def _lse_strides(lse):
    s = lse.stride()
    return struct.pack("qq", *(s[:2] if len(s) == 3 else (0, s[0])))


def _make_plan(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right):
    _check(q, k, v, cu_q, cu_k, used_q, used_k, blocks)
    packed = cu_q is not None
    shape = _lse_shape(q)
    if _is_empty(q, k):
        return _Plan(None, None, None, None, None, None, None, shape, None)
    head = struct.pack(
        "I11ifi",
        ATTENTION.size,
        _TYPES[q.dtype],
        cu_q.numel() - 1 if packed else q.shape[0],
        q.shape[-2],
        k.shape[-2],
        q.shape[-1],
        max_q if packed else q.shape[1],
        max_k if packed else k.shape[1],
        q.shape[0] if packed else 0,
        k.shape[0] if packed else 0,
        left,
        right,
        scale,
        0,
    )
    o = _like(torch.empty_strided(q.shape, q.stride(), dtype=q.dtype, device="meta"))
    lse = torch.empty(shape, device="meta")
    return _Plan(
        head,
        _strides(q),
        _strides(k),
        _strides(v),
        _strides(o),
        _lse_strides(lse),
        bytes(24) if blocks is None else struct.pack("qqq", *blocks.stride()[:3]),
        shape,
        native().load,
    )


def _plan(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right):
    key = (
        q.shape,
        k.shape,
        v.shape,
        q.stride(),
        k.stride(),
        v.stride(),
        q.dtype,
        k.dtype,
        v.dtype,
        q.device,
        k.device,
        v.device,
        max_q,
        max_k,
        scale,
        left,
        right,
    )
    plain = cu_q is None and cu_k is None and used_q is None and used_k is None and blocks is None
    plan = _plans.get(key) if plain else None
    if plan is None:
        plan = _make_plan(
            q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right
        )
        if plain:
            if len(_plans) >= _PLANS_MAX:
                _plans.clear()
            _plans[key] = plan
    return plan


def _call(plan, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks, tail=_NOTHING):
    return _CALL.pack(
        plan.head,
        q.data_ptr(),
        plan.q,
        k.data_ptr(),
        plan.k,
        v.data_ptr(),
        plan.v,
        o.data_ptr(),
        plan.o,
        lse.data_ptr(),
        plan.lse,
        _pointer(cu_q),
        _pointer(cu_k),
        _pointer(used_q),
        _pointer(used_k),
        _pointer(blocks),
        plan.blocks,
        tail,
    )


def _run(name, q, arguments):
    library = native()
    library.load(q.shape[-1])
    device = q.device.index
    if device == torch.cuda.current_device():
        library.call(name, arguments, _stream(device))
    else:
        with torch.cuda.device(device):
            library.call(name, arguments, _stream(device))
    calls[name] += 1


def _like(t, make=torch.empty_like):
    """Of the layout of `t`, with the head dimension innermost whatever `t` was expanded from."""
    x = make(t)
    return x if x.stride(-1) == 1 else make(t, memory_format=torch.contiguous_format)


def _is_empty(q, k):
    return q.numel() == 0 or k.numel() == 0


def forward_cuda(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right):
    """o, laid out as q, and lse. Rows of no sequence are 0, their lse -infinity."""
    plan = _plan(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right)
    o = _like(q)
    lse = torch.empty(plan.lse_shape, dtype=torch.float32, device=q.device)
    if cu_q is not None or plan.head is None:
        o.zero_()
        lse.fill_(float("-inf"))
    if plan.head is not None:
        _run("forward", q, _call(plan, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks))
    return o, lse


def backward_cuda(
    grad, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right
):
    """Gradients of q, k and v; beside them 4 bytes for each query row and head."""
    plan = _plan(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right)
    make = torch.zeros_like if cu_q is not None or plan.head is None else torch.empty_like
    dq, dk, dv = _like(q, make), _like(k, make), _like(v, make)
    if plan.head is None:
        return dq, dk, dv
    if grad.stride(-1) != 1:
        grad = grad.contiguous()
    delta = torch.empty_like(lse)
    tail = b"".join(
        struct.pack("Q", t.data_ptr()) + _strides(t) for t in (grad, dq, dk, dv)
    ) + struct.pack("QQQii", delta.data_ptr(), 0, 0, 0, 0)
    plan = plan._replace(o=_strides(o), lse=_lse_strides(lse))
    _run("backward", q, _call(plan, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks, tail))
    return dq, dk, dv


def decode_cuda(q, k, v, used_q, used_k, scale, left, right, splits):
    """o and lse, for few queries and many keys."""
    plan = _plan(q, k, v, None, None, used_q, used_k, None, 0, 0, scale, left, right)
    o = _like(q)
    lse = torch.empty(plan.lse_shape, dtype=torch.float32, device=q.device)
    if plan.head is None:
        return o.zero_(), lse.fill_(float("-inf"))
    rows = splits * lse.numel()
    scratch = torch.empty((rows, q.shape[-1] + 2), dtype=torch.float32, device=q.device)
    tail = bytes(136) + struct.pack("QQii", scratch.data_ptr(), scratch.numel() * 4, splits, 0)
    _run("decode", q, _call(plan, q, k, v, o, lse, None, None, used_q, used_k, None, tail))
    return o, lse


_SEQUENCES = "Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, Tensor? seqused_q, Tensor? seqused_k"
_WHAT = "Tensor? blocks, int max_q, int max_k, float scale, int left, int right"

_library = torch.library.Library("wheelsmith_kernels", "DEF")
_library.define(f"forward(Tensor q, Tensor k, Tensor v, {_SEQUENCES}, {_WHAT}) -> (Tensor, Tensor)")
_library.define(
    "backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, "
    f"{_SEQUENCES}, {_WHAT}) -> (Tensor, Tensor, Tensor)"
)
_library.define(
    "decode(Tensor q, Tensor k, Tensor v, Tensor? seqused_q, Tensor? seqused_k, float scale, "
    "int left, int right, int splits) -> (Tensor, Tensor)"
)
_library.impl("forward", forward_cuda, "CUDA")
_library.impl("backward", backward_cuda, "CUDA")
_library.impl("decode", decode_cuda, "CUDA")


@torch.library.register_fake("wheelsmith_kernels::forward")
def _forward_fake(q, k, v, *_):
    return _like(q), q.new_empty(_lse_shape(q), dtype=torch.float32)


@torch.library.register_fake("wheelsmith_kernels::backward")
def _backward_fake(grad, q, k, v, *_):
    return _like(q), _like(k), _like(v)


@torch.library.register_fake("wheelsmith_kernels::decode")
def _decode_fake(q, k, v, *_):
    return _like(q), q.new_empty(_lse_shape(q), dtype=torch.float32)


def _keep(ctx, inputs, output):
    q, k, v, *rest = inputs
    tensors, ctx.rest = rest[:5], rest[5:]
    ctx.save_for_backward(q, k, v, *output, *tensors)
    ctx.set_materialize_grads(False)


def _differentiate(ctx, grad, grad_lse):
    if grad_lse is not None:
        raise KernelError("lse has no gradient", "lse", "used without gradients")
    nothing = (None,) * 10
    if grad is None:
        return (None, None, None) + nothing
    q, k, v, o, lse, *tensors = ctx.saved_tensors
    return tuple(torch.ops.wheelsmith_kernels.backward(grad, q, k, v, o, lse, *tensors, *ctx.rest)) + nothing


torch.library.register_autograd("wheelsmith_kernels::forward", _differentiate, setup_context=_keep)
