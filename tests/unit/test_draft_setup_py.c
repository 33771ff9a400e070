/* test_draft_setup_py.c - what reading tells of a setup.py, in the shapes that real ones have. */
#include "test.h"

#include "base/buf.h"
#include "draft/setup_py.h"

static void
say(struct ws_buf *b, const char *name, const ws_setup_words *words)
{
	for (size_t i = 0; i < words->len; i++) {
		const char *text = words->at[i].text;
		ws_buf_printf(b, "%s%s%s", i == 0 ? name : " ", words->at[i].conditional ? "?" : "",
			text[0] ? text : ".");
	}
	ws_buf_puts(b, words->len > 0 ? "\n" : "");
}

/* Every call as lines of text. */
static const char *
told(const char *text, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_setup_extensions found = {0};
	ws_setup_py_read(ws_str_of(text), a, &found);
	for (size_t i = 0; i < found.len; i++) {
		const struct ws_setup_extension *e = &found.at[i];
		ws_buf_printf(&b, "%s %s\n", e->callee,
			e->module            ? e->module
				: e->module_like ? e->module_like
								 : "?");
		say(&b, "sources ", &e->sources);
		say(&b, "include ", &e->include);
		say(&b, "cxx ", &e->cxx);
		say(&b, "nvcc ", &e->nvcc);
		say(&b, "link ", &e->link);
	}
	return ws_buf_copy(&b, a);
}

WS_TEST(a_plain_call)
{
	assert_string_equal(
		told("setup(ext_modules=[CUDAExtension(name='demo._C',\n"
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
		told("x = CUDAExtension('m', ['a.cu'] + ['b.cu'], libraries=['cublas', 'z'])", a),
		"CUDAExtension m\nsources a.cu b.cu\nlink -lcublas -lz\n");
}

WS_TEST(paths_are_joined)
{
	assert_string_equal(told("import os.path as osp\n"
							 "this_dir = os.path.dirname(os.path.abspath(__file__))\n"
							 "cwd = Path(__file__).parent.resolve()\n"
							 "deep = osp.join('csrc', 'deep')\n"
							 "CUDAExtension('m', [osp.join(deep, 'a.cu'), this_dir + '/b.cu', "
							 "os.path.join(this_dir, \"c.cu\")],\n"
							 "  include_dirs=[Path(this_dir) / 'csrc' / 'in', "
							 "f'{cwd}/third_party/', this_dir, cwd.joinpath('x')])\n",
							a),
		"CUDAExtension m\nsources csrc/deep/a.cu b.cu c.cu\ninclude csrc/in third_party/ . x\n");
}

WS_TEST(globs_are_kept)
{
	assert_string_equal(told("d = osp.join('pkg', 'cuda')\n"
							 "sources = glob.glob(osp.join(d, 'csrc', '*.cu')) + glob.glob(\n"
							 "    osp.join(d, 'csrc', '*.cpp')\n)\n"
							 "sources += [osp.join(d, 'ext.cpp')]\n"
							 "sources = [s for s in sources if 'hip' not in s]\n"
							 "CUDAExtension('m', sources + list(Path('src').glob('*.cc')))\n",
							a),
		"CUDAExtension m\nsources pkg/cuda/csrc/*.cu pkg/cuda/csrc/*.cpp pkg/cuda/ext.cpp "
		"src/*.cc\n");
}

WS_TEST(flags_by_every_road)
{
	assert_string_equal(
		told("def threads(args):\n    return args + ['--threads', '4']\n"
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
		"nvcc -O3 -gencode arch=compute_80,code=sm_80 -lineinfo ?-G\n"
		"CUDAExtension n\nsources a.cu\ncxx -a -DA=1 -DB\nnvcc -b -DA=1 -DB\n"
		"CUDAExtension o\nsources a.cu\ncxx -c\nnvcc -c\n");
}

WS_TEST(other_platforms_are_passed_over)
{
	assert_string_equal(
		told("HIP_BUILD = bool(torch.version.hip)\n"
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
		"CUDAExtension m\nsources a.cu\ncxx -cuda -linux -unix\nnvcc -cuda -linux -unix\n"
		"CUDAExtension n\nsources c.cu\n");
}

WS_TEST(what_only_running_tells_is_left_out)
{
	assert_string_equal(
		told("for name in names:\n"
			 "    sources = [name]\n"
			 "    Extension(f'pkg._{name}', sources, extra_compile_args=os.getenv('F').split())\n",
			a),
		"Extension pkg._*\n");
	assert_string_equal(told("for name in names:\n    CUDAExtension(name, ['a.cu'])\n", a),
		"CUDAExtension ?\nsources a.cu\n");
	assert_string_equal(told("CUDAExtension('m', ['a.cu'] if x else ['b.cu'])", a),
		"CUDAExtension m\nsources ?a.cu ?b.cu\n");
	assert_string_equal(told("class CUDAExtension(Extension):\n  pass\n"
							 "from x import (CUDAExtension, CppExtension)\nBuildExtension(1)\n",
							a),
		"");
}

WS_TEST(one_module_is_told_once_and_cuda_goes_before)
{
	assert_string_equal(told("CppExtension('m', ['a.cpp'])\nCUDAExtension('m', ['a.cpp', 'a.cu'])\n"
							 "CppExtension('m', ['z.cpp'])\n",
							a),
		"CUDAExtension m\nsources a.cpp a.cu\n");
}

WS_TEST(names_are_seen_from_where_they_stand)
{
	assert_string_equal(
		told("f = ['-a']\nCUDAExtension('m', ['a.cu'], extra_compile_args=f)\nf = ['-b']\n", a),
		"CUDAExtension m\nsources a.cu\ncxx -a\nnvcc -a\n");
	assert_string_equal(
		told("f: List[str] = ['-a']\nf = f + ['-b']\nCUDAExtension('m', [*f, 'c.cu'])\n", a),
		"CUDAExtension m\nsources -a -b c.cu\n");
}

WS_TEST(tricks_end)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (int i = 0; i < 100000; i++) {
		ws_buf_puts(&b, "([");
	}
	ws_buf_puts(&b, "\n");
	told(ws_arena_printf(a, "CUDAExtension('m', %s", ws_buf_text(&b)), a);
	ws_buf_clear(&b);
	ws_buf_puts(&b, "x0 = ['a', 'b']\n");
	for (int i = 0; i < 200; i++) {
		ws_buf_printf(&b, "x%d = x%d + x%d\n", i + 1, i, i);
	}
	ws_buf_puts(&b, "CUDAExtension('m', x200)\n");
	told(ws_buf_text(&b), a);
	ws_buf_clear(&b);
	for (int i = 0; i < 20000; i++) {
		ws_buf_puts(&b, "xExtension(");
	}
	told(ws_buf_text(&b), a);
	static const char *const odd[] = {"CUDAExtension(", "CUDAExtension()", "CUDAExtension(,=,)",
		"CUDAExtension(name=)", "CUDAExtension('m', sources=[", "x = \nCUDAExtension(x, x[",
		"CUDAExtension(f'{', f'{}', include_dirs=[f'{x', '}'])", "CUDAExtension('m',{}['a'],dict(",
		"CUDAExtension(a/b/, +, *)", "if :\n x=\nelse:\n CUDAExtension(x if)",
		"CUDAExtension(x for x in)", "CUDAExtension('m', define_macros=[(],[)])",
		".Extension(.glob(", "Extension(x.glob)"};
	for (size_t i = 0; i < WS_LEN(odd); i++) {
		told(odd[i], a);
	}
}
