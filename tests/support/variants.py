#!/usr/bin/env python3
"""Reads what --variants writes as others do: variants.py valid FILE..., and variants.py choose LABELS.json TORCH PROPERTY...

valid: by the rules of draft PEP 825 for variant metadata 0.1.1. choose: by variantlib's resolver, for a host with that torch
and those properties ("nvidia :: sm_arch :: 90_real"): the labels that it takes, best first."""
import json
import os
import sys

import jsonschema

NAME, VALUE = "^[a-z0-9_]+$", "^[a-z0-9_.]+$"


def table(pattern, of):
    return {"type": "object", "patternProperties": {pattern: of}, "additionalProperties": False}


def names(pattern):
    return {"type": "array", "items": {"type": "string", "pattern": pattern}, "minItems": 1, "uniqueItems": True}


SCHEMA = {
    "type": "object",
    "required": ["$schema", "default-priorities", "variants"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"},
        "default-priorities": {
            "type": "object", "required": ["namespace"], "additionalProperties": False,
            "properties": {"namespace": names(NAME)},
        },
        "variants": table("^[0-9a-z_.]+$", table(NAME, table(NAME, names(VALUE)))),
    },
}


def valid(*files):
    for file in files:
        text = json.loads(open(file).read())
        jsonschema.validate(text, SCHEMA)
        spaces = text["default-priorities"]["namespace"]
        for label, of in text["variants"].items():
            assert label != "null" and set(of) <= set(spaces), (file, label)
            assert all(values == sorted(values) for features in of.values() for values in features.values()), (file, label)


def choose(labels, torch, *supported):
    from variantlib.models.variant import VariantProperty
    from variantlib.resolver.lib import sort_and_filter_supported_variants
    from variantlib.variants_json import VariantsJson

    text = json.loads(open(labels).read())
    # variantlib 0.2 needs the provider of a namespace; version 0.1.1 of the draft leaves that open.
    text["providers"] = {name: {"static-properties": {"any": ["1"]}} for name in text["default-priorities"]["namespace"]}
    read = VariantsJson(text)
    os.environ["VARIANT_ABI_DEPENDENCY"] = f"torch=={torch}"
    found = sort_and_filter_supported_variants(
        list(read.variants.values()), [VariantProperty.from_str(p) for p in supported],
        [n for n in read.namespace_priorities if n != "abi_dependency"], filter_values=True)  # it adds that itself
    print(*(v.label for v in found if v.label and v.label != "null"))


{"valid": valid, "choose": choose}[sys.argv[1]](*sys.argv[2:])
