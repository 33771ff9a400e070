#!/usr/bin/env python3
"""Unpacks Debian packages for another machine and their dependencies into a folder, without installing them.

    sysroot.py SUITE ARCH FOLDER PACKAGE...    sysroot.py bookworm arm64 build/sysroot-aarch64 libcurl4-openssl-dev

For compilers (--sysroot) and for programs under qemu-user (-L). FOLDER/PACKAGES lists its packages, one a line:
name, version, source. FOLDER/files/NAME lists the files of one. Packages that are present are not fetched again. Their
digests are those of the suite's index.
"""

import hashlib
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import floors

FIELDS = re.compile(r"^(Package|Version|Source|Filename|SHA256|Depends|Pre-Depends|Provides): (.*)$", re.M)


def read_index(suite, arch):
    """{name: fields}, and {virtual name: name}."""
    text = lzma.decompress(floors.get(f"{floors.mirror()}/dists/{suite}/main/binary-{arch}/Packages.xz")).decode()
    packages, provided = {}, {}
    for paragraph in text.split("\n\n"):
        fields = dict(FIELDS.findall(paragraph))
        if "Package" in fields:
            packages[fields["Package"]] = fields
            for name in re.findall(r"([a-z0-9][a-z0-9+.-]*)(?: \([^)]*\))?", fields.get("Provides", "")):
                provided.setdefault(name, fields["Package"])
    return packages, provided


def closure(packages, provided, wanted):
    """@wanted and what they depend on; of alternatives the first that is there."""
    found, left = {}, list(wanted)
    while left:
        name = left.pop()
        name = name if name in packages else provided.get(name, name)
        if name not in packages:
            sys.exit(f"sysroot.py: the suite has no package {name}")
        if name in found:
            continue
        found[name] = fields = packages[name]
        for need in filter(None, ", ".join((fields.get("Pre-Depends", ""), fields.get("Depends", ""))).split(", ")):
            names = [re.match(r"[a-z0-9+.-]+", choice.strip())[0] for choice in need.split("|")]
            left.append(next((n for n in names if n in packages or n in provided), names[0]))
    return found


def unpack(fields, folder):
    data = floors.get(f"{floors.mirror()}/{fields['Filename']}")
    if hashlib.sha256(data).hexdigest() != fields["SHA256"]:
        sys.exit(f"sysroot.py: {fields['Filename']} is damaged")
    with tempfile.NamedTemporaryFile(suffix=".deb") as package:
        package.write(data)
        package.flush()
        unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", package.name], check=True, capture_output=True).stdout
        names = subprocess.run(["tar", "-xv", "--keep-directory-symlink", "-C", folder], input=unpacked, check=True,
                               capture_output=True).stdout
        (folder / "files" / fields["Package"]).write_bytes(names)


def turn_links(folder):
    """Links to absolute paths lead out of the folder: they become relative ones."""
    for path in folder.rglob("*"):
        target = os.readlink(path) if path.is_symlink() else ""
        if target.startswith("/"):
            path.unlink()
            path.symlink_to(os.path.relpath(f"{folder}{target}", path.parent))


def main(suite, arch, folder, *wanted):
    folder = pathlib.Path(folder).absolute()
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "sbin"): # as Debian has them since 12
        (folder / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"usr/{name}")
    there = folder / "PACKAGES"
    known = set(there.read_text().splitlines()) if there.is_file() else set()
    for name, fields in sorted(closure(*read_index(suite, arch), wanted).items()):
        line = f"{name} {fields['Version']} {fields.get('Source', name).split()[0]}"
        if line not in known:
            unpack(fields, folder)
            known.add(line)
            there.write_text("".join(f"{each}\n" for each in sorted(known)))
    turn_links(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
