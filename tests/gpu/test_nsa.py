"""A native-sparse-attention block on the kernels: it gives what masks give, and it learns."""

import os

import torch
from nsa import Attention, Model

from wheelsmith_kernels import kernel_calls

DEVICE, NATIVE = "cuda", True


def setup():
    os.environ["WHEELSMITH_ATTENTION"] = "wsk"
    return Attention(160, 4, 2, 80, chosen=3, window=100)


def test_block_is_that_of_masks():
    block = setup().cuda().half()
    x = torch.randn(2, 512, 160, device="cuda").half().requires_grad_()
    grad = torch.randn_like(x)
    found = []
    for native in (True, False):
        block.native = native
        block.zero_grad()
        y = block(x)
        found.append([y, *torch.autograd.grad(y, [x, *block.parameters()], grad)])
    del os.environ["WHEELSMITH_ATTENTION"]
    for a, b in zip(*found):
        assert (a - b).float().norm() < 1e-2 * b.float().norm(), (a.shape, (a - b).float().norm(), b.float().norm())


def batch():
    """Noise, with one of 8 answers six times among the first tokens; from the middle on the model must repeat the answer."""
    ids, answer = torch.randint(8, (16, 512), device=DEVICE), torch.randint(8, (16, 1), device=DEVICE)
    ids.scatter_(1, torch.rand(16, 60, device=DEVICE).topk(6).indices, answer.expand(16, 6) + 8)
    return ids, answer.expand(16, 256)


def train(steps):
    """Losses, and whether every gate of the first step got a gradient. A window of 64 does not see the answer."""
    torch.manual_seed(0)
    model = Model(16, 256, 4, 2, 80, chosen=4, window=64, native=NATIVE).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=1024.0, enabled=NATIVE)
    gates, first, losses = model.block.attention.gates.weight, None, []
    for _ in range(steps):
        ids, answer = batch()
        with torch.autocast(DEVICE, torch.float16, enabled=NATIVE):
            logits = model(ids)[:, 256:, :8]
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), answer.flatten())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        first = gates.grad.clone() if first is None else first
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses, bool((first.abs().sum(1) > 0).all()) and bool(torch.isfinite(gates).all())


def test_two_hundred_steps():
    setup()
    before = kernel_calls()
    losses, gates = train(200)
    del os.environ["WHEELSMITH_ATTENTION"]
    ran = {k: v - before[k] for k, v in kernel_calls().items()}
    assert ran["forward"] == 400 and ran["backward"] == 400, ran
    assert gates and all(x == x for x in losses)
    assert losses[0] > 1.5 and sum(losses[-10:]) / 10 < 0.5, (losses[0], losses[-10:])
    return f"loss {losses[0]:.3f} to {sum(losses[-10:]) / 10:.3f}"
