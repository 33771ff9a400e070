#!/usr/bin/env python3
"""sass.py WHEEL WHEEL: is the machine code of every kernel the same bytes in both?

Takes the cubins out of each wheel's modules with cuobjdump (on PATH) and compares their .text sections by name. Line
tables and debug sections may differ."""
import collections
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

NOBITS = 8


def sections(path):
    """(name, bytes) of each section of a 64-bit ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    heads = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    for name, kind, _, _, offset, length in heads:
        start = heads[names][4] + name
        yield data[start:data.index(b"\0", start)].decode(), b"" if kind == NOBITS else data[offset:offset + length]


def kernels(wheel):
    """Digests of the code of each function, by module, architecture and name."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        for module in (name for name in archive.namelist() if name.endswith(".so")):
            cubins = tempfile.mkdtemp(dir=folder)
            subprocess.run(["cuobjdump", "-xelf", "all", archive.extract(module, folder)], cwd=cubins, check=True,
                           stdout=subprocess.DEVNULL)
            for cubin in os.listdir(cubins):
                arch = re.search(r"sm_[0-9]+[af]?", cubin).group()
                for name, code in sections(f"{cubins}/{cubin}"):
                    if name.startswith(".text."):
                        found[module, arch, name].append(hashlib.sha256(code).hexdigest())
    return {key: sorted(value) for key, value in found.items()}


def differing(first, second):
    """The functions that only one side has, or whose code differs."""
    return sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))


def main():
    first, second = map(kernels, sys.argv[1:3])
    differ = differing(first, second)
    for key in differ[:5]:
        print("differs:", *key)
    print(f"{sum(map(len, first.values()))} functions and {sum(map(len, second.values()))}: {len(differ)} differ")
    return 1 if differ or not first else 0


if __name__ == "__main__":
    sys.exit(main())
