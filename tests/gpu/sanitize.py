"""Every kernel once, on small odd shapes, for compute-sanitizer: no torch kernel that it would flood over.

sanitize.py [MOST]: attention up to that head dimension.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kernels/python"))

import torch  # noqa: E402

from wheelsmith_kernels import _attention_ops, _conv, _scan, attention  # noqa: E402

os.environ["WHEELSMITH_ATTENTION"] = "wsk"
NOTHING = (None, None, None, None, None, 0, 0)


def filled(*shape):
    """Written by a copy from the host: every byte is initialised."""
    return torch.randn(*shape).half().cuda()


most = int(sys.argv[1]) if sys.argv[1:] else 256
for d in [d for d in (32, 64, 80, 96, 128, 256) if d <= most]:
    q, k, v, grad = filled(1, 77, 4, d), filled(1, 101, 2, d), filled(1, 101, 2, d), filled(1, 77, 4, d)
    for left, right in ((-1, 0), (20, 0)):
        o, lse = _attention_ops.forward_cuda(q, k, v, *NOTHING, 0.1, left, right)
        _attention_ops.backward_cuda(grad, q, k, v, o, lse, *NOTHING, 0.1, left, right)
    _attention_ops.decode_cuda(q[:, :3], k, v, None, None, 0.1, -1, 0, 2)
    ends = torch.tensor([0, 30, 30, 77], dtype=torch.int32).cuda()
    words = (ends, ends, None, None, None, 47, 47, 0.1, -1, 0)
    o, lse = _attention_ops.forward_cuda(q[0], k[0, :77], v[0, :77], *words)
    _attention_ops.backward_cuda(grad[0], q[0], k[0, :77], v[0, :77], o, lse, *words)
    # Sets of chosen blocks, exactly as many as there are: also where the last block of threads has rows beyond.
    for rows in (50, 77, 130):
        blocks = -(-rows // 64)
        q, k, v, grad = filled(1, rows, 4, d), filled(1, rows, 2, d), filled(1, rows, 2, d), filled(1, rows, 4, d)
        chosen = torch.full((1, 2, blocks, 1), (1 << blocks) - 1, dtype=torch.int32).cuda()
        words = (None, None, None, None, chosen, 0, 0, 0.1, -1, 0)
        o, lse = _attention_ops.forward_cuda(q, k, v, *words)
        _attention_ops.backward_cuda(grad, q, k, v, o, lse, *words)
    used = torch.tensor([40], dtype=torch.int32).cuda()
    words = (None, None, used, used, None, 0, 0, 0.1, -1, 0)
    o, lse = _attention_ops.forward_cuda(q, k, v, *words)
    _attention_ops.backward_cuda(grad, q, k, v, o, lse, *words)
    attention(q, k, v, causal=True, scale=0.1)
for dtype in (torch.half, torch.float):
    weight, bias = torch.randn(24, 4).cuda(), torch.randn(24).cuda()
    for rows in (1, 77, 1100):
        first, last = torch.randn(2, 24, rows).to(dtype).cuda(), torch.randn(2, rows, 24).to(dtype).cuda().transpose(1, 2)
        numbers = torch.arange(2 * rows, dtype=torch.int32).div(30, rounding_mode="floor").view(2, rows).cuda()
        states = torch.randn(2, 3, 24).to(dtype).cuda().transpose(1, 2)
        for x, words in ((first, ()), (last, ()), (last, (numbers,)), (last, (None, states, True))):
            words = words + (None, None, False)[len(words) :]
            out, final = _conv._forward_op(x, weight, bias, *words, True)
            _conv._backward_op(out, x, weight, bias, *words[:2], final if words[2] else None, True)
    for state in (torch.randn(2, 24, 4), torch.randn(2, 3, 24).transpose(1, 2), torch.randn(2, 24, 7)):
        state = state.to(dtype).cuda()
        for rows in (1, 3):
            token = torch.randn(2, 24, rows).to(dtype).cuda()
            _conv._update_op(token, state, weight, bias, True, None, None)
for dtype in (torch.half, torch.float):
    make = lambda *shape: torch.randn(*shape).to(dtype).cuda()
    # 300 rows of 8 channels are split into parts; 17 states are two launches; A and B that do not vary.
    sizes = (2, 24, 1, 16, True), (2, 40, 131, 16, True), (1, 8, 300, 16, True), (1, 24, 70, 17, True), (1, 24, 70, 16, False)
    for batch, dim, rows, states, varies in sizes:
        A, D, bias = -torch.rand(dim, states).cuda(), torch.randn(dim).cuda(), torch.rand(dim).cuda()
        B = make(batch, 1, states, rows) if varies else torch.randn(dim, states).cuda()
        C = make(batch, 1, states, rows)
        words = make(batch, dim, rows), make(batch, dim, rows), A, B, C, D, make(batch, dim, rows), bias
        out, x, out_z = _scan.fwd(*words, True)
        _scan.bwd(*words, out_z, x, out, None, True, True)
    # One sequence of a model; several for one block; padding slots; states that only the kernel for any takes.
    for batch, dim, states in ((1, 64, 16), (1, 24, 16), (600, 64, 16), (5, 40, 7)):
        for kind in (torch.half, torch.float):
            state, x, dt, z = torch.randn(batch + 1, dim, states).to(kind).cuda(), *(make(batch, dim) for _ in range(3))
            A, B, C = -torch.rand(dim, states).cuda(), make(batch, states), make(batch, states)
            D, bias = torch.randn(dim).cuda(), torch.rand(dim).cuda()
            _scan.selective_state_update(state[:batch], x, dt, A, B, C, D, z, bias, True)
            slots = torch.arange(batch, dtype=torch.int32).sub(1).cuda()
            _scan.selective_state_update(state, x, dt, A, B, C, D, z, bias, True, slots)
            _scan.selective_state_update(state, x, dt, A, B, C, state_batch_indices=slots)
torch.cuda.synchronize()
print("sanitize.py: done")
