"""The cost of one more architecture and one more torch in a store that has the first."""
import json
import os
import re

import lab

UNIT = "csrc/flash_attn/src/flash_fwd_hdim64_bf16_causal_sm80.cu"

def ran(cost):
    """Actions that ran, of a build with --json -v."""
    events = [json.loads(line) for line in cost.out.splitlines() if line.startswith("{")]
    return [e for e in events if e["event"] == "action-done" and e["outcome"] == "ran"]


def cpu_s(done, *stages):
    return sum(e.get("cpu_ms", 0) for e in done if e["stage"] in stages) / 1e3


def build(bench, matrix):
    others = lab.Others()
    cost = bench.wheelsmith("reuse", "build", "--matrix", matrix, "--kits", "host", "--json", "-v", "-o", "{work}/dist-reuse")
    return cost, f"{others.share(cost.cpu_s):.0%}"


def one_unit(bench):
    """A folder of recipes with flash-attn of one unit, which need not be imported."""
    with open(f"{bench.env['WS_ROOT']}/recipes/flash-attn/2.8.3.json") as file:
        recipe = json.loads(re.sub(r"(^|\s)//[^\n]*", "", file.read()))
    extension = recipe["extensions"][0] | {"sources": [UNIT], "binding": "torch-library", "suffix": ".so"}
    recipe = {key: recipe[key] for key in ("name", "version", "python", "archs", "cxx_std", "estimates")} | {
        "source": recipe["source"][:1], "extensions": [extension]}
    folder = f"{bench.work}/recipes/flash-attn"
    os.makedirs(folder)
    with open(f"{folder}/2.8.3.json", "w") as file:
        json.dump(recipe, file)
    return f"{bench.work}/recipes"


def arch(bench):
    """flash_fwd_hdim64_bf16_causal_sm80.cu for 8.0, then for 8.0 and 9.0; the second against the commands that it needs.
    Thrust's namespaces, which torch's headers bring, hold the list of all architectures: what was compiled for 8.0 is
    compiled again, or it would not be what nvcc makes."""
    axes = dict(packages=["flash-attn==2.8.3"], torch=["2.11.0"], cuda=["13.0"], python=["3.11"], recipes=one_unit(bench))
    first, _ = build(bench, bench.matrix("reuse-one", arch=["8.0"], **axes))
    second, busy = build(bench, bench.matrix("reuse-two", arch=["8.0;9.0"], **axes))
    done = ran(second)
    kernels = [e for e in done if e["stage"] in ("cicc", "ptxas")]
    common_s = cpu_s(done, "fatbinary", "host")
    one_s = common_s + cpu_s([e for e in kernels if "_90)" in e["subject"]], "cicc", "ptxas")
    all_s = common_s + cpu_s(kernels, "cicc", "ptxas")
    return [
        lab.Number("one unit of flash-attn, one architecture: CPU", [first.cpu_s], "s"),
        lab.Number("another architecture: CPU", [second.cpu_s], "s", None, busy),
        lab.Number("… cicc and ptxas that ran", [len(kernels)], "", 2),
        lab.Number("… by its cicc and ptxas, fatbinary and host compile", [second.cpu_s / one_s], "", 1.05, busy),
        lab.Number("… by those that ran of all architectures", [second.cpu_s / all_s], "", None, busy),
    ]


def texts(bench, name):
    """Digests of the PTX that results of the store name."""
    found = set()
    for folder, _, files in os.walk(f"{bench.work}/{name}/ac"):
        for file in files:
            with open(f"{folder}/{file}", "rb") as result:
                found.update(re.findall(rb"^out ([0-9a-f]{64}) [0-9]+ \S*\.ptx$", result.read(), re.M))
    return found


def torch(bench):
    """causal-conv1d for torch 2.12.1, then for 2.13.0, one architecture."""
    axes = dict(cuda=["13.0"], python=["3.11"], arch=["9.0"])
    first, _ = build(bench, bench.matrix("reuse-torch", torch=["2.12.1"], **axes))
    known = texts(bench, "reuse")
    second, busy = build(bench, bench.matrix("reuse-another", torch=["2.13.0"], **axes))
    count = {stage: len([e for e in ran(second) if e["stage"] == stage]) for stage in ("cicc", "ptxas")}
    new = len(texts(bench, "reuse") - known)
    return [
        lab.Number("causal-conv1d for one torch: CPU", [first.cpu_s], "s"),
        lab.Number("for another: CPU", [second.cpu_s], "s", None, busy),
        lab.Number("… cicc that ran", [count["cicc"]], ""),
        lab.Number("… of their PTX, equal to the first's", [count["cicc"] - new], ""),
        lab.Number("… ptxas that ran where PTX is equal", [count["ptxas"] - new], "", 0),
    ]
