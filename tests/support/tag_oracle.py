#!/usr/bin/env python3
"""Answers of the `packaging` library about wheel names and tags, for tests/cases/tag.

    tag_oracle.py verify FILE...    every line of the files is what packaging answers
    tag_oracle.py corpus            the generated corpus, to standard output (fixed seed)
    tag_oracle.py orders            orders.txt, to standard output
    tag_oracle.py check             tests/cases/tag as a whole

Lines hold fields between tabs, escaped as version_oracle.py does.

    name       TEXT  NORMAL                        PEP 503
    wheel      FILE  -                             no wheel's name
    wheel      FILE  NAME  VERSION  BUILD  TAGS    sorted, a space between
    pairs      PYTHON  TAG-ABI...                  those that go with every platform, best first
    anys       PYTHON  TAG-none-any...             best first, after all of the above
    platforms  GLIBC  PLATFORM...                  best first
    fit        PYTHON  GLIBC  FILE  PLACE|-        in the order that the three above make

A free-threaded interpreter is written "3.13t". The host is x86-64 with glibc.
"""

import pathlib
import random
import sys

import packaging
from packaging import _manylinux
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from version_oracle import escape, unescape

SEED = 20261121
CASES = pathlib.Path(__file__).resolve().parent.parent / "cases" / "tag"
PYTHONS = [f"3.{minor}" for minor in range(8, 16)] + ["3.13t", "3.14t", "3.15t"]
GLIBCS = [f"2.{minor}" for minor in range(17, 42)]


def platforms(glibc):
    version = tuple(int(n) for n in glibc.split("."))
    _manylinux._get_glibc_version = lambda: _manylinux._GLibCVersion(*version)
    return [*_manylinux.platform_tags(["x86_64"]), "linux_x86_64"]


def all_tags(python, hosts):
    """As packaging.tags.sys_tags of such an interpreter."""
    threads = "t" if python.endswith("t") else ""
    version = tuple(int(n) for n in python.rstrip("t").split("."))
    name = "cp" + "".join(map(str, version))
    yield from cpython_tags(version, [name + threads], hosts)
    yield from compatible_tags(version, name, hosts)


def groups(python):
    """Pairs and anys; proves that the whole order is made of them."""
    tags = [str(tag) for tag in all_tags(python, ["host"])]
    pairs = [tag.removesuffix("-host") for tag in tags if tag.endswith("-host")]
    anys = [tag for tag in tags if tag.endswith("-any")]
    hosts = platforms("2.31")
    expected = [f"{pair}-{host}" for pair in pairs for host in hosts] + anys
    assert [str(tag) for tag in all_tags(python, hosts)] == expected
    return pairs, anys


PLACES = {}


def place(python, glibc, filename):
    if (python, glibc) not in PLACES:
        order = {}
        for at, tag in enumerate(all_tags(python, platforms(glibc))):
            order.setdefault(tag, at)
        PLACES[python, glibc] = order
    order = PLACES[python, glibc]
    found = [order[tag] for tag in parse_wheel_filename(filename)[3] if tag in order]
    return str(min(found)) if found else "-"


def wheel(filename):
    try:
        name, version, build, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return ["-"]
    build = filename.split("-")[2] if build else ""
    return [name, str(version), build, " ".join(sorted(map(str, tags)))]


def answer(kind, fields):
    if kind == "name":
        return [fields[0], canonicalize_name(fields[0])]
    if kind == "wheel":
        return [fields[0], *wheel(fields[0])]
    if kind == "pairs":
        return [fields[0], " ".join(groups(fields[0])[0])]
    if kind == "anys":
        return [fields[0], " ".join(groups(fields[0])[1])]
    if kind == "platforms":
        return [fields[0], " ".join(platforms(fields[0]))]
    if kind == "fit":
        return [*fields[:3], place(*fields[:3])]
    raise ValueError(f"no such kind of line: {kind}")


def line(kind, *fields):
    return "\t".join([kind, *map(escape, answer(kind, fields))])


def verify(path):
    wrong = 0
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        kind, *fields = text.split("\t")
        expected = line(kind, *map(unescape, fields))
        if expected != text:
            print(f"{path}:{number}: {text!r} should be {expected!r}")
            wrong += 1
    return wrong


class Corpus:
    def __init__(self):
        self.random = random.Random(SEED)

    def name(self):
        r = self.random
        return "".join(r.choice(["torch", "Flash", "mamba", "a", "7", "_", ".", "X", "causal_conv1d"])
                       for _ in range(r.choice([1, 2, 2, 3])))

    def version(self):
        r = self.random
        return r.choice(["1.0", "2.8.3", "0.0.1", "1.5.3.post1", "1.0_post1", "01.2", "1!2.0", "2.0rc1", "2.0.dev3"]) \
            + r.choice(["", "", "", "+cu12torch2.5cxx11abiFALSE", "+cu.12.4.torch.2.10.sm.80.90ptx"])

    def set(self, choices):
        r = self.random
        return ".".join(r.choice(choices) for _ in range(r.choice([1, 1, 1, 1, 2, 2, 3])))

    def filename(self):
        r = self.random
        minor = [str(m) for m in range(2, 17)]
        pythons = [r.choice(["cp3", "cp3", "cp3", "py3", "py3", "pp3", "Cp3", "cp2"]) + r.choice(minor)
                   for _ in range(4)] + ["py3", "py2", "py30", "cp3", "py", "cp313t", "cp0313", "py03"]
        abis = ["none", "none", "none", "abi3", "abi3", "abi3t", "abi4", "CP311"] \
            + [r.choice(["cp3", "cp3", "cp3", "pypy3"]) + r.choice(minor) + r.choice(["", "", "t", "m"])
               for _ in range(5)]
        hosts = ["any", "any", "linux_x86_64", "linux_x86_64", "manylinux1_x86_64", "manylinux2010_x86_64",
                 "manylinux2014_x86_64", "manylinux2014_aarch64", "musllinux_1_2_x86_64", "win_amd64",
                 "macosx_11_0_arm64", "Linux_X86_64", "manylinux_2_017_x86_64", "manylinux_2_4_x86_64",
                 "manylinux_3_0_x86_64", "manylinux_2_x86_64", "manylinux_2_28_x86_64_x",
                 "manylinux_2_28_aarch64"]
        hosts += [f"manylinux_2_{r.choice([5, 6, 11, 12, 13, 16, 17, 18, 24, 27, 28, 31, 34, 35, 39, 40, 41])}_x86_64"
                  for _ in range(20)]
        python = self.set(pythons)
        if r.random() < 0.3: # an interpreter's own
            python = abi = "cp3" + r.choice(minor[6:])
            abi += r.choice(["", "", "t"])
        else:
            abi = self.set(abis)
        build = r.choice(["", "", "", "", "1-", "02abc-", "7.b-"])
        return f"{self.name()}-{self.version()}-{build}{python}-{abi}-{self.set(hosts)}.whl"

    def broken(self):
        r = self.random
        text = self.filename()
        for _ in range(r.choice([1, 1, 2])):
            at = r.randrange(len(text) + 1)
            text = r.choice([text[:at] + r.choice("-._+!%~ 0z") + text[at:], text[:at] + text[at + 1:],
                             text.replace("-", "", 1), text.replace(".whl", r.choice(["", ".zip", ".WHL"]))])
        return text

    def lines(self):
        for _ in range(250):
            text = "".join(self.random.choice("aZ09-_.~ ") for _ in range(self.random.randrange(12)))
            yield line("name", text)
        for _ in range(900):
            yield line("wheel", self.broken())
        for _ in range(500):
            yield line("wheel", self.filename())
        for _ in range(60):
            python, glibc = self.random.choice(PYTHONS), self.random.choice(GLIBCS)
            files = [self.filename() for _ in range(400)]
            files = [file for file in files if wheel(file) != ["-"]]
            good = [file for file in files if place(python, glibc, file) != "-"][:34]
            bad = [file for file in files if place(python, glibc, file) == "-"][:10]
            for file in good + bad:
                yield line("fit", python, glibc, file)


def head(what):
    return [f"# What packaging {packaging.__version__} says of {what}.",
            f"# Written by tests/support/tag_oracle.py, seed {SEED}. Do not edit."]


def corpus():
    return "\n".join([*head("wheel names and tags"), *dict.fromkeys(Corpus().lines())]) + "\n"


def orders():
    lines = head("the order of tags")
    for python in PYTHONS:
        lines += [line("pairs", python), line("anys", python)]
    for glibc in ["2.3", "2.5", *GLIBCS, "2.50", "3.0", "3.2"]:
        lines.append(line("platforms", glibc))
    return "\n".join(lines) + "\n"


def check():
    wrong = sum(verify(path) for path in sorted(CASES.glob("*.txt")))
    for name, made in ("corpus.txt", corpus), ("orders.txt", orders):
        stored = (CASES / name).read_text()
        if f"packaging {packaging.__version__} " in stored.splitlines()[0] and stored != made():
            print(f"{name} is not what this script writes")
            wrong += 1
    return wrong


def main(arguments):
    if arguments[:1] == ["verify"] and len(arguments) > 1:
        return sum(verify(pathlib.Path(path)) for path in arguments[1:])
    if arguments in (["corpus"], ["orders"]):
        sys.stdout.write(corpus() if arguments == ["corpus"] else orders())
        return 0
    if arguments == ["check"]:
        return check()
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
