/* test_draft_setup_py.c - what reading tells of a setup.py, in the shapes that real ones have. */
#include "test.h"

#include "base/fs.h"
#include "base/text.h"
#include "sys/child.h"

struct file {
	const char *path, *text;
};

/* The draft of a text beside files, as lines, or the error. */
static const char *
told_of(const char *text, const struct file *files, size_t count, struct ws_arena *a)
{
	static unsigned number;
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *folder = ws_path_join(a, ws_test_dir(a), ws_arena_printf(a, "s%u", number++), NULL);
	const struct file setup = {"setup.py", text};
	struct ws_err err;
	for (size_t i = 0; i <= count; i++) {
		const struct file *file = i < count ? &files[i] : &setup;
		const char *path = ws_path_join(a, folder, file->path, NULL);
		assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
		assert_ok(ws_fs_write(path, file->text, strlen(file->text), 0644, &err), err);
	}
	const char *const argv[] = {"/usr/bin/env", "python3",
		WS_SOURCE_DATA_DIR "/tests/support/setup_lines.py", folder, NULL};
	assert_ok(ws_child_ask(&(struct ws_child_order){.argv = argv}, &b, &err), err);
	return ws_buf_copy(&b, a);
}

static const char *
reported(const char *text, struct ws_arena *a)
{
	return told_of(text, NULL, 0, a);
}

#define TOLD_OF(text, files) told_of(text, files, WS_LEN(files), a)

WS_TEST(a_plain_call)
{
	assert_string_equal(
		reported("setup(ext_modules=[CUDAExtension(name='demo._C',\n"
				 "  sources=['csrc/a.cpp', 'csrc/b.cu'],\n"
				 "  include_dirs=['csrc'],\n"
				 "  extra_compile_args={'cxx': ['-O3'], 'nvcc': ['-O3', '-lineinfo']})])\n",
			a),
		"CUDAExtension demo._C\nsources csrc/a.cpp csrc/b.cu\ninclude csrc\ncxx -O3\n"
		"nvcc -O3 -lineinfo\n");
}

WS_TEST(arguments_by_place)
{
	assert_string_equal(
		reported("x = CUDAExtension('m', ['a.cu'] + ['b.cu'], libraries=['cublas', 'z'])", a),
		"CUDAExtension m\nsources a.cu b.cu\nlink -lcublas -lz\n");
}

/* As stainx does it. */
WS_TEST(objects_of_classes_of_the_sources)
{
	assert_string_equal(
		reported("class Flags:\n"
				 "  BASE: ClassVar[list[str]] = ['-O3']\n"
				 "  def __init__(self):\n    self.more = ['-lineinfo']\n"
				 "    if unknown():\n      self.more = ['-lineinfo', '-g']\n"
				 "  def get(self, capability):\n"
				 "    flags = self.BASE.copy()\n    flags.extend(self.more)\n    return flags\n"
				 "class Base:\n  @staticmethod\n  def named(name):\n    return 'demo.' + name\n"
				 "class Builder(Base):\n"
				 "  def __init__(self, root: Path):\n    self.root, self.flags = root, Flags()\n"
				 "  def build(self):\n"
				 "    return [CUDAExtension(self.named('_C'), [str(self.root / 'a.cu')],\n"
				 "      extra_compile_args={'nvcc': self.flags.get(self.unknown)})]\n"
				 "builder = Builder(Path(__file__).parent / 'csrc')\n"
				 "setup(ext_modules=builder.build())\n",
			a),
		"CUDAExtension demo._C\nsources csrc/a.cu\nnvcc -O3 -lineinfo ?-g\n");
}

WS_TEST(paths_are_joined)
{
	assert_string_equal(reported("import os.path as osp\n"
								 "this_dir = os.path.dirname(os.path.abspath(__file__))\n"
								 "cwd = Path(__file__).parent.resolve()\n"
								 "deep = osp.join('csrc', 'deep')\n"
								 "CUDAExtension('m', [osp.join(deep, 'a.cu'), this_dir + '/b.cu', "
								 "os.path.join(this_dir, \"c.cu\")],\n"
								 "  include_dirs=[Path(this_dir) / 'csrc' / 'in', "
								 "f'{cwd}/third_party/', this_dir, cwd.joinpath('x')])\n",
							a),
		"CUDAExtension m\nsources csrc/deep/a.cu b.cu c.cu\ninclude csrc/in third_party . x\n");
}

WS_TEST(globs_find_files)
{
	static const struct file files[] = {{"pkg/cuda/csrc/b.cu", ""}, {"pkg/cuda/csrc/a.cu", ""},
		{"pkg/cuda/csrc/deep/c.cu", ""}, {"pkg/cuda/csrc/x_hip.cpp", ""},
		{"pkg/cuda/csrc/x.cpp", ""}, {"src/y.cc", ""}, {"all/1/2/z.cu", ""}};
	assert_string_equal(
		TOLD_OF("d = osp.join('pkg', 'cuda')\n"
				"sources = glob.glob(osp.join(d, 'csrc', '*.cu')) + glob.glob(\n"
				"    osp.join(d, 'csrc', '*.cpp')\n)\n"
				"sources += [osp.join(d, 'ext.cpp')]\n"
				"sources = [s for s in sources if 'hip' not in s]\n"
				"more = glob.glob('all/**/*.cu', recursive=True) + glob.glob('none/*.cu')\n"
				"CUDAExtension('m', sources + list(Path('src').glob('*.cc')) + more)\n",
			files),
		"CUDAExtension m\nsources pkg/cuda/csrc/a.cu pkg/cuda/csrc/b.cu pkg/cuda/csrc/x.cpp "
		"pkg/cuda/ext.cpp src/y.cc all/1/2/z.cu\nnothing matches none/*.cu\n");
}

WS_TEST(flags_by_every_road)
{
	assert_string_equal(
		reported("def threads(args):\n    return args + ['--threads', '4']\n"
				 "cc_flag = []\n"
				 "cc_flag.append('-gencode')\n"
				 "cc_flag.append('arch=compute_80,code=sm_80')\n"
				 "args = {'cxx': ['-O3'], 'nvcc': threads(['-O3'] + cc_flag)}\n"
				 "args['cxx'] += ['-Wno-x']\n"
				 "args['nvcc'].append('-lineinfo')\n"
				 "if DEBUG:\n    args['nvcc'] += ['-G']\n"
				 "CUDAExtension('m', ['a.cu'], extra_compile_args=args)\n"
				 "CUDAExtension('n', ['a.cu'], extra_compile_args=dict(cxx=['-a'], nvcc=['-b']),\n"
				 "  define_macros=[('A', '1'), ('B', None)])\n"
				 "CUDAExtension('o', ['a.cu'], extra_compile_args=['-c'], define_macros=macros)\n",
			a),
		"CUDAExtension m\nsources a.cu\ncxx -O3 -Wno-x\n"
		"nvcc -O3 -gencode arch=compute_80,code=sm_80 --threads 4 -lineinfo ?-G\n"
		"CUDAExtension n\nsources a.cu\ncxx -a -DA=1 -DB\nnvcc -b -DA=1 -DB\n"
		"CUDAExtension o\nsources a.cu\ncxx -c ...\nnvcc -c ...\n");
}

WS_TEST(other_platforms_are_passed_over)
{
	assert_string_equal(
		reported(
			"HIP_BUILD = bool(torch.version.hip)\n"
			"flags = []\n"
			"if HIP_BUILD:\n    flags = ['-hip']\n"
			"else:\n    flags = ['-cuda']\n"
			"if sys.platform == 'win32':\n    flags += ['/win']\n"
			"elif sys.platform != 'darwin':\n    flags += ['-linux']\n"
			"else:\n    flags += ['-mac']\n"
			"if not os.name == 'nt':\n    flags.append('-unix')\nelse:\n    flags.append('/nt')\n"
			"if not SKIP and not IS_ROCM:\n    CUDAExtension('m', ['a.cu'], "
			"extra_compile_args=flags)\n"
			"elif not SKIP and IS_ROCM:\n    CUDAExtension('m2', ['b.cu'])\n"
			"chip = 1\nif chip:\n    CUDAExtension('n', ['c.cu'] if not IS_HIP_EXTENSION else "
			"['d.cu'])\n",
			a),
		"CUDAExtension ?m\nsources a.cu\ncxx -cuda -linux -unix\nnvcc -cuda -linux -unix\n"
		"CUDAExtension n\nsources c.cu\n");
}

WS_TEST(values_that_only_a_run_would_show_are_left_out)
{
	assert_string_equal(
		reported(
			"for name in names:\n"
			"    sources = [name]\n"
			"    Extension(f'pkg._{name}', sources, extra_compile_args=os.getenv('F').split())\n",
			a),
		"Extension pkg._*\ncxx ...\nnvcc ...\n");
	assert_string_equal(reported("for name in names:\n    CUDAExtension(name, ['a.cu'])\n", a),
		"CUDAExtension ?\nsources a.cu\n");
	assert_string_equal(reported("CUDAExtension('m', ['a.cu'] if x else ['b.cu'])", a),
		"CUDAExtension m\nsources ?a.cu ?b.cu\n");
	assert_string_equal(reported("class CUDAExtension(Extension):\n  pass\n"
								 "from x import (CUDAExtension, CppExtension)\nBuildExtension(1)\n",
							a),
		"");
}

WS_TEST(a_module_is_written_once_and_its_cuda_form_wins)
{
	assert_string_equal(
		reported("CppExtension('m', ['a.cpp'])\nCUDAExtension('m', ['a.cpp', 'a.cu'])\n"
				 "CppExtension('m', ['z.cpp'])\n",
			a),
		"CUDAExtension m\nsources a.cpp a.cu\n");
}

WS_TEST(names_are_seen_from_where_they_stand)
{
	assert_string_equal(
		reported("f = ['-a']\nCUDAExtension('m', ['a.cu'], extra_compile_args=f)\nf = ['-b']\n", a),
		"CUDAExtension m\nsources a.cu\ncxx -a\nnvcc -a\n");
	assert_string_equal(
		reported("f: List[str] = ['-a']\nf = f + ['-b']\nCUDAExtension('m', [*f, 'c.cu'])\n", a),
		"CUDAExtension m\nsources -a -b c.cu\n");
}

WS_TEST(functions_are_followed)
{
	/* torch-harmonics 0.8.0: "disco" is not a flag; one of the two returns is taken. */
	assert_string_equal(
		reported("def args(name):\n"
				 "    debug = os.environ.get('DEBUG', '0') == '1'\n"
				 "    more = []\n"
				 "    if os.getenv('PROFILE') == '1':\n        more.append('-lineinfo')\n"
				 "    if debug:\n        return {'cxx': ['-g'], 'nvcc': ['-G'] + more}\n"
				 "    else:\n        print(f'{name}')\n"
				 "        return {'cxx': ['-O3'], 'nvcc': ['-O3'] + more}\n"
				 "CUDAExtension('m', ['a.cu'], extra_compile_args=args('disco'))\n"
				 "CUDAExtension('n', ['a.cu'], extra_compile_args={'cxx': flags_of('disco')})\n",
			a),
		"CUDAExtension m\nsources a.cu\ncxx -O3\nnvcc -O3 ?-lineinfo\n"
		"CUDAExtension n\nsources a.cu\ncxx ...\n");
	assert_string_equal(reported("def f(x):\n    if x > y:\n        return ['-a', '-b']\n"
								 "    return ['-b', '-c']\n"
								 "CUDAExtension('m', ['a.cu'], extra_link_args=f(1))\n",
							a),
		"CUDAExtension m\nsources a.cu\nlink ?-a -b ?-c\n");
}

WS_TEST(other_names_of_an_extension)
{
	/* chamferdist 1.0.3; the CUDA branch is taken without asking the environment. */
	assert_string_equal(
		reported(
			"from torch.utils.cpp_extension import CUDA_HOME, CppExtension, CUDAExtension as C\n"
			"def get():\n"
			"    extension = CppExtension\n    sources = ['a.cpp']\n    macros = []\n"
			"    if (torch.cuda.is_available() and CUDA_HOME is not None) or os.getenv('F'):\n"
			"        extension = C\n        sources += ['a.cu']\n"
			"        macros += [('WITH_CUDA', None)]\n"
			"    return [extension('m._C', sources, define_macros=macros)]\n"
			"setup(ext_modules=get())\n",
			a),
		"CUDAExtension m._C\nsources a.cpp a.cu\ncxx -DWITH_CUDA\nnvcc -DWITH_CUDA\n");
}

WS_TEST(branches_that_are_not_taken)
{
	/* mmcv 2.2.0: each branch has sources of its own. */
	static const struct file files[] = {{"cuda/a.cu", ""}, {"npu/n.cpp", ""}, {"cpu/c.cpp", ""}};
	assert_string_equal(
		TOLD_OF("kind = ''\ntry:\n    import torch\n"
				"    if torch.__version__ == 'parrots':\n        kind = 'parrots'\n"
				"    else:\n        kind = 'pytorch'\n"
				"except ModuleNotFoundError:\n    print('none')\n"
				"if kind == 'parrots':\n    f = glob.glob('npu/*.cpp')\n"
				"elif kind == 'pytorch':\n"
				"    macros = []\n"
				"    if os.getenv('DIOPI', '0') == '1':\n"
				"        f = glob.glob('cpu/*.cpp')\n        macros += [('DIOPI', None)]\n"
				"    elif torch.cuda.is_available() or os.getenv('FORCE_CUDA', '0') == '1':\n"
				"        f = glob.glob('cuda/*.cu')\n"
				"    elif (hasattr(torch, 'is_mlu_available') and torch.is_mlu_available()):\n"
				"        f = glob.glob('npu/*.cpp')\n"
				"    else:\n        f = glob.glob('cpu/*.cpp')\n"
				"    CUDAExtension('m', f, define_macros=macros)\n",
			files),
		"CUDAExtension m\nsources cuda/a.cu\ncxx ?-DDIOPI\nnvcc ?-DDIOPI\n");
	assert_string_equal(
		reported("if torch_version < 2:\n    f = ['-a', '-b']\nelse:\n    f = ['-b', '-c']\n"
				 "if deep:\n    f += ['-d']\n    CUDAExtension('m', ['a.cu'], extra_link_args=f)\n"
				 "CUDAExtension('n', ['a.cu'], extra_link_args=f)\n",
			a),
		"CUDAExtension ?m\nsources a.cu\nlink ?-a -b ?-c -d\n"
		"CUDAExtension n\nsources a.cu\nlink ?-a -b ?-c ?-d\n");
}

WS_TEST(a_module_that_only_an_environment_variable_makes)
{
	assert_string_equal(reported("if os.getenv('WITH_CUDA', '0') == '1':\n"
								 "    CUDAExtension('m', ['a.cu'])\n",
							a),
		"CUDAExtension ?m\nsources a.cu\n");
}

WS_TEST(loops_are_followed_turn_by_turn)
{
	/* torch-scatter 2.1.2 */
	static const struct file files[] = {{"csrc/x.cpp", ""}, {"csrc/y.cpp", ""},
		{"csrc/hip/x.cpp", ""}, {"csrc/cuda/x_cuda.cu", ""}};
	assert_string_equal(
		TOLD_OF("WITH_CUDA = False\n"
				"if torch.cuda.is_available():\n"
				"    WITH_CUDA = CUDA_HOME is not None or torch.version.hip\n"
				"suffices = ['cpu', 'cuda'] if WITH_CUDA else ['cpu']\n"
				"if os.getenv('FORCE_ONLY_CPU', '0') == '1':\n    suffices = ['cpu']\n"
				"def get_extensions():\n"
				"    extensions = []\n"
				"    main_files = glob.glob(osp.join('csrc', '*.cpp'))\n"
				"    for main, suffix in product(main_files, suffices):\n"
				"        define_macros = [('WITH_PYTHON', None)]\n"
				"        args = {'cxx': ['-O3']}\n"
				"        info = parallel_info()\n"
				"        if ('backend: OpenMP' in info and sys.platform != 'darwin'):\n"
				"            args['cxx'] += ['-fopenmp']\n"
				"        if suffix == 'cuda':\n"
				"            define_macros += [('WITH_CUDA', None)]\n"
				"            flags = os.getenv('NVCC_FLAGS', '')\n"
				"            flags = [] if flags == '' else flags.split(' ')\n"
				"            flags += ['-O2']\n"
				"            args['nvcc'] = flags\n"
				"        name = main.split(os.sep)[-1][:-4]\n"
				"        sources = [main]\n"
				"        path = osp.join('csrc', 'cuda', f'{name}_cuda.cu')\n"
				"        if suffix == 'cuda' and osp.exists(path):\n"
				"            sources += [path]\n"
				"        Extension = CppExtension if suffix == 'cpu' else CUDAExtension\n"
				"        extensions += [Extension(f'p._{name}_{suffix}', sources,\n"
				"            define_macros=define_macros, extra_compile_args=args)]\n"
				"    return extensions\n"
				"setup(ext_modules=get_extensions(), cmdclass={'build_ext':\n"
				"    BuildExtension.with_options(no_python_abi_suffix=True)})\n",
			files),
		"CppExtension p._x_cpu as .so\nsources csrc/x.cpp\ncxx -O3 -fopenmp -DWITH_PYTHON\n"
		"nvcc -DWITH_PYTHON\n"
		"CUDAExtension p._x_cuda as .so\nsources csrc/x.cpp csrc/cuda/x_cuda.cu\n"
		"cxx -O3 -fopenmp -DWITH_PYTHON -DWITH_CUDA\nnvcc -O2 -DWITH_PYTHON -DWITH_CUDA\n"
		"CppExtension p._y_cpu as .so\nsources csrc/y.cpp\ncxx -O3 -fopenmp -DWITH_PYTHON\n"
		"nvcc -DWITH_PYTHON\n"
		"CUDAExtension p._y_cuda as .so\nsources csrc/y.cpp\n"
		"cxx -O3 -fopenmp -DWITH_PYTHON -DWITH_CUDA\nnvcc -O2 -DWITH_PYTHON -DWITH_CUDA\n");
}

WS_TEST(data_files)
{
	static const struct file files[] = {{"p/__init__.py", ""}, {"p/a.json", ""}, {"p/b.json", ""},
		{"p/k/x.cu", ""}, {"p/k/y.h", ""}, {"p/k/not.txt", ""}, {"p/q/__init__.py", ""},
		{"p/q/d.bin", ""}, {"other/z.cu", ""},
		{"MANIFEST.in",
			"include p/*.json # all\nrecursive-include p/k *.cu \\\n *.h\n"
			"exclude p/b.json\ngraft other\ngraft p/q\n"}};
	assert_string_equal(TOLD_OF("setup(packages=['p'], include_package_data=True)", files),
		"data p/a.json p/k/x.cu p/k/y.h p/q/*\n");
	assert_string_equal(
		TOLD_OF("setup(package_data={'p': ['*.json', 'k/*'], 'p.q': ['*.no']})", files),
		"data p/a.json p/b.json p/k/*\n");
	assert_string_equal(TOLD_OF("setup(packages=['p'])", files), "");
}

WS_TEST(tricks_end)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (int i = 0; i < 100000; i++) {
		ws_buf_puts(&b, "([");
	}
	ws_buf_puts(&b, "\n");
	reported(ws_arena_printf(a, "CUDAExtension('m', %s", ws_buf_text(&b)), a);
	ws_buf_clear(&b);
	ws_buf_puts(&b, "x0 = ['a', 'b']\n");
	for (int i = 0; i < 200; i++) {
		ws_buf_printf(&b, "x%d = x%d + x%d\n", i + 1, i, i);
	}
	ws_buf_puts(&b, "CUDAExtension('m', x200)\n");
	reported(ws_buf_text(&b), a);
	ws_buf_clear(&b);
	for (int i = 0; i < 20000; i++) {
		ws_buf_puts(&b, "xExtension(");
	}
	reported(ws_buf_text(&b), a);
	static const char *const odd[] = {"CUDAExtension(", "CUDAExtension()", "CUDAExtension(,=,)",
		"CUDAExtension(name=)", "CUDAExtension('m', sources=[", "x = \nCUDAExtension(x, x[",
		"CUDAExtension(f'{', f'{}', include_dirs=[f'{x', '}'])", "CUDAExtension('m',{}['a'],dict(",
		"CUDAExtension(a/b/, +, *)", "if :\n x=\nelse:\n CUDAExtension(x if)",
		"CUDAExtension(x for x in)", "CUDAExtension('m', define_macros=[(],[)])",
		".Extension(.glob(", "Extension(x.glob)"};
	for (size_t i = 0; i < WS_LEN(odd); i++) {
		reported(odd[i], a);
	}
}
