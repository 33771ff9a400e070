"""Timings of the scan, the state update and Mamba models on the GPU of this host: bench_mamba.py [PART …].

WS_UPSTREAM names a folder into which upstream's own mamba_ssm wheel was unpacked: its kernels are timed in the same run.
The models need mamba_ssm and causal_conv1d. Medians of 10.
"""

import importlib.util
import os
import pathlib
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "kernels/python")]

import torch  # noqa: E402

from wheelsmith_kernels import _attention_calls, _scan  # noqa: E402
from wheelsmith_kernels._selftest import timed  # noqa: E402

PARTS = {}
HALF, FLOAT = torch.float16, torch.float32


def part(function):
    PARTS[function.__name__] = function
    return function


def upstream(name):
    """A module of WS_UPSTREAM by its path there, whatever of that name is installed."""
    folder = os.environ.get("WS_UPSTREAM")
    found = sorted(pathlib.Path(folder).glob(name)) if folder else ()
    if not found:
        return None
    spec = importlib.util.spec_from_file_location(found[0].name.split(".")[0], found[0])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(what, ours, theirs=None, note=""):
    beside = f"{theirs * 1e6:10.1f}  {theirs / ours:5.2f} x" if theirs else ""
    print(f"  {what:<44} {ours * 1e6:10.1f}  {beside}  {note}", flush=True)


def graphed(call, count=20):
    """Seconds of one call among `count` in a CUDA graph."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return timed(graph.replay, 10, 5) / count


@part
def scan():
    """Forward and backward, float16, in a CUDA graph: microseconds, upstream's, ratio; of a call from Python, and of theirs."""
    other = upstream("selective_scan_cuda*.so")
    for b, d, length, with_z in (
        (8, 4096, 2048, False), (8, 4096, 2048, True), (64, 1536, 256, True), (4, 1536, 1000, True),
        (2, 2048, 512, True), (1, 4096, 2048, True), (1, 1536, 2048, True), (1, 512, 16384, True),
    ):  # fmt: skip
        half = lambda *s: torch.randn(*s, device="cuda").half()
        delta = (torch.rand(b, d, length, device="cuda") * 0.5).half()
        A, D, bias = -torch.rand(d, 16, device="cuda"), torch.randn(d, device="cuda"), torch.rand(d, device="cuda")
        z = half(b, d, length) if with_z else None
        inputs = half(b, d, length), delta, A, half(b, 1, 16, length), half(b, 1, 16, length), D, z, bias
        grad = torch.randn_like(delta)
        times = []
        for module in (_scan, other):
            if module is not None:
                out, x, *_ = module.fwd(*inputs, True)
                calls = lambda: module.fwd(*inputs, True), lambda: module.bwd(*inputs, grad, x, out, None, True, False)
                times.append([(graphed(call, 5), timed(call, 10, 5)) for call in calls])
        for i, name in enumerate(("forward", "backward")):
            called = " / ".join(f"{of[i][1] * 1e6:.1f}" for of in times)
            row(f"{name} {b} x {d} x {length}{' z' if with_z else ''}", times[0][i][0], times[1][i][0] if other else None, called)


@part
def update():
    """The state update, 20 in a CUDA graph: microseconds, Triton's, ratio, GB/s of state."""
    other = None
    try:
        from mamba_ssm.ops.triton import selective_state_update as module

        other = getattr(module, "_selective_state_update_triton", module.selective_state_update)
    except ImportError as error:
        print("  no mamba_ssm:", error)
    half = lambda *s: torch.randn(*s, device="cuda").half()
    for b, d, kind in ((1, 1536, FLOAT), (1, 5120, HALF), (64, 1536, FLOAT), (64, 5120, HALF), (512, 5120, HALF), (512, 5120, FLOAT)):
        state, weights = half(b, d, 16).to(kind), (-torch.rand(d, 16, device="cuda") - 1, half(b, 16), half(b, 16))
        rest = dict(D=torch.randn(d, device="cuda"), z=half(b, d), dt_bias=torch.rand(d, device="cuda") - 4, dt_softplus=True)
        x, dt = half(b, d), half(b, d)
        time = lambda f: graphed(lambda: f(state, x, dt, *weights, **rest))
        ours = time(_scan.selective_state_update)
        rate = 2 * state.numel() * state.element_size() / ours / 1e9
        row(f"{b} x {d}, {str(kind)[6:]} state", ours, time(other) if other else None, f"{rate:,.0f}")
    for b, heads in ((64, 64), (8, 128)):
        wide = lambda t, *more: t.view(*t.shape, *[1] * len(more)).expand(*t.shape, *more)
        state, x, dt = half(b, heads, 64, 128), half(b, heads, 64), wide(half(b, heads), 64)
        A, D = wide(-torch.rand(heads, device="cuda") - 1, 64, 128), wide(torch.randn(heads, device="cuda"), 64)
        bias = wide(torch.rand(heads, device="cuda") - 4, 64)
        B, C = half(b, 1, 128), half(b, 1, 128)
        time = lambda f: graphed(lambda: f(state, x, dt, A, B, C, D=D, dt_bias=bias, dt_softplus=True))
        ours = time(_scan.selective_state_update)
        rate = 2 * state.numel() * 2 / ours / 1e9
        row(f"{b} x {heads} heads x 64, 128 states", ours, time(other) if other else None, f"{rate:,.0f}")


def with_functions(module, functions, call):
    kept = {n: getattr(module, n) for n in functions}
    for n, f in functions.items():
        setattr(module, n, f)
    try:
        return call()
    finally:
        for n, f in kept.items():
            setattr(module, n, f)


@part
def model():
    """Mamba of transformers, 24 random layers of 768, float16, one sequence: microseconds, the other's, ratio."""
    import transformers
    from mamba_ssm.ops.triton import selective_state_update as triton_module
    from test_mamba import decorated, innermost
    from transformers.models.mamba import modeling_mamba as module

    config = transformers.MambaConfig(vocab_size=50280, hidden_size=768, num_hidden_layers=24, state_size=16)
    torch.manual_seed(0)
    net = transformers.MambaForCausalLM(config).to("cuda", HALF).eval()
    ids = torch.randint(3, 50000, (1, 2048), device="cuda")
    slow = {n: innermost(f) for n, f in decorated(module).items()}
    with torch.no_grad():
        prefill = lambda: net(input_ids=ids, use_cache=True)
        fast = timed(prefill, 10)
        row("prefill of 2,048 tokens; torch's own path", fast, with_functions(module, slow, lambda: timed(prefill, 1)))
        token = ids[:, :1].clone()

        def step():
            cache = getattr(prefill(), "cache_params", None)
            one = lambda: net(input_ids=token, cache_params=cache, use_cache=True)
            one()
            before = dict(_attention_calls.calls)
            one()
            counted = {n: c - before[n] for n, c in _attention_calls.calls.items() if c != before[n]}
            return graphed(one, 1), counted

        ours, counted = step()
        names = [n for n in slow if "state_update" in n]
        triton = getattr(triton_module, "_selective_state_update_triton")
        with_triton = lambda: with_functions(module, {n: triton for n in names}, step)[0]
        row("a decode step in a CUDA graph; Triton's update", ours, with_triton(), f"a step calls {counted}")
        convolution = upstream("causal_conv1d_cuda*.so")
        if convolution:
            from causal_conv1d import cpp_functions

            theirs = with_functions(cpp_functions, {"causal_conv1d_cuda": convolution}, with_triton)
            row("the same; and upstream's convolution", ours, theirs)


def main():
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
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
