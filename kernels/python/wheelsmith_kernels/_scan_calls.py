"""Calls of the scan and of the state update with torch's tensors: what the library cannot see is checked here."""

import torch

from ._native import SCAN_IMAGE, native, refuse
from ._structs import MATRIX, ROWS, SCAN, STRIDED, UPDATE
from ._tensors import TYPES, Plans, address, calls, is_on_gpu, launch, multiprocessors, plain, require_plain, signatures

STATES_MAX = 256
SEGMENT = 64  # a part of time is a multiple of it
SAVED = 2048  # time steps between two rows of x

calls.update(selective_scan=0, selective_scan_backward=0, selective_state_update=0)


def _require(holds, argument, expected):
    if not holds:
        refuse(argument, expected)


def _require_like(t, name, shape, dtype, u):
    _require(t.device == u.device, name, "on u's device")
    _require(tuple(t.shape) == tuple(shape), name, f"of shape {tuple(shape)}, not {tuple(t.shape)}")
    _require(t.dtype == dtype, name, f"{dtype}, not {t.dtype}")


def _is_contiguous_last(t):
    return t.stride(-1) == 1 or t.shape[-1] <= 1


def check_scan(u, delta, A, B, C, D, z, delta_bias):
    """Types, devices and shapes; complex A has no kernel."""
    _require(is_on_gpu(u), "u", "on a CUDA device")
    _require(u.dtype in TYPES, "u", f"float16, bfloat16 or float32, not {u.dtype}")
    _require(u.dim() == 3, "u", "[batch, dim, length]")
    _require(not A.is_complex(), "A", "real: there is no kernel for complex numbers")
    _require(A.dim() == 2, "A", "[dim, dstate]")
    batch, dim, length = u.shape
    states = A.shape[1]
    _require(1 <= states <= STATES_MAX, "A", f"of 1 to {STATES_MAX} states, not {states}")
    _require_like(delta, "delta", u.shape, u.dtype, u)
    _require_like(A, "A", (dim, states), torch.float32, u)
    B, C = (m.unsqueeze(1) if m.dim() == 3 else m for m in (B, C))
    for name, m in (("B", B), ("C", C)):
        if m.dim() == 2:
            _require_like(m, name, (dim, states), torch.float32, u)
            continue
        _require(m.dim() == 4, name, "[batch, groups, dstate, length], [batch, dstate, length] or [dim, dstate]")
        groups = m.shape[1]
        _require(groups > 0 and dim % groups == 0, name, f"of a number of groups that divides {dim}")
        _require_like(m, name, (batch, groups, states, length), u.dtype, u)
    if B.dim() == 4 and C.dim() == 4:
        _require(B.shape[1] == C.shape[1], "C", "of as many groups as B")
    for name, v in (("D", D), ("delta_bias", delta_bias)):
        if v is not None:
            _require_like(v, name, (dim,), torch.float32, u)
    if z is not None:
        _require_like(z, "z", u.shape, u.dtype, u)
    for name, t in (("u", u), ("delta", delta), ("z", z)):
        _require(t is None or _is_contiguous_last(t), name, "contiguous in its last dimension")
    for name, m in (("B", B), ("C", C)):
        _require(m.dim() == 2 or _is_contiguous_last(m), name, "contiguous in its last dimension")


def groups_of(B, C):
    """The groups of the varying one of B and C; if neither varies, the number is unused. Three dimensions are one
    group."""
    return B.shape[1] if B.dim() == 4 else C.shape[1] if C.dim() == 4 else 1


def parts_of(u, groups, backward):
    """Into how many parts time is split: 1 where batch and channels give every multiprocessor enough.

    A block of threads has 16 channels forward, and 64 backward and in the first pass over parts. A split costs that
    pass: forward only where there are fewer blocks than half the multiprocessors, backward where there are fewer than
    multiprocessors. Then blocks of the first pass fill two for each multiprocessor.
    """
    batch, dim, length = u.shape
    blocks = lambda channels: batch * groups * -(-dim // groups // channels)
    room = multiprocessors(u.device) * 2
    if (2 * blocks(64) if backward else 4 * blocks(16)) >= room:
        return 1
    return max(1, min(room // max(blocks(64), 1), length // (2 * SEGMENT)))


#: By signature: of scans, of their gradients, of updates.
_plans, _gradient_plans, _updates = Plans(), Plans(), Plans()


def last_contiguous(t):
    """`t`, copied if its last dimension is not contiguous; None stays None."""
    return t if t is None or t.dim() == 0 or t.stride(-1) == 1 else t.contiguous()


def rows_contiguous(u, delta, A, B, C, D, z, delta_bias):
    """The inputs of a scan, copied where what varies with time is not contiguous in it."""
    u, delta, z = map(last_contiguous, (u, delta, z))
    B, C = (last_contiguous(m) if m.dim() > 2 else m for m in (B, C))
    return u, delta, A, B, C, D, z, delta_bias


def _prepare(*inputs):
    """The inputs of a scan: none negated by a bit alone, and what does not vary contiguous."""
    u, delta, A, B, C, D, z, delta_bias = map(plain, inputs)
    B, C = (m.contiguous() if m.dim() == 2 else m for m in (B, C))
    D, delta_bias = (v if v is None else v.contiguous() for v in (D, delta_bias))
    return u, delta, A, B, C, D, z, delta_bias


def prepare_any(*inputs):
    """The inputs of a scan as its kernels take them, whatever their strides are."""
    return _prepare(*rows_contiguous(*inputs))


def saved_shape(u, A):
    """The shape of the saved states: for every 2048 steps the product of the decays and the state at their end."""
    return (u.shape[0], u.shape[1], -(-u.shape[2] // SAVED), 2 * A.shape[1])


_HEAD = SCAN.part("size", "reserved").pack
_ROWS = ROWS.part("stride_batch", "stride_channel").pack
_MATRIX = MATRIX.part("stride_batch", "reserved").pack

#: The struct of a call: addresses, and between them what is the same for each call of a signature.
_SCAN = SCAN.apart(
    "u delta z out out_z a b c d delta_bias x workspace workspace_size "
    "grad_out grad_u grad_delta grad_z grad_a grad_b grad_c grad_d grad_delta_bias"
)
_NO_GRADIENTS = 4 * (0, b"") + 5 * (0,)


def _rows(t):
    return b"" if t is None else _ROWS(*t.stride()[:2])


def _matrix(t):
    if t.dim() == 2:
        return _MATRIX(0, t.stride(0), t.stride(1), 0, 0)
    batch, *group, state, _ = t.stride()
    return _MATRIX(batch, *(group or (0,)), state, 1, 0)


class _Scan:
    """Values that are computed and checked once for each signature of a scan."""

    __slots__ = ("device", "strides", "head", "workspace", "saved", "any")

    def __init__(self, inputs, softplus, backward, out, out_z):
        check_scan(*inputs)
        u, delta, A, B, C, _, z, _ = inputs
        native().load(SCAN_IMAGE)
        groups = groups_of(B, C)
        sizes = *u.shape, A.shape[1], groups, bool(softplus), parts_of(u, groups, backward), 0
        self.head = _HEAD(SCAN.size, TYPES[u.dtype], *sizes)
        self.device = u.device.index
        self.saved, self.any = saved_shape(u, A), u.numel() > 0
        self.strides = (*map(_rows, (u, delta, z, out, out_z, A)), _matrix(B), _matrix(C))
        alone = _SCAN.pack(self.head, *sum(((0, x) for x in self.strides), ()), *5 * (0,), *_NO_GRADIENTS)
        self.workspace = -(-native().scan_workspace(alone, backward) // 4) if u.numel() else 0

    def pack(self, u, delta, z, out, out_z, A, B, C, D, delta_bias, x, gradients=_NO_GRADIENTS):
        """(the struct, its workspace, which must live until the launch)."""
        workspace = torch.empty(self.workspace, dtype=torch.float32, device=u.device) if self.workspace else None
        of_u, of_delta, of_z, of_out, of_out_z, of_a, of_b, of_c = self.strides
        packed = _SCAN.pack(
            self.head,
            u.data_ptr(), of_u,
            delta.data_ptr(), of_delta,
            address(z), of_z,
            address(out), of_out,
            address(out_z), of_out_z,
            A.data_ptr(), of_a,
            B.data_ptr(), of_b,
            C.data_ptr(), of_c,
            address(D), address(delta_bias), address(x), address(workspace), 4 * self.workspace,
            *gradients,
        )  # fmt: skip
        return packed, workspace


def scan_cuda(u, delta, A, B, C, D, z, delta_bias, softplus, saves=True, prepare=_prepare):
    """(out, x, out_z); out_z is None without z, and x where nothing is to be saved. prepare: see Plans.take()."""

    def make(*inputs):
        z = inputs[6]
        return _Scan(inputs, softplus, False, torch.empty_like(inputs[1]), None if z is None else torch.empty_like(z))

    plan, inputs = _plans.take((u, delta, A, B, C, D, z, delta_bias), softplus, prepare, make)
    u, delta, A, B, C, D, z, delta_bias = inputs
    out = torch.empty_like(delta)
    out_z = None if z is None else torch.empty_like(z)
    x = A.new_empty(plan.saved) if saves else None
    if plan.any:
        packed, workspace = plan.pack(u, delta, z, out, out_z, A, B, C, D, delta_bias, x)
        launch("scan_forward", packed, plan.device, "selective_scan")
    return out, x, out_z


def _check_gradients(u, z, dout, out, dz):
    _require_like(dout, "dout", u.shape, u.dtype, u)
    _require(_is_contiguous_last(dout), "dout", "contiguous in its last dimension")
    if z is not None:
        _require(out is not None, "out", "what forward returned, where there is z")
        for name, t in (("out", out), ("dz", dz)):
            _require_like(t, name, u.shape, u.dtype, u)
            _require(_is_contiguous_last(t), name, "contiguous in its last dimension")


def scan_backward_cuda(u, delta, A, B, C, D, z, delta_bias, dout, out, dz, softplus, recompute_out_z):
    """(du, ddelta, dA, dB, dC, dD, ddelta_bias, dz, out_z); None for what was not given or asked for."""
    inputs = u, delta, A, B, C, D, z, delta_bias = _prepare(u, delta, A, B, C, D, z, delta_bias)
    dout, out = plain(dout), plain(out)
    require_plain("dz", dz)
    if z is None:
        dz = out = None
    elif dz is None:
        dz = torch.empty_like(z)
    du, ddelta = torch.empty_like(u), torch.empty_like(delta)
    out_z = torch.empty_like(out) if out is not None and recompute_out_z else None
    rows = dout, du, ddelta, dz

    key = signatures((*inputs, dout, out, dz)), u.device, softplus, out_z is None
    found = _gradient_plans.get(key)
    if found is None:
        _check_gradients(u, z, dout, out, dz)
        found = _gradient_plans.put(key, (_Scan(inputs, softplus, True, out, out_z), tuple(map(_rows, rows))))
    plan, strides = found
    weights = [
        None if t is None else torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in (A, B, C, D, delta_bias)
    ]
    if not u.numel():
        for t in weights:
            if t is not None:
                t.zero_()
        return (du, ddelta, *weights, dz, out_z)
    gradients = *sum(zip(map(address, rows), strides), ()), *map(address, weights)
    packed, workspace = plan.pack(u, delta, z, out, out_z, A, B, C, D, delta_bias, None, gradients)
    launch("scan_backward", packed, plan.device, "selective_scan_backward")
    return (du, ddelta, *weights, dz, out_z)


# ---- state update ----


_UPDATE_HEAD = UPDATE.part("size", "reserved").pack
_STATE = UPDATE.part("state_stride_entry", "state_stride_state").pack
_STRIDED = STRIDED.part("stride[0]", "reserved").pack
_UPDATE = UPDATE.apart("state x dt z out a b c d dt_bias indices")


def _strided(t):
    if t is None:
        return b""
    s = t.stride()
    return _STRIDED(s[0], s[1], s[2] if len(s) > 2 else 0, TYPES[t.dtype], 0)


def _with_heads(state, x, dt, A, B, C, D, z, dt_bias):
    """The same with a dimension of one head where there is none."""
    add = lambda t, dims, at: t.unsqueeze(at) if t is not None and t.dim() == dims else t
    return (
        add(state, 3, 1), add(x, 2, 1), add(dt, 2, 1), add(A, 2, 0), add(B, 2, 1), add(C, 2, 1), add(D, 1, 0),
        add(z, 2, 1), add(dt_bias, 1, 0),
    )  # fmt: skip


def _check_update(state, x, dt, A, B, C, D, z, dt_bias, indices):
    """As _with_heads() makes them."""
    _require(is_on_gpu(state), "state", "on a CUDA device")
    _require(state.dim() == 4, "state", "[batch, dim, dstate] or [batch, heads, dim, dstate]")
    entries, heads, dim, states = state.shape
    _require(x.dim() == 3, "x", "[batch, dim] or [batch, heads, dim]")
    batch = x.shape[0]
    _require(B.dim() == 3 and B.shape[1] > 0 and heads % B.shape[1] == 0, "B", f"of groups that divide {heads}")
    wanted = {
        "x": (x, (batch, heads, dim)),
        "dt": (dt, (batch, heads, dim)),
        "A": (A, (heads, dim, states)),
        "B": (B, (batch, B.shape[1], states)),
        "C": (C, (batch, B.shape[1], states)),
        "D": (D, (heads, dim)),
        "z": (z, (batch, heads, dim)),
        "dt_bias": (dt_bias, (heads, dim)),
    }
    for name, (t, shape) in wanted.items():
        if t is None:
            continue
        _require(tuple(t.shape) == shape, name, f"of shape {shape}, not {tuple(t.shape)}")
        _require(t.device == state.device, name, "on the state's device")
        _require(t.dtype in TYPES, name, f"float16, bfloat16 or float32, not {t.dtype}")
    _require(state.dtype in TYPES, "state", f"float16, bfloat16 or float32, not {state.dtype}")
    if indices is None:
        _require(entries == batch, "state", f"of batch {batch}, where there are no state_batch_indices")
    else:
        _require(tuple(indices.shape) == (batch,), "state_batch_indices", f"of shape ({batch},)")
        _require(indices.device == state.device, "state_batch_indices", "on the state's device")


class _Update:
    """Values that are computed and checked once for each signature of a state update."""

    __slots__ = ("device", "head", "state", "strides", "any", "is_contiguous")

    def __init__(self, tensors, indices, softplus):
        tensors = state, x, dt, A, B, C, D, z, dt_bias = _with_heads(*tensors)
        _check_update(*tensors, indices)
        self.any, self.is_contiguous = x.numel() > 0, x.is_contiguous()
        out = x.new_empty(x.shape)
        native().load(SCAN_IMAGE)
        entries, heads, dim, states = state.shape
        sizes = x.shape[0], heads, dim, states, B.shape[1], entries, bool(softplus), 0
        self.head = _UPDATE_HEAD(UPDATE.size, TYPES[state.dtype], *sizes)
        self.device = state.device.index
        self.state = _STATE(*state.stride())
        self.strides = tuple(map(_strided, (x, dt, z, out, A, B, C, D, dt_bias)))


def _indices(t):
    """The indices as the kernel reads them: int32, contiguous; None stays None."""
    if t is None:
        return None
    if t.dtype not in (torch.int32, torch.int64):
        refuse("state_batch_indices", f"int32, not {t.dtype}")
    return t.to(torch.int32).contiguous()


def _prepare_update(state, *rest):
    require_plain("state", state)
    *inputs, indices = rest
    return state, *map(plain, inputs), _indices(indices)


def update_cuda(state, x, dt, A, B, C, D, z, dt_bias, softplus, indices):
    """out, contiguous, of x's shape and type; the state changes in place. All with a dimension of heads, or all without."""
    plan, tensors = _updates.take(
        (state, x, dt, A, B, C, D, z, dt_bias, indices), softplus, _prepare_update, lambda *t: _Update(t[:-1], t[-1], softplus)
    )
    state, x, dt, A, B, C, D, z, dt_bias, indices = tensors
    out = torch.empty_like(x) if plan.is_contiguous else x.new_empty(x.shape)
    if not plan.any:
        return out
    of_x, of_dt, of_z, of_out, of_a, of_b, of_c, of_d, of_bias = plan.strides
    packed = _UPDATE.pack(
        plan.head,
        state.data_ptr(), plan.state,
        x.data_ptr(), of_x,
        dt.data_ptr(), of_dt,
        address(z), of_z,
        out.data_ptr(), of_out,
        A.data_ptr(), of_a,
        B.data_ptr(), of_b,
        C.data_ptr(), of_c,
        address(D), of_d,
        address(dt_bias), of_bias,
        address(indices),
    )  # fmt: skip
    launch("state_update", packed, plan.device, "selective_state_update")
    return out
