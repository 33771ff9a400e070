"""Random problems of attention, packed rows, caches, convolution and scan against float64: WS_FUZZ=COUNT, WS_FUZZ_SEED=SEED.

Each has a seed of its own, which an error tells: WS_FUZZ=1 with it is that problem again.
"""

import os
import random

import torch
from test_attention import DEVICE

from wheelsmith_kernels import _flash, causal_conv1d_fn, causal_conv1d_update, selective_scan_fn
from wheelsmith_kernels._attention_calls import forward_cuda, gradients_cuda, more_of
from wheelsmith_kernels._reference import attend, convolve, convolve_step, gradients, ratio, visible

COUNT = int(os.environ.get("WS_FUZZ", 500 if DEVICE == "cuda" else 20))
FIRST = int(os.environ.get("WS_FUZZ_SEED", 20261124))


def near(found, wanted, limit, name, rounding=0.0):
    """rounding: an error in absolute terms that comes of what is rounded to 16 bits and then cancels."""
    assert torch.isfinite(found).all(), (name, "not finite")
    if rounding and (found.double() - wanted).norm().item() < rounding:
        return
    if wanted.numel() == 0:
        return
    scale = wanted.double().norm()
    error = ratio(found, wanted) if scale > 1e-6 * wanted.numel() ** 0.5 else (found.double() - wanted).abs().max().item()
    assert error < limit, (name, error)


def rows(r, batch, n, heads, d):
    """A view of a tensor with different strides, or behind an odd element."""
    kind = r.randrange(4)
    if kind == 0:
        return torch.randn(batch, heads, n, d, device=DEVICE).half().transpose(1, 2)
    if kind == 1:
        return torch.randn(batch, n, heads, d + 8, device=DEVICE).half()[..., :d]
    if kind == 2:
        return torch.randn(batch, n, heads, d + 1, device=DEVICE).half()[..., 1:]
    return torch.randn(batch, n, heads, d, device=DEVICE).half()


def sizes(r):
    heads_k = r.choice((1, 1, 2, 3))
    group = r.choice((1, 1, 2, 4, 5, 8))
    return r.choice((8, 32, 40, 64, 64, 72, 80, 80, 96, 112, 128, 128, 160, 192, 256)), heads_k * group, heads_k


def limits(r, n):
    """left, right of a window."""
    return r.choice((-1, -1, 0, 5, n // 2)), r.choice((-1, 0, 0, 3, n // 3))


def options(r, heads):
    softcap = r.choice((0.0, 0.0, 3.0, 30.0))
    sinks = r.choice((None, None, torch.randn(heads, device=DEVICE)))
    return softcap, sinks


def attention(r):
    d, heads, heads_k = sizes(r)
    b, m = r.choice((1, 2, 3)), r.choice((1, 2, 7, 16, 33, 64, 100, 129, 200))
    n = r.choice((m, m, 1, 31, 64, 97, 257, 500))
    scale, (left, right) = r.choice((d**-0.5, 0.1, -0.3)), limits(r, n)
    softcap, sinks = options(r, heads)
    q, k, v, grad = rows(r, b, m, heads, d), rows(r, b, n, heads_k, d), rows(r, b, n, heads_k, d), rows(r, b, m, heads, d)
    draw = lambda top: torch.tensor([r.randrange(top + 1) for _ in range(b)], dtype=torch.int32, device=DEVICE)
    used_q, used_k = (draw(m), draw(n)) if r.random() < 0.4 else (None, None)
    start_q, start_k = (draw(m), draw(n)) if r.random() < 0.4 else (None, None)
    dropout = r.choice((0.0, 0.0, 0.0, 0.3))
    random_ = torch.tensor([r.randrange(1 << 60), r.randrange(1 << 60)], device=DEVICE) if dropout else None
    more = more_of(softcap, dropout, random_, sinks, start_q, start_k)
    parts = None if dropout or r.random() < 0.5 else r.choice((0, 1, 3))
    sequences = None, None, used_q, used_k, None
    words = 0, 0, scale, left, right
    o, lse = forward_cuda(q, k, v, *sequences, *words, *more, parts=parts)
    found = gradients_cuda(grad, None, q, k, v, o, lse, sequences, *words, more)
    for i in range(b):
        end_q, end_k = (m, n) if used_q is None else (int(used_q[i]), int(used_k[i]))
        a, c = (0, 0) if start_q is None else (min(int(start_q[i]), end_q), min(int(start_k[i]), end_k))
        of = slice(i, i + 1), slice(a, end_q)
        keys = slice(i, i + 1), slice(c, end_k)
        assert (o[i, :a] == 0).all() and (o[i, end_q:] == 0).all()
        assert (found[1][i, :c] == 0).all() and (found[1][i, end_k:] == 0).all()
        if end_q == a:
            continue
        if end_k == c:
            assert (o[of] == 0).all()
            continue
        extra = {"softcap": softcap, "sinks": sinks}
        if dropout:
            weights = _flash.kept(random_, i, heads, end_q - a, end_k - c, dropout)
            extra["weights"] = weights[None] / (1 - dropout)
        part = q[of], k[keys], v[keys]
        near(o[of], attend(*part, scale, left, right, **extra)[0], 3e-3, "o")
        wanted = gradients(*part, grad[of], scale, left, right, **extra)
        # dP less the sum of dO x O, whose O has 11 bits: of few keys nothing is left but that rounding.
        longest = lambda t: t.double().norm(dim=-1).max().item()
        rounding = 2**-11 * abs(scale) * grad[of].double().norm().item() * longest(o[of])
        for name, x, y, other in zip("qkv", (found[0][of], found[1][keys], found[2][keys]), wanted, (k, q, None)):
            near(x, y, 1e-2, "d" + name, 0.0 if other is None else rounding * longest(other))


def packed(r):
    d, heads, heads_k = sizes(r)
    count = r.choice((1, 3, 6))
    lengths_q = [r.choice((0, 1, 5, 64, 90)) for _ in range(count)]
    lengths_k = lengths_q if r.random() < 0.5 else [r.choice((0, 1, 40, 65, 300)) for _ in range(count)]
    ends = [torch.tensor([0, *x], device=DEVICE).cumsum(0).to(torch.int32) for x in (lengths_q, lengths_k)]
    if not sum(lengths_q) or not sum(lengths_k):
        return
    q, grad = (rows(r, 1, sum(lengths_q) + 2, heads, d)[0] for _ in range(2))
    k, v = (rows(r, 1, sum(lengths_k) + 1, heads_k, d)[0] for _ in range(2))
    scale, (left, right) = d**-0.5, limits(r, 90)
    softcap, sinks = options(r, heads)
    more = more_of(softcap, sinks=sinks)
    sequences = *ends, None, None, None
    words = max(lengths_q) + r.randrange(3), max(lengths_k), scale, left, right
    o, lse = forward_cuda(q, k, v, *sequences, *words, *more, parts=r.choice((None, 0, 2)))
    found = gradients_cuda(grad, None, q, k, v, o, lse, sequences, *words, more)
    assert (o[sum(lengths_q) :] == 0).all()
    for i in range(count):
        of, keys = (slice(int(e[i]), int(e[i + 1])) for e in ends)
        if not lengths_q[i] or not lengths_k[i]:
            assert (o[of] == 0).all() and (found[1][keys] == 0).all()
            continue
        part = q[None, of], k[None, keys], v[None, keys]
        extra = {"softcap": softcap, "sinks": sinks}
        near(o[None, of], attend(*part, scale, left, right, **extra)[0], 3e-3, "o")
        wanted = gradients(*part, grad[None, of], scale, left, right, **extra)
        for name, x, y in zip("qkv", (found[0][of], found[1][keys], found[2][keys]), wanted):
            near(x[None], y, 1e-2, "d" + name)


def kvcache(r):
    d, heads, heads_k = sizes(r)
    b, m, new = r.choice((1, 2, 4)), r.choice((1, 1, 3, 20)), 0
    page = r.choice((None, 16, 256))
    capacity = r.choice((256, 512))
    pages = None
    if page:
        count = capacity // page
        cache_k, cache_v = (torch.randn(b * count + 3, page, heads_k, d, device=DEVICE).half() for _ in range(2))
        pages = torch.randperm(b * count + 3, device=DEVICE)[: b * count].view(b, count).to(torch.int32)
        whole = lambda cache: cache[pages.long()].flatten(1, 2)
    else:
        cache_k, cache_v = (torch.randn(b, capacity, heads_k, d, device=DEVICE).half() for _ in range(2))
        whole = lambda cache: cache
    q = rows(r, b, m, heads, d)
    k = v = None
    lengths = torch.tensor([r.randrange(capacity - m + 1) for _ in range(b)], dtype=torch.int32, device=DEVICE)
    wanted_k, wanted_v = whole(cache_k).clone(), whole(cache_v).clone()
    if r.random() < 0.6:
        new = m
        k, v = rows(r, b, m, heads_k, d), rows(r, b, m, heads_k, d)
        for i in range(b):
            at = slice(int(lengths[i]), int(lengths[i]) + m)
            wanted_k[i, at], wanted_v[i, at] = k[i], v[i]
    causal, softcap = r.random() < 0.6, r.choice((0.0, 10.0))
    o, _ = _flash.fwd_kvcache(
        q, cache_k, cache_v, k, v, lengths, None, None, None, None, pages, None, None, d**-0.5, causal, -1, -1, softcap, True,
        r.choice((0, 1, 3)),
    )  # fmt: skip
    assert torch.equal(whole(cache_k), wanted_k) and torch.equal(whole(cache_v), wanted_v)
    for i in range(b):
        end = int(lengths[i]) + new
        if end == 0:
            assert (o[i] == 0).all()
            continue
        seen = visible(m, end, -1, 0 if causal else -1, DEVICE)
        near(o[i : i + 1], attend(q[i : i + 1], wanted_k[i : i + 1, :end], wanted_v[i : i + 1, :end], d**-0.5, seen=seen, softcap=softcap)[0], 3e-3, "o")


def convolution(r):
    b, dim, width = r.choice((1, 3)), r.choice((8, 16, 64, 200)), r.choice((2, 3, 4))
    dtype = r.choice((torch.float16, torch.float32))
    limit = 3e-3 if dtype == torch.float16 else 1e-5
    length, last, silu = r.choice((0, 1, 2, 3, 17, 64, 300, 1000)), r.random() < 0.5, r.random() < 0.5
    make = lambda n: (torch.randn(b, n, dim, device=DEVICE).transpose(1, 2) if last else torch.randn(b, dim, n, device=DEVICE)).to(dtype)
    x, weight = make(length), torch.randn(dim, width, device=DEVICE).to(dtype)
    bias = r.choice((None, torch.randn(dim, device=DEVICE).to(dtype)))
    initial = torch.randn(b, width - 1, dim, device=DEVICE).to(dtype).transpose(1, 2) if last and r.random() < 0.6 else None
    leaves = [t.detach().requires_grad_() for t in (x, weight, bias, initial) if t is not None]
    final = last and r.random() < 0.7
    named = dict(zip([n for n, t in (("x", x), ("weight", weight), ("bias", bias), ("initial_states", initial)) if t is not None], leaves))
    found = causal_conv1d_fn(**named, return_final_states=final, activation="silu" if silu else None)
    doubles = {n: t.detach().double().requires_grad_() for n, t in named.items()}
    wanted, states = convolve(**doubles, silu=silu)
    out = found[0] if final else found
    near(out, wanted, limit, "out")
    grad = torch.randn_like(out)
    outs, grads = [out], [grad]
    of, of_grads = [wanted], [grad.double()]
    if final:
        near(found[1], states, limit, "final")
        outs.append(found[1]), of.append(states)
        grads.append(torch.randn_like(found[1]))
        of_grads.append(grads[1].double())
    a = torch.autograd.grad(outs, leaves, grads, allow_unused=True)
    c = torch.autograd.grad(of, list(doubles.values()), of_grads, allow_unused=True)
    for name, g, w in zip(named, a, c):
        if w is not None:
            near(g, w, 10 * limit, "d" + name)
    state = torch.randn(b, dim, width + r.randrange(3), device=DEVICE).to(dtype)
    token = torch.randn(b, dim, r.choice((1, 3)), device=DEVICE).to(dtype)
    before = state.clone()
    out = causal_conv1d_update(token, state, weight, bias, "silu" if silu else None)
    for i in range(b):
        wanted, after = convolve_step(token[i], before[i], weight, bias, silu)
        near(out[i], wanted, limit, "step")
        assert torch.equal(state[i], after.to(dtype))


def scan_reference(u, delta, A, B, C, D, z, bias):
    delta = torch.nn.functional.softplus(delta + bias[None, :, None])
    h, ys = u.new_zeros(u.shape[0], u.shape[1], A.shape[1]), []
    for t in range(u.shape[2]):
        h = h * torch.exp(delta[:, :, t, None] * A) + (delta[:, :, t] * u[:, :, t])[..., None] * B[:, None, :, t]
        ys.append((h * C[:, None, :, t]).sum(-1))
    y = torch.stack(ys, -1) if ys else u.new_zeros(u.shape)
    return (y + u * D[None, :, None]) * torch.nn.functional.silu(z), h


def scan(r):
    b, d, n, length = r.choice((1, 2)), r.choice((4, 16, 100)), r.choice((1, 8, 16, 20)), r.choice((0, 1, 63, 64, 65, 130, 300))
    dtype = r.choice((torch.float16, torch.float32))
    limit = 4e-3 if dtype == torch.float16 else 1e-4
    half = lambda *s: torch.randn(*s, device=DEVICE).to(dtype)
    inputs = half(b, d, length), half(b, d, length) * 0.5, -torch.rand(d, n, device=DEVICE) - 0.1, half(b, n, length), half(b, n, length)
    inputs += torch.randn(d, device=DEVICE), half(b, d, length), torch.rand(d, device=DEVICE) - 1
    leaves = [t.detach().requires_grad_() for t in inputs]
    out, last = selective_scan_fn(*leaves, delta_softplus=True, return_last_state=True)
    doubles = [t.detach().double().requires_grad_() for t in inputs]
    wanted, state = scan_reference(*doubles)
    near(out, wanted, limit, "out")
    near(last, state, limit, "last")
    grad = torch.randn_like(out)
    # With zero steps the result depends on few of the inputs.
    wanted = torch.autograd.grad(wanted, doubles, grad.double(), allow_unused=True, materialize_grads=True)
    for name, g, w in zip("u delta A B C D z bias".split(), torch.autograd.grad(out, leaves, grad), wanted):
        near(g, w, 5 * limit, "d" + name)


def test_random_problems():
    kinds = [attention, packed, kvcache] + ([convolution, scan] if DEVICE == "cuda" else [])
    done = dict.fromkeys((k.__name__ for k in kinds), 0)
    wrong = []
    for seed in range(FIRST, FIRST + COUNT):
        kind = kinds[seed % len(kinds)]
        torch.manual_seed(seed)
        try:
            kind(random.Random(seed))
        except Exception as error:
            wrong.append(f"WS_FUZZ_SEED={seed} {kind.__name__}: {type(error).__name__} {error}")
        done[kind.__name__] += 1
    assert not wrong, f"{len(wrong)} of {COUNT}:\n" + "\n".join(wrong[:20])
    return f"seeds {FIRST} to {FIRST + COUNT - 1}: {done}"
