"""metadata.py - METADATA of a draft: PKG-INFO, else pyproject.toml, setup.cfg and what setup() is given

PKG-INFO: core metadata (core-metadata specification, PEP 345, 566, 639, 643), the form of RFC 822 headers.
Older files leave requirements to requires.txt of the egg-info folder (setuptools' "Python Eggs" notes). Leaves out values that a recipe cannot hold: texts of several lines, "UNKNOWN", URLs with credentials, requirements without a package.
"""
import configparser
import posixpath
import re

from tree import is_inside
from values import HOLE, bare, items

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

MOST = 400  # entries of a list
HOSTS = ("https://github.com/", "https://gitlab.com/", "https://codeberg.org/")
CLAUSE = r"\s*(~=|==|!=|<=|>=|<|>)\s*\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\.\*)?\s*"


def plain(text):
    """One line without control characters, not empty, not "UNKNOWN"; else None."""
    text = text.strip() if isinstance(text, str) else ""
    odd = any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" or c == "\ufffd" for c in text)
    return None if odd or text in ("", "UNKNOWN") else text


def is_url(text):
    found = re.fullmatch(r"https?://([^/?#\s<>\"]+)[^\s<>\"]*", text)
    return found is not None and "@" not in found[1]


def is_package_name(text):
    return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", text) is not None


def names_package(text):
    return re.match(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(?=[ <>=!~;\[(@]|$)", text) is not None


def is_range(text):
    return re.fullmatch("%s(,%s)*" % (CLAUSE, CLAUSE), text) is not None


class Metadata:
    def __init__(self, tree, draft):
        self.tree, self.draft, self.name, self.long_license = tree, draft, None, False
        self.texts, self.urls, self.extras = {}, {}, {}
        self.lists = {key: [] for key in ("license_files", "classifiers", "keywords", "requires")}
        self.project = {}  # packages, package_dir, find, modules of pyproject.toml and setup.cfg
        self.backend = ""

    def put(self, key, text):
        text = plain(text)
        if text and (key != "home_page" or is_url(text)):
            self.texts.setdefault(key, text)

    def add(self, key, text):
        text = plain(text)
        if text and text not in self.lists[key] and len(self.lists[key]) < MOST:
            self.lists[key].append(text)

    def add_url(self, label, url):
        label, url = plain(label), plain(url)
        if label and url and is_url(url):
            self.urls.setdefault(label, url)

    def add_requirement(self, text, extra=None):
        """'x>=1 ; python_version < "3.8" and extra == "dev"': the extra is cut out of a plain conjunction."""
        text = plain(text)
        if not text or not names_package(text):
            return
        requirement, _, marker = (part.strip() for part in text.partition(";"))
        found = re.search(r"extra\s*==\s*(\"[^\"]+\"|'[^']+')", marker)
        if found and " or " not in marker and "(" not in marker:
            extra = found[1][1:-1]
            parts = [part.strip() for part in marker.split(" and ")]
            marker = " and ".join(part for part in parts if not part.startswith("extra"))
        text = "%s ; %s" % (requirement, marker) if marker else requirement
        if extra and is_package_name(extra):
            listed = self.extras.setdefault(extra, [])
            listed += [text] if text not in listed else []
        elif not extra:
            self.add("requires", text)

    # The project's links.

    def read_pkg_info(self, text):
        fields = {"description-content-type": None, "summary": "summary", "home-page": "home_page", "author": "author",
                  "author-email": "author_email", "license": "license", "license-expression": "license_expression",
                  "requires-python": "python"}
        head = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
        for line in re.sub(r"\r?\n(?=[ \t])", "\n", head).replace("\r", "").replace("\n ", "\x01 ").replace(
                "\n\t", "\x01\t").split("\n"):
            field, colon, value = line.partition(":")
            field = field.strip().lower()
            if not colon:
                continue
            if field == "license" and not plain(value):
                self.long_license = self.long_license or len(value.strip()) > 40
            if field == "name":
                self.name = self.name or plain(value)
            elif fields.get(field):
                self.put(fields[field], value)
            elif field == "license-file" and is_inside(value.strip()):
                self.add("license_files", value)
            elif field == "classifier":
                self.add("classifiers", value)
            elif field == "requires-dist":
                self.add_requirement(value)
            elif field == "keywords":
                self.add_keywords(value)
            elif field == "project-url" and "," in value:
                self.add_url(*value.split(",", 1))

    def add_keywords(self, text):
        for word in text.split("," if "," in text else " "):
            self.add("keywords", word)

    def read_requires_txt(self, text):
        """"[dev]", "[:python_version < '3.8']", "[dev:python_version < '3.8']" above requirements."""
        extra = marker = ""
        for line in text.splitlines():
            line = line.strip()
            if line.startswith("[") and line.endswith("]"):
                extra, _, marker = line[1:-1].partition(":")
            elif line and not (extra and not is_package_name(extra)):
                self.add_requirement("%s ; %s" % (line, marker) if marker else line, extra or None)

    def read_pyproject(self):
        text = self.tree.read("pyproject.toml")
        if not text:
            return
        if not tomllib:
            self.draft.note(("metadata",), "pyproject.toml was not read: this python3 is older than 3.11")
            return
        try:
            data = tomllib.loads(text)
        except ValueError:
            return
        def of(holder, *keys):
            for key in keys:
                holder = holder.get(key) if isinstance(holder, dict) else None
            return holder
        self.backend = str(of(data, "build-system", "build-backend") or "")
        tool, project = of(data, "tool", "setuptools") or {}, of(data, "project") or {}
        packages = of(tool, "packages")
        self.project = {
            "packages": packages if isinstance(packages, list) else of(data, "tool", "scikit-build", "wheel", "packages"),
            "find": of(packages, "find"), "package_dir": of(tool, "package-dir"), "modules": of(tool, "py-modules"),
            "include_package_data": of(tool, "include-package-data") is not False and bool(project or tool)}
        named = self.project["packages"]
        if isinstance(named, list) and any("/" in str(name) for name in named):  # scikit-build-core: "python/demo"
            self.project["package_dir"] = {posixpath.basename(str(name)): str(name) for name in named}
            self.project["packages"] = [posixpath.basename(str(name)) for name in named]
        if not project:
            return
        license_ = project.get("license")
        people = [person for person in project.get("authors") or [] if isinstance(person, dict)]
        self.put("summary", project.get("description"))
        self.put("python", project.get("requires-python"))
        self.put("license_expression" if isinstance(license_, str) else "license",
                 license_ if isinstance(license_, str) else of(license_, "text"))
        self.put("author", ", ".join(str(p["name"]) for p in people if "name" in p and "email" not in p))
        self.put("author_email", ", ".join("%s <%s>" % (p["name"], p["email"]) if "name" in p else str(p["email"])
                                           for p in people if "email" in p))
        for label, url in (project.get("urls") or {}).items():
            self.add_url(label, url)
        for key, listed in (("classifiers", "classifiers"), ("keywords", "keywords")):
            for text in project.get(key) or []:
                self.add(listed, text)
        if not self.lists["requires"]:
            self.add_all(project.get("dependencies") or [], project.get("optional-dependencies") or {})

    def add_all(self, requires, extras):
        for text in requires:
            self.add_requirement(text)
        for extra, texts in extras.items():
            for text in texts:
                self.add_requirement(text, extra)

    def read_setup_cfg(self):
        config = configparser.RawConfigParser()
        try:
            config.read_string(self.tree.read("setup.cfg"))
        except (configparser.Error, ValueError):
            return
        def get(section, key):
            return config.get(section, key, fallback="").strip()
        for key, field in (("description", "summary"), ("url", "home_page"), ("author", "author"),
                           ("author_email", "author_email"), ("license", "license")):
            self.put(field, get("metadata", key))
        self.put("python", get("options", "python_requires"))
        if not self.lists["requires"]:
            self.add_all(get("options", "install_requires").splitlines(), {})
        named, where = get("options", "packages"), get("options.packages.find", "where")
        if named.startswith("find") and not self.project.get("packages"):
            self.project["find"] = {
                "where": [where or "."], "namespaces": "namespace" in named,
                "include": get("options.packages.find", "include").splitlines(),
                "exclude": get("options.packages.find", "exclude").splitlines()}
        elif named:
            self.project.setdefault("packages", named.replace(",", "\n").split())
        self.project.setdefault("modules", get("options", "py_modules").split() or None)

    def read_setup(self, setup):
        def text(key):
            value = bare(setup.get(key))
            return value if isinstance(value, str) and HOLE not in value else None
        def texts(value):
            found = [bare(item) for item in items(value)]
            return [item for item in found if isinstance(item, str) and HOLE not in item]
        for key, field in (("description", "summary"), ("url", "home_page"), ("author", "author"),
                           ("author_email", "author_email"), ("license", "license"), ("python_requires", "python")):
            self.put(field, text(key))
        if not self.lists["classifiers"]:
            for name in texts(setup.get("classifiers")):
                self.add("classifiers", name)
        if not self.lists["keywords"]:
            self.add_keywords(text("keywords") or ",".join(texts(setup.get("keywords"))))
        urls = bare(setup.get("project_urls"))
        for label, url in urls.items() if isinstance(urls, dict) else []:
            self.add_url(label, bare(url))
        if not self.lists["requires"]:
            value = bare(setup.get("install_requires"))
            found = value.splitlines() if isinstance(value, str) else texts(value)
            extras = bare(setup.get("extras_require"))
            extras = {name: texts(inner) for name, inner in extras.items()} if isinstance(extras, dict) else {}
            self.add_all([line for line in found if not line.lstrip().startswith(("#", "-"))],
                         extras if not self.extras else {})
            if len(found) < len(items(value)) and not isinstance(value, str):
                self.draft.note(("metadata", "requires"), "setup.py names more in a way that reading does not show")

    def read(self, setup):
        """setup: the arguments of setup()."""
        self.read_pkg_info(self.tree.read("PKG-INFO"))
        for path in self.tree.files:
            if path.endswith(".egg-info/requires.txt") and not self.lists["requires"]:
                self.read_requires_txt(self.tree.read(path))
        self.read_pyproject()
        self.read_setup_cfg()
        self.read_setup(setup)

    # Values of the recipe.

    def license_files(self):
        named = [path for path in self.lists["license_files"] if path in self.tree.files]
        if named:
            return named
        found = [path for path in self.tree.files if "/" not in path and
                 path.startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS"))]
        if found:
            self.draft.note(("metadata", "license_files"), "by their names")
        return found

    def needs_torch(self):
        """Upstream's own range of torch is a range of the recipe."""
        for text in list(self.lists["requires"]):
            found = re.fullmatch(r"torch\s*(?:\(([^;()]*)\)|([~=!<>][^;@()]*))", text)
            if found:
                self.lists["requires"] = list(dict.fromkeys(
                    "torch" if other == text else other for other in self.lists["requires"]))
                range_ = found[1] or found[2]
                if is_range(range_):
                    self.draft.note(("requires",), "its own range of torch; cells of other releases are excluded")
                    return re.sub(r"\s", "", range_)
                self.draft.note(("requires",), "its own range of torch cannot be read: %s" % text)
        return None

    def repository(self):
        for url in [self.texts.get("home_page")] + list(self.urls.values()):
            found = re.fullmatch(r"(https://[^/]+/)([^/]+/[^/]+?)(\.git)?/?", url or "")
            if found and found[1] in HOSTS:
                return found[1] + found[2]
        return None

    def write(self):
        texts, lists, note = self.texts, self.lists, self.draft.note
        needs = {"torch": self.needs_torch(), "python": texts.get("python")}
        if needs["python"] and not is_range(needs["python"]):
            needs["python"] = None
        if "summary" not in texts:
            note(("metadata", "summary"), "PKG-INFO has none")
        if self.long_license and "license" not in texts:
            note(("metadata",), "PKG-INFO holds the licence's whole text; \"license\": \"...\" would name it")
        if "license_expression" in texts:  # PEP 639: an expression stands alone
            texts.pop("license", None)
            lists["classifiers"] = [name for name in lists["classifiers"] if not name.startswith("License ::")]
        if not lists["requires"]:
            lists["requires"].append("torch")
            note(("metadata", "requires"), "the sources name no requirement")
        files = self.license_files()
        readme = next((name for name in ("README.md", "README.rst", "README.txt", "README") if name in self.tree.files),
                      None)
        self.draft.recipe["metadata"] = {
            "summary": texts.get("summary", "..."), "home_page": texts.get("home_page"), "project_urls": self.urls or None,
            "author": texts.get("author"), "author_email": texts.get("author_email"), "license": texts.get("license"),
            "license_expression": texts.get("license_expression"), "license_files": files or None,
            "classifiers": lists["classifiers"] or None, "keywords": lists["keywords"] or None,
            "requires": lists["requires"], "extras": self.extras or None, "description_file": readme}
        needs = {key: value for key, value in needs.items() if value}
        self.draft.recipe["requires"] = needs or None
