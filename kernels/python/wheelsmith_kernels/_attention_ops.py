"""Operators of torch: wheelsmith_kernels::forward and backward, with fakes and gradients.

Tensors are [batch, rows, heads, head_dim], or [rows, heads, head_dim] where sequences are packed. With few queries and
many keys forward() splits the keys (_attention_calls.parts_of).
"""

import torch

from ._attention_calls import NO_MORE, More, backward_cuda, calls, decode_cuda, forward_cuda, gradients_cuda, like, lse_shape, more_of
from ._tensors import no_second_derivative

__all__ = ["Attention", "backward_cuda", "calls", "decode_cuda", "forward_cuda"]

_SEQUENCES = "Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, Tensor? seqused_q, Tensor? seqused_k"
_WHAT = "Tensor? blocks, int max_q, int max_k, float scale, int left, int right"
_MORE = "float softcap=0.0, float dropout=0.0, Tensor? random=None"
_STARTS = "Tensor? seqstart_q=None, Tensor? seqstart_k=None"

#: Inputs of forward that are tensors, behind q, k and v, by their place; numbers of max_q to right, and of More.
_NUMBERS = slice(5, 10)

_library = torch.library.Library("wheelsmith_kernels", "DEF")
_library.define(
    f"forward(Tensor q, Tensor k, Tensor v, {_SEQUENCES}, {_WHAT}, {_MORE}, Tensor? sinks=None, {_STARTS}) "
    "-> (Tensor, Tensor)"
)
_library.define(
    "backward(Tensor? grad, Tensor? grad_lse, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, "
    f"{_SEQUENCES}, {_WHAT}, {_MORE}, {_STARTS}) -> (Tensor, Tensor, Tensor, Tensor)"
)


def _backward(grad, grad_lse, q, k, v, o, lse, *rest):
    """The dispatcher leaves out what is the default at the end."""
    more = dict(zip(("softcap", "dropout", "random", "seqstart_q", "seqstart_k"), rest[10:]))
    more = more_of(**more)
    return tuple(gradients_cuda(grad, grad_lse, q, k, v, o, lse, rest[:5], *rest[_NUMBERS], more))


_library.impl("forward", forward_cuda, "CUDA")
_library.impl("backward", _backward, "CUDA")


@torch.library.register_fake("wheelsmith_kernels::forward")
def _forward_fake(q, k, v, *_):
    return like(q), q.new_empty(lse_shape(q), dtype=torch.float32)


@torch.library.register_fake("wheelsmith_kernels::backward")
def _backward_fake(grad, grad_lse, q, k, v, o, lse, *_):
    return like(q), like(k), like(v), torch.empty_like(lse, memory_format=torch.contiguous_format)


def _keep(ctx, inputs, output):
    q, k, v, *rest = inputs
    more = More(*rest[10:]) if len(rest) > 10 else NO_MORE
    sequences, ctx.numbers = rest[:5], rest[_NUMBERS]
    ctx.softcap, ctx.dropout = more.softcap, more.dropout
    ctx.save_for_backward(q, k, v, *output, more.random, more.sinks, more.seqstart_q, more.seqstart_k, *sequences)
    ctx.set_materialize_grads(False)


def _of_sinks(sinks, lse, delta):
    """A sink is a key without a value: its probability times what delta is less."""
    probability = (sinks[:, None] - lse).exp()
    weighed = torch.where(torch.isfinite(lse), probability * delta, torch.zeros_like(lse))
    return -(weighed.sum((0, 2)) if lse.dim() == 3 else weighed.sum(1))


def _gradients(ctx, call, grad, grad_lse):
    """A gradient for each input of forward; those of q, k, v and sinks are not None."""
    if grad is None and grad_lse is None:
        return (None,) * 19
    q, k, v, o, lse, random, sinks, seqstart_q, seqstart_k, *sequences = ctx.saved_tensors
    rest = *sequences, *ctx.numbers, ctx.softcap, ctx.dropout, random, seqstart_q, seqstart_k
    dq, dk, dv, delta = call(grad, grad_lse, q, k, v, o, lse, *rest)
    of_sinks = None if sinks is None else _of_sinks(sinks, lse, delta)
    return dq, dk, dv, *(None,) * 13, of_sinks, None, None


def _differentiate(ctx, grad, grad_lse):
    return _gradients(ctx, torch.ops.wheelsmith_kernels.backward, grad, grad_lse)


torch.library.register_autograd("wheelsmith_kernels::forward", _differentiate, setup_context=_keep)


no_second_derivative("backward")


class Attention(torch.autograd.Function):
    """The same gradient outside of torch's dispatcher, which takes longer than the launches."""

    @staticmethod
    def forward(ctx, *inputs):
        o, lse = forward_cuda(*inputs)
        _keep(ctx, inputs, (o, lse))
        ctx.count = len(inputs)
        return o

    @staticmethod
    def backward(ctx, grad):
        # In a graph of gradients call the operator, which refuses a second differentiation.
        call = torch.ops.wheelsmith_kernels.backward if torch.is_grad_enabled() else _backward
        return _gradients(ctx, call, grad, None)[: ctx.count]
