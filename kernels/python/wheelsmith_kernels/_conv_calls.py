"""Calls of the convolution with torch's tensors: checked once for each signature, then packed and launched.

causal_conv1d_fwd, _bwd and _update_into are the functions of the extension module causal_conv1d_cuda: they write into
tensors that they are given.
"""

import torch

from ._native import CONV_IMAGE, native, refuse
from ._structs import CONV, CONV_STEP
from ._tensors import TYPES, Plans, address, is_on_gpu, launch, plain, require_plain

#: The structs of a call: addresses, and between them what is the same for each call of a signature.
_FORWARD = CONV.apart("x out weight bias seq_idx initial_states final_states")
_BACKWARD = CONV.apart(
    "x weight bias seq_idx initial_states grad_out grad_x grad_initial_states grad_final_states grad_weight grad_bias "
    "scratch scratch_size"
)
_STEP = CONV_STEP.apart("x out weight bias state cache_seqlens indices")
_KINDS = CONV.part("grad_type", "accumulate").pack
_STATE = CONV_STEP.part("state.stride_batch", "entries").pack
_PLANE = CONV.part("x.stride_batch", "x.stride_row").pack
_WEIGHT = CONV.part("weight_stride_channel", "weight_stride_tap").pack

_forwards, _backwards, _steps = Plans(), Plans(), Plans()


def _same(name, t, shape, dtype, device):
    if t is not None and (t.shape != shape or t.dtype != dtype or t.device != device):
        refuse(name, f"{dtype} of shape {tuple(shape)} on x's device")


def _numbers(name, t, shape, device):
    """Checks for contiguous int32 numbers."""
    _same(name, t, shape, torch.int32, device)
    if t is not None and not t.is_contiguous():
        refuse(name, "contiguous")


def _check(x, weight, bias):
    """Checks that forward, backward and update share. Strides and sizes are checked by the library."""
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
    return of.part("size", "silu").pack(of.size, TYPES[x.dtype], TYPES[weight.dtype], weight.shape[1], *x.shape, int(silu))


def _strides(t):
    return b"" if t is None else (_PLANE if t.dim() == 3 else _WEIGHT)(*t.stride())


def _plan(of, x, weight, silu, tensors, *more):
    """(device, head, strides of `tensors`, *more) of a call that was checked; head is None of no elements."""
    if x.numel():
        native().load(CONV_IMAGE)
    head = _head(of, x, weight, silu) if x.numel() else None
    return (x.device.index, head, tuple(map(_strides, tensors)), *more)


def _states_shape(x, weight):
    return x.shape[:2] + (weight.shape[1] - 1,)


def _hand_on(states, into):
    """The result for zero rows: the states before are the states after."""
    if into is not None:
        into.zero_() if states is None else into.copy_(states)


def _prepare_forward(x, weight, bias, seq_idx, initial_states, out, final_states_out):
    require_plain("out", out), require_plain("final_states_out", final_states_out)
    return *map(plain, (x, weight, bias, seq_idx, initial_states)), out, final_states_out


def causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu_activation):
    """Writes out, and final_states_out where it is given. Shapes, dtypes and errors as causal_conv1d_fn has them."""
    given = x, weight, bias, seq_idx, initial_states, out, final_states_out
    make = lambda *tensors: plan_forward(*tensors, silu_activation)
    plan, tensors = _forwards.take(given, silu_activation, _prepare_forward, make)
    forward(plan, *tensors)


def forward(plan, x, weight, bias, seq_idx, initial_states, out, final_states_out):
    device, head, (of_x, of_out, of_weight, of_initial, of_final) = plan
    if head is None:
        _hand_on(initial_states, final_states_out)
        return
    call = _FORWARD.pack(
        head, x.data_ptr(), of_x, out.data_ptr(), of_out, weight.data_ptr(), of_weight, address(bias),
        address(seq_idx), address(initial_states), of_initial, address(final_states_out), of_final,
    )  # fmt: skip
    launch("conv_forward", call, device)


def plan_forward(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu):
    """Checks the tensors and returns what forward() needs besides them."""
    _check(x, weight, bias)
    _same("out", out, x.shape, x.dtype, x.device)
    _numbers("seq_idx", seq_idx, (x.shape[0], x.shape[2]), x.device)
    states = _states_shape(x, weight)
    _same("initial_states", initial_states, states, x.dtype, x.device)
    _same("final_states_out", final_states_out, states, x.dtype, x.device)
    return _plan(CONV, x, weight, silu, (x, out, weight, initial_states, final_states_out))


def _prepare_backward(x, weight, bias, dout, seq_idx, initial_states, dfinal, dx, dweight, dbias, dinitial):
    for name, t in (("dx", dx), ("dweight", dweight), ("dbias", dbias), ("dinitial_states", dinitial)):
        require_plain(name, t)
    x, weight, bias, dout, seq_idx, initial_states, dfinal = map(
        plain, (x, weight, bias, dout, seq_idx, initial_states, dfinal)
    )
    dout = _laid_out(dout, x) if x.dim() == dout.dim() == 3 else dout
    return x, weight, bias, dout, seq_idx, initial_states, dfinal, dx, dweight, dbias, dinitial


def backward(
    x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu, add
):
    """Writes dx and dinitial_states; writes dweight and dbias, or accumulates into them."""
    given = x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states
    make = lambda *tensors: _plan_backward(*tensors, silu, add)
    plan, tensors = _backwards.take(given, (silu, add), _prepare_backward, make)
    x, weight, bias, dout, seq_idx, initial_states, dfinal_states = tensors[:7]
    device, head, strides, kinds, size = plan
    if head is None:
        _hand_on(dfinal_states, dinitial_states)
        return
    of_x, of_weight, of_initial, of_dout, of_dx, of_dinitial, of_dfinal, of_dweight = strides
    scratch = torch.empty(size // 4, dtype=torch.float32, device=x.device)
    call = _BACKWARD.pack(
        head, x.data_ptr(), of_x, weight.data_ptr(), of_weight, address(bias), address(seq_idx),
        address(initial_states), of_initial, dout.data_ptr(), of_dout, dx.data_ptr(), of_dx,
        address(dinitial_states), of_dinitial, address(dfinal_states), of_dfinal, dweight.data_ptr(), of_dweight,
        address(dbias), kinds, scratch.data_ptr(), size,
    )  # fmt: skip
    launch("conv_backward", call, device)


def _plan_backward(x, weight, bias, dout, seq_idx, initial_states, dfinal, dx, dweight, dbias, dinitial, silu, add):
    _check(x, weight, bias)
    _same("dout", dout, x.shape, x.dtype, x.device)
    _same("dx", dx, x.shape, x.dtype, x.device)
    _numbers("seq_idx", seq_idx, (x.shape[0], x.shape[2]), x.device)
    states = _states_shape(x, weight)
    for name, t in (("initial_states", initial_states), ("dfinal_states", dfinal), ("dinitial_states", dinitial)):
        _same(name, t, states, x.dtype, x.device)
    if dweight.dtype not in TYPES:
        refuse("dweight", "float16, bfloat16 or float32")
    _same("dweight", dweight, weight.shape, dweight.dtype, x.device)
    _same("dbias", dbias, weight.shape[:1], dweight.dtype, x.device)
    sizes = _head(CONV, x, weight, silu).ljust(CONV.size, b"\0")
    size = native().scratch("conv_scratch", sizes) if x.numel() else 0
    tensors = x, weight, initial_states, dout, dx, dinitial, dfinal, dweight
    return _plan(CONV, x, weight, silu, tensors, _KINDS(TYPES[dweight.dtype], int(add)), size)


def causal_conv1d_bwd(
    x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu_activation
):
    """Writes dx and dinitial_states, accumulates into dweight and dbias; each gradient has the shape of its tensor.

    dout, dx, dfinal_states and dinitial_states are of x's dtype; dweight and dbias of one, any of the three.
    """
    grads = dx, dweight, dbias, dinitial_states
    backward(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, *grads, silu_activation, True)


def prepare_step(x, conv_state, weight, bias, cache_seqlens, conv_state_indices, *out):
    for name, t in (("conv_state", conv_state), *(("out", t) for t in out)):
        require_plain(name, t)
    return plain(x), conv_state, plain(weight), plain(bias), cache_seqlens, conv_state_indices, *out


def causal_conv1d_update_into(x, conv_state, weight, bias, out, silu, cache_seqlens, conv_state_indices):
    """Writes out, and the new rows into conv_state. As causal_conv1d_update, but x is (batch, dim, seqlen)."""
    given = x, conv_state, weight, bias, cache_seqlens, conv_state_indices, out
    plan, tensors = _steps.take(given, silu, prepare_step, lambda *tensors: plan_step(*tensors, silu))
    step(plan, *tensors)


def step(plan, x, conv_state, weight, bias, cache_seqlens, conv_state_indices, out):
    device, head, (of_x, of_out, of_weight), of_state = plan
    if head is None:
        return
    call = _STEP.pack(
        head, x.data_ptr(), of_x, out.data_ptr(), of_out, weight.data_ptr(), of_weight, address(bias),
        conv_state.data_ptr(), of_state, address(cache_seqlens), address(conv_state_indices),
    )  # fmt: skip
    launch("conv_update", call, device)


def plan_step(x, conv_state, weight, bias, cache_seqlens, conv_state_indices, out, silu):
    """Checks the tensors and returns what step() needs besides them."""
    _check(x, weight, bias)
    batch, dim, _ = x.shape
    _same("out", out, x.shape, x.dtype, x.device)
    if conv_state.dim() != 3 or (conv_state_indices is None and conv_state.shape[0] != batch):
        refuse("conv_state", f"of shape ({batch}, {dim}, state_len)")
    _same("conv_state", conv_state, (conv_state.shape[0], dim, conv_state.shape[2]), x.dtype, x.device)
    _numbers("cache_seqlens", cache_seqlens, (batch,), x.device)
    _numbers("conv_state_indices", conv_state_indices, (batch,), x.device)
    of_state = _STATE(*conv_state.stride(), conv_state.shape[2], conv_state.shape[0])
    return _plan(CONV_STEP, x, weight, silu, (x, out, weight), of_state)


def _is_last(x):
    """Channels are contiguous, and rows are not."""
    return x.stride(1) == 1 and x.stride(2) > 1


def channels_contiguous(t):
    """`t`, copied if its channels are not contiguous; None stays None."""
    return t if t is None or t.stride(1) == 1 else t.transpose(1, 2).contiguous().transpose(1, 2)


def _laid_out(t, x):
    """`t`, copied where its contiguous dimension is another than that of `x`."""
    if _is_last(x):
        return channels_contiguous(t)
    return t if t.stride(2) == 1 or t.shape[2] == 1 else t.contiguous()
