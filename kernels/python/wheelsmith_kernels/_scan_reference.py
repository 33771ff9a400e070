"""The scan and the state update by torch, one time step after the other, in any floating type: what is right."""

import torch
import torch.nn.functional as F


def _over_time(m, dim, length):
    """[batch or 1, dim, dstate, length] of B or C."""
    if m.dim() == 2:
        return m[None, :, :, None].expand(1, dim, -1, length)
    m = m.unsqueeze(1) if m.dim() == 3 else m
    return m.repeat_interleave(dim // m.shape[1], 1)


def scan(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    """out and the last state."""
    dt = delta if delta_bias is None else delta + delta_bias[:, None]
    dt = F.softplus(dt) if delta_softplus else dt
    batch, dim, length = u.shape
    B, C = (_over_time(m, dim, length) for m in (B, C))
    h, ys = u.new_zeros(batch, dim, A.shape[1]), []
    for t in range(length):
        h = torch.exp(dt[:, :, t, None] * A) * h + (dt[:, :, t] * u[:, :, t])[..., None] * B[..., t]
        ys.append((h * C[..., t]).sum(-1))
    y = torch.stack(ys, 2)
    y = y if D is None else y + D[:, None] * u
    return y if z is None else y * F.silu(z), h


def gradients(grad, inputs, delta_softplus, dtype=torch.float64):
    """Gradients of all given inputs (u, delta, A, B, C, D, z, delta_bias), by autograd through scan()."""
    leaves = [None if t is None else t.detach().to(dtype).requires_grad_() for t in inputs]
    out, _ = scan(*leaves, delta_softplus)
    return torch.autograd.grad(out, [t for t in leaves if t is not None], grad.to(dtype))


def update(state, x, dt, A, B, C, D=None, z=None, dt_bias=None, dt_softplus=False):
    """out and the new state; everything has a dimension of heads."""
    dt = dt if dt_bias is None else dt + dt_bias
    dt = F.softplus(dt) if dt_softplus else dt
    B, C = (m.repeat_interleave(state.shape[1] // m.shape[1], 1) for m in (B, C))
    state = state * torch.exp(dt[..., None] * A) + dt[..., None] * B[:, :, None] * x[..., None]
    y = (state * C[:, :, None]).sum(-1)
    y = y if D is None else y + x * D
    return y if z is None else y * F.silu(z), state
