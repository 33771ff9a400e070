"""Which wheel an installed package is: what `check` judges is what was published, file by file."""

import base64
import hashlib
import importlib.util
import json
import os
import zipfile


class NotChecked(Exception):
    """There is nothing to judge; the message gives the reason."""


def _sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for part in iter(lambda: f.read(1 << 20), b""):
            digest.update(part)
    return digest


def _record_value(path):
    """As RECORD writes it: base64 without padding."""
    return base64.urlsafe_b64encode(_sha256_of(path).digest()).rstrip(b"=").decode()


def _rows(text):
    """(path, sha256 as RECORD writes it) of the rows of a RECORD that have one."""
    import csv

    for row in csv.reader(text.splitlines()):
        if len(row) == 3 and row[1].startswith("sha256="):
            yield row[0], row[1][len("sha256=") :]


def _require_files(distribution, rows, whose):
    """Every installed file matches `rows`. Files that the installer moves or writes are left out."""
    info, rows = distribution.name + "-" + distribution.version, list(rows)
    if not rows:
        raise NotChecked(f"{info}: {whose} names no file with its sha256")
    for path, wanted in rows:
        moved = ".data/" in path or path.startswith("..") or path.endswith((".pyc", "INSTALLER", "direct_url.json"))
        if moved or path.endswith(("REQUESTED", "RECORD")):
            continue
        file = distribution.locate_file(path)
        try:
            same = _record_value(file) == wanted
        except OSError as error:
            raise NotChecked(f"{info}: '{path}' of {whose} is not installed: {error.strerror}")
        if not same:
            raise NotChecked(f"{info}: the installed '{path}' is not the one of {whose}")


def require_import(distribution, module):
    """Python imports what is installed, and not a folder of that name that comes before it."""
    spec = importlib.util.find_spec(module)
    found = os.path.realpath(os.path.dirname((spec and spec.origin) or ""))
    if found != os.path.realpath(distribution.locate_file(module)):
        raise NotChecked(f"Python imports '{module}' from '{found}', which is not what is installed")


def find_wheel(distribution, wheel):
    """(sha256 or None, where it is known from): of the file that was given, or what the installer noted."""
    if wheel:
        with zipfile.ZipFile(wheel) as z:
            record = [n for n in z.namelist() if n.endswith(".dist-info/RECORD") and n.count("/") == 1]
            if len(record) != 1:
                raise NotChecked(f"'{wheel}' is not a wheel: it has {len(record)} RECORDs")
            _require_files(distribution, _rows(z.read(record[0]).decode()), f"'{wheel}'")
        return _sha256_of(wheel).hexdigest(), "the wheel that was given"
    _require_files(distribution, _rows(distribution.read_text("RECORD") or ""), "its RECORD")
    origin = json.loads(distribution.read_text("direct_url.json") or "{}").get("archive_info", {})
    sha256 = origin.get("hashes", {}).get("sha256") or origin.get("hash", "").partition("sha256=")[2]
    return (sha256, "direct_url.json") if sha256 else (None, None)
