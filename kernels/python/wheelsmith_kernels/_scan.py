"""The selective scan and its state update, as mamba_ssm has them: operators of torch, gradients, functions.

selective_scan_fn and selective_state_update take what mamba_ssm's functions of these names take. A is real.
Gradients are summed in a fixed order: the same inputs give the same bits.
"""

import torch

from ._scan_calls import prepare_any, rows_contiguous, saved_shape, scan_backward_cuda, scan_cuda, update_cuda
from ._tensors import needs_gradient, no_second_derivative

__all__ = ["bwd", "fwd", "selective_scan_fn", "selective_state_update"]

_INPUTS = "Tensor u, Tensor delta, Tensor A, Tensor B, Tensor C, Tensor? D, Tensor? z, Tensor? delta_bias"

_library = torch.library.Library("wheelsmith_kernels", "FRAGMENT")
_library.define(f"selective_scan({_INPUTS}, bool delta_softplus) -> (Tensor, Tensor, Tensor)")
_library.define(
    f"selective_scan_backward({_INPUTS}, Tensor dout, Tensor out, bool delta_softplus) -> "
    "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
_library.define(
    "selective_state_update(Tensor(a!) state, Tensor x, Tensor dt, Tensor A, Tensor B, Tensor C, Tensor? D, "
    "Tensor? z, Tensor? dt_bias, bool dt_softplus, Tensor? state_batch_indices) -> Tensor"
)


def _nothing(u):
    """In place of a result that there is not: an operator has no optional ones."""
    return u.new_empty(0)


def _scan_op(u, delta, A, B, C, D, z, delta_bias, softplus):
    out, x, out_z = scan_cuda(u, delta, A, B, C, D, z, delta_bias, softplus)
    return out, x, _nothing(u) if out_z is None else out_z


def _backward_op(u, delta, A, B, C, D, z, delta_bias, dout, out, softplus):
    found = scan_backward_cuda(u, delta, A, B, C, D, z, delta_bias, dout, out, None, softplus, False)
    return tuple(_nothing(u) if t is None else t for t in found[:8])


_library.impl("selective_scan", _scan_op, "CUDA")
_library.impl("selective_scan_backward", _backward_op, "CUDA")
_library.impl("selective_state_update", update_cuda, "CUDA")


@torch.library.register_fake("wheelsmith_kernels::selective_scan")
def _scan_fake(u, delta, A, B, C, D, z, delta_bias, softplus):
    x = u.new_empty(saved_shape(u, A), dtype=torch.float32)
    return torch.empty_like(delta), x, _nothing(u) if z is None else torch.empty_like(z)


@torch.library.register_fake("wheelsmith_kernels::selective_scan_backward")
def _backward_fake(u, delta, A, B, C, D, z, delta_bias, dout, out, softplus):
    fresh = lambda t: _nothing(u) if t is None else t.new_empty(t.shape)
    like = lambda t: _nothing(u) if t is None else torch.empty_like(t)
    return like(u), like(delta), *map(fresh, (A, B, C, D, delta_bias)), like(z)


@torch.library.register_fake("wheelsmith_kernels::selective_state_update")
def _update_fake(state, x, *_):
    return x.new_empty(x.shape)


def _keep(ctx, inputs, output):
    *tensors, ctx.softplus = inputs
    ctx.given = [t is not None for t in tensors]
    ctx.save_for_backward(*tensors, output[0])


def _differentiate(ctx, grad, _grad_x, grad_z):
    *tensors, out = ctx.saved_tensors
    dout = grad_z if ctx.given[6] else grad
    found = torch.ops.wheelsmith_kernels.selective_scan_backward(
        *tensors, dout.contiguous(), out, ctx.softplus
    )
    order = (0, 1, 2, 3, 4, 5, 7, 6)  # u, delta, A, B, C, D, z, delta_bias
    return tuple(found[i] if given else None for i, given in zip(order, ctx.given)) + (None,)


torch.library.register_autograd(
    "wheelsmith_kernels::selective_scan", _differentiate, setup_context=_keep
)
no_second_derivative("selective_scan_backward")


def _last_state(x):
    """The last state of a scan, from its saved states; zero steps leave the state at 0."""
    if x.shape[2] == 0:
        return x.new_zeros(x.shape[0], x.shape[1], x.shape[3] // 2)
    return x[:, :, -1, 1::2]


class SelectiveScan(torch.autograd.Function):
    """The same gradient outside of torch's dispatcher, which takes longer than the launches."""

    @staticmethod
    def forward(ctx, u, delta, A, B, C, D, z, delta_bias, softplus):
        out, x, out_z = scan_cuda(u, delta, A, B, C, D, z, delta_bias, softplus)
        _keep(ctx, (u, delta, A, B, C, D, z, delta_bias, softplus), (out,))
        state = _last_state(x)
        ctx.mark_non_differentiable(state)
        return out if out_z is None else out_z, state

    @staticmethod
    def backward(ctx, dout, _):
        if torch.is_grad_enabled():  # a graph of gradients, whose operator refuses to be differentiated again
            ctx.given = [t is not None for t in ctx.saved_tensors[:8]]
            return _differentiate(ctx, dout, None, dout)
        u, delta, A, B, C, D, z, delta_bias, out = ctx.saved_tensors
        if dout.stride(-1) != 1:
            dout = dout.contiguous()
        du, ddelta, dA, dB, dC, dD, dbias, dz, _ = scan_backward_cuda(
            u, delta, A, B, C, D, z, delta_bias, dout, out, None, ctx.softplus, False
        )
        return du, ddelta, dA, dB, dC, dD, dz, dbias, None


def _is_traced():
    return torch.compiler.is_compiling()


def selective_scan_fn(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False
):
    """out [batch, dim, length], or (out, last_state): h = exp(delta A) h + delta B u, out = (C h + D u) silu(z).

    u, delta, z: [batch, dim, length] of one dtype, float16, bfloat16 or float32, on a CUDA device; out is of it.
    A: float32 [dim, dstate], 1 to 256 states; complex A has no kernel.
    B, C: of u's dtype [batch, groups, dstate, length] or [batch, dstate, length], groups dividing dim; or, where
    they do not vary with time, float32 [dim, dstate].
    D, delta_bias: float32 [dim]. delta_softplus: delta becomes log(1 + exp(delta + delta_bias)).
    last_state: float32 [batch, dim, dstate], without a gradient. All inputs have gradients.

    KernelError names an argument with a wrong dtype, device or shape.
    """
    inputs = u, delta, A, B, C, D, z, delta_bias
    if _is_traced():
        out, x, out_z = torch.ops.wheelsmith_kernels.selective_scan(*rows_contiguous(*inputs), delta_softplus)
        out, state = out if z is None else out_z, _last_state(x).detach()
    elif needs_gradient(inputs):
        out, state = SelectiveScan.apply(*rows_contiguous(*inputs), delta_softplus)
    else:
        out, x, out_z = scan_cuda(*inputs, delta_softplus, return_last_state, prepare_any)
        out, state = out if z is None else out_z, _last_state(x) if return_last_state else None
    return (out, state) if return_last_state else out


def selective_state_update(
    state, x, dt, A, B, C, D=None, z=None, dt_bias=None, dt_softplus=False, state_batch_indices=None
):
    """One step: the state, [batch, dim, dstate] or [batch, heads, dim, dstate], changes in place; returns out.

    With heads: x, dt, z [batch, heads, dim], out of x's shape and dtype; A [heads, dim, dstate];
    B, C [batch, groups, dstate], groups dividing heads; D, dt_bias [heads, dim]. Without, each lacks heads
    (B, C: groups). All on one CUDA device, each of float16, bfloat16 or float32, with any strides, 0 too but of
    the state. Computed in float32. dt_softplus: as delta_softplus of selective_scan_fn. No gradients.
    state_batch_indices: int32 [batch], which entry of the state is a sequence's, each at most once; negative: none,
    and its out is 0.

    KernelError names an argument with a wrong dtype, device or shape.
    """
    function = torch.ops.wheelsmith_kernels.selective_state_update if _is_traced() else update_cuda
    return function(state, x, dt, A, B, C, D, z, dt_bias, bool(dt_softplus), state_batch_indices)


# ---- what mamba_ssm calls in selective_scan_cuda ----


def fwd(u, delta, A, B, C, D, z, delta_bias, delta_softplus):
    """[out, x] or, with z, [out, x, out_z]; B and C have groups. Otherwise as selective_scan_fn.

    out is without the gate; x: float32 [batch, dim, ceil(length / 2048), 2 dstate], the product of the decays and the
    state at the end of each 2048 steps.
    """
    out, x, out_z = scan_cuda(u, delta, A, B, C, D, z, delta_bias, delta_softplus)
    return [out, x] if out_z is None else [out, x, out_z]


def bwd(u, delta, A, B, C, D, z, delta_bias, dout, x, out, dz, delta_softplus, recompute_out_z):
    """[du, ddelta, dA, dB, dC, dD, ddelta_bias], then dz with z, then out_z if it is recomputed. x is not read.

    Each is of the shape and dtype of what it is the gradient of, None where that was not given; dout is of u's shape
    and dtype, of out_z where there is z. dz is written where it is given.
    """
    found = scan_backward_cuda(
        u, delta, A, B, C, D, z, delta_bias, dout, out, dz, delta_softplus, recompute_out_z
    )
    return list(found[:7]) + [t for t in found[7:] if t is not None]
