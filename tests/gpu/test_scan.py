"""The selective scan and its state update against float64, on the GPU of this host."""

import itertools

import torch

from wheelsmith_kernels import KernelError, _scan, _scan_calls, _scan_reference
from wheelsmith_kernels._reference import ratio

DEVICE = "cuda"
OPS = torch.ops.wheelsmith_kernels
HALF, BFLOAT, FLOAT = torch.float16, torch.bfloat16, torch.float32
#: Relative error (root mean square) of results in the type, and of those that are float.
LIMITS = {HALF: (1e-3, 1e-5), BFLOAT: (8e-3, 1e-5), FLOAT: (2e-6, 1e-5)}


def poison():
    """Fills free memory with NaN, so that unwritten elements become visible."""
    blocks = [torch.full((1 << n,), float("nan"), device=DEVICE) for n in range(8, 26)]
    del blocks


def inputs(batch, dim, length, states, dtype, groups=1, varies=(True, True), z=True, d=True, bias=True, offset=0):
    """u, delta, A, B, C, D, z, delta_bias. offset: rows that begin at odd addresses."""
    def rows(*shape):
        x = torch.randn(*shape[:-1], shape[-1] + offset, device=DEVICE)
        return x.to(dtype)[..., offset:]

    def matrix(varying):
        return rows(batch, groups, states, length) if varying else torch.randn(dim, states, device=DEVICE)

    delta = torch.rand(batch, dim, length + offset, device=DEVICE).mul(0.5).to(dtype)[..., offset:]
    return (
        rows(batch, dim, length),
        delta,
        -torch.rand(dim, states, device=DEVICE) - 0.1,
        matrix(varies[0]),
        matrix(varies[1]),
        torch.randn(dim, device=DEVICE) if d else None,
        rows(batch, dim, length) if z else None,
        torch.rand(dim, device=DEVICE) * 0.5 if bias else None,
    )


def with_gradients(tensors, softplus=True, grad=None):
    """out, the last state, gradients of what there is, and the gradient of out that was used."""
    leaves = [None if t is None else t.detach().requires_grad_() for t in tensors]
    poison()
    out, state = _scan.selective_scan_fn(*leaves, softplus, return_last_state=True)
    grad = torch.randn_like(out) if grad is None else grad
    poison()
    found = torch.autograd.grad(out, [t for t in leaves if t is not None], grad)
    return out.detach(), state, found, grad


def compare(tensors, softplus=True):
    """The largest relative error of results in the type and of float results."""
    out, state, found, grad = with_gradients(tensors, softplus)
    wide = [None if t is None else t.double() for t in tensors]
    wanted, wanted_state = _scan_reference.scan(*wide, softplus)
    pairs = [(out, wanted), (state, wanted_state)]
    pairs += list(zip(found, _scan_reference.gradients(grad, tensors, softplus)))
    worst = [0.0, 0.0]
    for x, reference in pairs:
        error = ratio(x, reference)
        is_float = x.dtype == FLOAT and tensors[0].dtype != FLOAT
        limit = LIMITS[tensors[0].dtype][is_float]
        assert error <= limit, (tuple(x.shape), x.dtype, error, [ratio(a, b) for a, b in pairs])
        worst[is_float] = max(worst[is_float], error)
    return worst


def largest(rows):
    return " ".join(f"{max(column):.1e}" for column in zip(*rows))


def test_realistic_shapes():
    """Dimensions in the thousands, 16 states, lengths that are multiples of nothing, batch 1 to 64."""
    shapes = (
        (1, 4096, 301, HALF), (2, 2048, 517, BFLOAT), (1, 1536, 1031, HALF), (64, 2048, 37, HALF),
        (7, 1111, 129, BFLOAT), (1, 5120, 77, FLOAT), (16, 1024, 200, BFLOAT), (3, 3072, 65, HALF),
    )
    return largest([compare(inputs(b, d, length, 16, dtype)) for b, d, length, dtype in shapes])


def test_every_length():
    lengths = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 71, 127, 128, 129, 255, 257)
    return largest([compare(inputs(2, 33, n, 16, dtype)) for dtype in (HALF, BFLOAT, FLOAT) for n in lengths])


def test_long():
    """Over upstream's rows of 2,048 steps: the states that x keeps, too."""
    tensors = inputs(1, 70, 4500, 16, FLOAT)
    u, delta, A, B, C, D, z, bias = tensors
    out, x, out_z = _scan.fwd(*tensors, True)
    assert x.shape == (1, 70, 3, 32)
    wide = [None if t is None else t.double() for t in tensors]
    for row, end in enumerate((2048, 4096, 4500)):
        cut = lambda t: t if t is None or t.dim() < 3 else t[..., :end]
        state = _scan_reference.scan(*map(cut, wide), True)[1]
        assert ratio(x[:, :, row, 1::2], state) < 1e-5, row
    decay = torch.exp(torch.nn.functional.softplus(wide[1] + wide[7][:, None])[..., None] * wide[2][:, None])
    assert torch.allclose(x[:, :, 0, 0::2].double(), decay[:, :, :2048].prod(2), atol=1e-6)
    return largest([compare(tensors)])


def test_every_kind():
    """Groups, constant and varying B and C, without z, D, delta_bias or softplus, states, odd addresses."""
    found = []
    for varies in ((True, True), (False, True), (True, False), (False, False)):
        found.append(compare(inputs(2, 100, 150, 16, FLOAT, varies=varies)))
    for groups, states in ((1, 1), (2, 5), (4, 8), (3, 16), (2, 17), (1, 64), (5, 256)):
        found.append(compare(inputs(2, 60, 75, states, FLOAT, groups=groups)))
    for z, d, bias, softplus in ((0, 0, 0, 0), (1, 0, 0, 1), (0, 1, 0, 0), (0, 0, 1, 1), (0, 1, 1, 1)):
        found.append(compare(inputs(2, 70, 90, 16, HALF, z=z, d=d, bias=bias), bool(softplus))[::-1])
    found.append(compare(inputs(2, 70, 91, 16, FLOAT, offset=1)))
    found.append(compare(inputs(2, 70, 100, 16, HALF, offset=3))[::-1])
    return largest(found)


def test_split_time_is_the_same():
    """The number of parts of the time axis changes the result by rounding only."""
    tensors = inputs(2, 130, 1000, 16, FLOAT)
    kept, results = _scan_calls.parts_of, []
    try:
        for parts in (1, 2, 5, 16):
            _scan_calls.parts_of = lambda u, groups, backward, parts=parts: parts
            _scan_calls._plans.clear()
            torch.manual_seed(1)
            out, state, found, _ = with_gradients(tensors)
            results.append((out, state, *found))
    finally:
        _scan_calls.parts_of = kept
        _scan_calls._plans.clear()
    for other in results[1:]:
        assert all(ratio(x, y) < 1e-5 for x, y in zip(other, results[0]))


def test_the_same_bits():
    for batch, dim, length, dtype in ((2, 2048, 300, HALF), (1, 256, 2100, BFLOAT)):
        tensors = inputs(batch, dim, length, 16, dtype)
        out, state, found, grad = with_gradients(tensors)
        for _ in range(50):
            again = with_gradients(tensors, grad=grad)
            assert torch.equal(again[0], out) and torch.equal(again[1], state)
            assert all(torch.equal(x, y) for x, y in zip(again[2], found))


def test_layouts_of_mamba():
    """Inputs as models pass them: halves of one tensor, delta with batch inside, B and C of one product."""
    batch, dim, length = 2, 512, 130
    xz = torch.randn(batch, 2 * dim, length, device=DEVICE).half()
    u, z = xz.chunk(2, dim=1)
    delta = (torch.rand(dim, batch, length, device=DEVICE) * 0.5).half().transpose(0, 1)
    product = torch.randn(batch, length, 32, device=DEVICE).half()
    B, C = (t.transpose(1, 2) for t in product.chunk(2, dim=2))
    rest = inputs(batch, dim, length, 16, HALF)
    out, x, out_z = _scan.fwd(u, delta, rest[2], B.contiguous()[:, None], C.contiguous()[:, None], rest[5], z, rest[7], True)
    assert out.stride() == delta.stride() and out_z.stride(2) == 1
    return largest([compare((u, delta, rest[2], B, C, rest[5], z, rest[7]))])


def test_last_state_has_no_gradient_and_what_needs_none_gets_none():
    tensors = list(inputs(2, 64, 100, 16, HALF))
    out, state = _scan.selective_scan_fn(*tensors, True, return_last_state=True)
    assert not out.requires_grad and not state.requires_grad
    tensors[0] = tensors[0].requires_grad_()
    out, state = _scan.selective_scan_fn(*tensors, True, return_last_state=True)
    assert out.requires_grad and not state.requires_grad
    out.float().sum().backward()
    assert tensors[0].grad.shape == tensors[0].shape


def test_raw_backward():
    """The arguments of mamba_inner_fn: dz into the given tensor, and out_z again."""
    tensors = inputs(2, 96, 140, 16, HALF)
    out, x, out_z = _scan.fwd(*tensors, True)
    dxz = torch.full((2, 192, 140), float("nan"), device=DEVICE, dtype=HALF)
    dx, dz = dxz.chunk(2, dim=1)
    dout = torch.randn_like(out)
    du, ddelta, dA, dB, dC, dD, dbias, dz2, again = _scan.bwd(*tensors, dout, x, out, dz, True, True)
    assert dz2 is dz and not dz.isnan().any() and ratio(again, out_z) < 1e-3
    wanted = _scan_reference.gradients(dout, tensors, True)
    for t, reference in zip((du, ddelta, dA, dB, dC, dD, dz, dbias), wanted):
        assert ratio(t, reference) < 2e-3


def test_operators():
    tensors = [t.requires_grad_() for t in inputs(2, 64, 100, 16, FLOAT)]
    torch.library.opcheck(OPS.selective_scan, (*tensors, True), test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))
    state, *rest = step_inputs(2, 1, 64, 16, 1, FLOAT, FLOAT)
    torch.library.opcheck(OPS.selective_state_update, (state, *rest, True, None))


def test_compile_without_a_break():
    def f(*t):
        return _scan.selective_scan_fn(t[0] * 2, *t[1:], True).float().square().sum()

    tensors = [t.requires_grad_() for t in inputs(2, 64, 100, 16, HALF)]
    plain = torch.autograd.grad(f(*tensors), tensors)
    compiled = torch.autograd.grad(torch.compile(f, fullgraph=True)(*tensors), tensors)
    assert all(ratio(x, y) < 5e-3 for x, y in zip(compiled, plain))


# ---- state update ----


def step_inputs(batch, heads, dim, states, groups, state_type, dtype, tied=False, z=True, d=True, bias=True, entries=None):
    """state, x, dt, A, B, C, D, z, dt_bias, with heads."""
    make = lambda *shape: torch.randn(*shape, device=DEVICE)
    state = make(entries or batch, heads, dim, states).to(state_type)
    if tied:
        wide = lambda t, *more: t.view(*t.shape, *[1] * len(more)).expand(*t.shape, *more)
        dt, A = wide(make(batch, heads).to(dtype), dim), wide(-torch.rand(heads, device=DEVICE) - 1, dim, states)
        dt_bias, D = wide(make(heads) - 4, dim), wide(make(heads), dim)
    else:
        dt, A = make(batch, heads, dim).to(dtype), -torch.rand(heads, dim, states, device=DEVICE) - 1
        dt_bias, D = make(heads, dim) - 4, make(heads, dim)
    B, C = make(batch, groups, states).to(dtype), make(batch, groups, states).to(dtype)
    gate = make(batch, heads, dim).to(dtype) if z else None
    return state, make(batch, heads, dim).to(dtype), dt, A, B, C, D if d else None, gate, dt_bias if bias else None


def compare_step(tensors, indices=None):
    state, x, *_ = tensors
    before = state.clone()
    rows = before if indices is None else before[indices.clamp(min=0).long()]
    wide = [None if t is None else t.double() for t in tensors[1:]]
    wanted, wanted_state = _scan_reference.update(rows.double(), *wide, True)
    poison()
    out = _scan.selective_state_update(*tensors, True, indices)
    assert out.dtype == x.dtype and out.shape == x.shape
    if indices is not None:
        there = indices >= 0
        assert (out[~there] == 0).all()
        rest = [i for i in range(len(state)) if i not in indices.tolist()]
        assert torch.equal(state[rest], before[rest])
        out, wanted, wanted_state = out[there], wanted[there], wanted_state[there]
        state = state[indices[there].long()]
    errors = ratio(out, wanted), ratio(state, wanted_state)
    assert errors[0] <= LIMITS[x.dtype][0] and errors[1] <= LIMITS[state.dtype][0], errors
    return errors


def test_update_every_kind():
    found = []
    for state_type, dtype in ((HALF, HALF), (FLOAT, HALF), (BFLOAT, BFLOAT), (FLOAT, FLOAT), (FLOAT, BFLOAT)):
        for batch, heads, dim, states, groups, tied in (
            (1, 1, 1536, 16, 1, False), (64, 1, 2064, 16, 1, False), (3, 64, 64, 128, 4, True),
            (2, 32, 64, 64, 2, False), (5, 2, 33, 5, 1, False), (2, 1, 20, 256, 1, False), (200, 1, 640, 16, 1, False),
        ):
            compare_step(step_inputs(batch, heads, dim, states, groups, state_type, dtype, tied=tied))
    # So many sequences that a block goes over them several times.
    compare_step(step_inputs(1031, 1, 640, 16, 1, HALF, HALF))
    compare_step(step_inputs(1031, 1, 640, 16, 1, FLOAT, HALF))
    for z, d, bias in itertools.product((0, 1), repeat=3):
        for tied in (False, True):
            found.append(compare_step(step_inputs(4, 8, 64, 32, 2, HALF, HALF, tied, z, d, bias)))
    return largest(found)


def test_update_of_mixed_types():
    """B and C float beside x of 16 bits; D and dt_bias of 16 bits."""
    for batch in (1, 300):
        state, x, dt, A, B, C, D, z, bias = step_inputs(batch, 1, 640, 16, 1, HALF, HALF)
        compare_step((state.clone(), x, dt, A, B.float(), C.float(), D, z, bias))
        compare_step((state, x, dt, A, B, C, D.half(), z, bias.half()))


def test_update_of_entries():
    for batch, entries, dim in ((16, 160, 2048), (300, 320, 640)):
        tensors = step_inputs(batch, 1, dim, 16, 1, HALF, HALF, entries=entries)
        indices = torch.randperm(entries, device=DEVICE)[:batch].int()
        indices[1::5] = -1
        compare_step(tensors, indices)


def test_update_in_a_graph():
    tensors = step_inputs(4, 1, 1536, 16, 1, FLOAT, HALF)
    start = tensors[0].clone()
    plain = _scan.selective_state_update(*tensors, True)
    after = tensors[0].clone()
    tensors[0].copy_(start)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = _scan.selective_state_update(*tensors, True)
    tensors[0].copy_(start)
    graph.replay()
    assert torch.equal(out, plain) and torch.equal(tensors[0], after)


def test_what_is_refused():
    tensors = inputs(2, 64, 100, 16, HALF)
    replaced = lambda i, t: (*tensors[:i], t, *tensors[i + 1 :])
    for i, t, name in (
        (0, tensors[0].cpu(), "u"), (0, tensors[0].double(), "u"), (1, tensors[1].float(), "delta"),
        (2, tensors[2].to(torch.complex64), "A"), (2, torch.randn(64, 257, device=DEVICE), "A"),
        (3, tensors[3][:, :, :8], "B"), (4, tensors[4].float(), "C"), (5, tensors[5].half(), "D"),
        (6, tensors[6][:, :, 1:], "z"), (7, tensors[7][1:], "delta_bias"),
    ):
        try:
            _scan.selective_scan_fn(*replaced(i, t), True)
        except KernelError as error:
            assert error.argument == name, (name, error)
        else:
            raise AssertionError(name)
