"""catalogue.py WHEEL... - imports wheels of the catalogue beside torch and runs one operation of each on the GPU

Each wheel is unpacked alone (with the wheels that it needs) and runs in a process of its own; what an operation gives is held
against the same in plain torch. One line a wheel; exit status 1 if one fails.
"""
import json
import os
import subprocess
import sys
import tempfile
import zipfile

NEEDS = {"torch_sparse": ["torch_scatter"], "causal_conv1d": ["wheelsmith_kernels"], "mamba_ssm": ["wheelsmith_kernels"],
         "flash_attn": ["wheelsmith_kernels"]}


def close(got, want, most=1e-3):
    import torch
    got, want = torch.as_tensor(got).double().cpu(), torch.as_tensor(want).double().cpu()
    assert got.shape == want.shape, (got.shape, want.shape)
    off = ((got - want).abs() / (1 + want.abs())).max().item()
    assert off <= most, "off by %g" % off


def rand(*shape, **named):
    import torch
    return torch.rand(*shape, device="cuda", **named)


def torch_scatter():
    import torch
    from torch_scatter import scatter, segment_csr
    x, index = rand(1000, 8), torch.randint(0, 50, (1000,), device="cuda").sort().values
    close(scatter(x, index, dim=0, dim_size=50, reduce="sum"), torch.zeros(50, 8, device="cuda").index_add(0, index, x))
    ends = torch.cat([torch.zeros(1, dtype=torch.long, device="cuda"), torch.bincount(index, minlength=50).cumsum(0)])
    close(segment_csr(x, ends, reduce="max"), torch.full((50, 8), float("-inf"), device="cuda").index_reduce(0, index, x, "amax"))


def torch_sparse():
    import torch
    from torch_sparse import SparseTensor, matmul
    dense = rand(100, 80) * (rand(100, 80) > .9)
    b = rand(80, 16)
    close(matmul(SparseTensor.from_dense(dense), b), dense @ b)


def torch_cluster():
    import torch
    from torch_cluster import fps, knn
    x, y = rand(500, 3), rand(40, 3)
    row, col = knn(x, y, 4)
    want = torch.cdist(y, x).topk(4, largest=False).values.sort(1).values
    close((y[row] - x[col]).norm(dim=1).view(40, 4).sort(1).values, want)
    assert len(set(fps(x, ratio=.1).tolist())) == 50


def torch_spline_conv():
    import torch
    from torch_spline_conv import spline_conv
    args = [torch.rand(20, 3), torch.randint(0, 20, (2, 90)), torch.rand(90, 2), torch.rand(25, 3, 5), torch.tensor([5, 5]),
            torch.tensor([1, 1], dtype=torch.uint8)]
    close(spline_conv(*[a.cuda() for a in args]), spline_conv(*args))


def gsplat():
    import torch
    from gsplat import rasterization
    n = 400
    means = torch.randn(n, 3, device="cuda")
    view = torch.eye(4, device="cuda")[None].clone()
    view[0, 2, 3] = 5
    k = torch.tensor([[[60., 0, 32], [0, 60, 32], [0, 0, 1]]], device="cuda")
    image, alpha, _ = rasterization(means, torch.nn.functional.normalize(torch.randn(n, 4, device="cuda"), dim=1),
                                    rand(n, 3) * .1, rand(n), rand(n, 3), view, k, 64, 64)
    assert image.shape == (1, 64, 64, 3) and image.isfinite().all() and 0 < alpha.max() <= 1 and image.max() > .1


def nerfacc():
    import torch
    import nerfacc
    x = rand(6, 100)
    close(nerfacc.inclusive_sum(x), x.cumsum(1))
    packed = torch.tensor([[0, 40], [40, 60]], device="cuda")
    close(nerfacc.exclusive_sum(x[0], packed), torch.cat([p.cumsum(0) - p for p in x[0].split([40, 60])]))


def fast_hadamard_transform():
    import torch
    from fast_hadamard_transform import hadamard_transform
    h = torch.ones(1, 1, device="cuda")
    while h.shape[0] < 256:
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
    x = rand(10, 256)
    close(hadamard_transform(x, .5), .5 * x @ h.T)


def grouped_gemm():
    import torch
    from grouped_gemm import ops
    a, b, sizes = rand(96, 64, dtype=torch.bfloat16), rand(3, 64, 32, dtype=torch.bfloat16), torch.tensor([16, 48, 32])
    want = torch.cat([p.float() @ w.float() for p, w in zip(a.split(sizes.tolist()), b)])
    close(ops.gmm(a, b, sizes), want, 1e-2)


def torchsort():
    import torch
    import torchsort as t
    x = torch.randn(4, 60)
    close(t.soft_rank(x.cuda(), regularization_strength=.1), t.soft_rank(x, regularization_strength=.1))
    close(t.soft_rank(x.cuda(), regularization_strength=1e-6), x.argsort(1).argsort(1) + 1.)


def DCNv4():
    import torch
    from DCNv4.modules.dcnv4 import DCNv4 as Module
    torch.manual_seed(0)
    module = Module(channels=64, group=4, without_pointwise=True).cuda()
    torch.nn.init.constant_(module.offset_mask.bias, .5)  # a fresh module weighs all by nothing
    x = rand(1, 144, 64)
    got = module(x)
    assert got.shape == x.shape and got.isfinite().all() and got.abs().max() > 0
    got.sum().backward()
    assert module.offset_mask.weight.grad.isfinite().all()


def diso():
    import torch
    from diso import DiffMC
    grid = torch.stack(torch.meshgrid(*[torch.linspace(-1, 1, 33, device="cuda")] * 3, indexing="ij"), -1)
    points, faces = DiffMC(dtype=torch.float32).cuda()(grid.norm(dim=-1) - .6)
    assert len(faces) > 500
    close(((points * 2 - 1).norm(dim=1) - .6).abs().max(), 0, .02)


def warp_rnnt():
    import torch
    from warp_rnnt import rnnt_loss
    t, u, v = 7, 4, 6
    logs = torch.randn(1, t, u, v, device="cuda").log_softmax(-1)
    labels = torch.tensor([[2, 3, 5]], dtype=torch.int32, device="cuda")
    length = lambda n: torch.tensor([n], dtype=torch.int32, device="cuda")  # noqa: E731
    a, p = torch.full((t, u), float("-inf")).double(), logs[0].double().cpu()
    a[0, 0] = 0
    for i in range(t):
        for j in range(u):
            if i:
                a[i, j] = torch.logaddexp(a[i, j], a[i - 1, j] + p[i - 1, j, 0])
            if j:
                a[i, j] = torch.logaddexp(a[i, j], a[i, j - 1] + p[i, j - 1, labels[0, j - 1].item()])
    close(rnnt_loss(logs, labels, length(t), length(u - 1))[0], -(a[-1, -1] + p[-1, -1, 0]))


def fused_lncc():
    from fused_lncc import fused_lncc_loss
    a, b = rand(1, 1, 24, 24, 24), rand(1, 1, 24, 24, 24)
    assert fused_lncc_loss(a, a).item() < .05 < .5 < fused_lncc_loss(a, b).item() <= 1


def chamferdist():
    import torch
    from chamferdist import ChamferDistance
    a, b = rand(2, 300, 3), rand(2, 200, 3)
    close(ChamferDistance()(a, b), (torch.cdist(a, b) ** 2).min(2).values.sum(1).mean(), 1e-2)


def torch_points_kernels():
    import torch
    from torch_points_kernels import points_cuda
    a, b = rand(1, 60, 3), rand(1, 300, 3)
    close(points_cuda.three_nn(a, b)[0], (torch.cdist(a, b) ** 2).topk(3, largest=False).values)


def fast_transformers():
    import torch
    from fast_transformers.causal_product import causal_dot_product
    q, k, v = rand(1, 2, 50, 32), rand(1, 2, 50, 32), rand(1, 2, 50, 32)
    close(causal_dot_product(q, k, v), (q @ k.transpose(2, 3)).tril() @ v)


def inplace_abn():
    import torch
    from inplace_abn import InPlaceABN
    x = torch.randn(4, 16, 9, 9, device="cuda")
    want = torch.nn.functional.leaky_relu(torch.nn.functional.batch_norm(x, None, None, training=True), .01)
    close(InPlaceABN(16).cuda()(x.clone()), want)


def fpscan():
    import torch
    from fpscan import pscan
    gates, tokens = rand(2, 16, 512), rand(2, 16, 512)
    want, state = [], torch.zeros(2, 16, device="cuda")
    for i in range(512):
        state = gates[..., i] * state + tokens[..., i]
        want.append(state)
    close(pscan(gates, tokens), torch.stack(want, -1))


def splat(module):
    import torch
    n, to = 300, torch.eye(4, device="cuda")
    means = torch.randn(n, 3, device="cuda")
    means[:, 2] += 5
    near, far, tan = .01, 100., .5
    project = torch.zeros(4, 4, device="cuda")
    project[0, 0] = project[1, 1] = 1 / tan
    project[2, 2], project[2, 3], project[3, 2] = far / (far - near), 1, -far * near / (far - near)
    settings = module.GaussianRasterizationSettings(64, 64, tan, tan, torch.zeros(3, device="cuda"), 1., to, project, 0,
                                                    torch.zeros(3, device="cuda"), False, False)
    color = rand(n, 3).requires_grad_()
    image = module.GaussianRasterizer(settings)(
        means3D=means, means2D=torch.zeros_like(means), opacities=rand(n, 1), colors_precomp=color, scales=rand(n, 3) * .2,
        rotations=torch.nn.functional.normalize(torch.randn(n, 4, device="cuda"), dim=1))[0]
    image.sum().backward()
    assert image.shape == (3, 64, 64) and image.isfinite().all() and image.max() > .1 and color.grad.abs().sum() > 0


def diff_gaussian_rasterization():
    import diff_gaussian_rasterization as module
    splat(module)


def fused_ssim():
    from fused_ssim import fused_ssim as f
    a = rand(1, 3, 64, 64).requires_grad_()
    b = rand(1, 3, 64, 64)
    loss = f(a, b)
    loss.backward()
    close(f(a.detach(), a.detach()), 1)
    assert loss.item() < .5 and a.grad.abs().sum() > 0


def simple_knn():
    import torch
    from simple_knn._C import distCUDA2
    x = rand(800, 3)
    close(distCUDA2(x), (torch.cdist(x, x) ** 2).topk(4, largest=False).values[:, 1:].mean(1))


def torch_harmonics():
    import torch
    from torch_harmonics import DiscreteContinuousConvS2
    torch.manual_seed(0)
    conv = DiscreteContinuousConvS2(4, 4, (24, 48), (12, 24), kernel_shape=(3,))
    x = torch.randn(1, 4, 24, 48)
    want = conv(x)
    close(conv.cuda()(x.cuda()), want)


def autoawq_kernels():
    import torch
    import awq_ext
    import awq_ft_ext, awq_v2_ext, exl_ext, exlv2_ext  # noqa: E401, F401
    x, weight = rand(4, 512, dtype=torch.half), rand(512, dtype=torch.half)
    out = torch.empty_like(x)
    awq_ext.layernorm_forward_cuda(x, weight, out, 1e-6)
    close(out, x.float() * torch.rsqrt((x.float() ** 2).mean(-1, keepdim=True) + 1e-6) * weight.float(), 1e-2)


def ista_daslab_optimizers_cuda():
    import ista_daslab_cuda_tools, ista_daslab_cuda_dense_mfac, ista_daslab_cuda_micro_adam  # noqa: E401, F401
    import ista_daslab_cuda_sparse_mfac, ista_daslab_cuda_sparse_mfac_pruner  # noqa: E401, F401


def xformers():
    import torch
    import xformers as x
    from xformers.ops import sp24
    assert x._has_cpp_library, x._cpp_lib._cpp_library_load_exception
    a = torch.randn(256, 256, device="cuda", dtype=torch.half)
    dense = sp24.sparsify24(a, backend="cutlass")._sp24_to_dense() if hasattr(sp24.Sparse24Tensor, "_sp24_to_dense") \
        else sp24.sparsify24(a, backend="cutlass") @ torch.eye(256, device="cuda", dtype=torch.half)
    assert ((dense.view(256, 64, 4) != 0).sum(-1) <= 2).all() and (dense != 0).float().mean() > .4
    close(dense[dense != 0], a[dense != 0])


def mmcv():
    import torch
    import mmcv._ext as ext
    boxes = torch.tensor([[0., 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30]], device="cuda")
    kept = ext.nms(boxes, torch.tensor([.9, .8, .7], device="cuda"), iou_threshold=.5, offset=0)
    assert sorted(kept.tolist()) == [0, 2]


def sam2():
    import torch
    from sam2._C import get_connected_componnets as components
    image = torch.zeros(1, 1, 32, 32, dtype=torch.uint8, device="cuda")
    image[0, 0, 2:6, 2:10] = image[0, 0, 20:23, 5:7] = image[0, 0, 23, 7] = 1
    labels, counts = components(image)
    assert len(labels[image == 1].unique()) == 2 and not labels[image == 0].any()
    assert sorted(counts[image == 1].unique().tolist()) == [7, 32]


def torch_discounted_cumsum():
    import torch
    from torch_discounted_cumsum import discounted_cumsum_right
    x, want, sum_ = rand(5, 300), [], 0
    for i in reversed(range(300)):
        sum_ = x[:, i] + .9 * sum_
        want.append(sum_)
    close(discounted_cumsum_right(x, .9), torch.stack(want[::-1], 1))


def bilateralfilter_torch():
    from bilateral_filter_layer import BilateralFilter3d
    x = rand(1, 1, 8, 8, 8)
    close(BilateralFilter3d(.8, .8, .8, .5, use_gpu=True).cuda()(x),
          BilateralFilter3d(.8, .8, .8, .5, use_gpu=False)(x.cpu()))


def rotary_emb():
    import torch
    from rotary_emb import apply_rotary
    a, b, angle = rand(2, 9, 4, 16), rand(2, 9, 4, 16), rand(9, 1, 16)
    one, two = torch.empty_like(a), torch.empty_like(b)
    apply_rotary(a, b, angle.cos(), angle.sin(), one, two, False)
    close(one, a * angle.cos() - b * angle.sin())
    close(two, a * angle.sin() + b * angle.cos())


def causal_conv1d():
    import torch
    from causal_conv1d import causal_conv1d_fn
    x, weight, bias = rand(2, 64, 200), rand(64, 4), rand(64)
    want = torch.nn.functional.conv1d(x, weight[:, None], bias, padding=3, groups=64)[..., :200]
    close(causal_conv1d_fn(x, weight, bias, activation="silu"), torch.nn.functional.silu(want))


def mamba_ssm():
    import torch
    import selective_scan_cuda  # noqa: F401
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn, selective_scan_ref
    u, delta, a, b, c, d = rand(2, 32, 150), rand(2, 32, 150), -rand(32, 16), rand(2, 16, 150), rand(2, 16, 150), rand(32)
    args = [u.requires_grad_(), delta, a, b, c, d]
    close(selective_scan_fn(*args), selective_scan_ref(*args))
    got, = torch.autograd.grad(selective_scan_fn(*args).sum(), u)
    close(got, torch.autograd.grad(selective_scan_ref(*args).sum(), u)[0])


def flash_attn():
    import torch
    from flash_attn import flash_attn_func
    q, k, v = [torch.randn(2, 300, 8, 64, device="cuda", dtype=torch.half, requires_grad=True) for _ in range(3)]
    sdpa = torch.nn.functional.scaled_dot_product_attention
    want = sdpa(*[x.float().transpose(1, 2) for x in (q, k, v)], is_causal=True).transpose(1, 2)
    got = flash_attn_func(q, k, v, causal=True)
    close(got, want, 1e-2)
    close(torch.autograd.grad(got.sum(), q)[0], torch.autograd.grad(want.sum(), q)[0], 1e-2)


def torch_linear_assignment():
    import torch
    from torch_linear_assignment import batch_linear_assignment
    cost = torch.rand(5, 7, 9)
    rows = torch.arange(7)
    got, want = batch_linear_assignment(cost.cuda()).cpu(), batch_linear_assignment(cost)
    close(torch.stack([c[rows, g].sum() for c, g in zip(cost, got)]), torch.stack([c[rows, w].sum() for c, w in zip(cost, want)]))


def spatial_correlation_sampler():
    import torch
    from spatial_correlation_sampler import spatial_correlation_sample
    a, b = torch.rand(2, 3, 12, 14), torch.rand(2, 3, 12, 14)
    close(spatial_correlation_sample(a.cuda(), b.cuda(), kernel_size=3, patch_size=3, padding=1),
          spatial_correlation_sample(a, b, kernel_size=3, patch_size=3, padding=1))


def fast_rnnt():
    import torch
    from fast_rnnt import rnnt_loss_simple
    lm, am, symbols = torch.randn(2, 5, 11), torch.randn(2, 20, 11), torch.randint(1, 11, (2, 4))
    close(rnnt_loss_simple(lm.cuda(), am.cuda(), symbols.cuda(), 0), rnnt_loss_simple(lm, am, symbols, 0))


# Wheels whose names are not those of their modules.
dcnv4, pytorch_fast_transformers = DCNv4, fast_transformers


def run(wheels):
    said, names = {}, {os.path.basename(wheel).split("-")[0]: wheel for wheel in wheels}
    for wheel in sorted(wheels):
        file = os.path.basename(wheel)
        name = file.split("-")[0]
        if name not in globals():
            continue  # one that others need
        with tempfile.TemporaryDirectory() as site:
            for path in [wheel] + [names[need] for need in NEEDS.get(name, []) if need in names]:
                zipfile.ZipFile(path).extractall(site)
            child = subprocess.run([sys.executable, "-W", "ignore", os.path.abspath(__file__), "--one", name], cwd=site,
                                   env={**os.environ, "PYTHONPATH": site + os.pathsep + os.environ.get("PYTHONPATH", "")},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        text = child.stdout.decode(errors="replace").strip().split("\n")
        said[file] = "right" if child.returncode == 0 else text[-1]
        print("%-48s %s" % ("-".join(file.split("-")[:2]), said[file]), flush=True)
    return said


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        import torch  # noqa: F401
        globals()[sys.argv[2]]()
    else:
        result = run(sys.argv[1:])
        if os.environ.get("OUT"):
            with open(os.environ["OUT"] + "/gpu.json", "w") as file:
                json.dump(result, file)
        sys.exit(any(line != "right" for line in result.values()))
