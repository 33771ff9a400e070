"""Calls of the library with torch's tensors: checked once for each signature, then packed and launched.

A signature is all of the arguments but their addresses, which the library checks at every call. After the check a call
only allocates, writes addresses into the struct of wsk.h, and launches.
"""

import typing

import torch

from ._native import NotSupported, image_of, native, refuse
from ._structs import ATTENTION, TENSOR
from ._tensors import TYPES as _ALL_TYPES
from ._tensors import (
    Plans,
    address,
    calls,
    current_device,
    is_on_gpu,
    launch,
    multiprocessors,
    plain,
    raw_stream,
    require_plain,
    signatures,
)

TYPES = {dtype: _ALL_TYPES[dtype] for dtype in (torch.float16, torch.bfloat16)}
HEAD_DIM_EXPECTED = "a multiple of 8, 8 to 256"

_Tensor = typing.Optional[torch.Tensor]


class More(typing.NamedTuple):
    """Rarely used arguments, as wsk.h documents them. seqstart_*, entries and pages are int32 on q's device."""

    softcap: float = 0.0
    dropout: float = 0.0
    random: _Tensor = None  # int64 [2]
    sinks: _Tensor = None  # float32 [heads of q]
    seqstart_q: _Tensor = None  # [batch]
    seqstart_k: _Tensor = None
    entries: _Tensor = None  # [batch]
    pages: _Tensor = None  # [batch, pages of a sequence]


NO_MORE = More()


def more_of(*members, **named):
    """More of these members; NO_MORE itself where none says anything."""
    more = More(*members, **named)
    empty = not more.softcap and not more.dropout and all(t is None for t in more[2:])
    return NO_MORE if empty else more


def _check_types(q, k, v, dims, dims_k):
    if not is_on_gpu(q):
        refuse("q", "on a CUDA device")
    if q.dtype not in TYPES:
        refuse("q", f"float16 or bfloat16, not {q.dtype}")
    if q.dim() != dims:
        refuse("q", "[rows, heads, head_dim]" if dims == 3 else "[batch, rows, heads, head_dim]")
    if image_of(q.shape[-1]) is None:
        raise NotSupported("no kernel for this", "head_dim", HEAD_DIM_EXPECTED)
    for name, t in (("k", k), ("v", v)):
        if t.dtype != q.dtype or t.device != q.device:
            refuse(name, "of q's dtype and device")
        if t.dim() != dims_k or t.shape[-1] != q.shape[-1]:
            refuse(name, "of q's batch and head_dim")
    if k.shape != v.shape:
        refuse("v", "of k's shape")
    if k.shape[-2] == 0 or q.shape[-2] % k.shape[-2]:
        refuse("q", "of a number of heads that is a multiple of k's")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(-1) != 1:
            refuse(name, "contiguous in its last dimension")


def _check(q, k, v, cu_q, cu_k, used_q, used_k, blocks, more):
    """Whatever the library cannot see: types, devices, shapes. Strides and sizes are checked there."""
    packed, in_pages = cu_q is not None, more.pages is not None
    _check_types(q, k, v, 3 if packed else 4, 3 if packed and not in_pages else 4)
    if not packed and not in_pages and more.entries is None and k.shape[0] != q.shape[0]:
        refuse("k", "of q's batch and head_dim")
    if (cu_q is None) != (cu_k is None):
        refuse("cu_seqlens_k", "given together with cu_seqlens_q")
    batch = q.shape[0]
    if packed:
        batch = cu_q.numel() - 1
        if batch < 1:
            refuse("cu_seqlens_q", "at least two numbers")
    for name, t, count in (
        ("cu_seqlens_q", cu_q, batch + 1),
        ("cu_seqlens_k", cu_k, batch + 1),
        ("seqused_q", used_q, batch),
        ("seqused_k", used_k, batch),
        ("seqstart_q", more.seqstart_q, batch),
        ("seqstart_k", more.seqstart_k, batch),
        ("entries", more.entries, batch),
    ):
        _check_numbers(name, t, count, q.device)
    _check_more(q, batch, more)
    _check_blocks(q, k, blocks, packed, batch)


def _check_numbers(name, t, count, device):
    if t is not None and (
        t.dtype != torch.int32 or t.device != device or t.shape != (count,) or not t.is_contiguous()
    ):
        refuse(name, f"int32, contiguous, of shape ({count},), on q's device")


def _check_more(q, batch, more):
    if not more.softcap >= 0 or more.softcap == float("inf"):
        refuse("softcap", "0 or greater, and finite")
    if not 0 <= more.dropout < 1:
        refuse("dropout", "0 to less than 1")
    t = more.random
    if t is not None and (
        t.dtype != torch.int64 or t.device != q.device or t.shape != (2,) or not t.is_contiguous()
    ):
        refuse("random", "two numbers of int64 on q's device")
    t = more.sinks
    if t is not None and (
        t.dtype != torch.float32 or t.device != q.device or t.shape != (q.shape[-2],) or not t.is_contiguous()
    ):
        refuse("sinks", f"float32, contiguous, of shape ({q.shape[-2]},), on q's device")
    t = more.pages
    if t is not None and (
        t.dtype != torch.int32 or t.device != q.device or t.dim() != 2 or t.shape[0] != batch or t.stride(1) != 1
    ):
        refuse("pages", f"int32, contiguous in its last dimension, of shape ({batch}, pages), on q's device")


def _check_blocks(q, k, blocks, packed, batch):
    if blocks is None:
        return
    if packed:
        refuse("blocks", "None where sequences are packed")
    shape = (batch, k.shape[-2], -(-q.shape[1] // 64), -(-k.shape[1] // 2048))
    if blocks.dtype != torch.int32 or blocks.device != q.device or tuple(blocks.shape) != shape:
        refuse("blocks", f"int32 bit sets of shape {shape} on q's device")
    if blocks.stride(-1) != 1:
        refuse("blocks", "contiguous in its last dimension")


def like(t, make=torch.empty_like):
    """A tensor with the layout of `t`, with the head dimension innermost, also when `t` is an expanded tensor."""
    x = make(t)
    return x if x.stride(-1) == 1 else make(t, memory_format=torch.contiguous_format)


def lse_shape(q):
    """[batch, heads, rows] of q [batch, rows, heads, head_dim]; [heads, rows] of packed rows."""
    return (q.shape[1], q.shape[0]) if q.dim() == 3 else (q.shape[0], q.shape[2], q.shape[1])


_STRIDES = TENSOR.part("stride_batch", "stride_head").pack
_HEAD = ATTENTION.part("size", "reserved").pack
_LSE = ATTENTION.part("lse_stride_batch", "lse_stride_head").pack
_BLOCKS = ATTENTION.part("blocks_stride_batch", "blocks_stride_row").pack
_SPLITS = ATTENTION.part("scratch_size", "dropout").pack
_PAGES = ATTENTION.part("pages_stride_batch", "reserved3").pack
_DELTA = ATTENTION.part("delta_stride_batch", "delta_stride_head").pack

#: The struct of a call: addresses, and between them what is the same for each call of a signature; and of calls without
#: gradients of q, k and v alone.
_CALL = ATTENTION.apart(
    "q k v o lse cu_seqlens_q cu_seqlens_k seqused_q seqused_k blocks grad_o grad_q grad_k grad_v delta scratch "
    "random sinks seqstart_q seqstart_k entries pages grad_lse"
)
_PLAIN, _SPLIT = ATTENTION.apart("q k v o"), ATTENTION.apart("q k v o scratch")
_NO_GRADIENTS = 4 * (0, b"") + (0,)


def _strides(t):
    s = t.stride()
    return _STRIDES(*(s[:3] if len(s) == 4 else (0,) + s[:2]))


class Plan:
    """Values that are computed and checked once for each signature. `head` is None for an empty problem.

    KernelError: an argument has a type, device or shape that the kernels do not support.
    """

    __slots__ = (
        "head", "q", "k", "v", "o", "simple", "lse", "blocks", "pages", "lse_shape", "device", "fills", "rows", "parts",
    )  # fmt: skip

    def __init__(self, q, k, v, cu_q, cu_k, used_q, used_k, blocks, more, max_q, max_k, scale, left, right):
        _check(q, k, v, cu_q, cu_k, used_q, used_k, blocks, more)
        packed = cu_q is not None
        self.lse_shape = shape = lse_shape(q)
        self.device = q.device.index
        self.head = None
        self.fills = packed or more.seqstart_q is not None
        if q.numel() == 0 or k.numel() == 0 or (more.pages is not None and more.pages.shape[1] == 0):
            self.fills = True
            return
        batch = cu_q.numel() - 1 if packed else q.shape[0]
        rows, keys = (max_q, max_k) if packed else (q.shape[1], k.shape[1])
        self.pages = b""
        if more.pages is not None:
            in_pages = more.pages.shape[1] * k.shape[1]
            keys = min(max_k, in_pages) if packed else in_pages
            self.pages = _PAGES(max(more.pages.stride(0), more.pages.shape[1]), k.shape[1], k.shape[0], 0, 0)
        elif more.entries is not None:
            self.pages = _PAGES(0, 0, 0, k.shape[0], 0)
        self.rows = batch * q.shape[-2] * rows
        sizes = batch, q.shape[-2], k.shape[-2], q.shape[-1], rows, keys
        totals = (q.shape[0], 0 if more.pages is not None else k.shape[0]) if packed else (0, 0)
        self.head = _HEAD(ATTENTION.size, TYPES[q.dtype], *sizes, *totals, left, right, scale, 0)
        o = torch.empty_like(q)
        self.simple = o.stride(-1) == 1
        self.q, self.k, self.v = _strides(q), _strides(k), _strides(v)
        self.o = _strides(o if self.simple else like(q))
        self.lse = _LSE(*((0, shape[1]) if packed else (shape[1] * shape[2], shape[2])))
        self.blocks = b"" if blocks is None else _BLOCKS(*blocks.stride()[:3])
        self.parts = 0 if blocks is not None or more.dropout else parts_of(*sizes, packed, q.device)
        native().load(image_of(q.shape[-1]))

    def pack(
        self, q, k, v, o, lse, sequences, more, of_o=None, parts=0, scratch=None,
        gradients=_NO_GRADIENTS, grad_lse=None, of_delta=b"",
    ):  # fmt: skip
        """struct wsk_attention of tensors of this signature. sequences: cu_q, cu_k, used_q, used_k, blocks; of_o: strides of
        o where it is not ours; gradients: addresses and strides of grad_o to grad_v, and the address of delta."""
        return _CALL.pack(
            self.head,
            q.data_ptr(), self.q,
            k.data_ptr(), self.k,
            v.data_ptr(), self.v,
            o.data_ptr(), of_o or self.o,
            address(lse), self.lse,
            *map(address, sequences), self.blocks,
            *gradients,
            address(scratch), _SPLITS(4 * scratch.numel() if parts else 0, parts, 0, more.softcap, more.dropout),
            *map(address, more[2:]), self.pages,
            address(grad_lse), of_delta,
        )  # fmt: skip


def parts_of(batch, heads, heads_k, head_dim, rows, keys, packed, device):
    """Into how many parts the keys are split; 0: not at all, and each head has blocks of its own.

    Few queries leave most of a GPU without work, and the heads of a group would each read the same keys. In parts
    there are as many blocks as are resident at once, because a second turn that is half empty costs more than it
    hides, and at least 256 keys a part.
    """
    group, image = heads // heads_k, image_of(head_dim)
    if keys < 256 or rows < 1:
        return 0
    resident = multiprocessors(device) * (3 if image <= 80 and rows * group <= 16 and not packed else 2)
    few = rows * group <= 16 and image <= 128 and not packed
    tile = 16 if few else 128 if image <= 64 and rows * group > 64 else 64 if image <= 128 else 32
    blocks = batch * heads_k * -(-rows * group // tile)
    parts = max(1, min(resident // blocks, keys // 256, 256))
    if rows < 64:
        return parts
    return parts if parts > 1 and batch * heads * -(-rows // 64) < resident else 0


_plans = Plans()


def plan_of(q, k, v, sequences, more, *numbers):
    """The plan for these tensors and numbers (max_q, max_k, scale, left, right); KernelError as Plan."""
    key = signatures((q, k, v, *sequences)), q.device, numbers
    if more is not NO_MORE:
        key += more.softcap, more.dropout, signatures(more[2:])
    return _plans.get(key) or _plans.put(key, Plan(q, k, v, *sequences, more, *numbers))


def _tensors(q, k, v, more):
    """Kernels read memory: a tensor that is negated by a flag only is copied. Dropout gets a seed and an offset."""
    if more.dropout and more.random is None:
        refuse("random", "given where there is dropout")
    return plain(q), plain(k), plain(v)


def forward_cuda(
    q, k, v, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right, *more, parts=None, out=None
):
    """o, laid out as q, and lse. Rows of no sequence are 0, their lse -infinity.

    more: the members of More, in their order. parts: of the keys; None: as many as parts_of() says. out: of q's shape
    and type, is written and returned as o.
    """
    more = more_of(*more)
    q, k, v = _tensors(q, k, v, more)
    sequences = cu_q, cu_k, used_q, used_k, blocks
    plan = plan_of(q, k, v, sequences, more, max_q, max_k, scale, left, right)
    o = like(q) if out is None else out
    of_o = None
    if out is not None:
        require_plain("out", out)
        if out.shape != q.shape or out.dtype != q.dtype or out.device != q.device or out.stride(-1) != 1:
            refuse("out", "of q's shape, dtype and device, contiguous in its last dimension")
        of_o = _strides(out)
    lse = torch.empty(plan.lse_shape, dtype=torch.float32, device=q.device)
    if plan.fills:
        o.zero_()
        lse.fill_(float("-inf"))
    if plan.head is None and more.sinks is not None:
        lse.copy_(more.sinks[:, None].expand(lse.shape))
    if plan.head is None:
        return o, lse
    parts = plan.parts if parts is None else parts
    scratch = torch.empty(floats_of(plan, parts, q), dtype=torch.float32, device=q.device) if parts else None
    packed = plan.pack(q, k, v, o, lse, sequences, more, of_o, parts, scratch)
    launch("decode" if parts else "forward", packed, plan.device)
    return o, lse


def floats_of(plan, parts, q):
    """How many wsk_decode needs as scratch, which must live until the launch."""
    return parts * plan.rows * (image_of(q.shape[-1]) + 2)


def _grads(names, tensors, given, fills):
    """The tensors for the gradients: the given ones, or new ones."""
    make = torch.zeros_like if fills else torch.empty_like
    found = []
    for name, t, out in zip(names, tensors, given):
        if out is None:
            out = like(t, make)
        else:
            require_plain(name, out)
            if out.shape != t.shape or out.dtype != t.dtype or out.device != t.device or out.stride(-1) != 1:
                refuse(name, f"of the shape, dtype and device of {name[1:]}, contiguous in its last dimension")
            if fills:
                out.zero_()
        found.append(out)
    return found


def gradients_cuda(
    grad, grad_lse, q, k, v, o, lse, sequences, max_q, max_k, scale, left, right, more=NO_MORE, out=(None,) * 3, delta=None
):
    """dq, dk, dv, delta: the sums of grad x o, less grad_lse, laid out as lse. grad may be None: zeros.

    sequences: cu_q, cu_k, used_q, used_k, blocks. out: where gradients are to be written; delta: float, of lse's shape
    with any strides but the last, likewise.
    """
    q, k, v = _tensors(q, k, v, more)
    o, lse, grad_lse = plain(o), plain(lse), plain(grad_lse)
    plan = plan_of(q, k, v, sequences, more, max_q, max_k, scale, left, right)
    fills = plan.fills or more.seqstart_k is not None
    dq, dk, dv = _grads(("dq", "dk", "dv"), (q, k, v), out, fills)
    lse = lse.contiguous()
    delta = torch.empty_like(lse) if delta is None else delta
    if plan.fills:
        delta.zero_()
    if plan.head is None:
        return dq, dk, dv, delta
    grad = torch.zeros_like(o) if grad is None else plain(grad)
    for name, t in (("grad", grad), ("o", o)):
        if t.shape != q.shape or t.dtype != q.dtype or t.device != q.device:
            refuse(name, "of q's shape, dtype and device")
    for name, t in (("lse", lse), ("grad_lse", grad_lse)):
        if t is not None and (t.shape != plan.lse_shape or t.dtype != torch.float32 or t.device != q.device):
            refuse(name, f"float32 of shape {tuple(plan.lse_shape)} on q's device")
    grad, o = (t if t.stride(-1) == 1 else t.contiguous() for t in (grad, o))
    grad_lse = None if grad_lse is None else grad_lse.contiguous()
    gradients = *sum(((t.data_ptr(), _strides(t)) for t in (grad, dq, dk, dv)), ()), delta.data_ptr()
    strides = (0, delta.stride(0)) if delta.dim() == 2 else delta.stride()[:2]
    of_delta = b"" if delta.is_contiguous() else _DELTA(*strides)
    packed = plan.pack(
        q, k, v, o, lse, sequences, more, _strides(o), gradients=gradients, grad_lse=grad_lse, of_delta=of_delta
    )
    launch("backward", packed, plan.device)
    return dq, dk, dv, delta


def backward_cuda(grad, q, k, v, o, lse, cu_q, cu_k, used_q, used_k, blocks, max_q, max_k, scale, left, right, *more):
    """Gradients of q, k and v; beside them 4 bytes for each query row and head."""
    sequences, numbers = (cu_q, cu_k, used_q, used_k, blocks), (max_q, max_k, scale, left, right)
    return gradients_cuda(grad, None, q, k, v, o, lse, sequences, *numbers, more_of(*more))[:3]


def decode_cuda(q, k, v, used_q, used_k, scale, left, right, parts):
    """o and lse, for few queries and many keys, in so many parts of the keys."""
    words = q, k, v, None, None, used_q, used_k, None, 0, 0, scale, left, right
    return forward_cuda(*words, parts=parts)


def repeated(q, k, v, scale, left, right):
    """f(q, k, v) -> o, for tensors of this very signature, without gradients, as short as a call can be.

    Returns None for an empty problem. No argument may be negated by a flag only.
    """
    plan = plan_of(q, k, v, (None,) * 5, NO_MORE, 0, 0, scale, left, right)
    if plan.head is None:
        return None
    name = "decode" if plan.parts else "forward"
    function, handle = native().entry(name)
    head, of_q, of_k, of_v, device, parts = plan.head, plan.q, plan.k, plan.v, plan.device, plan.parts
    empty_like, pack_plain, pack_split = torch.empty_like, _PLAIN.pack, _SPLIT.pack
    count, floats = floats_of(plan, parts, q), {"dtype": torch.float32, "device": q.device}
    of_o, splits, simple = plan.o, _SPLITS(4 * count, parts, 0, 0, 0), plan.simple

    def call(q, k, v):
        o = empty_like(q) if simple else like(q)
        if parts:
            scratch = torch.empty(count, **floats)
            arguments = pack_split(
                head, q.data_ptr(), of_q, k.data_ptr(), of_k, v.data_ptr(), of_v,
                o.data_ptr(), of_o, scratch.data_ptr(), splits,
            )
        else:
            arguments = pack_plain(
                head, q.data_ptr(), of_q, k.data_ptr(), of_k, v.data_ptr(), of_v, o.data_ptr(), of_o
            )
        if current_device() != device or function(handle, arguments, raw_stream(device), None):
            launch(name, arguments, device)
        else:
            calls[name] += 1
        return o

    return call
