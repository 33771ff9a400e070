"""Validates the shipped files against schemas/, and compares each case of tests/cases/config with
the program's result: a schema must accept what the program accepts and refuse what it refuses. A case with "@schema accepts" holds a mistake that no schema can express.

Usage: check_schemas.py ROOT. Exit status 77 (skipped) without the jsonschema package, 1 in CI."""
import json
import os
import pathlib
import re
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

STRING = r'"(?:[^"\\]|\\.)*"'
COMMENTS = re.compile(STRING + r"|//[^\n]*|/\*.*?\*/", re.S)
COMMAS = re.compile(STRING + r"|,(?=\s*[\]}])")


def relaxed(text):
    """JSON with comments and trailing commas, as base/json.h reads it."""
    for extra in COMMENTS, COMMAS:
        text = extra.sub(lambda m: m[0] if m[0][0] == '"' else " ", text)
    return json.loads(text)


def refusal(schemas, name, document):
    """The first thing a schema has against a document, or None."""
    return jsonschema.exceptions.best_match(schemas[name].iter_errors(document))


def check_shipped(root, schemas):
    failures = 0
    files = [f for folder in ("recipes", "matrix") for f in sorted((root / folder).rglob("*.json"))]
    for file in files:
        document = relaxed(file.read_text())
        # A lock file beside a matrix is left by a build in this checkout; skip it.
        is_lock = file.name.endswith(".lock.json")
        schema = root / "schemas/lock-1.json" if is_lock else (file.parent / document["$schema"]).resolve()
        if schema.parent != root / "schemas" or schema.stem not in schemas:
            print(f"{file}: its $schema is not one of ours")
            failures += 1
            continue
        error = refusal(schemas, schema.stem, document)
        if error:
            print(f"{file}: {error.json_path}: {error.message}")
            failures += 1
    return len(files), failures


SECTIONS = {
    "matrix": "matrix-1", "recipe": "recipe-1", "config": "config-1", "kit": "kit-1",
    "torch": "facts-torch-1", "cuda": "facts-cuda-1",
    "known_bad": "facts-known-bad-1",
}
CASE = re.compile(
    r"^@case ([^\n]*)\n@(\w+)[ \n](.*?)\n(@schema accepts\n)?@expect\n(.*?)(?=^@case|\Z)", re.S | re.M)


def check_cases(folder, schemas):
    count = failures = 0
    for file in sorted(folder.glob("*.case")):
        for title, section, text, excused, expected in CASE.findall(file.read_text()):
            try:
                pairs = relaxed(text)
            except json.JSONDecodeError:
                continue
            error = refusal(schemas, SECTIONS[section], pairs)
            wanted = expected.strip() == "ok" or bool(excused)
            count += 1
            if (error is None) != wanted:
                failures += 1
                says = f"refuses it: {error.message}" if error else "accepts it"
                print(f"{file.name}: {title}: the schema {says}; the program:\n{expected}")
    return count, failures


def check_documented(root, schemas):
    """The pages document every key of recipes and matrices."""
    def keys(schema):
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for value in schema.values():
                yield from keys(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from keys(value)

    missing = 0
    pages = (("recipe-1", ("recipes",)), ("matrix-1", ("matrix", "recipes")), ("config-1", ("matrix",)))
    for name, folders in pages:
        text = "".join((root / folder / "README.md").read_text() for folder in folders)
        for key in sorted(set(keys(schemas[name].schema))):
            if f"`{key}`" not in text and f'"{key}"' not in text:
                print(f"{'/'.join(folders)}/README.md does not explain '{key}'")
                missing += 1
    return missing


def main():
    if not jsonschema:
        print("python3 has no jsonschema (./dev setup)")
        sys.exit(1 if os.environ.get("WS_CI") else 77)
    root = pathlib.Path(sys.argv[1]).resolve()
    schemas = {}
    for file in sorted((root / "schemas").glob("*.json")):
        schema = json.loads(file.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        schemas[file.stem] = jsonschema.Draft202012Validator(schema)
    files, bad = check_shipped(root, schemas)
    cases, worse = check_cases(root / "tests/cases/config", schemas)
    failures = bad + worse + check_documented(root, schemas)
    print(f"{len(schemas)} schemas, {files} files, {cases} cases, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
