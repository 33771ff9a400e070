"""catalogue.py [NAME[==V]…] [--torch V] [--python PYTHON] [--part T] [--from DIST] [--gpu FILE] - builds the packages of
matrix/catalogue.json and writes what came of each

Without NAME none is built: the table is written again, with what the package index has now. NAME==V is a recipe that the matrix does
not have. With --part a build stops after T (10m), and the row says how far it came. With --torch they are built for
another release, and of that the row says only where they were imported: PYTHON is an interpreter that has this torch. DIST is a
folder that a build left elsewhere (with --torch and --python, its wheels are imported there), FILE what
tests/gpu/catalogue.py wrote there ($OUT/gpu.json). docs/bench/catalogue.json keeps the facts of each row;
docs/catalogue.md is made of that file, of the recipes, of the table of docs/proofs.md and of the index. The plans in
the pages of
PLANS are made again as well.
"""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{ROOT}/tests/support")
sys.dont_write_bytecode = True
from check_recipes import default_index  # noqa: E402
from check_schemas import relaxed  # noqa: E402
from pip._vendor.packaging.specifiers import SpecifierSet  # noqa: E402
from pip._vendor.packaging.version import InvalidVersion, Version  # noqa: E402

PROGRAM = os.environ.get("WHEELSMITH", f"{ROOT}/build/dev/wheelsmith")
MATRIX, KEPT, PAGE = f"{ROOT}/matrix/catalogue.json", f"{ROOT}/docs/bench/catalogue.json", f"{ROOT}/docs/catalogue.md"

PLANS = {"docs/serving.md": "matrix/serving.json", "docs/gaussian.md": "matrix/gaussian.json"}

INTRODUCTION = """The recipes in `recipes/`; `./dev catalogue` writes this page. Columns: "built for": the torch, CUDA and GPU
    of the wheel; its symbols were checked against that torch and CUDA. "imported with torch": releases in which the modules of the
    recipe's `check` were imported, each from a wheel built for that release, on a host without a GPU (for 2.5.1 by `./dev test
    --real`). "ran on": `tests/gpu/catalogue.py` ran an operation there and compared the result with plain torch where that has the
    same operation; the day is given if it differs from the wheel's. "any": the recipe sets no limit; it does not mean tried. Facts
    are known for torch 2.3.1 to 2.15.0. CPU: the time that a plan predicts for one architecture, measured here or on the building
    host. "N of M actions": the build was stopped, because it would take more than ten minutes of CPU; the row names the largest
    finished unit. Every wheel is for Linux on x86-64. "stale": a newer release on the index than the newest recipe, or a newest
    torch release in the range of that recipe that was not tried."""


def newest(name):
    """The newest release that the index has, no pre-release; None where it has none."""
    try:
        with urllib.request.urlopen(f"{default_index().rstrip('/')}/{name}/", timeout=60) as page:
            text = page.read().decode()
    except urllib.error.HTTPError:
        return None
    found = []
    for file in re.findall(r">\s*([^<>\s]+?\.(?:tar\.gz|zip|whl))\s*<", text):
        stem = re.sub(r"\.(tar\.gz|zip|whl)$", "", file)
        version = stem.split("-")[1] if file.endswith(".whl") else stem.rpartition("-")[2]
        try:
            found.append(Version(version))
        except InvalidVersion:
            continue
    return max((version for version in found if not version.is_prerelease), default=None)


def build(options):
    """Builds those of the matrix, or for another torch than it names; the folder with build.json."""
    folder = f"{ROOT}/build/catalogue" + (f"-{options.torch}" if options.torch else "")
    with open(MATRIX, encoding="utf-8") as file:
        matrix = relaxed(file.read())
    matrix["packages"] = [package for package in matrix["packages"] if package.partition("==")[0] in options.names] + \
        [name for name in options.names if "==" in name]
    if options.torch:
        matrix |= {"torch": [options.torch], "cuda": ["auto"]}
    if options.python:
        matrix["python"] = [options.python]
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/matrix.json", "w", encoding="utf-8") as file:
        json.dump({key: value for key, value in matrix.items() if key != "$schema"}, file)
    store = ["--store", options.store] if options.store else []
    words = [PROGRAM, "build", "-m", f"{folder}/matrix.json", "-k", "-o", folder, "-j", str(options.jobs), *store]
    if options.part:
        said = subprocess.run([*words, "--timeout", options.part], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        with open(f"{folder}/part.log", "w", encoding="utf-8") as file:
            file.write(said.stdout)
    else:
        subprocess.run(words, check=False)
    return folder


def merge_part(kept, folder, options):
    """Takes in how far a build came that was stopped: its units are in the store, and the next one goes on from there."""
    with open(f"{folder}/part.log", encoding="utf-8") as file:
        text = file.read()
    with open(f"{folder}/matrix.json", encoding="utf-8") as file:
        matrix = json.load(file)
    package, = matrix["packages"]
    ran = [(60 * int(minutes or 0) + float(seconds), unit) for unit, minutes, seconds in
           re.findall(r"\] compile (\S+)  (?:(\d+) m )?([\d.]+) s cpu", text)]
    actions, stored = re.search(r"(\d+) actions: (\d+) from the store", text).groups()
    if not ran:
        sys.exit(f"catalogue: no unit of {package} was done in {options.part}: {folder}/part.log")
    seconds, unit = max(ran)
    name = package.replace("==", "-")
    kept[name] = kept.get(name, {}) | {"part": {
        "made": len(ran) + int(stored), "actions": int(actions), "largest": unit, "cpu_s": round(seconds), "torch": matrix["torch"][0],
        "cuda": matrix["cuda"][0], "arch": matrix["arch"][0].replace(".", ""), "date": str(datetime.date.today())}}


def import_in(python, wheel, package):
    """"" if this Python can import the modules of the recipe, else the last line of its output."""
    name, _, version = package.rpartition("-")
    with open(f"{ROOT}/recipes/{name}/{version}.json", encoding="utf-8") as file:
        modules = relaxed(file.read()).get("check", {}).get("import", [])
    code = "import sys, importlib, torch; sys.path.insert(0, sys.argv[1]); [importlib.import_module(name) for name in sys.argv[2:]]"
    with tempfile.TemporaryDirectory() as site, zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
        done = subprocess.run([python, "-I", "-B", "-c", code, site, *modules], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().rpartition("\n")[2]


def import_of(cell, package, folder, options):
    """The text for a torch: "" if the import works there, a reason if not, or None if untried."""
    if not cell.get("wheel"):
        return cell["reason"] if cell["decision"] == "failed" else None
    if cell.get("import", {}).get("verdict") == "ok" and f"/torch{options.torch or ''}" in cell["cell"]:
        return ""
    return import_in(options.python, f"{folder}/{cell['wheel']}", package) if options.python else None


def merge(kept, folder, options, gpu):
    """Merges the cells of build.json into the kept rows."""
    with open(f"{folder}/build.json", encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    today = str(datetime.date.today())
    for cell in cells:
        package, torch, cuda = re.match(r"(.+?)/torch([^/]+)/cu([^/]+)/", cell["cell"]).groups()
        old = kept.get(package, {})
        if "aarch64" in cell["cell"] or (options.names and not {package.rpartition("-")[0], "==".join(package.rsplit("-", 1))} & set(options.names)):
            continue
        imports, found = old.get("imports", {}), import_of(cell, package, folder, options)
        if found is not None:
            imports[options.torch or torch] = found
        if options.torch:
            kept[package] = old | {"imports": imports}
            continue
        row = {"torch": torch, "cuda": cuda, "arch": cell["group"].rpartition("-sm")[2], "date": today}
        if not cell.get("wheel"):
            row["failed"] = cell["reason"]
        else:
            row |= {"wheel": cell["wheel"], "size": cell["size"], "cpu_ms": cell.get("cpu_ms", 0)}
            if cell["wheel"] not in gpu:
                row |= {key: old[key] for key in ("ran", "ran_date") if key in old}
            elif gpu[cell["wheel"]] == "right":
                row |= {"ran": options.device, "ran_date": today}
        kept[package] = row | {"imports": imports}


def merge_proofs(kept):
    """Adds the table of docs/proofs.md: where the packages of README's fleet were imported."""
    text = ""
    for page in ("README.md", "docs/proofs.md"):
        with open(f"{ROOT}/{page}", encoding="utf-8") as file:
            text += file.read()
    fleet = relaxed(re.search(r"<!-- fleet.json -->\n```json\n(.*?)```", text, re.S)[1])
    for package in fleet["packages"]:
        row = kept.setdefault(package.replace("==", "-"), {})
        row["imports"] = row.get("imports", {}) | {torch: "" for torch in re.findall(
            rf"^\| {package.partition('==')[0]} \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| [\d.]+ \| yes \| yes \|", text, re.M)}


def plan(matrix, *words):
    """The output of `plan` for a row without a build or a measurement."""
    with tempfile.TemporaryDirectory() as store:
        return subprocess.run([PROGRAM, "plan", "-m", matrix, "--store", store, *words], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE, text=True).stdout


def write_pages():
    for page, matrix in PLANS.items():
        with open(f"{ROOT}/{page}", encoding="utf-8") as file:
            text = file.read()
        made = f"$ wheelsmith plan --matrix {matrix}\n{plan(matrix)}```"
        with open(f"{ROOT}/{page}", "w", encoding="utf-8") as file:
            file.write(re.sub(r"\$ wheelsmith plan --matrix %s\n.*?```" % re.escape(matrix), lambda _: made, text, flags=re.S))


def newest_torch(text):
    """The newest release of the facts that a recipe's range takes."""
    with open(f"{ROOT}/matrix/facts/torch.json", encoding="utf-8") as file:
        releases = [row["torch"] for row in relaxed(file.read())["releases"]]
    takes = SpecifierSet("" if text == "any" else text)
    return max((Version(version) for version in releases if takes.contains(version)), default=None)


def stale(recipe, row, absent):
    with open(recipe["path"], encoding="utf-8") as file:
        source = relaxed(file.read()).get("source", [{}])[0]
    latest = newest(recipe["name"]) if "sdist" in source else None  # of others the index may have a namesake
    tried = [Version(torch) for torch in row.get("imports", {})] + ([Version(row["torch"])] if "torch" in row else [])
    torch = newest_torch(recipe["torch"]) if tried else None
    newer = latest and latest > Version(recipe["version"].partition("+")[0]) and f"{recipe['name']} {latest}" not in absent
    return ", ".join([f"{latest} is out"] * bool(newer) +
                     [f"torch {torch} not tried"] * bool(torch and torch > max(tried)))


def line(recipe, row, last, cpu, absent):
    tag = row.get("wheel", "").rpartition(".")[0].split("-", 2)[-1] if row.get("wheel") else ""
    made = f"torch {row['torch']}, CUDA {row['cuda']}, sm_{row['arch']}".replace("ptx", " and PTX") if "torch" in row and recipe["binding"] != "Python" else ""
    if "part" in row and not made:
        part = row["part"]
        made = "torch {torch}, CUDA {cuda}, sm_{arch}: {made} of {actions} actions, the largest {largest}".format(**part) + \
            " of %d:%02d" % divmod(part["cpu_s"], 60)
    size = "%.1f MB" % (row["size"] / 1e6) if row.get("size") else ""
    imports = sorted(row.get("imports", {}).items(), key=lambda item: Version(item[0]))
    seen = ", ".join([torch + (f": {why}" if why else "") for torch, why in imports] +
                     (["failed: " + row["failed"]] if row.get("failed") else []))
    ran = row.get("ran", "") + (f", {row['ran_date']}" if row.get("ran_date", row.get("date")) != row.get("date") else "")
    cells = [recipe["name"], recipe["version"], recipe["binding"], recipe["torch"].replace("|", "/"), recipe["archs"],
             recipe["license"].split("\n")[0][:40], made, "%d:%02d" % divmod(round(cpu / 1000), 60) if cpu else "", tag, size,
             seen.replace("|", "/"), ran, row.get("date", row.get("part", {}).get("date", "")), stale(recipe, row, absent) if last else ""]
    return "| " + " | ".join(cells) + " |"


def newest_of(recipes, name):
    return [recipe for recipe in recipes if recipe["name"] == name and "+" not in recipe["version"]][-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--torch", metavar="V", help="import in this release; the row stays")
    parser.add_argument("--python", metavar="PYTHON", help="an interpreter that has this torch")
    parser.add_argument("--part", metavar="T", help="stop after this time; one NAME")
    parser.add_argument("--store", metavar="DIR")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, metavar="N")
    parser.add_argument("--from", dest="folder", metavar="DIST")
    parser.add_argument("--gpu", metavar="FILE")
    parser.add_argument("--device", default="", metavar="NAME", help="where DIST was built and run: H100")
    options = parser.parse_args()
    kept = {}
    if os.path.exists(KEPT):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
    gpu = {}
    if options.gpu:
        with open(options.gpu, encoding="utf-8") as file:
            gpu = json.load(file)
    if options.part:
        merge_part(kept, build(options), options)
    elif options.folder or options.names:
        merge(kept, options.folder or build(options), options, gpu)
    merge_proofs(kept)
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(kept.items())), file, indent=1)
        file.write("\n")
    recipes = json.loads(subprocess.run([PROGRAM, "recipe", "list", "--json"], check=True, stdout=subprocess.PIPE).stdout)["recipes"]
    costs = {f"{cell['package']}-{cell['version']}": cell["cost"]["known_cpu_ms"]
             for matrix in (f"{ROOT}/{PLANS['docs/serving.md']}", MATRIX) for cell in json.loads(plan(matrix, "--json"))["cells"]
             if not cell["cost"]["unknown_units"]}
    names = [f"{recipe['name']}-{recipe['version']}" for recipe in recipes]
    with open(f"{ROOT}/docs/bench/catalogue-absent.json", encoding="utf-8") as file:
        reasons = relaxed(file.read())
    rows = [line(recipe, kept.get(name, {}), recipe is newest_of(recipes, recipe["name"]),
                 costs.get(name) or kept.get(name, {}).get("cpu_ms"), reasons) for recipe, name in zip(recipes, names)]
    write_pages()
    seen = {recipe["name"] for recipe in recipes}
    absent = [f"| {name} | {why} |" for name, why in sorted(reasons.items()) if name not in seen]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join([
            "# Catalogue", "", " ".join(INTRODUCTION.split()), "",
            f"{len(seen)} packages, {len(rows)} recipes ({datetime.date.today()}).", "",
            "| package | version | bound to | torch | GPUs | licence | built for | CPU | tag | size | imported with torch | ran on | date | stale |",
            "|---|---|---|---|---|---|---|---:|---|---:|---|---|---|---|", *rows, "",
            "## Not here yet", "", "| package | why |", "|---|---|", *absent]) + "\n")


if __name__ == "__main__":
    main()
