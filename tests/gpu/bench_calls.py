"""How long calls take that fell off a cliff once: bench_calls.py [PART …]. Medians of one run, in CUDA graphs except in
rows named host.

WS_UPSTREAM as in bench_mamba.py.
"""

import os
import pathlib
import sys
import traceback
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "kernels/python")]

import torch  # noqa: E402
from bench import EFFICIENT, MATH, NOTHING, half, host_time, sdpa, timed  # noqa: E402
from bench_mamba import graphed  # noqa: E402
from torch.nn.attention import sdpa_kernel  # noqa: E402

from wheelsmith_kernels import _attention_ops, _transformers, attention  # noqa: E402
from wheelsmith_kernels import causal_conv1d_fn, selective_scan_fn, selective_state_update  # noqa: E402

PARTS = {}


def part(function):
    PARTS[function.__name__] = function
    return function


def row(*cells):
    print("| " + " | ".join(f"{c:.2f}" if isinstance(c, float) else str(c) for c in cells) + " |", flush=True)


def microseconds(call, count=20):
    with torch.no_grad():
        return graphed(call, count) * 1e6


@part
def decode():
    """8,192 keys, batch 1, one head of k: µs by rows x group, and times of 16 rows."""
    row("head_dim", "rows x group", "µs", "times 16 rows")
    for d in (64, 80, 128, 256):
        k, v = half(1, 8192, 1, d), half(1, 8192, 1, d)
        base = None
        for rows, heads in ((1, 16), (1, 32), (1, 48), (5, 4), (1, 64), (4, 16)):
            q = half(1, rows, heads, d)
            found = microseconds(lambda: attention(q, k, v, causal=True))
            base = base or found
            row(d, f"{rows} x {heads}", found, found / base)


@part
def chunked():
    """GQA 32:8 and 32:32, 32,768 keys, causal: rate of each query of 64 (and others), as share of that of 2,048 queries."""
    row("head_dim", "heads", "queries", "µs", "share")
    for d, heads_k in ((64, 8), (128, 8), (128, 32), (256, 8)):
        k, v = half(1, 32768, heads_k, d), half(1, 32768, heads_k, d)
        times = {}
        for rows in (2048, 512, 128, 64, 16):
            q = half(1, rows, 32, d)
            times[rows] = microseconds(lambda: attention(q, k, v, causal=True), 3)
            row(d, f"32:{heads_k}", rows, times[rows], times[2048] / 2048 / (times[rows] / rows))


@part
def padded():
    """A step of 8 sequences through transformers' interface, 4,096 keys, 32:8: dense, and left-padded."""
    row("head_dim", "kind", "µs", "times dense", "host µs")
    for d in (64, 128):
        module = types.SimpleNamespace(is_causal=True, config=None, parameters=lambda recurse: iter(()))
        q, k, v = half(8, 32, 1, d), half(8, 8, 4096, d), half(8, 8, 4096, d)
        mask = torch.ones(8, 4096, dtype=torch.bool, device="cuda")
        for b in range(8):
            mask[b, : 200 * b] = False
        dense = None
        for name, m in (("dense", None), ("left-padded", mask)):
            call = lambda: _transformers.forward(module, q, k, v, m)
            found = microseconds(call)
            dense = dense or found
            with torch.no_grad():
                row(d, name, found, found / dense, host_time(call))


@part
def fallback():
    """float32, GQA 32:4, 4 x 1,024, causal: ms by SDPA as we call it, by efficient on K and V that are expanded already, by MATH."""
    os.environ["WHEELSMITH_ATTENTION"] = "sdpa"
    row("head_dim", "type", "ours", "efficient", "times", "MATH")
    for d, dtype in ((64, torch.float32), (128, torch.float32), (256, torch.float32)):
        q, k, v = (half(4, 1024, h, d).to(dtype) for h in (32, 4, 4))
        x, y, z = (t.transpose(1, 2) for t in (q, k, v))
        wide = [t.repeat_interleave(8, 1) for t in (y, z)]
        ours = microseconds(lambda: attention(q, k, v, causal=True), 3)
        with sdpa_kernel(EFFICIENT):
            best = microseconds(lambda: sdpa(x, *wide, is_causal=True), 3)
        with sdpa_kernel(MATH):
            math = microseconds(lambda: sdpa(x, y, z, is_causal=True, enable_gqa=True), 3)
        row(d, str(dtype)[6:], ours / 1e3, best / 1e3, ours / best, math / 1e3)
    del os.environ["WHEELSMITH_ATTENTION"]


@part
def long_rows():
    """Causal, batch 2, 16 heads, 4,096 tokens: TFLOP/s forward / backward, and times of SDPA efficient."""
    row("head_dim", "ours", "", "efficient", "", "times", "")
    for d in (32, 64, 80, 96, 112, 128, 160, 256):
        q, k, v, grad = (half(2, 4096, 16, d) for _ in range(4))
        flop = 2 * 2 * 16 * 4096 * 4096 * d
        words = NOTHING + (d**-0.5, -1, 0)
        o, lse = _attention_ops.forward_cuda(q, k, v, *words)
        found = [flop / timed(lambda: _attention_ops.forward_cuda(q, k, v, *words)) / 1e12]
        found += [2.5 * flop / timed(lambda: _attention_ops.backward_cuda(grad, q, k, v, o, lse, *words)) / 1e12]
        x, y, z = (t.transpose(1, 2).detach().requires_grad_() for t in (q, k, v))
        with sdpa_kernel(EFFICIENT):
            with torch.no_grad():
                found.append(flop / timed(lambda: sdpa(x, y, z, is_causal=True)) / 1e12)
            p = sdpa(x, y, z, is_causal=True)
        again = lambda: torch.autograd.grad(p, (x, y, z), grad.transpose(1, 2), retain_graph=True)
        found.append(2.5 * flop / timed(again) / 1e12)
        row(d, *found, found[0] / found[2], found[1] / found[3])


@part
def host():
    """Microseconds of the host for one call without gradients."""
    os.environ["WHEELSMITH_ATTENTION"] = "wsk"
    q, k, v = half(1, 32, 2, 80), half(1, 32, 2, 80), half(1, 32, 2, 80)
    x, weight = torch.randn(1, 64, 32, device="cuda").half(), torch.randn(64, 4, device="cuda").half()
    state, token, dt = torch.randn(1, 64, 16, device="cuda"), half(1, 64), half(1, 64)
    A, B, D = -torch.rand(64, 16, device="cuda"), half(1, 16), torch.randn(64, device="cuda")
    u, delta, Bs = half(1, 64, 32), half(1, 64, 32), half(1, 16, 32)
    conv_state = torch.zeros(1, 64, 4, device="cuda").half()
    from wheelsmith_kernels import causal_conv1d_update

    with torch.no_grad():
        row("attention", host_time(lambda: attention(q, k, v, causal=True)))
        row("convolution", host_time(lambda: causal_conv1d_fn(x, weight, activation="silu")))
        row("convolution, one step", host_time(lambda: causal_conv1d_update(token, conv_state, weight, activation="silu")))
        row("state update", host_time(lambda: selective_state_update(state, token, dt, A, B, B, D, dt_softplus=True)))
        row("scan", host_time(lambda: selective_scan_fn(u, delta, A, Bs, Bs, D, delta_softplus=True)))
        row("empty_like", host_time(lambda: torch.empty_like(q)))
    del os.environ["WHEELSMITH_ATTENTION"]


def main():
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; library:", os.environ.get("WHEELSMITH_KERNELS_LIBRARY", "the package's"))
    failed = 0
    for name in sys.argv[1:] or PARTS:
        print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
        try:
            PARTS[name]()
        except Exception:  # the other parts are worth their time
            failed = 1
            traceback.print_exc()
    return failed


if __name__ == "__main__":
    sys.exit(main())
