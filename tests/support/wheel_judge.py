#!/usr/bin/env python3
"""Judges a wheel as strictly as PyPI, uv and pip together: wheel_judge.py WHEEL...

Reads the zip byte by byte (APPNOTE.TXT 4.3), not through zipfile, because readers that forgive
disagree. Then: names, order, modes, times, RECORD against the bytes, WHEEL against the file name,
METADATA through packaging's strict parser. Prints what is wrong and exits 1.
"""

import base64
import hashlib
import pathlib
import struct
import sys
import zipfile
import zlib

from packaging.metadata import Metadata
from packaging.tags import parse_tag
from packaging.utils import canonicalize_name, parse_wheel_filename

CENTRAL = "<IHHHHHHIIIHHHHHII"
LOCAL = "<IHHHHHIIIHH"
END = "<IHHHHIIH"


class Wrong(Exception):
    pass


def need(truth, *what):
    if not truth:
        raise Wrong(" ".join(map(str, what)))


def members(data):
    """(name, bytes, mode, time) of each member; the file holds them, the directory, and nothing else."""
    end = len(data) - struct.calcsize(END)
    signature, disk, start_disk, here, count, size, offset, comment = struct.unpack_from(END, data, end)
    need(signature == 0x06054B50, "no end record at the very end")
    need(disk == start_disk == comment == 0 and here == count, "disks or a comment")
    need(offset + size == end, "bytes between the directory and its end record")
    at, expected = offset, 0
    for _ in range(count):
        (signature, made_by, needed, flags, method, time, date, crc, packed, size, name_len, extra, comment, disk,
         internal, external, local) = struct.unpack_from(CENTRAL, data, at)
        need(signature == 0x02014B50, "a directory entry is missing")
        name = data[at + 46:at + 46 + name_len]
        need(made_by >> 8 == 3 and needed <= 20, name, "was not made by Unix for version 2.0")
        need(flags == 0, name, "has flags", flags)
        need(extra == comment == disk == internal == 0, name, "has extra fields or a comment")
        need(method in (0, 8), name, "is compressed by method", method)
        need(local == expected, name, "does not follow the member before it")
        header = struct.unpack_from(LOCAL, data, local)
        need(header == (0x04034B50, needed, flags, method, time, date, crc, packed, size, name_len, 0), name,
             "has another local header")
        begin = local + struct.calcsize(LOCAL) + name_len
        need(data[begin - name_len:begin] == name, name, "has another local name")
        raw = data[begin:begin + packed]
        if method == 8:
            inflater = zlib.decompressobj(-15)
            raw = inflater.decompress(raw, size + 1)
            need(inflater.eof and not inflater.unused_data, name, "is no whole deflate stream")
        need(len(raw) == size and zlib.crc32(raw) == crc, name, "has other bytes than it says")
        yield name.decode("ascii"), raw, external >> 16, (date, time)
        expected = begin + packed
        at += 46 + name_len
    need(expected == offset and at == end, "bytes between the members and the directory")


def judge_names(names, info):
    need(len({n.lower() for n in names}) == len(names), "two names differ by case only")
    for name in names:
        need(all("!" <= c <= "~" and c != "\\" for c in name), repr(name), "is not plain")
        parts = name.split("/")
        need("" not in parts and "." not in parts and ".." not in parts, name, "leaves the wheel")
    need(names[-1] == f"{info}/RECORD", "RECORD is not the last member")
    last = [n for n in names if n.startswith(info + "/")]
    rest = [n for n in names if not n.startswith(info + "/")]
    need(names == sorted(rest) + sorted(last[:-1]) + last[-1:], "members are not in order")
    for name in ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD.jws", "RECORD.p7s"):
        need(f"{info}/{name}" not in names, name, "is not a wheel's to bring")
    need(not any(n.endswith(".pyc") for n in names), "compiled Python files")


def judge_record(files, info):
    lines = files[f"{info}/RECORD"].decode().splitlines()
    need(lines[-1] == f"{info}/RECORD,,", "RECORD does not end with itself")
    need([line.rsplit(",", 2)[0] for line in lines] == list(files), "RECORD names other files")
    for line in lines[:-1]:
        name, digest, size = line.rsplit(",", 2)
        right = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        need(digest == f"sha256={right}" and int(size) == len(files[name]), name, "is not as RECORD says")


def judge_headers(files, path, info):
    name, version, build, tags = parse_wheel_filename(path.name, validate_order=True)
    lines = files[f"{info}/WHEEL"].decode().splitlines()
    need(lines[0] == "Wheel-Version: 1.0", "another wheel version")
    expanded = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
    need(set(expanded) == set(map(str, tags)) and len(expanded) == len(tags), "WHEEL has other tags")
    pure = "Root-Is-Purelib: true" in lines
    need(pure != any(n.endswith(".so") for n in files), "Root-Is-Purelib is wrong")
    metadata = Metadata.from_email(files[f"{info}/METADATA"], validate=True)
    need(canonicalize_name(metadata.name) == name and metadata.version == version, "METADATA has another name")
    need(metadata.metadata_version in ("2.1", "2.4"), "metadata version", metadata.metadata_version)
    licenses = {n.removeprefix(f"{info}/licenses/") for n in files if n.startswith(f"{info}/licenses/")}
    need(set(metadata.license_files or []) == licenses, "License-File names other files")
    return info


def judge(path):
    found = list(members(path.read_bytes()))
    files = {name: data for name, data, _, _ in found}
    name, version = path.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    judge_names([n for n, *_ in found], info)
    judge_record(files, info)
    judge_headers(files, path, info)
    need(len({at for *_, at in found}) == 1, "members have different times")
    need({mode for _, _, mode, _ in found} <= {0o100644, 0o100755}, "strange modes")
    with zipfile.ZipFile(path) as archive:
        need(archive.testzip() is None and archive.namelist() == list(files), "zipfile sees something else")


def main(paths):
    wrong = 0
    for path in map(pathlib.Path, paths):
        try:
            judge(path)
        except (Wrong, KeyError, struct.error, ValueError) as error:
            print(f"{path.name}: {error!r}" if not isinstance(error, Wrong) else f"{path.name}: {error}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
