"""Prints C that compiles where every struct of wsk.h is as the Python of wheelsmith_kernels has it, member by member.

    kernels_structs.py FOLDER WITH wheelsmith_kernels
"""

import ctypes
import sys

sys.path.insert(0, sys.argv[1])

from wheelsmith_kernels import _structs  # noqa: E402

C = {
    "u32": "uint32_t", "i32": "int32_t", "f32": "float", "u64": "uint64_t", "i64": "int64_t", "text": "const char *",
}  # fmt: skip


def check(what, text):
    print(f'_Static_assert({what}, "{text}");')


print('#include "wsk.h"')
for name in _structs.rows():
    struct, members = f"struct wsk_{name}", _structs.members(name)
    fields = [(member, _structs.TYPES[kind][1]) for member, kind in members]
    found = type(name, (ctypes.Structure,), {"_fields_": fields})
    check(f"sizeof({struct}) == {ctypes.sizeof(found)}", name)
    for member, kind in members:
        check(f"offsetof({struct}, {member}) == {getattr(found, member).offset}", f"{name}.{member}")
        if kind in C:
            check(f"_Generic((({struct} *)0)->{member}, {C[kind]}: 1, default: 0)", f"{name}.{member} is {kind}")
    if name not in ("problem", "driver"):
        check(f"sizeof({struct}) == {_structs.Layout(name).size}", f"{name} has no padding")
