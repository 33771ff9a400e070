#!/usr/bin/env python3
"""Makes the release out of an installed prefix: ./dev package.

    package.py PREFIX VERSION [OUT]

Brings the libraries that PREFIX/bin/wheelsmith needs, all but glibc's own, to PREFIX/lib/wheelsmith with the
licences of their Debian packages, and writes OUT/wheelsmith-VERSION-linux-x86_64.tar.xz and a wheel of the
same files; without OUT neither. The wheel's platform tag is what `wheelsmith inspect` measures on every file.
The same prefix makes the same bytes: names are sorted, times are SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

import older

# What is linked statically (cmake/package/package.cmake), by the Debian package that it comes from.
STATIC = ("libarchive-dev", "libxml2-dev")
SUMMARY = "Builds the wheels of CUDA extensions for many torch, CUDA, Python and GPU versions"


def said_by(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def package_of(path):
    """The Debian package that a file belongs to; libraries of /usr are registered with or without it."""
    real = os.path.realpath(path)
    for name in (real, real.removeprefix("/usr"), path):
        found = subprocess.run(["dpkg-query", "-S", name], text=True, capture_output=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"package.py: no package owns {path}")


def needed_libraries(program):
    """(soname, path) of all that the loader would bring."""
    for line in said_by("ldd", program).splitlines():
        words = line.split()
        if "not" in words:
            sys.exit(f"package.py: {line.strip()}")
        if "=>" in words:
            yield words[0], words[2]


def bring_libraries(prefix):
    """Copies the private libraries; returns the packages that anything here comes from."""
    folder, packages = prefix / "lib/wheelsmith", set()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, path in needed_libraries(prefix / "bin/wheelsmith"):
        package = package_of(path)
        if package == "libc6":
            continue
        packages.add(package)
        shutil.copyfile(path, folder / name)
    compiler = said_by("gcc", "-print-file-name=libsupc++.a").strip()
    packages.add(package_of(compiler))
    packages.update(STATIC)
    return sorted(packages)


def bring_licences(prefix, packages):
    folder = prefix / "share/doc/wheelsmith/libraries"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = []
    for package in packages:
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", folder / f"{package}.copyright")
        lines.append(said_by("dpkg-query", "-W", "-f", "${Package} ${Version} ${source:Package}\n", package).splitlines()[0])
    (folder / "VERSIONS").write_text("\n".join(lines) + "\n")


def glibc_floor(prefix):
    """The newest glibc that any file asks for, by our own judge."""
    floor = (0, 0)
    for path in [prefix / "bin/wheelsmith", *sorted((prefix / "lib/wheelsmith").iterdir())]:
        facts = json.loads(said_by(prefix / "bin/wheelsmith", "inspect", "--json", path))
        asked = tuple(map(int, (facts["modules"][0]["floor"]["glibc"] or "2.5").split(".")))
        floor = max(floor, asked)
    return floor


def lower_glibc(prefix):
    """The program and its libraries ask for no version that glibc 2.28 lacks: see older.py."""
    program = prefix / "bin/wheelsmith"
    older.lower(program, [program, *sorted((prefix / "lib/wheelsmith").iterdir())])


def files_of(prefix):
    return sorted(p for p in prefix.rglob("*") if p.is_file())


def write_tar(prefix, path, when):
    def settle(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime, info.mode = when, 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info
    with tarfile.open(path, "w:xz", preset=6, format=tarfile.GNU_FORMAT) as archive:
        for file in files_of(prefix):
            archive.add(file, f"{prefix.name}/{file.relative_to(prefix)}", recursive=False, filter=settle)


def wheel_members(prefix, version, tag):
    """(name, bytes, mode) of everything but RECORD. The program goes where pip and uv look for commands."""
    data, info = f"wheelsmith-{version}.data", f"wheelsmith-{version}.dist-info"
    for file in files_of(prefix):
        name = str(file.relative_to(prefix))
        place = f"{data}/scripts/wheelsmith" if name == "bin/wheelsmith" else f"{data}/data/{name}"
        yield place, file.read_bytes(), 0o755 if name.startswith("bin/") else 0o644
    licence = (prefix / "share/doc/wheelsmith/LICENSE").read_bytes()
    readme = (prefix / "share/doc/wheelsmith/README.md").read_text()
    yield f"{info}/METADATA", (
        f"Metadata-Version: 2.4\nName: wheelsmith\nVersion: {version}\nSummary: {SUMMARY}\n"
        "License-Expression: Apache-2.0\nLicense-File: LICENSE\n"
        f"Description-Content-Type: text/markdown\n\n{readme}").encode(), 0o644
    yield f"{info}/WHEEL", (
        f"Wheel-Version: 1.0\nGenerator: wheelsmith tools/package.py\nRoot-Is-Purelib: false\nTag: {tag}\n").encode(), 0o644
    yield f"{info}/licenses/LICENSE", licence, 0o644


def write_wheel(prefix, version, tag, folder, when):
    path = folder / f"wheelsmith-{version}-{tag}.whl"
    record = ""
    date = max(time.gmtime(when)[:6], (1980, 1, 1, 0, 0, 0))

    def put(archive, name, data, mode):
        member = zipfile.ZipInfo(name, date)
        member.external_attr, member.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        archive.writestr(member, data)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, mode in wheel_members(prefix, version, tag):
            put(archive, name, data, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
        name = f"wheelsmith-{version}.dist-info/RECORD"
        put(archive, name, (record + f"{name},,\n").encode(), 0o644)
    return path


def main(prefix, version, out=None):
    prefix = pathlib.Path(prefix)
    bring_licences(prefix, bring_libraries(prefix))
    lower_glibc(prefix)
    if not out:
        return
    out, when = pathlib.Path(out), int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    floor = glibc_floor(prefix)
    out.mkdir(parents=True, exist_ok=True)
    archive = out / f"wheelsmith-{version}-linux-x86_64.tar.xz"
    write_tar(prefix, archive, when)
    wheel = write_wheel(prefix, version, f"py3-none-manylinux_{floor[0]}_{floor[1]}_x86_64", out, when)
    for path in (archive, wheel):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
