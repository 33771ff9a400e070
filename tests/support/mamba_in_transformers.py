"""mamba_ssm +any in a real torch and transformers on a host without a GPU: what is found, and by whom.

Prints the releases, then each function of transformers' Mamba and the module that it comes from; fails by an assertion.
"""

import importlib

import torch

# transformers 4 asks for a GPU before it asks for mamba_ssm; nothing here runs on one.
torch.cuda.is_available = lambda: True

import mamba_ssm  # noqa: E402
import selective_scan_cuda  # noqa: E402
import transformers  # noqa: E402
from mamba_ssm import MambaLMHeadModel, mamba_inner_fn, selective_scan_fn  # noqa: E402
from mamba_ssm.ops.triton.selective_state_update import selective_state_update  # noqa: E402
from transformers.models.mamba import modeling_mamba as module  # noqa: E402

assert mamba_ssm.__version__ == "2.2.6.post3" and MambaLMHeadModel
assert selective_scan_cuda.fwd.__module__ == selective_state_update.__module__ == "wheelsmith_kernels._scan"
print("torch", torch.__version__.split("+")[0], "transformers", transformers.__version__)
FAMILIES = "mamba falcon_mamba jamba zamba mamba2 bamba granitemoehybrid falcon_h1 nemotron_h zamba2"
PACKAGES = ("causal_conv1d", "mamba_ssm", "wheelsmith_kernels")
wanted = {f.__name__: f for f in (selective_scan_fn, mamba_inner_fn, selective_state_update)}


def resolved(function):
    """The function of a package that transformers from 5.16 on keeps in a closure; None: its own torch code."""
    while function is not None:
        for cell in getattr(function, "__closure__", None) or ():
            found = cell.cell_contents
            if callable(found) and getattr(found, "__module__", "").split(".")[0] in PACKAGES:
                return found
        function = getattr(function, "__wrapped__", None)
    return None


if transformers.__version__.startswith("4."):
    module.MambaMixer(transformers.MambaConfig(hidden_size=32, num_hidden_layers=1), 0)  # some 4.x look for them here
    found = {n: getattr(module, n, None) for n in wanted}
    from transformers.utils.import_utils import is_mamba_ssm_available

    assert is_mamba_ssm_available()
else:
    names = ("mamba_selective_scan", "mamba_inner_fn", "mamba_selective_state_update")
    found = dict(zip(wanted, (resolved(getattr(module, n)) for n in names)))
    for family in FAMILIES.split():  # docs/mamba.md has this table
        modeling = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
        own = [f for f in vars(modeling).values() if getattr(f, "__module__", "") == modeling.__name__ and hasattr(f, "__wrapped__")]
        taken = {f.__name__: resolved(f) for f in own if "mamba" in f.__name__ or "conv1d" in f.__name__}
        assert len(taken) >= 4 and all(taken.values()), (family, taken)
        print(family, *sorted(f.__name__ for f in taken.values()))
assert found == wanted, found
for name, function in found.items():
    print(name, function.__module__)
