"""Features that only some models need: caps, sinks, dropout, gradients of lse, starts, pages, entries, many head
dimensions."""

import itertools

import torch
from test_attention import DEVICE, make, packed

from wheelsmith_kernels import KernelError, _attention_ops
from wheelsmith_kernels._attention_calls import NO_MORE, forward_cuda, gradients_cuda, more_of
from wheelsmith_kernels._reference import attend, gradients, ratio, visible

NONE = (None,) * 5
#: One for each image, and some with columns to spare.
HEAD_DIMS = (8, 32, 40, 64, 72, 80, 96, 112, 128, 160, 256)


def numbers(*values):
    return torch.tensor(values, dtype=torch.int32, device=DEVICE)


def near(found, wanted, limit, name):
    error = ratio(found, wanted) if wanted.norm() > 1e-9 * wanted.numel() else found.double().abs().max().item()
    assert torch.isfinite(found).all() and error < limit, (name, error)
    return error


def both(q, k, v, grad, scale, left, right, more=NO_MORE, grad_lse=None, sequences=NONE, lengths=(0, 0)):
    """o, lse, dq, dk, dv, delta."""
    words = *lengths, scale, left, right
    o, lse = forward_cuda(q, k, v, *sequences, *words, *more)
    return o, lse, *gradients_cuda(grad, grad_lse, q, k, v, o, lse, sequences, *words, more)


def test_every_head_dim():
    worst = 0
    for d in HEAD_DIMS:
        for m, n, left, right in ((65, 65, -1, 0), (70, 203, 30, 7)):
            q, grad, k, v = make(m, 4, d), make(m, 4, d), make(n, 2, d), make(n, 2, d)
            o, lse, dq, dk, dv, _ = both(q, k, v, grad, d**-0.5, left, right)
            wanted, wanted_lse = attend(q, k, v, d**-0.5, left, right)
            assert (lse - wanted_lse).abs().max() < 1e-3
            worst = max(worst, near(o, wanted, 2e-3, (d, "o")))
            for name, x, y in zip("qkv", (dq, dk, dv), gradients(q, k, v, grad, d**-0.5, left, right)):
                worst = max(worst, near(x, y, 5e-3, (d, name)))
        q, k, v = make(1, 4, d), make(700, 2, d), make(700, 2, d)
        for parts in (1, 3):
            o, lse = forward_cuda(q, k, v, *NONE, 0, 0, d**-0.5, -1, 0, parts=parts)
            near(o, attend(q, k, v, d**-0.5)[0], 2e-3, (d, parts))
    return f"largest relative error {worst:.1e}"


def test_columns_beyond_are_not_touched():
    """Elements of the same tensor beside rows of 40 and 200 elements are neither read nor written."""
    for d in (40, 200):
        whole = torch.full((7, 1, 90, 2, d + 8), float("nan"), device=DEVICE, dtype=torch.float16)
        q, k, v, grad, *out = (t[..., :d] for t in whole)
        for t in (q, k, v, grad):
            t.copy_(make(90, 2, d))
        o, lse = forward_cuda(q, k, v, *NONE, 0, 0, 0.1, -1, 0)
        dq, dk, dv, _ = gradients_cuda(grad, None, q, k, v, o, lse, NONE, 0, 0, 0.1, -1, 0, out=tuple(out))
        assert torch.isnan(whole[..., d:]).all()
        for x, y in zip((o, dq, dk, dv), (attend(q, k, v, 0.1, -1, 0)[0], *gradients(q, k, v, grad, 0.1, -1, 0))):
            near(x, y, 5e-3, d)


def test_softcap():
    for d, cap, scale in itertools.product((64, 80, 128, 256), (5.0, 50.0), (0.1, -0.5)):
        q, grad, k, v = make(70, 4, d) * 3, make(70, 4, d), make(130, 2, d), make(130, 2, d)
        o, lse, dq, dk, dv, _ = both(q, k, v, grad, scale, -1, 0, more_of(softcap=cap))
        wanted, wanted_lse = attend(q, k, v, scale, -1, 0, softcap=cap)
        assert (lse - wanted_lse).abs().max() < 1e-3, (d, cap, scale)
        near(o, wanted, 2e-3, (d, cap, scale))
        for name, x, y in zip("qkv", (dq, dk, dv), gradients(q, k, v, grad, scale, -1, 0, softcap=cap)):
            near(x, y, 5e-3, (name, d, cap, scale))
        for rows in (1, 5, 9):  # the kernels for few rows
            q = make(rows, 8, d) * 3
            k, v = make(600, 1, d), make(600, 1, d)
            o, _ = forward_cuda(q, k, v, *NONE, 0, 0, scale, -1, 0, cap, parts=3)
            near(o, attend(q, k, v, scale, -1, 0, softcap=cap)[0], 2e-3, (rows, d, cap))


def test_sinks():
    for d, left in itertools.product((64, 128, 256), (-1, 20)):
        q, grad, k, v = make(70, 4, d), make(70, 4, d), make(60, 2, d), make(60, 2, d)  # 10 rows see no key
        sinks = torch.randn(4, device=DEVICE) * 2
        leaves = [t.clone().requires_grad_() for t in (q, k, v, sinks)]
        words = *NONE, 0, 0, 0.1, left, 0, 0.0, 0.0, None
        o = _attention_ops.Attention.apply(*leaves[:3], *words, leaves[3])
        near(o, attend(q, k, v, 0.1, left, 0, sinks=sinks)[0], 2e-3, (d, left))
        found = torch.autograd.grad(o, leaves, grad)
        for name, x, y in zip("qkvs", found, gradients(q, k, v, grad, 0.1, left, 0, sinks=sinks)):
            near(x, y, 5e-3, (name, d, left))
        for rows, parts in ((1, 3), (9, 4)):
            q, k, v = make(rows, 4, d), make(600, 2, d), make(600, 2, d)
            o, lse = forward_cuda(q, k, v, *NONE, 0, 0, 0.1, left, 0, *more_of(sinks=sinks), parts=parts)
            wanted, wanted_lse = attend(q, k, v, 0.1, left, 0, sinks=sinks)
            near(o, wanted, 2e-3, (rows, d))
            assert (lse - wanted_lse).abs().max() < 1e-3


def weights_of(q, k, random, p):
    """[b, h, m, n]: what dropout multiplied each probability by, asked one key after the other."""
    b, m, h, d = q.shape
    n, columns = k.shape[1], []
    for j in range(n):
        v = torch.zeros_like(k)
        v[:, j] = 1
        o, _ = forward_cuda(q * 0, k * 0, v, *NONE, 0, 0, 1.0, -1, -1, 0.0, p, random)
        columns.append(o[..., 0].transpose(1, 2).float() * n)
    return torch.stack(columns, -1)


def test_dropout():
    p = 0.17
    for d in (64, 128, 256):
        q, grad, k, v = make(40, 4, d, 2), make(40, 4, d, 2), make(50, 2, d, 2), make(50, 2, d, 2)
        random = torch.tensor([d * 12345, -(1 << 62)], device=DEVICE)
        more = more_of(dropout=p, random=random)
        weights = weights_of(q, k, random, p)
        kept = weights > 0
        assert abs(kept.float().mean() - (1 - p)) < 0.02 and (weights[kept] - 1 / (1 - p)).abs().max() < 5e-3
        # Neighbours in each of the four directions say nothing of one another.
        for axis in range(4):
            a, b = kept.narrow(axis, 0, kept.shape[axis] - 1), kept.narrow(axis, 1, kept.shape[axis] - 1)
            assert abs((a & b).float().mean() - (1 - p) ** 2) < 0.03, axis
        weights = kept / (1 - p)
        o, lse, dq, dk, dv, _ = both(q, k, v, grad, 0.1, -1, 0, more)
        wanted, wanted_lse = attend(q, k, v, 0.1, -1, 0, weights=weights)
        assert (lse - wanted_lse).abs().max() < 1e-3
        near(o, wanted, 2e-3, d)
        for name, x, y in zip("qkv", (dq, dk, dv), gradients(q, k, v, grad, 0.1, -1, 0, weights=weights)):
            near(x, y, 5e-3, (name, d))
        other = forward_cuda(q, k, v, *NONE, 0, 0, 0.1, -1, 0, *more_of(dropout=p, random=random + 1))[0]
        assert not torch.equal(o, other)
        assert torch.equal(o, forward_cuda(q, k, v, *NONE, 0, 0, 0.1, -1, 0, *more)[0])


def test_dropout_is_that_of_flash_attention():
    """Its bits for a seed and an offset, and the distance by which its kernels advance the generator."""
    from wheelsmith_kernels import _flash

    for seed, offset in ((0, 16), (123456789, (1 << 32) - 5)):
        random = torch.tensor([seed, offset], device=DEVICE)
        kept = _flash.kept(random, 1, 4, 40, 70, 0.17)
        q, k = make(40, 4, 64, 2), make(70, 4, 64, 2)
        assert torch.equal(weights_of(q, k, random, 0.17)[1] > 0, kept)
    # Row 17 of head 2 of the second sequence: its bytes come from a different program.
    half = _flash.kept(random, 1, 4, 40, 70, 0.5)[2, 17, :48]
    assert "".join("01"[int(x)] for x in half) == "001101100010110111101111011010111111010110101100"
    if DEVICE == "cuda":
        torch.manual_seed(7)
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
        before = generator.get_offset()
        out = _flash.fwd(q, k, k, None, None, 0.17, 0.1, False, -1, -1, 0.0, False, None)
        assert out[3].tolist() == [7, before] and generator.get_offset() == before + 2 * 4 * 32


def test_gradient_of_lse():
    for d in (64, 128):
        q, grad, k, v = make(50, 4, d), make(50, 4, d), make(40, 2, d), make(40, 2, d)  # 10 rows see no key
        grad_lse = torch.randn(1, 4, 50, device=DEVICE)
        found = both(q, k, v, grad, 0.1, -1, 0, grad_lse=grad_lse)[2:5]
        for name, x, y in zip("qkv", found, gradients(q, k, v, grad, 0.1, -1, 0, grad_lse=grad_lse)):
            near(x, y, 5e-3, (name, d))
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        lse = torch.ops.wheelsmith_kernels.forward(*leaves, *NONE, 0, 0, 0.1, -1, 0)[1]
        some = lse[:, :, 10:]
        found = torch.autograd.grad(some, leaves, grad_lse[:, :, 10:])
        grad_lse[:, :, :10] = 0
        for name, x, y in zip("qkv", found, gradients(q, k, v, grad * 0, 0.1, -1, 0, grad_lse=grad_lse)):
            near(x, y, 5e-3, (name, d))


def test_sequences_that_start_later():
    """Left-padded: each is what it is alone, bit for bit; rows before are 0 and their lse -infinity."""
    for d in (64, 80, 256):
        q, grad, k, v = make(150, 4, d, 4), make(150, 4, d, 4), make(170, 2, d, 4), make(170, 2, d, 4)
        first_q, first_k, used_k = [0, 40, 149, 150], [20, 60, 3, 170], [170, 165, 100, 170]
        for b in range(4):
            for t, n in ((q, first_q[b]), (grad, first_q[b]), (k, first_k[b]), (v, first_k[b])):
                t[b, :n] = float("nan")
            k[b, used_k[b] :] = v[b, used_k[b] :] = float("nan")
        more = more_of(seqstart_q=numbers(*first_q), seqstart_k=numbers(*first_k))
        sequences = None, None, None, numbers(*used_k), None
        words = 0, 0, 0.1, 100, 0
        o, lse = forward_cuda(q, k, v, *sequences, *words, *more, parts=0)
        whole = o, lse, *gradients_cuda(grad, None, q, k, v, o, lse, sequences, *words, more)
        for b in range(4):
            m, n, end = first_q[b], first_k[b], used_k[b]
            assert (whole[0][b, :m] == 0).all() and (whole[2][b, :m] == 0).all()
            assert torch.isinf(whole[1][b, :, :m]).all()
            for x in whole[3:5]:
                assert (x[b, :n] == 0).all() and (x[b, end:] == 0).all()
            if m == 150 or n == end:
                assert all((x[b] == 0).all() for x in whole[2:5])
                continue
            of = q[b : b + 1, m:], k[b : b + 1, n:end], v[b : b + 1, n:end]
            alone = forward_cuda(*of, *NONE, *words, parts=0)
            alone += gradients_cuda(grad[b : b + 1, m:], None, *of, *alone, NONE, *words)
            for i, rows in ((0, slice(m, None)), (2, slice(m, None)), (3, slice(n, end)), (4, slice(n, end))):
                assert torch.equal(whole[i][b, rows], alone[i][0]), (d, b, i)
        for rows in (1, 3, 20):  # the kernels with parts of the keys
            x = make(rows, 4, d, 4)
            starts = more_of(seqstart_k=numbers(*first_k))
            o, lse = forward_cuda(x, k, v, *sequences, *words, *starts, parts=2)
            for b in range(3):
                part = slice(first_k[b], used_k[b])
                wanted = attend(x[b : b + 1], k[b : b + 1, part], v[b : b + 1, part], 0.1, 100, 0)[0]
                near(o[b : b + 1], wanted, 2e-3, (rows, d, b))
            assert (o[3] == 0).all()


def test_pages_and_entries():
    for d, page_rows in itertools.product((64, 80, 256), (16, 17, 256)):
        count, batch, keys = 40, 3, [300, 0, 77]
        pages = make(page_rows, 2, d, count), make(page_rows, 2, d, count)
        needed = -(-300 // page_rows)
        table = torch.randint(0, count, (batch, needed + 1), device=DEVICE, dtype=torch.int32)
        rows = [p[table.long()].flatten(1, 2) for p in pages]  # [batch, rows, 2, d]
        table[2, -(-77 // page_rows) :] = 1 << 30  # what no row needs may say anything
        more, used = more_of(pages=table), numbers(*keys)
        for m, parts in ((1, 1), (1, 3), (5, 2), (70, 0), (70, 2)):
            q = make(m, 4, d, batch)
            o, _ = forward_cuda(q, *pages, None, None, None, used, None, 0, 0, 0.1, -1, 0, *more, parts=parts)
            for b in range(batch):
                k, v = (t[b : b + 1, : keys[b]] for t in rows)
                near(o[b : b + 1], attend(q[b : b + 1], k, v, 0.1, -1, 0)[0], 2e-3, (d, page_rows, m, b))
        # Packed queries, and cu_seqlens_k for the number of keys alone.
        q, ends = packed([1, 9, 30], 4, d)
        ends_k = numbers(0, 300, 300, 377)
        for parts in (0, 2):
            o, _ = forward_cuda(q, *pages, ends, ends_k, *NONE[:3], 30, 300, 0.1, -1, 0, *more, parts=parts)
            for b, (start, end) in enumerate(((0, 1), (1, 10), (10, 40))):
                k, v = (t[b : b + 1, : keys[b]] for t in rows)
                near(o[None, start:end], attend(q[None, start:end], k, v, 0.1, -1, 0)[0], 2e-3, (d, b, parts))
    k, v, entries = make(300, 2, 80, 5), make(300, 2, 80, 5), [4, 0, 4]
    for m, parts in ((1, 2), (20, 2), (20, 0)):
        q = make(m, 4, 80, 3)
        o, _ = forward_cuda(q, k, v, *NONE, 0, 0, 0.1, -1, 0, *more_of(entries=numbers(*entries)), parts=parts)
        near(o, attend(q, k[entries], v[entries], 0.1, -1, 0)[0], 2e-3, (m, parts))
    o, _ = forward_cuda(q, k, v, *NONE, 0, 0, 0.1, -1, 0, *more_of(entries=numbers(-7, 1 << 30, 2)), parts=0)
    near(o, attend(q, k[[0, 4, 2]], v[[0, 4, 2]], 0.1, -1, 0)[0], 2e-3, "clamped")


def test_parts_of_packed_sequences_and_of_many_rows():
    lengths, keys = [1, 64, 0, 130], [500, 64, 40, 1000]
    for d in (64, 128):
        q, ends = packed(lengths, 8, d)
        k, ends_k = packed(keys, 2, d)
        v, _ = packed(keys, 2, d)
        for parts in (1, 3, 7):
            o, lse = forward_cuda(q, k, v, ends, ends_k, *NONE[:3], 130, 1000, 0.1, 700, 0, parts=parts)
            for a, b, c, e in zip(ends[:-1], ends[1:], ends_k[:-1], ends_k[1:]):
                if b > a:
                    wanted, wanted_lse = attend(q[None, a:b], k[None, c:e], v[None, c:e], 0.1, 700, 0)
                    near(o[None, a:b], wanted, 2e-3, (d, parts))
                    assert (lse[None, :, a:b] - wanted_lse).abs().max() < 1e-3
        q, k, v = make(100, 6, d, 2), make(900, 2, d, 2), make(900, 2, d, 2)
        used_q, used_k = numbers(100, 30), numbers(900, 333)
        o, lse = forward_cuda(q, k, v, None, None, used_q, used_k, None, 0, 0, 0.1, -1, 0, parts=4)
        assert (o[1, 30:] == 0).all() and torch.isinf(lse[1, :, 30:]).all()
        for b, (m, n) in enumerate(((100, 900), (30, 333))):
            near(o[b : b + 1, :m], attend(q[b : b + 1, :m], k[b : b + 1, :n], v[b : b + 1, :n], 0.1, -1, 0)[0], 2e-3, b)


def test_what_is_wrong_is_named():
    q, k, v = make(10, 4, 80), make(10, 2, 80), make(10, 2, 80)
    wrong = {
        "softcap": [more_of(softcap=-1.0), more_of(softcap=float("nan"))],
        "dropout": [more_of(dropout=1.0, random=torch.zeros(2, dtype=torch.int64, device=DEVICE))],
        "random": [more_of(dropout=0.1), more_of(dropout=0.1, random=numbers(1, 2))],
        "sinks": [more_of(sinks=torch.zeros(2, device=DEVICE)), more_of(sinks=torch.zeros(4, device=DEVICE).half())],
        "seqstart_k": [more_of(seqstart_k=numbers(1, 2)), more_of(seqstart_k=numbers(1).long())],
        "entries": [more_of(entries=numbers(0, 0))],
        "pages": [more_of(pages=numbers(0, 0)), more_of(pages=numbers(0, 0)[:, None])],
    }
    for name, members in wrong.items():
        for more in members:
            try:
                forward_cuda(q, k, v, *NONE, 0, 0, 0.1, -1, 0, *more)
            except KernelError as error:
                assert error.argument == name, (error.argument, name)
            else:
                raise AssertionError(name)


def test_a_view_that_is_negated():
    """By torch's negative bit, which memory does not show."""
    q, grad, k, v = make(20, 4, 64), make(20, 4, 64), make(30, 2, 64), make(30, 2, 64)
    negated = [torch._neg_view(t) for t in (q, k, v)]
    plain = [-t for t in (q, k, v)]
    for x, y in zip(both(*negated, torch._neg_view(grad), 0.1, -1, 0), both(*plain, -grad, 0.1, -1, 0)):
        assert torch.equal(x, y)
    assert visible(2, 2, -1, 0, DEVICE).sum() == 3
