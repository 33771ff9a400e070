"""modules.py - the extension modules of a draft: from the calls in setup.py, else from what can be compiled"""
import posixpath
import re

from flags import Flags
from follow import CUDA
from headers import Headers
from tree import is_inside, is_own, kind_of, matches

MANY = 12    # sources of one kind in one folder become a pattern
MOST = 1000  # sources of a module
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.A)
# As nvcc's newest toolkits know them: what sources that name an older one can mostly be compiled for as well.
ARCHS = ("5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3",
         "11.0", "12.0", "12.1")
LISTS = ("include", "c_flags", "cxx_flags", "nvcc_flags", "link_flags")


def words(value):
    """["-O3", {"maybe": "-G"}] as pairs."""
    return [(word["maybe"], True) if isinstance(word, dict) else (word, False) for word in value]


class Modules:
    def __init__(self, tree, draft):
        self.tree, self.draft, self.archs, self.cxx_std, self.found = tree, draft, [], 0, []
        self.started = []  # modules that Python can import; others are for torch.ops.load_library

    def note(self, index, key, text):
        self.draft.note(("extensions", index, key), text)

    def note_list(self, index, key, what, found):
        if found:
            self.note(index, key, "%s: %s" % (what, self.draft.list(found)))

    # Sources.

    def sources(self, call):
        """Existing sources, those of them under a condition, and missing sources."""
        there, unsure, missing = [], [], []
        for path, conditional in words(call["sources"])[:MOST]:
            path = posixpath.normpath(path)
            if not kind_of(path) or not is_inside(path) or "*" in path or "?" in path:
                continue
            if path not in self.tree.files:  # a name that setup.py joins to what it found out running
                same = [own for own in self.tree.compiled() if posixpath.basename(own) == posixpath.basename(path)]
                if len(same) != 1:
                    missing += [path] if not conditional else []
                    continue
                path = same[0]
            there.append(path)
            unsure += [path] if conditional else []
        return list(dict.fromkeys(there)), list(dict.fromkeys(unsure)), list(dict.fromkeys(missing))

    def patterns(self, sources):
        """MANY files of one folder and ending as a pattern, where it matches no other file."""
        written, found = set(), []
        for path in sources:
            folder, ending = posixpath.dirname(path), posixpath.splitext(path)[1]
            glob = posixpath.join(folder, "*" + ending)
            if glob in written:
                continue
            all_, ours = matches(glob, self.tree.files), [own for own in sources if own in set(matches(glob, sources))]
            special = set(path) & set("*?[\\")
            if not special and len(ours) >= MANY and len(all_) == len(ours) and \
                    not any(self.tree.is_link(own) for own in ours):
                written.add(glob)
                found.append({"glob": glob, "count": len(ours)})
            else:
                found.append(path)
        return found

    # One module.

    def name(self, call, index, sources):
        if call["name"] and NAME.fullmatch(call["name"]):
            return call["name"]
        for path in sources:
            made = re.search(r"PYBIND11_MODULE\(\s*([\w.]+)", self.tree.read(path), re.A)
            if made and NAME.fullmatch(made[1]) and made[1] != "TORCH_EXTENSION_NAME":
                self.note(index, "module", "PYBIND11_MODULE says so, setup.py does not")
                return made[1]
        package = re.sub(r"[-.]", "_", self.draft.order["distribution"])
        like = call.get("like")
        self.note(index, "module", "setup.py calls it %s; where a loop makes several, write them all" % like if like else
                  "a guess: setup.py does not say it in a way that reading shows")
        return ("_" if package[:1].isdigit() else "") + package + "._C"

    def include(self, call, index, module, sources):
        given, gone = [], []
        for path, conditional in words(call["include"])[:MOST]:
            path = posixpath.normpath(path)
            if (path == "." or is_inside(path)) and self.tree.has_folder(path):
                given.append(path)
            elif is_inside(path) and not conditional:
                gone.append(path)
        given = list(dict.fromkeys(given))
        headers = Headers(self.tree, sources, given)
        binding, why = headers.binding()
        if not sources:
            binding, why = "pybind", "the usual kind; none of its sources is there to be looked at"
        self.note(index, "binding", why)
        self.note_list(index, "include", "not said by setup.py, needed by #include lines", headers.include)
        self.note_list(index, "include", "setup.py names folders that do not exist", list(dict.fromkeys(gone)))
        own = [name for name in headers.missing if name.endswith(".cuh")]  # neither the toolkit's nor the system's
        self.note_list(index, "sources", "headers in quotes that are not in the sources",
                       [name for name in headers.missing if name not in own])
        if own:
            self.draft.lost("these sources lack headers of %s: %s" % (module, self.draft.list(own)))
        if not headers.is_loaded():
            self.started.append(module)
        return binding, list(dict.fromkeys(given + headers.include))

    def flags(self, index, key, given):
        flags = Flags(words(given), key)
        self.note_list(index, key, "setup.py adds to %s under a condition" % key, flags.conditional)
        self.note_list(index, key, "words of setup.py that are not flags, left out", flags.strays)
        self.note_list(index, key, "setup.py computes words that reading does not show", flags.unread)
        for why, left_out in flags.unfit.items():
            self.note_list(index, key, why, left_out)
        self.archs += flags.archs
        self.cxx_std = max(self.cxx_std, flags.cxx_std)
        return flags.flags

    def add(self, call):
        index = len(self.found)
        sources, unsure, missing = self.sources(call)
        if not sources and not missing:
            if call["callee"] == "Extension":  # somebody else builds it, perhaps CMake
                return
            if call.get("none"):
                self.draft.lost("%s has no sources here" % (call["name"] or call["like"] or "a module"))
                return
            sources = self.tree.compiled()[:MOST]
            if call["callee"] and sources:
                self.note(index, "sources",
                          "everything that can be compiled; which of it is meant only running setup.py tells")
        if not sources and not missing:
            return
        self.draft.missing += len(missing)
        self.note_list(index, "sources", "named by setup.py, not in these sources", missing)
        self.note_list(index, "sources", "only under a condition of setup.py", unsure)
        if call.get("unread") and call["sources"]:
            self.note(index, "sources", "setup.py computes some of them in a way that reading does not show")
        if call["maybe"]:
            self.draft.note(("extensions", index), "setup.py makes this module only under a condition")
        made = {"module": self.name(call, index, sources)}
        made["binding"], include = self.include(call, index, made["module"], sources)
        usual = ".cpython" if made["binding"] == "pybind" else ".so"
        made["suffix"] = call["suffix"] if call["suffix"] and call["suffix"] != usual else None
        if made["suffix"] == ".abi3.so":
            self.note(index, "suffix", "setup.py asks for the limited API")
        made["sources"] = self.patterns(sources) + missing
        kinds = {kind_of(path) == "cuda" for path in sources + missing}
        made["include"] = include or None
        made["cxx_flags"] = (self.flags(index, "cxx_flags", call["cxx"]) if False in kinds else []) or None
        made["nvcc_flags"] = (self.flags(index, "nvcc_flags", call["nvcc"]) if True in kinds else []) or None
        made["link_flags"] = self.flags(index, "link_flags", call["link"]) or None
        self.found.append(made)

    # Members that all modules share.

    def has_kind(self, module, cuda):
        return any((source["glob"] if isinstance(source, dict) else source).endswith(".cu") == cuda
                   for source in module["sources"])

    def shared(self):
        """Moves the common beginning of all lists into every_extension."""
        binding = {module["binding"] for module in self.found}
        if len(self.found) < 2 or len(binding) > 1:
            return None
        every = {"binding": binding.pop(), "suffix": self.found[0]["suffix"]}
        if any(module["suffix"] != every["suffix"] for module in self.found):
            every["suffix"] = None
        for key in LISTS:
            wanting = [module for module in self.found if key not in ("cxx_flags", "nvcc_flags") or
                       self.has_kind(module, key == "nvcc_flags")]
            lists = [module.get(key) or [] for module in wanting] or [[]]
            count = 0
            while all(len(own) > count and own[count] == lists[0][count] for own in lists):
                count += 1
            every[key] = lists[0][:count] or None
        for module in self.found:
            module["binding"] = None
            module["suffix"] = None if every["suffix"] else module["suffix"]
            for key in LISTS:
                if every[key] and module.get(key):
                    module[key] = module[key][len(every[key]):] or None
        self.move_notes()
        return every

    def move_notes(self):
        """Writes a note once if every module has it."""
        count, kept = len(self.found), []
        seen = {}
        for key, text in self.draft.notes:
            if key[0] == "extensions" and len(key) == 3 and key[2] not in ("sources", "module"):
                seen.setdefault((key[2], text), []).append(key)
        for key, text in self.draft.notes:
            same = seen.get((key[2], text), []) if key[0] == "extensions" and len(key) == 3 else []
            if len(same) < count:
                kept.append((key, text))
            elif key == same[0]:
                kept.append((("every_extension", key[2]), text))
        self.draft.notes = kept

    def arch_list(self):
        """From the oldest that setup.py names; those with a suffix alone as they are."""
        plain = sorted({"%d.%d" % divmod(int(number), 10) for number in self.archs if number.isdigit()}, key=float)
        special = sorted({number[:-2] + "." + number[-2:-1] for number in self.archs if not number.isdigit()}, key=float)
        if not plain and not special:
            return None
        if plain and not [arch for arch in special if float(arch) < float(plain[0])]:
            found = [arch for arch in ARCHS if float(arch) >= float(plain[0])]
            self.draft.note(("archs",), "setup.py names %s; newer ones are compiled mostly without a change" %
                            self.draft.list(sorted(set(plain + special), key=float), 20))
            return found
        self.draft.note(("archs",), "those that setup.py names; it may be that the sources compile for more")
        return sorted(set(plain + special), key=float)

    def write(self, setup, backend):
        """setup: what reading setup.py gave; None when there is none, or it could not be read."""
        recipe, draft = self.draft.recipe, self.draft
        calls = setup.extensions if setup else []
        absent = [pattern for pattern in (setup.unmatched if setup else []) if not pattern.endswith(".so")]
        if absent:
            draft.note(("extensions",), "setup.py looks for files that do not exist: %s" % draft.list(absent))
        if calls and setup.names("COMMON_NVCC_FLAGS"):
            draft.note(("extensions",), "setup.py changes the flags that torch gives nvcc (COMMON_NVCC_FLAGS); \"nvcc_flags\" can "
                       "undo them: -U__CUDA_NO_HALF_OPERATORS__")
        if calls and setup.asks_nvcc:
            draft.note(("extensions",), "setup.py asks nvcc for its version: this is what it does with CUDA %s" % CUDA)
        for call in calls:
            self.add(call)
        guessed = not calls and not backend and not (setup and setup.setup) and self.tree.compiled()
        if guessed:
            self.add({"callee": "", "name": None, "like": None, "maybe": False, "suffix": None, "sources": [],
                      "include": [], "cxx": [], "nvcc": [], "link": []})
        if self.found:
            draft.note(("extensions",), "setup.py names no module: this is what can be compiled" if guessed else
                       "read off setup.py")
        recipe["every_extension"] = self.shared()
        recipe["extensions"] = self.found or None
        return self.found

    def unused(self):
        """Own .cu files that no module compiles, where there is none at all."""
        cuda = [path for path in self.tree.compiled() if kind_of(path) == "cuda" and is_own(path)]
        return [] if any(self.has_kind(module, True) for module in self.found) else cuda
