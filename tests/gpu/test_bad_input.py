"""Wrong arguments, one at a time: each is one KernelError, or NotImplementedError, and nothing was launched."""

import torch
from test_attention import DEVICE

import wheelsmith_kernels as wk
from wheelsmith_kernels import KernelError, kernel_calls


def of(*shape, dtype=torch.float16):
    return torch.ones(shape, device=DEVICE, dtype=dtype)


def whole(*shape):
    return of(*shape, dtype=torch.float32)


def numbers(*values):
    return torch.tensor(values, device=DEVICE, dtype=torch.int32)


def calls():
    """{name: (function, arguments)}: each is right."""
    rows = lambda: of(2, 9, 4, 64)
    return {
        "attention": (wk.attention, dict(q=rows(), k=of(2, 9, 2, 64), v=of(2, 9, 2, 64), sinks=whole(4), seqused_k=numbers(9, 5), seqstart_q=numbers(0, 1))),
        "packed": (
            wk.attention,
            dict(q=of(9, 4, 64), k=of(9, 2, 64), v=of(9, 2, 64), cu_seqlens_q=numbers(0, 9), cu_seqlens_k=numbers(0, 9), max_seqlen_q=9, max_seqlen_k=9),
        ),
        "convolution": (
            wk.causal_conv1d_fn,
            dict(x=of(2, 9, 16).transpose(1, 2), weight=of(16, 4), bias=of(16), initial_states=of(2, 3, 16).transpose(1, 2)),
        ),
        "numbered": (wk.causal_conv1d_fn, dict(x=of(2, 9, 16).transpose(1, 2), weight=of(16, 4), seq_idx=numbers(*[[0] * 9] * 2))),
        "step": (
            wk.causal_conv1d_update,
            dict(x=of(2, 16), conv_state=of(2, 16, 4), weight=of(16, 4), bias=of(16), cache_seqlens=numbers(0, 1), conv_state_indices=numbers(0, 1)),
        ),
        "scan": (
            wk.selective_scan_fn,
            dict(u=of(2, 8, 9), delta=of(2, 8, 9), A=whole(8, 4), B=of(2, 4, 9), C=of(2, 4, 9), D=whole(8), z=of(2, 8, 9), delta_bias=whole(8)),
        ),
        "update": (
            wk.selective_state_update,
            dict(state=of(2, 8, 4), x=of(2, 8), dt=of(2, 8), A=whole(8, 4), B=of(2, 4), C=of(2, 4), D=whole(8), z=of(2, 8), dt_bias=whole(8), state_batch_indices=numbers(0, 1)),
        ),
    }  # fmt: skip


def worse(t):
    """Arguments that are not `t`: wrong dimensions, sizes and types."""
    yield "no dimension", t.flatten()[0]
    yield "a dimension less", t[0]
    yield "a dimension more", t[None]
    yield "another length", torch.cat([t, t])
    yield "another type", t.to(torch.float64)
    yield "integers" if t.is_floating_point() else "floats", t.to(torch.int64 if t.is_floating_point() else torch.float32)
    yield "complex", t.to(torch.complex64)


#: Right as well
ALLOWED = {
    ("step", "conv_state", "another length"),  # entries that nobody names
    ("update", "state", "another length"),
    ("update", "A", "a dimension more"),  # of one head
    ("update", "D", "a dimension more"),
    ("update", "dt_bias", "a dimension more"),
    ("attention", "sinks", "another type"),  # are rounded to float32
    ("packed", "q", "another length"),  # rows of no sequence
}


def test_each_wrong_argument_is_one_error():
    for name in ("attention", "packed"):  # what runs here is tried first
        function, arguments = calls()[name]
        function(**arguments)
    before, bad, count, far = kernel_calls(), [], 0, 0
    for name, (function, arguments) in calls().items():
        for argument, right in arguments.items():
            if not torch.is_tensor(right):
                continue
            for kind, wrong in worse(right):
                count += 1
                try:
                    function(**dict(arguments, **{argument: wrong}))
                    if (name, argument, kind) not in ALLOWED:
                        bad.append((name, argument, kind, "no error"))
                except (KernelError, NotImplementedError) as error:
                    came_far = getattr(error, "driver", 0)  # where the kernels are emulated, some are not there
                    far += came_far != 0
                    if came_far and (name, argument, kind) not in ALLOWED:
                        bad.append((name, argument, kind, str(error)))
                except Exception as error:
                    bad.append((name, argument, kind, repr(error)[:120]))
    launched = sum(kernel_calls().values()) - sum(before.values()) + far
    assert not bad, "\n".join(map(str, bad))
    assert launched == len(ALLOWED), launched
    return f"{count} calls"
