"""catalogue.py [NAME…] [--from DIST] [--gpu FILE] - builds the packages of matrix/catalogue.json and writes what came of each

Without NAME none is built: the table is written again, with what the package index has now. DIST is a folder that a build of
that matrix left elsewhere, FILE what tests/gpu/catalogue.py wrote there ($OUT/gpu.json). What is known of each row is kept in
docs/bench/catalogue.json; docs/catalogue.md is made of it, of the recipes and of the index. The plans in the pages of PLANS are
made again as well.
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

INTRODUCTION = """What `recipes/` has, made by `./dev catalogue`. A wheel was compiled for what "built for" says, its symbols were held
    against that torch and its CUDA, and the modules that the recipe's `check` names were imported beside it; "ran" means that
    `tests/gpu/catalogue.py` ran an operation of it on that GPU and held the result against plain torch, where that has the same.
    "any" is what nobody has narrowed down, not what was tried. CPU is what a plan says of the row's cell: measured here or on
    the machine that built it, for one architecture. Every wheel is for Linux on x86-64. The last column says where the index has a newer release than
    the newest recipe, and which newest torch release is in the range of the newest recipe and was not tried."""


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


def build(names):
    """Builds those of the matrix; the folder with build.json."""
    folder = f"{ROOT}/build/catalogue"
    only = [word for name in names for word in ("--only", f"{name}-[0-9]*")]
    subprocess.run([PROGRAM, "build", "-m", MATRIX, "-k", "-o", folder, *only], check=False)
    return folder


def merge(kept, folder, gpu, device):
    """Takes the cells of build.json in."""
    with open(f"{folder}/build.json", encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    for cell in cells:
        package, torch, cuda = re.match(r"(.+?)/torch([^/]+)/cu([^/]+)/", cell["cell"]).groups()
        row = {"torch": torch, "cuda": cuda, "arch": cell["group"].rpartition("-sm")[2],
               "date": str(datetime.date.today())}
        if not cell.get("wheel"):
            row["failed"] = cell["reason"]
        else:
            row |= {"wheel": cell["wheel"], "size": cell["size"],
                    "imported": cell.get("import", {}).get("verdict") == "ok"}
            if gpu.get(cell["wheel"].split("-")[0]) == "right":
                row["ran"] = device
        kept[package] = row


def plan(matrix, *words):
    """What `plan` prints where nothing was built or measured yet."""
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


def stale(recipe, row):
    with open(recipe["path"], encoding="utf-8") as file:
        source = relaxed(file.read()).get("source", [{}])[0]
    latest = newest(recipe["name"]) if "sdist" in source else None  # of others the index may have a namesake
    torch = newest_torch(recipe["torch"]) if "torch" in row else None
    return ", ".join([f"{latest} is out"] * bool(latest and latest > Version(recipe["version"].partition("+")[0])) +
                     [f"torch {torch} not tried"] * bool(torch and torch > Version(row["torch"])))


def line(recipe, row, last, cpu):
    tag = row.get("wheel", "").rpartition(".")[0].split("-", 2)[-1] if row.get("wheel") else ""
    made = f"torch {row['torch']}, CUDA {row['cuda']}, sm_{row['arch']}" if row else ""
    size = "%.1f MB" % (row["size"] / 1e6) if row.get("size") else ""
    seen = ", ".join(word for word in ["imported" if row.get("imported") else "", f"ran on {row['ran']}" if row.get("ran") else ""]
                     if word) or ("failed: " + row["failed"] if row.get("failed") else "")
    cells = [recipe["name"], recipe["version"], recipe["binding"], recipe["torch"].replace("|", "/"), recipe["archs"],
             recipe["license"].split("\n")[0][:40], made, "%d:%02d" % divmod(round(cpu / 1000), 60) if cpu else "", tag, size, seen,
             row.get("date", ""), stale(recipe, row) if last else ""]
    return "| " + " | ".join(cells) + " |"


def newest_of(recipes, name):
    return [recipe for recipe in recipes if recipe["name"] == name and "+" not in recipe["version"]][-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
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
    if options.folder or options.names:
        merge(kept, options.folder or build(options.names), gpu, options.device)
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(kept.items())), file, indent=1)
        file.write("\n")
    recipes = json.loads(subprocess.run([PROGRAM, "recipe", "list", "--json"], check=True, stdout=subprocess.PIPE).stdout)["recipes"]
    costs = {f"{cell['package']}-{cell['version']}": cell["cost"]["known_cpu_ms"] for cell in json.loads(plan(MATRIX, "--json"))["cells"]
             if not cell["cost"]["unknown_units"]}
    names = [f"{recipe['name']}-{recipe['version']}" for recipe in recipes]
    rows = [line(recipe, kept.get(name, {}), recipe is newest_of(recipes, recipe["name"]), costs.get(name))
            for recipe, name in zip(recipes, names)]
    write_pages()
    seen = {recipe["name"] for recipe in recipes}
    with open(f"{ROOT}/docs/bench/catalogue-absent.json", encoding="utf-8") as file:
        absent = [f"| {name} | {why} |" for name, why in sorted(relaxed(file.read()).items()) if name not in seen]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join([
            "# Catalogue", "", " ".join(INTRODUCTION.split()), "",
            f"{len(seen)} packages, {len(rows)} recipes ({datetime.date.today()}).", "",
            "| package | version | bound to | torch | GPUs | licence | built for | CPU | tag | size | seen | on | stale |",
            "|---|---|---|---|---|---|---|---:|---|---:|---|---|---|", *rows, "",
            "## Not here yet", "", "| package | why |", "|---|---|", *absent]) + "\n")


if __name__ == "__main__":
    main()
