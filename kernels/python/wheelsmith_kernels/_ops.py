"""Operators of torch: wheelsmith_kernels::forward, backward and decode, with fakes and gradients.

Tensors are [batch, rows, heads, head_dim], or [rows, heads, head_dim] where sequences are packed.
"""

import torch

from ._calls import backward_cuda, calls, decode_cuda, forward_cuda, like, lse_shape
from ._native import KernelError

__all__ = ["Attention", "backward_cuda", "calls", "decode_cuda", "forward_cuda"]

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
    return like(q), q.new_empty(lse_shape(q), dtype=torch.float32)


@torch.library.register_fake("wheelsmith_kernels::backward")
def _backward_fake(grad, q, k, v, *_):
    return like(q), like(k), like(v)


@torch.library.register_fake("wheelsmith_kernels::decode")
def _decode_fake(q, k, v, *_):
    return like(q), q.new_empty(lse_shape(q), dtype=torch.float32)


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


class Attention(torch.autograd.Function):
    """The same gradient outside of torch's dispatcher, which takes longer than the launches."""

    @staticmethod
    def forward(ctx, *inputs):
        o, lse = forward_cuda(*inputs)
        _keep(ctx, inputs, (o, lse))
        return o

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        if grad is None:
            return (None,) * 13
        q, k, v, o, lse, *tensors = ctx.saved_tensors
        return backward_cuda(grad, q, k, v, o, lse, *tensors, *ctx.rest) + (None,) * 10
