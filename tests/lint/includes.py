#!/usr/bin/env python3
"""A file includes no header that another of its headers brings already (--write drops those lines). Files of
builder/ that comments and pages name exist, and a file's title is its own name."""
import glob
import os
import re
import sys

LINE = re.compile(r'^#include "([^"]+)"\n|^#include <([^>]+)>\n', re.M)


def read(path):
    with open(path) as file:
        return file.read()


def listed(text):
    return [quoted or system for quoted, system in LINE.findall(text)]


def brings(header, lists, seen):
    for name in lists.get(header, []):
        if name not in seen:
            seen.add(name)
            brings(name, lists, seen)
    return seen


def main():
    files = sorted(glob.glob("builder/**/*.[ch]", recursive=True))
    lists = {path.removeprefix("builder/"): listed(read(path)) for path in files}
    bad = 0
    for path in files:
        text, own = read(path), path.removeprefix("builder/")
        kept = list(lists[own])
        for name in lists[own]:
            others = [other for other in kept if other != name]
            if own[:-1] + "h" != name and any(name in brings(other, lists, set()) for other in others):
                kept.remove(name)
        for name in set(lists[own]) - set(kept):
            print(f"{path}: {name} comes with another of its headers", file=sys.stderr)
            text = re.sub(rf'^#include ["<]{re.escape(name)}[">]\n', "", text, flags=re.M)
            bad = 1
        if "--write" in sys.argv and text != read(path):
            with open(path, "w") as file:
                file.write(re.sub(r"\n{3,}", "\n\n", text))
    folders = "|".join(sorted(set(os.listdir("builder")) - {"sys"}))  # <sys/types.h>
    named = re.compile(rf"(?<![\w/.-])(?:{folders})/(?:[a-z_0-9]+/)?[a-z_0-9]+\.[ch]\b")
    for path in files + glob.glob("tests/unit/*.[ch]"):
        title = re.match(r"/\*\*?\s+(?:\* )?(\w+\.[ch]) - ", read(path))
        if title and title[1] != os.path.basename(path):
            print(f"{path}: calls itself {title[1]}", file=sys.stderr)
            bad = 1
    for path in files + glob.glob("tests/unit/*.[ch]") + glob.glob("*.md") + glob.glob("docs/*.md"):
        for name in set(named.findall(re.sub(r"^#include.*", "", read(path), flags=re.M))):
            if not os.path.exists("builder/" + name):
                print(f"{path}: there is no {name}", file=sys.stderr)
                bad = 1
    sys.exit(bad)


main()
