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
for name in ("forward", "backward", "decode"):
    assert "Tensor" in str(getattr(ops, name).default._schema), name
with FakeTensorMode():
    q, k, v = make(40, 8, True), make(50, 2, True), make(50, 2, True)
    o, lse = ops.forward(q, k, v, *NONE, 0, 0, 0.1, -1, 0)
    assert o.shape == q.shape and o.dtype == q.dtype and o.requires_grad
    assert lse.shape == (2, 8, 40) and lse.dtype == torch.float32
    for t, g in zip((q, k, v), torch.autograd.grad(o, (q, k, v), torch.empty_like(o))):
        assert g.shape == t.shape and g.dtype == t.dtype and g.stride() == t.stride()
    q, k, v = make(1, 8), make(900, 2), make(900, 2)
    o, lse = ops.decode(q, k, v, None, None, 0.1, -1, 0, 4)
    assert o.shape == q.shape and o.device.type == "cuda" and lse.shape == (2, 8, 1)
    packed = torch.empty(70, 8, 80, dtype=torch.float16, device="cuda")
    ends = torch.empty(4, dtype=torch.int32, device="cuda")
    o, lse = ops.forward(packed, packed, packed, ends, ends, *NONE[:3], 30, 30, 0.1, -1, 0)
    assert o.shape == packed.shape and lse.shape == (8, 70)
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
report = wk.health()
assert report["ready"] is False and report["problem"] == "no GPU", report
rows, indices, ends, longest = wk.pack(q[0, :, :, 0][None], torch.ones(1, 20))
assert longest == 20 and ends.tolist() == [0, 20] and torch.equal(wk.unpack(rows, indices, 1, 20)[0], q[0, :, :, 0])
print("torch", torch.__version__)
