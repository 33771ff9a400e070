#!/usr/bin/env python3
"""Answers of the `packaging` library about versions and specifiers, for tests/cases/version.

    version_oracle.py verify FILE...    every line of the files is what packaging answers
    version_oracle.py corpus            the generated corpus, to standard output (fixed seed)
    version_oracle.py check             tests/cases/version as a whole: verify, and corpus.txt
                                        is what `corpus` writes, when packaging is its version

Lines hold fields between tabs; "\\xNN", "\\t", "\\n" and "\\\\" stand for single characters.

    version  TEXT  NORMAL|-              how it is written, or that it is not a version
    order    X  <|=|>  Y
    set      TEXT  NORMAL|-              a specifier set
    in       TEXT  VERSION  YN           Y or N twice: by default, and with pre-releases allowed

"By default" is the value of SpecifierSet.prereleases, and False for None.
"""

import pathlib
import random
import sys

import packaging
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

SEED = 20261121
CASES = pathlib.Path(__file__).resolve().parent.parent / "cases" / "version"


def escape(text):
    text = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    return "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in text)


def unescape(text):
    return text.encode("ascii").decode("unicode_escape")


def normal_version(text):
    try:
        return str(Version(text))
    except InvalidVersion:
        return None


def normal_set(text):
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        return None


def order_of(x, y):
    x, y = Version(x), Version(y)
    return "<" if x < y else ">" if x > y else "="


def contains(text, version):
    specifiers = SpecifierSet(text)
    version = Version(version)
    default = specifiers.contains(version, prereleases=bool(specifiers.prereleases))
    allowed = specifiers.contains(version, prereleases=True)
    return ("Y" if default else "N") + ("Y" if allowed else "N")


def dash(text):
    return "-" if text is None else escape(text)


def answer(kind, fields):
    """Fills the answers of `packaging` into the fields of a line, after its kind."""
    if kind == "version":
        return [escape(fields[0]), dash(normal_version(fields[0]))]
    if kind == "order":
        return [escape(fields[0]), order_of(fields[0], fields[2]), escape(fields[2])]
    if kind == "set":
        return [escape(fields[0]), dash(normal_set(fields[0]))]
    if kind == "in":
        return [escape(fields[0]), escape(fields[1]), contains(fields[0], fields[1])]
    raise ValueError(f"no such kind of line: {kind}")


def line(kind, *fields):
    return "\t".join([kind, *answer(kind, fields)])


def verify(path):
    wrong = 0
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        kind, *fields = text.split("\t")
        if kind == "ascending":
            continue
        expected = "\t".join([kind, *answer(kind, [unescape(f) for f in fields])])
        if expected != text:
            print(f"{path}:{number}: {text!r} should be {expected!r}")
            wrong += 1
    ascending = [t.split("\t")[1] for t in path.read_text().splitlines() if t.startswith("ascending\t")]
    for before, after in zip(ascending, ascending[1:]):
        if not Version(before) < Version(after):
            print(f"{path}: {before} is not before {after}")
            wrong += 1
    return wrong


class Corpus:
    """Versions that lie close together, because that is where mistakes are."""

    def __init__(self):
        self.random = random.Random(SEED)

    def number(self):
        r = self.random
        if r.random() < 0.03:
            return str(r.choice([2**31 - 1, 2**32, 2**63, 2**64, 10**19, 10**30 + r.randrange(3)]))
        text = str(r.choice([0, 0, 1, 1, 2, 3, 9, 10, 11, 99, 100, 2024]))
        return "0" * r.choice([0, 0, 0, 0, 1, 2]) + text

    def release(self):
        return ".".join(self.number() for _ in range(self.random.choice([1, 2, 2, 2, 3, 3, 4, 6])))

    def part(self, words):
        r = self.random
        word = r.choice(words)
        word = r.choice([word, word, word, word.upper(), word.title()])
        separator = ["", "", "", ".", "-", "_"]
        number = r.choice([self.number(), self.number(), self.number(), ""])
        return r.choice(separator) + word + r.choice(separator) + number

    def local(self):
        r = self.random
        pieces = [r.choice(["cu", "CU121", "torch", "abc", "a1", "1a", "0a", "ubuntu", self.number(),
                            self.number(), self.number()]) for _ in range(r.choice([1, 1, 2, 3, 4]))]
        text = pieces[0]
        for piece in pieces[1:]:
            text += r.choice("..-_") + piece
        return "+" + text

    def suffix(self):
        r = self.random
        text = ""
        if r.random() < 0.35:
            text += self.part(["a", "alpha", "b", "beta", "c", "rc", "pre", "preview"])
        if r.random() < 0.3:
            text += r.choice(["-" + self.number(), self.part(["post", "rev", "r"])])
        if r.random() < 0.3:
            text += self.part(["dev"])
        if r.random() < 0.3:
            text += self.local()
        return text

    def version(self, base=None):
        r = self.random
        text = (r.choice(["0!", "1!", "2!", "01!"]) if r.random() < 0.08 else "")
        text += (base or self.release()) + self.suffix()
        if r.random() < 0.05:
            text = r.choice(["v", "V"]) + text
        if r.random() < 0.05:
            text = r.choice([" ", "\t", "\n", "\r\n", "\f", "\v"]) + text + r.choice(["", " ", "\n"])
        return text

    def family(self):
        """Versions with one release, its zeros and its neighbours."""
        r = self.random
        base = self.release()
        bases = [base, base, base, base + ".0", base + ".0.0", base + ".1", base.rpartition(".")[0] or base]
        return [self.version(r.choice(bases)) for _ in range(9)] + [base]

    def broken(self):
        r = self.random
        text = self.version()
        for _ in range(r.choice([1, 1, 2])):
            at = r.randrange(len(text) + 1)
            text = r.choice([
                text[:at] + r.choice("._-+!*vadprc0 ~\\,;)=<>\x1c") + text[at:],
                text[:at] + text[at + 1:],
                text[:at] + text[at:].swapcase(),
            ])
        return text

    def clause(self, operand):
        """One clause near a version, perhaps an invalid one."""
        r = self.random
        operator = r.choice(["==", "==", "!=", "!=", "<=", ">=", "<", ">", "~=", "~=", "==="])
        operand = operand.strip()
        if operator in ("<=", ">=", "<", ">", "~=") and r.random() < 0.97:
            operand = operand.partition("+")[0]
        if operator in ("==", "!=") and r.random() < 0.35:
            operand = str(Version(operand).epoch) + "!" if Version(operand).epoch else ""
            operand += self.release() if r.random() < 0.02 else ".".join(self.prefix)
            operand += ".*"
        return r.choice(["", "", "", " "]) + operator + r.choice(["", "", "", " ", "\t"]) + operand

    def set(self, family):
        r = self.random
        clauses = []
        for _ in range(r.choice([1, 1, 1, 1, 2, 2, 3])):
            operand = r.choice(family)
            release = Version(operand).release
            self.prefix = [str(n) for n in release[:r.randrange(1, len(release) + 1)]]
            clauses.append(self.clause(operand))
        return r.choice([",", ",", ", ", ",,"]).join(clauses)

    def lines(self):
        for _ in range(500):
            yield line("version", self.broken())
        for _ in range(320):
            family = self.family()
            for x in family[:5]:
                yield line("order", x, "", self.random.choice(family))
            for text in self.random.sample(family, 3):
                yield line("version", text)
            self.sets = [self.set(family) for _ in range(4)]
            for text in self.sets:
                yield line("set", text)
                if normal_set(text) is None:
                    continue
                for version in self.random.sample(family, 4):
                    yield line("in", text, version)


def corpus():
    out = [
        f"# What packaging {packaging.__version__} says (SpecifierSet.contains and all others).",
        f"# Written by tests/support/version_oracle.py corpus, seed {SEED}. Do not edit.",
    ]
    seen = set()
    for text in Corpus().lines():
        if text not in seen:
            seen.add(text)
            out.append(text)
    return "\n".join(out) + "\n"


def check():
    wrong = sum(verify(path) for path in sorted(CASES.glob("*.txt")))
    stored = (CASES / "corpus.txt").read_text()
    if f"packaging {packaging.__version__} " in stored.splitlines()[0] and stored != corpus():
        print("corpus.txt is not what this script writes")
        wrong += 1
    return wrong


def main(arguments):
    if arguments[:1] == ["verify"] and len(arguments) > 1:
        return sum(verify(pathlib.Path(path)) for path in arguments[1:])
    if arguments == ["corpus"]:
        sys.stdout.write(corpus())
        return 0
    if arguments == ["check"]:
        return check()
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
