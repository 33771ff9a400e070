/* test_kit_floor.c - real links against the libraries of older systems: what such modules ask for,
 * that they run, and that nothing else of them changes. */

#include "compile.h"
#include "kit/floor/floor.h"
#include "verify/manylinux_tag.h"
#include "verify/missing_symbols.h"

/* Calls what newer headers bring: each function says in words of the older library what it did. */
static const char newer[] =
	"#include <exception>\n#include <future>\n#include <iostream>\n#include <memory>\n"
	"#include <sstream>\n#include <stdexcept>\n#include <string>\n#include <thread>\n"
	"#include <vector>\n#include <cmath>\n#include <cstdlib>\n#include <sys/stat.h>\n"
	"#include <inttypes.h>\n#include <pthread.h>\n"
	"static int calls;\n"
	"struct counted { int n = 1; counted() { calls++; } counted(const counted &) { calls++; }\n"
	"  ~counted() { calls--; } };\n"
	"extern \"C\" int exceptions() {\n"
	"  std::exception_ptr kept;\n"
	"  try { throw counted(); } catch (...) { kept = std::current_exception(); }\n"
	"  std::exception_ptr again = kept; kept = nullptr; int alive = calls; again = nullptr;\n"
	"  try { std::vector<int> v(3); v.at(7) = 1; } catch (const std::out_of_range &) { alive += "
	"10; }\n"
	"  try { volatile size_t many = SIZE_MAX / 2; new int[many]; }\n"
	"  catch (const std::bad_alloc &) { alive += 100; }\n"
	"  try { std::vector<int> v; volatile size_t many = SIZE_MAX / 8; v.reserve(many); }\n"
	"  catch (const std::exception &) { alive += 1000; }\n"
	"  return alive + calls; }\n"
	"extern \"C\" int streams() {\n"
	"  std::ostringstream out; out << 12 << ' ' << 3.5; std::stringstream both; both << "
	"out.str();\n"
	"  int n; double d; both >> n >> d; std::istringstream in; in.str(\"7\"); int m; in >> m;\n"
	"  std::cerr << std::flush; return n + m + (d == 3.5); }\n"
	"extern \"C\" int strings() {\n"
	"  std::string s = \"0123456789\"; s.replace(2, 3, s.data() + 1, 6);\n"
	"  std::string t = \"0123456789abcdefghij\"; t.replace(0, 2, t, 8, 5); s.reserve(100);\n"
	"  return (s == \"0112345656789\" ? 1 : 0) + (t == \"89abc23456789abcdefghij\" ? 2 : 0); }\n"
	"extern \"C\" int threads() {\n"
	"  int n = 0; std::thread one([&] { n = 5; }); one.join();\n"
	"  auto later = std::async(std::launch::async, [] { return 6; });\n"
	"  later.wait_for(std::chrono::seconds(5));\n"
	"  std::shared_ptr<int> shared = std::make_shared<int>(7); auto copy = shared;\n"
	"  return n + later.get() + *copy; }\n"
	"extern \"C\" int files() {\n"
	"  struct stat a, b; if (stat(\"/\", &a) != 0 || lstat(\"/\", &b) != 0) return 0;\n"
	"  return S_ISDIR(a.st_mode) && a.st_ino == b.st_ino; }\n"
	"static void at_end() {}\n"
	"extern \"C\" int numbers() { volatile double x = 2; atexit(at_end);\n"
	"  return (int)strtol(\"12\", nullptr, 10) + (int)strtoumax(\"3\", nullptr, 10) + (int)pow(x, "
	"3); }\n";

struct world {
	struct ws_arena *a;
	struct ws_store store;
	struct ws_hostcc cxx;
	const char *folder;
};

static void
set_up(struct world *w, const char *compiler, struct ws_arena *a)
{
	struct ws_err err = {0};
	*w = (struct world){.a = a, .folder = ws_test_dir(a)};
	assert_ok(ws_store_open(ws_path_join(a, w->folder, "store", NULL), a, &w->store, &err), err);
	assert_ok(ws_hostcc_ask(NULL, compiler, a, &w->cxx, &err), err);
	assert_ok(ws_hostcc_open(&w->cxx, w->store.ledger, a, &err), err);
}

static struct ws_floor_wish
wish_of(const struct world *w, const char *glibc)
{
	return (struct ws_floor_wish){.glibc = glibc,
		.machine = ws_machine_host(),
		.cxx = &w->cxx,
		.facts = WS_SOURCE_DATA_DIR "/matrix/facts",
		.bridge = WS_SOURCE_DATA_DIR "/floor"};
}

/* "<folder>/NAME.o" of @source. */
static const char *
compile(const struct world *w, const char *source, const char *name)
{
	struct ws_err err = {0};
	const char *text = ws_arena_printf(w->a, "%s/%s.cc", w->folder, name);
	const char *object = ws_arena_printf(w->a, "%s/%s.o", w->folder, name);
	const char *const argv[] = {
		"g++", "-std=c++17", "-O1", "-fPIC", "-c", text, "-o", object, NULL};
	assert_ok(ws_fs_write(text, source, strlen(source), 0644, &err), err);
	ws_test_run(w->a, argv, w->folder);
	return object;
}

/* Links @object for @glibc; NULL: for this host. */
static const char *
link_for(struct world *w, const char *glibc, const char *object)
{
	struct ws_err err = {0};
	struct ws_floor_kit *kit = NULL;
	const char *path = ws_arena_printf(w->a, "%s-%s.so", object, glibc ? glibc : "host");
	const char *argv[40] = {"g++", "-shared", "-o", path, object};
	size_t count = 5;
	if (glibc) {
		struct ws_floor_wish wish = wish_of(w, glibc);
		kit = WS_NEW(w->a, struct ws_floor_kit);
		assert_ok(ws_floor_open(&w->store, &wish, w->a, kit, &err), err);
		argv[count++] = ws_arena_printf(w->a, "-L%s", kit->tree.path);
	}
	const char *const *words = ws_floor_link_words(kit, true, w->a);
	for (size_t i = 0; words[i]; i++) {
		argv[count++] = words[i];
	}
	ws_test_run(w->a, argv, w->folder);
	return path;
}

static const char *
tag_of(const char *path, struct ws_arena *a, struct ws_floor *floor)
{
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, &err);
	assert_ok(elf, err);
	*floor = (struct ws_floor){0};
	ws_floor_add(floor, elf, NULL, 0, a);
	return ws_floor_tag(floor);
}

/* Exported names, a line each. */
static const char *
exports_of(const char *path, struct ws_arena *a)
{
	const char *const argv[] = {"nm", "-D", "--defined-only", "-f", "just-symbols", path, NULL};
	return ws_test_run(a, argv, "/");
}

/* In a Python of its own: a sanitizer of this program would stand between the module and
 * libstdc++. */
static void
runs(const char *path, struct ws_arena *a)
{
	static const char script[] = "import ctypes, sys; module = ctypes.CDLL(sys.argv[1])\n"
								 "for name in sys.argv[2:]: print(name, getattr(module, name)())";
	const char *const argv[] = {"python3", "-c", script, path, "exceptions", "streams", "strings",
		"threads", "files", "numbers", NULL};
	assert_string_equal(ws_test_run(a, argv, "/"),
		"exceptions 1111\nstreams 20\nstrings 3\nthreads 18\nfiles 1\nnumbers 23\n");
}

WS_TEST(a_module_asks_for_no_more_than_its_floor_and_runs)
{
	struct world w;
	struct ws_floor floor;
	set_up(&w, "/usr/bin/g++", a);
	const char *object = compile(&w, newer, "newer"), *host = link_for(&w, NULL, object);
	static const char *const floors[] = {"2.28", "2.34"};
	for (size_t i = 0; i < WS_LEN(floors); i++) {
		const char *path = link_for(&w, floors[i], object);
		const char *tag = tag_of(path, a, &floor);
		assert_null(floor.outside);
		assert_true(ws_floor_version_cmp(floor.asked[WS_FLOOR_GLIBC].text, floors[i]) <= 0);
		assert_true(
			strverscmp(tag, ws_arena_printf(a, "manylinux_%s_%s_x86_64", "2", floors[i] + 2)) <= 0);
		assert_string_equal(exports_of(path, a), exports_of(host, a));
		runs(path, a);
	}
	runs(host, a);
	ws_store_close(&w.store);
}

/* The ABI of torch up to 2.6, whose libraries ask for libstdc++ of gcc 4.8. */
WS_TEST(strings_older_than_cxx11_go_down_to_glibc_2_17)
{
	struct world w;
	struct ws_floor floor;
	set_up(&w, "/usr/bin/g++", a);
	const char *source = ws_arena_printf(a, "#define _GLIBCXX_USE_CXX11_ABI 0\n%s", newer);
	const char *path = link_for(&w, "2.17", compile(&w, source, "old"));
	assert_string_equal(tag_of(path, a, &floor), "manylinux_2_17_x86_64");
	runs(path, a);
	ws_store_close(&w.store);
}

static struct ws_symbols
judge_at(const char *path, const char *glibc, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_symbols symbols;
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, &err);
	assert_ok(elf, err);
	const char *lists[] = {
		ws_path_join(a, WS_SOURCE_DATA_DIR "/matrix/facts", ws_machine_host()->floors, NULL)};
	struct ws_subject_module module = {.name = "m", .elf = elf, .required = true};
	struct ws_subject subject = {.modules = &module, .count = 1};
	struct ws_load_place place = {.lists = lists, .list_count = 1, .glibc = glibc};
	assert_ok(ws_symbols_judge(&subject, &place, a, &symbols, &err), err);
	return symbols;
}

/* std::filesystem came with gcc 9, and no bridge covers it. */
WS_TEST(a_name_that_neither_floor_nor_bridge_has_fails_with_the_floor_that_does)
{
	static const char source[] =
		"#include <filesystem>\n"
		"extern \"C\" bool f() { return std::filesystem::exists(\"/\"); }\n";
	struct world w;
	size_t count;
	set_up(&w, "/usr/bin/g++", a);
	const char *object = compile(&w, source, "paths"), *path = link_for(&w, "2.28", object);
	struct ws_symbols symbols = judge_at(path, "2.28", a);
	assert_int_equal(symbols.verdict, WS_VERDICT_FAILS);
	const struct ws_finding *findings = ws_symbols_findings(&symbols, a, &count);
	assert_int_equal(count, 1);
	assert_contains(findings[0].text, "that systems have from glibc 2.31 on");
	assert_contains(findings[0].evidence[findings[0].evidence_count - 1], "\"glibc\": \"2.31\"");
	assert_int_equal(judge_at(link_for(&w, "2.31", object), "2.31", a).verdict, WS_VERDICT_OK);
	/* Linked for this host, it asks for versions that the older system does not define. */
	assert_int_equal(judge_at(link_for(&w, NULL, object), "2.28", a).verdict, WS_VERDICT_FAILS);
	ws_store_close(&w.store);
}

WS_TEST(a_kit_is_made_once)
{
	struct world w;
	struct ws_err err = {0};
	struct ws_floor_kit first, second, other;
	set_up(&w, "/usr/bin/g++", a);
	struct ws_floor_wish wish = wish_of(&w, "2.28"), newer_wish = wish_of(&w, "2.34");
	assert_ok(ws_floor_open(&w.store, &wish, a, &first, &err), err);
	assert_ok(ws_floor_open(&w.store, &wish, a, &second, &err), err);
	assert_string_equal(first.tree.digest.hex, second.tree.digest.hex);
	assert_ok(ws_floor_open(&w.store, &newer_wish, a, &other, &err), err);
	assert_string_not_equal(first.tree.digest.hex, other.tree.digest.hex);
	assert_true(ws_floor_has_library(&first, "libc.so.6"));
	assert_true(ws_floor_has_library(&first, "libmvec.so.1"));
	assert_true(ws_floor_has_library(&first, "ld-linux-x86-64.so.2"));
	assert_false(ws_floor_has_library(&first, "libcudart.so.12"));
	struct ws_floor_wish oldest = wish_of(&w, "2.17");
	assert_ok(ws_floor_open(&w.store, &oldest, a, &other, &err), err);
	assert_false(ws_floor_has_library(&other, "libmvec.so.1"));
	ws_store_close(&w.store);
}
