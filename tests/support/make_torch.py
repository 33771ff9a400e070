#!/usr/bin/env python3
"""Makes a small wheel that looks like torch's, with real little libraries: make_torch.py DIR NAME=VALUE...

    version=2.5.1       of the release            label=cu124      local version, in version.py only
    named=              local version in the file name too         cuda=12.4  "none": a CPU build
    python=cp311        tag of interpreter and ABI (cp313t)        hip=none   ROCm's version
    abi=0               _GLIBCXX_USE_CXX11_ABI of libc10           platform=manylinux1_x86_64
    pybind=v4_gcc_libstdcpp_cxxabi1011                             says=VERSION  instead of label
    front=0             1: dist-info first, and the local extra fields longer than the central ones,
                        as in torch up to 2.6
    lie=MEMBER          RECORD has another digest of it            lack=MEMBER   it is left out
    unsaid=MEMBER       RECORD does not name it                    spoil=MEMBER  its bytes are damaged
    all=0               1: the other four libraries, too
    pad=2300000         bytes behind all that a kit needs, more than its reader asks for at first

The name of the wheel is printed. Needs binutils. The same arguments give the same bytes.
"""

import base64
import hashlib
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

args = dict(version="2.5.1", label="cu124", named="", cuda="12.4", hip="none", python="cp311", abi="0",
            platform="manylinux1_x86_64", pybind="v4_gcc_libstdcpp_cxxabi1011", says="", front="0",
            lie="", lack="", unsaid="", spoil="", pad="2300000", all="0")
args.update(arg.split("=", 1) for arg in sys.argv[2:])

ERROR = "_ZN3c105ErrorC1ENS_14SourceLocationE"
STRINGS = {"0": "Ss", "1": "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"}


def library(name, functions=(), text="", local="", needs=()):
    """A shared library with that soname, made without a compiler: its functions and a string."""
    source = "".join('.globl "%s"\n.type "%s",@function\n"%s": ret\n' % (f, f, f) for f in functions)
    source += '.section .rodata,"a"\n.string "%s"\n' % text
    if local:
        source += '.section .tbss,"awT",@nobits\n.globl %s\n.type %s,@object\n.size %s,4\n%s: .zero 4\n' % ((local,) * 4)
    source += '.section .note.GNU-stack,"",@progbits\n'
    with tempfile.TemporaryDirectory() as folder:
        out, middle = os.path.join(folder, name), os.path.join(folder, "x.o")
        subprocess.run(["as", "--64", "-o", middle], input=source.encode(), check=True)
        for need in needs:
            subprocess.run(["ld", "-shared", "-o", os.path.join(folder, need), "-soname", need, middle], check=True)
        subprocess.run(["ld", "-shared", "-o", out, "-soname", name, "--no-as-needed", middle, *needs],
                       check=True, cwd=folder)
        with open(out, "rb") as file:
            return file.read()


def members():
    text = args["says"] or args["version"] + ("+" + args["label"] if args["label"] else "")
    quoted = {key: "None" if args[key] == "none" else repr(args[key]) for key in ("cuda", "hip")}
    yield "torch/__init__.py", b"raise ImportError('not a real torch')\n"
    yield "torch/version.py", (
        "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
        "__version__ = %r\ndebug = False\ncuda: Optional[str] = %s\ngit_version = 'a8d6afb'\n"
        "hip: Optional[str] = %s\n" % (text, quoted["cuda"], quoted["hip"])).encode()
    yield "torch/include/", b""
    yield "torch/include/c10/util/Exception.h", b"#pragma once\n" + b"// padding\n" * 400
    yield "torch/include/torch/", b""
    yield "torch/include/torch/extension.h", b"#pragma once\n#include <c10/util/Exception.h>\n"
    yield "torch/include/torch/empty.h", b""
    # An ABI 0 build defines names with __cxx11 as well: counting them must not mislead.
    yield "torch/lib/libc10.so", library(
        "libc10.so", ["_ZN3c104warnENSt7__cxx1112basic_stringIcEE", ERROR + STRINGS[args["abi"]]])
    others = ("c10_cuda", "torch", "torch_cpu", "torch_cuda") if args["all"] == "1" else ()
    yield "torch/lib/libtorch_python.so", library(
        "libtorch_python.so", ["glue_of_" + args["python"]], "__pybind11_internals_%s__" % args["pybind"],
        needs=["lib%s.so" % name for name in ("c10", *others)])
    for name in others:
        yield "torch/lib/lib%s.so" % name, library(
            "lib%s.so" % name, ["of_" + name], local="at_cpu" if name == "torch_cpu" else "")
    yield "torch/lib/libgomp.so.1", random.Random(1).randbytes(int(args["pad"]))


def digest_of(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def with_info(files):
    info = "torch-%s.dist-info/" % args["version"]
    extra = [(info + "METADATA", b"Metadata-Version: 2.1\nName: torch\n"),
             (info + "WHEEL", b"Wheel-Version: 1.0\nTag: linux\n")]
    lines = []
    for name, data in files + extra:
        if not name.endswith("/") and name != args["unsaid"]:
            seen = b"another" if name == args["lie"] else data
            lines.append("%s,%s,%d\n" % (name, digest_of(seen), len(data)))
    extra.append((info + "RECORD", ("".join(lines) + info + "RECORD,,\n").encode()))
    return extra + files if args["front"] == "1" else files + extra


def extra_fields(local):
    """Info-ZIP's times (two locally, one centrally) and owner: 28 and 24 bytes."""
    stamp = struct.pack("<I", 1700000000)
    times = struct.pack("<HHB", 0x5455, 9 if local else 5, 3) + stamp + (stamp if local else b"")
    return times + struct.pack("<HHBBIBI", 0x7875, 11, 1, 4, 0, 4, 0)


def write(path, files):
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = (0o40755 if name.endswith("/") else 0o100644) << 16
            plain = not data or name.endswith("version.py")
            info.compress_type = zipfile.ZIP_STORED if plain else zipfile.ZIP_DEFLATED
            if args["front"] == "1":
                info.extra = extra_fields(True)
            wheel.writestr(info, data)
            if args["front"] == "1":
                info.extra = extra_fields(False)


def spoil(path):
    with zipfile.ZipFile(path) as wheel:
        entry = wheel.getinfo(args["spoil"])
    with open(path, "r+b") as file:
        file.seek(entry.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
        file.seek(entry.header_offset + 30 + name + extra + entry.compress_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x55]))


def main():
    files = [(name, data) for name, data in members() if name != args["lack"]]
    named = args["version"] + ("+" + args["named"] if args["named"] else "")
    python = args["python"].rstrip("t")
    wheel = "torch-%s-%s-%s-%s.whl" % (named, python, args["python"], args["platform"])
    os.makedirs(sys.argv[1], exist_ok=True)
    path = os.path.join(sys.argv[1], wheel)
    write(path, with_info(files))
    if args["spoil"]:
        spoil(path)
    print(wheel)


main()
