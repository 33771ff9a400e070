"""Validates what the program wrote against the schemas that it names: check_output.py ROOT [FILE...].

Reads JSON values, one after another, from the files or from stdin; "wheelsmith.plan/1" means
schemas/plan-1.json. Published schemas are open, because members are only ever added; here they are
closed, so that nothing is written that no schema explains."""
import json
import pathlib
import sys

import jsonschema


def closed(schema):
    """The same with no members but those that it names."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        result.setdefault("additionalProperties", False)
    return result


def values(text):
    """All the JSON values of a text."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def main():
    schemas = pathlib.Path(sys.argv[1]) / "schemas"
    texts = [pathlib.Path(name).read_text() for name in sys.argv[2:]] or [sys.stdin.read()]
    seen, bad = {}, 0
    for value in (value for text in texts for value in values(text)):
        name = value["schema"].removeprefix("wheelsmith.").replace("/", "-")
        seen[name] = seen.get(name, 0) + 1
        schema = closed(json.loads((schemas / f"{name}.json").read_text()))
        for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
            print(f"{name}: {error.json_path}: {error.message}")
            bad += 1
    print(", ".join(f"{count} {name}" for name, count in sorted(seen.items())) or "nothing")
    sys.exit(bad > 0 or not seen)


if __name__ == "__main__":
    main()
