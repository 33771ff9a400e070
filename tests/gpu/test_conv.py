"""causal_conv1d: against float64, against itself where the bits must be the same, in torch, and as upstream's module."""

import random

import torch

from wheelsmith_kernels import KernelError, _conv, causal_conv1d_fn, causal_conv1d_update
from wheelsmith_kernels._reference import convolve, convolve_step

DEVICE = "cuda"
#: Relative and absolute difference that an element may have: upstream's, of its own tests.
TOLERANCE = {torch.float32: (3e-4, 1e-3), torch.float16: (3e-3, 5e-3), torch.bfloat16: (1e-2, 5e-2)}
TYPES = tuple(TOLERANCE)
SILU = {True: "silu", False: None}


def poison():
    """Fills free memory with NaN, so that unwritten rows become visible."""
    blocks = [torch.full((1 << n,), float("nan"), device=DEVICE) for n in range(8, 24)]
    del blocks


def near(name, found, wanted, dtype, times=1):
    relative, absolute = TOLERANCE[dtype]
    assert found.shape == wanted.shape and found.isfinite().all(), name
    worst = ((found.double() - wanted).abs() - times * (absolute + relative * wanted.abs())).max().item()
    assert worst <= 0, (name, worst, (found.double() - wanted).abs().max().item())


def make(batch, dim, length, dtype, last, odd=False):
    """A view whose rows begin as those of a tensor of its own do; `odd`: at any address."""
    if last:
        whole = torch.randn(batch, length, dim + (5 if odd else 16), device=DEVICE).to(dtype)
        first = 3 if odd else 8
        return whole[:, :, first : first + dim].transpose(1, 2)
    whole = torch.randn(batch, dim + 16, length + odd, device=DEVICE).to(dtype)
    return whole[:, 8 : 8 + dim, odd:]


def numbers(batch, length, padding):
    """seq_idx: up to 5 sequences, and negative behind them where there is padding."""
    cuts = torch.randint(0, 5, (batch, length)).sort(1).values
    for row in cuts:
        row[length - (random.randrange(min(length, 70)) if padding else 0) :] = -1
    return cuts.int().to(DEVICE)


def check(x, weight, bias, silu, initial=None, final=False, seq_idx=None):
    """Forward and backward against float64."""
    leaves = [None if t is None else t.detach().requires_grad_() for t in (x, weight, bias, initial)]
    exact = [None if t is None else t.detach().double().requires_grad_() for t in (x, weight, bias, initial)]
    poison()
    out = causal_conv1d_fn(
        *leaves[:3], seq_idx, leaves[3], return_final_states=final, activation=SILU[silu]
    )
    wanted = convolve(*exact, seq_idx, silu)
    found = list(out) if final else [out]
    wanted = list(wanted) if final else [wanted[0]]
    for name, a, b in zip(("out", "final"), found, wanted):
        near(name, a.detach(), b.detach(), x.dtype)
    grads = [torch.randn_like(t) for t in found]
    poison()
    got = torch.autograd.grad(found, [t for t in leaves if t is not None], grads)
    true = torch.autograd.grad(wanted, [t for t in exact if t is not None], [g.double() for g in grads])
    names = [n for n, t in zip(("dx", "dweight", "dbias", "dinitial"), leaves) if t is not None]
    rows = (x.shape[0] * x.shape[2]) ** 0.5  # of what is summed
    for name, a, b in zip(names, got, true):
        of_weight = name in ("dweight", "dbias")
        coarse = max(x.dtype, weight.dtype, key=lambda t: TOLERANCE[t][0]) if of_weight else x.dtype
        near(name, a, b, coarse, 2 + rows / 8 if of_weight else 2)
    return found, got


def test_every_type_width_layout_and_length():
    count = 0
    for last in (False, True):
        for length in (1, 2, 3, 4, 7, 8, 31, 64, 129, 151, 256, 511, 1024, 1030, 2049, 4096):
            for width in (2, 3, 4):
                for dtype in TYPES:
                    dim = random.choice((1, 3, 8, 40, 64, 136) if last else (1, 3, 8, 40))
                    silu, biased, odd = (random.random() < 0.5 for _ in range(3))
                    weights = random.choice(TYPES)
                    weight = torch.randn(dim, width, device=DEVICE).to(weights)
                    bias = torch.randn(dim, device=DEVICE).to(weights) if biased else None
                    check(make(random.choice((1, 2, 3)), dim, length, dtype, last, odd), weight, bias, silu)
                    count += 1
    return f"{count} cases"


def test_states():
    for dtype in TYPES:
        for length in (1, 2, 3, 5, 64, 300):
            for width in (2, 3, 4):
                for odd in (False, True):
                    dim = 24 if not odd else 21
                    x = make(2, dim, length, dtype, True, odd)
                    weight, bias = torch.randn(dim, width, device=DEVICE), torch.randn(dim, device=DEVICE)
                    initial = torch.randn(2, width - 1, dim, device=DEVICE).to(dtype).transpose(1, 2)
                    (_, final), _ = check(x, weight, bias, True, initial, True)
                    rows = torch.cat([initial, x], -1)[:, :, -(width - 1) :]
                    assert torch.equal(final, rows)
                    check(x, weight, bias, False, initial, False)
                    check(x, weight, None, True, None, True)


def test_sequences_do_not_see_each_other():
    for dtype in TYPES:
        for length in (1, 8, 63, 130, 513):
            for padding in (False, True):
                for width in (2, 3, 4):
                    seq_idx = numbers(3, length, padding)
                    weight, bias = torch.randn(40, width, device=DEVICE), torch.randn(40, device=DEVICE)
                    check(make(3, 40, length, dtype, True, width == 3), weight, bias, width != 3, seq_idx=seq_idx)
    # A sequence gives the same bits alone and beside any others.
    x = make(1, 64, 200, torch.float16, True)
    seq_idx = torch.tensor([0] * 77 + [1] * 123, dtype=torch.int32, device=DEVICE)[None]
    weight = torch.randn(64, 4, device=DEVICE)
    x[:, :, 70:77] = float("nan")
    together = causal_conv1d_fn(x, weight, None, seq_idx, activation="silu")[:, :, 77:]
    assert torch.equal(together, causal_conv1d_fn(x[:, :, 77:], weight, None, activation="silu"))


def test_shapes_that_models_have():
    """Mamba and its kin: transposed projections, chunks of them, width 4, silu."""
    for dtype in (torch.float16, torch.bfloat16):
        weight, bias = torch.randn(1536, 4, device=DEVICE) / 2, torch.randn(1536, device=DEVICE)
        projected = torch.randn(2, 333, 2 * 1536, device=DEVICE).to(dtype).transpose(1, 2)
        check(projected.chunk(2, dim=1)[0], weight.to(dtype), bias.to(dtype), True)
        check(projected.contiguous().chunk(2, dim=1)[1], weight, None, True)
        check(projected[:, :1536, :1], weight.to(dtype), bias.to(dtype), True)


def test_infinities_and_nan_stay_where_they_are():
    weight = torch.randn(16, 3, device=DEVICE)
    for last in (False, True):
        x = make(1, 16, 600, torch.float16, last)
        grad = torch.randn_like(x)
        clean = x.detach().clone(memory_format=torch.preserve_format).requires_grad_()
        out = causal_conv1d_fn(clean, weight, activation="silu")
        dx = torch.autograd.grad(out, clean, grad)[0]
        for bad in (float("nan"), float("inf")):
            y = clean.detach().clone(memory_format=torch.preserve_format)
            y[:, :, 303] = bad
            y.requires_grad_()
            out2 = causal_conv1d_fn(y, weight, activation="silu")
            dx2 = torch.autograd.grad(out2, y, grad)[0]
            far = torch.ones(600, dtype=torch.bool, device=DEVICE)
            far[303:306] = False
            assert torch.equal(out2[:, :, far], out[:, :, far])
            far[301:303] = False
            assert torch.equal(dx2[:, :, far], dx[:, :, far])


def test_the_same_bits_50_times():
    for last in (False, True):
        for batch, dim, length in ((2, 256, 3000), (3, 136, 517)):
            x = make(batch, dim, length, torch.float16, last).requires_grad_()
            weight = torch.randn(dim, 4, device=DEVICE).requires_grad_()
            bias, grad = torch.randn(dim, device=DEVICE).requires_grad_(), torch.randn_like(x)
            first = None
            for _ in range(50):
                out = causal_conv1d_fn(x, weight, bias, activation="silu")
                found = (out, *torch.autograd.grad(out, (x, weight, bias), grad))
                first = first or found
                assert all(map(torch.equal, found, first))


def step_case(batch, dim, rows, width, state_len, dtype, layout, circle, chosen, silu):
    entries = 3 * batch if chosen else batch
    if layout == "first":
        state = torch.randn(entries, dim, state_len, device=DEVICE).to(dtype)
    else:
        more = layout == "odd"
        state = torch.randn(entries, state_len, dim + more, device=DEVICE).to(dtype)[:, :, more:].transpose(1, 2)
    x = torch.randn(batch, rows, dim, device=DEVICE).to(dtype).transpose(1, 2)
    x = x.contiguous() if random.random() < 0.3 else x
    weight, bias = torch.randn(dim, width, device=DEVICE), torch.randn(dim, device=DEVICE)
    start = torch.randint(0, 1000, (batch,), dtype=torch.int32, device=DEVICE) if circle else None
    indices = torch.randperm(entries)[:batch].int().to(DEVICE) if chosen else None
    if chosen:
        indices[::3] = -1
    before, wanted_state = state.clone(), state.clone()
    poison()
    out = causal_conv1d_update(
        x[:, :, 0] if rows == 1 else x, state, weight, bias, SILU[silu], start, indices
    )
    out = out[:, :, None] if rows == 1 else out
    for b in range(batch):
        entry = int(indices[b]) if chosen else b
        if entry < 0:
            assert (out[b] == 0).all()
            continue
        first = int(start[b]) % state_len if circle else None
        wanted, wanted_state[entry] = convolve_step(x[b], before[entry], weight, bias, silu, first)
        near("out", out[b], wanted, dtype)
    assert torch.equal(state, wanted_state)


def test_update():
    count = 0
    for dtype in TYPES:
        for layout in ("first", "last", "odd"):
            for width in (2, 3, 4):
                for state_len in {width - 1, width, 4, 9}:
                    for rows in (1, 4, 5):
                        circle, chosen, silu = (random.random() < 0.4 for _ in range(3))
                        batch, dim = random.choice((1, 5, 9)), random.choice((8, 40, 264))
                        step_case(batch, dim, rows, width, state_len, dtype, layout, circle, chosen, silu)
                        count += 1
    return f"{count} cases"


def test_indices_beyond_the_state_are_padding():
    state, weight = torch.randn(4, 64, 4, device=DEVICE), torch.randn(64, 4, device=DEVICE)
    indices = torch.tensor([1, 4, 2**31 - 1, -(2**31)], dtype=torch.int32, device=DEVICE)
    before = state.clone()
    out = causal_conv1d_update(torch.randn(4, 64, device=DEVICE), state, weight, conv_state_indices=indices)
    assert (out[1:] == 0).all() and (out[0] != 0).any()
    assert torch.equal(state[[0, 2, 3]], before[[0, 2, 3]]) and not torch.equal(state[1], before[1])


def test_update_in_a_graph():
    state, weight = torch.zeros(8, 512, 4, device=DEVICE).half(), torch.randn(512, 4, device=DEVICE).half()
    x = torch.randn(8, 512, device=DEVICE).half()
    causal_conv1d_update(x, state.clone(), weight, activation="silu")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = causal_conv1d_update(x, state, weight, activation="silu")
    state.zero_()
    other, steps = torch.zeros_like(state), []
    for _ in range(6):
        x.copy_(torch.randn(8, 512, device=DEVICE))
        graph.replay()
        steps.append(x.clone())
        assert torch.equal(out, causal_conv1d_update(x, other, weight, activation="silu"))
        assert torch.equal(state, other)
    whole = causal_conv1d_fn(torch.stack(steps, -1), weight, activation="silu")
    assert torch.equal(whole[:, :, -1], out)


def test_more_than_2_32_elements():
    """Offsets beyond 32 bits, in both layouts: the last sequence is as it is alone."""
    batch, dim, length = 9, 4096, 131072  # 4.8e9 elements
    weight, bias = torch.randn(dim, 4, device=DEVICE), torch.randn(dim, device=DEVICE)
    for last in (False, True):
        shape = (batch, length, dim) if last else (batch, dim, length)
        x = torch.zeros(shape, dtype=torch.float16, device=DEVICE)
        x[-1].normal_()
        x = x.transpose(1, 2) if last else x
        out = causal_conv1d_fn(x, weight, bias, activation="silu")
        alone = causal_conv1d_fn(x[-1:], weight, bias, activation="silu")
        assert torch.equal(out[-1:], alone)
        del out
        leaf, grad = x.detach().requires_grad_(), torch.zeros_like(x)
        grad[-1].normal_()
        found = torch.autograd.grad(causal_conv1d_fn(leaf, weight), leaf, grad)[0]
        one = x[-1:].detach().requires_grad_()
        assert torch.equal(found[-1:], torch.autograd.grad(causal_conv1d_fn(one, weight), one, grad[-1:])[0])
        del found, leaf, grad, x, alone, one
        torch.cuda.empty_cache()


def test_more_channels_and_sequences_than_a_grid_has_rows():
    weight = torch.randn(70000, 4, device=DEVICE)
    for last in (False, True):
        x = make(1, 70000, 40, torch.float16, last)
        check(x, weight, None, True)
        check(make(70000, 8, 9, torch.float16, last), weight[:8], None, True)
    for dtype, chunk in ((torch.float16, 1024), (torch.float32, 512)):
        check(make(33, 1024, 40, dtype, False), weight[:1024], None, True)  # two sequences a warp, the last one alone
        check(make(1, 17000, 2 * chunk, dtype, False), weight[:17000], None, True)  # two chunks a warp
        for odd in (False, True):
            check(make(1, 17000, chunk + 7, dtype, False, odd), weight[:17000], None, True)
    state = torch.randn(70000, 8, 4, device=DEVICE).half()
    x = torch.randn(70000, 8, device=DEVICE).half()
    wanted = convolve(x[:, :, None], weight[:8], initial_states=state[:, :, 1:])[0][:, :, 0]
    near("out", causal_conv1d_update(x, state, weight[:8]), wanted, torch.float16)


def test_opcheck():
    x, weight = make(2, 24, 40, torch.float16, True).requires_grad_(), torch.randn(24, 4, device=DEVICE).requires_grad_()
    bias = torch.randn(24, device=DEVICE).requires_grad_()
    initial = torch.randn(2, 3, 24, device=DEVICE).half().transpose(1, 2).requires_grad_()
    tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    ops = torch.ops.wheelsmith_kernels
    torch.library.opcheck(ops.conv_forward, (x, weight, bias, None, initial, True, True), test_utils=tests[:3])
    torch.library.opcheck(ops.conv_forward, (x, weight, None, None, None, False, False), test_utils=tests[:3])
    state = torch.randn(2, 24, 4, device=DEVICE).half()
    torch.library.opcheck(
        ops.conv_update, (x.detach()[:, :, :1].contiguous(), state, weight.detach(), None, True, None, None), test_utils=tests[:3]
    )


def test_compile_without_a_break():
    weight = torch.randn(64, 4, device=DEVICE).requires_grad_()
    for last in (False, True):
        x = make(2, 64, 130, torch.float16, last).requires_grad_()
        f = lambda x, w: causal_conv1d_fn(x * 1, w, activation="silu") * 2
        plain = f(x, weight)
        grad = torch.randn_like(plain)
        wanted = torch.autograd.grad(plain, (x, weight), grad)
        compiled = torch.compile(f, fullgraph=True)(x, weight)
        assert torch.equal(compiled, plain)
        for a, b in zip(torch.autograd.grad(compiled, (x, weight), grad), wanted):
            assert torch.allclose(a, b, rtol=1e-3, atol=1e-3)
    state, other = (torch.zeros(2, 64, 4, device=DEVICE).half() for _ in range(2))
    step = torch.compile(lambda x, s: causal_conv1d_update(x, s, weight.detach()), fullgraph=True)
    token = torch.randn(2, 64, device=DEVICE).half()
    assert torch.equal(step(token, state), causal_conv1d_update(token, other, weight.detach()))
    assert torch.equal(state, other)


def test_what_is_refused():
    x, weight = make(2, 16, 40, torch.float16, True), torch.randn(16, 4, device=DEVICE)
    initial = torch.randn(2, 16, 3, device=DEVICE).half()
    wrong = {
        "x": lambda: causal_conv1d_fn(x.double(), weight),
        "weight": lambda: causal_conv1d_fn(x, weight[:8]),
        "width": lambda: causal_conv1d_fn(x, torch.randn(16, 5, device=DEVICE)),
        "bias": lambda: causal_conv1d_fn(x, weight, torch.randn(16, device=DEVICE).half()),
        "seq_idx": lambda: causal_conv1d_fn(x, weight, None, torch.zeros(2, 40, device=DEVICE)),
        "initial_states": lambda: causal_conv1d_fn(x, weight, initial_states=initial[:, :, :2]),
        "conv_state": lambda: causal_conv1d_update(x, initial.float(), weight),
        "state_length": lambda: causal_conv1d_update(x, initial[:, :, :2], weight),
    }
    for name, call in wrong.items():
        try:
            call()
        except KernelError as error:
            assert error.argument == name, (error.argument, name)
        else:
            raise AssertionError(name)
    try:
        causal_conv1d_fn(x.contiguous(), weight, initial_states=initial)
    except KernelError as error:
        assert error.argument == "x"
    else:
        raise AssertionError("states of contiguous rows")


def test_upstreams_module():
    """Gradients of weight and bias are added to what is there, as upstream's kernels do."""
    from wheelsmith_kernels import _shim_causal_conv1d_cuda as module

    x, weight = make(2, 24, 77, torch.float16, True), torch.randn(24, 4, device=DEVICE)
    bias, dout = torch.randn(24, device=DEVICE), torch.randn_like(x)
    out, dx = torch.empty_like(x), torch.empty_like(x)
    dweight, dbias = torch.ones_like(weight), torch.ones_like(bias)
    module.causal_conv1d_fwd(x, weight, bias, None, None, out, None, True)
    assert torch.equal(out, causal_conv1d_fn(x, weight, bias, activation="silu"))
    module.causal_conv1d_bwd(x, weight, bias, dout, None, None, None, dx, dweight, dbias, None, True)
    wanted = _conv._backward_op(dout, x, weight, bias, None, None, None, True)
    for a, b in zip((dx, dweight - 1, dbias - 1), wanted):
        assert torch.allclose(a, b, rtol=1e-3, atol=1e-3)
