"""Calls of the library with torch's tensors: checked once for each signature, then packed and launched.

A signature is all of the arguments but their addresses, which the library checks at every call. What a
checked call leaves to do is to allocate, to write addresses into the struct of wsk.h, and to launch.
"""

import struct

import torch

from ._native import ATTENTION, HEAD_DIMS, native, refuse
from ._tensors import TYPES as _ALL_TYPES
from ._tensors import address, calls, current_device, launch, raw_stream, remember, signature

TYPES = {dtype: _ALL_TYPES[dtype] for dtype in (torch.float16, torch.bfloat16)}


def _check(q, k, v, cu_q, cu_k, used_q, used_k, blocks):
    """Whatever the library cannot see: types, devices, shapes. Strides and sizes are checked there."""
    dims = 3 if cu_q is not None else 4
    if not q.is_cuda:
        refuse("q", "on a CUDA device")
    if q.dtype not in TYPES:
        refuse("q", f"float16 or bfloat16, not {q.dtype}")
    if q.dim() != dims:
        refuse("q", "[rows, heads, head_dim]" if dims == 3 else "[batch, rows, heads, head_dim]")
    if q.shape[-1] not in HEAD_DIMS:
        refuse("head_dim", "64, 80, 96 or 128")
    for name, t in (("k", k), ("v", v)):
        if t.dtype != q.dtype or t.device != q.device:
            refuse(name, "of q's dtype and device")
        if t.dim() != dims or t.shape[-1] != q.shape[-1] or (dims == 4 and t.shape[0] != q.shape[0]):
            refuse(name, "of q's batch and head_dim")
    if k.shape != v.shape:
        refuse("v", "of k's shape")
    if k.shape[-2] == 0 or q.shape[-2] % k.shape[-2]:
        refuse("q", "of a number of heads that is a multiple of k's")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(-1) != 1:
            refuse(name, "contiguous in its last dimension")
    if (cu_q is None) != (cu_k is None):
        refuse("cu_seqlens_k", "given together with cu_seqlens_q")
    _check_sequences(q, k, cu_q, cu_k, used_q, used_k, blocks)


def _check_sequences(q, k, cu_q, cu_k, used_q, used_k, blocks):
    batch = q.shape[0]
    if cu_q is not None:
        batch = cu_q.numel() - 1
        if batch < 1:
            refuse("cu_seqlens_q", "at least two numbers")
    for name, t, count in (
        ("cu_seqlens_q", cu_q, batch + 1),
        ("cu_seqlens_k", cu_k, batch + 1),
        ("seqused_q", used_q, batch),
        ("seqused_k", used_k, batch),
    ):
        if t is not None and (
            t.dtype != torch.int32 or t.device != q.device or t.shape != (count,) or not t.is_contiguous()
        ):
            refuse(name, f"int32, contiguous, of shape ({count},), on q's device")
    if blocks is None:
        return
    if cu_q is not None:
        refuse("blocks", "None where sequences are packed")
    shape = (batch, k.shape[-2], -(-q.shape[1] // 64), -(-k.shape[1] // 2048))
    if blocks.dtype != torch.int32 or blocks.device != q.device or tuple(blocks.shape) != shape:
        refuse("blocks", f"int32 bit sets of shape {shape} on q's device")
    if blocks.stride(-1) != 1:
        refuse("blocks", "contiguous in its last dimension")


def like(t, make=torch.empty_like):
    """Of the layout of `t`, with the head dimension innermost whatever `t` was expanded from."""
    x = make(t)
    return x if x.stride(-1) == 1 else make(t, memory_format=torch.contiguous_format)


def lse_shape(q):
    """[batch, heads, rows] of q [batch, rows, heads, head_dim]; [heads, rows] of packed rows."""
    return (q.shape[1], q.shape[0]) if q.dim() == 3 else (q.shape[0], q.shape[2], q.shape[1])


def _strides(t):
    s = t.stride()
    return struct.pack("qqq", *(s[:3] if len(s) == 4 else (0,) + s[:2]))


#: The struct of a call, its addresses apart: q, k, v, o, lse, four of sequences, blocks; gradients and
#: scratch are in the last part. And the same with o's as the last address, for calls without more.
_CALL = struct.Struct("=56sQ24sQ24sQ24sQ24sQ16sQQQQQ24s160s")
_PLAIN = struct.Struct("=56sQ24sQ24sQ24sQ272s")
_SPLIT = struct.Struct("=56sQ24sQ24sQ24sQ248sQ16s")
_NOTHING = bytes(160)


class Plan:
    """What is computed and checked once for each signature. `head` is None where there is nothing to compute.

    KernelError: an argument of another type, device or shape than the kernels take.
    """

    __slots__ = ("head", "q", "k", "v", "o", "simple", "lse", "blocks", "lse_shape", "device")

    def __init__(self, q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right):
        _check(q, k, v, cu_q, cu_k, used_q, used_k, blocks)
        packed = cu_q is not None
        self.lse_shape = shape = lse_shape(q)
        self.device = q.device.index
        self.head = None
        if q.numel() == 0 or k.numel() == 0:
            return
        self.head = struct.pack(
            "I11ifi",
            ATTENTION.size,
            TYPES[q.dtype],
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
        o = torch.empty_like(q)
        self.simple = o.stride(-1) == 1
        self.q, self.k, self.v = _strides(q), _strides(k), _strides(v)
        self.o = _strides(o if self.simple else like(q))
        self.lse = struct.pack("qq", *((0, shape[1]) if packed else (shape[1] * shape[2], shape[2])))
        self.blocks = bytes(24) if blocks is None else struct.pack("qqq", *blocks.stride()[:3])
        native().load(q.shape[-1])

    def pack(self, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks, tail=_NOTHING, of_o=None):
        """struct wsk_attention of tensors of this signature; of_o: the strides of o, where o is not ours."""
        return _CALL.pack(
            self.head,
            q.data_ptr(),
            self.q,
            k.data_ptr(),
            self.k,
            v.data_ptr(),
            self.v,
            o.data_ptr(),
            of_o or self.o,
            address(lse),
            self.lse,
            address(cu_q),
            address(cu_k),
            address(used_q),
            address(used_k),
            address(blocks),
            self.blocks,
            tail,
        )


#: Plans by signature.
_plans = {}


def plan_of(q, k, v, cu_q, cu_k, used_q, used_k, blocks, *numbers):
    """The plan for these tensors and numbers (max_q, max_k, scale, left, right); KernelError as Plan."""
    key = (signature(q), signature(k), signature(v), numbers)
    if cu_q is not None or cu_k is not None or used_q is not None or used_k is not None or blocks is not None:
        key += tuple(map(signature, (cu_q, cu_k, used_q, used_k, blocks)))
    plan = _plans.get(key)
    if plan is None:
        plan = remember(_plans, key, Plan(q, k, v, cu_q, cu_k, used_q, used_k, blocks, *numbers))
    return plan


def forward_cuda(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right):
    """o, laid out as q, and lse. Rows of no sequence are 0, their lse -infinity."""
    plan = plan_of(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right)
    o = like(q)
    lse = torch.empty(plan.lse_shape, dtype=torch.float32, device=q.device)
    if cu_q is not None or plan.head is None:
        o.zero_()
        lse.fill_(float("-inf"))
    if plan.head is not None:
        launch("forward", plan.pack(q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks), plan.device)
    return o, lse


def backward_cuda(
    grad, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right
):
    """Gradients of q, k and v; beside them 4 bytes for each query row and head."""
    plan = plan_of(q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right)
    make = torch.zeros_like if cu_q is not None or plan.head is None else torch.empty_like
    dq, dk, dv = like(q, make), like(k, make), like(v, make)
    if plan.head is None:
        return dq, dk, dv
    if grad.shape != q.shape or grad.dtype != q.dtype or grad.device != q.device:
        refuse("grad", "of o's shape, dtype and device")
    grad, o = (t if t.stride(-1) == 1 else t.contiguous() for t in (grad, o))
    lse = lse.contiguous()
    delta = torch.empty_like(lse)
    tail = b"".join(
        struct.pack("Q", t.data_ptr()) + _strides(t) for t in (grad, dq, dk, dv)
    ) + struct.pack("QQQii", delta.data_ptr(), 0, 0, 0, 0)
    sequences = cu_q, cu_k, used_q, used_k, blocks
    launch("backward", plan.pack(q, k, v, o, lse, *sequences, tail, _strides(o)), plan.device)
    return dq, dk, dv


def decode_cuda(q, k, v, used_q, used_k, scale, left, right, splits):
    """o and lse, for few queries and many keys."""
    plan = plan_of(q, k, v, None, None, used_q, used_k, None, 0, 0, scale, left, right)
    o = like(q)
    lse = torch.empty(plan.lse_shape, dtype=torch.float32, device=q.device)
    if plan.head is None:
        return o.zero_(), lse.fill_(float("-inf"))
    scratch = torch.empty(
        splits * lse.numel() * (q.shape[-1] + 2), dtype=torch.float32, device=q.device
    )
    tail = bytes(136) + struct.pack("QQii", scratch.data_ptr(), scratch.numel() * 4, splits, 0)
    launch("decode", plan.pack(q, k, v, o, lse, None, None, used_q, used_k, None, tail), plan.device)
    return o, lse


def repeated(splits, q, k, v, scale, left, right):
    """f(q, k, v) -> o, for tensors of this very signature, without gradients, as short as a call can be.

    splits: parts of the keys of the decode kernel; 0: the forward kernel. None where nothing is computed.
    """
    plan = plan_of(q, k, v, None, None, None, None, None, 0, 0, scale, left, right)
    if plan.head is None:
        return None
    name = "decode" if splits else "forward"
    function, handle = native().entry(name)
    head, of_q, of_k, of_v, device = plan.head, plan.q, plan.k, plan.v, plan.device
    empty_like, pack_plain, pack_split = torch.empty_like, _PLAIN.pack, _SPLIT.pack
    count = splits * q.shape[0] * q.shape[1] * q.shape[2] * (q.shape[3] + 2)
    parts = {"dtype": torch.float32, "device": q.device}
    after = plan.o + bytes(224)
    rest = after + bytes(24) if not splits else struct.pack("Qii", 4 * count, splits, 0)
    simple = plan.simple

    def call(q, k, v):
        o = empty_like(q) if simple else like(q)
        if splits:
            scratch = torch.empty(count, **parts)
            arguments = pack_split(
                head, q.data_ptr(), of_q, k.data_ptr(), of_k, v.data_ptr(), of_v,
                o.data_ptr(), after, scratch.data_ptr(), rest,
            )
        else:
            arguments = pack_plain(
                head, q.data_ptr(), of_q, k.data_ptr(), of_k, v.data_ptr(), of_v, o.data_ptr(), rest
            )
        if current_device() != device or function(handle, arguments, raw_stream(device), None):
            launch(name, arguments, device)
        else:
            calls[name] += 1
        return o

    return call
