"""setup_truth.py FOLDER - runs FOLDER/setup.py beside a torch that is made up, and prints as JSON what it passed

Modules, sources, folders and flags of every Extension, packages and requirements as setuptools makes them of the
arguments and of pyproject.toml and setup.cfg. It is run for what a draft, which runs nothing, is held against:
only on source distributions that somebody chose. torch is 2.7.1 with CUDA 12.8; no program is started.
"""
import json
import os
import re
import runpy
import subprocess
import sys
import types

import setuptools
from setuptools.dist import Distribution

EXTENSIONS, FOUND = [], {}


def module(name, **values):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(values)
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, made)
    return made


def extension(callee):
    def make(name, sources, *args, **kwargs):
        flags = kwargs.pop("extra_compile_args", None) or []
        kwargs.pop("dlink", None)
        made = setuptools.Extension(name, [str(source) for source in sources], *args, **kwargs)
        made.flags = flags if isinstance(flags, dict) else {"cxx": flags, "nvcc": flags}
        made.callee = callee
        return made
    return make


class BuildExtension:
    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def with_options(cls, **options):
        class Made(cls):
            pass
        Made.options = options
        return Made


def started(words, *args, **kwargs):
    text = "Cuda compilation tools, release 12.8, V12.8.93\nBuild cuda_12.8.r12.8/x\n"
    words = words if isinstance(words, str) else " ".join(map(str, words))
    if "nvcc" not in words and not words.startswith("git"):
        raise FileNotFoundError(words)
    plain = kwargs.get("text") or kwargs.get("universal_newlines") or kwargs.get("encoding")
    return text if plain else text.encode()


def setup(**given):
    distribution = Distribution(given)
    distribution.parse_config_files()
    try:
        distribution.set_defaults(name=False) if hasattr(distribution, "set_defaults") else None
    except Exception:
        pass
    FOUND["packages"] = sorted(distribution.packages or [])
    FOUND["py_modules"] = sorted(distribution.py_modules or [])
    FOUND["package_dir"] = distribution.package_dir or {}
    FOUND["install_requires"] = sorted(map(str, distribution.install_requires or []))
    for made in distribution.ext_modules or []:
        flags = getattr(made, "flags", {})
        EXTENSIONS.append({
            "callee": getattr(made, "callee", type(made).__name__), "name": made.name, "sources": list(map(str, made.sources)),
            "include": list(map(str, made.include_dirs)), "cxx": list(map(str, flags.get("cxx", []))),
            "nvcc": list(map(str, flags.get("nvcc", []))), "link": list(made.extra_link_args),
            "libraries": list(made.libraries), "macros": [list(pair) for pair in made.define_macros],
            "undef": list(made.undef_macros)})


class Version(str):
    """As torch.torch_version.TorchVersion: compares as versions do."""
    def __lt__(self, other):
        from packaging.version import Version as Real
        return Real(str(self)) < Real(str(other))

    def __ge__(self, other):
        return not self < other

    def __gt__(self, other):
        return self >= other and str(self) != str(other)


class Yes:
    """Whatever is asked of it is there, and true."""
    def __getattr__(self, name):
        return self

    def __call__(self, *args):
        return True


def make_torch():
    torch = module("torch", __version__=Version("2.7.1+cu128"), __file__="/made/up/torch/__init__.py", has_cuda=True)
    torch.__path__ = ["/made/up/torch"]
    module("torch.version", cuda="12.8", hip=None)
    cuda = module("torch.cuda", is_available=lambda: True, device_count=lambda: 1)
    cuda.get_device_capability = lambda *device: (9, 0)
    cuda.current_device = lambda: 0
    cuda.get_device_name = lambda *device: "NVIDIA H100"
    cuda.get_arch_list = lambda: ["sm_90"]
    cuda.get_device_properties = lambda *device: types.SimpleNamespace(major=9, minor=0)
    module("torch.__config__", parallel_info=lambda: "ATen parallel backend: OpenMP\nOpenMP found")
    module("torch._C", _GLIBCXX_USE_CXX11_ABI=True, parse_schema=lambda text: text)
    module("torch.ops", aten=Yes())
    torch.nn = torch.autograd = types.SimpleNamespace(Module=object, Function=object)
    torch.float16 = torch.bfloat16 = torch.float32 = torch.Tensor = torch.dtype = torch.device = Yes()
    module("wheel")
    module("wheel.bdist_wheel", bdist_wheel=type("bdist_wheel", (), {}))
    module("torch.backends")
    module("torch.backends.cuda", is_built=lambda: True, is_flash_attention_available=lambda: True)
    torch.compiled_with_cxx11_abi = lambda: True
    module("torch.utils")
    module("torch.utils.cpp_extension", CUDA_HOME="/usr/local/cuda", ROCM_HOME=None, HIP_HOME=None, IS_HIP_EXTENSION=False, IS_WINDOWS=False,
           CUDAExtension=extension("CUDAExtension"), CppExtension=extension("CppExtension"), BuildExtension=BuildExtension,
           SyclExtension=extension("SyclExtension"), include_paths=lambda *device, **named: ["/made/up/include"],
           library_paths=lambda *device: [], _get_cuda_arch_flags=lambda *flags: [], COMMON_NVCC_FLAGS=[], CUDNN_HOME=None,
           TORCH_LIB_PATH="/made/up/lib", _find_cuda_home=lambda: "/usr/local/cuda")


def before_pep_639():
    """pyproject.toml, whose licence is an expression, as setuptools before 77 reads it: LICENSE is found by itself."""
    if int(setuptools.__version__.split(".")[0]) < 77 and os.path.exists("pyproject.toml"):
        with open("pyproject.toml", "r+", encoding="utf-8") as file:
            text = re.sub(r'(?m)^license = (".*")$', r"license = {text = \1}", file.read())
            file.seek(0)
            file.truncate()
            file.write(re.sub(r"(?m)^license-files = \[.*\]\n", "", text))


make_torch()
sys.path.append(os.path.join(os.path.dirname(setuptools.__file__), "_vendor"))  # packaging, where it is not installed
os.chdir(sys.argv[1])
sys.path.insert(0, sys.argv[1])
before_pep_639()
setuptools.setup = setup
for name in ("check_output", "check_call", "run", "call", "Popen"):
    setattr(subprocess, name, started)
out, sys.stdout = sys.stdout, sys.stderr
sys.argv = ["setup.py", "bdist_wheel"]
try:
    runpy.run_path("setup.py", run_name="__main__")
except BaseException as fault:
    FOUND["error"] = "%s: %s" % (type(fault).__name__, str(fault)[:300])
FOUND["extensions"] = EXTENSIONS
print(json.dumps(FOUND), file=out)
