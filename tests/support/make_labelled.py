#!/usr/bin/env python3
"""Packs small wheels as wheelsmith labels them, for tests of indexes: make_labelled.py DIR LINE...

A line is NAME VERSION TAG [WORD...]: "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*". Words: a
requirement; "foreign": without a wheelsmith.json; "size=N": N bytes that do not compress; "METADATA:Field: value" (with _
for blanks). The package prints its whole version. Same line, same bytes; `make` is what benchmarks call."""
import base64
import hashlib
import json
import pathlib
import random
import re
import sys
import zipfile

FACTS = {"schema": "wheelsmith.wheel/1", "wheelsmith": "0.1.0", "recipe": "0" * 64, "sources": "0" * 64, "archs": None,
         "isolation": "folder"}


def archs_of(version):
    """The architectures of a label, as wheelsmith.json has them: "8.0;9.0+PTX"."""
    found = re.search(r"\.sm((?:\.[0-9]+[af]?(?:ptx)?)+)", version)
    words = found[1].strip(".").split(".") if found else []
    return ";".join(re.sub(r"^(\d+)(\d[af]?)(ptx)?$", lambda m: f"{m[1]}.{m[2]}" + ("+PTX" if m[3] else ""), w)
                    for w in words) or None


def make(folder, name, version, tag, *words):
    info = f"{name}-{version}.dist-info"
    python, abi, platform = tag.split("-")
    tags = [f"Tag: {p}-{a}-{x}" for p in python.split(".") for a in abi.split(".") for x in platform.split(".")]
    fields = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    members = {f"{name}/__init__.py": f'print("{version}")\n'.encode()}
    for word in words:
        if word.startswith("METADATA:"):
            fields.append(word.removeprefix("METADATA:").replace("_", " "))
        elif word.startswith("size="):
            members[f"{name}/data.bin"] = random.Random(name + version + tag).randbytes(int(word.removeprefix("size=")))
        elif word != "foreign":
            fields.append(f"Requires-Dist: {word}")
    members[f"{info}/METADATA"] = ("\n".join(fields) + "\n").encode()
    members[f"{info}/WHEEL"] = "\n".join(
        ["Wheel-Version: 1.0", "Generator: test", "Root-Is-Purelib: false", *tags, ""]).encode()
    if "foreign" not in words:
        members[f"{info}/wheelsmith.json"] = json.dumps(FACTS | {"archs": archs_of(version)}).encode()
    lines = []
    for member, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{member},sha256={digest},{len(data)}\n")
    members[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    out = pathlib.Path(folder) / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for member, data in members.items():
            entry = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return out


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for line in sys.argv[2:]:
        make(sys.argv[1], *line.split())
