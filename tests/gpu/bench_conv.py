"""Parts of bench.py: causal_conv1d beside the package of that name, where it imports, and beside a copy.

GB/s of what is read and written once: x and out; x, dout and dx; x, out and the state, read and written.
"""

import os

import torch

from wheelsmith_kernels import _conv, _conv_calls
from wheelsmith_kernels._selftest import timed

#: batch, channels, rows; and batch, channels of one step, width 4
SHAPES = ((8, 4096, 2048), (1, 8192, 16384), (32, 1536, 1000), (2, 4128, 1134))
STEPS = ((512, 5120), (64, 5120), (512, 1536))
if os.environ.get("WS_BENCH_SHORT"):
    SHAPES, STEPS = SHAPES[:2], STEPS[:1]


def upstream():
    try:
        import causal_conv1d_cuda
    except ImportError:
        return None
    return causal_conv1d_cuda


def rate(size, call):
    """In a graph: what Python takes for a call would be measured of the small shapes."""
    return size / in_graph(call, 5) / 1e9


def laid_out(batch, channels, rows, last):
    """float16 rows aligned to 16 bytes, as a slice of something larger."""
    if last:
        return torch.randn(batch, rows, channels + 64, device="cuda").half()[:, :, 64:].transpose(1, 2)
    return torch.randn(batch, channels + 64, rows, device="cuda").half()[:, 64:]


def copy_rate(size=1 << 29):
    x = torch.empty(size, dtype=torch.int8, device="cuda")
    y = torch.empty_like(x)
    return 2 * size / timed(lambda: y.copy_(x), 20, 5) / 1e9  # in a graph it would be a slower kind of copy


def both(row, name, ours, theirs, size, copy):
    mine = rate(size, ours)
    other = rate(size, theirs) if theirs else float("nan")
    row(*name, f"{mine:,.0f}", f"{mine / copy:.0%}", f"{other:,.0f}", f"{mine / other:.2f}")


def forward(row):
    """float16, width 4, bias, silu; share of a copy's GB/s; upstream's; times."""
    copy, module = copy_rate(), upstream()
    row("layout", "batch", "channels", "rows", f"GB/s (copy {copy:,.0f})", "share", "upstream", "times")
    for last in (False, True):
        for shape in SHAPES:
            x = laid_out(*shape, last)
            weight, bias = torch.randn(shape[1], 4, device="cuda").half(), torch.randn(shape[1], device="cuda").half()
            out = torch.empty_like(x)
            words = x, weight, bias, None, None, out, None, True
            theirs = module and (lambda: module.causal_conv1d_fwd(*words))
            name = "channel-last" if last else "channel-first", *shape
            both(row, name, lambda: _conv_calls.causal_conv1d_fwd(*words), theirs, 4 * x.numel(), copy)


def backward(row):
    """float16, width 4, bias, silu, with the gradients of weight and bias, theirs by atomics; share of a copy's GB/s."""
    copy, module = copy_rate(), upstream()
    row("layout", "batch", "channels", "rows", f"GB/s (copy {copy:,.0f})", "share", "upstream", "times")
    for last in (False, True):
        for shape in SHAPES:
            x = laid_out(*shape, last)
            weight, bias = torch.randn(shape[1], 4, device="cuda").half(), torch.randn(shape[1], device="cuda").half()
            dout, dx = torch.randn_like(x), torch.empty_like(x)

            def theirs():
                sums = torch.zeros(shape[1], 4, device="cuda"), torch.zeros(shape[1], device="cuda")
                module.causal_conv1d_bwd(x, weight, bias, dout, None, None, None, dx, *sums, None, True)

            def ours():
                _conv._backward_op(dout, x, weight, bias, None, None, None, True)

            name = "channel-last" if last else "channel-first", *shape
            both(row, name, ours, module and theirs, 6 * x.numel(), copy)


def step(row):
    """float16, width 4, bias, silu, one new row, in a graph of 20 steps: microseconds of each; share of a copy's GB/s."""
    copy, module = copy_rate(), upstream()
    row("state", "batch", "channels", "state_len", "µs", "GB/s", "share", "upstream µs", "times")
    for layout in ("rows contiguous", "channels contiguous"):
        for batch, channels in STEPS:
            for length in (3, 4):
                if layout == "rows contiguous":
                    state = torch.randn(batch, channels, length, device="cuda").half()
                else:
                    state = torch.randn(batch, length, channels, device="cuda").half().transpose(1, 2)
                x, out = (torch.randn(batch, channels, 1, device="cuda").half() for _ in range(2))
                weight, bias = torch.randn(channels, 4, device="cuda").half(), torch.randn(channels, device="cuda").half()
                words = x, state, weight, bias, out, True, None, None
                calls = [_conv_calls.causal_conv1d_update_into] + ([module.causal_conv1d_update] if module else [])
                times = [in_graph(lambda: call(*words)) for call in calls]
                size = 2 * (2 * x.numel() + 2 * state.numel())
                mine, other = times[0], times[1] if module else float("nan")
                gbs = size / mine / 1e9
                row(layout, batch, channels, length, mine * 1e6, f"{gbs:,.0f}", f"{gbs / copy:.0%}", other * 1e6, f"{other / mine:.2f}")


def in_graph(call, count=20):
    """Seconds of one call of `count` in a graph."""
    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return timed(graph.replay, 20, 1) / count
