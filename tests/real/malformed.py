#!/usr/bin/env python3
"""Malformed wheels, given to wheelsmith, pip and uv: malformed.py WHEELSMITH VENV WORK [TABLE].

VENV has pip and uv. Each wheel of tests/support/make_wheels.py is inspected by us and installed by the others
into an empty folder, without an index. Prints a Markdown table: how many of each class were accepted. With
TABLE the table is written into that file, between the marks. Exits 1 when wheelsmith accepts one, when a process dies by a signal, or when
a file appears outside of the wheel's folder.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

MARK = "<!-- table -->\n"
SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"


def run(words, folder):
    environment = dict(os.environ, WHEELSMITH_STORE=str(folder / "store"), UV_CACHE_DIR=str(folder / "cache"),
                       HOME=str(folder), TMPDIR=str(folder), PYTHONDONTWRITEBYTECODE="1")
    try:
        return subprocess.run(words, env=environment, cwd=folder, capture_output=True, timeout=300).returncode
    except subprocess.TimeoutExpired:
        return -1


def give(tool, wheel, venv, work):
    """True when it was taken, and what appeared where nothing should."""
    folder = work / "given" / tool / wheel.parent.parent.name / wheel.parent.name
    target = folder / "a" / "b" / "target"
    target.mkdir(parents=True)
    home = folder / "home"
    home.mkdir()
    words = {
        "wheelsmith": [os.path.abspath(sys.argv[1]), "inspect", str(wheel)],
        "pip": [venv / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--no-cache-dir",
                "--disable-pip-version-check", "--target", target, wheel],
        "uv": [venv / "bin/uv", "pip", "install", "-q", "--no-deps", "--no-index", "--offline", "--python", venv / "bin/python",
               "--target", target, wheel],
    }[tool]
    code = run([str(w) for w in words], home)
    astray = [str(p) for p in folder.rglob("*") if p.is_file() and target not in p.parents and home not in p.parents]
    shutil.rmtree(folder)
    return tool, wheel, code, astray


def main():
    venv, work = pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    wheels = work / "made" / "wheels"
    wheels.parent.mkdir(parents=True)
    subprocess.run([sys.executable, SUPPORT / "make_wheels.py", wheels], check=True)
    tools = ("wheelsmith", "pip", "uv")
    taken, bad = {}, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(give, tool, wheel, venv, work)
                for tool in tools for wheel in sorted(wheels.glob("*/*/*.whl"))]
        for job in jobs:
            tool, wheel, code, astray = job.result()
            key = wheel.parent.parent.name, tool
            taken[key] = taken.get(key, 0) + (code == 0)
            name = f"{tool} {wheel.parent.parent.name}/{wheel.parent.name}"
            if code < 0:
                bad.append(f"{name} died: {code}")
            if astray:
                bad.append(f"{name} wrote {astray}")
            if tool == "wheelsmith" and (code == 0) != (key[0] == "sound"):
                bad.append(f"{name} exits {code}")
    outside = [str(p) for p in (work / "made").iterdir() if p != wheels]
    bad += [f"{p} appeared" for p in outside]
    classes = [line.split("\t") for line in (wheels / "classes.tsv").read_text().splitlines()]
    versions = [subprocess.run([str(w) for w in words], capture_output=True, text=True).stdout.split()[1]
                for words in ([venv / "bin/python", "-m", "pip", "--version"], [venv / "bin/uv", "--version"])]
    rows = [f"| class | what is wrong | wheelsmith | pip {versions[0]} | uv {versions[1]} |", "|---|---|---:|---:|---:|"]
    rows += [f"| {title} | {what} | " + " | ".join(f"{taken[title, t]} of 5" for t in tools) + " |" for title, what in classes]
    sums = [sum(taken[title, t] for title, _ in classes if title != "sound") for t in tools]
    count = 5 * (len(classes) - 1)
    rows.append("| **malformed** | | " + " | ".join(f"**{n} of {count}**" for n in sums) + " |")
    table = "\n".join(rows) + "\n"
    print(table)
    print("\n".join(bad), file=sys.stderr)
    if len(sys.argv) > 4:
        path = pathlib.Path(sys.argv[4])
        front, _, behind = path.read_text().split(MARK)
        path.write_text(front + MARK + "\n" + table + "\n" + MARK + behind)
    # Others may write astray: that is for the page to tell. We may not.
    sys.exit(any(line.startswith("wheelsmith") for line in bad))


if __name__ == "__main__":
    main()
