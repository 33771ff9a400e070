"""Timings on the GPU of this host, each beside what else computes it: bench.py [PART …].

Medians of the same run. FLOP = 4 b h s^2 d, half of it where causal, backward 2.5 x. Which library is
timed is said first; WS_PTX_ONLY as in run.py.
"""

import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "kernels/python")]

import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

from wheelsmith_kernels import _attention_ops, attention  # noqa: E402
from wheelsmith_kernels._attention_calls import parts_of  # noqa: E402
from wheelsmith_kernels._selftest import timed  # noqa: E402

sdpa = torch.nn.functional.scaled_dot_product_attention
EFFICIENT, FLASH, MATH = SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.MATH
NOTHING = (None, None, None, None, None, 0, 0)
PARTS = {}

#: head_dim and tokens; head_dim, batch and tokens; heads, of k, head_dim and batch. WS_BENCH_SHORT: one or two of each.
TRAINING = ((64, 8192), (80, 8192), (96, 8192), (128, 4096))
PREFILL = tuple((d, b, s) for d in (64, 80, 96, 128) for b, s in ((4, 2048), (1, 8192)))
DECODE = (64, 80, 96, 128)
NSA = ((32, 4, 64, 8), (32, 4, 80, 8), (32, 4, 128, 4))
if os.environ.get("WS_BENCH_SHORT"):
    TRAINING, PREFILL, DECODE, NSA = TRAINING[1:2], PREFILL[2:4], DECODE[3:], NSA[1:2]


def part(function):
    PARTS[function.__name__] = function
    return function


def row(*cells):
    print("| " + " | ".join(f"{c:.1f}" if isinstance(c, float) else str(c) for c in cells) + " |", flush=True)


def half(*shape):
    return torch.randn(*shape, device="cuda").half()


def with_backend(backend, call):
    """Seconds of `call` where that backend takes it; NaN where it does not."""
    try:
        with sdpa_kernel(backend):
            return timed(call)
    except RuntimeError:
        return float("nan")


@part
def rate():
    """TFLOP/s of independent m16n8k8 products, by the driver: rate.cu as PTX of compute_75."""
    driver, at = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "rate.ptx")
        subprocess.run(["nvcc", "-ptx", "-arch=compute_75", "-o", ptx, str(HERE / "rate.cu")], check=True)
        text = pathlib.Path(ptx).read_bytes() + b"\0"
    out, module, function = torch.zeros(1 << 20, device="cuda"), at(), at()
    assert not driver.cuModuleLoadData(ctypes.byref(module), text)
    assert not driver.cuModuleGetFunction(ctypes.byref(function), module, b"rate")
    blocks, threads, turns = torch.cuda.get_device_properties(0).multi_processor_count * 4, 256, 4096
    values = at(out.data_ptr()), ctypes.c_int(turns)
    arguments = (at * 2)(*(ctypes.cast(ctypes.pointer(v), at) for v in values))
    stream = at(torch.cuda.current_stream().cuda_stream)
    run = lambda: driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, None)
    assert not run()
    row("m16n8k8 TFLOP/s", blocks * threads / 32 * turns * 16 * 2 * 16 * 8 * 8 / timed(run) / 1e12)


@part
def training():
    """Causal, batch 2, 32 heads: TFLOP/s forward / backward."""
    row("head_dim", "tokens", "ours", "", "SDPA efficient", "", "SDPA flash", "")
    for d, s in TRAINING:
        q, k, v, grad = (half(2, s, 32, d) for _ in range(4))
        flop = 2 * 2 * 32 * s * s * d
        words = NOTHING + (d**-0.5, -1, 0)
        o, lse = _attention_ops.forward_cuda(q, k, v, *words)
        found = [flop / timed(lambda: _attention_ops.forward_cuda(q, k, v, *words)) / 1e12]
        found += [2.5 * flop / timed(lambda: _attention_ops.backward_cuda(grad, q, k, v, o, lse, *words)) / 1e12]
        x, y, z = (t.transpose(1, 2).detach().requires_grad_() for t in (q, k, v))
        for backend in (EFFICIENT, FLASH):
            with torch.no_grad():
                found.append(flop / with_backend(backend, lambda: sdpa(x, y, z, is_causal=True)) / 1e12)
            with sdpa_kernel(backend):
                p = sdpa(x, y, z, is_causal=True)
            again = lambda: torch.autograd.grad(p, (x, y, z), grad.transpose(1, 2), retain_graph=True)
            found.append(2.5 * flop / timed(again) / 1e12)
        row(d, s, *found)


@part
def prefill():
    """GQA 32:4, causal, forward: milliseconds beside what SDPA has without expanding K and V."""
    row("head_dim", "batch", "tokens", "ours", "MATH", "times", "efficient, K and V expanded", "flash")
    for d, b, s in PREFILL:
        q, k, v = half(b, s, 32, d), half(b, s, 4, d), half(b, s, 4, d)
        x, y, z = (t.transpose(1, 2) for t in (q, k, v))
        wide = lambda: sdpa(x, *(t.repeat_interleave(8, 1) for t in (y, z)), is_causal=True)
        native = lambda: sdpa(x, y, z, is_causal=True, enable_gqa=True)
        with torch.no_grad():
            ours = timed(lambda: _attention_ops.forward_cuda(q, k, v, *NOTHING, d**-0.5, -1, 0)) * 1e3
            math = with_backend(MATH, native) * 1e3
            rest = [with_backend(EFFICIENT, wide) * 1e3, with_backend(FLASH, native) * 1e3]
        row(d, b, s, f"{ours:.2f}", f"{math:.2f}", math / ours, *(f"{t:.2f}" for t in rest))
        torch.cuda.empty_cache()


@part
def memory():
    """GQA 8:1, bytes of each query row and head beyond tensors that are given or results."""
    b, s, h, g, d = 2, 8192, 32, 4, 80
    q, k, v, grad = half(b, s, h, d), half(b, s, g, d), half(b, s, g, d), half(b, s, h, d)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    o, lse = _attention_ops.forward_cuda(q, k, v, *NOTHING, 0.1, -1, 0)
    grads = _attention_ops.backward_cuda(grad, q, k, v, o, lse, *NOTHING, 0.1, -1, 0)
    results = sum(t.numel() * t.element_size() for t in (o, lse, *grads))
    row("forward and backward", (torch.cuda.max_memory_allocated() - before - results) / (b * s * h), "bytes a row")


@part
def decode():
    """Batch 16, 8192 keys, heads 32:4: GB/s of K and V as they are stored; ten calls between two events."""
    row("head_dim", "ours", "splits", "SDPA flash", "efficient, K and V expanded", "MATH")
    for d in DECODE:
        q, k, v = half(16, 1, 32, d), half(16, 8192, 4, d), half(16, 8192, 4, d)
        x, y, z = (t.transpose(1, 2) for t in (q, k, v))
        splits = parts_of(16, 32, 4, d, 1, 8192, False, q.device)
        wide = lambda: sdpa(x, *(t.repeat_interleave(8, 1) for t in (y, z)))
        native = lambda: sdpa(x, y, z, enable_gqa=True)
        with torch.no_grad():
            ours = timed(lambda: _attention_ops.decode_cuda(q, k, v, None, None, d**-0.5, -1, 0, splits), 10, 10)
            others = [with_backend(b, f) for b, f in ((FLASH, native), (EFFICIENT, wide), (MATH, native))]
        size = 2 * k.numel() * 2 / 1e9
        row(d, size / ours, splits, *(size / t for t in others))


def host_time(call, inside=50, count=20):
    """Microseconds of the host for one call: the median of `count` runs of `inside` calls."""
    for _ in range(100):
        call()
    times = []
    for _ in range(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(inside):
            call()
        times.append((time.perf_counter() - start) / inside * 1e6)
    return statistics.median(times)


@part
def overhead():
    """Microseconds of the host for one call, Python included, while the GPU has less to do."""
    os.environ["WHEELSMITH_ATTENTION"] = "wsk"
    q, k, v = half(1, 32, 2, 80), half(1, 32, 2, 80), half(1, 32, 2, 80)
    one, keys, values = half(1, 1, 8, 80), half(1, 1024, 2, 80), half(1, 1024, 2, 80)
    x, y, z = (t.transpose(1, 2) for t in (q, k, v))
    lengths = iter(range(1, 1 << 30))
    with torch.no_grad():
        row("attention", host_time(lambda: attention(q, k, v, causal=True)))
        row("the same by SDPA", host_time(lambda: sdpa(x, y, z, is_causal=True)))
        row("the same by SDPA, transposed in the call",
            host_time(lambda: sdpa(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)))
        row("attention of one query, split keys", host_time(lambda: attention(one, keys, values, causal=True)))

        def grown():
            n = 256 + next(lengths) % 768
            return attention(one, keys[:, :n], values[:, :n], causal=True)

        def new():
            grown.__globals__["_attention"]._ready.clear()
            grown.__globals__["_attention_calls"]._plans.clear()
            return grown()

        row("attention of keys that grow, seen before", host_time(grown, 800, 5))
        row("attention of keys that grow, new each time", host_time(new))
        row("empty_like", host_time(lambda: torch.empty_like(q)))
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    of_sdpa = [t.transpose(1, 2) for t in leaves]
    row("attention with gradients, forward and backward",
        host_time(lambda: torch.autograd.grad(attention(*leaves, causal=True), leaves, q)))
    row("the same by SDPA",
        host_time(lambda: torch.autograd.grad(sdpa(*of_sdpa, is_causal=True), of_sdpa, x)))
    del os.environ["WHEELSMITH_ATTENTION"]


def busy(step):
    """Share of the time that the GPU ran a kernel: kernels of one profiled step, over a step's time without."""
    from torch.profiler import ProfilerActivity, profile

    count = 10
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    wall = (time.perf_counter() - start) / count
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
    spans = sorted(
        (e.time_range.start, e.time_range.end) for e in found.events() if e.device_type.name == "CUDA"
    )
    total, end = 0.0, float("-inf")
    for a, b in spans:
        total += max(0.0, b - max(a, end))
        end = max(end, b)
    return wall, total / 3 * 1e-6 / wall


@part
def nsa():
    """An NSA attention block, 2,048 tokens, one step of training: forward, backward, AdamW; float16 autocast."""
    from nsa import Attention

    os.environ["WHEELSMITH_ATTENTION"] = "wsk"
    row("heads", "head_dim", "batch", "", "tokens/s", "GPU busy", "times", "peak MB")
    for heads, heads_k, d, batch in NSA:
        rates = []
        for native in (False, True):
            torch.manual_seed(0)
            block = Attention(2048, heads, heads_k, d, native=native).cuda()
            optimizer = torch.optim.AdamW(block.parameters(), lr=1e-4, fused=True)
            x, wanted = torch.randn(batch, 2048, 2048, device="cuda"), torch.randn(batch, 2048, 2048, device="cuda")

            def step():
                with torch.autocast("cuda", torch.float16):
                    loss = torch.nn.functional.mse_loss(block(x).float(), wanted) * 1024
                loss.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

            torch.cuda.reset_peak_memory_stats()
            wall, share = busy(step)
            rates.append(batch * 2048 / wall)
            row(f"{heads}:{heads_k}", d, batch, "ours" if native else "expanded, SDPA", f"{rates[-1]:,.0f}",
                f"{share:.0%}", f"{rates[-1] / rates[0]:.2f}", torch.cuda.max_memory_allocated() // 1000000)
            del block, optimizer, step
            torch.cuda.empty_cache()
    del os.environ["WHEELSMITH_ATTENTION"]


@part
def conv():
    """causal_conv1d beside upstream's kernels and a copy: forward, backward, one step."""
    import bench_conv

    for of in (bench_conv.forward, bench_conv.backward, bench_conv.step):
        print(f"{of.__name__}: {of.__doc__}")
        of(row)


def main():
    from wheelsmith_kernels import _attention, _attention_calls

    globals().update(_attention_calls=_attention_calls, _attention=_attention)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}; library:",
          os.environ.get("WHEELSMITH_KERNELS_LIBRARY", "the package's"))
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
