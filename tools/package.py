#!/usr/bin/env python3
"""Makes the release out of an installed prefix: ./dev package.

    package.py PREFIX VERSION [OUT] [--sysroot DIR]

Brings the libraries that PREFIX/bin/wheelsmith needs, all but glibc's own, to PREFIX/lib/wheelsmith with the
licences of their Debian packages, and writes OUT/wheelsmith-VERSION-linux-x86_64.tar.xz and a wheel of the
same files; without OUT neither. The wheel's platform tag follows from the newest glibc version that any file requires. With
--sysroot the program is for another machine, and its libraries are those of the folder that tools/sysroot.py filled.
The same prefix makes the same bytes: names are sorted, times are SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

import older

# Statically linked libraries (cmake/package/package.cmake, cmake/exec.cmake), by their Debian package.
STATIC = ("libarchive-dev", "libxml2-dev", "libssl-dev", "libc6-dev")
# They go where pip and uv look for commands: the second lies beside the first.
PROGRAMS = ("bin/wheelsmith", "bin/wheelsmith-exec")
SUMMARY = "Builds the wheels of CUDA extensions for many torch, CUDA, Python and GPU versions"


def said_by(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


class Sysroot:
    """Another machine's libraries and what dpkg would say of them."""
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.lines = {line.split()[0]: line for line in (self.folder / "PACKAGES").read_text().splitlines()}
        self.owners = {os.path.basename(name): package for package in self.lines
                       for name in (self.folder / "files" / package).read_text().split("\n")}

    def needed_libraries(self, program):
        """(soname, path) of all that the loader would bring, but the loader."""
        found, left = {}, [program]
        while left:
            for name in older.File(left.pop()).needed():
                path = next(self.folder.glob(f"usr/lib/*-linux-gnu/{name}"), None) or sys.exit(f"package.py: there is no {name}")
                if name not in found and not name.startswith("ld-linux"):
                    found[name] = path
                    left.append(path)
        return found.items()

    def package_of(self, path):
        return self.owners[os.path.basename(os.path.realpath(path))]

    def document_of(self, package):
        return self.folder / f"usr/share/doc/{package}/copyright"

    def line_of(self, package):
        return self.lines[package]


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


def bring_libraries(prefix, sysroot):
    """Copies the private libraries; returns the packages that contain them."""
    folder, packages = prefix / "lib/wheelsmith", set()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = prefix / "bin/wheelsmith"
    for name, path in sysroot.needed_libraries(program) if sysroot else needed_libraries(program):
        package = sysroot.package_of(path) if sysroot else package_of(path)
        if package == "libc6":
            continue
        packages.add(package)
        shutil.copyfile(path, folder / name)
    compiler = said_by("aarch64-linux-gnu-gcc-12" if sysroot else "gcc", "-print-file-name=libsupc++.a").strip()
    brought = package_of(compiler) # of this host, whichever machine it is for
    if not sysroot:
        packages.add(brought)
    packages.update(STATIC)
    return sorted(packages)


def bring_licences(prefix, packages, sysroot):
    folder = prefix / "share/doc/wheelsmith/libraries"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = []
    for package in packages:
        shutil.copyfile(sysroot.document_of(package) if sysroot else f"/usr/share/doc/{package}/copyright",
                        folder / f"{package}.copyright")
        lines.append(sysroot.line_of(package) if sysroot else said_by(
            "dpkg-query", "-W", "-f", "${Package} ${Version} ${source:Package}\n", package).splitlines()[0])
    (folder / "VERSIONS").write_text("\n".join(lines) + "\n")


def glibc_floor(prefix):
    """The newest glibc version that any file requires."""
    return max(older.File(path).glibc() for path in [prefix / "bin/wheelsmith", *(prefix / "lib/wheelsmith").iterdir()])


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
    """(name, bytes, mode) of everything but RECORD."""
    data, info = f"wheelsmith-{version}.data", f"wheelsmith-{version}.dist-info"
    for file in files_of(prefix):
        name = str(file.relative_to(prefix))
        place = f"{data}/scripts/{file.name}" if name in PROGRAMS else f"{data}/data/{name}"
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


def main(prefix, version, *words):
    sysroot = Sysroot(words[words.index("--sysroot") + 1]) if "--sysroot" in words else None
    out = words[0] if words and words[0] != "--sysroot" else None
    prefix = pathlib.Path(prefix)
    bring_licences(prefix, bring_libraries(prefix, sysroot), sysroot)
    lower_glibc(prefix)
    if not out:
        return
    out, when = pathlib.Path(out), int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    floor = glibc_floor(prefix)
    out.mkdir(parents=True, exist_ok=True)
    machine = older.File(prefix / "bin/wheelsmith").machine
    archive = out / f"wheelsmith-{version}-linux-{machine}.tar.xz"
    write_tar(prefix, archive, when)
    wheel = write_wheel(prefix, version, f"py3-none-manylinux_{floor[0]}_{floor[1]}_{machine}", out, when)
    for path in (archive, wheel):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
