"""fuzz_draft.py SEED COUNT FOLDER - sources damaged by a fixed seed; each gives a draft, written into FOLDER

The texts are those of tests/cases/draft. Lines, words and bytes are cut, swapped and repeated.
"""
import pathlib
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
root = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(root / "builder/draft/reader"))
import importlib.util

spec = importlib.util.spec_from_file_location("reader_main", root / "builder/draft/reader/__main__.py")
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)


def cases():
    for file in sorted((root / "tests/cases/draft").glob("*.case")):
        for case in file.read_text().split("\n@case ")[1:]:
            text = case.split("\n", 1)[1].split("\n@expect")[0]
            sections = re.split(r"^@(\S+)[ \n]?", text, flags=re.M)
            yield dict(zip(sections[1::2], sections[2::2]))


def damage(text, chance):
    for _ in range(chance.randint(1, 4)):
        pieces = re.split(r"(\n|\W)" if chance.random() < 0.6 else r"(\n)", text)
        at = chance.randrange(len(pieces))
        way = chance.randrange(5)
        if way == 0:
            pieces[at:at + chance.randint(1, 3)] = []
        elif way == 1:
            pieces[at] = chance.choice(pieces)
        elif way == 2:
            pieces[at:at] = [chance.choice(pieces)] * chance.randint(1, 40)
        elif way == 3:
            pieces[at] = chance.choice(["\x00", "\x1b[2J", "\\", "\"", "'", "(", "[", "{", "@", "é\udcff", "../" * 9, "9" * 400])
        else:
            pieces[at:at] = ["(" * chance.randint(1, 300)]
        text = "".join(pieces)
    return text


seed, count, out = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
trees = list(cases())
for number in range(count):
    chance = random.Random(seed * 1000003 + number)
    files = dict(chance.choice(trees))
    victim = chance.choice(sorted(files))
    files[victim] = damage(files[victim], chance)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, errors="surrogateescape" if "\udcff" in text else "strict")
        answer = reader.make({"folder": folder, "name": "demo", "distribution": "demo", "version": "1.0", "from": "demo-1.0.tar.gz",
                              "source": {"sdist": "demo-1.0.tar.gz", "sha256": "0" * 64}})
    pathlib.Path(out, "demo").mkdir(parents=True, exist_ok=True)
    pathlib.Path(out, "demo", "%d.json" % number).write_text(answer["draft"].replace('"version": "1.0"', '"version": "%d"' % number, 1))
