#!/usr/bin/env python3
"""Packs a wheel for tests of those who read wheels: make_wheel.py OUT.whl NAME=FILE...

Each file becomes the member NAME; METADATA, WHEEL and RECORD are made from OUT's name. A member that is given
as one of those replaces it. Writes what wheelsmith's strict reader takes: no descriptors, no extras."""
import base64
import hashlib
import pathlib
import sys
import zipfile


def main(out, *pairs):
    name, version, *_, python, abi, platform = pathlib.Path(out).name.removesuffix(".whl").split("-")
    info = f"{name}-{version}.dist-info"
    tags = [f"Tag: {p}-{a}-{x}" for p in python.split(".") for a in abi.split(".") for x in platform.split(".")]
    members = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": "\n".join(["Wheel-Version: 1.0", "Generator: test", "Root-Is-Purelib: false", *tags, ""]).encode(),
    }
    for pair in pairs:
        member, file = pair.split("=", 1)
        members[member] = pathlib.Path(file).read_bytes()
    record = f"{info}/RECORD"
    if record not in members:
        lines = []
        for member, data in members.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{member},sha256={digest},{len(data)}\n")
        members[record] = "".join(lines + [f"{record},,\n"]).encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for member, data in members.items():
            entry = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)


if __name__ == "__main__":
    main(*sys.argv[1:])
