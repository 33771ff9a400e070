#!/usr/bin/env python3
"""Removes version requirements of a newer glibc from an ELF file where an older glibc has the same symbols.

    older.py PROGRAM FILE...    PROGRAM exports what the older glibc lacks (cmake/package/exports.list)

glibc 2.34 moved pthread_create from libpthread to libc under a new version; the function is the same. A name without
a version is found under whichever version a system has as its default. So names of versions newer than FLOOR lose
them, and the file no longer asks for those versions. A name that FLOOR has in no library, and PROGRAM does not export, is an
error. Files are changed in place; the layout stays.
"""

import pathlib
import struct
import sys

import floors

FLOOR = "2.28"


class File:
    def __init__(self, path):
        self.path, self.data = path, bytearray(path.read_bytes())
        self.machine = {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", self.data, 18)[0]]
        sections = struct.unpack_from("<Q", self.data, 40)[0]
        step, count = struct.unpack_from("<HH", self.data, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", self.data, sections + i * step) for i in range(count)]
        by_type = {head[1]: head for head in heads}
        self.dynsym, self.versym, self.verneed = (by_type.get(kind) for kind in (11, 0x6FFFFFFF, 0x6FFFFFFE))
        self.dynamic = by_type[6]
        self.strings = heads[self.dynsym[6]][4]

    def text(self, at):
        start = self.strings + at
        return self.data[start:self.data.index(0, start)].decode()

    def symbols(self):
        """(name, is defined here, where its version stands, that version's number)"""
        for i in range(1, self.dynsym[5] // 24):
            name, _, _, section = struct.unpack_from("<IBBH", self.data, self.dynsym[4] + 24 * i)
            at = self.versym[4] + 2 * i
            yield self.text(name), section != 0, at, struct.unpack_from("<H", self.data, at)[0] & 0x7FFF

    def glibc(self):
        """The newest version that the file requires."""
        asked, at = (2, 0), self.verneed[4] if self.verneed else None
        for _ in range(self.verneed[7] if self.verneed else 0):
            _, count, _, aux, following = struct.unpack_from("<HHIII", self.data, at)
            entry = at + aux
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", self.data, entry)
                counted = floors.COUNTED.match(self.text(name))
                if counted and counted[1] == "GLIBC":
                    asked = max(asked, floors.number(counted[2]))
                entry += step
            at += following
        return asked

    def needed(self):
        """DT_NEEDED."""
        for at in range(self.dynamic[4], self.dynamic[4] + self.dynamic[5], 16):
            tag, value = struct.unpack_from("<QQ", self.data, at)
            if tag == 1:
                yield self.text(value)

    def drop_needs(self):
        """Unlinks the versions that are too new; returns their numbers."""
        dropped, at = set(), self.verneed[4] if self.verneed else None
        for _ in range(self.verneed[7] if self.verneed else 0):
            version, count, _, aux, following = struct.unpack_from("<HHIII", self.data, at)
            kept, entry = [], at + aux
            for _ in range(count):
                _, _, number, name, step = struct.unpack_from("<IHHII", self.data, entry)
                counted = floors.COUNTED.match(self.text(name))
                new = counted and counted[1] == "GLIBC" and floors.number(counted[2]) > floors.number(FLOOR)
                (dropped.add(number) if new else kept.append(entry))
                entry += step
            if not kept:
                sys.exit(f"older.py: {self.path.name} asks a library for new versions alone")
            struct.pack_into("<H", self.data, at + 2, len(kept))
            struct.pack_into("<I", self.data, at + 8, kept[0] - at)
            for this, then in zip(kept, kept[1:] + [None]):
                struct.pack_into("<I", self.data, this + 12, then - this if then else 0)
            at += following
        return dropped

    def lower(self, there):
        """@there: symbols that exist without a version."""
        dropped = self.drop_needs()
        for name, defined, at, number in self.symbols():
            if number in dropped and not defined:
                if name not in there:
                    sys.exit(f"older.py: {self.path.name} wants {name}, which glibc {FLOOR} has not")
                struct.pack_into("<H", self.data, at, 1)
        if dropped:
            self.path.write_bytes(self.data)


def lower(program, files):
    older = floors.read(pathlib.Path(__file__).parents[1] / f"matrix/facts/floors/{File(program).machine}.zst")
    there = {name for names in older.values() for name, versions in names.items()
             if floors.newest([v[6:] for v in versions if v.startswith("GLIBC_2")], FLOOR)}
    there |= {name for name, defined, _, _ in File(program).symbols() if defined}
    for path in files:
        File(path).lower(there)


if __name__ == "__main__":
    lower(pathlib.Path(sys.argv[1]), [pathlib.Path(path) for path in sys.argv[1:]])
