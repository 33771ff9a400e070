"""causal_conv1d: a causal convolution of each channel by itself, forward, backward and step by step.

causal_conv1d_fn and causal_conv1d_update are called like those of the package causal_conv1d.
"""

import torch

from ._conv_calls import (
    backward, causal_conv1d_fwd, causal_conv1d_update_into, channels_contiguous, forward, plan_forward, plan_step,
    prepare_step, step,
)  # fmt: skip
from ._native import refuse
from ._tensors import Plans, needs_gradient, no_second_derivative, plain

_SILU = {None: False, "silu": True, "swish": True}

#: Plans of calls without gradients, by the arguments of the functions.
_ready, _ready_steps = Plans(), Plans()


def _silu(activation):
    if activation not in _SILU:
        raise NotImplementedError("activation must be None, silu, or swish")
    return _SILU[activation]


def _require_rows(**tensors):
    """Checks for three dimensions before the strides are read."""
    for name, t in tensors.items():
        if t is not None and t.dim() != 3:
            refuse(name, "of shape (batch, dim, seqlen)" if name == "x" else "of shape (batch, dim, width - 1)")


def _prepare(x, weight, bias, seq_idx, initial_states):
    """The tensors, copied where they do not lie as the kernels take them."""
    _require_rows(x=x, initial_states=initial_states)
    if x.stride(2) != 1 and x.stride(1) != 1:
        x = x.contiguous()
    if seq_idx is not None and initial_states is not None:
        refuse("seq_idx", "None where there are initial or final states")
    bias = None if bias is None else bias.contiguous()
    seq_idx = None if seq_idx is None else seq_idx.contiguous()
    return x, weight, bias, seq_idx, channels_contiguous(initial_states)


def _channels_first(x, rows):
    """An empty tensor (batch, dim, rows) of contiguous channels, of x's type."""
    return x.new_empty(x.shape[0], rows, x.shape[1]).transpose(1, 2)


def _forward_op(x, weight, bias, seq_idx, initial_states, final, silu):
    out = torch.empty_like(x)
    final_states = _channels_first(x, weight.shape[1] - 1 if final else 0)
    causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states if final else None, silu)
    return out, final_states


def _backward_op(dout, x, weight, bias, seq_idx, initial_states, dfinal_states, silu):
    dx = torch.empty_like(x)
    dweight = torch.empty_like(weight)
    dbias = weight.new_empty(0 if bias is None else bias.shape)
    dinitial = _channels_first(x, 0 if initial_states is None else weight.shape[1] - 1)
    backward(
        x,
        weight,
        bias,
        dout,
        seq_idx,
        initial_states,
        dfinal_states,
        dx,
        dweight,
        None if bias is None else dbias,
        None if initial_states is None else dinitial,
        silu,
        False,
    )
    if x.numel() == 0:
        dweight.zero_(), dbias.zero_()
    return dx, dweight, dbias, dinitial


def _update_op(x, conv_state, weight, bias, silu, cache_seqlens, conv_state_indices):
    out = torch.empty_like(x)
    causal_conv1d_update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices)
    return out


_library = torch.library.Library("wheelsmith_kernels", "FRAGMENT")
_library.define(
    "conv_forward(Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, Tensor? initial_states, bool final, "
    "bool silu) -> (Tensor, Tensor)"
)
_library.define(
    "conv_backward(Tensor dout, Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, Tensor? initial_states, "
    "Tensor? dfinal_states, bool silu) -> (Tensor, Tensor, Tensor, Tensor)"
)
_library.define(
    "conv_update(Tensor x, Tensor(a!) conv_state, Tensor weight, Tensor? bias, bool silu, Tensor? cache_seqlens, "
    "Tensor? conv_state_indices) -> Tensor"
)
_library.impl("conv_forward", _forward_op, "CUDA")
_library.impl("conv_backward", _backward_op, "CUDA")
_library.impl("conv_update", _update_op, "CUDA")


@torch.library.register_fake("wheelsmith_kernels::conv_forward")
def _forward_fake(x, weight, bias, seq_idx, initial_states, final, silu):
    return torch.empty_like(x), _channels_first(x, weight.shape[1] - 1 if final else 0)


@torch.library.register_fake("wheelsmith_kernels::conv_backward")
def _backward_fake(dout, x, weight, bias, seq_idx, initial_states, dfinal_states, silu):
    dbias = weight.new_empty(0 if bias is None else bias.shape)
    dinitial = _channels_first(x, 0 if initial_states is None else weight.shape[1] - 1)
    return torch.empty_like(x), torch.empty_like(weight), dbias, dinitial


@torch.library.register_fake("wheelsmith_kernels::conv_update")
def _update_fake(x, conv_state, weight, bias, silu, cache_seqlens, conv_state_indices):
    return torch.empty_like(x)


def _keep(ctx, inputs, output):
    x, weight, bias, seq_idx, initial_states, ctx.final, ctx.silu = inputs
    ctx.save_for_backward(x, weight, bias, seq_idx, initial_states)


def _gradients(ctx, call, dout, dfinal_states):
    x, weight, bias, seq_idx, initial_states = ctx.saved_tensors
    dfinal = channels_contiguous(dfinal_states) if ctx.final else None
    dx, dweight, dbias, dinitial = call(dout, x, weight, bias, seq_idx, initial_states, dfinal, ctx.silu)
    dbias = None if bias is None else dbias
    return dx, dweight, dbias, None, None if initial_states is None else dinitial, None, None


def _differentiate(ctx, dout, dfinal_states):
    return _gradients(ctx, torch.ops.wheelsmith_kernels.conv_backward, dout, dfinal_states)


torch.library.register_autograd("wheelsmith_kernels::conv_forward", _differentiate, setup_context=_keep)
no_second_derivative("conv_backward")


class _Convolution(torch.autograd.Function):
    """The same gradient outside of torch's dispatcher."""

    @staticmethod
    def forward(ctx, *inputs):
        _keep(ctx, inputs, None)
        return _forward_op(*inputs)

    @staticmethod
    def backward(ctx, dout, dfinal_states):
        call = torch.ops.wheelsmith_kernels.conv_backward if torch.is_grad_enabled() else _backward_op
        return _gradients(ctx, call, dout, dfinal_states)


def causal_conv1d_fn(
    x,
    weight,
    bias=None,
    seq_idx=None,
    initial_states=None,
    return_final_states=False,
    final_states_out=None,
    activation=None,
):
    """out (batch, dim, seqlen) of x (batch, dim, seqlen), weight (dim, width) and bias (dim); with gradients.

    x: float16, bfloat16 or float32 on a CUDA device, and out of its dtype and layout; weight and bias of one of
    these dtypes, of their own; width is 2, 3 or 4.
    seq_idx (batch, seqlen), int32: rows of other numbers are not seen; padding is negative, and 0 in out.
    initial_states (batch, dim, width - 1), of x's dtype, come before x. return_final_states: (out, final_states),
    the last width - 1 rows, written to final_states_out where that is given. activation: None, "silu" or "swish".
    seq_idx and states need contiguous channels (x.stride(1) == 1), and exclude each other.

    KernelError names an argument with a wrong dtype, device, shape or layout. NotImplementedError: another
    activation, as upstream has it.
    """
    silu, given = _silu(activation), (x, weight, bias, seq_idx, initial_states)
    if not return_final_states and not torch.compiler.is_compiling() and not needs_gradient(given):
        make = lambda *taken: plan_forward(*taken, torch.empty_like(taken[0]), None, silu)
        plan, taken = _ready.take(given, silu, lambda *tensors: map(plain, _prepare(*tensors)), make)
        out = torch.empty_like(taken[0])
        forward(plan, *taken, out, None)
        return out
    if seq_idx is not None and return_final_states:
        refuse("seq_idx", "None where there are initial or final states")
    inputs = *_prepare(*given), return_final_states, silu
    if torch.compiler.is_compiling():
        out, final_states = torch.ops.wheelsmith_kernels.conv_forward(*inputs)
    else:
        out, final_states = (_Convolution.apply if needs_gradient(inputs[:5]) else _forward_op)(*inputs)
    if not return_final_states:
        return out
    if final_states_out is not None:
        final_states = final_states_out.copy_(final_states)
    return out, final_states


def causal_conv1d_update(
    x, conv_state, weight, bias=None, activation=None, cache_seqlens=None, conv_state_indices=None
):
    """out of x (batch, dim) or (batch, dim, seqlen): its rows follow those in conv_state, which is updated with them.

    x, weight (dim, width), bias (dim) and activation as in causal_conv1d_fn; out is of x's shape and dtype. No
    gradients.
    conv_state (batch, dim, state_len), of x's dtype and any strides, state_len at least width - 1: its last rows
    come before x, and x becomes its last rows, in place; with cache_seqlens (batch), int32, it is a circle, and row
    cache_seqlens % state_len takes the first of x.
    conv_state_indices (batch), int32: which entry of conv_state, that may have any number of them; negative:
    padding, 0 in out.

    KernelError, NotImplementedError: as causal_conv1d_fn.
    """
    silu, given = _silu(activation), (x, conv_state, weight, bias, cache_seqlens, conv_state_indices)
    rows = lambda t: t.unsqueeze(-1) if t.dim() == 2 else t
    if torch.compiler.is_compiling():
        out = torch.ops.wheelsmith_kernels.conv_update(rows(x), conv_state, weight, bias, silu, cache_seqlens, conv_state_indices)
        return out.squeeze(-1) if x.dim() == 2 else out
    make = lambda x, *rest: plan_step(rows(x), *rest, rows(torch.empty_like(x)), silu)
    plan, taken = _ready_steps.take(given, silu, prepare_step, make)
    out = torch.empty_like(taken[0])
    step(plan, *taken, out)
    return out
