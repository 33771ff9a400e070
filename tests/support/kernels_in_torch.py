"""wheelsmith_kernels in a real torch on a host without a GPU: operators, fakes, gradients, and what is refused.

Prints the torch; fails by an assertion.
"""

import os

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import wheelsmith_kernels as wk

ops = torch.ops.wheelsmith_kernels
NONE = (None,) * 5


def make(rows, heads, grad=False):
    """Fake: of a GPU, but where autograd would ask it for its streams."""
    device = "cpu" if grad else "cuda"
    return torch.empty(2, rows, heads, 80, dtype=torch.float16, device=device, requires_grad=grad)


wk.attention  # the first of the names that import torch's part
for name in ("forward", "backward"):
    assert "Tensor" in str(getattr(ops, name).default._schema), name
with FakeTensorMode():
    q, k, v = make(40, 8, True), make(50, 2, True), make(50, 2, True)
    o, lse = ops.forward(q, k, v, *NONE, 0, 0, 0.1, -1, 0)
    assert o.shape == q.shape and o.dtype == q.dtype and o.requires_grad
    assert lse.shape == (2, 8, 40) and lse.dtype == torch.float32
    for t, g in zip((q, k, v), torch.autograd.grad(o, (q, k, v), torch.empty_like(o))):
        assert g.shape == t.shape and g.dtype == t.dtype and g.stride() == t.stride()
    q, k, v = make(1, 8), make(900, 2), make(900, 2)
    o, lse = ops.forward(q, k, v, *NONE, 0, 0, 0.1, -1, 0)
    assert o.shape == q.shape and o.device.type == "cuda" and lse.shape == (2, 8, 1)
    packed = torch.empty(70, 8, 80, dtype=torch.float16, device="cuda")
    ends = torch.empty(4, dtype=torch.int32, device="cuda")
    o, lse = ops.forward(packed, packed, packed, ends, ends, *NONE[:3], 30, 30, 0.1, -1, 0)
    assert o.shape == packed.shape and lse.shape == (8, 70)
wk.causal_conv1d_fn
for last in (False, True):
    with FakeTensorMode():
        x = torch.empty(2, 77, 24).transpose(1, 2) if last else torch.empty(2, 24, 77)
        x.requires_grad_()
        weight, bias = torch.empty(24, 4, requires_grad=True), torch.empty(24, requires_grad=True)
        out, final = ops.conv_forward(x, weight, bias, None, None, last, True)
        assert out.shape == x.shape and out.stride() == x.stride() and out.requires_grad
        assert final.shape == (2, 24, 3 if last else 0)
        for t, g in zip((x, weight, bias), torch.autograd.grad(out, (x, weight, bias), torch.empty_like(out))):
            assert g.shape == t.shape and g.dtype == t.dtype and g.stride() == t.stride()
        state = torch.empty(5, 24, 4, dtype=torch.float16, device="cuda")
        token = torch.empty(5, 24, 1, dtype=torch.float16, device="cuda")
        assert ops.conv_update(token, state, weight.detach(), None, True, None, None).shape == token.shape
for call in (wk.causal_conv1d_fn, lambda x, w: wk.causal_conv1d_update(x, torch.zeros(2, 24, 4), w)):
    try:
        call(torch.randn(2, 24, 9), torch.randn(24, 4))
    except wk.KernelError as error:
        assert error.argument == "x" and "CUDA" in error.expected, error
    else:
        raise AssertionError("x on a CPU")
import subprocess
import sys

for shims, found in (("1", "wheelsmith_kernels._conv_calls"), ("0", "absent")):
    code = "import sys, wheelsmith_kernels; m = sys.modules.get('causal_conv1d_cuda'); "
    code += "print(m.causal_conv1d_fwd.__module__ if m else 'absent')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "WHEELSMITH_SHIMS": shims}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == found, (shims, done.stdout)
q = torch.randn(1, 20, 4, 80)
try:
    wk.attention(q, q, q)
except wk.KernelError as error:
    assert error.argument == "q" and "CUDA" in error.expected, error
else:
    raise AssertionError("q on a CPU")
os.environ["WHEELSMITH_ATTENTION"] = "sdpa"
f = torch.compile(lambda q, k: wk.attention(q * 1, k, k, causal=True), fullgraph=True, backend="aot_eager")
for k in (q, q[:, :, :2]):
    assert torch.equal(f(q, k), wk.attention(q, k, k, causal=True))
from wheelsmith_kernels import _selftest

for at in range(4):
    errors = [1e-4] * 4
    assert _selftest.within(errors, (2e-3, 5e-3))
    for worse in (1e-2, float("nan")):
        errors[at] = worse
        assert not _selftest.within(errors, (2e-3, 5e-3)), errors
from torch.autograd import forward_ad

from wheelsmith_kernels import _attention

with forward_ad.dual_level():
    _attention._refuse_tangents(q, q, q)
    try:
        _attention._refuse_tangents(q, forward_ad.make_dual(q, q), q)
    except wk.KernelError as error:
        assert error.argument == "k", error
    else:
        raise AssertionError("a tangent was dropped")
# As many blocks as 132 multiprocessors hold at once: batch, heads, heads of k, head_dim, rows, keys.
from wheelsmith_kernels import _attention_calls

_attention_calls.multiprocessors = lambda device: 132
for of, parts in (
    ((16, 32, 4, 64, 1, 8192), 6), ((16, 32, 4, 128, 1, 8192), 4), ((1, 32, 4, 128, 1, 8192), 32),
    ((1, 32, 4, 128, 1, 65536), 66), ((500, 32, 4, 80, 1, 8192), 1), ((1, 32, 1, 128, 1, 8192), 32),
    ((1, 32, 8, 128, 64, 32768), 8), ((8, 32, 8, 128, 2048, 2048), 0),
):  # fmt: skip
    assert _attention_calls.parts_of(*of, False, None) == parts, (of, _attention_calls.parts_of(*of, False, None))
wk.selective_scan_fn
with FakeTensorMode():
    rows = lambda: torch.empty(2, 96, 70, dtype=torch.float16, requires_grad=True)
    A, D = torch.empty(96, 16, requires_grad=True), torch.empty(96, requires_grad=True)
    B = torch.empty(2, 1, 16, 70, dtype=torch.float16, requires_grad=True)
    inputs = rows(), rows(), A, B, B, D, rows(), D
    out, x, out_z = ops.selective_scan(*inputs, True)
    assert out.shape == out_z.shape == (2, 96, 70) and x.shape == (2, 96, 1, 32) and x.dtype == torch.float32
    for t, g in zip(inputs, torch.autograd.grad(out_z, inputs, torch.empty_like(out_z))):
        assert g.shape == t.shape and g.dtype == t.dtype
    state = torch.empty(2, 1, 96, 16, device="cuda")
    x = torch.empty(2, 1, 96, device="cuda", dtype=torch.float16)
    B, A, D = torch.empty(2, 1, 16, device="cuda"), torch.empty(1, 96, 16, device="cuda"), torch.empty(1, 96, device="cuda")
    out = ops.selective_state_update(state, x, x, A, B, B, D, None, None, True, None)
    assert out.shape == x.shape and out.dtype == x.dtype
try:
    wk.selective_scan_fn(*(torch.randn(1, 4, 5) for _ in range(2)), -torch.rand(4, 2), *(torch.randn(1, 2, 5) for _ in range(2)))
except wk.KernelError as error:
    assert error.argument == "u" and "CUDA" in error.expected, error
else:
    raise AssertionError("u on a CPU")
report = wk.health()
assert report["ready"] is False and report["problem"] == "no GPU", report
rows, indices, ends, longest = wk.pack(q[0, :, :, 0][None], torch.ones(1, 20))
assert longest == 20 and ends.tolist() == [0, 20] and torch.equal(wk.unpack(rows, indices, 1, 20)[0], q[0, :, :, 0])
print("torch", torch.__version__)
