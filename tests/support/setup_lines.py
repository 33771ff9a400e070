"""setup_lines.py FOLDER - what builder/draft/reader reads off FOLDER/setup.py, a line for each list of a module"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "builder/draft/reader"))
import draft, library as calls, metadata, python_files, tree


def say(name, words):
    if words:
        print(name, *(("?" + word["maybe"] if isinstance(word, dict) else word).replace("\x01", "...") for word in words))


found = tree.Tree(sys.argv[1])
try:
    reader = calls.read_setup(found)
except Exception as fault:
    sys.exit(print("%s: %s" % (type(fault).__name__, fault)))
for call in reader.extensions:
    name = call["name"] or call["like"] or "?"
    print("%s %s%s%s" % (call["callee"], "?" if call["maybe"] else "", name, " as " + call["suffix"] if call["suffix"] else ""))
    for key in ("sources", "include", "cxx", "nvcc", "link"):
        say(key, call[key])
made = draft.Draft({"distribution": "demo", "name": "demo"})
made.recipe["python"] = None
info = metadata.Metadata(found, made)
info.read(reader.setup)
python_files.PythonFiles(found, made, reader, info.project).write()
say("data", (made.recipe["python"] or {}).get("data"))
say("nothing matches", reader.unmatched)
