"""What a call writes into a struct of wsk.h, member by member. Nothing is launched: of the library only sizes are asked."""

import torch
from test_attention import DEVICE

import wheelsmith_kernels as wk
from wheelsmith_kernels import _native

FLOAT16, FLOAT32 = _native.FLOAT16, _native.FLOAT32


class Caught:
    """While it lasts, what would be launched is kept."""

    def __init__(self, module):
        self.module, self.native, self.calls = module, _native.native(), []

    def __enter__(self):
        self.launch, self.load = self.module.launch, self.native.load
        self.module.launch = lambda name, packed, device, counter=None: self.calls.append((name, packed))
        self.native.load = lambda image: None
        return self

    def __exit__(self, *_):
        self.module.launch = self.launch
        del self.native.load


def of(*shape, dtype=torch.float16):
    return torch.zeros(shape, device=DEVICE, dtype=dtype)


def plane(t):
    return (0, 0, 0, 0) if t is None else (t.data_ptr(), *t.stride())


def test_a_convolution():
    from wheelsmith_kernels import _conv

    x, out = (of(2, 9, 24)[:, :, :16].transpose(1, 2) for _ in range(2))
    weight, bias = of(16, 5, dtype=torch.float32)[:, :4], of(16, dtype=torch.float32)
    initial, final, dinitial, dfinal = (of(2, 3, 16).transpose(1, 2) for _ in range(4))
    dout, dx = (of(2, 9, 16).transpose(1, 2) for _ in range(2))
    dweight, dbias = of(16, 4), of(16)
    head = _native.CONV.size, FLOAT16, FLOAT32, 4, 2, 16, 9, 1
    weights = weight.data_ptr(), *weight.stride(), bias.data_ptr()
    none = (0, 0, 0, 0)
    for _ in range(2):  # the second time it is remembered
        with Caught(_conv) as caught:
            _conv.causal_conv1d_fwd(x, weight, bias, None, initial, out, final, True)
            _conv.causal_conv1d_bwd(x, weight, bias, dout, None, initial, dfinal, dx, dweight, dbias, dinitial, True)
        (first, forward), (second, backward) = caught.calls
        assert (first, second) == ("conv_forward", "conv_backward")
        forward, backward = map(_native.CONV.unpack, (forward, backward))
        wanted = *head, *plane(x), *plane(out), *weights, 0, *plane(initial), *plane(final), *none * 4, *(0,) * 8
        assert forward == wanted, (forward, wanted)
        wanted = *head, *plane(x), *none, *weights, 0, *plane(initial), *none
        wanted += *plane(dout), *plane(dx), *plane(dinitial), *plane(dfinal)
        wanted += dweight.data_ptr(), *dweight.stride(), dbias.data_ptr(), FLOAT16, 1
        assert backward[:-2] == wanted, (backward, wanted)
        assert backward[-2] and backward[-1] == caught.native.scratch("conv_scratch", caught.calls[1][1]) > 0


def test_a_convolution_of_numbers():
    from wheelsmith_kernels import _conv

    x, out, numbers = of(2, 9, 16).transpose(1, 2), of(2, 9, 16).transpose(1, 2), of(2, 9, dtype=torch.int32)
    with Caught(_conv) as caught:
        _conv.causal_conv1d_fwd(x, of(16, 4), None, numbers, None, out, None, False)
    fields = _native.CONV.unpack(caught.calls[0][1])
    assert fields[7] == 0 and fields[19:21] == (0, numbers.data_ptr()) and not any(fields[21:])


def test_a_step():
    from wheelsmith_kernels import _conv

    x, state, weight = of(2, 16, 1), of(5, 16, 6)[:, :, :4], of(16, 4)
    lengths, entries = of(2, dtype=torch.int32), of(2, dtype=torch.int32)
    for _ in range(2):
        out = torch.empty_like(x)
        with Caught(_conv) as caught:
            _conv.causal_conv1d_update_into(x, state, weight, None, out, True, lengths, entries)
        wanted = _native.CONV_STEP.size, FLOAT16, FLOAT16, 4, 2, 16, 1, 1, *plane(x), *plane(out)
        wanted += weight.data_ptr(), *weight.stride(), 0, *plane(state), 4, 5, lengths.data_ptr(), entries.data_ptr()
        assert caught.calls == [("conv_update", caught.calls[0][1])]
        assert _native.CONV_STEP.unpack(caught.calls[0][1]) == wanted
    # What is remembered is of a signature: other strides, types and none at all are checked anew.
    for wrong in (dict(conv_state=state[:, :8]), dict(weight=weight[:8]), dict(x=x.float()), dict(cache_seqlens=lengths.long())):
        try:
            wk.causal_conv1d_update(**{**dict(x=x, conv_state=state, weight=weight, conv_state_indices=entries), **wrong})
        except wk.KernelError as error:
            assert error.argument in ("conv_state", "weight", "cache_seqlens"), error
        else:
            raise AssertionError(wrong)
