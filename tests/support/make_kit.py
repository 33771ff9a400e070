#!/usr/bin/env python3
"""Makes the archives of a very small CUDA toolkit, and the definition of their kit: make_kit.py DIR NAME=VALUE...

    DIR/files/*.whl        wheels for an index          DIR/kit.json            the definition, by them
    DIR/debian/pool/...    a Debian package             DIR/redist/             NVIDIA's way: manifests
                                                        and archives

Its nvcc is a script that answers --version and --dryrun. Faults:

    conflict=1    two archives differ in one file                deb=bad  a wrong package is pinned
    record=bad    a wrong RECORD is pinned                       lack=FILE  a header is missing
    lie=1         a member read by range differs from RECORD     top=NAME  of all redist archives
    nvcc=12.4.131 the release that nvcc prints

Standard library and binutils only. The same arguments give the same bytes.
"""

import base64
import hashlib
import io
import json
import lzma
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile

DIR = sys.argv[1]
args = dict(conflict="", record="", deb="", lie="", lack="", nvcc="12.4.131", top="")
args.update(arg.split("=", 1) for arg in sys.argv[2:])

NVCC = """#!/bin/sh
case "$1" in
--version) echo "Cuda compilation tools, release %s, V%s" ;;
--dryrun) root=$(cd "$(dirname "$0")/.." && pwd)
	echo "#\\$ _HERE_=$root/bin"
	echo "#\\$ INCLUDES=\\"-I$root/bin/../include\\"  "
	[ ! -d "$root/include/cccl" ] || echo "#\\$ SYSTEM_INCLUDES=\\"-isystem\\" \\"$root/bin/../include/cccl\\"  " ;;
esac
"""
HOST_CONFIG = """#if defined(__GNUC__)
#if __GNUC__ > 13
#error -- unsupported GNU version! gcc versions later than 13 are not supported!
#endif
#endif
#if defined(__clang__)
#if (__clang_major__ >= 18) || (__clang_major__ < 3)
#error -- unsupported clang version! clang version must be less than 18 and greater than 3.2 .
#endif
#endif
"""


def runtime(soname):
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "x.o"), os.path.join(folder, "x.so")
        subprocess.run(["as", "--64", "-o", source], input=b".globl cudaMalloc\ncudaMalloc: ret\n", check=True)
        subprocess.run(["ld", "-shared", "-o", out, "-soname", soname, source], check=True)
        with open(out, "rb") as file:
            return file.read()


def put(path, data):
    path = os.path.join(DIR, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# ---- the toolkit, by kinds of files

def minor(release):
    return ".".join(release.split(".")[:2])


def tools(release):
    return {"nvcc": (NVCC % (minor(release), release)).encode(), "nvcc.profile": b"# NVIDIA's own\n",
            "ptxas": b"ptxas " + release.encode(), "fatbinary": b"fatbinary", "cudafe++": b"cudafe++",
            "nvlink": b"nvlink", "bin2c": b"bin2c", "crt/link.stub": b"stub"}


def version_number(release):
    major, small = release.split(".")[:2]
    return int(major) * 1000 + int(small) * 10


def runtime_headers(release):
    return {"cuda_runtime.h": b"#include <cuda_runtime_api.h>\n",
            "cuda_runtime_api.h": b"#define CUDART_VERSION  %d\n" % version_number(release)}


MATH = {"libcublas": "cublas_v2.h", "libcusparse": "cusparse.h", "libcusolver": "cusolverDn.h",
        "libcurand": "curand.h"}


def without_lacking(files):
    return {name: data for name, data in files.items() if os.path.basename(name) != args["lack"]}


# ---- wheels

def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def wheel(package, version, files, pad=0, lie=False, **more):
    """Writes a wheel and returns its entry in the definition, without the map."""
    stem = "%s-%s" % (package.replace("-", "_"), version)
    name = stem + "-py3-none-manylinux2014_x86_64.whl"
    files = dict(without_lacking(files), **{"nvidia/__init__.py": b"# %s\n" % package.encode()})
    if pad:
        files["nvidia/padding.bin"] = random.Random(7).randbytes(pad)
    text = "".join(record_line(n, b"another" if lie and n.endswith("cublas_v2.h") else d)
                   for n, d in files.items())
    record = stem + ".dist-info/RECORD"
    text += record + ",,\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, data in list(files.items()) + [(record, text.encode())]:
            info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100744 << 16  # as wheels of CUDA 13 have it
            archive.writestr(info, data)
    put("files/" + name, out.getvalue())
    pin = sha256(b"another" if args["record"] == "bad" and more.get("by_range") else text.encode())
    return dict(index=package, version=version, file=name, sha256=sha256(out.getvalue()),
                size=len(out.getvalue()), record=record, record_sha256=pin, **more)


# ---- tar archives and Debian packages

def tar(files, links=(), prefix=""):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(prefix + name)
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(prefix + name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return lzma.compress(out.getvalue(), preset=0)


def member(name, data):
    head = "%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, "100644", len(data))
    return head.encode() + data + b"\n" * (len(data) & 1)


def debian(release):
    lib = "usr/lib/nvidia-cuda-toolkit/"
    files = {lib + "bin/cicc": b"cicc", lib + "libdevice/libdevice.10.bc": b"BC", "usr/share/doc/x": b"x"}
    for name, data in tools(release).items():
        if name != "nvcc.profile":
            files[(lib + "bin/" if name[:2] in ("nv", "cr") and name != "nvlink" else "usr/bin/") + name] = data
    files["usr/bin/cuobjdump"] = b"cuobjdump"
    data = tar(files, [(lib + "bin/nvcc.profile", "/etc/nvcc.profile")], "./")
    control = tar({"control": b"Package: nvidia-cuda-toolkit\n"}, prefix="./")
    package = b"!<arch>\n" + member("debian-binary", b"2.0\n") + member("control.tar.xz", control) \
        + member("data.tar.xz", data)
    file = "nvidia-cuda-toolkit_%s_amd64.deb" % release
    pool = "pool/non-free/n/nvidia-cuda-toolkit/" + file
    put("debian/" + pool, package)
    moves = [(lib + "bin/nvcc", "bin/nvcc"), (lib + "bin/crt/", "bin/crt/"), (lib + "bin/cicc", "nvvm/bin/cicc"),
             (lib + "libdevice/", "nvvm/libdevice/")]
    moves += [("usr/bin/" + n, "bin/" + n)
              for n in ("ptxas", "fatbinary", "cudafe++", "nvlink", "bin2c", "cuobjdump")]
    return dict(debian="nvidia-cuda-toolkit", version=release, pool=pool, file=file, size=len(package),
                sha256=sha256(b"another" if args["deb"] == "bad" else package), map=map_of(*moves))


def map_of(*moves):
    return [{"from": f, "to": t} for f, t in moves]


# ---- the definition

def define():
    release = args["nvcc"]
    math = {"nvidia/cublas/include/" + name: b"// %s\n" % name.encode() for name in MATH.values()}
    crt = {"nvidia/cuda_nvcc/include/crt/host_config.h": HOST_CONFIG.encode(),
           "nvidia/cuda_nvcc/include/shared.h": b"shared\n"}
    run = {"nvidia/cuda_runtime/include/" + n: d for n, d in runtime_headers(release).items()}
    run["nvidia/cuda_runtime/lib/libcudart.so.12"] = runtime("libcudart.so.12")
    run["nvidia/cuda_runtime/include/shared.h"] = b"other\n" if args["conflict"] else b"shared\n"
    cccl = {"nvidia/cuda_cccl/include/thrust/version.h": b"// thrust\n", "nvidia/cuda_cccl/include/nv/target": b"//\n"}
    archives = [
        debian(release),
        dict(wheel("nvidia-cuda-nvcc-cu12", "12.4.131", crt, 200000, by_range=True),
             map=map_of(("nvidia/cuda_nvcc/include/", "include/"))),
        dict(wheel("nvidia-cuda-runtime-cu12", "12.4.127", run),
             map=map_of(("nvidia/cuda_runtime/include/", "include/"), ("nvidia/cuda_runtime/lib/", "lib64/"))),
        dict(wheel("nvidia-cuda-cccl-cu12", "12.4.127.post1", cccl),
             map=map_of(("nvidia/cuda_cccl/include/", "include/"))),
        dict(wheel("nvidia-cublas-cu12", "12.4.5.8", math, 200000, bool(args["lie"]), by_range=True),
             map=map_of(("nvidia/cublas/include/", "include/"))),
    ]
    executables = ["bin/nvcc", "bin/ptxas", "bin/cudafe++", "bin/fatbinary", "bin/nvlink", "bin/bin2c",
                   "nvvm/bin/cicc", "bin/cuobjdump"]
    kit = dict(name="cuda-12.4", cuda="12.4", nvcc=release, archives=archives, executables=executables,
               files=[dict(path="bin/nvcc.profile", mode="0644", text="TOP = $(_HERE_)/..\n")],
               links=[dict(path="lib", target="lib64"), dict(path="lib64/libcudart.so", target="libcudart.so.12")])
    put("kit.json", json.dumps(kit, indent=1).encode())


# ---- NVIDIA's way

def component(label, name, version, files, links=(), nested=None):
    stem = "%s-linux-x86_64-%s-archive" % (name, version)
    data = tar(without_lacking(dict(files, LICENSE=b"license\n")), links, (args["top"] or stem) + "/")
    path = "%s/linux-x86_64/%s.tar.xz" % (name, stem)
    put("redist/" + path, data)
    archive = dict(relative_path=path, sha256=sha256(data), md5="0" * 32, size=str(len(data)))
    entry = dict(name=name.upper(), license="CUDA Toolkit", license_path=name + "/LICENSE.txt", version=version)
    if nested:
        entry["cuda_variant"] = ["11", nested]
        entry["linux-x86_64"] = {"cuda11": dict(archive, sha256="0" * 64), "cuda" + nested: archive}
    else:
        entry["linux-x86_64"] = archive
    entry["linux-sbsa"] = dict(archive, sha256="1" * 64)
    return entry


def manifest(label, release, nested=None):
    split = int(release.split(".")[0]) >= 13
    include = lambda files: {"include/" + name: data for name, data in files.items()}
    cccl = "include/cccl/" if split else "include/"
    back_end = {"nvvm/bin/cicc": b"cicc", "nvvm/libdevice/libdevice.10.bc": b"BC", "nvvm/lib64/libnvvm.so": b"-"}
    crt = include({"crt/host_config.h": HOST_CONFIG.encode()})
    nvcc = {"bin/" + name: data for name, data in tools(release).items()}
    soname = "libcudart.so." + release.split(".")[0]
    cudart = dict(include(runtime_headers(release)), **{"lib/" + soname + ".1.2": runtime(soname),
                                                       "lib/stubs/libcuda.so": b"stub"})
    links = [("lib/libcudart.so", soname), ("lib/" + soname, soname + ".1.2")]
    if not split:
        nvcc.update(back_end, **crt)
    m = {"release_date": "2024-04-02", "release_label": label, "release_product": "cuda",
         "cuda_nvcc": component(label, "cuda_nvcc", release, nvcc),
         "cuda_cudart": component(label, "cuda_cudart", release, cudart, links),
         "cccl" if split else "cuda_cccl": component(
             label, "cccl" if split else "cuda_cccl", release,
             {cccl + "thrust/version.h": b"// thrust\n", cccl + "nv/target": b"//\n"})}
    if split:
        m["cuda_crt"] = component(label, "cuda_crt", release, crt)
        m["libnvvm"] = component(label, "libnvvm", release, back_end)
    for name, header in MATH.items():
        m[name] = component(label, name, release, include({header: b"// math\n"}), nested=nested)
    m["windows_only"] = {"name": "x", "version": "1", "windows-x86_64": {"relative_path": "x.zip"}}
    put("redist/redistrib_%s.json" % label, json.dumps(m, indent=1).encode())


define()
manifest("12.4.0", "12.4.99")
manifest("12.4.1", "12.4.131")
manifest("12.4.2", "12.4.140")
manifest("13.0.1", "13.0.88", "13")
