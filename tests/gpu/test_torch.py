"""The operators in torch: opcheck, compile, graphs, one call, packing, other backends."""

import os
import statistics
import time

import torch
from reference import attend, ratio

from wheelsmith_kernels import KernelError, _dispatch, _ops, attention, health, pack, unpack

FORWARD = torch.ops.wheelsmith_kernels.forward


def make(rows, heads, d=80, batch=1, grad=False):
    return torch.randn(batch, rows, heads, d, device="cuda").half().requires_grad_(grad)


def test_opcheck():
    q, k, v = make(40, 4, grad=True), make(50, 2, grad=True), make(50, 2, grad=True)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(FORWARD, (q, k, v, None, None, None, None, None, 0, 0, 0.1, -1, 0), test_utils=tests[:3])
    torch.library.opcheck(
        torch.ops.wheelsmith_kernels.decode, (q.detach(), k.detach(), v.detach(), None, None, 0.1, -1, 0, 2)
    )


def test_autograd_is_the_kernels():
    q, k, v = make(40, 4, grad=True), make(50, 2, grad=True), make(50, 2, grad=True)
    o, (backend, why) = attention(q, k, v, causal=True, return_why=True)
    before = dict(_ops.calls)
    o.float().square().sum().backward()
    assert _ops.calls["backward"] == before["backward"] + (backend == "wsk")
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


def test_graphs():
    q, k, v = make(40, 4), make(300, 2), make(300, 2)
    out = attention(q, k, v, causal=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = attention(q, k, v, causal=True)
    q.copy_(make(40, 4))
    graph.replay()
    assert torch.equal(captured, attention(q, k, v, causal=True)) and not torch.equal(captured, out)


def test_another_stream():
    q, k, v = make(40, 4), make(50, 2), make(50, 2)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        o = attention(q, k, v)
    torch.cuda.current_stream().wait_stream(stream)
    assert ratio(o, attend(q, k, v, 80**-0.5)[0]) < 2e-3


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
        dict(seqused_k=torch.tensor([30, 77], dtype=torch.int32, device="cuda"), causal=True),
    ]
    for m, n in ((60, 77), (77, 77)):
        q, k, v = make(m, 8, batch=2), make(n, 2, batch=2), make(n, 2, batch=2)
        for case in cases:
            with named("wsk"):
                ours = attention(q, k, v, **case)
            with named("sdpa"):
                theirs = attention(q, k, v, **case)
            assert (ours - theirs).abs().max() < 5e-3, (m, n, case, (ours - theirs).abs().max())
    ends = torch.tensor([0, 30, 30, 77], dtype=torch.int32, device="cuda")
    q, k, v = make(77, 8)[0], make(77, 2)[0], make(77, 2)[0]
    words = dict(cu_seqlens_q=ends, cu_seqlens_k=ends, max_seqlen_q=47, max_seqlen_k=47, causal=True)
    with named("wsk"):
        ours = attention(q, k, v, **words)
    with named("sdpa"):
        assert (ours - attention(q, k, v, **words)).abs().max() < 5e-3


def test_overrides_and_reasons():
    q, k, v = make(20, 4), make(20, 2), make(20, 2)
    _, (backend, why) = attention(q, k, v, dropout_p=0.1, return_why=True)
    assert backend in ("sdpa", "flash_attention_2") and (backend != "sdpa" or "dropout" in why)
    for name, words in (("nobody", {}), ("wsk", {"dropout_p": 0.1}), ("flash_attention_2", {"seqused_k": torch.ones(1, dtype=torch.int32, device="cuda")})):
        with named(name):
            try:
                attention(q, k, v, **words)
            except KernelError:
                continue
        raise AssertionError(name)


def test_pack_and_unpack():
    mask = torch.tensor([[1, 1, 0], [0, 0, 0], [0, 1, 1]], device="cuda")
    x = torch.randn(3, 3, 2, device="cuda", dtype=torch.float64, requires_grad=True)
    rows, indices, ends, longest = pack(x, mask)
    assert ends.tolist() == [0, 2, 2, 4] and ends.dtype == torch.int32 and longest == 2
    assert torch.equal(unpack(rows, indices, 3, 3), x * mask[..., None])
    assert torch.autograd.gradcheck(lambda x: unpack(pack(x, mask)[0] * 2, indices, 3, 3), (x,))


def test_health():
    report = health()
    assert report["ready"] and report["devices"][0]["head_dims"] == [64, 80, 96, 128], report
    return str({k: report[k] for k in ("attn", "batch", "ready")})


def test_call_overhead():
    """Printed, not judged: host microseconds of one call while the GPU has less to do."""
    q, k, v = make(32, 2), make(32, 2), make(32, 2)
    found = []
    for f in (lambda: attention(q, k, v, causal=True), lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), lambda: torch.empty_like(q)):
        with torch.no_grad():
            for _ in range(200):
                f()
            times = []
            for _ in range(20):
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(50):
                    f()
                times.append((time.perf_counter() - start) / 50 * 1e6)
        found.append(statistics.median(times))
    return "attention {:.1f} us, SDPA {:.1f} us, empty_like {:.1f} us".format(*found)
