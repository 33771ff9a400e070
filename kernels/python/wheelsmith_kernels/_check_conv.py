"""The cases of `check` and `health` for causal_conv1d: forward, backward and steps against float64."""

import dataclasses

DTYPES = ("float16", "bfloat16", "float32")


@dataclasses.dataclass(frozen=True)
class Case:
    dtype: str
    batch: int
    channels: int
    rows: int
    width: int
    layout: str  # "first": rows are contiguous; "last": channels are
    kind: str  # "plain", "states", "sequences", "step" or "circle"
    silu: bool = True

    def name(self):
        shape = f"{self.batch}x{self.channels}x{self.rows}"
        return f"{self.dtype} {self.kind} {shape} width {self.width} channel-{self.layout}"


#: Odd lengths, channels of Mamba models, states, packed sequences, decode.
SHAPES = (
    (2, 64, 151, 4, "first", "plain"),
    (1, 96, 2049, 2, "first", "plain"),
    (1, 40, 5000, 4, "first", "plain"),
    (2, 64, 130, 3, "last", "plain", False),
    (1, 1536, 333, 4, "last", "plain"),
    (2, 64, 2, 4, "last", "states"),
    (3, 136, 257, 4, "last", "states"),
    (2, 64, 372, 4, "last", "sequences"),
    (8, 1536, 1, 4, "first", "step"),
    (8, 1536, 1, 4, "last", "step"),
    (3, 64, 5, 3, "last", "circle"),
)


def all_cases():
    return [Case(dtype, *shape) for dtype in DTYPES for shape in SHAPES]


def _tensors(case, device):
    import torch

    generator = torch.Generator(device).manual_seed(0)
    dtype = getattr(torch, case.dtype)
    make = lambda *shape: torch.randn(shape, device=device, generator=generator)
    plane = lambda rows: (
        make(case.batch, case.channels, rows).to(dtype)
        if case.layout == "first"
        else make(case.batch, rows, case.channels).to(dtype).transpose(1, 2)
    )
    return plane, make(case.channels, case.width), make(case.channels)


def _step(case, device, update):
    """[(name, found, wanted)] of a state of `width` rows that takes in new ones."""
    import torch

    from ._reference import convolve_step

    plane, weight, bias = _tensors(case, device)
    x, state = plane(case.rows), plane(case.width)
    before = state.clone()
    start = None
    if case.kind == "circle":
        start = torch.arange(7, 7 + case.batch, device=device, dtype=torch.int32)
    words = {"activation": "silu" if case.silu else None, "cache_seqlens": start}
    out = update(x, state, weight, bias, **words)
    wanted = [
        convolve_step(x[i], before[i], weight, bias, case.silu, None if start is None else int(start[i]))
        for i in range(case.batch)
    ]
    return [("out", out, torch.stack([w[0] for w in wanted])), ("state", state, torch.stack([w[1] for w in wanted]))]


def _whole(case, device, function):
    """[(name, found, wanted)] of forward and backward."""
    import torch

    from ._reference import convolve

    plane, weight, bias = _tensors(case, device)
    x, grad, initial, seq_idx = plane(case.rows), plane(case.rows), None, None
    states = case.kind == "states"
    if states:
        initial = plane(case.width - 1)
    if case.kind == "sequences":
        seq_idx = torch.arange(case.rows, device=device, dtype=torch.int32).div(100, rounding_mode="floor")
        seq_idx = torch.where(seq_idx > 2, -1, seq_idx)[None].repeat(case.batch, 1).int()
    leaves = {"x": x, "weight": weight, "bias": bias, "initial": initial}
    leaves = {n: t.detach().requires_grad_() for n, t in leaves.items() if t is not None}
    exact = {n: t.detach().double().requires_grad_() for n, t in leaves.items()}
    found = function(
        leaves["x"],
        leaves["weight"],
        leaves["bias"],
        seq_idx=seq_idx,
        initial_states=leaves.get("initial"),
        return_final_states=states,
        activation="silu" if case.silu else None,
    )
    found = list(found) if states else [found]
    wanted = convolve(exact["x"], exact["weight"], exact["bias"], exact.get("initial"), seq_idx, case.silu)
    wanted = list(wanted)[: len(found)]
    grads = [grad] + [torch.ones_like(t) for t in found[1:]]
    got = torch.autograd.grad(found, list(leaves.values()), grads)
    true = torch.autograd.grad(wanted, list(exact.values()), [g.double() for g in grads])
    pairs = list(zip(("out", "final"), found, wanted)) + list(zip(("d" + n for n in leaves), got, true))
    return [(n, a.detach(), b.detach()) for n, a, b in pairs]


def pairs(case, device, function, update):
    """[(name, found, wanted)] of a case, by causal_conv1d_fn and causal_conv1d_update, or what is called so."""
    return _step(case, device, update) if case.kind in ("step", "circle") else _whole(case, device, function)


def of_package(case, device):
    from causal_conv1d import causal_conv1d_fn, causal_conv1d_update

    return pairs(case, device, causal_conv1d_fn, causal_conv1d_update)


def of_here(case, device):
    from ._conv import causal_conv1d_fn, causal_conv1d_update

    return pairs(case, device, causal_conv1d_fn, causal_conv1d_update)


def quick(device):
    """{name: f}: a small case of each function, for `health`; f() is whether it was right, or raises."""
    from ._reference import ratio

    right = lambda case: all(ratio(a, b) <= 5e-3 for _, a, b in of_here(case, device))
    return {
        "causal_conv1d_fn": lambda: right(Case("float16", 1, 64, 37, 4, "last", "states")),
        "causal_conv1d_update": lambda: right(Case("float16", 2, 64, 1, 4, "first", "step")),
    }
