#!/usr/bin/env python3
"""Makes zip archives that are sound or malformed in one way each: make_zips.py DIR [--small].

DIR/expected.txt gets lines "<file> <class>"; the class is "sound" or says what is wrong. With --small only the archives below 2 KiB are written and no
expected.txt: seeds for the fuzzer. Every field can be forged, which the zipfile module cannot.
"""
import io
import os
import stat
import struct
import sys
import zipfile
import zlib

UTF8 = 1 << 11
LATER = 1 << 3


class Entry:
    """One member; `local` and `central` replace header fields after everything was computed."""

    def __init__(self, name, data=b"", method=8, flags=0, mode=stat.S_IFREG | 0o644, local=None,
                 central=None, local_extra=b"", central_extra=b"", comment=b"", packed=None,
                 after=b"", before=b"", offset=None, unlisted=False, local_name=None):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.data, self.method, self.flags, self.mode = data, method, flags, mode
        self.local, self.central = local or {}, central or {}
        self.local_extra, self.central_extra, self.comment = local_extra, central_extra, comment
        if packed is None:
            z = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = z.compress(data) + z.flush() if method == 8 else data
        self.packed, self.after, self.before = packed, after, before
        self.offset, self.unlisted = offset, unlisted
        self.local_name = self.name if local_name is None else local_name

    def fields(self):
        return dict(magic=0, version=20, flags=self.flags, method=self.method, time=0, date=33,
                    crc=zlib.crc32(self.data), packed=len(self.packed), size=len(self.data))

    def local_bytes(self):
        f = self.fields()
        f["magic"] = 0x04034B50
        if self.flags & LATER:
            f.update(crc=0, packed=0, size=0)
        f.update(self.local)
        return struct.pack("<IHHHHHIIIHH", f["magic"], f["version"], f["flags"], f["method"],
                           f["time"], f["date"], f["crc"], f["packed"], f["size"],
                           len(self.local_name), len(self.local_extra)) \
            + self.local_name + self.local_extra + self.packed + self.after

    def central_bytes(self, offset):
        f = self.fields()
        f.update(magic=0x02014B50, made=3 << 8 | 20, disk=0, internal=0, external=self.mode << 16,
                 offset=offset)
        f.update(self.central)
        return struct.pack("<IHHHHHHIIIHHHHHII", f["magic"], f["made"], f["version"], f["flags"],
                           f["method"], f["time"], f["date"], f["crc"], f["packed"], f["size"],
                           len(self.name), len(self.central_extra), len(self.comment), f["disk"],
                           f["internal"], f["external"], f["offset"]) \
            + self.name + self.central_extra + self.comment


def archive(*entries, prefix=b"", between=b"", comment=b"", trailing=b"", wide=None, **end):
    """The whole archive. `wide` is a dict of changes to a zip64 end record, or None for none."""
    out = bytearray(prefix)
    listed = []
    for e in entries:
        out += e.before
        listed.append((e, len(out) if e.offset is None else e.offset))
        out += e.local_bytes()
    out += between
    start = len(out)
    for e, offset in listed:
        if not e.unlisted:
            out += e.central_bytes(offset)
    f = dict(disk=0, first=0, here=sum(not e.unlisted for e in entries), bytes=len(out) - start,
             start=start)
    f["count"] = f["here"]
    if wide is not None:
        w = dict(f, size=44, extra=b"", at=len(out), disks=1)
        w.update(wide)
        out += struct.pack("<IQHHIIQQQQ", 0x06064B50, w["size"], 45, 45, w["disk"], w["first"],
                           w["here"], w["count"], w["bytes"], w["start"]) + w["extra"]
        out += struct.pack("<IIQI", 0x07064B50, 0, w["at"], w["disks"])
    f.update(end)
    out += struct.pack("<IHHHHIIH", 0x06054B50, f["disk"], f["first"], f["here"], f["count"],
                       f["bytes"], f["start"], len(comment)) + comment + trailing
    return bytes(out)


def extra(ident, data):
    return struct.pack("<HH", ident, len(data)) + data


def descriptor(data, packed, magic=True, wide=False, crc=None):
    crc = zlib.crc32(data) if crc is None else crc
    return (b"PK\x07\x08" if magic else b"") \
        + struct.pack("<IQQ" if wide else "<III", crc, len(packed), len(data))


def later(name, data, **options):
    """An entry whose sizes follow its data."""
    e = Entry(name, data, flags=LATER)
    e.after = descriptor(data, e.packed, **options)
    return e


def by_zipfile():
    """A zip as CPython writes it, also to a stream that cannot seek."""
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.got = b""

        def writable(self):
            return True

        def write(self, data):
            self.got += bytes(data)
            return len(data)

    seekable, pipe = io.BytesIO(), Pipe()
    for target in seekable, pipe:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("pkg/", "")
            z.writestr("pkg/__init__.py", "x = 1\n" * 30)
            with z.open(zipfile.ZipInfo("pkg/wide.bin"), "w", force_zip64=True) as f:
                f.write(b"wide" * 10)
    return seekable.getvalue(), pipe.got


TEXT = b"the quick brown fox jumps over the lazy dog\n" * 4
A, B = Entry("pkg/a.py", TEXT), Entry("pkg/b.py", TEXT[:50], method=0)
LINK = stat.S_IFLNK | 0o777
FOLDER = stat.S_IFDIR | 0o755
WIDE = 0xFFFFFFFF


def sound():
    seekable, pipe = by_zipfile()
    size, packed = len(A.data), len(A.packed)
    yield "empty", archive()
    yield "two", archive(A, B)
    yield "empty-file", archive(Entry("empty", b"", method=0), Entry("deflated-empty", b""))
    yield "folders", archive(Entry("pkg/", b"", method=0, mode=FOLDER), A,
                             Entry("deflated/", b"", method=8, mode=FOLDER))
    yield "executable", archive(Entry("bin/tool", TEXT, mode=stat.S_IFREG | 0o755))
    yield "no-mode", archive(Entry("a", TEXT, mode=0))
    yield "utf8", archive(Entry("pkg/größe.py", TEXT, flags=UTF8))
    yield "local-extra-longer", archive(Entry("a", TEXT, local_extra=extra(0x5455, b"\3" * 9),
                                              central_extra=extra(0x5455, b"\3" * 5)), B)
    for magic in True, False:
        for wide in True, False:
            yield f"descriptor-{magic:d}{wide:d}", archive(
                later("a", TEXT, magic=magic, wide=wide), B)
    yield "zip64-local", archive(Entry("a", TEXT, local=dict(packed=WIDE, size=WIDE),
                                       local_extra=extra(1, struct.pack("<QQ", size, packed))))
    yield "zip64-repeats", archive(Entry("a", TEXT, local_extra=extra(1, struct.pack("<QQ", size, packed))))
    yield "zip64-central", archive(Entry(
        "a", TEXT, central=dict(packed=WIDE, size=WIDE, offset=WIDE),
        central_extra=extra(1, struct.pack("<QQQ", size, packed, 0))))
    yield "zip64-one-field", archive(Entry("a", TEXT, central=dict(size=WIDE),
                                           central_extra=extra(1, struct.pack("<Q", size))))
    yield "zip64-end", archive(A, B, wide={}, count=0xFFFF, here=0xFFFF, start=WIDE, bytes=WIDE)
    yield "zip64-end-needless", archive(A, B, wide={})
    yield "zipfile", seekable
    yield "zipfile-pipe", pipe
    yield "many", archive(*(Entry(f"d{i % 7}/f{i}", TEXT) for i in range(300)))
    yield "siblings", archive(*(Entry(n, TEXT) for n in ("a", "a-b", "a.b", "a0", "ab/c", "ab.c")))
    yield "large", archive(Entry("big", os.urandom(1 << 20) + bytes(3 << 20)), B)


def hostile():
    packed = A.packed
    two = archive(A, B)
    size = len(TEXT)
    inner = archive(Entry("inner.py", b"evil"))
    yield "end-record", "not-a-zip", b"this is no archive at all, but it is long enough for one"
    yield "end-record", "nothing", b""
    yield "end-record", "cut-short", two[:-10]
    yield "trailing-data", "trailing", archive(A, trailing=b"\n")
    yield "trailing-data", "second-archive-cut", two + inner[:-5]
    yield "comment", "comment", archive(A, comment=b"hello")
    yield "comment", "comment-long", archive(A, comment=b"x" * 65535)
    yield "comment", "entry-comment", archive(Entry("a", TEXT, comment=b"hi"))
    yield "directory", "zip-in-comment", archive(A, comment=inner)
    yield "directory", "concatenated", two + inner
    yield "directory", "prefix-unadjusted", b"#!/bin/sh\n" + two
    yield "directory", "directory-offset", archive(A, B, start=3)
    yield "directory", "directory-size", archive(A, B, bytes=10)
    yield "directory", "after-directory", archive(A, B, bytes=46 + 8, count=1, here=1)
    yield "one-disk", "split-end", archive(A, disk=1)
    yield "one-disk", "split-counts", archive(A, B, here=1)
    yield "one-disk", "split-entry", archive(Entry("a", TEXT, central=dict(disk=2)))
    yield "one-disk", "split-zip64", archive(A, wide=dict(disks=3))
    yield "count", "count-more", archive(A, B, count=3, here=3)
    yield "count", "count-less", archive(A, B, count=1, here=1)
    yield "count", "count-absurd", archive(A, B, count=65000, here=65000)
    yield "count", "bad-magic", archive(Entry("a", TEXT, central=dict(magic=0x02014B51)))
    yield "limit", "zip64-count-absurd", archive(A, wide=dict(count=1 << 60, here=1 << 60),
                                                 count=0xFFFF, here=0xFFFF)
    yield "directory", "zip64-size-absurd", archive(
        A, wide=dict(bytes=(1 << 64) - 4, start=200), bytes=WIDE, start=WIDE)
    yield "zip64", "zip64-differs", archive(A, wide=dict(count=7, here=7))
    yield "zip64", "zip64-extensible", archive(A, wide=dict(size=50, extra=b"abcdef"))
    yield "zip64", "zip64-elsewhere", archive(A, wide=dict(at=4))
    yield "zip64", "zip64-unasked", archive(
        Entry("a", TEXT, central_extra=extra(1, struct.pack("<Q", 5))))
    yield "zip64", "zip64-repeats-else", archive(
        Entry("a", TEXT, local_extra=extra(1, struct.pack("<QQ", size, len(packed) + 1))))
    yield "zip64", "zip64-missing", archive(Entry("a", TEXT, central=dict(size=WIDE)))
    yield "zip64", "zip64-short", archive(Entry("a", TEXT, central=dict(size=WIDE, packed=WIDE),
                                                central_extra=extra(1, struct.pack("<Q", size))))
    yield "zip64", "zip64-twice", archive(Entry(
        "a", TEXT, central=dict(size=WIDE), central_extra=extra(1, struct.pack("<Q", size)) * 2))
    yield "encrypted", "encrypted", archive(Entry("a", TEXT, flags=1))
    yield "encrypted", "encrypted-strong", archive(Entry("a", TEXT, flags=0x40))
    yield "encrypted", "directory-masked", archive(Entry("a", TEXT, flags=0x2000))
    yield "flags", "patched", archive(Entry("a", TEXT, flags=0x20))
    yield "flags", "unknown-flag", archive(Entry("a", TEXT, flags=0x8000))
    yield "method", "bzip2", archive(Entry("a", TEXT, method=12))
    yield "method", "aes", archive(Entry("a", TEXT, method=99))
    yield "extra", "second-name", archive(Entry(
        "a", TEXT, central_extra=extra(0x7075, b"\1" + struct.pack("<I", zlib.crc32(b"a")) + b"b")))
    yield "extra", "second-name-local", archive(Entry(
        "a", TEXT, local_extra=extra(0x7075, b"\1" + struct.pack("<I", zlib.crc32(b"a")) + b"b")))
    yield "extra", "extra-too-long", archive(Entry("a", TEXT, central_extra=b"\x55\x54\xff\xff1"))
    yield "extra", "extra-stub", archive(Entry("a", TEXT, local_extra=b"\x55\x54"))
    for title, name in dict(newline="a\nb", escape="\x1b[2Jx", delete="a\x7f").items():
        yield "name-text", f"name-{title}", archive(Entry(name, TEXT))
    yield "name-text", "name-zero", archive(Entry("a.py\0.txt", TEXT))
    yield "name-text", "name-latin1", archive(Entry(b"gr\xf6sse", TEXT))
    yield "name-text", "name-bad-utf8", archive(Entry(b"\xc0\xaf", TEXT, flags=UTF8))
    yield "name-text", "name-surrogate", archive(Entry(b"\xed\xa0\x80", TEXT, flags=UTF8))
    paths = {"absolute": "/etc/passwd", "up": "../evil", "up-inside": "a/../../evil", "dot": "a/./b",
             "empty": "", "double": "a//b", "backslash": "a\\..\\b", "only-slash": "/",
             "long": "x" * 1025, "folder-up": "a/../"}
    for title, name in paths.items():
        yield "name-path", f"path-{title}", archive(Entry(name, b"", method=0, mode=0))
    yield "type", "link", archive(Entry("a", b"/etc/passwd", method=0, mode=LINK))
    yield "type", "link-from-dos", archive(Entry("a", b"x", mode=LINK, central=dict(made=20)))
    yield "type", "device", archive(Entry("a", b"", method=0, mode=stat.S_IFCHR | 0o666))
    yield "type", "fifo", archive(Entry("a", b"", method=0, mode=stat.S_IFIFO | 0o666))
    yield "type", "folder-named-file", archive(Entry("a", b"", method=0, mode=FOLDER))
    yield "type", "file-named-folder", archive(Entry("a/", b"", method=0))
    yield "type", "folder-with-contents", archive(Entry("a/", TEXT, mode=FOLDER))
    yield "duplicate", "duplicate", archive(A, B, Entry("pkg/a.py", b"other"))
    yield "duplicate", "duplicate-same", archive(A, A)
    yield "file-as-folder", "below-a-file", archive(Entry("a", TEXT), Entry("a-", TEXT),
                                                    Entry("a/b", TEXT))
    yield "file-as-folder", "file-and-folder", archive(
        Entry("a", TEXT), Entry("a/", b"", method=0, mode=FOLDER))
    yield "prefix", "prefix-adjusted", archive(A, B, prefix=b"#!/bin/sh\nexit\n")
    yield "prefix", "unlisted-first", archive(Entry("hidden", TEXT, unlisted=True), A)
    yield "prefix", "prefix-only", archive(prefix=b"abc")
    yield "overlap", "same-offset", archive(A, Entry("b", TEXT, offset=0))
    nested = Entry("inner", b"evil", method=0).local_bytes()
    yield "overlap", "nested", archive(
        Entry("outer", nested, method=0), Entry("inner", b"evil", method=0, offset=35))
    yield "overlap", "past-directory", archive(Entry("b", TEXT), Entry("a", TEXT, offset=1 << 20))
    yield "overlap", "packed-too-long", archive(Entry(
        "a", TEXT, central=dict(packed=100000), local=dict(packed=100000)))
    yield "overlap", "local-extra-eats-next", archive(Entry(
        "a", b"x", method=0, local=dict(), local_extra=extra(0x5455, b"y" * 20)), B).replace(
            extra(0x5455, b"y" * 20), b"\x55\x54\x40\x00" + b"y" * 20).replace(
                b"\x18\x00a\x55\x54", b"\x44\x00a\x55\x54")
    yield "gap", "gap", archive(A, Entry("b", TEXT, before=b"hidden"))
    yield "gap", "gap-before-directory", archive(A, between=b"hidden bytes")
    yield "gap", "gap-large", archive(A, Entry("b", TEXT, before=bytes(70000)))
    yield "gap", "unlisted-between", archive(A, Entry("hidden", TEXT, unlisted=True), B)
    yield "bomb", "bomb", archive(Entry("zeros", bytes(4 << 20)))
    yield "bomb", "bomb-total", archive(*(Entry(
        f"f{i}", TEXT, central=dict(size=WIDE, packed=1 << 31),
        central_extra=extra(1, struct.pack("<Q", 1 << 33))) for i in range(3)))
    yield "local-header", "no-local-header", archive(Entry("a", TEXT, local=dict(magic=1)))
    yield "local-name", "other-name", archive(Entry("safe.py", TEXT, local_name=b"evil.py"))
    yield "local-name", "longer-name", archive(Entry("a", TEXT, local_name=b"a\0"))
    yield "local-fields", "other-method", archive(Entry("a", TEXT, local=dict(method=0)))
    yield "local-fields", "other-size", archive(Entry("a", TEXT, local=dict(size=3)))
    yield "local-fields", "other-packed", archive(Entry("a", TEXT, local=dict(packed=3)))
    yield "local-fields", "other-crc", archive(Entry("a", TEXT, local=dict(crc=3)))
    yield "local-fields", "other-flags", archive(Entry("a", TEXT, local=dict(flags=LATER)))
    yield "local-fields", "later-but-wrong", archive(
        Entry("a", TEXT, flags=LATER, after=descriptor(TEXT, packed), local=dict(size=3)))
    yield "descriptor", "descriptor-missing", archive(Entry("a", TEXT, flags=LATER), B)
    yield "descriptor", "descriptor-stub", archive(Entry("a", TEXT, flags=LATER, after=b"123"), B)
    yield "descriptor", "descriptor-crc", archive(later("a", TEXT, crc=5), B)
    yield "descriptor", "descriptor-size", archive(
        Entry("a", TEXT, flags=LATER, after=descriptor(b"x", packed, crc=zlib.crc32(TEXT))))
    yield "descriptor", "descriptor-magic", archive(
        Entry("a", TEXT, flags=LATER, after=b"PK\7\7" + descriptor(TEXT, packed, magic=False)))
    yield "deflate", "not-deflate", archive(Entry("a", TEXT, packed=b"\xff" * 20))
    yield "deflate", "deflate-cut", archive(Entry("a", TEXT, packed=packed[:-4]))
    yield "deflate", "deflate-goes-on", archive(Entry("a", TEXT, packed=packed + b"hidden"))
    yield "deflate", "deflate-nothing", archive(Entry("a", b"", packed=b""))
    yield "size", "size-less", archive(Entry("a", TEXT, local=dict(size=7), central=dict(size=7)))
    yield "size", "size-more", archive(
        Entry("a", TEXT, local=dict(size=999), central=dict(size=999)))
    yield "size", "stored-differs", archive(Entry("a", TEXT, method=0, central=dict(size=7)))
    yield "size", "bomb-with-small-size", archive(Entry(
        "a", bytes(4 << 20), local=dict(size=10), central=dict(size=10)))
    yield "crc", "crc", archive(Entry("a", TEXT, local=dict(crc=1), central=dict(crc=1)))
    yield "crc", "crc-stored", archive(
        Entry("a", TEXT, method=0, local=dict(crc=1), central=dict(crc=1)))


def main():
    folder, small = sys.argv[1], "--small" in sys.argv
    os.makedirs(folder, exist_ok=True)
    cases = [(name, "sound", data) for name, data in sound()]
    cases += [(name, rule, data) for rule, name, data in hostile()]
    assert len({name for name, _, _ in cases}) == len(cases)
    lines = []
    for name, rule, data in cases:
        if small and len(data) > 2048:
            continue
        with open(os.path.join(folder, name + ".zip"), "wb") as f:
            f.write(data)
        lines.append(f"{name}.zip {rule}\n")
    if not small:
        with open(os.path.join(folder, "expected.txt"), "w") as f:
            f.writelines(lines)


if __name__ == "__main__":
    main()
