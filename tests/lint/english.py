#!/usr/bin/env python3
"""english.py [--list] [--kind N] [PATH...] - sentences that a reader must read twice

Reads comments and string literals of C, CUDA and C++; comments and docstrings of Python; comments of shell,
CMake and bats; names of tests; Markdown and man pages. Kinds:

  1  the sentence begins with `What`, `Who`, `Whoever`, `Those`, `One that`, `Of` or `But for`
  2  its subject is `nobody`, `none` or `nothing`
  3  a program `says`, `knows` or `believes`
  4  a preposition is its last word
  5  old forms: `is no X`, `but for`, `of before`, `as ever`, `in vain`, ...

Without PATH: the whole repository. Kinds 1, 2, 4 and 5 must not occur. english.allowed, beside this file, lists the
sentences of kind 3 that are right as they are, at most 60, one a line: PATH: SENTENCE -- REASON. Exit status 1 when a
sentence is left or an entry of english.allowed matches none.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

THING = (r"(?:server|farm|worker|compiler|file|name|index|torch|store|lock|record|report|matrix|recipe|host|wheel|key|text|"
         r"list|program|library|setup\.py|nvcc|plan|build|run|command|cache|page|header|module|answer|tool|test|kernel|"
         r"signer|client|it|which|who|that|what)s?")
PREPOSITION = r"(?:of|to|from|with|by|for|at|in|on|under|into)"
# Verbs whose preposition belongs to them: "the files that an answer depends on".
WITH_PREPOSITION = ("depends depend depended looked waited waits asked belongs belong built linked log refers referred based "
                    "starts started relies rely read written compiled run signed turned switched left carried logged "
                    "opted going passed").split()
KINDS = {
    1: re.compile(r"^(?:What(?!ever)\b(?!.*\?$)|Who(?:ever|se)?\b(?!.*\?$)|Those\b|One (?:that|of|which)\b|Of (?!course)|"
                  r"But for\b|Which of\b(?!.*\?$))"),
    2: re.compile(r"\b(?:nobody|no one)\b|^(?:Nothing|None)\b|[;:,] (?:nothing|none) (?:is|are|of|but|else|has|have)\b", re.I),
    3: re.compile(r"\b" + THING + r" (?:says?|said|tells?|told|knows?|knew|believes?|hears?|heard|speaks?|spoke|wants?|"
                  r"names? itself|forgets?|lies)\b|\b(?:is|are|be) (?:believed|told)\b|\bto believe\b", re.I),
    4: re.compile("".join(rf"(?<!\b{verb} )" for verb in WITH_PREPOSITION) + rf"\b{PREPOSITION}[.;]?$"),
    5: re.compile(r"\b(?:is|are|was|were|be) no (?!longer|more|less|fewer|later|earlier|larger)[a-z]|\bbut for\b|\bby what\b|"
                  r"\bof before\b|\bof another\b|\bas ever\b|\bby lot\b|\bits like\b|\b(?:to )?be had\b|\bcomes? by\b|"
                  r"\bis of use\b|\bstands? (?:in|there|beside|for itself)\b|\bgoes along\b|\bin vain\b|\bunheard\b|"
                  r"\bunasked\b|\bof its own kind\b", re.I),
}
# Right in a message: a part of a longer one, "nothing to build", "there is no file X".
NOT_OF_MESSAGES = re.compile(r"^(?:Of|One of)\b|\b(?:which )?nothing (?:to|provides|is known|matches)\b|\bthere (?:is|are) no\b", re.I)
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|(?<!\w)'[^'\n]*'")
SUFFIXES = (".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".bats", ".bash", ".sh", ".md", ".proto", ".scd", ".cmake", "CMakeLists.txt")
# Records of measurements stay as they were written; inputs of tests are other people's texts.
SKIPPED = ("docs/bench/", "tests/cases/", "tests/fuzz/corpus/", "tests/cli/golden/", "matrix/facts/", "LICENSE", "schemas/",
           "tests/lint/english.py")
TOPS = ("builder", "kernels", "tests", "tools", "docs", "examples", "floor", "cmake", "recipes", "matrix", "dev",
        "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
ALLOWED_MOST = 60


def paragraphs(text):
    """Yields (line, paragraph) of Markdown or of a man page: cells of tables and items of lists alone."""
    fenced, block, start = False, [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or line.startswith("\t"):
            continue
        if not line.strip() or line.startswith("#"):
            if block:
                yield start, " ".join(block)
            block = []
        elif line.startswith("|"):
            for cell in line.split("|"):
                yield number, cell.strip()
        else:
            item = re.match(r"\s*([-*]|\d+\.) ", line)
            if item and block:
                yield start, " ".join(block)
                block = []
            if not block:
                start = number
            block.append(line[item.end():].strip() if item else line.strip())


def hash_comments(text):
    block, start = [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        match = re.match(r"\s*# ?(.*)", line)
        if match and not line.startswith("#!"):
            start = start or number
            block.append(match.group(1))
        elif block:
            yield start, " ".join(block)
            block, start = [], 0


def python_texts(text):
    yield from hash_comments(text)
    for match in re.finditer(r'"""(.*?)"""', text, re.S):
        for paragraph in re.split(r"\n\s*\n", match.group(1)):
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"\s+", " ", paragraph)


TOKEN = re.compile(r'/\*(?P<block>.*?)\*/|//(?P<line>[^\n]*)|(?P<text>(?:"(?:\\.|[^"\\\n])*"(?:\s*(?:PRI[a-z]\d\d)?\s*(?="))?)+)|'
                   r"'(?:\\.|[^'\\\n])*'", re.S)


def c_texts(text):
    for match in TOKEN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match.group("text"):
            before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            if before.lstrip().startswith("#include"):
                continue
            literal = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group("text")))
            for part in re.split(r"\\n", literal):
                if len(re.findall(r"[A-Za-z]{2,}", part)) >= 3:
                    yield line, "\0" + part.replace("\\t", " ").replace('\\"', "'")
            continue
        body = match.group("block") if match.group("block") is not None else match.group("line")
        if body is None:
            continue
        body = re.sub(r"\n\s*\* ?", "\n", body)
        body = re.sub(r"^[*<!\s]+", "", body)
        for paragraph in re.split(r"\n\s*\n", body):
            yield line, re.sub(r"\s+", " ", paragraph).strip()
    for match in re.finditer(r"^WS_TEST\((\w+)\)", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, "\0" + match.group(1).replace("_", " ")


def bats_texts(text):
    yield from hash_comments(text)
    for match in re.finditer(r'^@test "(.*)" \{', text, re.M):
        yield text.count("\n", 0, match.start()) + 1, "\0" + match.group(1)


def texts(path, text):
    if path.endswith((".md", ".scd")):
        return paragraphs(text)
    if path.endswith(".py"):
        return python_texts(text)
    if path.endswith(".bats"):
        return bats_texts(text)
    if path.endswith((".sh", ".bash", ".cmake", "CMakeLists.txt", "dev")):
        return hash_comments(text)
    return c_texts(text)


def sentences(text):
    """A text that begins with a NUL is a message or a name: one sentence, which may begin in lower case."""
    short = text.startswith("\0")
    text = text.lstrip("\0")
    text = QUOTED.sub("X", text)
    text = re.sub(r"@a (\w+)", r"\1", text)
    if short:
        text = re.sub(r"%-?[0-9.*]*(?:ll|z|j|h)*[a-zA-Z]", "X", text).strip()
        text = text[:1].upper() + text[1:]
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])|(?<=[.;:])\s*$", text):
        part = part.strip().rstrip(".")
        if len(part) > 8:
            yield short, part


def files_of(tops):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *tops], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for path in sorted(set(listed.split("\0"))):
        if path and os.path.isfile(path) and path.endswith(SUFFIXES + ("dev",)) and not path.startswith(SKIPPED):
            yield path


def found_in(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for line, block in texts(path, text):
        for short, sentence in sentences(block):
            for kind, pattern in KINDS.items():
                if short and (kind == 4 or NOT_OF_MESSAGES.search(sentence)):
                    continue
                if pattern.search(sentence):
                    yield line, kind, sentence


def main():
    parser = argparse.ArgumentParser(usage="english.py [--list] [--kind N] [PATH...]")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--kind", type=int)
    parser.add_argument("paths", nargs="*")
    args = parser.parse_args()
    allowed = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "english.allowed"), encoding="utf-8") as file:
        for entry in file:
            if entry.strip() and not entry.startswith("#"):
                allowed[entry.split(" -- ")[0].strip()] = False
    counts, left = collections.defaultdict(collections.Counter), 0
    for path in files_of(args.paths or TOPS):
        for line, kind, sentence in found_in(path):
            entry = f"{path}: {sentence}"
            if kind == 3 and entry in allowed:
                allowed[entry] = True
                continue
            if args.kind and kind != args.kind:
                continue
            left += 1
            counts["/".join(path.split("/")[:2])][kind] += 1
            if args.list:
                print(f"{path}:{line}: [{kind}] {sentence[:160]}")
    for folder, kinds in sorted(counts.items()):
        print(f"{folder:32}", " ".join(f"{kind}:{kinds[kind]:4}" for kind in KINDS))
    if left:
        print(f"{left} hard sentences; --list shows them, STYLE rules are in CONTRIBUTING.md")
    unused = [] if args.paths else [entry for entry, used in allowed.items() if not used]
    for entry in unused:
        print(f"english.allowed: no such sentence: {entry}")
    if len(allowed) > ALLOWED_MOST:
        print(f"english.allowed has {len(allowed)} entries, at most {ALLOWED_MOST}")
    return 1 if left or unused or len(allowed) > ALLOWED_MOST else 0


if __name__ == "__main__":
    sys.exit(main())
