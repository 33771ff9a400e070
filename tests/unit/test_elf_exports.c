/* test_elf_exports.c - lists made of small libraries, and the lists that ship. */

#include "base/zst.h"
#include "compile.h"
#include "elf/exports.h"
#include "elf/torch_abi.h"

/* The lines of a list, as one Python sees it: "libx.so:name", "libx.so=tls", "libx.so>needed". */
static const char *
read_all(const char *path, const char *python, struct ws_arena *a)
{
	struct ws_err err = {0};
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, python, a, &err);
	assert_ok(list, err);
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_export line;
	for (;;) {
		assert_ok(ws_exports_next(list, &line, &err), err);
		if (line.kind == WS_EXPORT_END) {
			return ws_buf_copy(&text, a);
		}
		static const char marks[] = {[WS_EXPORT_NAME] = ':',
			[WS_EXPORT_TLS] = '=',
			[WS_EXPORT_NEEDED] = '>',
			[WS_EXPORT_INTERNALS] = '#'};
		ws_buf_printf(&text, "%s%c%s ", line.library, marks[line.kind], line.text);
	}
}

static void
add(struct ws_exports_maker *maker, const char *path, const char *python, struct ws_arena *a)
{
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, &err);
	assert_ok(elf, err);
	assert_ok(ws_exports_add(maker, elf, python, &err), err);
}

/* A release of two libraries; the second is made twice, for two Pythons. */
static struct ws_exports_maker *
make(bool backwards, struct ws_arena *a)
{
	static const char *const flags[] = {"-nostdlib", NULL};
	const char *dir = ws_test_dir(a);
	const char *cpu = ws_test_library(a, dir, "liba.so",
		"__thread int slot; int alpha; int alphabet; void beta(void) {}\n"
		"void _GLOBAL__N_x(void) {}",
		flags);
	const char *py311 = ws_test_library(a, dir, "libp.so",
		"const char id[] = \"__pybind11_internals_v4_gcc_x__\"; int both, old;", flags);
	const char *keep = ws_path_join(a, dir, "libp311.so", NULL);
	struct ws_err err = {0};
	assert_ok(ws_fs_copy(py311, keep, 0644, &err), err);
	const char *more[] = {"-nostdlib", "-Wl,--no-as-needed", "-L.", "-la", NULL};
	const char *py313t = ws_test_library(a, dir, "libp.so", "int both, new; __thread int t;", more);

	struct ws_exports_maker *maker = ws_exports_begin("9.9.1", a);
	ws_exports_add_wheel(maker, backwards ? "b.whl" : "a.whl");
	ws_exports_add_wheel(maker, backwards ? "a.whl" : "b.whl");
	if (backwards) {
		add(maker, py313t, "cp313t", a);
		add(maker, keep, "cp311", a);
		add(maker, cpu, NULL, a);
	} else {
		add(maker, cpu, NULL, a);
		add(maker, keep, "cp311", a);
		add(maker, py313t, "cp313t", a);
	}
	return maker;
}

WS_TEST(a_list_has_the_promised_text)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf again = {0};
	ws_exports_text(make(false, a), &text);
	ws_exports_text(make(true, a), &again);
	assert_string_equal(ws_buf_text(&text), ws_buf_text(&again));
	assert_string_equal(ws_buf_text(&text),
		"wheelsmith.exports/1\ntorch 9.9.1\nwheel a.whl\nwheel b.whl\npython cp311\n"
		"python cp313t\nlibrary liba.so\nnames 3\n0\talpha\n5\tbet\n0\tbeta\ntls 1\n0\tslot\n"
		"library libp.so\nnames 1\n0\tboth\nlibrary libp.so cp311\n"
		"internals __pybind11_internals_v4_gcc_x__\nnames 2\n0\tid\n0\told\n"
		"library libp.so cp313t\nneeded liba.so\nnames 1\n0\tnew\ntls 1\n0\tt\nend\n");
}

WS_TEST_ERR(each_python_sees_its_own)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "x.zst", NULL);
	assert_ok(ws_exports_write(make(false, a), path, &err), err);
	static const char shared[] =
		"liba.so:alpha liba.so:alphabet liba.so:beta liba.so=slot libp.so:both ";
	assert_string_equal(read_all(path, NULL, a), shared);
	assert_string_equal(read_all(path, "cp311", a),
		ws_arena_printf(
			a, "%slibp.so#__pybind11_internals_v4_gcc_x__ libp.so:id libp.so:old ", shared));
	assert_string_equal(read_all(path, "cp313t", a),
		ws_arena_printf(a, "%slibp.so>liba.so libp.so:new libp.so=t ", shared));
	assert_fails(ws_exports_open(path, "cp312", a, &err), err, WS_ERR_UNKNOWN);
	assert_string_equal(err.text, "torch 9.9.1 has no wheel for 'cp312'; it has: cp311 cp313t");
}

WS_TEST_ERR(a_library_is_added_once)
{
	const char *path = ws_test_library(a, ws_test_dir(a), "libq.so", "int x;", NULL);
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, &err);
	struct ws_exports_maker *maker = ws_exports_begin("1", a);
	assert_ok(ws_exports_add(maker, elf, NULL, &err), err);
	assert_fails(ws_exports_add(maker, elf, NULL, &err), err, WS_ERR_INTERNAL);
	assert_fails(ws_exports_add(maker, elf, "cp311", &err), err, WS_ERR_INTERNAL);
}

/* Packs @text as a list and reads it to its end; true when nothing was wrong. */
static bool
reads(const char *text, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf packed = {0};
	const char *path = ws_path_join(a, ws_test_dir(a), "x.zst", NULL);
	assert_ok(ws_zst_pack(ws_str_of(text), WS_ZST_SMALL, &packed, err), *err);
	assert_ok(ws_fs_write(path, packed.data, packed.len, 0644, err), *err);
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, NULL, a, err);
	struct ws_export line;
	do {
		if (!list || !ws_exports_next(list, &line, err)) {
			return false;
		}
	} while (line.kind != WS_EXPORT_END);
	return true;
}

WS_TEST_ERR(damaged_lists_are_errors)
{
	assert_ok(reads("wheelsmith.exports/1\ntorch 1\nend\n", a, &err), err);
	static const char *const bad[] = {
		"",
		"wheelsmith.exports/2\ntorch 1\nend\n",
		"wheelsmith.exports/1\nend\n",
		"wheelsmith.exports/1\ntorch 1\n",
		"wheelsmith.exports/1\ntorch 1\nend",
		"wheelsmith.exports/1\ntorch 1\nnames 1\n0\tx\nend\n",
		"wheelsmith.exports/1\ntorch 1\nneeded x\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nnames 2\n0\tx\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nnames 1\n1\tx\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nnames 1\n-1\tx\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nnames 1\n0 x\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nnames\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nnames 99999999999999999999\nend\n",
		"wheelsmith.exports/1\ntorch 1\nlibrary x\nwhatever\nend\n",
	};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		assert_fails(reads(bad[i], a, &err), err, WS_ERR_IO);
	}
	/* One name that grows from line to line without end. */
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_buf_puts(&b, "wheelsmith.exports/1\ntorch 1\nlibrary x\nnames 100\n");
	for (unsigned i = 0; i < 100; i++) {
		ws_buf_printf(&b, "%u\t%01000d\n", i * 1000, 0);
	}
	assert_fails(reads(ws_buf_text(&b), a, &err), err, WS_ERR_IO);
}

WS_TEST_ERR(a_cut_file_is_an_error)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *whole = WS_SOURCE_DATA_DIR "/matrix/facts/exports/torch-2.5.1.zst";
	const char *path = ws_path_join(a, ws_test_dir(a), "x.zst", NULL);
	assert_ok(ws_fs_read(whole, &b, &err), err);
	assert_ok(ws_fs_write(path, b.data, b.len - 1000, 0644, &err), err);
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, "cp311", a, &err);
	assert_ok(list, err);
	struct ws_export line;
	bool going;
	do {
		going = ws_exports_next(list, &line, &err);
	} while (going && line.kind != WS_EXPORT_END);
	assert_false(going);
	assert_int_equal(err.kind, WS_ERR_IO);
}

/* The contents of the shipped lists, as measured on the wheels when the lists were made. */
struct release {
	const char *version;
	enum ws_cxx11abi abi;
	const char *internals; /* of cp311 */
	size_t cpu;            /* names of libtorch_cpu, thread-local ones included */
};

static const struct release releases[] = {
	{"2.3.1", WS_CXX11ABI_0, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__", 92581},
	{"2.4.1", WS_CXX11ABI_0, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__", 91560},
	{"2.5.1", WS_CXX11ABI_0, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__", 83718},
	{"2.6.0", WS_CXX11ABI_0, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__", 84332},
	{"2.7.1", WS_CXX11ABI_1, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1016__", 73485},
	{"2.8.0", WS_CXX11ABI_1, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1018__", 72017},
	{"2.9.1", WS_CXX11ABI_1,
		"__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 77673},
	{"2.10.0", WS_CXX11ABI_1,
		"__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 77791},
	{"2.11.0", WS_CXX11ABI_1,
		"__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 77895},
	{"2.12.1", WS_CXX11ABI_1,
		"__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 77492},
	{"2.13.0", WS_CXX11ABI_1,
		"__pybind11_internals_v11_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 74411},
	{"2.14.1", WS_CXX11ABI_1,
		"__pybind11_internals_v12_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 74567},
	{"2.15.0", WS_CXX11ABI_1,
		"__pybind11_internals_v12_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1__", 74732},
};

/* The three symbols that a module of the wrong ABI lacks in torch 2.5.1, in both forms. */
static const char *const abi_pairs[][2] = {
	{"_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
		"_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_"
		"traitsIcESaIcEEE"},
	{"_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs",
		"_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKNSt7__cxx1112basic_"
		"stringIcSt11char_traitsIcESaIcEEE"},
	{"_ZN3c107WarningC1ESt7variantIJNS0_11UserWarningENS0_18DeprecationWarningEEERKNS_"
	 "14SourceLocationESsb",
		"_ZN3c107WarningC1ESt7variantIJNS0_11UserWarningENS0_18DeprecationWarningEEERKNS_"
		"14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb"},
};

static void
check_release(const struct release *release, struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *path = ws_arena_printf(
		a, "%s/matrix/facts/exports/torch-%s.zst", WS_SOURCE_DATA_DIR, release->version);
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, "cp311", a, &err);
	assert_ok(list, err);
	assert_string_equal(list->release, release->version);
	enum ws_cxx11abi abi = WS_CXX11ABI_SILENT;
	const char *internals = NULL;
	size_t cpu = 0, counts[2] = {0};
	struct ws_export line;
	for (;;) {
		assert_ok(ws_exports_next(list, &line, &err), err);
		if (line.kind == WS_EXPORT_END) {
			break;
		}
		cpu += ws_same(line.library, "libtorch_cpu.so") && line.kind <= WS_EXPORT_TLS;
		internals = line.kind == WS_EXPORT_INTERNALS ? ws_arena_strdup(a, line.text) : internals;
		enum ws_cxx11abi says = ws_cxx11abi_of_export(line.text);
		abi = says != WS_CXX11ABI_SILENT ? says : abi;
		for (size_t i = 0; i < WS_LEN(abi_pairs); i++) {
			counts[0] += ws_same(line.text, abi_pairs[i][0]);
			counts[1] += ws_same(line.text, abi_pairs[i][1]);
		}
	}
	assert_int_equal(abi, release->abi);
	assert_non_null(internals);
	assert_string_equal(internals, release->internals);
	assert_int_equal(cpu, release->cpu);
	assert_int_equal(counts[0], release->abi == WS_CXX11ABI_0 ? 3 : 0);
	assert_int_equal(counts[1], release->abi == WS_CXX11ABI_0 ? 0 : 3);
}

WS_TEST(the_shipped_lists_match_the_measurements)
{
	for (size_t i = 0; i < WS_LEN(releases); i++) {
		check_release(&releases[i], a);
	}
}
