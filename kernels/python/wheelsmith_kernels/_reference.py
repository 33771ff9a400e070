"""What attention is to give, in float64 of the rounded inputs: what tests and checks hold kernels against."""

import torch


def visible(m, n, left, right, device):
    """[m, n]: does query i see key j? Aligned at the bottom right; negative: no limit."""
    i = torch.arange(m, device=device)[:, None] + (n - m)
    j = torch.arange(n, device=device)[None, :]
    seen = torch.ones(m, n, dtype=torch.bool, device=device)
    if left >= 0:
        seen &= j >= i - left
    if right >= 0:
        seen &= j <= i + right
    return seen


def attend(q, k, v, scale, left=-1, right=-1, seen=None, dtype=torch.float64):
    """o [b, m, h, d] and lse [b, h, m] of q [b, m, h, d] and k, v [b, n, g, d], in `dtype`."""
    group = q.shape[2] // k.shape[2]
    q, k, v = (t.to(dtype).transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    if seen is None:
        seen = visible(q.shape[2], k.shape[2], left, right, q.device)
    s = (q @ k.transpose(-1, -2) * scale).masked_fill(~seen, float("-inf"))
    any_key = seen.any(-1, keepdim=True).expand(s.shape[:-1] + (1,))
    p = torch.where(any_key, s, torch.zeros_like(s)).softmax(-1)
    p = torch.where(any_key & seen, p, torch.zeros_like(p))
    lse = torch.logsumexp(s.double(), -1)
    return (p @ v).transpose(1, 2), lse


def gradients(q, k, v, grad, scale, left=-1, right=-1, seen=None, dtype=torch.float64):
    """dq, dk, dv by autograd through attend()."""
    leaves = [t.detach().to(dtype).requires_grad_() for t in (q, k, v)]
    o, _ = attend(*leaves, scale, left, right, seen, dtype)
    return torch.autograd.grad(o, leaves, grad.to(dtype))


def ratio(x, reference):
    """Root of the mean square of the difference, relative to the reference's."""
    x, reference = x.double(), reference.double()
    return ((x - reference).norm() / reference.norm().clamp_min(1e-30)).item()
