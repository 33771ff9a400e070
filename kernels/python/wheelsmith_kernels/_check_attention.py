"""The cases of `check` for attention: forward and backward against float64."""

import dataclasses

DTYPES = ("float16", "bfloat16")
HEAD_DIMS = (64, 80, 96, 128)


@dataclasses.dataclass(frozen=True)
class Case:
    head_dim: int
    dtype: str
    batch: int
    queries: int
    keys: int
    heads: int
    heads_k: int
    left: int
    right: int
    lengths: tuple = ()  # packed: of each sequence, queries and keys alike

    def name(self):
        shape = "+".join(map(str, self.lengths)) or f"{self.batch}x{self.queries}x{self.keys}"
        return f"{self.dtype} {self.head_dim} {shape} {self.heads}:{self.heads_k} {self.left},{self.right}"


#: Lengths that are not a multiple of a tile, GQA, MQA, a window, rows without keys, packed sequences.
SHAPES = (
    (2, 128, 128, 4, 4, -1, 0),
    (2, 113, 203, 4, 2, -1, 0),
    (1, 300, 300, 4, 1, 70, 0),
    (1, 65, 1000, 8, 1, -1, -1),
    (1, 203, 113, 4, 4, -1, 0),
    (1, 1024, 1024, 8, 2, -1, 0),
    (1, 1, 513, 32, 4, -1, 0),
    (1, 201, 201, 4, 2, -1, 0, (1, 130, 63, 7)),
    (1, 201, 201, 4, 2, 20, 0, (130, 0, 71)),
)


def all_cases():
    return [Case(d, t, *shape) for d in HEAD_DIMS for t in DTYPES for shape in SHAPES]


def _of_flash_attn(case, q, k, v):
    import torch
    from flash_attn import flash_attn_func, flash_attn_varlen_func

    words = {"softmax_scale": case.head_dim**-0.5, "causal": case.right == 0}
    words["window_size"] = (case.left, case.right)
    if not case.lengths:
        return flash_attn_func(q, k, v, **words)
    ends = torch.tensor((0,) + case.lengths, device=q.device).cumsum(0, dtype=torch.int32)
    longest = max(case.lengths)
    return flash_attn_varlen_func(q[0], k[0], v[0], ends, ends, longest, longest, **words)[None]


def _of_wheelsmith_kernels(case, q, k, v):
    import torch

    from ._attention_ops import Attention

    scale, nothing = case.head_dim**-0.5, (None,) * 5
    if not case.lengths:
        return Attention.apply(q, k, v, *nothing, 0, 0, scale, case.left, case.right)
    ends = torch.tensor((0,) + case.lengths, device=q.device).cumsum(0, dtype=torch.int32)
    words = ends, ends, *nothing[:3], max(case.lengths), max(case.lengths)
    return Attention.apply(q[0], k[0], v[0], *words, scale, case.left, case.right)[None]


def _wanted(case, q, k, v, grad):
    """o, dq, dk, dv in float64; of packed sequences each alone."""
    import torch

    from ._reference import attend, gradients

    parts, start = [], 0
    for n in case.lengths or (None,):
        rows = slice(start, start + n) if n is not None else slice(None)
        start += n or 0
        if n != 0:
            of = [t[:, rows] for t in (q, k, v, grad)]
            what = case.head_dim**-0.5, case.left, case.right
            parts.append((attend(*of[:3], *what)[0], *gradients(*of, *what)))
    return [torch.cat(t, 1) for t in zip(*parts)]


def _attention(call):
    """f(case, device) -> [(name, found, wanted)] of o and the gradients that `call` gives."""

    def pairs(case, device):
        import torch

        generator = torch.Generator(device).manual_seed(0)
        dtype = getattr(torch, case.dtype)

        def make(rows, heads):
            shape = case.batch, rows, heads, case.head_dim
            return torch.randn(shape, device=device, generator=generator).to(dtype)

        q, grad = make(case.queries, case.heads), make(case.queries, case.heads)
        k, v = make(case.keys, case.heads_k), make(case.keys, case.heads_k)
        leaves = [t.detach().requires_grad_() for t in (q, k, v)]
        o = call(case, *leaves)
        found = (o.detach(), *torch.autograd.grad(o, leaves, grad))
        return list(zip(("o", "dq", "dk", "dv"), found, _wanted(case, q, k, v, grad)))

    return pairs


of_package = _attention(_of_flash_attn)
of_here = _attention(_of_wheelsmith_kernels)
