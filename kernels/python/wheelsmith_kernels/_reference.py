"""The expected results of attention, in float64 from the rounded inputs, for tests and checks."""

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


def attend(
    q, k, v, scale, left=-1, right=-1, seen=None, dtype=torch.float64, softcap=0.0, sinks=None, weights=None
):
    """o [b, m, h, d] and lse [b, h, m] of q [b, m, h, d] and k, v [b, n, g, d], in `dtype`.

    seen: [.., m, n], in place of the window. sinks: [h]. weights: [b, h, m, n], the factors that dropout applies to
    probabilities.
    """
    group = q.shape[2] // k.shape[2]
    q, k, v = (t.to(dtype).transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    if seen is None:
        seen = visible(q.shape[2], k.shape[2], left, right, q.device)
    s = q @ k.transpose(-1, -2) * scale
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    s = s.masked_fill(~seen, float("-inf"))
    some = seen.any(-1, keepdim=True).expand(s.shape[:-1] + (1,))
    if sinks is not None:
        sink = sinks.to(dtype)[:, None, None].expand(s.shape[:-1] + (1,))
        s, seen = torch.cat([s, sink], -1), torch.cat([seen.expand(s.shape), torch.ones_like(some)], -1)
        some = torch.ones_like(some)
    p = torch.where(some, s, torch.zeros_like(s)).softmax(-1)
    p = torch.where(some & seen, p, torch.zeros_like(p))[..., : k.shape[2]]
    p = p if weights is None else p * weights.to(dtype)
    lse = torch.logsumexp(s if dtype == torch.float64 else s.double(), -1)
    return (p @ v).transpose(1, 2), lse


def gradients(q, k, v, grad, scale, left=-1, right=-1, seen=None, dtype=torch.float64, grad_lse=None, **words):
    """dq, dk, dv by autograd through attend(), and dsinks where there are sinks among the words."""
    leaves = [t.detach().to(dtype).requires_grad_() for t in (q, k, v)]
    if words.get("sinks") is not None:
        words["sinks"] = words["sinks"].detach().to(dtype).requires_grad_()
        leaves.append(words["sinks"])
    o, lse = attend(*leaves[:3], scale, left, right, seen, dtype, **words)
    if grad_lse is None:
        return torch.autograd.grad(o, leaves, grad.to(dtype))
    some = torch.isfinite(lse)
    whole = (o * grad.to(dtype)).sum() + (lse[some] * grad_lse.to(dtype)[some]).sum()
    return torch.autograd.grad(whole, leaves)


def ratio(x, reference):
    """Root of the mean square of the difference, relative to the reference's."""
    x, reference = x.double(), reference.double()
    return ((x - reference).norm() / reference.norm().clamp_min(1e-30)).item()


def convolve(x, weight, bias=None, initial_states=None, seq_idx=None, silu=False, dtype=torch.float64):
    """The results of causal_conv1d_fn, and the last width - 1 rows, in `dtype`."""
    x, weight = x.to(dtype), weight.to(dtype)
    before, length = weight.shape[1] - 1, x.shape[2]
    initial = x.new_zeros(x.shape[:2] + (before,)) if initial_states is None else initial_states.to(dtype)
    rows = torch.cat([initial, x], -1)
    numbers = None if seq_idx is None else torch.nn.functional.pad(seq_idx, (before, 0), value=-1)
    out = x.new_zeros(x.shape) if bias is None else bias.to(dtype)[:, None].expand(x.shape)
    for k in range(before + 1):
        tap = rows[:, :, k : k + length]
        if seq_idx is not None:
            tap = torch.where((numbers[:, k : k + length] == seq_idx)[:, None], tap, torch.zeros_like(tap))
        out = out + tap * weight[:, k, None]
    out = torch.nn.functional.silu(out) if silu else out
    if seq_idx is not None:
        out = torch.where((seq_idx >= 0)[:, None], out, torch.zeros_like(out))
    return out, rows[:, :, length:]


def convolve_step(x, state, weight, bias=None, silu=False, start=None, dtype=torch.float64):
    """out of x (dim, rows) behind `state` (dim, state_len), and the state after; start: its circle's first new row."""
    before, length = weight.shape[1] - 1, state.shape[1]
    if start is None:
        last, after = state[:, length - before :], torch.cat([state, x], 1)[:, -length:]
    else:
        at = torch.arange(start - before, start + x.shape[1], device=x.device) % length
        last, after = state[:, at[:before]], state.clone()
        for i, row in enumerate(at[before:].tolist()):
            after[:, row] = x[:, i]
    out = convolve(x[None], weight, bias, last[None], silu=silu, dtype=dtype)[0]
    return out[0], after
