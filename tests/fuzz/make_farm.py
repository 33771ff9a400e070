#!/usr/bin/env python3
"""Writes the corpus of fuzz_farm.c, by the protocol's field numbers (builder/remote/reapi.proto)."""
import hashlib
import pathlib

ORDER = "0123456789abcdef" * 4
MADE = hashlib.sha256(b"Killed\n").hexdigest()


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def digest(hash, size):
    return field(1, hash) + field(2, size)


def result(code=0, output=MADE, size=7):
    files = {"report": (ORDER, 100), "log": (MADE, 7), "job/unit.o": (output, size)}
    listed = b"".join(field(2, field(1, path) + field(2, digest(*file))) for path, file in files.items())
    meta = field(1, "w1") + field(2, field(1, 1700000000)) + field(3, field(1, 1700000005) + field(2, 5))
    return listed + field(4, code) + field(8, digest(MADE, 7)) + field(9, meta)


def operation(response=None, stage=4, error=None):
    any_of = lambda kind, value: field(1, f"type.googleapis.com/build.bazel.remote.execution.v2.{kind}") + field(2, value)
    message = field(1, "operations/1") + field(2, any_of("ExecuteOperationMetadata", field(1, stage)))
    if response is not None:
        message += field(3, 1) + field(5, any_of("ExecuteResponse", response))
    return message + (field(3, 1) + field(4, error) if error else b"")


def report(*records, code=0, order=ORDER, made=MADE):
    head = [f"wheelsmith.report/1 {code}", f"order {order}", "signal 0", "wall_ms 5", "cpu_ms 4", "rss_bytes 3"]
    return "".join(r + "\0" for r in [*head, f"made {made} unit.o", *records]).encode()


def case(text, *operations):
    return b"".join(len(o).to_bytes(2, "big") + o for o in operations) + b"\0\0" + text


def status(code):
    return field(1, code) + field(2, "its words")


HOST = "outside " + hashlib.sha256(b"").hexdigest() + " /dev/"
CASES = {
    "whole": case(report("file unit.cpp"), operation(stage=2), operation(stage=3), operation(field(1, result()))),
    "cached": case(report(), operation(field(1, result()) + field(2, 1))),
    "cached-failure": case(report(code=1), operation(field(1, result(1)) + field(2, 1))),
    "failure": case(report(code=1), operation(field(1, result(1)))),
    "killed": case(report().replace(b"signal 0", b"signal 9"), operation(field(1, result(137)))),
    "other-order": case(report(order=MADE), operation(field(1, result()))),
    "other-output": case(report(), operation(field(1, result(output=ORDER)))),
    "large": case(report(), operation(field(1, result(size=1 << 50)))),
    "negative": case(report(), operation(field(1, result(size=(1 << 64) - 1)))),
    "devices": case(report("file /dev/zero", HOST + "zero", "file /dev/null", HOST + "null", "absent /a", "present /usr", "folder /usr"),
                    operation(field(1, result()))),
    "differs": case(report("differs /usr/bin/as", "opaque x.h", "uncacheable __TIME__"), operation(field(1, result(75)))),
    "no-report": case(b"", operation(field(1, field(4, 70)))),
    "status": case(b"", operation(field(3, status(9)))),
    "deadline": case(b"", operation(field(3, status(4)))),
    "error": case(b"", operation(error=status(14))),
    "nothing": case(b"", operation()),
}

folder = pathlib.Path(__file__).parent / "corpus/farm"
folder.mkdir(exist_ok=True)
for name, data in CASES.items():
    (folder / name).write_bytes(data)
