"""causal_conv1d: a causal convolution of each channel by itself, forward, backward and step by step.

causal_conv1d_fn and causal_conv1d_update are called like those of the package causal_conv1d; the functions
named after its extension module (causal_conv1d_fwd, _bwd, _update) write into tensors that they are given.
"""

import struct

import torch

from ._native import CONV, CONV_IMAGE, CONV_STEP, native, refuse
from ._attention_ops import no_second_derivative
from ._tensors import TYPES, Plans, address, is_on_gpu, launch, needs_gradient, plain, remember, require_plain, signature, signatures

_SILU = {None: False, "silu": True, "swish": True}

#: The structs of a call: addresses, and between them what is the same for each call of a signature. A head; x, out;
#: weight, bias, seq_idx; initial and final states; and of gradients out, x, initial and final states, weight, bias.
_PLANE, _NONE = "Q24s", "32x"
_FORWARD = struct.Struct("=32s" + 2 * _PLANE + "Q16sQQ" + 2 * _PLANE + 4 * _NONE + "56x")
_BACKWARD = struct.Struct("=32s" + _PLANE + _NONE + "Q16sQQ" + _PLANE + _NONE + 4 * _PLANE + "Q16sQ8sQQ")
_STEP = struct.Struct("=32s" + 2 * _PLANE + "Q16sQ" + _PLANE + "8sQQ")

#: (device, head, strides, …) by signature: what was checked once
_plans = {}

#: The same by what the functions are called with, for calls without gradients of which nothing is copied
_ready, _ready_steps = Plans(), Plans()


def _make_ready(plans, key, plan, inputs, taken):
    """Has calls with this key take this plan, where `inputs` were `taken` as they are."""
    if all(a is b for a, b in zip(inputs, taken)) and not any(t is not None and t.is_neg() for t in inputs):
        plans.put(key, plan)


def _silu(activation):
    if activation not in _SILU:
        raise NotImplementedError("activation must be None, silu, or swish")
    return _SILU[activation]


def _same(name, t, shape, dtype, device):
    if t is not None and (t.shape != shape or t.dtype != dtype or t.device != device):
        refuse(name, f"{dtype} of shape {tuple(shape)} on x's device")


def _numbers(name, t, shape, device):
    """Of int32, one beside the other."""
    _same(name, t, shape, torch.int32, device)
    if t is not None and not t.is_contiguous():
        refuse(name, "contiguous")


def _check(x, weight, bias):
    """What forward, backward and update share. Strides and sizes are checked by the library."""
    if not is_on_gpu(x):
        refuse("x", "on a CUDA device")
    if x.dtype not in TYPES:
        refuse("x", f"float16, bfloat16 or float32, not {x.dtype}")
    if x.dim() != 3:
        refuse("x", "of shape (batch, dim, seqlen)")
    if weight.dtype not in TYPES or weight.device != x.device:
        refuse("weight", "float16, bfloat16 or float32 on x's device")
    if weight.dim() != 2 or weight.shape[0] != x.shape[1]:
        refuse("weight", f"of shape ({x.shape[1]}, width)")
    _same("bias", bias, weight.shape[:1], weight.dtype, x.device)
    if bias is not None and bias.stride(0) != 1 and bias.shape[0] > 1:
        refuse("bias", "contiguous")


def _head(of, x, weight, silu):
    sizes = *x.shape[:2], x.shape[2], int(silu)
    return struct.pack("I7i", of.size, TYPES[x.dtype], TYPES[weight.dtype], weight.shape[1], *sizes)


def _strides(t):
    return bytes(24) if t is None else struct.pack(f"{t.dim()}q", *t.stride()).ljust(24, b"\0")


def _plan(key, of, x, weight, silu, tensors, *more):
    """(device, head, strides of `tensors`, *more) of a call that was checked; head is None of no elements."""
    if x.numel():
        native().load(CONV_IMAGE)
    head = _head(of, x, weight, silu) if x.numel() else None
    return remember(_plans, key, (x.device.index, head, tuple(map(_strides, tensors)), *more))


def _states_shape(x, weight):
    return x.shape[:2] + (weight.shape[1] - 1,)


def _hand_on(states, into):
    """Of no rows: what came before is what is left."""
    if into is not None:
        into.zero_() if states is None else into.copy_(states)


def causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu_activation):
    """Writes out, and final_states_out where it is given. Shapes, dtypes and errors as causal_conv1d_fn has them.

    Returns the plan of such calls."""
    x, weight, bias, initial_states = map(plain, (x, weight, bias, initial_states))
    require_plain("out", out), require_plain("final_states_out", final_states_out)
    tensors = x, out, weight, initial_states, final_states_out
    key = "forward", *map(signature, tensors), signature(bias), signature(seq_idx), silu_activation
    plan = _plans.get(key) or _plan_forward(key, tensors, bias, seq_idx, silu_activation)
    _forward(plan, x, weight, bias, seq_idx, initial_states, out, final_states_out)
    return plan


def _forward(plan, x, weight, bias, seq_idx, initial_states, out, final_states_out):
    device, head, (of_x, of_out, of_weight, of_initial, of_final) = plan
    if head is None:
        _hand_on(initial_states, final_states_out)
        return
    call = _FORWARD.pack(
        head, x.data_ptr(), of_x, out.data_ptr(), of_out, weight.data_ptr(), of_weight[:16], address(bias),
        address(seq_idx), address(initial_states), of_initial, address(final_states_out), of_final,
    )  # fmt: skip
    launch("conv_forward", call, device)


def _plan_forward(key, tensors, bias, seq_idx, silu):
    x, out, weight, initial_states, final_states_out = tensors
    _check(x, weight, bias)
    _same("out", out, x.shape, x.dtype, x.device)
    _numbers("seq_idx", seq_idx, (x.shape[0], x.shape[2]), x.device)
    states = _states_shape(x, weight)
    _same("initial_states", initial_states, states, x.dtype, x.device)
    _same("final_states_out", final_states_out, states, x.dtype, x.device)
    return _plan(key, CONV, x, weight, silu, tensors)


def _backward(
    x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu, add
):
    """Writes dx and dinitial_states; dweight and dbias are written, or added to."""
    x, weight, bias, dout, initial_states, dfinal_states = map(plain, (x, weight, bias, dout, initial_states, dfinal_states))
    for name, t in (("dx", dx), ("dweight", dweight), ("dbias", dbias), ("dinitial_states", dinitial_states)):
        require_plain(name, t)
    tensors = x, weight, initial_states, dout, dx, dinitial_states, dfinal_states, dweight
    key = "backward", *map(signature, tensors), signature(bias), signature(seq_idx), signature(dbias), silu, add
    plan = _plans.get(key) or _plan_backward(key, tensors, bias, seq_idx, dbias, silu, add)
    device, head, strides, kinds, size = plan
    if head is None:
        _hand_on(dfinal_states, dinitial_states)
        return
    of_x, of_weight, of_initial, of_dout, of_dx, of_dinitial, of_dfinal, of_dweight = strides
    laid_out = _laid_out(dout, x)
    if laid_out is not dout:
        dout, of_dout = laid_out, _strides(laid_out)
    scratch = torch.empty(size // 4, dtype=torch.float32, device=x.device)
    call = _BACKWARD.pack(
        head, x.data_ptr(), of_x, weight.data_ptr(), of_weight[:16], address(bias), address(seq_idx),
        address(initial_states), of_initial, dout.data_ptr(), of_dout, dx.data_ptr(), of_dx,
        address(dinitial_states), of_dinitial, address(dfinal_states), of_dfinal, dweight.data_ptr(), of_dweight[:16],
        address(dbias), kinds, scratch.data_ptr(), size,
    )  # fmt: skip
    launch("conv_backward", call, device)


def _plan_backward(key, tensors, bias, seq_idx, dbias, silu, add):
    x, weight, initial_states, dout, dx, dinitial_states, dfinal_states, dweight = tensors
    _check(x, weight, bias)
    _same("dout", dout, x.shape, x.dtype, x.device)
    _same("dx", dx, x.shape, x.dtype, x.device)
    _numbers("seq_idx", seq_idx, (x.shape[0], x.shape[2]), x.device)
    states = _states_shape(x, weight)
    for name, t in (
        ("initial_states", initial_states),
        ("dfinal_states", dfinal_states),
        ("dinitial_states", dinitial_states),
    ):
        _same(name, t, states, x.dtype, x.device)
    if dweight.dtype not in TYPES:
        refuse("dweight", "float16, bfloat16 or float32")
    _same("dweight", dweight, weight.shape, dweight.dtype, x.device)
    _same("dbias", dbias, weight.shape[:1], dweight.dtype, x.device)
    sizes = _head(CONV, x, weight, silu).ljust(CONV.size, b"\0")
    size = native().scratch("conv_scratch", sizes) if x.numel() else 0
    kinds = struct.pack("ii", TYPES[dweight.dtype], int(add))
    return _plan(key, CONV, x, weight, silu, tensors, kinds, size)


def causal_conv1d_bwd(
    x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu_activation
):
    """Writes dx and dinitial_states, adds to dweight and dbias; each gradient is of the shape of what it is of.

    dout, dx, dfinal_states and dinitial_states are of x's dtype; dweight and dbias of one, any of the three.
    """
    grads = dx, dweight, dbias, dinitial_states
    _backward(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, *grads, silu_activation, True)


def causal_conv1d_update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices):
    """Writes out, and the new rows into conv_state. As causal_conv1d_update, but x is (batch, dim, seqlen).

    Returns the plan of such calls."""
    x, weight, bias = map(plain, (x, weight, bias))
    require_plain("out", out), require_plain("conv_state", conv_state)
    tensors = x, out, weight, conv_state
    numbers = cache_seqlens, conv_state_indices
    key = "step", *map(signature, tensors), signature(bias), *map(signature, numbers), silu
    plan = _plans.get(key) or _plan_step(key, tensors, bias, silu, *numbers)
    _step(plan, x, conv_state, weight, bias, out, *numbers)
    return plan


def _step(plan, x, conv_state, weight, bias, out, cache_seqlens, conv_state_indices):
    device, head, (of_x, of_out, of_weight, of_state), counts = plan
    if head is None:
        return
    call = _STEP.pack(
        head, x.data_ptr(), of_x, out.data_ptr(), of_out, weight.data_ptr(), of_weight[:16], address(bias),
        conv_state.data_ptr(), of_state, counts, address(cache_seqlens), address(conv_state_indices),
    )  # fmt: skip
    launch("conv_update", call, device)


def _plan_step(key, tensors, bias, silu, cache_seqlens, conv_state_indices):
    x, out, weight, conv_state = tensors
    _check(x, weight, bias)
    batch, dim, _ = x.shape
    _same("out", out, x.shape, x.dtype, x.device)
    if conv_state.dim() != 3 or (conv_state_indices is None and conv_state.shape[0] != batch):
        refuse("conv_state", f"of shape ({batch}, {dim}, state_len)")
    _same("conv_state", conv_state, (conv_state.shape[0], dim, conv_state.shape[2]), x.dtype, x.device)
    _numbers("cache_seqlens", cache_seqlens, (batch,), x.device)
    _numbers("conv_state_indices", conv_state_indices, (batch,), x.device)
    counts = struct.pack("ii", conv_state.shape[2], conv_state.shape[0])
    return _plan(key, CONV_STEP, x, weight, silu, tensors, counts)


def _is_last(x):
    """Channels are contiguous, and rows are not."""
    return x.stride(1) == 1 and x.stride(2) > 1


def _require_rows(**tensors):
    """Of three dimensions, before their strides are looked at."""
    for name, t in tensors.items():
        if t is not None and t.dim() != 3:
            refuse(name, "of shape (batch, dim, seqlen)" if name == "x" else "of shape (batch, dim, width - 1)")


def _channels_contiguous(t):
    """`t`, copied where its channels are not contiguous; None of None."""
    return t if t is None or t.stride(1) == 1 else t.transpose(1, 2).contiguous().transpose(1, 2)


def _laid_out(t, x):
    """`t`, copied where its contiguous dimension is another than that of `x`."""
    if _is_last(x):
        return _channels_contiguous(t)
    return t if t.stride(2) == 1 or t.shape[2] == 1 else t.contiguous()


def _channels_first(x, rows):
    """An empty tensor (batch, dim, rows) of contiguous channels, of x's type."""
    return x.new_empty(x.shape[0], rows, x.shape[1]).transpose(1, 2)


def _forward_op(x, weight, bias, seq_idx, initial_states, final, silu):
    out = torch.empty_like(x)
    final_states = _channels_first(x, weight.shape[1] - 1 if final else 0)
    causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states if final else None, silu)
    return out, final_states


def _backward_op(dout, x, weight, bias, seq_idx, initial_states, dfinal_states, silu):
    dx = torch.empty_like(x)
    dweight = torch.empty_like(weight)
    dbias = weight.new_empty(0 if bias is None else bias.shape)
    dinitial = _channels_first(x, 0 if initial_states is None else weight.shape[1] - 1)
    _backward(
        x,
        weight,
        bias,
        dout,
        seq_idx,
        initial_states,
        dfinal_states,
        dx,
        dweight,
        None if bias is None else dbias,
        None if initial_states is None else dinitial,
        silu,
        False,
    )
    if x.numel() == 0:
        dweight.zero_(), dbias.zero_()
    return dx, dweight, dbias, dinitial


def _update_op(x, conv_state, weight, bias, silu, cache_seqlens, conv_state_indices):
    out = torch.empty_like(x)
    causal_conv1d_update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices)
    return out


_library = torch.library.Library("wheelsmith_kernels", "FRAGMENT")
_library.define(
    "conv_forward(Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, Tensor? initial_states, bool final, "
    "bool silu) -> (Tensor, Tensor)"
)
_library.define(
    "conv_backward(Tensor dout, Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, Tensor? initial_states, "
    "Tensor? dfinal_states, bool silu) -> (Tensor, Tensor, Tensor, Tensor)"
)
_library.define(
    "conv_update(Tensor x, Tensor(a!) conv_state, Tensor weight, Tensor? bias, bool silu, Tensor? cache_seqlens, "
    "Tensor? conv_state_indices) -> Tensor"
)
_library.impl("conv_forward", _forward_op, "CUDA")
_library.impl("conv_backward", _backward_op, "CUDA")
_library.impl("conv_update", _update_op, "CUDA")


@torch.library.register_fake("wheelsmith_kernels::conv_forward")
def _forward_fake(x, weight, bias, seq_idx, initial_states, final, silu):
    return torch.empty_like(x), _channels_first(x, weight.shape[1] - 1 if final else 0)


@torch.library.register_fake("wheelsmith_kernels::conv_backward")
def _backward_fake(dout, x, weight, bias, seq_idx, initial_states, dfinal_states, silu):
    dbias = weight.new_empty(0 if bias is None else bias.shape)
    dinitial = _channels_first(x, 0 if initial_states is None else weight.shape[1] - 1)
    return torch.empty_like(x), torch.empty_like(weight), dbias, dinitial


@torch.library.register_fake("wheelsmith_kernels::conv_update")
def _update_fake(x, conv_state, weight, bias, silu, cache_seqlens, conv_state_indices):
    return torch.empty_like(x)


def _keep(ctx, inputs, output):
    x, weight, bias, seq_idx, initial_states, ctx.final, ctx.silu = inputs
    ctx.save_for_backward(x, weight, bias, seq_idx, initial_states)


def _gradients(ctx, call, dout, dfinal_states):
    x, weight, bias, seq_idx, initial_states = ctx.saved_tensors
    dfinal = _channels_contiguous(dfinal_states) if ctx.final else None
    dx, dweight, dbias, dinitial = call(dout, x, weight, bias, seq_idx, initial_states, dfinal, ctx.silu)
    dbias = None if bias is None else dbias
    return dx, dweight, dbias, None, None if initial_states is None else dinitial, None, None


def _differentiate(ctx, dout, dfinal_states):
    return _gradients(ctx, torch.ops.wheelsmith_kernels.conv_backward, dout, dfinal_states)


torch.library.register_autograd("wheelsmith_kernels::conv_forward", _differentiate, setup_context=_keep)
no_second_derivative("conv_backward")


class _Convolution(torch.autograd.Function):
    """The same gradient outside of torch's dispatcher."""

    @staticmethod
    def forward(ctx, *inputs):
        _keep(ctx, inputs, None)
        return _forward_op(*inputs)

    @staticmethod
    def backward(ctx, dout, dfinal_states):
        call = torch.ops.wheelsmith_kernels.conv_backward if torch.is_grad_enabled() else _backward_op
        return _gradients(ctx, call, dout, dfinal_states)


def causal_conv1d_fn(
    x,
    weight,
    bias=None,
    seq_idx=None,
    initial_states=None,
    return_final_states=False,
    final_states_out=None,
    activation=None,
):
    """out (batch, dim, seqlen) of x (batch, dim, seqlen), weight (dim, width) and bias (dim); with gradients.

    x: float16, bfloat16 or float32 on a CUDA device, and out of its dtype and layout; weight and bias of one of
    these dtypes, of their own; width is 2, 3 or 4.
    seq_idx (batch, seqlen), int32: rows of other numbers are not seen; padding is negative, and 0 in out.
    initial_states (batch, dim, width - 1), of x's dtype, come before x. return_final_states: (out, final_states),
    the last width - 1 rows, written to final_states_out where that is given. activation: None, "silu" or "swish".
    seq_idx and states need contiguous channels (x.stride(1) == 1), and exclude each other.

    KernelError: an argument of another dtype, device, shape or layout, by its name. NotImplementedError: another
    activation, as upstream has it.
    """
    silu, given = _silu(activation), (x, weight, bias, seq_idx, initial_states)
    direct = not return_final_states and not torch.compiler.is_compiling() and not needs_gradient(given)
    key = (signatures(given), x.device, silu) if direct else None
    plan = _ready.get(key)
    if plan:
        out = torch.empty_like(x)
        _forward(plan, *given, out, None)
        return out
    _require_rows(x=x, initial_states=initial_states)
    if x.stride(2) != 1 and x.stride(1) != 1:
        x = x.contiguous()
    if seq_idx is not None and (initial_states is not None or return_final_states):
        refuse("seq_idx", "None where there are initial or final states")
    bias = None if bias is None else bias.contiguous()
    seq_idx = None if seq_idx is None else seq_idx.contiguous()
    initial_states = _channels_contiguous(initial_states)
    inputs = x, weight, bias, seq_idx, initial_states, return_final_states, silu
    if direct:
        out = torch.empty_like(x)
        _make_ready(_ready, key, causal_conv1d_fwd(*inputs[:5], out, None, silu), given, inputs)
        return out
    if torch.compiler.is_compiling():
        out, final_states = torch.ops.wheelsmith_kernels.conv_forward(*inputs)
    else:
        out, final_states = (_Convolution.apply if needs_gradient(inputs[:5]) else _forward_op)(*inputs)
    if not return_final_states:
        return out
    if final_states_out is not None:
        final_states = final_states_out.copy_(final_states)
    return out, final_states


def causal_conv1d_update(
    x, conv_state, weight, bias=None, activation=None, cache_seqlens=None, conv_state_indices=None
):
    """out of x (batch, dim) or (batch, dim, seqlen): rows behind those that conv_state keeps, which takes them in.

    x, weight (dim, width), bias (dim) and activation as in causal_conv1d_fn; out is of x's shape and dtype. No
    gradients.
    conv_state (batch, dim, state_len), of x's dtype and any strides, state_len at least width - 1: its last rows
    come before x, and x becomes its last rows, in place; with cache_seqlens (batch), int32, it is a circle, and row
    cache_seqlens % state_len takes the first of x.
    conv_state_indices (batch), int32: which entry of conv_state, that may have any number of them; negative:
    padding, 0 in out.

    KernelError, NotImplementedError: as causal_conv1d_fn.
    """
    silu, given = _silu(activation), (x, conv_state, weight, bias, cache_seqlens, conv_state_indices)
    rows = lambda t: t.unsqueeze(-1) if t.dim() == 2 else t
    if torch.compiler.is_compiling():
        out = torch.ops.wheelsmith_kernels.conv_update(rows(x), conv_state, weight, bias, silu, cache_seqlens, conv_state_indices)
        return out.squeeze(-1) if x.dim() == 2 else out
    plan, out = _ready_steps.get(key := (signatures(given), x.device, silu)), torch.empty_like(x)
    if plan:
        _step(plan, x, conv_state, weight, bias, out, cache_seqlens, conv_state_indices)
        return out
    plan = causal_conv1d_update_into(
        rows(x), conv_state, weight, bias, rows(out), silu, cache_seqlens, conv_state_indices
    )
    _make_ready(_ready_steps, key, plan, given, given)
    return out
