"""The operators in torch: opcheck, compile, graphs, one call, packing, other backends."""

import os
import threading
import unittest

import torch
from test_attention import DEVICE
from torch import library

from wheelsmith_kernels import KernelError, _attention, _attention_ops, _choose, attention, health, pack, unpack
from wheelsmith_kernels._reference import attend, ratio

FORWARD = torch.ops.wheelsmith_kernels.forward


def make(rows, heads, d=80, batch=1, grad=False):
    return torch.randn(batch, rows, heads, d, device=DEVICE).half().requires_grad_(grad)


def test_opcheck():
    q, k, v = make(40, 4, grad=True), make(50, 2, grad=True), make(50, 2, grad=True)
    words = None, None, None, None, None, 0, 0, 0.1, -1, 0
    sinks = torch.randn(4, device=DEVICE, requires_grad=True)
    random, starts = torch.tensor([1, 2], device=DEVICE), torch.tensor([3], device=DEVICE, dtype=torch.int32)
    library.opcheck(FORWARD, (q, k, v, *words))
    library.opcheck(FORWARD, (q, k, v, *words, 5.0, 0.1, random, sinks, None, starts))
    o, lse = FORWARD(q.detach(), k.detach(), v.detach(), *words)
    inputs = torch.randn_like(o), None, q.detach(), k.detach(), v.detach(), o, lse, *words
    library.opcheck(torch.ops.wheelsmith_kernels.backward, inputs)


def test_a_second_derivative_is_refused():
    q, k, v = make(40, 4, grad=True), make(50, 2, grad=True), make(50, 2, grad=True)
    for call in (attention, lambda q, k, v: FORWARD(q, k, v, None, None, None, None, None, 0, 0, 0.1, -1, 0)[0]):
        (first,) = torch.autograd.grad(call(q, k, v).float().sum(), q, create_graph=True)
        try:
            torch.autograd.grad(first.float().square().sum(), q)
        except KernelError as error:
            assert "no derivative" in str(error), error
        else:
            raise AssertionError("a second derivative came out")


def test_autograd_is_the_kernels():
    q, k, v = make(40, 4, grad=True), make(50, 2, grad=True), make(50, 2, grad=True)
    o, (backend, why) = attention(q, k, v, causal=True, return_why=True)
    before = dict(_attention_ops.calls)
    o.float().square().sum().backward()
    assert _attention_ops.calls["backward"] == before["backward"] + (backend == "wsk")
    assert all(torch.isfinite(t.grad).all() for t in (q, k, v))
    return f"{backend}: {why}"


def test_compile_without_a_break():
    q, k, v = make(40, 4, grad=True), make(50, 2, grad=True), make(50, 2, grad=True)
    f = lambda q, k, v: FORWARD(q * 2, k, v, None, None, None, None, None, 0, 0, 0.1, -1, 0)[0].sum()
    f(q, k, v).backward()
    plain = q.grad.clone()
    q.grad = None
    torch.compile(f, fullgraph=True)(q, k, v).backward()
    assert torch.allclose(plain, q.grad, atol=1e-3, rtol=1e-2)


def test_one_call_compiles_without_a_break():
    for grad in (False, True):
        q, k, v = make(40, 4, grad=grad), make(50, 2, grad=grad), make(50, 2, grad=grad)
        with named("wsk"):
            plain = attention(q, k, v, causal=True)
            before = dict(_attention_ops.calls)
            o = torch.compile(lambda q, k, v: attention(q, k, v, causal=True), fullgraph=True)(q, k, v)
            assert torch.equal(o, plain) and _attention_ops.calls["forward"] == before["forward"] + 1
            if grad:
                found = torch.autograd.grad(o.sum(), (q, k, v))
                for x, y in zip(found, torch.autograd.grad(plain.sum(), (q, k, v))):
                    assert torch.equal(x, y)


def test_what_was_called_before_is_checked_again():
    """The second call of a kind goes the short way: it is as right, and as strict."""
    q, k, v = make(40, 4), make(300, 2), make(300, 2)
    with named("wsk"):
        for rows in (40, 1):
            x = q[:, :rows]
            for words in ({}, {"causal": True}, {"window": [20, 0]}, {"scale": 0.3}):
                first = attention(x, k, v, **words)
                assert torch.equal(attention(x, k, v, **words), first)
                right = 0 if "causal" in words else words.get("window", (-1, -1))[1]
                wanted = attend(x, k, v, words.get("scale", 80**-0.5), words.get("window", (-1,))[0], right)[0]
                assert ratio(first, wanted) < 2e-3, words
            assert ratio(attention(x * 2, v, k), attend(x * 2, v, k, 80**-0.5)[0]) < 2e-3
        scale = torch.tensor(0.3)
        first = attention(q, k, v, scale=scale)
        scale.fill_(0.1)
        assert torch.equal(attention(q, k, v, scale=scale), attention(q, k, v, scale=0.1))
        assert torch.equal(first, attention(q, k, v, scale=0.3))
        odd = torch.randn(1, 40, 4, 83, device=DEVICE).half()[..., 1:81]  # rows at no multiple of 16 bytes
        even = torch.randn(1, 40, 4, 83, device=DEVICE).half()[..., 0:80]
        for t in (odd, even, odd):
            assert ratio(attention(t, k, v), attend(t, k, v, 80**-0.5)[0]) < 2e-3
        wrong = {
            "k": [(q, k.float(), v), (q, k[..., :64], v), (q, k[0], v)],
            "v": [(q, k, v[:, :50]), (q, k, v.bfloat16()), (q, k, v.transpose(1, 3).contiguous().transpose(1, 3))],
            "q": [(q[:, :, :3], k, v), (q[0], k, v)],
        }
        for name, calls in wrong.items():
            for call in calls:
                for _ in range(2):
                    try:
                        attention(*call)
                    except KernelError as error:
                        assert error.argument == name, (error.argument, name)
                    else:
                        raise AssertionError(name)
        q.requires_grad_()
        before = dict(_attention_ops.calls)
        attention(q, k, v).sum().backward()
        assert _attention_ops.calls["backward"] == before["backward"] + 1 and torch.isfinite(q.grad).all()
        with torch.inference_mode():
            assert torch.equal(attention(q, k, v), attention(q.detach(), k, v))
        assert attention(q[:, :0], k, v).shape == (1, 0, 4, 80)
        assert (attention(q.detach(), k[:, :0], v[:, :0]) == 0).all()
    other = torch.empty(1, 40, 4, 80, device=DEVICE).half().requires_grad_()
    with named("sdpa"):
        assert attention(other.detach(), k, v).shape == other.shape  # the environment is asked each time


def test_graphs():
    if DEVICE == "cpu":
        raise unittest.SkipTest("needs a GPU")
    q, k, v = make(40, 4), make(300, 2), make(300, 2)
    out = attention(q, k, v, causal=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = attention(q, k, v, causal=True)
    q.copy_(make(40, 4))
    graph.replay()
    assert torch.equal(captured, attention(q, k, v, causal=True)) and not torch.equal(captured, out)


def test_a_first_call_while_capturing():
    """The trial cannot run: the reason is reported and not cached."""
    if DEVICE == "cpu":
        raise unittest.SkipTest("needs a GPU")
    q, k, v = make(41, 4), make(301, 2), make(301, 2)
    expected = attention(q, k, v, causal=True)
    _choose.forget(), _attention._ready.clear()
    said = None
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        try:
            attention(q, k, v, causal=True)
        except KernelError as error:
            said = str(error)
    assert said and "captured" in said, said
    o, (backend, why) = attention(q, k, v, causal=True, return_why=True)
    assert torch.equal(o, expected) and backend in ("wsk", "flash_attention_2"), (backend, why)


def test_a_window_that_is_a_tensor():
    """Its numbers count, each time."""
    q, k, v = make(40, 4), make(50, 2), make(50, 2)
    window = torch.tensor([20, 0])
    before = attention(q, k, v, window=window)
    assert torch.equal(before, attention(q, k, v, window=(20, 0)))
    window[0] = 3
    assert torch.equal(attention(q, k, v, window=window), attention(q, k, v, window=(3, 0)))


def test_tangents_are_not_dropped():
    q, k, v = make(40, 4), make(50, 2), make(50, 2)
    attention(q, k, v)
    with named("wsk"), torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(k, torch.ones_like(k))
        try:
            attention(q, dual, v)
        except KernelError as error:
            assert error.argument == "k", error
        else:
            raise AssertionError("a tangent was dropped")
        attention(q, k, v)


def test_another_stream():
    if DEVICE == "cpu":
        raise unittest.SkipTest("needs a GPU")
    q, k, v = make(40, 4), make(50, 2), make(50, 2)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        o = attention(q, k, v)
    torch.cuda.current_stream().wait_stream(stream)
    assert ratio(o, attend(q, k, v, 80**-0.5)[0]) < 2e-3


def test_a_thread_that_launched_nothing():
    """It has no context until something makes one; autograd's own thread may be such a one."""
    if DEVICE == "cpu":
        raise unittest.SkipTest("needs a GPU")
    q, k, v = make(40, 4), make(300, 2), make(300, 2)
    words = (None, None, None, None, None, 0, 0, 0.1, -1, 0)
    o, lse = _attention_ops.forward_cuda(q, k, v, *words)
    for call in (
        lambda: [attention(q, k, v)],
        lambda: [attention(q[:, :1], k, v)],
        lambda: _attention_ops.forward_cuda(q, k, v, *words),
        lambda: _attention_ops.backward_cuda(q, q, k, v, o, lse, *words),
    ):
        found = []
        with named("wsk"):
            expected = [t.clone() for t in call()]  # what it took is at hand for the thread, without a context
            thread = threading.Thread(target=lambda: found.extend(call()))
            thread.start()
            thread.join()
        assert len(found) == len(expected) and all(map(torch.equal, found, expected))


def named(name):
    class Named:
        def __enter__(self):
            os.environ["WHEELSMITH_ATTENTION"] = name

        def __exit__(self, *_):
            del os.environ["WHEELSMITH_ATTENTION"]

    return Named()


def test_every_backend_gives_the_same():
    cases = [
        dict(causal=True), dict(window=(20, 0)), dict(window=(5, 9)), dict(),
        dict(seqused_k=torch.tensor([30, 77], dtype=torch.int32, device=DEVICE), causal=True),
    ]
    for m, n in ((60, 77), (77, 77)):
        q, k, v = make(m, 8, batch=2), make(n, 2, batch=2), make(n, 2, batch=2)
        for case in cases:
            with named("wsk"):
                ours = attention(q, k, v, **case)
            with named("sdpa"):
                theirs = attention(q, k, v, **case)
            assert (ours - theirs).abs().max() < 5e-3, (m, n, case, (ours - theirs).abs().max())
    ends = torch.tensor([0, 30, 30, 77], dtype=torch.int32, device=DEVICE)
    q, k, v = make(77, 8)[0], make(77, 2)[0], make(77, 2)[0]
    words = dict(cu_seqlens_q=ends, cu_seqlens_k=ends, max_seqlen_q=47, max_seqlen_k=47, causal=True)
    with named("wsk"):
        ours = attention(q, k, v, **words)
    with named("sdpa"):
        assert (ours - attention(q, k, v, **words)).abs().max() < 5e-3


def test_overrides_and_reasons():
    q, k, v = make(20, 4), make(20, 2), make(20, 2)
    _, (backend, why) = attention(q, k, v, dropout_p=0.1, return_why=True)
    assert backend in ("wsk", "flash_attention_2"), (backend, why)
    for name, words in (("nobody", {}), ("sdpa", {"softcap": 5.0}), ("flash_attention_2", {"seqused_k": torch.ones(1, dtype=torch.int32, device=DEVICE)})):
        with named(name):
            try:
                attention(q, k, v, **words)
            except KernelError:
                continue
        raise AssertionError(name)


def test_pack_and_unpack():
    mask = torch.tensor([[1, 1, 0], [0, 0, 0], [0, 1, 1]], device=DEVICE)
    x = torch.randn(3, 3, 2, device=DEVICE, dtype=torch.float64, requires_grad=True)
    rows, indices, ends, longest = pack(x, mask)
    assert ends.tolist() == [0, 2, 2, 4] and ends.dtype == torch.int32 and longest == 2
    assert torch.equal(unpack(rows, indices, 3, 3), x * mask[..., None])
    assert torch.autograd.gradcheck(lambda x: unpack(pack(x, mask)[0] * 2, indices, 3, 3), (x,))


def test_health():
    if DEVICE == "cpu":
        raise unittest.SkipTest("needs a GPU")
    report = health()
    assert report["ready"] and report["devices"][0]["head_dims"] == [32, 64, 80, 96, 128, 256], report
    with named("sdpa"):
        asked = health()
    assert asked["attn"] == "sdpa" and asked["ready"] and asked["batch"] == "padded", asked
    if report["attn"] != "flash_attention_2":
        with named("flash_attention_2"):
            asked = health()
        assert not asked["ready"] and "flash_attention_2" in asked["problem"], asked
    return str({k: report[k] for k in ("attn", "batch", "ready")})
