#!/usr/bin/env python3
"""tools.py [--installed] - every program that a test starts comes from a package of `./dev setup`

Reads the scripts of tests/cli, tests/support and tests/lint, and the table tools.txt beside this file. A word where bash
expects a command counts as a program when it is an argument of `needs`, when the table has it, or when this machine has
it. Errors: a program without a row; a row whose package ./dev does not install; a program of `./dev setup real` in
a script that is not *_real; a package that no script needs. --installed: the programs that ./dev test needs are there.
"""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/lint/tools.txt"
# In every Debian and Ubuntu, also in the smallest root that debootstrap makes; of a CUDA toolkit; not a program here.
ALWAYS = {"essential", "cuda", "-"}
BUILTINS = set("""if then else elif fi for while until do done case esac in local export unset exec exit return read echo printf
    cd set shift eval trap wait true false test source load run skip declare ulimit umask command type time let coproc pushd
    popd mapfile shopt break continue hash kill pwd compgen getopts alias function""".split())
HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(\w+)\1([^\n]*\n).*?^\s*\2$", re.S | re.M)
COMMAND = re.compile(r"(?:^|[|&;(]|\$\(|\b(?:if|then|do|else|while|until|run|--separate-stderr|timeout(?: -\S+(?: \d+)?)* \S+|env|exec|setsid)\b|!)"
                     r"[ \t]*(?:\w+=(?:\"[^\"]*\"|\S)*[ \t]+)*([a-z][\w.+-]*)(?=[\s;)]|$)", re.M)


def packages_of_dev():
    """{"build" | "package" | "test" | "cross" | "real": names} from the arrays of ./dev."""
    text = (ROOT / "dev").read_text()
    return {name: set(words.split()) for name, words in re.findall(r"^(\w+)_packages=\(([^)]*)\)", text, re.M)}


def programs_of(path, functions, table):
    text = path.read_text()
    needed = set()
    for words in re.findall(r"^\s*needs ([^\n#|;&]+)", text, re.M):
        needed.update(word for word in words.split() if not word.startswith("$"))
    for words in re.findall(r"\bcommand -v ([\w+-]+)", text):
        needed.add(words)
    text = HERE_DOCUMENT.sub(r"\3", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = re.sub(r"'[^'\n]*'", "''", text)
    for word in COMMAND.findall(text):
        if word in BUILTINS or word in functions or word in needed:
            continue
        if word in table or shutil.which(word):
            needed.add(word)
    return needed - functions


def main():
    scripts = sorted([*ROOT.glob("tests/cli/*.bats"), *ROOT.glob("tests/cli/*.bash"), *ROOT.glob("tests/support/*.sh"),
                      *ROOT.glob("tests/lint/*.sh")])
    functions = {name for path in scripts for name in re.findall(r"^(\w+)\(\)", path.read_text(), re.M)}
    table = {}
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            program, package = line.split()
            table[program] = package
    installed = packages_of_dev()
    of_tests = installed["build"] | installed["package"] | installed["test"]
    errors, used, missing = [], set(), set()
    for path in scripts:
        real = path.stem.endswith("_real") or path.name in ("ceph_setup.sh", "buildgrid_setup.sh", "slurm_setup.sh")
        for program in sorted(programs_of(path, functions, table)):
            used.add(program)
            where = path.relative_to(ROOT)
            package = table.get(program)
            if package is None:
                errors.append(f"{where}: '{program}' is not in tests/lint/tools.txt")
            elif package in installed["real"] and package not in of_tests and not real:
                errors.append(f"{where}: '{program}' comes with `./dev setup real` alone ({package})")
            elif not real and package in of_tests | ALWAYS and not shutil.which(program):
                missing.add(f"'{program}' is missing: package '{package}'")
    for program, package in sorted(table.items()):
        if package not in of_tests | ALWAYS | installed["real"]:
            errors.append(f"tools.txt: './dev setup' does not install '{package}', which has '{program}'")
        if program not in used and package not in ALWAYS:
            errors.append(f"tools.txt: no script starts '{program}'")
    if "--installed" in sys.argv[1:]:
        errors += sorted(missing)
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
