#!/usr/bin/env python3
"""Makes wheels that do not match their names, from a correct one.

    mutate_wheel.py WHEEL OUT KIND [FILE]

KIND is one of:
    whole     the same, under the name OUT
    cut       its first half
    record    one byte of a module is changed, RECORD stays
    machine   its modules are compiled for AArch64, RECORD agrees
    module    its module is FILE, RECORD agrees
    name      METADATA names a different package
    python    WHEEL has the tags of a different Python
    needs     METADATA requires a Python that does not exist
    torch     METADATA requires torch 2.9
    anytorch  METADATA accepts any torch, and has OUT's version

"machine" needs a cross compiler (./dev setup); else the standard library is enough.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def is_module(name):
    return name.endswith(".so")


def compiled_for_aarch64():
    with tempfile.TemporaryDirectory() as folder:
        command = ["aarch64-linux-gnu-g++-12", "-shared", "-nostdlib", "-xc++", "-", "-o", folder + "/module.so"]
        subprocess.run(command, input=b'extern "C" void *PyInit__C() { return 0; }', check=True)
        with open(folder + "/module.so", "rb") as stream:
            return stream.read()


def change(kind, name, data, other, version):
    if is_module(name) and kind == "machine":
        return compiled_for_aarch64()
    if is_module(name) and kind == "module":
        return other
    if is_module(name) and kind == "record":
        return data[:-1] + bytes([data[-1] ^ 1])
    if name.endswith(".dist-info/METADATA") and kind == "name":
        return data.replace(b"\nName: ", b"\nName: not-", 1)
    if name.endswith(".dist-info/METADATA") and kind == "needs":
        return data.replace(b"\nVersion: ", b"\nRequires-Python: >=4\nVersion: ", 1)
    if name.endswith(".dist-info/METADATA") and kind in ("torch", "anytorch"):
        if kind == "anytorch":
            data = re.sub(rb"\nVersion: .*", b"\nVersion: " + version, data, count=1)
        return data.replace(b"Requires-Dist: torch==2.11.*", b"Requires-Dist: torch" + (b"==2.9.*" if kind == "torch" else b""))
    if name.endswith(".dist-info/WHEEL") and kind == "python":
        return data.replace(b"\nTag: cp3", b"\nTag: cp4")
    return data


def record_of(members, name):
    lines = ["%s,%s,%d\n" % (n, digest(d), len(d)) for n, d in members]
    return ("".join(lines) + name + ",,\n").encode()


def main():
    source, out, kind = sys.argv[1:4]
    with open(source, "rb") as stream:
        data = stream.read()
    if kind in ("whole", "cut"):
        with open(out, "wb") as stream:
            stream.write(data if kind == "whole" else data[: len(data) // 2])
        return
    other = b""
    if kind == "module":
        with open(sys.argv[4], "rb") as stream:
            other = stream.read()
    members, record, version = [], None, os.path.basename(out).split("-")[1].encode()
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            old = archive.read(entry)
            if entry.filename.endswith(".dist-info/RECORD"):
                record = (entry.filename, old)
            else:
                members.append((entry.filename, change(kind, entry.filename, old, other, version)))
    text = record[1] if kind == "record" else record_of(members, record[0])
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members + [(record[0], text)]:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)


main()
