"""A small causal transformer over bytes, with random weights: it computes what a large one does, and says nothing."""

import torch
from torch import nn

VOCABULARY = 256


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.head_dim = heads, width // heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, attend):
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, self.head_dim)).unbind(-3)
        x = x + self.out(attend(q, k, v).flatten(-2))
        return x + self.mlp(self.after(x))


class Model(nn.Module):
    """Positions are learned, so `context` is the most tokens that prompt and answer have together."""

    def __init__(self, width=512, heads=8, layers=4, context=1024):
        super().__init__()
        self.context = context
        self.tokens, self.positions = nn.Embedding(VOCABULARY, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    @torch.inference_mode()
    def complete(self, prompts, most, prefill, decode):
        """most[i] tokens after each list of tokens, the likeliest each time."""
        device, lengths = self.head.weight.device, [len(p) for p in prompts]
        steps, rows = max(most), range(len(prompts))
        ends = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        first = self.blocks[0]
        # A row that has its tokens stays where it is until the longest has its own: it never leaves the context.
        whole = [n + m for n, m in zip(lengths, most)]
        shape = len(prompts), max(whole), first.heads, first.head_dim
        caches = [[self.head.weight.new_zeros(shape) for _ in "kv"] for _ in self.blocks]
        used = torch.tensor(lengths, dtype=torch.int32, device=device)
        last_used = torch.tensor(whole, dtype=torch.int32, device=device)
        each = torch.arange(len(prompts), device=device)

        def keep_prompts(cache):
            def attend(q, k, v):
                for i in rows:
                    cache[0][i, : lengths[i]] = k[ends[i] : ends[i + 1]]
                    cache[1][i, : lengths[i]] = v[ends[i] : ends[i + 1]]
                return prefill(q, k, v, ends)

            return attend

        def keep_token(cache):
            def attend(q, k, v):
                cache[0][each, used.long() - 1] = k[:, 0]
                cache[1][each, used.long() - 1] = v[:, 0]
                return decode(q, cache[0], cache[1], used)

            return attend

        tokens = torch.tensor([t for p in prompts for t in p], device=device)
        positions = torch.cat([torch.arange(n, device=device) for n in lengths])
        x = self.tokens(tokens) + self.positions(positions)
        for block, cache in zip(self.blocks, caches):
            x = block(x, keep_prompts(cache))
        last = x[[e - 1 for e in ends[1:]]]
        answers = []
        for step in range(steps):
            chosen = self.head(self.norm(last)).argmax(-1)
            answers.append(chosen)
            if step + 1 == steps:
                break
            torch.minimum(used + 1, last_used, out=used)
            x = (self.tokens(chosen) + self.positions(used.long() - 1))[:, None]
            for block, cache in zip(self.blocks, caches):
                x = block(x, keep_token(cache))
            last = x[:, 0]
        return [a[:n] for a, n in zip(torch.stack(answers, 1).tolist(), most)]


def make(device, dtype, seed=0, **words):
    torch.manual_seed(seed)
    return Model(**words).to(device=device, dtype=dtype).eval()
