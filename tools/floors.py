#!/usr/bin/env python3
"""Lists which library of glibc and gcc has had which symbol since which version: ./dev floors.

    floors.py OUT                     OUT/x86_64.zst, OUT/aarch64.zst, from Debian's packages
    floors.py OUT --check ABILISTS    compares OUT with the lists of glibc that zig ships (lib/libc/glibc/abilists
                                      of the wheel `ziglang`): another source for the same facts

Made from the real libraries: the packages of three Debian releases, which the first mirror of apt's sources has.
The oldest gives all that it has; each later one what its glibc and libstdc++ added. So a symbol that moved
(pthread_create: libpthread until 2.33, libc from 2.34 on) is listed as a link before and after the move sees it. A
floor contains the newest version of each name that is not newer than the floor (builder/kit/floor/floor.h).
"""

import hashlib
import lzma
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import urllib.request

# The releases, oldest first, with the glibc that each has. libstdc++: 3.4.28, 3.4.30, 3.4.33.
SUITES = (("bullseye", "2.31"), ("bookworm", "2.36"), ("trixie", "2.41"))
PACKAGES = ("libc6", "libstdc++6", "libgcc-s1", "libatomic1")
MACHINES = {"x86_64": ("amd64", "ld-linux-x86-64.so.2"), "aarch64": ("arm64", "ld-linux-aarch64.so.1")}
LIBRARIES = ("libc.so.6", "libm.so.6", "libmvec.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1",
             "libresolv.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libatomic.so.1")
COUNTED = re.compile(r"(GLIBC|GLIBCXX|CXXABI|GCC|LIBATOMIC)_([0-9.]+)$")


def number(text):
    return tuple(map(int, text.split(".")))


def mirror():
    """The first source of apt, in either of its formats."""
    for path in [*sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*.sources")), pathlib.Path("/etc/apt/sources.list")]:
        found = re.search(r"^(?:URIs:|deb(?: \[[^]]*\])?)\s*(http\S+)", path.read_text(), re.M) if path.is_file() else None
        if found:
            return found[1].rstrip("/")
    sys.exit("floors.py: apt has no source")


def get(url):
    with urllib.request.urlopen(url, timeout=120) as answer:
        return answer.read()


def unpack(suite, arch, folder):
    """Unpacks PACKAGES of a suite for an architecture; returns what they are."""
    base, versions = mirror(), []
    index = lzma.decompress(get(f"{base}/dists/{suite}/main/binary-{arch}/Packages.xz")).decode()
    for paragraph in index.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Filename|SHA256): (.*)$", paragraph, re.M))
        if fields.get("Package") in PACKAGES:
            data = get(f"{base}/{fields['Filename']}")
            if hashlib.sha256(data).hexdigest() != fields["SHA256"]:
                sys.exit(f"floors.py: {fields['Filename']} is damaged")
            package = folder / "package.deb"
            package.write_bytes(data)
            subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
            versions.append(f"{fields['Package']} {fields['Version']} {arch}")
    return versions


def symbols(path):
    """(name, version, thread-local, size of an object or 0) of what a library exports, hidden versions as well."""
    data = path.read_bytes()
    sections = struct.unpack_from("<Q", data, 40)[0]
    step, count = struct.unpack_from("<HH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * step) for i in range(count)]
    by_type = {head[1]: head for head in heads}
    dynsym, versym, verdef = (by_type[kind] for kind in (11, 0x6FFFFFFF, 0x6FFFFFFD))
    strings = heads[dynsym[6]][4]

    def text(at):
        return data[strings + at:data.index(b"\0", strings + at)].decode()
    versions, at = {}, verdef[4]
    for _ in range(verdef[7]):
        index, aux, following = (struct.unpack_from("<H", data, at + 4)[0], *struct.unpack_from("<II", data, at + 12))
        versions[index] = text(struct.unpack_from("<I", data, at + aux)[0])
        at += following
    for i in range(1, dynsym[5] // 24):
        name, info, other, section, _, size = struct.unpack_from("<IBBHQQ", data, dynsym[4] + 24 * i)
        index = struct.unpack_from("<H", data, versym[4] + 2 * i)[0] & 0x7FFF
        kind = info & 15
        if section and index > 1 and other & 3 in (0, 3) and not (section == 0xFFF1 and text(name) == versions[index]):
            yield text(name), versions[index], kind == 6, size if kind == 1 else 0


def is_new(version, before):
    """Was it added after the release whose newest versions of each kind are @before?"""
    found = COUNTED.match(version)
    return bool(found) and number(found[2]) > before.get(found[1], (0,))


def collect(machine, folder):
    """{library: {(version, name): (thread-local, size)}}, and the versions of the packages that were read."""
    arch, loader = MACHINES[machine]
    known, sources, before = {}, [], {}
    for suite, glibc in SUITES:
        root, newest = folder / suite / arch, dict(before)
        root.mkdir(parents=True)
        sources += unpack(suite, arch, root)
        for library in (loader, *LIBRARIES):
            for path in sorted(p for p in root.rglob(library) if "libc6-prof" not in str(p))[:1]:
                for name, version, tls, size in symbols(path):
                    if version == "GLIBC_PRIVATE" or (before and not is_new(version, before)):
                        continue
                    known.setdefault(library, {})[version, name] = tls, size
                    counted = COUNTED.match(version)
                    if counted:
                        newest[counted[1]] = max(newest.get(counted[1], (0,)), number(counted[2]))
        if newest["GLIBC"] > number(glibc):
            sys.exit(f"floors.py: {suite} has a newer glibc than {glibc}")
        before = {**newest, "GLIBC": number(glibc)}
    return known, sources


def names(lines):
    """As exports.h packs them: how much of the name before stands, then the rest."""
    before = b""
    for name, tail in lines:
        name = name.encode()
        shared = len(os.path.commonprefix([before, name]))
        before = name
        yield f"{shared}\t{name[shared:].decode()}{tail}\n"


def order(version):
    found = COUNTED.match(version)
    return (found[1], number(found[2])) if found else (version, ())


def render(known, sources):
    text = "wheelsmith.exports/1\n" + "".join(f"wheel {source}\n" for source in sources)
    for library in sorted(known):
        text += f"library {library}\n"
        for version in sorted({version for version, _ in known[library]}, key=order):
            here = {name: known[library][key] for key in known[library] for name in [key[1]] if key[0] == version}
            text += f"version {version}\n"
            for word, wanted in (("names", lambda tls, size: not tls and not size),
                                 ("objects", lambda tls, size: not tls and size), ("tls", lambda tls, size: tls)):
                some = sorted(name for name in here if wanted(*here[name]))
                if some:
                    text += f"{word} {len(some)}\n"
                    text += "".join(names((name, f"\t{here[name][1]}" if word == "objects" else "") for name in some))
    return text + "end\n"


def make(out):
    out.mkdir(parents=True, exist_ok=True)
    for machine in MACHINES:
        with tempfile.TemporaryDirectory() as scratch:
            text = render(*collect(machine, pathlib.Path(scratch)))
            path = out / f"{machine}.zst"
            subprocess.run(["zstd", "-q", "-19", "-f", "-o", path], input=text.encode(), check=True)
            print(f"{path}  {len(text)} bytes, {path.stat().st_size} packed")


def read(path):
    """{library: {name: {version}}} of a list."""
    text = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout.decode()
    found, library, version, name, left = {}, None, None, "", 0
    for line in text.splitlines():
        if left:
            shared, rest = line.split("\t")[:2]
            name, left = name[:int(shared)] + rest, left - 1
            found.setdefault(library, {}).setdefault(name, set()).add(version)
            continue
        word, _, value = line.partition(" ")
        if word == "library":
            library = value
        elif word == "version":
            version = value
        elif word in ("names", "objects", "tls"):
            left, name = int(value), ""
    return found


def of_zig(data):
    """{machine: {library: {name: {version}}}} of zig's file: names of libraries, versions, targets; then functions and
    objects, each name followed by inclusions (targets, size of an object, library, versions)."""
    at = 0

    def number_of(width):
        nonlocal at
        at += width
        return int.from_bytes(data[at - width:at], "little")

    def leb():
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (data[at - 1] & 0x7F) << shift
            shift += 7
            if not data[at - 1] & 0x80:
                return value

    def string():
        nonlocal at
        start, at = at, data.index(b"\0", at) + 1
        return data[start:at - 1].decode()
    libraries = [string() for _ in range(number_of(1))]
    versions = [".".join(str(number_of(1)) for _ in range(3)).removesuffix(".0") for _ in range(number_of(1))]
    targets = [string() for _ in range(number_of(1))]
    wanted = {f"{machine}-linux-gnu": machine for machine in MACHINES}
    found = {machine: {} for machine in MACHINES}
    for sized in (False, True):
        name = None
        for _ in range(number_of(2)):
            name = name if name is not None else string()
            mask, _, library = leb(), sized and leb(), number_of(1)
            these = [number_of(1)]
            while these[-1] < 128:
                these.append(number_of(1))
            for i, target in enumerate(targets):
                if mask >> i & 1 and target in wanted:
                    known = found[wanted[target]].setdefault(libraries[library & 127], {}).setdefault(name, set())
                    known.update(versions[version & 127] for version in these)
            name = name if library < 128 else None
    return found


def newest(versions, floor):
    """The newest of @versions that is not newer than @floor; None: all are."""
    fitting = [v for v in versions if number(v) <= number(floor)]
    return max(fitting, key=number) if fitting else None


def check(folder, abilists):
    """Prints each name of glibc's of which the two sources say different things at a floor."""
    theirs, different, equal = of_zig(pathlib.Path(abilists).read_bytes()), 0, 0
    for machine in MACHINES:
        ours = read(folder / f"{machine}.zst")
        for floor in ("2.17", "2.28", "2.31", "2.34", "2.36", "2.41"):
            for library in ours:
                stem = re.match(r"(?:lib)?([a-z]+)", library)[1]
                for name in sorted({*ours[library], *theirs[machine].get(stem, {})} if stem in theirs[machine] else ()):
                    mine = newest([v[6:] for v in ours[library].get(name, ()) if COUNTED.match(v)], floor)
                    other = newest(theirs[machine][stem].get(name, ()), floor)
                    equal += mine == other
                    if mine != other:
                        different += 1
                        print(f"{machine} {floor} {library} {name}: {mine}, zig says {other}")
    print(f"{equal} equal, {different} different")


def main(out, *words):
    if words[:1] == ("--check",):
        check(pathlib.Path(out), words[1])
    else:
        make(pathlib.Path(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
