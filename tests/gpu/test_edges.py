"""Convolution and scan of nothing, of negated views, and differentiated twice."""

import torch

from wheelsmith_kernels import KernelError, causal_conv1d_fn, causal_conv1d_update, selective_scan_fn, selective_state_update

DIM, STATES = 16, 8


def channels_last(b, n, dim=DIM):
    return torch.randn(b, n, dim, device="cuda").transpose(1, 2)


def test_a_chunk_of_no_rows_hands_the_states_on():
    weight = torch.randn(DIM, 4, device="cuda")
    x, initial = channels_last(2, 0), channels_last(2, 3).requires_grad_()
    poison = torch.full((2, 3, DIM), float("nan"), device="cuda").transpose(1, 2)
    out, final = causal_conv1d_fn(x, weight, initial_states=initial, return_final_states=True, final_states_out=poison)
    assert out.shape == x.shape and torch.equal(final, initial)
    _, final = causal_conv1d_fn(x, weight, initial_states=initial, return_final_states=True)
    grad = torch.randn_like(final)
    assert torch.equal(torch.autograd.grad(final, initial, grad)[0], grad)
    _, final = causal_conv1d_fn(x, weight, return_final_states=True)
    assert (final == 0).all()
    # Chunks, the first and the last of none, are the whole.
    x = channels_last(2, 9)
    whole, last = causal_conv1d_fn(x, weight, initial_states=initial.detach(), return_final_states=True)
    states, parts = initial.detach(), []
    for rows in (slice(0, 0), slice(0, 5), slice(5, 9), slice(9, 9)):
        part, states = causal_conv1d_fn(x[:, :, rows], weight, initial_states=states, return_final_states=True)
        parts.append(part)
    assert torch.allclose(torch.cat(parts, 2), whole, atol=1e-5) and torch.equal(states, last)


def scan_inputs(length, b=2):
    rows = lambda n=DIM: torch.randn(b, n, length, device="cuda")
    return rows(), rows(), -torch.rand(DIM, STATES, device="cuda"), rows(STATES), rows(STATES), torch.randn(DIM, device="cuda"), rows()


def test_a_scan_of_no_steps_leaves_no_state():
    out, state = selective_scan_fn(*scan_inputs(0), return_last_state=True)
    assert out.shape == (2, DIM, 0) and state.shape == (2, DIM, STATES) and (state == 0).all()
    leaves = [t.requires_grad_() for t in scan_inputs(0)]
    assert all((g == 0).all() for g in torch.autograd.grad(selective_scan_fn(*leaves).sum(), leaves))


def test_negated_views():
    x, weight, initial = channels_last(2, 20), torch.randn(DIM, 4, device="cuda"), channels_last(2, 3)
    neg = torch._neg_view
    assert torch.equal(
        causal_conv1d_fn(neg(x), neg(weight), initial_states=neg(initial)), causal_conv1d_fn(-x, -weight, initial_states=-initial)
    )
    leaves = x.requires_grad_(), weight.requires_grad_()
    grad = torch.randn_like(x)
    found = torch.autograd.grad(causal_conv1d_fn(*leaves), leaves, neg(grad))
    for a, b in zip(found, torch.autograd.grad(causal_conv1d_fn(*leaves), leaves, -grad)):
        assert torch.equal(a, b)
    state = torch.randn(2, DIM, 4, device="cuda")
    a, b = state.clone(), state.clone()
    token = torch.randn(2, DIM, device="cuda")
    assert torch.equal(causal_conv1d_update(neg(token), a, weight.detach()), causal_conv1d_update(-token, b, weight.detach()))
    assert torch.equal(a, b)
    inputs = scan_inputs(30)
    assert torch.equal(selective_scan_fn(*map(neg, inputs)), selective_scan_fn(*(-t for t in inputs)))
    token, dt, B = torch.randn(2, DIM, device="cuda"), torch.rand(2, DIM, device="cuda"), torch.randn(2, STATES, device="cuda")
    state = torch.randn(2, DIM, STATES, device="cuda")
    a, b = state.clone(), state.clone()
    A = -torch.rand(DIM, STATES, device="cuda")
    assert torch.equal(selective_state_update(a, neg(token), dt, A, neg(B), B), selective_state_update(b, -token, dt, A, -B, B))
    assert torch.equal(a, b)
    for call in (
        lambda: causal_conv1d_update(token, neg(torch.zeros(2, DIM, 4, device="cuda")), weight.detach()),
        lambda: selective_state_update(neg(state), token, dt, A, B, B),
    ):
        try:
            call()
        except KernelError as error:
            assert "negative bit" in str(error), error
        else:
            raise AssertionError("written in place of a negated view")


def test_second_derivatives_are_refused():
    x, weight = channels_last(2, 20).requires_grad_(), torch.randn(DIM, 4, device="cuda", requires_grad=True)
    leaves = [t.requires_grad_() for t in scan_inputs(30)]
    for call, of in ((lambda: causal_conv1d_fn(x, weight), x), (lambda: selective_scan_fn(*leaves), leaves[0])):
        (first,) = torch.autograd.grad(call().square().sum(), of, create_graph=True)
        try:
            torch.autograd.grad(first.square().sum(), of)
        except KernelError as error:
            assert "no derivative" in str(error), error
        else:
            raise AssertionError("a second derivative came out")
