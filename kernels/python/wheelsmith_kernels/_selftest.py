"""A short test and a short benchmark on the user's own card, without downloads."""

import torch

from ._attention_calls import parts_of
from ._choose import wsk_problem
from ._native import HEAD_DIMS
from ._attention_ops import backward_cuda, decode_cuda, forward_cuda
from ._reference import attend, gradients, ratio

NOTHING = (None, None, None, None, None)


CASES = (  # batch, queries, keys, heads, heads of k, left, right
    (2, 128, 128, 4, 4, -1, 0),
    (1, 113, 203, 4, 2, -1, 0),
    (1, 300, 300, 4, 1, 70, 0),
    (1, 65, 1000, 8, 1, -1, -1),
)


def within(errors, limits):
    """True if the errors of o and of its gradients are within the limits. NaN is not within a limit."""
    return errors[0] <= limits[0] and all(error <= limits[1] for error in errors[1:])


def test():
    """Prints a line for each case; 1 where one is wrong."""
    device = torch.device("cuda", torch.cuda.current_device())
    bad = 0
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: relative error against float64")
    print("  head_dim  type      batch queries keys heads window       o        dq       dk       dv")
    for head_dim in HEAD_DIMS:
        for dtype in (torch.float16, torch.bfloat16):
            problem = wsk_problem(device, dtype, head_dim)
            if problem:
                expected = dtype == torch.bfloat16 and torch.cuda.get_device_capability() < (8, 0)
                bad += not expected
                print(f"  {head_dim:8}  {str(dtype)[6:]:8}  {problem}")
                continue
            limits = (2e-3, 5e-3) if dtype == torch.float16 else (1e-2, 3e-2)
            for b, m, n, h, g, left, right in CASES:
                make = lambda r, c: torch.randn(b, r, c, head_dim, device=device, dtype=dtype)
                q, k, v, grad = make(m, h), make(n, g), make(n, g), make(m, h)
                words = NOTHING + (0, 0, head_dim**-0.5, left, right)
                o, lse = forward_cuda(q, k, v, *words)
                found = (o,) + backward_cuda(grad, q, k, v, o, lse, *words)
                what = head_dim**-0.5, left, right
                wanted = (attend(q, k, v, *what)[0],) + gradients(q, k, v, grad, *what)
                errors = [ratio(x, y) for x, y in zip(found, wanted)]
                wrong = not within(errors, limits)
                bad += wrong
                window = f"{left},{right}"
                print(
                    f"  {head_dim:8}  {str(dtype)[6:]:8}  {b:5} {m:7} {n:4} {h:2}:{g:<2} {window:>6}  "
                    + " ".join(f"{e:.1e}" for e in errors)
                    + ("  WRONG" if wrong else "")
                )
    print(f"{bad} wrong" if bad else "all right")
    return bool(bad)


def timed(call, count=10, inside=1):
    """Median seconds of one call."""
    call()
    times = []
    for _ in range(count):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        for _ in range(inside):
            call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3 / inside)
    return sorted(times)[count // 2]


def _sdpa_rates(q, k, v, grad, flop):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    x, y, z = (t.transpose(1, 2).detach().requires_grad_() for t in (q, k, v))
    attend = torch.nn.functional.scaled_dot_product_attention
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        with torch.no_grad():
            forward = timed(lambda: attend(x, y, z, is_causal=True))
        o = attend(x, y, z, is_causal=True)
        g = grad.transpose(1, 2)
        backward = timed(lambda: torch.autograd.grad(o, (x, y, z), g, retain_graph=True))
    return flop / forward / 1e12, 2.5 * flop / backward / 1e12


def bench():
    """Causal training shapes beside SDPA efficient, and decode."""
    device = torch.device("cuda", torch.cuda.current_device())
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, float16")
    print("FLOP = 4 b h s^2 d, half of it: causal; backward 2.5 x. Medians of 10.")
    print("  head_dim  tokens   forward  backward   SDPA efficient: forward  backward  TFLOP/s")
    for head_dim in HEAD_DIMS:
        b, s, h = 2, 4096, 16
        q, k, v, grad = (torch.randn(b, s, h, head_dim, device=device).half() for _ in range(4))
        flop = 2 * b * h * s * s * head_dim
        words = NOTHING + (0, 0, head_dim**-0.5, -1, 0)
        o, lse = forward_cuda(q, k, v, *words)
        forward = flop / timed(lambda: forward_cuda(q, k, v, *words)) / 1e12
        backward = 2.5 * flop / timed(lambda: backward_cuda(grad, q, k, v, o, lse, *words)) / 1e12
        other = _sdpa_rates(q, k, v, grad, flop)
        print(f"  {head_dim:8}  {s:6}  {forward:8.1f}  {backward:8.1f}  {other[0]:23.1f}  {other[1]:8.1f}")
    print("  decode: batch 16, 8192 keys, heads 32:4; GB/s of K and V")
    for head_dim in HEAD_DIMS:
        q = torch.randn(16, 1, 32, head_dim, device=device).half()
        k, v = (torch.randn(16, 8192, 4, head_dim, device=device).half() for _ in range(2))
        splits = parts_of(16, 32, 4, head_dim, 1, 8192, False, device)
        run = lambda: decode_cuda(q, k, v, None, None, head_dim**-0.5, -1, 0, splits)
        print(f"  {head_dim:8}  {2 * k.numel() * 2 / timed(run, 10, 10) / 1e9:8.0f}   ({splits} splits)")
    return 0
