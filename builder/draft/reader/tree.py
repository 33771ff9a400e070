"""tree.py - the files of the sources: which there are, which are the package's own, their texts

Links are neither followed nor read. Names alone decide what is a package's own: tests, examples and copies
of other projects have usual ones.
"""
import os
import posixpath
import re

LARGEST, MOST_FILES = 1 << 20, 100000
KINDS = {".cu": "cuda", ".cpp": "cxx", ".cc": "cxx", ".cxx": "cxx", ".c": "c"}
SIDE = {"test", "tests", "testing", "example", "examples", "benchmark", "benchmarks", "doc", "docs", "build", "dist",
        "cmake", "conda", "docker", "scripts", "tools", "rocm", "hip", ".github"}
OTHERS = {"third_party", "thirdparty", "3rdparty", "external", "extern", "submodules", "vendor", "deps", "cutlass",
          "composable_kernel", "pybind11", "glm", "googletest"}


def kind_of(path):
    """"cuda", "cxx" or "c"; None for what no compiler takes."""
    return KINDS.get(posixpath.splitext(path)[1])


def is_inside(path):
    """A path that a recipe may name (base/fs.h): relative, without "..", backslashes and control characters."""
    plain = not any(c < " " or c in "\x7f\\" for c in path)
    return plain and not {"", ".", ".."} & set(path.split("/"))


def is_aside(path):
    return any(part.lower() in SIDE for part in path.split("/")[:-1])


def is_own(path):
    return not is_aside(path) and not any(part.lower() in OTHERS for part in path.split("/")[:-1])


def matches(pattern, files):
    """The files that match a pattern with *, ? and **, in order."""
    made = re.escape(pattern).replace("\\*\\*/", "(.*/)?").replace("\\*", "[^/]*").replace("\\?", "[^/]")
    return sorted(filter(re.compile(made).fullmatch, files))


def folder_matches(glob, path):
    """As fnmatch(3) without flags: * also matches /."""
    made = re.escape(glob).replace("\\*", ".*").replace("\\?", ".")
    return re.fullmatch(made, path, re.S) is not None


class Tree:
    def __init__(self, folder):
        self.folder, found = folder, []
        for base, folders, names in os.walk(folder):
            folders.sort()
            found += [posixpath.normpath(os.path.relpath(os.path.join(base, name), folder)) for name in names]
            if len(found) > MOST_FILES:
                break
        self.files = dict.fromkeys(sorted(found))
        self.folders = {"."} | {path[:i] for path in self.files for i, c in enumerate(path) if c == "/"}
        self.texts = {}

    def is_link(self, path):
        return os.path.islink(os.path.join(self.folder, path))

    def read(self, path):
        """Its text, of at most 1 MiB; "" when it is not there, a link, or larger."""
        full = os.path.join(self.folder, path)
        if path not in self.files or os.path.islink(full) or not os.path.isfile(full) or \
                os.path.getsize(full) > LARGEST:
            return ""
        with open(full, encoding="utf-8", errors="replace") as file:
            return file.read()

    def has_folder(self, path):
        return path in self.folders

    def compiled(self):
        """The package's own files that a compiler takes."""
        return [path for path in self.files
                if kind_of(path) and is_own(path) and "_hip." not in path and not self.is_link(path)]

    def cmake_file(self, named, alone):
        """The CMakeLists.txt that builds it, if setup.py names cmake or no other module exists; else None."""
        found = sorted((path for path in self.files if posixpath.basename(path) == "CMakeLists.txt" and is_own(path)),
                       key=lambda path: (path.count("/"), path))
        return found[0] if found and (named or alone and "/" not in found[0]) else None

    def package_folders(self, base="", namespaces=False):
        """Folders below base ("" or "src/") that are packages, as find_packages() names them, with "/"."""
        found = []
        for folder in sorted(self.folders - {"."}):
            inner = folder[len(base):]
            if not folder.startswith(base) or not inner or "." in inner:
                continue
            parts = inner.split("/")
            parents = [base + "/".join(parts[:i + 1]) for i in range(len(parts))]
            if namespaces or all(parent + "/__init__.py" in self.files for parent in parents):
                found.append(inner)
        return found
