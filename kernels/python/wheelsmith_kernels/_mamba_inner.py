"""mamba_inner_fn: convolution, projections, scan and gate of a Mamba layer in one call, with mamba_ssm's arguments."""

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from ._scan import selective_scan_fn


def _norm(x, weight, eps):
    """By the root of the mean square of the last dimension, in float."""
    if weight is None:
        return x
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight.float()).to(x.dtype)


def _matrix(given, rows, bias, weight, eps, batch, length):
    """B or C as the scan takes it: what was given, or of the projection's rows."""
    if given is not None:
        return given
    rows = rows if bias is None else rows + bias.to(rows.dtype)
    return _norm(rows, weight, eps).view(batch, length, -1).transpose(1, 2).contiguous()


def _inner(
    xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight, out_proj_bias, A, B, C, D,
    delta_bias, B_proj_bias, C_proj_bias, delta_softplus, b_rms_weight, c_rms_weight, dt_rms_weight, eps,
):  # fmt: skip
    from ._conv import causal_conv1d_fn

    batch, _, length = xz.shape
    states, rank = A.shape[1], delta_proj_weight.shape[1]
    x, z = xz.chunk(2, dim=1)
    x = causal_conv1d_fn(x, conv1d_weight.squeeze(1), conv1d_bias, activation="silu")
    projected = F.linear(x.transpose(1, 2).reshape(batch * length, -1), x_proj_weight)
    B = _matrix(B, projected[:, rank : rank + states], B_proj_bias, b_rms_weight, eps, batch, length)
    C = _matrix(C, projected[:, -states:], C_proj_bias, c_rms_weight, eps, batch, length)
    if dt_rms_weight is None:
        delta = (delta_proj_weight @ projected[:, :rank].t()).view(-1, batch, length).transpose(0, 1)
    else:
        delta = _norm(F.linear(projected[:, :rank], delta_proj_weight), dt_rms_weight, eps)
        delta = delta.view(batch, length, -1).transpose(1, 2)
    y = selective_scan_fn(x, delta, A, B, C, D, z, delta_bias, delta_softplus)
    return F.linear(y.transpose(1, 2), out_proj_weight, out_proj_bias)


def mamba_inner_fn(
    xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight, out_proj_bias, A, B=None, C=None,
    D=None, delta_bias=None, B_proj_bias=None, C_proj_bias=None, delta_softplus=True, checkpoint_lvl=1,
    b_rms_weight=None, c_rms_weight=None, dt_rms_weight=None, b_c_dt_rms_eps=1e-6,
):  # fmt: skip
    """[batch, length, out_dim] of xz, [batch, 2 dim, length]: x and z of a Mamba layer, of one dtype.

    conv1d_weight [dim, 1, width], conv1d_bias [dim] or None; x_proj_weight [rank + 2 dstate, dim]: delta's rank, then
    B, then C; delta_proj_weight [dim, rank]; out_proj_weight [out_dim, dim], out_proj_bias [out_dim] or None;
    A float32 [dim, dstate]; B, C: as selective_scan_fn takes them, or None: of the projection, with B_proj_bias and
    C_proj_bias [dstate]; D, delta_bias float32 [dim]. b_rms_weight, c_rms_weight [dstate], dt_rms_weight [dim]:
    weights of norms by the root of the mean square, over b_c_dt_rms_eps; None: no norm.

    checkpoint_lvl 1: backward computes all but the result again, and keeps the arguments alone. Norms of B, C and
    delta have their gradients.

    KernelError: as causal_conv1d_fn and selective_scan_fn.
    """
    arguments = (
        xz, conv1d_weight, conv1d_bias, x_proj_weight, delta_proj_weight, out_proj_weight, out_proj_bias, A, B, C, D,
        delta_bias, B_proj_bias, C_proj_bias, delta_softplus, b_rms_weight, c_rms_weight, dt_rms_weight, b_c_dt_rms_eps,
    )  # fmt: skip
    if checkpoint_lvl and torch.is_grad_enabled():
        return checkpoint(_inner, *arguments, use_reentrant=False, preserve_rng_state=False)
    return _inner(*arguments)
