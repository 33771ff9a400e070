"""A native-sparse-attention block: three branches, gates, grouped heads.

Queries see the means of blocks of 64 keys, the blocks that those means make them choose (one choice for
64 queries and the heads of a group), and a window. A gate of each row and head weighs the three. The
branches over keys are either `wheelsmith_kernels.attention`, or the usual replacement without such a kernel: K and V
repeated for every head, and torch's attention with masks.
"""

import torch
from torch import nn

from wheelsmith_kernels import attention, select_blocks

BLOCK = 64


def _expanded(x, group):
    return x.repeat_interleave(group, 2).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, width, heads, heads_k, head_dim, chosen=8, window=256, native=True):
        super().__init__()
        self.heads, self.heads_k, self.head_dim = heads, heads_k, head_dim
        self.chosen, self.window, self.native = chosen, window, native
        self.q = nn.Linear(width, heads * head_dim, bias=False)
        self.kv = nn.Linear(width, 2 * heads_k * head_dim, bias=False)
        self.gates = nn.Linear(width, 3 * heads)
        self.out = nn.Linear(heads * head_dim, width, bias=False)
        nn.init.xavier_uniform_(self.gates.weight)
        nn.init.zeros_(self.gates.bias)

    def compressed(self, q, k, v):
        """Over the means of the blocks that lie before a query's own, and which blocks weigh most."""
        b, s, h, d = q.shape
        blocks, group = s // BLOCK, h // self.heads_k
        kc, vc = (t.unflatten(1, (blocks, BLOCK)).mean(2) for t in (k, v))
        scores = torch.einsum("bsgrd,bngd->bgrsn", q.unflatten(2, (self.heads_k, group)), kc) * d**-0.5
        own = torch.arange(s, device=q.device) // BLOCK
        before = torch.arange(blocks, device=q.device)[None] < own[:, None]
        p = scores.float().masked_fill(~before, -1e9).softmax(-1) * before
        o = torch.einsum("bgrsn,bngd->bsgrd", p.to(v.dtype), vc).flatten(2, 3)
        with torch.no_grad():
            weight = p.sum(2).unflatten(2, (blocks, BLOCK)).sum(3)  # [b, g, query block, key block]
            at = torch.arange(blocks, device=q.device)
            weight[..., 0] += 1e4
            weight[..., at, at] += 2e4
            return o, weight.topk(min(self.chosen, blocks), -1).indices

    def over_keys(self, q, k, v, indices):
        """The chosen blocks, and the window."""
        s = q.shape[1]
        if self.native:
            blocks = select_blocks(indices, s, s)
            window = (self.window - 1, 0)
            return attention(q, k, v, causal=True, blocks=blocks), attention(q, k, v, window=window)
        group = self.heads // self.heads_k
        k, v = _expanded(k, group), _expanded(v, group)
        blocks = torch.zeros(*indices.shape[:3], s // BLOCK, dtype=torch.bool, device=q.device)
        blocks.scatter_(-1, indices, True)
        i = torch.arange(s, device=q.device)
        causal = i[:, None] >= i[None]
        seen = blocks.repeat_interleave(BLOCK, 2).repeat_interleave(BLOCK, 3).repeat_interleave(group, 1) & causal
        near = causal & (i[:, None] - i[None] < self.window)
        attend = nn.functional.scaled_dot_product_attention
        found = [attend(q.transpose(1, 2), k, v, attn_mask=mask) for mask in (seen, near)]
        return [o.transpose(1, 2) for o in found]

    def forward(self, x):
        q = self.q(x).unflatten(-1, (self.heads, self.head_dim))
        k, v = self.kv(x).unflatten(-1, (2, self.heads_k, self.head_dim)).unbind(2)
        o, indices = self.compressed(q, k, v)
        chosen, near = self.over_keys(q, k, v, indices)
        gates = self.gates(x).sigmoid().unflatten(-1, (3, self.heads, 1)).unbind(2)
        return self.out((gates[0] * o + gates[1] * chosen + gates[2] * near).flatten(2))


class Block(nn.Module):
    """Attention and a feed-forward part, each behind a norm."""

    def __init__(self, width, heads, heads_k, head_dim, **words):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = Attention(width, heads, heads_k, head_dim, **words)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.feed(self.norms[1](x))


class Model(nn.Module):
    """Tokens in, logits out."""

    def __init__(self, tokens, width, heads, heads_k, head_dim, **words):
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.block = Block(width, heads, heads_k, head_dim, **words)
        self.head = nn.Linear(width, tokens)

    def forward(self, ids):
        return self.head(self.block(self.embed(ids)))
