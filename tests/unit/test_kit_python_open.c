/* test_kit_python_open.c - headers become a tree: the real ones of this host, and folders with the
 * layout of Debian, of pyenv and of no distribution. */
#include "test.h"

#include "base/fs.h"
#include "kit/hostcc/hostcc.h"
#include "kit/python/python.h"
#include "sys/child.h"

/* A store, a folder that stands for /, and a Python in it. */
struct scene {
	struct ws_store store;
	struct ws_host host;
	const char *root;
	struct ws_python_kit kit;
	struct ws_err err;
};

static struct scene
open_scene(struct ws_arena *a)
{
	struct scene s = {
		.root = ws_test_dir(a), .host = {.distribution = "", .distribution_like = ""}};
	assert_ok(ws_store_open(ws_path_join(a, s.root, "s", NULL), a, &s.store, &s.err), s.err);
	s.kit = (struct ws_python_kit){
		.tag = {3, 11, false},
		.version = "3.11.7",
		.include = ws_path_join(a, s.root, "include/python3.11", NULL),
		.ext_suffix = ".cpython-311-x86_64-linux-gnu.so",
	};
	return s;
}

static void
add_header(const struct scene *s, struct ws_arena *a, const char *below, const char *text)
{
	ws_test_file(a, ws_path_join(a, s->root, "include", NULL), below, text, 0644);
}

static bool
open_python(struct scene *s, struct ws_arena *a)
{
	return ws_python_open(&s->store, &s->host, &s->kit, a, &s->err);
}

/* "include/Python.h include/pyconfig.h ": the paths of the tree. */
static const char *
tree_text(const struct ws_tree *tree, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < tree->count; i++) {
		ws_buf_printf(&b, "%s ", tree->entries[i].path);
	}
	return ws_arena_strdup(a, ws_buf_text(&b));
}

WS_TEST(a_python_with_modules_of_a_different_name_is_refused)
{
	/* A debug build has tag cp311 too, but Py_DEBUG in its headers, and loads "311d" first. */
	struct scene s = open_scene(a);
	add_header(&s, a, "python3.11/Python.h", "p");
	add_header(&s, a, "python3.11/pyconfig.h", "c");
	s.kit.interpreter = "/opt/debug/bin/python3.11";
	s.kit.ext_suffix = ".cpython-311d-x86_64-linux-gnu.so";
	assert_fails(open_python(&s, a), s.err, WS_ERR_CONFIG);
	assert_contains(s.err.text,
		"the modules of '/opt/debug/bin/python3.11' end in '.cpython-311d-x86_64-linux-gnu.so', "
		"those "
		"of a wheel for cp311 in '.cpython-311-x86_64-linux-gnu.so'");
	assert_contains(s.err.cure, "a debug build");
	s.kit.ext_suffix = ".cpython-311-x86_64-linux-musl.so";
	assert_fails(open_python(&s, a), s.err, WS_ERR_CONFIG);
	s.kit.tag.free_threaded = true;
	s.kit.ext_suffix = ".cpython-311t-x86_64-linux-gnu.so";
	assert_ok(open_python(&s, a), s.err);
	ws_store_close(&s.store);
}

WS_TEST(headers_become_a_tree)
{
	struct scene s = open_scene(a);
	add_header(&s, a, "python3.11/Python.h", "p");
	add_header(&s, a, "python3.11/pyconfig.h", "c");
	add_header(&s, a, "python3.11/cpython/object.h", "o");
	add_header(&s, a, "elsewhere/numpy/x.h", "n");
	assert_int_equal(
		symlink("../elsewhere/numpy", ws_path_join(a, s.kit.include, "numpy", NULL)), 0);
	assert_int_equal(symlink("Python.h", ws_path_join(a, s.kit.include, "python.h", NULL)), 0);
	assert_int_equal(symlink("nowhere", ws_path_join(a, s.kit.include, "broken.h", NULL)), 0);
	assert_ok(open_python(&s, a), s.err);
	assert_string_equal(s.kit.tree.name, "python-3.11.7");
	assert_string_equal(tree_text(&s.kit.tree, a),
		"include/Python.h include/cpython/object.h include/pyconfig.h include/python.h ");
	ws_store_close(&s.store);
}

WS_TEST(debian_s_second_folder_stands_where_pyconfig_looks_for_it)
{
	struct scene s = open_scene(a);
	add_header(&s, a, "python3.11/Python.h", "p");
	add_header(&s, a, "python3.11/pyconfig.h", "c");
	add_header(&s, a, "x86_64-linux-gnu/python3.11/pyconfig.h", "d");
	s.kit.platform_include = ws_path_join(a, s.root, "include/x86_64-linux-gnu/python3.11", NULL);
	assert_ok(open_python(&s, a), s.err);
	assert_string_equal(tree_text(&s.kit.tree, a),
		"include/Python.h include/pyconfig.h include/x86_64-linux-gnu/python3.11/pyconfig.h ");
	ws_store_close(&s.store);
}

WS_TEST(equal_headers_are_one_tree_and_changed_ones_another)
{
	struct scene s = open_scene(a);
	add_header(&s, a, "python3.11/Python.h", "p");
	add_header(&s, a, "python3.11/pyconfig.h", "c");
	assert_ok(open_python(&s, a), s.err);
	const char *first = ws_arena_strdup(a, s.kit.tree.digest.hex);
	assert_ok(open_python(&s, a), s.err);
	assert_string_equal(s.kit.tree.digest.hex, first);
	/* Same size, and within the tick of the first: it may not be taken for what was remembered. */
	add_header(&s, a, "python3.11/pyconfig.h", "C");
	assert_ok(open_python(&s, a), s.err);
	assert_string_not_equal(s.kit.tree.digest.hex, first);
	s.kit.tag.free_threaded = true;
	s.kit.ext_suffix = ".cpython-311t-x86_64-linux-gnu.so";
	assert_ok(open_python(&s, a), s.err);
	assert_string_equal(s.kit.tree.name, "python-3.11.7t");
	ws_store_close(&s.store);
}

WS_TEST(headers_that_were_seen_are_not_copied_again)
{
	struct scene s = open_scene(a);
	assert_ok(ws_fs_mkdirs(s.kit.include, &s.err), s.err);
	/* Files that have been there for more than two seconds. */
	assert_int_equal(
		symlink("/usr/include/stdio.h", ws_path_join(a, s.kit.include, "Python.h", NULL)), 0);
	assert_int_equal(
		symlink("/usr/include/stdlib.h", ws_path_join(a, s.kit.include, "pyconfig.h", NULL)), 0);
	assert_ok(open_python(&s, a), s.err);
	const char *first = ws_arena_strdup(a, s.kit.tree.digest.hex);
	struct stat before, after;
	assert_int_equal(stat(ws_store_path(&s.store, a, "partial"), &before), 0);
	assert_ok(open_python(&s, a), s.err);
	assert_int_equal(stat(ws_store_path(&s.store, a, "partial"), &after), 0);
	assert_string_equal(s.kit.tree.digest.hex, first);
	assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim));
	ws_store_close(&s.store);
}

WS_TEST(missing_headers_name_their_package)
{
	static const struct {
		const char *distribution, *include, *cure;
	} rows[] = {
		{"debian", "/usr/include/python3.99", "apt-get install python3.99-dev"},
		{"rocky", "/usr/include/python3.99", "dnf install python3.99-devel"},
		{"fedora", "/usr/include/python3.99", "dnf install python3.99-devel"},
		{"sles", "/usr/include/python3.99", "zypper install python399-devel"},
		{"arch", "/usr/include/python3.99", "pacman -S python"},
		{"alpine", "/usr/include/python3.99", "apk add python3-dev"},
		{"plan9", "/usr/include/python3.99", "development package of Python 3.99"},
		{"debian", "/opt/python/include/python3.99", "install that Python again"},
	};
	struct scene s = open_scene(a);
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		s.host.distribution = rows[i].distribution;
		s.kit.tag.minor = 99;
		s.kit.version = "3.99.0";
		s.kit.include = rows[i].include;
		assert_fails(open_python(&s, a), s.err, WS_ERR_BUILD);
		assert_contains(s.err.text, "Python 3.99.0 has no headers");
		assert_contains(s.err.text, rows[i].include);
		assert_contains(s.err.cure, rows[i].cure);
	}
	ws_store_close(&s.store);
}

/* Preprocesses Python.h with nothing but the tree: no header may come from where it is
 * installed. */
static void
preprocess(const struct ws_python_kit *kit, const char *compiler, struct ws_arena *a)
{
	struct ws_err err;
	const char *source = ws_path_join(a, ws_test_dir(a), "x.cpp", NULL);
	assert_ok(ws_fs_write(source, "#include <Python.h>\n", 20, 0644, &err), err);
	const char *include = ws_path_join(a, kit->tree.path, "include", NULL);
	const char *const argv[] = {compiler, "-M", "-std=c++17", "-I", include, source, NULL};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&(struct ws_child_order){.argv = argv}, &out, &err), err);
	assert_contains(ws_buf_text(&out), ws_path_join(a, include, "pyconfig.h", NULL));
	assert_null(strstr(ws_buf_text(&out), kit->include));
	if (kit->platform_include) {
		assert_null(strstr(ws_buf_text(&out), kit->platform_include));
		assert_contains(ws_buf_text(&out), "-linux-gnu/python3");
	}
}

WS_TEST(the_real_headers_of_this_host_compile_from_their_trees)
{
	struct scene s = open_scene(a);
	ws_hostcc_list compilers = {0};
	ws_hostcc_list_all(NULL, "", "", NULL, a, &compilers);
	ws_python_list list = {0};
	ws_python_list_all(ws_test_env(), a, &list);
	assert_true(compilers.len > 0 && list.len > 0);
	size_t opened = 0;
	for (size_t i = 0; i < list.len; i++) {
		struct ws_python_kit kit;
		if (!ws_python_ask(ws_test_env(), list.at[i].interpreter, a, &kit, NULL)) {
			continue; /* listed by its folder, broken */
		}
		if (kit.tag.minor < 8) {
			/* its modules end in "cpython-37m", and no torch of the facts has wheels for it */
			continue;
		}
		if (ws_python_open(&s.store, &s.host, &kit, a, &s.err)) {
			preprocess(&kit, compilers.at[0].path, a);
			opened++;
		} else {
			assert_contains(s.err.text, "has no headers");
		}
	}
	assert_true(opened > 0);
	ws_store_close(&s.store);
}
