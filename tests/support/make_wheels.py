#!/usr/bin/env python3
"""Makes malformed wheels, classes of five: make_wheels.py DIR [CLASS].

DIR/<class>/<variant>/NAME.whl is one wheel, in a folder of its own because its name is part of it; DIR/sound/
holds correct wheels. DIR/classes.tsv gets lines "<class> <tab> <what is wrong>". Zip fields
are forged by make_zips.py. A name that leaves the folder points to DIR/../outside or similar, never to a file of the system.
"""
import base64
import hashlib
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import zlib

from make_zips import LATER, LINK, UTF8, WIDE, Entry, archive, descriptor, extra, later

NAME = "demo-1.0-py3-none-any.whl"
NATIVE = "demo-1.0-cp311-cp311-linux_x86_64.whl"
INFO = "demo-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
NATIVE_WHEEL = WHEEL.replace("true", "false").replace("py3-none-any", "cp311-cp311-linux_x86_64")
CODE = b"answer = 42\n" * 20
HELLO = b"the quick brown fox jumps over the lazy dog\n" * 4


def line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def record_of(files, info=INFO):
    return "".join(line(n, d) for n, d in files) + f"{info}/RECORD,,\n"


def files_of(metadata=METADATA, wheel=WHEEL, info=INFO, more=()):
    """Name and bytes of every member but RECORD; None leaves one out."""
    files = [("demo/__init__.py", CODE), *more, (f"{info}/METADATA", metadata), (f"{info}/WHEEL", wheel)]
    return [(n, d.encode() if isinstance(d, str) else d) for n, d in files if d is not None]


def entries_of(files, record=None, info=INFO):
    record = record_of(files, info) if record is None else record
    record = record.encode() if isinstance(record, str) else record
    return [Entry(n, d) for n, d in files] + [Entry(f"{info}/RECORD", record)]


def wheel(**options):
    record, info = options.pop("record", None), options.get("info", INFO)
    return archive(*entries_of(files_of(**options), record, info))


def plain():
    return entries_of(files_of())


def around(**end):
    """The sound wheel with something about the archive changed."""
    return archive(*plain(), **end)


def with_entry(name, data=HELLO, listed=True, **options):
    """The sound wheel and one entry more, which is forged."""
    files = files_of()
    record = record_of(files + [(name, data)] if listed and isinstance(name, str) else files)
    return archive(Entry(name, data, **options), *entries_of(files, record))


def changed(which, **options):
    """The sound wheel, the entry whose name ends so forged."""
    files = files_of()
    return archive(*(Entry(e.name, e.data, **options) if e.name.decode().endswith(which) else e
                     for e in entries_of(files)))


def add(entry, data=HELLO, first=False):
    """The sound wheel and an entry of make_zips, listed in RECORD."""
    files = files_of()
    own = entries_of(files, record_of(files + [(entry.name.decode(), data)]))
    return archive(*([entry] + own if first else own + [entry]))


def library(*words):
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "m.c"), os.path.join(folder, "m.so")
        pathlib.Path(source).write_text("int answer(void) { return 42; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", *words, "-o", made, source], check=True)
        return pathlib.Path(made).read_bytes()


def native(data, name="demo/_C.so", **options):
    return wheel(**{"wheel": NATIVE_WHEEL, "more": [(name, data)], **options})


def archives():
    """Classes of the archive itself."""
    inner = archive(Entry("inner.py", b"evil"))
    whole = around()
    yield "trailing-data", "bytes after the end of the archive", {
        "newline": around(trailing=b"\n"), "zeros": around(trailing=bytes(100)),
        "half-an-archive": whole + inner[:-5], "script": around(trailing=b"#!/bin/sh\nexit\n"),
        "many": around(trailing=b"x" * 70000)}
    yield "comment", "a comment, in which another archive can hide", {
        "short": around(comment=b"hello"), "long": around(comment=b"x" * 65535),
        "of-an-entry": changed("__init__.py", comment=b"hi"), "archive-in-it": around(comment=inner),
        "end-record-in-it": around(comment=b"PK\5\6" + bytes(18))}
    yield "prefix", "bytes before the first entry", {
        "script": around(prefix=b"#!/bin/sh\nexit\n"), "script-unadjusted": b"#!/bin/sh\n" + whole,
        "zero": around(prefix=b"\0"), "program": around(prefix=b"\x7fELF" + bytes(60)),
        "unlisted-entry": archive(Entry("hidden.py", CODE, unlisted=True), *plain())}
    yield "gap", "bytes between entries that belong to none", {
        "few": add(Entry("demo/b.py", HELLO, before=b"hidden")), "many": add(
            Entry("demo/b.py", HELLO, before=bytes(70000))),
        "before-directory": around(between=b"hidden bytes"),
        "unlisted-entry": archive(*plain()[:1], Entry("hidden.py", CODE, unlisted=True), *plain()[1:]),
        "unlisted-last": archive(*plain(), Entry("hidden.py", CODE, unlisted=True))}
    nested = Entry("demo/b.py", b"evil", method=0).local_bytes()
    own = entries_of(files_of(), record_of(files_of() + [("demo/b.py", b"evil"), ("demo/o", nested)]))
    yield "overlap", "entries that share bytes", {
        "same-offset": add(Entry("demo/b.py", HELLO, offset=0)),
        "nested": archive(Entry("demo/o", nested, method=0), Entry("demo/b.py", b"evil", method=0,
                                                                   offset=36), *own),
        "past-directory": add(Entry("demo/b.py", HELLO, offset=1 << 20)),
        "packed-too-long": changed("__init__.py", central=dict(packed=100000), local=dict(packed=100000)),
        "one-byte": add(Entry("demo/b.py", HELLO, offset=1))}
    yield "duplicate", "two entries of one name", {
        "other-bytes": archive(*plain(), Entry("demo/__init__.py", b"evil")),
        "same-bytes": archive(*plain(), Entry("demo/__init__.py", CODE)),
        "metadata": archive(*plain(), Entry(f"{INFO}/METADATA", METADATA.replace("demo", "evil").encode())),
        "record": archive(*plain(), Entry(f"{INFO}/RECORD", b"")),
        "in-front": archive(Entry("demo/__init__.py", b"evil"), *plain())}
    yield "split", "counts and disks that contradict", {
        "end": around(disk=1), "counts": around(here=1),
        "entry": changed("__init__.py", central=dict(disk=2)), "more": around(count=9, here=9),
        "fewer": around(count=2, here=2)}
    yield "directory", "a directory in another place than in the end record", {
        "offset": around(start=3), "size": around(bytes=10), "two-archives": whole + inner,
        "magic": changed("__init__.py", central=dict(magic=0x02014B51)), "absurd": around(count=65000, here=65000)}
    size = len(CODE)
    yield "zip64", "wide fields that contradict", {
        "differs": around(wide=dict(count=7, here=7)), "extensible": around(wide=dict(size=50, extra=b"abcdef")),
        "elsewhere": around(wide=dict(at=4)),
        "missing": changed("__init__.py", central=dict(size=WIDE)),
        "twice": changed("__init__.py", central=dict(size=WIDE), central_extra=extra(1, struct.pack("<Q", size)) * 2)}
    yield "truncated", "an archive that is cut, or none", {
        "end": whole[:-10], "half": whole[:len(whole) // 2], "nothing": b"", "start": whole[20:],
        "page": b"<html><body>404 Not Found</body></html>\n"}


def members():
    """Classes of one entry."""
    second = b"\1" + struct.pack("<I", zlib.crc32(b"demo/b.py")) + b"demo/c.py"
    packed = Entry("x", HELLO).packed
    yield "local-name", "a local header that gives another name than the directory", {
        "other": with_entry("demo/b.py", local_name=b"demo/c.py"), "longer": with_entry("demo/b.py", local_name=b"demo/b.py\0"),
        "case": with_entry("demo/b.py", local_name=b"demo/B.py"), "up": with_entry("demo/b.py", local_name=b"../outsid"),
        "metadata": changed("METADATA", local_name=f"{INFO}/NOTADATA".encode())}
    yield "local-fields", "a local header that contradicts the directory", {
        "method": with_entry("demo/b.py", local=dict(method=0)), "size": with_entry("demo/b.py", local=dict(size=3)),
        "packed": with_entry("demo/b.py", local=dict(packed=3)), "crc": with_entry("demo/b.py", local=dict(crc=3)),
        "flags": with_entry("demo/b.py", local=dict(flags=LATER))}
    crc = dict(local=dict(crc=1), central=dict(crc=1))
    yield "crc", "contents with another CRC", {
        "deflated": with_entry("demo/b.py", **crc), "stored": with_entry("demo/b.py", method=0, **crc),
        "metadata": changed("METADATA", **crc), "record": changed("RECORD", **crc), "wheel": changed("WHEEL", **crc)}
    yield "size", "contents with another size", {
        "less": with_entry("demo/b.py", local=dict(size=7), central=dict(size=7)),
        "more": with_entry("demo/b.py", local=dict(size=999), central=dict(size=999)),
        "stored": with_entry("demo/b.py", method=0, central=dict(size=7)),
        "none": with_entry("demo/b.py", local=dict(size=0), central=dict(size=0)),
        "small-bomb": with_entry("demo/b.py", bytes(4 << 20), local=dict(size=10), central=dict(size=10))}
    yield "deflate", "packed data that is damaged or too long", {
        "random": with_entry("demo/b.py", packed=b"\xff" * 20), "cut": with_entry("demo/b.py", packed=packed[:-4]),
        "goes-on": with_entry("demo/b.py", packed=packed + b"hidden"), "nothing": with_entry("demo/b.py", b"", packed=b""),
        "second-stream": with_entry("demo/b.py", packed=packed + packed)}
    yield "descriptor", "a data descriptor that is missing or contradicts", {
        "missing": add(Entry("demo/b.py", HELLO, flags=LATER)), "stub": add(Entry("demo/b.py", HELLO, flags=LATER, after=b"123")),
        "crc": add(later("demo/b.py", HELLO, crc=5)),
        "size": add(Entry("demo/b.py", HELLO, flags=LATER, after=descriptor(b"x", packed, crc=zlib.crc32(HELLO)))),
        "magic": add(Entry("demo/b.py", HELLO, flags=LATER, after=b"PK\7\7" + descriptor(HELLO, packed, magic=False)))}
    yield "encrypted", "entries that are said to be encrypted", {
        "bit": with_entry("demo/b.py", flags=1), "strong": with_entry("demo/b.py", flags=0x41),
        "masked": with_entry("demo/b.py", flags=0x2000), "metadata": changed("METADATA", flags=1),
        "record": changed("RECORD", flags=1)}
    yield "method", "packed by a method that installers need not know", {
        f"method-{m}": with_entry("demo/b.py", method=m) for m in (12, 14, 93, 98, 99)}
    yield "extra", "extra fields that give a second name, or are damaged", {
        "second-name": with_entry("demo/b.py", central_extra=extra(0x7075, second)),
        "second-name-local": with_entry("demo/b.py", local_extra=extra(0x7075, second)),
        "too-long": with_entry("demo/b.py", central_extra=b"\x55\x54\xff\xff1"),
        "stub": with_entry("demo/b.py", local_extra=b"\x55\x54"),
        "zip64-unasked": with_entry("demo/b.py", central_extra=extra(1, struct.pack("<Q", 5)))}
    names = {"newline": "demo/a\nb.py", "escape": "demo/\x1b[2Jx", "zero": "demo/a.py\0.txt", "latin1": b"demo/gr\xf6sse.py"}
    yield "name-text", "names with control characters or in no known encoding", {
        **{k: with_entry(v) for k, v in names.items()}, "bad-utf8": with_entry(b"demo/\xc0\xaf", flags=UTF8)}
    yield "file-as-folder", "an entry below a file, or both of one name", {
        "below": with_entry("demo/__init__.py/x.py"), "folder-too": with_entry("demo/__init__.py/", b"", listed=False, method=0, mode=0),
        "below-metadata": with_entry(f"{INFO}/METADATA/x"), "below-record": with_entry(f"{INFO}/RECORD/x"),
        "package-is-a-file": with_entry("demo")}
    yield "type", "links, devices and folders that are files", {
        "link": with_entry("demo/l", b"../../outside", method=0, mode=LINK),
        "link-from-dos": with_entry("demo/l", b"x", mode=LINK, central=dict(made=20)),
        "device": with_entry("demo/d", b"", method=0, mode=stat.S_IFCHR | 0o666),
        "pipe": with_entry("demo/p", b"", method=0, mode=stat.S_IFIFO | 0o666),
        "folder-with-contents": with_entry("demo/sub/", HELLO, listed=False, mode=stat.S_IFDIR | 0o755)}
    yield "bomb", "contents that are absurdly larger than the archive", {
        "zeros": with_entry("demo/zeros", bytes(4 << 20)), "text": with_entry("demo/text", b"a" * (8 << 20)),
        "metadata": wheel(metadata=METADATA.encode() + b"\n" + bytes(8 << 20)),
        "record": wheel(record=b"a" * (8 << 20)),
        "claimed": changed("__init__.py", central=dict(size=WIDE, packed=1 << 31),
                           central_extra=extra(1, struct.pack("<Q", 1 << 40)))}


def paths(outside):
    yield "name-path", "names that lead out of the wheel", {
        "up": with_entry("../outside-up"), "absolute": with_entry(f"{outside}/absolute"),
        "up-inside": with_entry("demo/../../outside-inside"), "backslash": with_entry("demo\\..\\..\\outside"),
        "data": with_entry("demo-1.0.data/scripts/../../../outside-data")}


def records():
    files = files_of()
    good = record_of(files)
    bad = line("demo/__init__.py", b"other")
    first = line("demo/__init__.py", CODE)
    yield "record-digest", "a file with another digest or size than in RECORD", {
        "module": wheel(record=good.replace(first, bad.replace(",5\n", f",{len(CODE)}\n"))), "size": wheel(record=good.replace(first, first.replace(f",{len(CODE)}", ",5"))),
        "metadata": wheel(record=good.replace(line(f"{INFO}/METADATA", METADATA.encode()), line(f"{INFO}/METADATA", b"x" * len(METADATA)))),
        "md5": wheel(record=good.replace(first, "demo/__init__.py,md5=1B2M2Y8AsgTpgAmY7PhCfg,240\n")),
        "none": wheel(record=good.replace(first, "demo/__init__.py,,\n"))}
    yield "record-names", "a file that RECORD lacks, has twice or has alone", {
        "unlisted": with_entry("demo/b.py", listed=False), "alone": wheel(record=line("demo/gone.py", HELLO) + good),
        "twice": wheel(record=first + good), "twice-differs": wheel(record=bad + good),
        "case": wheel(record=good.replace("demo/__init__", "Demo/__init__"))}
    yield "record-paths", "RECORD that names files outside of the wheel", {
        "up": wheel(record=line("../outside", HELLO) + good), "absolute": wheel(record=line("/outside", HELLO) + good),
        "up-inside": wheel(record=line("demo/../../outside", HELLO) + good), "dot": wheel(record=line("./demo/x", HELLO) + good),
        "control": wheel(record=line("demo/\x1b[2J", HELLO) + good)}
    yield "record-form", "RECORD that is missing or not a table", {
        "missing": archive(*(Entry(n, d) for n, d in files)), "empty": wheel(record=""),
        "quote": wheel(record='"demo' + good), "two-columns": wheel(record="demo/x,sha256=\n" + good),
        "zero": wheel(record=b"\0" + good.encode())}


def texts():
    yield "metadata-missing", "METADATA without a required field", {
        "file": wheel(metadata=None), "name": wheel(metadata=METADATA.replace("Name: demo\n", "")),
        "version": wheel(metadata=METADATA.replace("Version: 1.0\n", "").replace("Metadata-", "Metadata-Version: 2.1\n")),
        "metadata-version": wheel(metadata=METADATA.replace("Metadata-Version: 2.1\n", "")), "all": wheel(metadata="")}
    yield "metadata-names", "METADATA with another package or version than the file name", {
        "name": wheel(metadata=METADATA.replace("demo", "other")), "version": wheel(metadata=METADATA.replace("1.0", "2.0")),
        "label": wheel(metadata=METADATA.replace("1.0", "1.0+cu124")), "both": wheel(metadata="Metadata-Version: 2.1\nName: x\nVersion: 3\n"),
        "post": wheel(metadata=METADATA.replace("1.0", "1.0.post1"))}
    yield "metadata-form", "METADATA that readers understand differently", {
        "twice": wheel(metadata=METADATA + "Name: other\n"), "version-twice": wheel(metadata=METADATA + "Version: 2.0\n"),
        "lone-cr": wheel(metadata=METADATA + "Summary: a\rName: other\n"), "not-utf8": wheel(metadata=METADATA.encode() + b"Summary: \xff\n"),
        "no-colon": wheel(metadata=METADATA.replace("Name", "what is this\nName"))}
    yield "metadata-values", "METADATA with values that mean nothing", {
        "metadata-version": wheel(metadata=METADATA.replace("2.1", "3.0")), "version": wheel(metadata=METADATA.replace("1.0", "one")),
        "name": wheel(metadata=METADATA.replace("demo", "-demo-")), "python": wheel(metadata=METADATA + "Requires-Python: three\n"),
        "requirement": wheel(metadata=METADATA + "Requires-Dist: torch ==\n")}
    yield "wheel-form", "WHEEL that is missing or not understood", {
        "file": wheel(wheel=None), "version": wheel(wheel=WHEEL.replace("1.0", "2.0")), "no-version": wheel(wheel=WHEEL[19:]),
        "no-tag": wheel(wheel=WHEEL.replace("Tag: py3-none-any\n", "")), "twice": wheel(wheel=WHEEL + "Root-Is-Purelib: false\n")}
    yield "wheel-tags", "WHEEL with other tags than the file name", {
        "python": wheel(wheel=WHEEL.replace("py3", "py2")), "abi": wheel(wheel=WHEEL.replace("none", "abi3")),
        "platform": wheel(wheel=WHEEL.replace("-any", "-linux_x86_64")), "more": wheel(wheel=WHEEL + "Tag: py2-none-any\n"),
        "not-a-tag": wheel(wheel=WHEEL + "Tag: py3\n")}
    other = "other-1.0.dist-info"
    yield "dist-info", "a dist-info folder that is missing, double or another's", {
        "none": archive(Entry("demo/__init__.py", CODE)), "name": wheel(info=other), "version": wheel(info="demo-2.0.dist-info"),
        "two": archive(*plain(), *entries_of([(f"{other}/METADATA", METADATA.encode())], info=other)),
        "case": archive(*plain(), Entry("Demo-1.0.DIST-INFO/METADATA", METADATA.encode()))}


def modules():
    good = library()
    arm = bytearray(good)
    arm[18:20] = struct.pack("<H", 183)
    yield "module", "libraries that are not what the tags promise", {
        "machine": (NATIVE, native(bytes(arm))), "damaged": (NATIVE, native(good[:600])),
        "text": (NATIVE, native(b"INPUT(libother.so)\n" * 4)), "purelib": (NATIVE, native(good, wheel=NATIVE_WHEEL.replace("false", "true"))),
        "python": (NATIVE, native(good, "demo/_C.cpython-312-x86_64-linux-gnu.so"))}
    yield "sound", "nothing", {
        "plain": wheel(), "native": (NATIVE, native(good)), "descriptor": archive(
            later("demo/__init__.py", CODE), *entries_of(files_of()[1:], record_of(files_of()))),
        "folders": archive(Entry("demo/", b"", method=0, mode=stat.S_IFDIR | 0o755), *plain()),
        "crlf": wheel(metadata=METADATA.replace("\n", "\r\n"), record=None)}


def main():
    folder = pathlib.Path(sys.argv[1])
    outside = folder.resolve().parent / "outside"
    shutil.rmtree(folder, ignore_errors=True)
    titles = []
    for classes in archives(), members(), paths(outside), records(), texts(), modules():
        for title, what, variants in classes:
            assert len(variants) == 5, title
            titles.append(f"{title}\t{what}\n")
            for variant, made in variants.items():
                name, data = made if isinstance(made, tuple) else (NAME, made)
                path = folder / title / variant
                path.mkdir(parents=True)
                (path / name).write_bytes(data)
    (folder / "classes.tsv").write_text("".join(titles))


if __name__ == "__main__":
    main()
