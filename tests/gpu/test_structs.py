"""Checks each member of the wsk.h structs that a call fills. It launches no kernel; the library only returns sizes."""

import torch
from test_attention import DEVICE

import wheelsmith_kernels as wk
from wheelsmith_kernels import _native, _structs

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
    from wheelsmith_kernels import _conv_calls

    x, out = (of(2, 9, 24)[:, :, :16].transpose(1, 2) for _ in range(2))
    weight, bias = of(16, 5, dtype=torch.float32)[:, :4], of(16, dtype=torch.float32)
    initial, final, dinitial, dfinal = (of(2, 3, 16).transpose(1, 2) for _ in range(4))
    dout, dx = (of(2, 9, 16).transpose(1, 2) for _ in range(2))
    dweight, dbias = of(16, 4), of(16)
    head = _structs.CONV.size, FLOAT16, FLOAT32, 4, 2, 16, 9, 1
    weights = weight.data_ptr(), *weight.stride(), bias.data_ptr()
    none = (0, 0, 0, 0)
    for _ in range(2):  # the second time it is remembered
        with Caught(_conv_calls) as caught:
            _conv_calls.causal_conv1d_fwd(x, weight, bias, None, initial, out, final, True)
            _conv_calls.causal_conv1d_bwd(x, weight, bias, dout, None, initial, dfinal, dx, dweight, dbias, dinitial, True)
        (first, forward), (second, backward) = caught.calls
        assert (first, second) == ("conv_forward", "conv_backward")
        forward, backward = map(_structs.CONV.whole.unpack, (forward, backward))
        wanted = *head, *plane(x), *plane(out), *weights, 0, *plane(initial), *plane(final), *none * 4, *(0,) * 8
        assert forward == wanted, (forward, wanted)
        wanted = *head, *plane(x), *none, *weights, 0, *plane(initial), *none
        wanted += *plane(dout), *plane(dx), *plane(dinitial), *plane(dfinal)
        wanted += dweight.data_ptr(), *dweight.stride(), dbias.data_ptr(), FLOAT16, 1
        assert backward[:-2] == wanted, (backward, wanted)
        assert backward[-2] and backward[-1] == caught.native.scratch("conv_scratch", caught.calls[1][1]) > 0


def test_a_convolution_of_numbers():
    from wheelsmith_kernels import _conv_calls

    x, out, numbers = of(2, 9, 16).transpose(1, 2), of(2, 9, 16).transpose(1, 2), of(2, 9, dtype=torch.int32)
    with Caught(_conv_calls) as caught:
        _conv_calls.causal_conv1d_fwd(x, of(16, 4), None, numbers, None, out, None, False)
    fields = _structs.CONV.whole.unpack(caught.calls[0][1])
    assert fields[7] == 0 and fields[19:21] == (0, numbers.data_ptr()) and not any(fields[21:])


def test_a_step():
    from wheelsmith_kernels import _conv_calls

    x, state, weight = of(2, 16, 1), of(5, 16, 6)[:, :, :4], of(16, 4)
    lengths, entries = of(2, dtype=torch.int32), of(2, dtype=torch.int32)
    for _ in range(2):
        out = torch.empty_like(x)
        with Caught(_conv_calls) as caught:
            _conv_calls.causal_conv1d_update_into(x, state, weight, None, out, True, lengths, entries)
        wanted = _structs.CONV_STEP.size, FLOAT16, FLOAT16, 4, 2, 16, 1, 1, *plane(x), *plane(out)
        wanted += weight.data_ptr(), *weight.stride(), 0, *plane(state), 4, 5, lengths.data_ptr(), entries.data_ptr()
        assert caught.calls == [("conv_update", caught.calls[0][1])]
        assert _structs.CONV_STEP.whole.unpack(caught.calls[0][1]) == wanted
    # The cache is keyed by signature: changed strides, types and missing tensors are checked again.
    for wrong in (dict(conv_state=state[:, :8]), dict(weight=weight[:8]), dict(x=x.float()), dict(cache_seqlens=lengths.long())):
        try:
            wk.causal_conv1d_update(**{**dict(x=x, conv_state=state, weight=weight, conv_state_indices=entries), **wrong})
        except wk.KernelError as error:
            assert error.argument in ("conv_state", "weight", "cache_seqlens"), error
        else:
            raise AssertionError(wrong)


def rows(t):
    return (0, 0, 0) if t is None else (t.data_ptr(), *t.stride()[:2])


def test_a_scan():
    from wheelsmith_kernels import _scan_calls, selective_scan_fn

    u, delta, z = (of(2, 9, 24)[:, :, :16] for _ in range(3))
    A, B, C = of(9, 5, dtype=torch.float32), of(2, 5, 24)[:, :, :16], of(2, 1, 5, 16)
    D = of(9, dtype=torch.float32)
    for _ in range(2):
        for saves in (False, True):
            with Caught(_scan_calls) as caught, torch.no_grad():
                found = selective_scan_fn(u, delta, A, B, C, D, z, None, True, return_last_state=saves)
            (name, packed), = caught.calls
            fields = _structs.SCAN.whole.unpack(packed)
            out_z = found[0] if saves else found
            assert name == "scan_forward" and fields[:10] == (_structs.SCAN.size, FLOAT16, 2, 9, 16, 5, 1, 1, 1, 0)
            assert fields[10:19] == rows(u) + rows(delta) + rows(z) and fields[20:22] == tuple(out_z.stride()[:2])
            assert fields[22:25] == rows(out_z) and fields[25:28] == (A.data_ptr(), *A.stride())
            # With one group, the stride between groups is unused.
            assert fields[28:31:2] == (B.data_ptr(), 0) and fields[29] == 5 * 24 and fields[31:33] == (24, 1)
            assert fields[34] == C.data_ptr() and fields[35] == C.stride(0) and fields[37:39] == (16, 1)
            assert fields[40:42] == (D.data_ptr(), 0) and bool(fields[42]) == saves and not any(fields[43:])


def test_an_update():
    from wheelsmith_kernels import _scan_calls, selective_state_update

    strided = lambda t: (0, 0, 0, 0, 0, 0) if t is None else (t.data_ptr(), *t.stride(), FLOAT16 if t.dtype == torch.float16 else FLOAT32, 0)
    state, x, dt = of(3, 2, 9, 5, dtype=torch.float32), of(3, 2, 9), of(3, 2, 18)[..., ::2]
    A, B, C, D = of(2, 9, 5, dtype=torch.float32), of(3, 1, 5), of(3, 2, 5), of(2, 9, dtype=torch.float32)
    C = C[:, :1]
    entries = torch.zeros(3, dtype=torch.int64, device=DEVICE)
    for heads in (True, False):
        given = (state, x, dt, A, B, C, D) if heads else (state[:, 0], x[:, 0].contiguous(), dt[:, 0], A[0], B[:, 0], C[:, 0], D[0])
        for indices in (None, entries, entries.int()) * 2:
            with Caught(_scan_calls) as caught:
                out = selective_state_update(*given, None, None, True, indices)
            (name, packed), = caught.calls
            fields = _structs.UPDATE.whole.unpack(packed)
            one = lambda t, at: t if heads or t is None else t.unsqueeze(at)
            s, a, b, dt_, A_, B_, C_, D_ = (
                one(t, at) for t, at in zip((*given[:2], out, *given[2:]), (1, 1, 1, 1, 0, 1, 1, 0))
            )
            count = 2 if heads else 1
            assert name == "state_update" and out.shape == given[1].shape and out.is_contiguous()
            assert fields[:10] == (_structs.UPDATE.size, FLOAT32, 3, count, 9, 5, 1, 3, 1, 0), fields[:10]
            assert fields[10:15] == (s.data_ptr(), *s.stride())
            flat = lambda t: strided(t) if t is None or t.dim() > 2 else (t.data_ptr(), *t.stride(), 0, FLOAT32, 0)
            wanted = sum((flat(t) for t in (a, dt_, None, b, A_, B_, C_, D_, None)), ())
            assert fields[15:69] == wanted, (fields[15:69], wanted)
            assert bool(fields[69]) == (indices is not None)
