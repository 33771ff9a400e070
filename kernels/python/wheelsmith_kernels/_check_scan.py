"""The cases of `check` and `health` for mamba_ssm: the scan with its gradients, and steps, against float64."""

import dataclasses

DTYPES = ("float16", "bfloat16", "float32")


@dataclasses.dataclass(frozen=True)
class Case:
    dtype: str
    batch: int
    channels: int
    rows: int  # time steps
    states: int
    kind: str  # "plain", "groups", "step" or "heads"

    def name(self):
        return f"{self.dtype} {self.kind} {self.batch}x{self.channels}x{self.rows} states {self.states}"


#: Odd lengths, channels of Mamba models, groups, decode.
SHAPES = (
    (2, 64, 151, 16, "plain"),
    (1, 1536, 333, 16, "plain"),
    (1, 40, 2100, 16, "plain"),
    (2, 96, 130, 8, "groups"),
    (8, 1536, 1, 16, "step"),
    (3, 64, 1, 128, "heads"),
)


def all_cases():
    return [Case(dtype, *shape) for dtype in DTYPES for shape in SHAPES]


def _make(case, device):
    import torch

    generator = torch.Generator(device).manual_seed(0)
    make = lambda *shape: torch.randn(shape, device=device, generator=generator)
    positive = lambda *shape: torch.rand(shape, device=device, generator=generator)
    return make, positive, getattr(torch, case.dtype)


def _step(case, device, function):
    """[(name, found, wanted)] of one step of the state."""
    from ._scan_reference import update

    make, positive, dtype = _make(case, device)
    heads, dim = (4, case.channels // 4) if case.kind == "heads" else (1, case.channels)
    rows, weights = (case.batch, heads, dim), (heads, dim)
    state = make(case.batch, heads, dim, case.states).to(dtype)
    x, dt, z = (make(*rows).to(dtype) for _ in range(3))
    A, (B, C) = -positive(*weights, case.states) - 1, (make(case.batch, 1, case.states).to(dtype) for _ in range(2))
    D, bias = make(*weights), positive(*weights) - 4
    wanted = update(*(t.double() for t in (state, x, dt, A, B, C, D, z, bias)), True)
    if case.kind == "step":
        one = lambda t, at: t.squeeze(at)
        arguments = (one(state, 1), one(x, 1), one(dt, 1), one(A, 0), one(B, 1), one(C, 1), one(D, 0), one(z, 1), one(bias, 0))
        out = function(*arguments, dt_softplus=True).unsqueeze(1)
    else:
        out = function(state, x, dt, A, B, C, D, z, bias, dt_softplus=True)
    return [("out", out, wanted[0]), ("state", state, wanted[1])]


def _whole(case, device, function):
    """[(name, found, wanted)] of forward and backward."""
    import torch

    from ._scan_reference import gradients, scan

    make, positive, dtype = _make(case, device)
    rows, groups = (case.batch, case.channels, case.rows), 2 if case.kind == "groups" else 1
    matrix = lambda: make(case.batch, groups, case.states, case.rows).to(dtype)
    inputs = {
        "u": make(*rows).to(dtype),
        "delta": (positive(*rows) * 0.5).to(dtype),
        "A": -positive(case.channels, case.states) - 0.1,
        "B": matrix(),
        "C": matrix(),
        "D": make(case.channels),
        "z": make(*rows).to(dtype),
        "delta_bias": positive(case.channels) * 0.5,
    }
    leaves = {n: t.requires_grad_() for n, t in inputs.items()}
    out, state = function(*leaves.values(), delta_softplus=True, return_last_state=True)
    grad = make(*rows).to(dtype)
    got = torch.autograd.grad(out, list(leaves.values()), grad)
    with torch.no_grad():
        wanted = scan(*(t.double() for t in leaves.values()), True)
    true = gradients(grad, list(leaves.values()), True)
    pairs = [("out", out, wanted[0]), ("state", state, wanted[1])]
    pairs += zip(("d" + n for n in leaves), got, true)
    return [(n, a.detach(), b.detach()) for n, a, b in pairs]


def pairs(case, device, scan, update):
    """[(name, found, wanted)] of a case, by selective_scan_fn and selective_state_update, or what is called so."""
    return _step(case, device, update) if case.kind in ("step", "heads") else _whole(case, device, scan)


def of_package(case, device):
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn
    from mamba_ssm.ops.triton.selective_state_update import selective_state_update

    return pairs(case, device, selective_scan_fn, selective_state_update)


def of_here(case, device):
    from ._scan import selective_scan_fn, selective_state_update

    return pairs(case, device, selective_scan_fn, selective_state_update)


def _inner(device):
    """mamba_inner_fn runs: its parts are compared by the other cases."""
    import torch

    from ._mamba_inner import mamba_inner_fn

    make = lambda *shape: torch.randn(shape, device=device).mul(0.1).half()
    out = mamba_inner_fn(
        make(1, 128, 20), make(64, 1, 4), make(64), make(36, 64), make(64, 4), make(32, 64), None,
        -torch.rand(64, 16, device=device), D=torch.randn(64, device=device), delta_bias=torch.rand(64, device=device),
    )  # fmt: skip
    return bool(torch.isfinite(out).all())


def quick(device):
    """{name: f}: a small case of each function, for `health`; f() is whether it was right, or raises."""
    from ._reference import ratio

    right = lambda case: all(ratio(a, b) <= 5e-3 for _, a, b in of_here(case, device))
    return {
        "selective_scan_fn": lambda: right(Case("float16", 1, 64, 37, 16, "plain")),
        "selective_state_update": lambda: right(Case("float16", 2, 64, 1, 16, "step")),
        "mamba_inner_fn": lambda: _inner(device),
    }
