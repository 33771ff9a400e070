"""The kernels against float64, and against themselves where the bits must be the same."""

import os
import unittest

import torch

from wheelsmith_kernels import KernelError, _attention_ops, attention, select_blocks
from wheelsmith_kernels._reference import attend, gradients, ratio

HEAD_DIMS = (64, 80, 96, 128)
LENGTHS = (1, 15, 16, 17, 63, 64, 65, 1023)
PAIRS = ((113, 203), (203, 113), (512, 256), (256, 512), (512, 512))
DEVICE = "cpu" if os.environ.get("WSK_EMULATED_FOLDER") else "cuda"


def make(rows, heads, d, batch=1, dtype=torch.float16):
    return torch.randn(batch, rows, heads, d, device=DEVICE, dtype=dtype)


def poison():
    """Fills free memory with NaN, so that unwritten rows become visible."""
    blocks = [torch.full((1 << n,), float("nan"), device=DEVICE) for n in range(8, 24)]
    del blocks


def run(q, k, v, grad, scale, left, right, **sequences):
    """o, lse, dq, dk, dv; keywords: cu_q, cu_k, used_q, used_k, blocks, max_q, max_k."""
    s = sequences
    words = [s.get(n) for n in ("cu_q", "cu_k", "used_q", "used_k", "blocks")]
    words += [s.get("max_q", 0), s.get("max_k", 0), scale, left, right]
    poison()
    o, lse = _attention_ops.forward_cuda(q, k, v, *words)
    return (o, lse) + _attention_ops.backward_cuda(grad, q, k, v, o, lse, *words)


def check(q, k, v, grad, scale, left, right, seen=None, limits=(2e-3, 5e-3), **sequences):
    o, lse, *grads = run(q, k, v, grad, scale, left, right, **sequences)
    wanted_o, wanted_lse = attend(q, k, v, scale, left, right, seen)
    wanted = gradients(q, k, v, grad, scale, left, right, seen)
    some = torch.isfinite(wanted_lse)
    assert torch.equal(some, torch.isfinite(lse)), "rows without keys"
    assert (o.transpose(1, 2)[~some] == 0).all()
    assert not some.any() or (lse.double() - wanted_lse)[some].abs().max() < 1e-3
    errors = [ratio(o, wanted_o)]
    for x, y in zip(grads, wanted):
        assert torch.isfinite(x).all()
        # Where the true gradient is 0 (one key) what rounding leaves is small beside the inputs.
        errors.append(ratio(x, y) if y.norm() > 1e-9 * y.numel() else x.double().abs().max().item())
    assert errors[0] < limits[0] and max(errors[1:]) < limits[1], errors
    return errors


def test_every_length_and_pair():
    worst = 0
    for m, n in [(s, s) for s in LENGTHS] + list(PAIRS):
        for d in HEAD_DIMS if m in (65, 113) else (80,):
            for right in (0, -1):
                q, grad = make(m, 4, d), make(m, 4, d)
                k, v = make(n, 2, d), make(n, 2, d)
                worst = max(worst, *check(q, k, v, grad, d**-0.5, -1, right))
    return f"largest relative error {worst:.1e}"


def test_the_rule_of_flash_attention():
    """At most 2 x (forward) and 3 x (gradients) the error of the same in float16."""
    q, k, v, grad = make(512, 4, 80), make(512, 2, 80), make(512, 2, 80), make(512, 4, 80)
    o, _, *grads = run(q, k, v, grad, 80**-0.5, -1, 0)
    exact = (attend(q, k, v, 80**-0.5, -1, 0)[0], *gradients(q, k, v, grad, 80**-0.5, -1, 0))
    half = torch.float16
    plain = (attend(q, k, v, 80**-0.5, -1, 0, dtype=half)[0],)
    plain += gradients(q, k, v, grad, 80**-0.5, -1, 0, dtype=half)
    for i, (x, y, z) in enumerate(zip((o, *grads), exact, plain)):
        assert (x - y).abs().max() <= (2 if i == 0 else 3) * (z - y).abs().max() + 1e-5


def test_heads_scales_windows_logits():
    for h, g in ((32, 32), (32, 8), (32, 4), (8, 1)):
        check(make(130, h, 80), make(150, g, 80), make(150, g, 80), make(130, h, 80), 0.1, -1, 0)
    for scale in (0.0, -0.3, 0.7, 0.01):  # smaller ones give gradients that float16 rounds to a few bits
        check(make(130, 2, 80), make(130, 2, 80), make(130, 2, 80), make(130, 2, 80), scale, -1, 0)
    for left, right in ((0, 0), (7, 0), (64, 0), (100, 30), (-1, 5)):
        check(make(200, 2, 80), make(230, 2, 80), make(230, 2, 80), make(200, 2, 80), 0.1, left, right)
    big = make(130, 2, 80) * 20
    check(big, make(130, 2, 80), make(130, 2, 80), make(130, 2, 80), 80**-0.5, -1, 0)
    equal = torch.ones(1, 130, 2, 80, device=DEVICE, dtype=torch.float16)
    o = run(equal, equal, make(130, 2, 80), equal, 1.0, -1, -1)[0]
    assert torch.isfinite(o).all()


def test_bfloat16_where_there_is_code():
    """PTX of compute_75 has none and says so; every other library that this runs with has."""
    try:
        run(*(make(16, 2, 80, dtype=torch.bfloat16) for _ in range(4)), 0.1, -1, 0)
    except KernelError as error:
        assert error.argument == "type" and os.environ.get("WS_PTX_ONLY"), error
        return "no code for it: said so"
    worst = (0, 0)
    of = lambda rows, heads, d: make(rows, heads, d, dtype=torch.bfloat16)
    for d in HEAD_DIMS:
        for m, n, h, g, left in ((130, 130, 2, 2, -1), (113, 203, 8, 2, -1), (300, 300, 4, 1, 70)):
            words = of(m, h, d), of(n, g, d), of(n, g, d), of(m, h, d)
            o, *grads = check(*words, d**-0.5, left, 0, limits=(1e-2, 3e-2))
            worst = max(worst[0], o), max(worst[1], *grads)
        q, k, v = of(1, 32, d), of(1000, 4, d), of(1000, 4, d)
        o, lse = _attention_ops.decode_cuda(q, k, v, None, None, d**-0.5, -1, 0, 5)
        wanted, wanted_lse = attend(q, k, v, d**-0.5)
        assert ratio(o, wanted) < 1e-2 and (lse - wanted_lse).abs().max() < 1e-3
    return "largest relative error {:.1e}, gradients {:.1e}".format(*worst)


def test_strides_and_narrow_rows():
    qkv = torch.randn(2, 100, 3, 4, 80, device=DEVICE).half()
    q, k, v = qkv.unbind(2)
    check(q, k, v, make(100, 4, 80, 2), 0.1, -1, 0)
    swapped = [torch.randn(2, 4, 100, 80, device=DEVICE).half().transpose(1, 2) for _ in range(4)]
    check(*swapped, 0.1, -1, 0)
    odd = [torch.randn(2, 100, 4, 83, device=DEVICE).half()[..., 1:81] for _ in range(4)]
    check(*odd, 0.1, -1, 0)
    expanded = make(100, 1, 80, 2).expand(2, 100, 4, 80)
    check(make(100, 4, 80, 2), expanded, expanded, make(100, 4, 80, 2), 0.1, -1, 0)


def test_fifty_times_the_same_bits():
    q, k, v, grad = make(300, 8, 80, 2), make(300, 2, 80, 2), make(300, 2, 80, 2), make(300, 8, 80, 2)
    first = run(q, k, v, grad, 0.1, -1, 0)
    for _ in range(50):
        for x, y in zip(first, run(q, k, v, grad, 0.1, -1, 0)):
            assert torch.equal(x, y)


def test_a_window_as_wide_as_the_sequence_is_none():
    q, k, v, grad = (make(300, 2, 80) for _ in range(4))
    for x, y in zip(run(q, k, v, grad, 0.1, -1, 0), run(q, k, v, grad, 0.1, 300, 0)):
        assert torch.equal(x, y)


def packed(lengths, heads, d, extra=0):
    total = sum(lengths) + extra
    ends = torch.tensor([0] + lengths).cumsum(0).to(torch.int32).to(DEVICE)
    return make(total, heads, d)[0], ends


LENGTH_LISTS = ([0, 5, 0, 130, 1, 0], [1] * 9, [500, 3, 2, 1], [64, 64, 128], [0, 0])


def test_packed_is_each_sequence_alone_bitwise():
    for lengths in LENGTH_LISTS:
        q, ends = packed(lengths, 4, 80, extra=13)
        k, _ = packed(lengths, 2, 80, extra=13)
        v, _ = packed(lengths, 2, 80, extra=13)
        grad, _ = packed(lengths, 4, 80, extra=13)
        last = sum(lengths)
        q[last:] = k[last:] = v[last:] = grad[last:] = float("nan")
        most = max(max(lengths), 1)
        all_of = run(q, k, v, grad, 0.1, -1, 0, cu_q=ends, cu_k=ends, max_q=most, max_k=most)
        start = 0
        for n in lengths:
            rows = slice(start, start + n)
            if n:
                alone = run(q[None, rows], k[None, rows], v[None, rows], grad[None, rows], 0.1, -1, 0)
                for i in (0, 2, 3, 4):
                    assert torch.equal(all_of[i][rows], alone[i][0]), (lengths, n, i)
                assert torch.equal(all_of[1][:, rows], alone[1][0])
            start += n
        for i in (0, 2, 3, 4):
            assert (all_of[i][last:] == 0).all()


def test_a_sequence_changes_no_other():
    lengths = [70, 40, 90]
    tensors = [packed(lengths, h, 80)[0] for h in (4, 2, 2, 4)]
    ends = packed(lengths, 1, 80)[1]
    words = {"cu_q": ends, "cu_k": ends, "max_q": 90, "max_k": 90}
    before = run(*tensors, 0.1, -1, 0, **words)
    for t in tensors:
        t[70:110] = float("nan")
    after = run(*tensors, 0.1, -1, 0, **words)
    for i in (0, 2, 3, 4):
        assert torch.equal(before[i][:70], after[i][:70]) and torch.equal(before[i][110:], after[i][110:])


def test_ends_that_lie_are_clamped():
    q, k, v, grad = make(100, 2, 80)[0], make(100, 2, 80)[0], make(100, 2, 80)[0], make(100, 2, 80)[0]
    for lie in ([0, 1 << 30], [-5, 40], [50, 10], [0, 2147483647], [-2147483648, 2147483647]):
        ends = torch.tensor(lie, dtype=torch.int32, device=DEVICE)
        run(q, k, v, grad, 0.1, -1, 0, cu_q=ends, cu_k=ends, max_q=100, max_k=100)
    torch.cuda.synchronize()


def test_padded_is_what_is_used_alone():
    q, k, v, grad = make(150, 4, 80, 3), make(170, 2, 80, 3), make(170, 2, 80, 3), make(150, 4, 80, 3)
    used_q, used_k = [150, 40, 0], [100, 170, 30]
    for b in range(3):
        for t, n in ((q, used_q[b]), (grad, used_q[b]), (k, used_k[b]), (v, used_k[b])):
            t[b, n:] = float("nan")
    on = lambda x: torch.tensor(x, dtype=torch.int32, device=DEVICE)
    whole = run(q, k, v, grad, 0.1, -1, 0, used_q=on(used_q), used_k=on(used_k))
    for b in range(3):
        m, n = used_q[b], used_k[b]
        assert (whole[0][b, m:] == 0).all() and (whole[2][b, m:] == 0).all()
        assert (whole[3][b, n:] == 0).all() and (whole[4][b, n:] == 0).all()
        assert torch.isinf(whole[1][b, :, m:]).all()
        if m:
            alone = run(q[b : b + 1, :m], k[b : b + 1, :n], v[b : b + 1, :n], grad[b : b + 1, :m], 0.1, -1, 0)
            for i, rows in ((0, m), (2, m), (3, n), (4, n)):
                assert torch.equal(whole[i][b, :rows], alone[i][0]), (b, i)


def test_chosen_blocks():
    for m, d in ((500, 80), (50, 80), (400, 64), (130, 64), (200, 128)):
        chosen_blocks(m, d)


def chosen_blocks(m, d):
    b, h, g = 1, 4, 2
    q, k, v, grad = make(m, h, d), make(m, g, d), make(m, g, d), make(m, h, d)
    blocks = -(-m // 64)
    every = torch.arange(blocks, device=DEVICE).expand(b, g, blocks, blocks)
    for x, y in zip(
        run(q, k, v, grad, 0.1, -1, 0), run(q, k, v, grad, 0.1, -1, 0, blocks=select_blocks(every, m, m))
    ):
        assert torch.equal(x, y)
    some = torch.randint(-2, blocks + 2, (b, g, blocks, 4), device=DEVICE)  # some twice, some outside
    chosen = torch.zeros(b, g, blocks, blocks, dtype=torch.bool, device=DEVICE)
    for i in range(4):
        inside = (some[..., i] >= 0) & (some[..., i] < blocks)
        index = some[..., i].clamp(0, blocks - 1)
        chosen.scatter_(-1, index[..., None], chosen.gather(-1, index[..., None]) | inside[..., None])
    seen = chosen.repeat_interleave(64, 2).repeat_interleave(64, 3)[:, :, :m, :m]
    seen = seen.repeat_interleave(h // g, 1) & torch.ones(m, m, device=DEVICE).tril().bool()
    check(q, k, v, grad, 0.1, -1, 0, seen=seen, blocks=select_blocks(some, m, m))
    none = ~seen.any(2)[0].view(g, h // g, m).any(1)
    dk = run(q, k, v, grad, 0.1, -1, 0, blocks=select_blocks(some, m, m))[3]
    assert (dk[0].transpose(0, 1)[none] == 0).all()


def test_decode():
    for d in HEAD_DIMS:
        for b, m, n, h, g, splits, left in (
            (2, 1, 1000, 8, 1, 1, -1), (2, 1, 1000, 8, 2, 5, -1), (1, 3, 777, 32, 4, 7, -1),
            (1, 1, 3000, 32, 4, 3, 500), (1, 5, 300, 12, 1, 40, -1), (1, 1, 70, 4, 4, 9, -1),
        ):
            q, k, v = make(m, h, d, b), make(n, g, d, b), make(n, g, d, b)
            poison()
            o, lse = _attention_ops.decode_cuda(q, k, v, None, None, d**-0.5, left, 0, splits)
            wanted, wanted_lse = attend(q, k, v, d**-0.5, left, 0)
            assert ratio(o, wanted) < 2e-3 and (lse - wanted_lse).abs().max() < 1e-3
    used = torch.tensor([0, 900], dtype=torch.int32, device=DEVICE)
    q, k, v = make(1, 8, 80, 2), make(1000, 2, 80, 2), make(1000, 2, 80, 2)
    k[1, 900:] = v[1, 900:] = float("nan")
    o, lse = _attention_ops.decode_cuda(q, k, v, None, used, 0.1, -1, 0, 4)
    assert (o[0] == 0).all() and torch.isinf(lse[0]).all()
    assert ratio(o[1:], attend(q[1:], k[1:, :900], v[1:, :900], 0.1)[0]) < 2e-3


def test_long_sequences_take_memory_for_tokens():
    if DEVICE == "cpu":
        raise unittest.SkipTest("not emulated: that takes hours")
    for n in (131072, 262144):
        q, k, v = make(n, 2, 80), make(n, 1, 80), make(n, 1, 80)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        o, lse, dq, dk, dv = (None,) * 5
        words = (None, None, None, None, None, 0, 0, 0.1, 1000, 0)
        o, lse = _attention_ops.forward_cuda(q, k, v, *words)
        dq, dk, dv = _attention_ops.backward_cuda(q, q, k, v, o, lse, *words)
        results = sum(t.numel() * t.element_size() for t in (o, lse, dq, dk, dv))
        beyond = torch.cuda.max_memory_allocated() - before - results
        assert beyond <= 4 * n * 2 + 4096, beyond
        rows = slice(n - 64, n)
        wanted = attend(q[:, rows], k[:, -1064:], v[:, -1064:], 0.1, 1000, 0)[0]
        assert ratio(o[:, rows], wanted) < 2e-3


def test_what_is_wrong_is_named():
    q, k, v = make(10, 4, 80), make(10, 2, 80), make(10, 2, 80)
    wrong = {
        "q": [(q.float(), k, v), (q[0], k, v), (q[:, :, :3], k, v), (q.transpose(2, 3).contiguous().transpose(2, 3), k, v)],
        "k": [(q, k.float(), v), (q, k[..., :64], v)],
        "v": [(q, k, v[:, :5])],
        "head_dim": [(q[..., :76], k[..., :76], v[..., :76])],
    }
    if DEVICE != "cpu":
        wrong["q"].append((q.cpu(), k, v))
        wrong["k"].append((q, k.cpu(), v))
    for name, calls in wrong.items():
        for call in calls:
            try:
                _attention_ops.forward_cuda(*call, None, None, None, None, None, 0, 0, 0.1, -1, 0)
            except KernelError as error:
                assert error.argument == name, (error.argument, name)
            else:
                raise AssertionError(name)
