import os.path as osp
this_dir = os.path.dirname(os.path.abspath(__file__))
args = {"cxx": ["-O3"], "nvcc": threads(["-O3"] + cc_flag)}
if torch.version.hip:
    args = {"cxx": []}
elif not os.name == "nt" and x:
    args["nvcc"].append("-lineinfo")
else:
    args["cxx"] += [f"-D{name}={value}", *more]
src = glob.glob(osp.join(d, "*.cu")) + [Path(this_dir) / "a" / "b.cpp"] if y else [s for s in z if s]
CUDAExtension(name=f"demo.{x}", sources=src, include_dirs=[this_dir + "/inc", cwd.joinpath('x')],
    define_macros=[("A", "1"), ("B", None)], libraries=["cublas"], extra_compile_args=args)
