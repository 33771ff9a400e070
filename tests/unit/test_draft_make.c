/* test_draft_make.c - drafts from source trees: of a usual one, of odd ones, of hostile ones. */
#include "test.h"

#include "base/fs.h"
#include "config/recipe.h"
#include "draft/draft.h"
#include "store/tree.h"

struct file {
	const char *path, *text;
};

static struct ws_tree
make_tree(struct ws_arena *a, const struct file *files, size_t count)
{
	struct ws_store store;
	struct ws_tree tree;
	struct ws_err err;
	assert_ok(ws_store_open(ws_test_dir(a), a, &store, &err), err);
	struct ws_tree_builder *b = ws_tree_begin(&store, "src-demo-1.0", a, &err);
	assert_non_null(b);
	for (size_t i = 0; i < count; i++) {
		const char *text = files[i].text;
		assert_ok(ws_tree_add_file(b, files[i].path, text, strlen(text), false, &err), err);
	}
	assert_ok(ws_tree_commit(b, a, &tree, &err), err);
	ws_store_close(&store);
	return tree;
}

/* The text of the draft; it can be read again, into @a recipe. */
static const char *
draft_of(struct ws_arena *a, const struct file *files, size_t count, struct ws_recipe *recipe)
{
	struct ws_tree tree = make_tree(a, files, count);
	static const struct ws_source_spec spec = {.kind = WS_SOURCE_SDIST,
		.file = "demo_ops-1.0.tar.gz",
		.sha256 = "0000000000000000000000000000000000000000000000000000000000000000"};
	const struct ws_draft_order order = {
		.reader = WS_SOURCE_DATA_DIR "/builder/draft/reader",
		.path_variable = "/usr/bin:/usr/local/bin:/bin",
		.partial = ws_test_dir(a),
		.folder = tree.path,
		.from = spec.file,
		.name = "demo-ops",
		.distribution = "demo-ops",
		.version = "1.0",
		.source = &spec,
	};
	struct ws_draft draft;
	struct ws_err err;
	assert_ok(ws_draft_make(&order, a, &draft, &err), err);
	const char *written = draft.text;
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	assert_ok(ws_json_parse("draft", written, strlen(written), WS_JSON_RELAXED, a, doc, &err), err);
	assert_ok(ws_recipe_parse(doc, "/", a, recipe, &err), err);
	return written;
}

#define DRAFT(files, recipe) draft_of(a, files, WS_LEN(files), recipe)

static const char info[] =
	"Metadata-Version: 2.1\nName: demo_ops\nVersion: 1.0\nSummary: Two kernels\n"
	"Home-page: https://github.com/someone/demo-ops\nLicense-File: LICENSE\nLicense-File: GONE\n"
	"Requires-Python: >=3.9\nRequires-Dist: torch\nRequires-Dist: pytest; extra == \"dev\"\n";

WS_TEST(a_usual_package)
{
	static const struct file files[] = {
		{"PKG-INFO", info},
		{"LICENSE", ""},
		{"README.md", ""},
		{"setup.py",
			"CUDAExtension('demo_ops._C', ['csrc/bind.cpp', 'csrc/k.cu'],\n"
			"  extra_compile_args={'cxx': ['-O3', '-std=c++17'], 'nvcc': ['-O3', '-gencode',\n"
			"  'arch=compute_90a,code=sm_90a', '-gencode=arch=compute_80,code=sm_80', '--threads', "
			"'4',\n"
			"  '-Xcompiler', '-fopenmp', '-I', 'x', '/bigobj', '-a -b']})\n"},
		{"csrc/bind.cpp", "#include <torch/extension.h>\n#include \"k.h\"\n#include <vector>\n"},
		{"csrc/k.cu", "#include \"k.h\"\n#include \"deep/x.cuh\"\n#include <lib/tool.h>\n"},
		{"csrc/inc/k.h", "#include \"gone.h\"\n"},
		{"csrc/k_hip.cu", ""},
		{"csrc/inc/deep/x.cuh", ""},
		{"third_party/lib/include/lib/tool.h", ""},
		{"demo_ops/__init__.py", ""},
		{"demo_ops/table.json", ""},
		{"tests/__init__.py", ""},
		{"tests/t.cu", ""},
	};
	struct ws_recipe recipe;
	const char *text = DRAFT(files, &recipe);
	const struct ws_extension *e = &recipe.extensions[0];
	assert_string_equal(recipe.distribution, "demo_ops");
	assert_int_equal(recipe.extension_count, 1);
	assert_string_equal(e->module, "demo_ops._C");
	assert_int_equal(e->binding, WS_BINDING_PYBIND);
	assert_int_equal(e->source_list_count, 2);
	assert_int_equal(e->include_count, 2);
	assert_string_equal(e->include[0], "csrc/inc");
	assert_string_equal(e->include[1], "third_party/lib/include");
	assert_int_equal(e->flags.cxx_count, 1);
	assert_int_equal(e->flags.nvcc_count, 5);
	assert_string_equal(e->flags.nvcc[1], "-Xcompiler");
	assert_string_equal(e->flags.nvcc[4], "-b");
	assert_int_equal(recipe.cxx_std, 17);
	assert_int_equal(recipe.archs.count, 10);
	assert_int_equal(recipe.archs.at[0].number, 80);
	assert_int_equal(recipe.python.package_count, 1);
	assert_int_equal(recipe.metadata.license_file_count, 1);
	assert_int_equal(recipe.metadata.extra_count, 2);
	assert_string_equal(recipe.metadata.requires_python, ">=3.9");
	assert_string_equal(recipe.metadata.description_file, "README.md");
	assert_int_equal(recipe.check.import_count, 2);
	assert_contains(text, "// check: headers in quotes that are not in the sources: gone.h\n");
	assert_contains(text, "only if \"data\" names them: demo_ops/table.json\n");
	assert_contains(text, "// {\"git\": \"https://github.com/someone/demo-ops\", \"commit\":");
}

WS_TEST(many_sources_become_a_pattern)
{
	static const struct file files[] = {
		{"setup.py", "CUDAExtension('m', ['a.cpp'] + glob.glob('k/*.cu') + ['j/%d.cu'])"},
		{"a.cpp", "TORCH_LIBRARY(m, x)\n#include <torch/library.h>\n"},
		{"b.cpp", ""},
		{"k/a.cu", ""},
		{"k/b.cu", ""},
		{"k/c.cu", ""},
		{"k/d.cu", ""},
		{"k/e.cu", ""},
		{"k/f.cu", ""},
		{"k/g.cu", ""},
		{"k/h.cu", ""},
		{"k/i.cu", ""},
		{"k/j.cu", ""},
		{"k/k.cu", ""},
		{"k/l.cu", ""},
		{"k/deep/7.cu", ""},
	};
	struct ws_recipe recipe;
	DRAFT(files, &recipe);
	const struct ws_extension *e = &recipe.extensions[0];
	assert_int_equal(e->source_list_count, 3);
	assert_string_equal(e->sources[0].paths[0], "a.cpp");
	assert_string_equal(e->sources[1].glob, "k/*.cu");
	assert_int_equal(e->sources[1].expected, 12);
	assert_string_equal(e->sources[2].paths[0], "j/%d.cu");
	assert_int_equal(e->binding, WS_BINDING_TORCH_LIBRARY);
}

WS_TEST(bindings_follow_from_what_is_included)
{
	static const struct {
		const char *text;
		enum ws_binding binding;
	} kinds[] = {
		{"#include <torch/csrc/stable/library.h>\n#include <torch/headeronly/x.h>\n",
			WS_BINDING_STABLE_ABI},
		{"#include <torch/csrc/stable/library.h>\n#include <ATen/ATen.h>\n",
			WS_BINDING_TORCH_LIBRARY},
		{"#include <Python.h>\n#include <torch/library.h>\n", WS_BINDING_PYBIND},
		{"#include <torch/torch.h>\n", WS_BINDING_PYBIND},
		{"#include <torch/script.h>\n", WS_BINDING_TORCH_LIBRARY},
		{"#include <cuda_runtime.h>\n", WS_BINDING_C_ABI},
	};
	for (size_t i = 0; i < WS_LEN(kinds); i++) {
		const struct file files[] = {
			{"setup.py", "CUDAExtension('m', ['a.cu'])"}, {"a.cu", kinds[i].text}};
		struct ws_recipe recipe;
		DRAFT(files, &recipe);
		assert_int_equal(recipe.extensions[0].binding, kinds[i].binding);
	}
}

WS_TEST(without_a_setup_py_there_are_still_sources)
{
	static const struct file files[] = {
		{"src/demo_ops/__init__.py", ""},
		{"src/demo_ops/bind.cpp", "PYBIND11_MODULE( demo_native , m) {}"},
		{"src/demo_ops/k.cu", ""},
		{"examples/x.cu", ""},
		{"third_party/cutlass/tools/y.cu", ""},
	};
	struct ws_recipe recipe;
	const char *text = DRAFT(files, &recipe);
	assert_string_equal(recipe.extensions[0].module, "demo_native");
	assert_int_equal(recipe.extensions[0].source_list_count, 2);
	assert_string_equal(recipe.python.root, "src");
	assert_string_equal(recipe.python.packages[0], "demo_ops");
	assert_contains(text, "PYBIND11_MODULE says so");
	assert_contains(text, "PKG-INFO has none");
}

WS_TEST(a_package_of_python_alone)
{
	static const struct file files[] = {{"demo_ops.py", ""}, {"setup.py", "setup()"}};
	struct ws_recipe recipe;
	DRAFT(files, &recipe);
	assert_int_equal(recipe.extension_count, 0);
	assert_string_equal(recipe.python.modules[0], "demo_ops.py");
}

WS_TEST(modules_of_a_loop_are_noted)
{
	static const struct file files[] = {{"csrc/a.cpp", "#include <torch/extension.h>\n"},
		{"setup.py",
			"for name in names:\n"
			"    CUDAExtension(f'demo_ops._{name}_cuda', [f'csrc/{name}.cpp'])\n"}};
	struct ws_recipe recipe;
	const char *text = DRAFT(files, &recipe);
	assert_string_equal(recipe.extensions[0].module, "demo_ops._C");
	assert_contains(text, "setup.py calls it demo_ops._*_cuda; where a loop makes several,");
}

WS_TEST(common_members_of_modules_are_written_once)
{
	static const struct file files[] = {{"demo_ops/__init__.py", ""}, {"demo_ops/t.bin", ""},
		{"inc/x.h", ""}, {"a.cpp", "#include <torch/extension.h>\n"}, {"k.cu", ""},
		{"setup.py",
			"for kind in ['cpu', 'cuda']:\n"
			"    flags = {'cxx': ['-O3'], 'nvcc': ['-O2', '-Xcompiler', 'fopenmp', 'disco']}\n"
			"    sources = ['a.cpp']\n"
			"    if kind == 'cuda':\n"
			"        sources.append('k.cu')\n        flags['cxx'].append('-DC')\n"
			"    CUDAExtension(f'demo_ops._{kind}', sources, include_dirs=['inc'],\n"
			"        extra_compile_args=flags)\n"
			"setup(cmdclass={'b': BuildExtension.with_options(no_python_abi_suffix=True)},\n"
			"    package_data={'demo_ops': ['*.bin']})\n"}};
	struct ws_recipe recipe;
	const char *text = DRAFT(files, &recipe);
	assert_int_equal(recipe.extension_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(recipe.extensions[i].suffix, ".so");
		assert_int_equal(recipe.extensions[i].include_count, 1);
		assert_int_equal(recipe.extensions[i].flags.cxx_count, 1 + i);
	}
	assert_contains(text,
		"  \"every_extension\": {\n"
		"    // check: its sources include headers of Python or pybind11\n"
		"    \"binding\": \"pybind\",\n    \"suffix\": \".so\",\n    \"include\": [\"inc\"],\n"
		"    \"cxx_flags\": [\"-O3\"],\n"
		"    \"nvcc_flags\": [\"-O2\", \"-Xcompiler\", \"fopenmp\"]\n  },\n");
	assert_contains(text, "words of setup.py that are not flags, left out: disco\n");
	assert_contains(text,
		"    {\n      \"module\": \"demo_ops._cpu\",\n      \"sources\": [\"a.cpp\"]\n    },\n");
	assert_contains(text, "\"data\": [\"demo_ops/*\"]");
}

WS_TEST(sources_that_are_not_there_are_noted)
{
	static const struct file files[] = {{"demo_ops/__init__.py", ""},
		{"setup.py", "CUDAExtension('m', ['csrc/a.cpp'], include_dirs=['inc'])"}};
	struct ws_recipe recipe;
	const char *text = DRAFT(files, &recipe);
	assert_contains(text, "named by setup.py, not in these sources: csrc/a.cpp\n");
	assert_contains(text, "setup.py names folders that do not exist: inc\n");
	assert_int_equal(recipe.extensions[0].binding, WS_BINDING_PYBIND);
}

WS_TEST(hostile_sources_give_a_draft_all_the_same)
{
	static const struct file files[] = {
		{"PKG-INFO",
			"Name: other\nSummary: a\"b\\c */ //\nHome-page: https://github.com/a/\"b\n"
			"Project-URL: X, https://github.com/a/b\nRequires-Python: >=frob\nLicense-Expression: "
			"MIT\n"
			"License: MIT\nClassifier: License :: X\nRequires-Dist: torch\nKeywords: a,a,a\n"},
		{"setup.py",
			"CUDAExtension('m\\n\"}]', ['a\"b.cu', 'b.cpp', '../x.cu', '/etc/passwd.cu', 'k/*.cu', "
			"'\\x01.cu', 'a\\nb.cu'],\n"
			"  include_dirs=['..', '/', 'a\"b', 'x\\ny'],\n"
			"  extra_compile_args={'cxx': ['-D\"x\\ny', '\\x1b[2J', '', ' ', '-std=c++99', "
			"'-DA=\"b\"'],\n"
			"  'nvcc': ['-gencode'] + ['arch=compute_99999999999999999999', '-arch=sm_1', "
			"'-ok\\x7f']})\n"},
		{"a\"b.cu",
			"#include \"../../../../etc/passwd\"\n#include \"\"\n#include \"a\\\nb\"\n#include "
			"\"a\"b.cu\"\n"
			"PYBIND11_MODULE(\"], m)\nPYBIND11_MODULE("},
		{"b.cpp", ""},
		{"k/[x].cu", "#include \"[x].cu\"\n"},
		{"weird name.py/__init__.py", ""},
		{"p\"kg/__init__.py", ""},
		{"p\"kg/d\"ata", ""},
	};
	struct ws_recipe recipe;
	const char *text = DRAFT(files, &recipe);
	assert_string_equal(recipe.distribution, "demo-ops");
	assert_string_equal(recipe.metadata.license_expression, "MIT");
	assert_null(recipe.metadata.license);
	assert_int_equal(recipe.python.package_count, 0);
	assert_null(strchr(text, '\033'));
	assert_int_equal(recipe.archs.count, 0);
	assert_string_equal(recipe.extensions[0].flags.cxx[0], "-DA=\"b\"");
}

WS_TEST(names_of_source_distributions)
{
	static const struct {
		const char *file, *version;
	} cases[] = {{"demo_ops-1.0.tar.gz", "1.0"}, {"demo-ops-1.0.zip", "1.0"},
		{"Demo.Ops-1.0rc1.tar.gz", "1.0rc1"}, {"demo-ops-1.0-1.tar.gz", "1.0.post1"},
		{"demo_ops-1.0.tar.bz2", NULL}, {"demo-1.0.tar.gz", NULL},
		{"demo_ops-1.0-py3-none-any.whl", NULL}, {"demo_ops.tar.gz", NULL},
		{"demo_ops-x.tar.gz", NULL}, {".tar.gz", NULL}, {"", NULL}};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_version version;
		bool known = ws_sdist_version(cases[i].file, "demo-ops", a, &version);
		assert_int_equal(known, cases[i].version != NULL);
		if (known) {
			assert_string_equal(version.text, cases[i].version);
		}
	}
}

static bool
draft_with(const char *path_variable, const char *note, struct ws_arena *a, struct ws_draft *draft,
	struct ws_err *err)
{
	const struct ws_source_spec spec = {.kind = WS_SOURCE_FOLDER, .path = "/nowhere"};
	const struct ws_draft_order order = {
		.reader = WS_SOURCE_DATA_DIR "/builder/draft/reader",
		.path_variable = path_variable,
		.partial = ws_test_dir(a),
		.name = "demo",
		.distribution = "demo",
		.version = "1.0",
		.source = &spec,
		.source_note = note,
	};
	return ws_draft_make(&order, a, draft, err);
}

WS_TEST(a_missing_python_is_distinguished_from_a_failing_one)
{
	struct ws_draft draft;
	struct ws_err err = {0};
	const char *dir = ws_test_dir(a);
	assert_fails(draft_with(dir, NULL, a, &draft, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "no python3 on PATH");
	static const char script[] = "#!/bin/sh\nexit 127\n";
	const char *program = ws_path_join(a, dir, "python3", NULL);
	assert_ok(ws_fs_write(program, script, strlen(script), 0755, &err), err);
	assert_fails(draft_with(dir, NULL, a, &draft, &err), err, WS_ERR_BUILD);
	assert_contains(err.text, "python3' exited with 127");
}

/* One word of a command line has at most 128 KiB. */
WS_TEST(an_order_may_be_longer_than_a_word_of_a_command_line)
{
	struct ws_draft draft;
	struct ws_err err = {0};
	char *note = ws_arena_alloc(a, 300001);
	memset(note, 'x', 300000);
	note[300000] = '\0';
	assert_ok(draft_with("/usr/bin:/usr/local/bin:/bin", note, a, &draft, &err), err);
	assert_contains(draft.text, note);
}
