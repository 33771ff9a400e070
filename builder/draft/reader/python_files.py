"""python_files.py - the Python files of a draft: packages, modules, data

By packages=, package_dir= and py_modules= of setup(), by pyproject.toml or setup.cfg; else the folders that
hold an __init__.py. Data files are what setuptools takes into a wheel besides.
"""
import posixpath
import re

from tree import folder_matches, is_inside, is_own, matches
from values import bare, items

NOT_DATA = (".py", ".pyi", ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".so", ".md", ".txt")
SOURCES = {"csrc", "include", "src"}


def manifest(text, files, found):
    """The commands of MANIFEST.in ("Controlling files in the distribution" of setuptools), in order."""
    for line in text.replace("\\\n", " ").splitlines():
        command, *rest = line.split("#")[0].split() or [""]
        below = rest.pop(0) + "/**/" if command.startswith("recursive-") and rest else \
            "**/" if command.startswith("global-") else ""
        for pattern in rest if command.endswith(("include", "exclude", "graft", "prune")) else []:
            path = posixpath.normpath(below + pattern + ("/**/*" if command in ("graft", "prune") else ""))
            if command.endswith("include") or command == "graft":
                found.update(matches(path, files))
            else:
                found.difference_update(matches(path, files))


class PythonFiles:
    """root: "" or a folder; packages: folders below it, with "/"."""
    def __init__(self, tree, draft, reader, project):
        self.tree, self.draft, self.reader, self.project = tree, draft, reader, project
        self.setup = {key: bare(value) for key, value in reader.setup.items()} if reader else {}
        self.root, self.packages, self.exclude, self.modules = "", [], [], []

    def below(self, path):
        return posixpath.join(self.root, path) if self.root else path

    # Packages.

    def texts(self, key):
        """A list of texts that setup() is given; None when it is not given, or not all of it is known."""
        value = self.setup.get(key)
        if value is None:
            return None
        found = [bare(item) for item in items(value)]
        return found if all(isinstance(item, str) and "\x01" not in item for item in found) else None

    def find_root(self, names):
        """Where package_dir says that the packages lie; False when a recipe cannot say it."""
        where = self.setup.get("package_dir", self.project.get("package_dir"))
        if not isinstance(where, dict) or not where:
            return True
        roots = set()
        for name in names:
            parts = name.split("/")
            for count in range(len(parts), -1, -1):
                key = ".".join(parts[:count])
                if isinstance(bare(where.get(key)), str):
                    folder = posixpath.normpath(posixpath.join(bare(where[key]), *parts[count:]))
                    break
            else:
                folder = name
            if folder != name and not folder.endswith("/" + name):
                return False
            roots.add(folder[:-len(name)].rstrip("/"))
        self.root = roots.pop() if len(roots) == 1 else ""
        return not roots

    def wanted(self):
        """The packages that setup() or a project file names; None when that is not known."""
        named = self.texts("packages")
        if named is None and "packages" not in self.setup:
            named = self.project.get("packages")
        if named is None and isinstance(self.project.get("find"), dict):
            find, where = self.project["find"], ""
            where = posixpath.normpath((find.get("where") or ["."])[0])
            self.root = "" if where == "." else where
            prefix = self.root + "/" if self.root else ""
            found = [folder.replace("/", ".") for folder in
                     self.tree.package_folders(prefix, find.get("namespaces", True))]
            named = [name for name in found
                     if any(folder_matches(glob, name) for glob in find.get("include") or ["*"])
                     and not any(folder_matches(glob, name) for glob in find.get("exclude") or [])]
        if named is None:
            return None
        names = [posixpath.normpath(name.replace(".", "/")) for name in named if name]
        return [name for name in dict.fromkeys(names) if is_inside(name)]

    def closure(self, package):
        """The package and what a recipe takes with it: folders below that hold an __init__.py."""
        found = [package]
        for folder in sorted(self.tree.folders):
            inner = folder[len(self.root) + 1 if self.root else 0:]
            if folder.startswith(self.below(package) + "/") and posixpath.dirname(inner) in found and \
                    folder + "/__init__.py" in self.tree.files:
                found.append(inner)
        return found

    def has_python(self, package):
        folder = self.below(package)
        return any(posixpath.dirname(path) == folder and path.endswith(".py") for path in self.tree.files)

    def take_wanted(self, names):
        there = [name for name in names if self.has_python(name)]
        gone = [name for name in names if not self.tree.has_folder(self.below(name))]
        covered = set()
        for name in sorted(there, key=lambda name: name.count("/")):
            if name not in covered:
                self.packages.append(name)
                covered.update(self.closure(name))
        extra = sorted(covered - set(names))
        self.exclude = [name + "/*" for name in extra if posixpath.dirname(name) not in extra]
        if gone:
            self.draft.note(("python",), "setup.py names packages that are not there: %s" % self.draft.list(gone))
        if self.exclude:
            self.draft.note(("python", "exclude"), "setup.py leaves these packages out")

    def guess(self):
        """The folders with an __init__.py, at the top or below src/ or python/."""
        for root in ("", "src", "python"):
            prefix = root + "/" if root else ""
            for folder in self.tree.package_folders(prefix):
                if "/" not in folder and re.fullmatch(r"[A-Za-z_]\w*", folder, re.A) and \
                        is_own(prefix + folder + "/") and folder.lower() not in SOURCES:
                    self.packages.append(folder)
            if self.packages:
                self.root = root
                self.draft.note(("python",), "the folders with an __init__.py; setup.py may leave some out")
                return

    def write(self):
        names = self.wanted()
        if names and not self.find_root(names):
            self.draft.lost("package_dir lays the Python packages out in a way that a recipe cannot say")
            names = None
        if names is not None:
            self.take_wanted(names)
        if not self.packages and not (names == [] and self.texts("py_modules")):
            lost = [name for name in names or [] if not self.draft.incomplete]
            self.guess()
            if lost:
                self.draft.lost("the Python packages that setup.py names are not there: %s" % self.draft.list(lost))
        single = re.sub(r"[-_.]+", "_", self.draft.order["distribution"])
        modules = [name.replace(".", "/") + ".py" for name in self.texts("py_modules") or self.project.get("modules") or []]
        self.modules = [name for name in modules if self.below(name) in self.tree.files]
        if not self.packages and not self.modules:
            for name in (single + ".py", single.lower() + ".py"):
                if name in self.tree.files:
                    self.modules = [name]
                    self.draft.note(("python",), "the file of the package's name")
                    break
        data = self.data() if self.packages else []
        if data:
            self.draft.note(("python", "data"),
                            "package_data and include_package_data of setup.py; the wheel may work without")
        self.note_others(data)
        if self.packages or self.modules:
            self.draft.recipe["python"] = {
                "root": self.root or None, "packages": self.packages or None, "modules": self.modules or None,
                "data": data or None, "exclude": self.exclude or None}

    # Data files.

    def note_others(self, data):
        """Files of the packages that are neither Python nor sources: data, perhaps."""
        found = []
        for path in self.tree.files:
            inner = path[len(self.root) + 1 if self.root else 0:]
            if is_own(path) and not path.endswith(NOT_DATA) and not any(folder_matches(glob, inner) for glob in data) and \
                    any(path.startswith(self.below(package) + "/") for package in self.packages):
                found.append(path)
        if found:
            self.draft.note(("python",), "other files in them, shipped only if \"data\" names them: %s" %
                            self.draft.list(found, 5))

    def named_data(self):
        given, files, found = self.setup.get("package_data"), list(self.tree.files), set()
        packages = {posixpath.dirname(path) for path in files if path.endswith("/__init__.py")}
        by_project = self.project.get("include_package_data", False)
        if self.setup.get("include_package_data", by_project) is True:
            for path in files:
                if path.endswith(".egg-info/SOURCES.txt"):
                    found |= set(self.tree.read(path).split("\n"))
            for extension in self.reader.extensions if self.reader else []:
                found |= {path for path in extension["sources"] if isinstance(path, str)}
            manifest(self.tree.read("MANIFEST.in"), files, found)
        for package, patterns in given.items() if isinstance(given, dict) else []:
            for base in [self.below(package.replace(".", "/"))] if package else sorted(packages):
                for pattern in items(patterns):
                    if isinstance(bare(pattern), str):
                        found |= set(matches(posixpath.normpath(posixpath.join(base, bare(pattern))), files))
        return found

    def data(self):
        """As few patterns as say the same: a folder all of whose files are taken is one."""
        files, prefix = self.tree.files, self.root + "/" if self.root else ""
        packages = {self.below(inner) for package in self.packages for inner in self.closure(package)}
        taken = {path for path in files if path.endswith(".py") and posixpath.dirname(path) in packages}
        found = {path for path in self.named_data() if path in files and path.startswith(prefix)} - taken
        patterns = []

        def gather(base):
            below = [path for path in files if path.startswith(base)]
            if all(path in found or path in taken for path in below):
                if any(path in found for path in below):
                    patterns.append(base[len(prefix):] + "*")
                return
            for path in below:
                if "/" not in path[len(base):] and path in found:
                    patterns.append(path[len(prefix):])
            for inner in sorted({path[len(base):].split("/")[0] for path in below if "/" in path[len(base):]}):
                gather(base + inner + "/")
        for package in self.packages:
            gather(self.below(package) + "/")
        return [pattern for pattern in patterns if is_inside(pattern)]
