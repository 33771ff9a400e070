#!/usr/bin/env python3
"""Makes tar archives, Debian packages and zipped sources, sound or breaking one rule each.

make_tars.py DIR. DIR/expected.txt gets lines "<file> <rule>"; the rule is "sound", one of
builder/archive/members.h, or "zip " and a class of make_zips.py. Zipped sources are the archives of make_zips.py, and archives with
links or a comment, which a wheel may not have. Beside a sound archive is <file>.list, what a reader must see:
"f name contents", "x" (executable), "l name target", "h" (hard link), "d name".
"""
import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile

import make_zips

XZ = {"preset": 6}


def member(name, data=b"", kind=tarfile.REGTYPE, target="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, target, mode, len(data)
    return info, data


def link(name, target):
    return member(name, kind=tarfile.SYMTYPE, target=target, mode=0o777)


def twin(name, target):
    return member(name, kind=tarfile.LNKTYPE, target=target)


def folder(name):
    return member(name, kind=tarfile.DIRTYPE, mode=0o755)


def tar(*members, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as t:
        for info, data in members:
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def ar(*members):
    out = b"!<arch>\n"
    for name, data in members:
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data
        out += b"\n" if len(data) % 2 else b""
    return out


def deb(name, data):
    return ar(("debian-binary", b"2.0\n"), ("control.tar.gz", gzip.compress(tar())), (name, data))


def zipped(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            z.writestr(info, data)
    return out.getvalue()


def zeros(size):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:bz2") as t:
        info = tarfile.TarInfo("zeros")
        info.size = size

        class Zeros:
            def read(self, n):
                return bytes(n)
        t.addfile(info, Zeros())
    return out.getvalue()


def sparse():
    """GNU tar's sparse file: 1 MiB with two bytes of data."""
    path = os.path.join(sys.argv[1], "holes")
    with open(path, "wb") as f:
        f.write(b"A")
        f.seek((1 << 20) - 1)
        f.write(b"Z")
    data = subprocess.run(["tar", "-C", sys.argv[1], "-cS", "--format=gnu", "holes"],
                          check=True, stdout=subprocess.PIPE).stdout
    os.unlink(path)
    return data


TREE = [folder("pkg-1.0"), member("pkg-1.0/a.c", b"int a;\n"),
        member("pkg-1.0/tool.sh", b"#!/bin/sh\n", mode=0o755), link("pkg-1.0/l", "a.c")]
TREE_LIST = ["d pkg-1.0", "f pkg-1.0/a.c int a;", "x pkg-1.0/tool.sh #!/bin/sh",
             "l pkg-1.0/l a.c"]


def sound():
    yield "plain.tar", tar(*TREE), TREE_LIST
    yield "gz.tar.gz", gzip.compress(tar(*TREE)), TREE_LIST
    yield "tgz.tgz", gzip.compress(tar(*TREE, form=tarfile.GNU_FORMAT)), TREE_LIST
    yield "bz2.tar.bz2", bz2.compress(tar(*TREE, form=tarfile.USTAR_FORMAT)), TREE_LIST
    yield "xz.tar.xz", lzma.compress(tar(*TREE)), TREE_LIST
    yield "dots.tar", tar(folder("./"), folder("./pkg/"), member("./pkg/a", b"x")), \
        ["d pkg", "f pkg/a x"]
    name = "pkg/größe-" + "ü" * 100
    yield "pax-name.tar", tar(member(name, b"x")), [f"f {name} x"]
    yield "gnu-name.tar", tar(member(name, b"x"), form=tarfile.GNU_FORMAT), [f"f {name} x"]
    latin, data = member("gr\udcf6sse", b"x")
    yield "latin1-name.tar", tar((latin, data), form=tarfile.USTAR_FORMAT), ["f gr\udcf6sse x"]
    yield "links.tar", tar(member("a/b/f", b"x"), link("a/b/up", "../g"), link("a/l", "./b/f"),
                           link("a/b/c/folder", ".."), member("a/g", b"y"),
                           twin("a/twin", "a/b/f")), \
        ["f a/b/f x", "l a/b/up ../g", "l a/l ./b/f", "l a/b/c/folder ..", "f a/g y",
         "h a/twin a/b/f"]
    yield "twice-the-same.tar", tar(*TREE, *TREE), TREE_LIST
    yield "setuid.tar", tar(member("tool", b"x", mode=0o6755), member("t", b"y", mode=0o2644)), \
        ["x tool x", "f t y"]
    yield "empty.tar", tar(), []
    yield "sparse.tar", sparse(), ["f holes A#1048576"]
    yield "gz.deb", deb("data.tar.gz", gzip.compress(tar(*TREE))), TREE_LIST
    yield "xz.deb", deb("data.tar.xz", lzma.compress(tar(*TREE))), TREE_LIST
    yield "plain.deb", deb("data.tar", tar(*TREE)), TREE_LIST
    if shutil.which("zstd"):
        data = subprocess.run(["zstd", "-qc"], input=tar(*TREE), check=True,
                              stdout=subprocess.PIPE).stdout
        yield "zst.deb", deb("data.tar.zst", data), TREE_LIST
        yield "zst.tar.zst", data, TREE_LIST
    yield "source.zip", zipped(("pkg/", b"", stat.S_IFDIR | 0o755),
                               ("pkg/a.c", b"int a;\n", stat.S_IFREG | 0o644),
                               ("pkg/l", b"a.c", stat.S_IFLNK | 0o777)), \
        ["d pkg", "f pkg/a.c int a;", "l pkg/l a.c"]


    if shutil.which("git"):
        yield "git.zip", by_git(), ["d pkg-1.0", "f pkg-1.0/a.c int a;", "l pkg-1.0/l a.c",
                                    "x pkg-1.0/tool.sh #!/bin/sh"]


def by_git():
    """An archive of a commit as servers make it: the comment is the commit's id."""
    top = os.path.join(sys.argv[1], "repository")
    os.makedirs(top)
    for name, data in ("a.c", "int a;\n"), ("tool.sh", "#!/bin/sh\n"):
        with open(os.path.join(top, name), "w") as f:
            f.write(data)
    os.chmod(os.path.join(top, "tool.sh"), 0o755)
    os.symlink("a.c", os.path.join(top, "l"))
    git = ["git", "-C", top, "-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    data = subprocess.run([*git, "archive", "--format=zip", "--prefix=pkg-1.0/", "HEAD"],
                          check=True, stdout=subprocess.PIPE).stdout
    shutil.rmtree(top)
    return data


def zips():
    """The archives of make_zips.py, judged as sources: yields (name, rule, data)."""
    others = {"comment": "sound", "comment-long": "sound", "zip-in-comment": "zip directory",
              "link": "link", "link-from-dos": "sound"}
    for name, data in make_zips.sound():
        yield f"z-{name}.zip", "sound", data
    for rule, name, data in make_zips.hostile():
        yield f"z-{name}.zip", others.get(name, "zip " + rule), data
    Entry, archive = make_zips.Entry, make_zips.archive
    text = make_zips.TEXT
    # unzip and Python read it as b.cpp, a reader of local headers as a.cpp.
    yield "two-names.zip", "zip local-name", archive(Entry("b.cpp", text, local_name=b"a.cpp"))
    yield "end-in-comment.zip", "zip comment", archive(Entry("a", text), comment=b"..PK\5\6..")
    yield "link-zero.zip", "link", archive(Entry("l", b"a\0b", method=0, mode=make_zips.LINK))
    yield "link-folder.zip", "zip type", archive(Entry("l/", b"a", method=0, mode=make_zips.LINK))
    yield "link-long.zip", "zip type", archive(Entry("l", b"a" * 5000, mode=make_zips.LINK))
    yield "link-crc.zip", "zip crc", archive(Entry(
        "l", b"a", method=0, mode=make_zips.LINK, local=dict(crc=1), central=dict(crc=1)))


def hostile():
    yield "name-path", "up.tar", tar(member("../evil", b"x"))
    yield "name-path", "up-inside.tar", tar(member("a/../../evil", b"x"))
    yield "name-path", "up-dots.tar", tar(member("./../evil", b"x"))
    yield "name-path", "absolute.tar", tar(member("/etc/evil", b"x"))
    yield "name-path", "backslash.tar", tar(member("a\\..\\b", b"x"))
    yield "name-path", "up-folder.tar", tar(folder("../evil"))
    yield "name-path", "up.deb", deb("data.tar.xz", lzma.compress(tar(member("./../evil", b"x"))))
    yield "zip name-path", "up.zip", zipped(("../evil", b"x", stat.S_IFREG | 0o644))
    yield "name-text", "newline.tar", tar(member("a\nf deadbeef b", b"x"))
    yield "name-text", "escape.tar", tar(member("a\x1b[2J", b"x"))
    yield "name-text", "long.tar", tar(member("x/" * 600 + "y", b"x"))
    yield "link", "link-absolute.tar", tar(link("a", "/etc/passwd"))
    yield "link", "link-up.tar", tar(link("a/b", "../../etc/passwd"))
    yield "link", "link-root.tar", tar(link("a/b", ".."))
    yield "link", "link-down-up.tar", tar(link("d/up", "../x"), link("b", "d/up/../../../etc"))
    yield "link", "link-up.zip", zipped(("a", b"../../etc", stat.S_IFLNK | 0o777))
    yield "link", "link-up.deb", deb("data.tar", tar(link("./a", "../../etc")))
    yield "link", "twin-up.tar", tar(twin("a", "../../etc/passwd"))
    yield "link", "twin-absolute.tar", tar(twin("a", "/etc/passwd"))
    yield "link", "twin-later.tar", tar(twin("a", "b"), member("b", b"x"))
    yield "link", "twin-of-link.tar", tar(member("f", b"x"), link("l", "f"), twin("a", "l"))
    yield "link", "twin-of-itself.tar", tar(twin("a", "a"))
    yield "through", "through-link.tar", tar(folder("d"), link("l", "d"), member("l/x", b"x"))
    yield "through", "through-file.tar", tar(member("f", b"x"), member("f/x", b"x"))
    yield "through", "through-twin.tar", tar(member("f", b"x"), twin("t", "f"), folder("t/x"))
    yield "duplicate", "other-contents.tar", tar(member("a", b"x"), member("a", b"y"))
    yield "duplicate", "longer-contents.tar", tar(member("a", b"x"), member("./a", b"xx"))
    yield "duplicate", "other-mode.tar", tar(member("a", b"x"), member("a", b"x", mode=0o755))
    yield "duplicate", "other-target.tar", tar(member("f", b""), link("a", "f"), link("a", "g"))
    yield "duplicate", "file-then-link.tar", tar(member("a", b"x"), link("a", "b"))
    yield "duplicate", "link-then-file.tar", tar(link("a", "b"), member("a", b"x"))
    yield "duplicate", "file-for-folder.tar", tar(member("d/x", b"x"), member("d", b"x"))
    yield "zip duplicate", "other-contents.zip", zipped(("a", b"x", 0o100644), ("a", b"y", 0o100644))
    yield "type", "device.tar", tar(member("a", kind=tarfile.CHRTYPE))
    yield "type", "block.tar", tar(member("a", kind=tarfile.BLKTYPE))
    yield "type", "fifo.tar", tar(member("a", kind=tarfile.FIFOTYPE))
    yield "amount", "zeros.tar.bz2", zeros(80 << 20)
    yield "format", "garbage.tar", os.urandom(4096)
    yield "format", "garbage.tar.gz", b"\x1f\x8b\x08" + os.urandom(4096)
    yield "format", "cut.tar.gz", gzip.compress(tar(member("a", os.urandom(40000))))[:20000]
    yield "format", "cut.tar", tar(member("a", os.urandom(40000)))[:20000]
    yield "format", "no-data.deb", ar(("debian-binary", b"2.0\n"))
    yield "format", "garbage.deb", b"!<arch>\nthis is not a header at all" + bytes(100)
    yield "zip end-record", "garbage.zip", b"PK\3\4" + bytes(100)
    yield "format", "gzip-of-text.tar.gz", gzip.compress(b"hello " * 200)


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    lines = []

    def write(name, data):
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(data)
    for name, data, listing in sound():
        write(name, data)
        write(name + ".list", "".join(s + "\n" for s in listing).encode("utf-8", "surrogateescape"))
        lines.append(f"{name} sound\n")
    for name, rule, data in zips():
        write(name, data)
        lines.append(f"{name} {rule}\n")
    for rule, name, data in hostile():
        write(name, data)
        lines.append(f"{name} {rule}\n")
    write("expected.txt", "".join(lines).encode())


main()
