/* test_kit_torch_text.c - what version.py and pybind11's id say, as torch 2.3 to 2.15 write
 * them. */
#include "test.h"

#include "base/fs.h"
#include "kit/torch/torch.h"

WS_TEST(version_py_is_read_in_all_its_forms)
{
	static const struct {
		const char *text, *version, *cuda, *hip;
	} cases[] = {
		{"__version__ = '2.3.1+cu121'\ndebug = False\ncuda: Optional[str] = '12.1'\n"
		 "git_version = '63d5e92'\nhip: Optional[str] = None\n",
			"2.3.1+cu121", "12.1", NULL},
		{"__all__ = ['__version__', 'cuda']\n__version__ = '2.15.0+cu132'\n"
		 "cuda: _Optional[str] = '13.2'\nhip: _Optional[str] = None\nxpu: _Optional[str] = None",
			"2.15.0+cu132", "13.2", NULL},
		{"__version__=\"1.0\"\r\ncuda = None\r\nhip = \"6.2\"\r\n", "1.0", NULL, "6.2"},
		{"__version__ = '2.5.1+cpu'\ncuda: Optional[str] = None\ncuda_extra = '9.9'\n", "2.5.1+cpu",
			NULL, NULL},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_torch_measured m;
		struct ws_err err;
		assert_ok(ws_torch_measured_parse(ws_str_of(cases[i].text), "x.whl", a, &m, &err), err);
		assert_string_equal(m.version, cases[i].version);
		assert_true(ws_same(m.cuda, cases[i].cuda));
		assert_true(ws_same(m.hip, cases[i].hip));
	}
}

WS_TEST(a_foreign_version_py_is_not_torch_s)
{
	static const char *const texts[] = {"", "\n", "__version__",
		"__version__ = ", "__version__ = '", "version = '2.5.1'", "__version__ = 2.5",
		"__version__ = '2.5.1'\ncuda = '12; rm'"};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		struct ws_torch_measured m;
		struct ws_err err;
		assert_fails(
			ws_torch_measured_parse(ws_str_of(texts[i]), "x.whl", a, &m, &err), err, WS_ERR_FETCH);
		assert_contains(err.text, "x.whl");
	}
}

WS_TEST(ids_of_pybind11_2_are_taken_apart_others_are_not)
{
	static const struct {
		const char *internals;
		const char *parts[3];
	} cases[] = {
		{"__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__",
			{"_gcc", "_libstdcpp", "_cxxabi1011"}},
		{"__pybind11_internals_v5_gcc_libstdcpp_cxxabi1018__",
			{"_gcc", "_libstdcpp", "_cxxabi1018"}},
		{"__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", {NULL}},
		{"__pybind11_internals_v4_gcc_libstdcpp__", {NULL}},
		{"__pybind11_internals_v4_gcc__cxxabi1011__", {NULL}},
		{"__pybind11_internals_v4__", {NULL}},
		{"__pybind11_internals_v4", {NULL}},
		{"__pybind11_internals_v", {NULL}},
		{"something", {NULL}},
		{NULL, {NULL}},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_torch_measured m = {0};
		ws_torch_measured_set_pybind(&m, cases[i].internals, a);
		assert_true(ws_same(m.pybind_compiler, cases[i].parts[0]));
		assert_true(ws_same(m.pybind_stdlib, cases[i].parts[1]));
		assert_true(ws_same(m.pybind_build_abi, cases[i].parts[2]));
	}
}

WS_TEST(a_kits_description_is_checked)
{
#define KIT(schema, abi) \
	"{\"schema\": \"wheelsmith.torch-kit/" schema "\", \"version\": \"2.9.1+cu128\", " \
	"\"cuda\": \"12.8\", \"cxx11abi\": " abi ", \"pybind_compiler\": null, " \
	"\"pybind_stdlib\": null, \"pybind_build_abi\": null}"
	const char *path = ws_path_join(a, ws_test_dir(a), "kit.json", NULL);
	struct ws_torch_measured m;
	struct ws_err err;
	assert_ok(ws_fs_write(path, KIT("1", "1"), strlen(KIT("1", "1")), 0644, &err), err);
	assert_ok(ws_torch_measured_read(path, a, &m, &err), err);
	assert_string_equal(m.version, "2.9.1+cu128");
	assert_string_equal(m.cuda, "12.8");
	assert_int_equal(m.cxx11abi, 1);
	assert_null(m.pybind_compiler);
	static const char *const broken[] = {"{}", "[]", KIT("2", "0"), KIT("1", "7")};
	for (size_t i = 0; i < WS_LEN(broken); i++) {
		assert_ok(ws_fs_write(path, broken[i], strlen(broken[i]), 0644, &err), err);
		assert_fails(ws_torch_measured_read(path, a, &m, &err), err, WS_ERR_IO);
	}
}
