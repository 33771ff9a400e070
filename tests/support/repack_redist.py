#!/usr/bin/env python3
"""Packs an assembled kit as NVIDIA packs a toolkit: repack_redist.py KIT DEST LABEL NVCC [VARIANT]

DEST/redistrib_LABEL.json and an archive for each component, with one folder on top, lib/ for lib64/,
libraries under their full version with links, split since 13.0. With VARIANT ("12.4") the
math libraries lie one level deeper, by cuda_variant.
"""

import hashlib
import io
import json
import lzma
import os
import sys
import tarfile

KIT, DEST, LABEL, NVCC = sys.argv[1:5]
VARIANT = sys.argv[5] if len(sys.argv) > 5 else None
SPLIT = int(LABEL.split(".")[0]) >= 13
MATH = {"libcublas": "cublas", "libcusparse": "cusparse", "libcusolver": "cusolver", "libcurand": "curand"}
CCCL = ("thrust/", "cub/", "cuda/", "nv/", "cccl/")


def component_of(path):
    """(component, path in its archive), or None for what no archive has."""
    folder, _, name = path.partition("/")
    if path == "bin/nvcc.profile" or folder in ("bin", "nvvm"):
        if folder == "nvvm" and SPLIT:
            return "libnvvm", path
        other = {"bin/cuobjdump": "cuda_cuobjdump", "bin/nvdisasm": "cuda_nvdisasm", "bin/cu++filt": "cuda_cuxxfilt"}
        return other.get(path, "cuda_nvcc"), path
    if folder == "lib64":
        return "cuda_cudart", "lib/" + name
    if name.startswith(CCCL):
        return "cccl" if LABEL >= "13.3" else "cuda_cccl", path
    for component, start in MATH.items():
        if name.startswith(start):
            return component, path
    if name.startswith("crt/"):
        return "cuda_crt" if SPLIT else "cuda_nvcc", path
    return "cuda_cudart", path


def members():
    """component -> [(path, file)]"""
    found = {}
    for folder, _, names in os.walk(KIT):
        for name in names:
            full = os.path.join(folder, name)
            if not os.path.islink(full):
                component, path = component_of(os.path.relpath(full, KIT))
                found.setdefault(component, []).append((path, full))
    return found


def add(archive, path, data=None, link=None):
    info = tarfile.TarInfo(path)
    info.mode = 0o755 if "/bin/" in path else 0o644
    if link:
        info.type, info.linkname = tarfile.SYMTYPE, link
        archive.addfile(info)
    else:
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))


def pack(name, files):
    stem = "%s-linux-x86_64-%s-archive" % (name, NVCC)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add(archive, stem + "/LICENSE", b"see NVIDIA's\n")
        for path, full in sorted(files):
            with open(full, "rb") as file:
                data = file.read()
            if path.startswith("lib/libcudart.so."):
                add(archive, "%s/%s.1.2" % (stem, path), data)
                add(archive, "%s/%s" % (stem, path), link=os.path.basename(path) + ".1.2")
                add(archive, stem + "/lib/libcudart.so", link=os.path.basename(path))
            else:
                add(archive, "%s/%s" % (stem, path), data)
    data = lzma.compress(out.getvalue(), preset=0)
    path = "%s/linux-x86_64/%s.tar.xz" % (name, stem)
    os.makedirs(os.path.join(DEST, os.path.dirname(path)), exist_ok=True)
    with open(os.path.join(DEST, path), "wb") as file:
        file.write(data)
    entry = {"relative_path": path, "sha256": hashlib.sha256(data).hexdigest(), "md5": "", "size": str(len(data))}
    if VARIANT and name in MATH:
        entry = {"cuda11": dict(entry, sha256="0" * 64), "cuda" + VARIANT: entry}
    about = {"name": name, "license": "CUDA Toolkit", "license_path": name + "/LICENSE.txt", "version": NVCC}
    return dict(about, **{"linux-x86_64": entry})


def main():
    manifest = {"release_date": "2024-04-02", "release_label": LABEL, "release_product": "cuda"}
    for name, files in sorted(members().items()):
        manifest[name] = pack(name, files)
    with open(os.path.join(DEST, "redistrib_%s.json" % LABEL), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)


main()
