"""library.py - results of library functions and methods, and calls that create modules of a wheel

setup(), CUDAExtension(), CppExtension(), Extension() and classes made of them. Opens files of the sources only, for reading.
"""
import ast
import itertools
import json
import posixpath
import re

from follow import CUDA, Reader, is_elsewhere
from tree import folder_matches, matches
from values import (HOLE, OFF, UNKNOWN, Choice, Class, End, File, Function, Maybe, Module, Ref, Soft, bare, items,
                    joined, known, text_of)

CALLS = {
    "torch.cuda.is_available": True, "platform.system": "Linux", "platform.machine": "x86_64", "os.getcwd": ".",
    "Path.cwd": ".", "parallel_info": "ATen parallel backend: OpenMP", "print": None,
}
PLAIN = ("split", "strip", "lstrip", "rstrip", "lower", "upper", "replace", "startswith", "endswith", "removeprefix",
         "removesuffix", "splitlines")
STARTERS = ("check_call", "check_output", "run", "call", "Popen", "system")


class SetupReader(Reader):
    def __init__(self, tree, soft_is_unknown):
        super().__init__(tree, soft_is_unknown)
        self.extensions, self.setup, self.suffix, self.unmatched = [], {}, None, []
        self.written = []  # files that it opens to write
        self.asks_nvcc = False  # for its version
    def method(self, holder, name, placed, named):
        """Methods of a value: a list, a dict, a text, a path."""
        soft, holder, first = isinstance(holder, Soft), bare(holder), bare(placed[0]) if placed else None
        if isinstance(holder, Class):
            return holder if name == "with_options" else UNKNOWN
        if isinstance(holder, list) and not isinstance(holder, Choice):
            if name in ("append", "insert"):
                holder.extend(self.added([bare(placed[-1])] if placed else []))
            elif name == "extend":
                holder.extend(self.added(items(first)))
            elif name == "remove" and not self.when:
                holder[:] = [item for item in holder if bare(item) != first]
            elif name == "copy":
                return list(holder)
            elif name == "index" and known(first) and known(holder) and first in holder:
                return holder.index(first)
            return None if name not in ("pop", "index") else UNKNOWN
        if isinstance(holder, dict):
            if name == "update":
                for key, value in {**(first if isinstance(first, dict) else {}), **named}.items():
                    if OFF not in self.when:
                        holder[key] = joined(holder.get(key, []), value, max(self.when, key=abs)) \
                            if self.when else value
                return None
            if name in ("get", "setdefault") and isinstance(first, str):
                default = placed[1] if len(placed) > 1 else None
                return holder.setdefault(first, default) if name == "setdefault" else holder.get(first, default)
            return {"items": [tuple(pair) for pair in holder.items()], "keys": list(holder),
                    "values": list(holder.values()), "copy": dict(holder)}.get(name, UNKNOWN)
        if isinstance(holder, File):
            text = self.tree.read(holder)
            return {"read": text, "readlines": text.splitlines(True), "read_text": text}.get(name, UNKNOWN)
        if not isinstance(holder, str):
            return UNKNOWN
        if name in ("read_text", "open"):
            return self.open(holder, placed, named) if name == "open" else self.tree.read(self.path(holder)) or UNKNOWN
        if name in ("glob", "rglob"):
            return self.glob(posixpath.join(holder, "**" if name == "rglob" else "", text_of(first)))
        if name in ("exists", "is_file", "is_dir"):
            return self.exists(holder)
        if name in ("resolve", "absolute", "as_posix", "expanduser"):
            return holder
        if name == "relative_to" and isinstance(first, str):
            return posixpath.relpath(self.path(holder), self.path(first))
        if name == "with_suffix" and isinstance(first, str):
            return posixpath.splitext(holder)[0] + first
        if name == "joinpath":
            return posixpath.join(holder, *[text_of(part) for part in placed])
        if name == "join":
            parts = [text_of(item) for item in items(first)]
            return holder.join(parts)
        if name == "format":
            values = iter(placed)
            return re.sub("{(\\w*)}", lambda found: text_of(
                named.get(found[1], next(values, UNKNOWN) if not found[1] else UNKNOWN)), holder)
        plain = all(isinstance(bare(p), (str, int)) and not isinstance(p, Ref) for p in placed)
        if plain and not named and name in PLAIN:
            if HOLE in holder:
                return holder.split(bare(placed[0])) if name == "split" and placed else UNKNOWN
            found = getattr(holder, name)(*[bare(p) for p in placed])
            return Soft(found) if soft and not isinstance(found, list) else found
        return UNKNOWN

    def known_call(self, name, placed, named):
        """Calls a function that setup.py does not define, by its name."""
        last, first = name.rsplit(".", 1)[-1], bare(placed[0]) if placed else None
        if name.endswith("Extension") and last != "BuildExtension":
            return self.extension(last, placed, named)
        if last == "setup" and OFF not in self.when:
            self.setup = named
        if name in ("open", "io.open", "codecs.open"):
            return self.open(first, placed, named)
        if last == "listdir" and isinstance(first, str):
            return sorted({path[len(base):].split("/")[0] for base in [self.folder_prefix(first)]
                           for path in self.tree.files if path.startswith(base)})
        if name in ("sys.path.insert", "sys.path.append") and placed and isinstance(bare(placed[-1]), str):
            self.search.append(self.path(bare(placed[-1])))
        if last in ("spec_from_file_location", "run_path"):
            path = bare(placed[-1]) if placed else None
            module = self.run_module(self.path(path), "module") if isinstance(path, str) and \
                self.path(path) in self.tree.files else None
            return UNKNOWN if not module else module if last != "run_path" else \
                {key: slot.value for key, slot in module.scope.items()}
        if last == "module_from_spec":
            return placed[0] if placed else UNKNOWN
        if last in ("find_packages", "find_namespace_packages") or name.endswith((".find", "Finder.find")):
            return self.find_packages(last == "find_namespace_packages" or "PEP420" in name, placed, named)
        for call, value in CALLS.items():
            if name == call or name.endswith("." + call):
                return value
        if last == "getenv" or name.endswith("environ.get"):
            return Soft(bare(placed[1]) if len(placed) > 1 else bare(named.get("default")))
        if last == "hasattr" or last.startswith("is_"):
            about = name if last != "hasattr" else text_of(placed[-1]) if placed else ""
            return False if is_elsewhere(about) else UNKNOWN
        if last == "join" and not {"path", "osp"}.isdisjoint(name.split(".")):
            return posixpath.join(*[text_of(part) for part in placed]) if placed else ""
        if last in ("Path", "PurePath", "PosixPath"):
            return posixpath.join(*[text_of(part) for part in placed]) if placed else "."
        if last in ("abspath", "realpath", "normpath", "fspath", "str", "resolve"):
            return first if isinstance(first, str) and not isinstance(first, Ref) else text_of(first)
        if name in ("any", "all") and len(placed) == 1:
            truths = [None if isinstance(item, Maybe) else self.truth(item)[0] for item in items(first)]
            deciding = name == "any"
            return deciding if deciding in truths else UNKNOWN if None in truths else not deciding
        if last == "relpath" and isinstance(first, str):
            start = bare(placed[1]) if len(placed) > 1 else "."
            return posixpath.relpath(self.path(first), self.path(text_of(start)))
        if last in ("dirname", "basename") and isinstance(first, str):
            return getattr(posixpath, last)(first) or "."
        if last == "splitext" and isinstance(first, str):
            return posixpath.splitext(first)
        if last in ("glob", "iglob"):
            return self.glob(text_of(first))
        if last in ("exists", "isfile", "isdir") and isinstance(first, str):
            return self.exists(first)
        if last in ("list", "tuple", "sorted", "set", "reversed", "chain") and len(placed) == 1:
            return list(self.each(first))
        if last == "isinstance" or name == "len" and not known(first):
            return UNKNOWN
        if name == "len":
            return len(first) if isinstance(first, (str, list, tuple, dict)) else UNKNOWN
        if name in ("bool", "int"):
            true, soft = self.truth(placed[0] if placed else False)
            if name == "int":
                return int(first) if isinstance(first, (str, int)) and str(first).isdigit() else UNKNOWN
            return UNKNOWN if true is None else Soft(true) if soft else true
        if last in ("Version", "LooseVersion", "parse", "parse_version") and isinstance(first, str):
            return [int(part) if part.isdigit() else UNKNOWN for part in first.split(".")]
        if name == "shlex.split" and known(first):
            return first.split()
        if last in ("check_output", "getoutput") and "nvcc" in " ".join(text_of(word) for word in items(first)):
            self.asks_nvcc = True
            return "Cuda compilation tools, release %s, V%s.93" % (CUDA, CUDA)
        if last == "dict":
            return {**(first if isinstance(first, dict) else {}), **named}
        if last in ("product", "zip", "enumerate"):
            lists = [[bare(item) for item in items(value)] for value in placed]
            made = enumerate(*lists) if last == "enumerate" else \
                zip(*lists) if last == "zip" else itertools.product(*lists)
            return [tuple(pair) for pair in itertools.islice(made, 10000)]
        if last == "deepcopy" or name == "copy.copy":
            return json.loads(json.dumps(first)) if known(first) else first
        # From other results take lists only, and mark them.
        self.number += 1
        found = [Maybe(item, {self.number}) for value in placed if isinstance(bare(value), list)
                 for item in items(value)]
        return found or UNKNOWN

    def saw_call(self, node, placed, named):
        if bare(named.get("no_python_abi_suffix")) is True and OFF not in self.when:
            self.suffix = ".so"

    def instance(self, of, placed, named):
        """An object of a class of the sources; an extension, when it is made of one."""
        last = of.root().rsplit(".", 1)[-1]
        if last.endswith("Extension") and last != "BuildExtension":
            arguments = self.base_arguments(of, placed, named)
            return self.extension(last, *arguments, of.node.name)
        return self.object(of, placed, named)

    def open(self, path, placed, named):
        mode = bare(named.get("mode", placed[1] if len(placed) > 1 else "r"))
        known = isinstance(path, str) and not isinstance(path, Ref)
        if known and isinstance(mode, str) and mode[:1] in ("w", "a", "x") and OFF not in self.when:
            self.written.append(self.path(path))
        there = known and self.path(path) in self.tree.files
        return File(self.path(path)) if there and isinstance(mode, str) and mode[:1] == "r" else UNKNOWN

    def find_packages(self, namespaces, placed, named):
        """As setuptools.find_packages(where, exclude, include)."""
        given = {**dict(zip(("where", "exclude", "include"), placed)), **named}
        where = bare(given.get("where", "."))
        if not isinstance(where, str):
            return UNKNOWN
        base = self.folder_prefix(where)
        names = [folder.replace("/", ".") for folder in self.tree.package_folders(base, namespaces)]
        exclude, include = ([text for text, _ in self.words(given.get(key, []))] for key in ("exclude", "include"))

        def fits(name, patterns):
            return any(folder_matches(pattern, name) for pattern in patterns)
        return [name for name in names if not fits(name, exclude) and (not include or fits(name, include))]

    def folder_prefix(self, text):
        path = self.path(text)
        return "" if path == "." else path + "/"

    def path(self, text):
        text = text.lstrip(HOLE + "/") if text.startswith(HOLE) else text
        return posixpath.normpath(text)

    def exists(self, text):
        path = self.path(text)
        return UNKNOWN if HOLE in path else path in self.tree.files or path in self.tree.folders

    def glob(self, pattern):
        pattern = self.path(pattern)
        found = matches(pattern, self.tree.files)
        if not found and OFF not in self.when and pattern not in self.unmatched:
            self.unmatched.append(pattern)
        return found if found else [] if HOLE not in pattern else [UNKNOWN]

    # The answer.

    def words(self, value, make=None, unknown=None):
        """(text, its conditions) of a list of texts; @unknown replaces an item that only running would give."""
        found = []
        for item in items(value) if not isinstance(bare(value), str) else [value]:
            when = (item.when if isinstance(item, Maybe) else frozenset()) - self.when
            if any(-condition in self.when for condition in when if condition != OFF):
                continue
            inner = bare(item)
            text = unknown if inner is UNKNOWN else make(inner) if make else inner
            if isinstance(text, str) and text and not isinstance(text, Ref):
                found.append((text, when))
        return found

    def paths(self, value):
        return [{"maybe": self.path(text)} if when else self.path(text)
                for text, when in self.words(value) if OFF not in when and HOLE not in self.path(text)]

    def flags(self, value, make=None):
        """With a HOLE where only running tells; flags.py says so."""
        return [{"maybe": text} if when else text for text, when in self.words(value, make, (make or text_of)(HOLE))]

    def extension(self, callee, placed, named, of=None):
        if OFF in self.when:
            return UNKNOWN
        argument = dict(zip(("name", "sources", "include_dirs", "define_macros", "undef_macros"), placed))
        argument.update(named)
        flags = bare(argument.get("extra_compile_args"))
        macros = self.flags(argument.get("define_macros"), self.macro)
        macros += self.flags(argument.get("undef_macros"), lambda name: "-U" + text_of(name))
        name = text_of(argument.get("name"))
        found = {
            "callee": callee, "class": of, "name": name if HOLE not in name else None,
            "like": name.replace(HOLE, "*") if name != HOLE else None,
            "maybe": bool(self.when), "none": bare(argument.get("sources")) in ([], ()),
            "sources": self.paths(argument.get("sources")),
            "unread": any(OFF not in when and HOLE in text.lstrip(HOLE + "/.") or text == HOLE
                          for text, when in self.words(argument.get("sources"), None, HOLE)),
            "include": self.paths(argument.get("include_dirs")),
            "cxx": self.flags(flags.get("cxx") if isinstance(flags, dict) else flags) + macros,
            "nvcc": self.flags(flags.get("nvcc") if isinstance(flags, dict) else flags) + macros,
            "link": self.flags(argument.get("extra_link_args")) + self.flags(
                argument.get("libraries"), lambda library: "-l" + text_of(library)),
            "suffix": ".abi3.so" if bare(argument.get("py_limited_api")) is True else None,
        }
        for i, other in enumerate(self.extensions):
            if (other["name"], other["like"]) == (found["name"], found["like"]):
                if callee == "CUDAExtension" and other["callee"] != callee:
                    self.extensions[i] = found
                return UNKNOWN
        self.extensions.append(found)
        return UNKNOWN

    def macro(self, pair):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            return HOLE
        value = bare(pair[1])
        return "-D" + text_of(pair[0]) + ("" if value is None else "=" + text_of(value))

    def read(self, text):
        tree = ast.parse(text)
        self.trees.append(tree)
        try:
            self.run(tree.body)
        except End:
            pass
        for slot in list(self.scopes[0].values()):  # functions that something else calls
            if not self.extensions and isinstance(slot.value, Function) and slot.value.node.name not in self.called:
                self.function(slot.value, [], {})
        command = self.command()
        for node in command.nodes() if command else []:
            for call in ast.walk(node):
                for word in call.keywords if isinstance(call, ast.Call) else []:
                    if word.arg == "no_python_abi_suffix" and getattr(word.value, "value", None) is True:
                        self.suffix = ".so"
        for extension in self.extensions:
            extension["suffix"] = extension["suffix"] or self.suffix

    def command(self):
        """The class of the sources that setup() is given for build_ext; None when it is a library's."""
        commands = bare(self.setup.get("cmdclass"))
        found = bare(commands.get("build_ext")) if isinstance(commands, dict) else None
        return found if isinstance(found, Class) else None

    def started(self):
        """The words that are constants in calls that start programs, wherever they stand; of a function that starts Python
        the names of scripts as well, which may come to the call in a variable."""
        found = []
        for tree in self.trees:
            for call in starting(tree):
                found += texts(call)
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef) and any(starts_python(call) for call in starting(function)):
                    found += [word for word in texts(function) if word.endswith(".py")]
        return found

    def names(self, word):
        """Somewhere it has this very text, or an attribute of this name."""
        return any(word in texts(tree) or any(isinstance(part, ast.Attribute) and part.attr == word for part in ast.walk(tree))
                   for tree in self.trees)


def starting(tree):
    """The calls that start programs."""
    for call in ast.walk(tree):
        name = getattr(call.func, "attr", getattr(call.func, "id", "")) if isinstance(call, ast.Call) else ""
        if name in STARTERS or name == "spawn":
            yield call


def texts(tree):
    return [word.value for word in ast.walk(tree) if isinstance(word, ast.Constant) and isinstance(word.value, str)]


def starts_python(call):
    return not {"python", "python3"}.isdisjoint(texts(call)) or any(
        isinstance(word, ast.Attribute) and word.attr == "executable" for word in ast.walk(call))


def read_setup(tree):
    """setup.py, followed; once more with the branches of environment variables when it made no module."""
    text = tree.read("setup.py")
    reader = SetupReader(tree, False)
    reader.read(text)
    if not reader.extensions:
        again = SetupReader(tree, True)
        again.read(text)
        return again if again.extensions else reader
    return reader
