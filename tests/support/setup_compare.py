"""setup_compare.py - lists the differences between a recipe and its setup.py

The other side is what setup_truth.py says of a run of it. Flags that a recipe never names (-std, -gencode, ...) are left out on
both sides.
"""
import json
import os
import posixpath
import re
import subprocess
import sys

SUPPORT = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(os.path.dirname(SUPPORT)) + "/builder/draft/reader"]
from flags import Flags  # noqa: E402


def truth_of(folder, **variables):
    """Runs setup.py of a folder, which may write into it, beside a torch that is made up."""
    run = subprocess.run([sys.executable, "-W", "ignore", f"{SUPPORT}/setup_truth.py", folder], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | variables)
    return json.loads(run.stdout)


def inside(path, folder):
    path = posixpath.normpath(posixpath.relpath(path, folder) if path.startswith("/") else path)
    return None if path.startswith("..") else path


def flags_of(words, macros, undef, key):
    words = words + ["-D%s" % name if value is None else "-D%s=%s" % (name, value) for name, value in macros]
    return Flags([(word, False) for word in words + ["-U" + name for name in undef]], key).flags


def spelled(words, recipe):
    """Words of a recipe, with -D words for a header that it creates and includes."""
    made = {"src/" + patch["create"]: patch["text"] for patch in recipe.get("patches", []) if "create" in patch}
    found = []
    for word in words:
        if found and found[-1] == "-include" and word in made:
            found[-1:] = flags_of(["-D%s=%s" % pair for pair in re.findall(r"^#define (\w+) (.*)$", made[word], re.M)], [], [],
                                  "nvcc_flags")
        else:
            found.append(word)
    return found


def sources_of(listed, tree):
    found = []
    for source in listed:
        found += [source] if isinstance(source, str) else sorted(
            path for path in tree.files if posixpath.dirname(path) == posixpath.dirname(source["glob"])
            and re.fullmatch(re.escape(source["glob"]).replace("\\*", "[^/]*"), path))
    return set(found)


def packages_of(python, tree):
    """The packages that a recipe ships, as find_packages() names them."""
    root, found = python.get("root", ""), set()
    for package in python.get("packages", []):
        found.add(package)
        base = posixpath.join(root, package)
        for folder in sorted(tree.folders):
            inner = folder[len(root) + 1 if root else 0:]
            if folder.startswith(base + "/") and posixpath.dirname(inner) in found and folder + "/__init__.py" in tree.files:
                found.add(inner)
    gone = [glob_[:-1] for glob_ in python.get("exclude", [])]
    return {name for name in found if not any((name + "/").startswith(prefix) for prefix in gone)}


def compare(truth, recipe, tree, folder):
    """The differences between the draft and setup.py."""
    every, wrong = recipe.get("every_extension", {}), []
    drafted = {module["module"]: module for module in recipe.get("extensions", [])}
    real = {}
    for call in truth["extensions"]:
        if call["sources"]:  # a glob that matches nothing in the sdist makes a module that cannot be built
            real.setdefault(call["name"], call)
    if set(drafted) != set(real):
        wrong.append("modules: %s, not %s" % (", ".join(sorted(drafted)) or "none", ", ".join(sorted(real))))
    for name in sorted(set(drafted) & set(real)):
        call, module = real[name], drafted[name]
        sources = {inside(path, folder) for path in call["sources"]}
        if sources != sources_of(module["sources"], tree):
            wrong.append("sources of %s: %s" % (name, ", ".join(sorted(
                sources ^ sources_of(module["sources"], tree)))[:200]))
        kinds = {path.endswith(".cu") for path in sources}
        for kind, key in ("cxx", "cxx_flags"), ("nvcc", "nvcc_flags"):
            wanted = flags_of(call[kind], call["macros"], call["undef"], key) if (kind == "nvcc") in kinds else []
            got = (every.get(key, []) if (kind == "nvcc") in kinds else []) + module.get(key, [])
            got = spelled(got, recipe)
            if wanted != got:
                wrong.append("%s of %s: %s" % (key, name, " ".join(sorted(set(wanted) ^ set(got))) or "another order"))
        wanted = [word for word in call["link"] + ["-l" + library for library in call["libraries"]]]
        if wanted != every.get("link_flags", []) + module.get("link_flags", []):
            wrong.append("link_flags of %s" % name)
        include = {path for path in (inside(path, folder) for path in call["include"]) if path and tree.has_folder(path)}
        if include - set(every.get("include", []) + module.get("include", [])):
            wrong.append("include of %s" % name)
    wanted = {name.replace(".", "/") for name in truth.get("packages", [])}
    where = (recipe.get("python") or {}).get("root", "")
    wanted = {name for name in wanted if any(posixpath.dirname(path) == posixpath.join(where, name) and path.endswith(".py")
                                             for path in tree.files)}
    got = packages_of(recipe.get("python") or {}, tree)
    if wanted != got:
        wrong.append("packages: %s" % ", ".join(sorted(wanted ^ got))[:200])
    names = {re.split(r"[ <>=!~;\[(@]", text)[0].lower().replace("_", "-") for text in truth.get("install_requires", [])
             if not text.startswith(("-", "#"))}
    have = {re.split(r"[ <>=!~;\[(@]", text)[0].lower().replace("_", "-") for text in recipe["metadata"]["requires"]
            if ";" not in text}  # setuptools keeps those with a marker elsewhere
    if names - have or have - names - {"torch"}:
        wrong.append("requirements: %s" % ", ".join(sorted(names ^ have)))
    return wrong
