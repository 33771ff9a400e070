"""reader - reads order.json and prints the draft of a recipe, made from the files of a source tree

Order and answer are JSON: {"folder", "name", "distribution", "version", "from", "source", "source_note", "refused",
"base": {"recipe", "folder"}}; {"draft", "missing", "repository", "incomplete", "changes"}. An update has a base:
an older recipe with its sources. Opens files of the tree only, for reading; runs no code of them.
Every tree gives a draft: unreadable parts are notes.
"""
import ast
import json
import re
import resource
import signal
import sys

from draft import Comment, Draft
from library import read_setup
from metadata import Metadata
from modules import Modules
from python_files import PythonFiles
from tree import Tree, is_own
from update import Update

MEMORY, CPU_S = 1 << 29, 10


def too_long(*_):
    raise TimeoutError("it takes more than %d s of CPU" % CPU_S)


def find_incomplete(tree, draft, reader, modules):
    """Needs of the wheel that reading cannot find; the draft's first line lists them."""
    setup = reader.setup if reader else {}
    started = reader.started() if reader else []
    cmake = tree.cmake_file(reader and reader.names("cmake"), not modules.found)
    writes = reader and reader.command() and any(
        isinstance(call, ast.Call) and getattr(call.func, "id", "") == "open" and
        any(isinstance(word, ast.Constant) and str(word.value)[:1] == "w" for word in call.args + [
            keyword.value for keyword in call.keywords])
        for node in reader.command().nodes() for call in ast.walk(node))
    if writes:
        draft.lost("%s in setup.py writes files into the wheel" % reader.command().node.name)
    made = sorted({path for path in (reader.written if reader else [])
                   if path.rpartition("/")[0] + "/__init__.py" in tree.files})
    if made and not writes:
        draft.lost("setup.py writes %s into the wheel: \"patches\" can create it" % draft.list(made))
    lost = [call for call in (reader.extensions if reader else []) if call["callee"] == "Extension" and
            not call["sources"]]
    names = ", ".join(call["name"] or "?" for call in lost)
    if cmake:
        draft.lost("%s says what is compiled%s, and it was not read: its sources and flags are to be written into "
                   "\"extensions\"" % (cmake, " for " + names if names else ""))
    elif lost:
        draft.lost("setup.py makes %s by code of its own" % names)
    elif setup.get("ext_modules") and reader and not reader.extensions:
        draft.lost("setup.py makes its modules in a way that reading does not show")
    scripts = sorted({path for word in started for path in tree.files
                      if word.endswith(".py") and (path == word or path.endswith("/" + word))})
    if scripts:
        draft.lost("setup.py runs %s, and the files that it makes are not in these sources" % draft.list(scripts))
    built = [path for path in tree.files if path.endswith(".so") and is_own(path)]
    if built and not cmake and not modules.found:
        draft.lost("libraries that somebody built are in these sources (%s), and not what they were compiled from" %
                   draft.list(built, 2))
    wanted = [pattern for pattern in (reader.unmatched if reader else []) if pattern.endswith(".so")]
    if wanted and not cmake:
        draft.lost("setup.py takes %s, which is built elsewhere and is not in these sources" % draft.list(wanted))
    loads = [path for path in tree.files if path.endswith(".py") and is_own(path) and path != "setup.py" and
             "cpp_extension" in tree.read(path) and re.search(r"\b(load|load_inline)\(", tree.read(path))]
    unused = modules.unused()
    if loads and unused:
        draft.lost("sources are compiled while it runs (torch's cpp_extension.load in %s); that is not built" %
                   draft.list(loads, 3))
    elif unused and not cmake and not lost:
        draft.lost("no module compiles its .cu files (%s)" % draft.list(unused, 3))


def read_tree(order, draft):
    tree, reader = Tree(order["folder"]), None
    if "setup.py" in tree.files:
        try:
            reader = read_setup(tree)
        except Exception as fault:  # whatever it is, the draft is made without
            draft.note(("extensions",), "setup.py could not be read: %s: %s" % (type(fault).__name__, str(fault)[:200]))
    metadata = Metadata(tree, draft)
    metadata.read(reader.setup if reader else {})
    same = metadata.name and re.sub(r"[-_.]+", "-", metadata.name).lower() == order["name"]
    order["distribution"] = draft.recipe["name"] = metadata.name if same else order["distribution"]
    modules = Modules(tree, draft)
    modules.write(reader, metadata.backend if "setup.py" not in tree.files else "")
    PythonFiles(tree, draft, reader, metadata.project).write()
    metadata.write()
    draft.recipe["archs"] = modules.arch_list()
    draft.recipe["cxx_std"] = modules.cxx_std or None
    find_incomplete(tree, draft, reader, modules)
    if not modules.found and not draft.recipe["python"]:
        draft.lost("neither a module nor a Python package was found")
        draft.recipe["python"] = {"packages": [re.sub(r"[-_.]+", "_", order["distribution"]).lower()]}
    every = draft.recipe["every_extension"] or {}
    bound = [module["module"] for module in modules.found if (module["binding"] or every.get("binding")) == "pybind"]
    imports = [module for module in bound if module in modules.started]
    loaded = draft.list([module for module in bound if module not in modules.started])
    if loaded:
        draft.note(("check",), "left out, as operators for torch.ops.load_library: %s" % loaded)
    packages = (draft.recipe["python"] or {}).get("packages") or []
    if packages:
        draft.note(("check",), "\"%s\" may import more than torch; leave it out then" % packages[0].replace("/", "."))
    imports = list(dict.fromkeys(imports + [package.replace("/", ".") for package in packages[:1]]))
    draft.recipe["check"] = {"import": imports} if imports else None
    return metadata.repository()


def make_form(order, draft):
    """Examples for a form without sources; all of them are marked."""
    folder = re.sub(r"[-.]", "_", order["distribution"])
    module = ("_" if folder[:1].isdigit() else "") + folder + "._C"
    draft.recipe.update({
        "extensions": [{"module": module, "binding": "pybind",
                        "sources": ["csrc/binding.cpp", {"glob": "csrc/*.cu", "count": 1}], "include": ["csrc"],
                        "cxx_flags": ["-O3"], "nvcc_flags": ["-O3"]}],
        "python": {"packages": [folder]},
        "metadata": {"summary": "...", "license_files": ["LICENSE"], "requires": ["torch"]}})
    draft.note(("extensions", 0), "all of this, by CUDAExtension(...) in setup.py")
    draft.note(("python",), "folders with an __init__.py")
    draft.note(("metadata",), "all of this")


def make_draft(order):
    """The draft and its repository."""
    draft = Draft(order)
    draft.recipe = {key: None for key in ("name", "version", "source", "every_extension", "extensions", "python",
                                          "metadata", "requires", "archs", "cxx_std", "check")}
    draft.recipe.update({"name": order["distribution"], "version": order["version"], "source": [order["source"]]})
    if order.get("source_note"):
        draft.note(("source",), order["source_note"])
    repository = None
    if order.get("folder"):
        repository = read_tree(order, draft)
    else:
        make_form(order, draft)
    if order.get("refused"):
        draft.note(("metadata",), "left out, because: %s" % order["refused"])
        draft.recipe["metadata"], draft.recipe["requires"] = {"summary": "..."}, None
    if repository and "sdist" in order["source"]:
        lines = draft.comment("check: the same from its repository, where no index has the sdist:", 0)
        draft.recipe["source"].append(Comment("\n".join(
            lines + ['// {"git": %s, "commit": "...40 digits..."}' % json.dumps(repository)])))
    return draft, repository


def update(order, new):
    """The recipe of the base as the draft of @a new; what has changed, in words."""
    base = order["base"]
    recipe, draft = base["recipe"], Draft(dict(order, base_version=base["recipe"]["version"]))
    old, _ = make_draft(dict(order, folder=base["folder"], version=recipe["version"], source=recipe["source"][0]))
    draft.incomplete, draft.missing = new.incomplete, new.missing
    changes = Update(recipe, old.recipe, new.recipe, (Tree(base["folder"]), Tree(order["folder"])), draft).write()
    for key, text in new.notes:
        if text not in [other for _, other in old.notes]:  # what reading leaves open, and did not before
            draft.note(key[:1], text)
    return draft, changes


def make(order):
    draft, repository = make_draft(order)
    changes = []
    if order.get("base"):
        draft, changes = update(order, draft)
    return {"draft": draft.text(), "missing": draft.missing, "repository": repository, "incomplete": draft.incomplete,
            "changes": changes}


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, 2 * CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGXCPU, too_long)
    with open("order.json", encoding="utf-8") as order:
        print(json.dumps(make(json.load(order))))


if __name__ == "__main__":
    main()
