#!/usr/bin/env python3
"""Compares our command lines with those of torch's own BuildExtension.

    check_flags.py FLAGS_DRIVER FACTS CACHE VERSION...

The fixed list of edits of builder/compile/flags.c is applied to torch's words here, once more and
independently; what is left must be equal, in order (architectures as a set).
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def oracle(version, cache, ours, kind):
    abi = ours["pybind"] or "_none"
    command = [sys.executable, f"{HERE}/buildext_oracle.py", version, cache, str(ours["abi"]), abi, *kind]
    answer = subprocess.run(command, capture_output=True, text=True)
    start = answer.stdout.find("\n{\n")
    text = answer.stdout[start:] if start >= 0 else answer.stdout[answer.stdout.find("{") :]
    if answer.returncode:
        sys.exit(f"the oracle for {version} failed:\n{answer.stderr}")
    return json.loads(text)


def edited(before, after, extra):
    words = []
    for word in before + after:
        if word == "-c":
            continue
        if word.startswith("-I/"):
            word = "-Ipython/include"
        words.append(word.strip("'"))
    return words + extra


def split_archs(words):
    return [w for w in words if not w.startswith("-gencode")], {w for w in words if w.startswith("-gencode")}


def kinds(version):
    """From 2.7 on py_limited_api=True changes the words; before, it changed the linker's at most."""
    return ([], ["stable"]) if tuple(map(int, version.split(".")[:2])) >= (2, 7) else ([],)


def main():
    driver, facts, cache, *versions = sys.argv[1:]
    for version, kind in [(v, k) for v in versions for k in kinds(v)]:
        ours = json.loads(subprocess.check_output([driver, facts, version, *kind], text=True))
        theirs = oracle(version, cache, ours, kind)
        cxx = edited(
            theirs["cxx_before"],
            theirs["cxx"],
            ["-fno-canonical-system-headers", "-Wdate-time", "-Wno-error=date-time"]
            + ["-ffile-prefix-map={work}=/wheelsmith"],
        )
        cxx.remove("-g")
        nvcc = edited(
            theirs["nvcc_before"],
            theirs["nvcc"],
            ["-ccbin", "{cxx}", "--cudart", "shared", "-Xcompiler", "-fno-canonical-system-headers"]
            + ["-Xcompiler", "-Wdate-time", "-Xcompiler", "-Wno-error=date-time"]
            + ["--compress-mode=size"],
        )
        assert ours["cxx"] == cxx, f"{version} cxx\nours:   {ours['cxx']}\ntheirs: {cxx}"
        assert split_archs(ours["nvcc"]) == split_archs(nvcc), f"{version} nvcc\nours:   {ours['nvcc']}\ntheirs: {nvcc}"
        names = [n[3:].split(".so")[0] for n in ours["needed"]]
        assert names == theirs["libraries"], f"{version} libraries: {names} {theirs['libraries']}"
        print(f"{' '.join([version, *kind])}: {len(cxx)} and {len(nvcc)} words agree")


if __name__ == "__main__":
    main()
