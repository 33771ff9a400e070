"""The structs of wsk.h from one table, and how Python packs them.

tests/cli/kernels_structs.bats holds the table against the header: every struct and every member.
"""

import ctypes
import itertools
import re
import struct

TABLE = """
problem: text argument, expected; i32 driver, image, kernel
driver: u32 size; function cuLibraryLoadData, cuLibraryGetKernel, cuLibraryUnload, cuLaunchKernel
tensor: u64 data; i64 stride_batch, stride_row, stride_head
plane: u64 data; i64 stride_batch, stride_channel, stride_row
rows: u64 data; i64 stride_batch, stride_channel
matrix: u64 data; i64 stride_batch, stride_group, stride_state; i32 varies, reserved
strided: u64 data; i64 stride[3]; i32 type, reserved
attention:
    u32 size; i32 type, batch, heads_q, heads_k, head_dim, length_q, length_k, total_q, total_k, left, right;
    f32 scale; i32 reserved; tensor q, k, v, o; u64 lse; i64 lse_stride_batch, lse_stride_head;
    u64 cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k;
    u64 blocks; i64 blocks_stride_batch, blocks_stride_head, blocks_stride_row;
    tensor grad_o, grad_q, grad_k, grad_v; u64 delta, scratch, scratch_size; i32 splits, reserved2;
    f32 softcap, dropout; u64 random, sinks, seqstart_q, seqstart_k, entries, pages; i64 pages_stride_batch;
    i32 page_rows, page_count, entry_count, reserved3; u64 grad_lse; i64 delta_stride_batch, delta_stride_head
append:
    u32 size; i32 type, batch, heads_q, heads_k, head_dim, length_q, length_new, length_k, rotary, turning_rows,
    interleaved, each_row, entry_count, page_rows, page_count; tensor q, q_out, k_new, v_new, k, v;
    u64 lengths, cos, sin, entries, pages; i64 pages_stride_batch
scan:
    u32 size; i32 type, batch, channels, length, states, groups, softplus, parts, reserved;
    rows u, delta, z, out, out_z; u64 a; i64 a_stride_channel, a_stride_state; matrix b, c;
    u64 d, delta_bias, x, workspace, workspace_size; rows grad_out, grad_u, grad_delta, grad_z;
    u64 grad_a, grad_b, grad_c, grad_d, grad_delta_bias
update:
    u32 size; i32 type, batch, heads, channels, states, groups, entries, softplus, reserved;
    u64 state; i64 state_stride_entry, state_stride_head, state_stride_channel, state_stride_state;
    strided x, dt, z, out, a, b, c, d, dt_bias; u64 indices
conv:
    u32 size; i32 type, weight_type, width, batch, dim, length, silu; plane x, out;
    u64 weight; i64 weight_stride_channel, weight_stride_tap; u64 bias, seq_idx; plane initial_states, final_states;
    plane grad_out, grad_x, grad_initial_states, grad_final_states;
    u64 grad_weight; i64 grad_weight_stride_channel, grad_weight_stride_tap; u64 grad_bias; i32 grad_type, accumulate;
    u64 scratch, scratch_size
conv_step:
    u32 size; i32 type, weight_type, width, batch, dim, length, silu; plane x, out;
    u64 weight; i64 weight_stride_channel, weight_stride_tap; u64 bias;
    plane state; i32 state_length, entries; u64 cache_seqlens, indices
"""

#: Types of the table: the letter of the module struct, and ctypes' type.
TYPES = {
    "u32": ("I", ctypes.c_uint32),
    "i32": ("i", ctypes.c_int32),
    "f32": ("f", ctypes.c_float),
    "u64": ("Q", ctypes.c_uint64),
    "i64": ("q", ctypes.c_int64),
    "text": ("P", ctypes.c_char_p),
    "function": ("P", ctypes.c_void_p),
}


def rows():
    """{struct: its members as the table has them}."""
    return dict(re.findall(r"^(\w+):\s*(.*(?:\n .*)*)", TABLE, re.M))


def members(name):
    """[(name, type)] of struct wsk_<name>, flat: a tensor q has the members "q.data", "q.stride_batch" and others."""
    found = []
    for declaration in rows()[name].split(";"):
        kind, names = declaration.split(None, 1)
        for one in names.replace(" ", "").replace("\n", "").split(","):
            one, _, count = one.partition("[")
            for each in [one] if not count else [f"{one}[{i}]" for i in range(int(count[:-1]))]:
                found += [(each, kind)] if kind in TYPES else [(f"{each}.{m}", k) for m, k in members(kind)]
    return found


class Layout:
    """How one struct is packed, member by member or call by call; it has no padding."""

    def __init__(self, name):
        self._letters = {member: TYPES[kind][0] for member, kind in members(name)}
        self.whole = struct.Struct("=" + "".join(self._letters.values()))
        self.size = self.whole.size

    def part(self, first, last):
        """A struct.Struct of neighbouring members."""
        names = list(self._letters)
        return struct.Struct("=" + "".join(self._letters[n] for n in names[names.index(first) : names.index(last) + 1]))

    def apart(self, addresses):
        """A struct.Struct of these members (of a tensor, its data) and, as bytes, of all that is before, between and
        behind them: what calls of one signature share is packed once. Bytes that are too few are followed by zeros."""
        wanted = {a if a in self._letters else a + ".data" for a in addresses.split()}
        assert wanted <= self._letters.keys(), wanted - self._letters.keys()
        form = "="
        for is_apart, names in itertools.groupby(self._letters, wanted.__contains__):
            letters = "".join(self._letters[n] for n in names)
            form += letters if is_apart else f"{struct.calcsize('=' + letters)}s"
        return struct.Struct(form)


TENSOR, ROWS, MATRIX, STRIDED = map(Layout, ("tensor", "rows", "matrix", "strided"))
ATTENTION, APPEND, SCAN, UPDATE, CONV, CONV_STEP = map(
    Layout, ("attention", "append", "scan", "update", "conv", "conv_step")
)


def _structure(name):
    """ctypes' class of a struct that has padding."""
    fields = [(member, TYPES[kind][1]) for member, kind in members(name)]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


Problem, Driver = _structure("problem"), _structure("driver")
