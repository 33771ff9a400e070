"""headers.py - the headers that a module's sources include, and the module's binding

Follows #include lines as they stand. Follows inactive lines as well, so the list may have a folder too many; an #include of a macro is not followed.
"""
import posixpath
import re

from tree import is_aside, is_own

MOST_FILES, MOST_MISSING, LONGEST_NAME = 3000, 8, 300
ENDINGS = (".h", ".hpp", ".cuh", ".hh", ".hxx", ".inl", ".inc", ".ipp")
# torch.h does so with TORCH_API_INCLUDE_EXTENSION_H, which every extension defines.
PYTHON = ("torch/extension.h", "torch/torch.h", "torch/python.h", "Python.h", "pybind11/", "torch/csrc/utils/pybind.h")
TORCH = ("torch/", "ATen/", "c10/")
STABLE = ("torch/csrc/stable/", "torch/headeronly/", "torch/csrc/inductor/aoti_torch/c/")
# In quotes too, they are the toolkit's or the system's.
SYSTEM = frozenset("""cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_bf16.h cuda_fp8.h device_launch_parameters.h
    device_functions.h driver_types.h vector_types.h math_constants.h cublas_v2.h cusparse.h curand_kernel.h assert.h float.h
    limits.h math.h stdint.h stdio.h stdlib.h string.h time.h""".split())
STARTS = re.compile(r"PYBIND11_MODULE|PyMODINIT_FUNC|PyInit_")  # by which Python starts a module
LINE = re.compile(r"""^[ \t]*\#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)""", re.M)


def for_linux(text):
    """Drops the text between #ifdef _WIN32 and its #else or #endif."""
    kept, depth, off = [], 0, 0  # off: the depth at which Windows began
    for line in text.split("\n"):
        word = "".join(line.split())
        if word.startswith("#if"):
            depth += 1
            off = depth if not off and word in ("#ifdef_WIN32", "#ifdefined(_WIN32)", "#ifdef_MSC_VER") else off
        elif off == depth and word.startswith(("#else", "#elif", "#endif")):
            off = 0
        if not off:
            kept.append(line)
        depth -= word.startswith("#endif")
    return "\n".join(kept)


class Headers:
    """include: folders beyond those that were given; missing: quoted names without a file."""
    def __init__(self, tree, sources, given):
        self.tree, self.given, self.include, self.missing = tree, given, [], []
        self.python = self.torch = self.beyond_stable = self.registers = self.starts = False
        self.by_name = {}
        for path in tree.files:
            if path.endswith(ENDINGS) and not is_aside(path):
                self.by_name.setdefault(posixpath.basename(path), []).append(path)
        self.queue = list(dict.fromkeys(sources))
        self.seen = set(self.queue)
        for path in self.queue:  # it grows meanwhile
            text = tree.read(path)
            for quoted, angled in LINE.findall(text):
                self.add(path, quoted or angled, bool(quoted))
            self.python = self.python or "PYBIND11_MODULE" in text
            self.registers = self.registers or "TORCH_LIBRARY" in text or "RegisterOperators" in text
            self.starts = self.starts or (STARTS.search(text) and STARTS.search(for_linux(text)) is not None)

    def add(self, file, name, quoted):
        if len(name) > LONGEST_NAME:
            return
        self.python = self.python or name.startswith(PYTHON)
        self.torch = self.torch or name.startswith(TORCH)
        self.beyond_stable = self.beyond_stable or (name.startswith(TORCH) and not name.startswith(STABLE))
        folders = ([posixpath.dirname(file)] if quoted else []) + self.given + self.include
        path = next((path for path in (posixpath.normpath(posixpath.join(folder, name)) for folder in folders)
                     if path in self.tree.files), None)
        if not path and (quoted or "/" in name):  # <vector> and <cuda_runtime.h> are the system's
            path = self.anywhere(name)
            if path:
                self.include.append(path[:-len(name) - 1])
            elif quoted and "/" not in name and name not in SYSTEM and is_own(file) and \
                    len(self.missing) < MOST_MISSING and name not in self.missing:
                self.missing.append(name)
        if path and path not in self.seen and len(self.queue) < MOST_FILES:
            self.seen.add(path)
            self.queue.append(path)

    def anywhere(self, name):
        """The header that ends in "/name" and lies least deep; its folder is needed then."""
        found = [path for path in self.by_name.get(posixpath.basename(name), [])[:100] if path.endswith("/" + name)]
        return min(found, key=lambda path: (len(path), path), default=None)

    def is_loaded(self):
        """Is it for torch.ops.load_library: operators, and no function by which Python starts it?"""
        return self.registers and not self.starts

    def binding(self):
        if self.python:
            return "pybind", "its sources include headers of Python or pybind11"
        if self.torch and not self.beyond_stable:
            return "stable-abi", "of torch its sources include the stable headers alone"
        if self.torch:
            return "torch-library", "it has TORCH_LIBRARY and includes nothing of Python" if self.registers else \
                "it includes torch and nothing of Python"
        return "c-abi", "its sources include nothing of torch or Python"
