#!/usr/bin/env python3
"""Prints the command lines that torch's own BuildExtension would use.

    buildext_oracle.py VERSION CACHE ABI PYBIND_ABI [stable]

Takes the Python files of a torch release out of its wheel by ranges, runs that release's own
torch/utils/cpp_extension.py against a stand-in for the compiled part of torch, and prints as JSON
the words for a .cpp and a .cu file, the include folders and the libraries. It does not compile.
"""
import contextlib
import io
import json
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import types
import urllib.request
import zlib

import setuptools  # before anything that imports distutils


def default_index():
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"].rstrip("/")
    # In a process of its own: importing pip takes setuptools' distutils away.
    question = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    return subprocess.check_output([sys.executable, "-c", question], text=True).strip()


def get(url, first=None, last=None):
    headers = {} if first is None else {"Range": f"bytes={first}-{last}"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as reply:
        return reply.read(), reply.headers


def wheel_url(version):
    page = get(default_index() + "/torch/")[0].decode()
    wanted = re.compile(rf"/torch-{re.escape(version)}-cp311-cp311-\w*x86_64\.whl$")
    for href in re.findall(r'href="([^"#]+)', page):
        if wanted.search(href) and "linux" in href:
            return href
    sys.exit(f"no wheel of torch {version} on the index")


def directory_of(url):
    """Entries of the central directory: name -> (offset, method, packed size)."""
    tail, headers = get(url, 0, 0)
    size = int(headers["Content-Range"].split("/")[1])
    start = max(0, size - (2 << 20))
    tail = get(url, start, size - 1)[0]
    end = tail.rindex(b"PK\5\6")
    length, offset = struct.unpack("<II", tail[end + 12 : end + 20])
    central = tail[offset - start : offset - start + length]
    entries, at = {}, 0
    while central[at : at + 4] == b"PK\1\2":
        method, = struct.unpack("<H", central[at + 10 : at + 12])
        packed, = struct.unpack("<I", central[at + 20 : at + 24])
        name_len, extra, comment = struct.unpack("<HHH", central[at + 28 : at + 34])
        where, = struct.unpack("<I", central[at + 42 : at + 46])
        name = central[at + 46 : at + 46 + name_len].decode()
        entries[name] = (where, method, packed)
        at += 46 + name_len + extra + comment
    return entries


def extract(version, folder):
    """The few Python files that cpp_extension.py imports."""
    url = wheel_url(version)
    wanted = re.compile(
        r"torch/(version|torch_version|_version|utils/(cpp_extension|_cpp_extension_versioner|file_baton"
        r"|hipify/\w+)|_vendor/.*|utils/hipify/.*)\.py$"
    )
    for name, (offset, method, packed) in directory_of(url).items():
        if not wanted.match(name):
            continue
        data = get(url, offset, offset + 30 + len(name) + 200 + packed)[0]
        name_len, extra = struct.unpack("<HH", data[26:30])
        data = data[30 + name_len + extra :][:packed]
        text = zlib.decompress(data, -15) if method == 8 else data
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text)


def stand_in(root, abi, pybind_abi):
    """Modules that cpp_extension.py imports and that exist only where torch is compiled."""

    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, made)
        return made

    torch = module("torch", __file__=root + "/torch/__init__.py")
    torch.__path__ = [root + "/torch"]
    module("torch.utils").__path__ = [root + "/torch/utils"]
    compiled = {
        "_PYBIND11_COMPILER_TYPE": "_gcc",
        "_PYBIND11_STDLIB": "_libstdcpp",
        "_PYBIND11_BUILD_ABI": pybind_abi,
        "_GLIBCXX_USE_CXX11_ABI": bool(abi),
    }
    module("torch._C", **compiled)
    import torch.version

    torch.__version__ = torch.version.__version__
    torch.version = sys.modules["torch.version"]
    module("torch.cuda", _is_compiled=lambda: True, is_available=lambda: False, device_count=lambda: 0)
    module("torch.xpu", _is_compiled=lambda: False, get_arch_list=lambda: [])
    module("torch.backends")
    module("torch.backends.mps", is_built=lambda: False)
    module("torch._appdirs", user_cache_dir=lambda **_: root)
    module(
        "torch._utils_internal",
        get_file_path=lambda *parts: os.path.join(root, *parts),
    )
    module("torch.utils._filelock", FileLock=object)
    try:
        import typing_extensions  # noqa: F401
    except ImportError:
        module("typing_extensions", deprecated=lambda *a, **k: (lambda f: f))


def run_extension(root, cuda_home, stable):
    """Runs BuildExtension over one .cpp and one .cu; returns the ninja text and the extension."""
    os.environ["CUDA_HOME"] = cuda_home
    os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0;9.0+PTX"
    os.environ["TORCH_DONT_CHECK_COMPILER_ABI"] = "1"
    os.environ["TORCH_NO_COMPILER_WRAPPER"] = "1"
    for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS"):
        os.environ.pop(name, None)
    from torch.utils import cpp_extension as ce

    ce.is_ninja_available = lambda: True
    ce.verify_ninja_availability = lambda: None
    ce._check_cuda_version = lambda *a: None
    ninja = {}

    def run_ninja(build_directory, *a, **k):
        with open(os.path.join(build_directory, "build.ninja")) as file:
            ninja["text"] = file.read()

    ce._run_ninja_build = run_ninja
    import distutils.sysconfig

    from setuptools import Distribution

    # flags.c starts from the words of CPython's own build; a distribution's Python has further ones.
    distutils.sysconfig.get_config_vars().update(
        CC="gcc", CXX="g++", CFLAGS="-Wsign-compare -DNDEBUG -g -fwrapv -O3 -Wall", CCSHARED="-fPIC")
    work = tempfile.mkdtemp()
    os.chdir(work)
    for name in ("a.cpp", "k.cu"):
        open(name, "w").close()
    flags = {"cxx": ["-O2", "-DOWN_CXX"], "nvcc": ["-O3", "-DOWN_NVCC"]}
    kind = {"py_limited_api": True} if stable else {}
    extension = ce.CUDAExtension(
        "pkg._C", ["a.cpp", "k.cu"], include_dirs=[work + "/inc"], extra_compile_args=flags, **kind
    )
    distribution = Distribution({"name": "pkg", "ext_modules": [extension]})
    build = ce.BuildExtension(distribution)
    build.build_temp, build.build_lib = work + "/t", work + "/l"
    build.ensure_finalized()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        build.run()  # the link fails: nothing was compiled
    return ninja["text"], extension, work


def words_of(ninja, name):
    line = re.search(rf"^{name} = (.*)$", ninja, re.M)
    return shlex.split(line[1].replace("$:", ":").replace("$$", "$")) if line else []


def ask(version, cache, abi, pybind_abi, stable):
    root = os.path.join(cache, version)
    if not os.path.exists(root + "/torch/utils/cpp_extension.py"):
        extract(version, root)
    stand_in(root, abi, pybind_abi)
    cuda_home = "/nowhere/cuda"
    ninja, extension, work = run_extension(root, cuda_home, stable)

    def canonical(word):
        word = word.replace(root + "/torch", "torch").replace(cuda_home, "cuda").replace(work, "src")
        return word

    result = {
        "cxx": [canonical(w) for w in words_of(ninja, "post_cflags")],
        "cxx_before": [canonical(w) for w in words_of(ninja, "cflags")],
        "nvcc": [canonical(w) for w in words_of(ninja, "cuda_post_cflags")],
        "nvcc_before": [canonical(w) for w in words_of(ninja, "cuda_cflags")],
        "libraries": list(extension.libraries),
    }
    json.dump(result, sys.stdout, indent=1)


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit("usage: buildext_oracle.py VERSION CACHE ABI PYBIND_ABI [stable]")
    ask(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], len(sys.argv) == 6)
