/* test_compile_header_reads.c - a real compiler, the real engine: which change of a header tree
 * makes a unit compile again, and which does not. */
#include "test.h"

#include "base/fs.h"
#include "compile/header_reads.h"
#include "engine/engine.h"

#include <malloc.h>

struct world {
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_work work;
	struct ws_host host;
	struct ws_budget budget;
	struct ws_engine engine;
	struct ws_arena *a;
};

static struct world *
set_up(struct ws_arena *a)
{
	struct ws_err err;
	struct world *w = WS_NEW(a, struct world);
	w->a = a;
	assert_ok(ws_store_open(ws_test_dir(a), a, &w->store, &err), err);
	w->ledger = w->store.ledger;
	assert_ok(ws_work_open(&w->store, NULL, a, &w->work, &err), err);
	w->host = ws_host_read("", a);
	w->budget = ws_budget_make(&w->host, 2, 0);
	w->engine = (struct ws_engine){
		.store = &w->store,
		.ledger = w->ledger,
		.runner = ws_local_runner(&w->work, &w->host, NULL, a),
		.work = &w->work,
		.budget = &w->budget,
	};
	return w;
}

static void
tear_down(struct world *w)
{
	ws_work_close(&w->work, false);
	ws_store_close(&w->store);
}

/* A tree from pairs of path and text, ended by NULL. */
static const struct ws_tree *
tree_of(struct world *w, const char *const *pairs)
{
	struct ws_err err;
	struct ws_tree_builder *b = ws_tree_begin(&w->store, "t", w->a, &err);
	for (; pairs[0]; pairs += 2) {
		assert_ok(ws_tree_add_file(b, pairs[0], pairs[1], strlen(pairs[1]), false, &err), err);
	}
	struct ws_tree *tree = WS_NEW(w->a, struct ws_tree);
	assert_ok(ws_tree_commit(b, w->a, tree, &err), err);
	return tree;
}

#define TREE(w, ...) tree_of(w, (const char *const[]){__VA_ARGS__, NULL})

/* Compiles src/a.cpp with two header trees, which are searched in @a folders; "ran" or "hit", or
 * the reason it failed. */
static const char *
compile_in(struct world *w, const char *const folders[3], const struct ws_tree *src,
	const struct ws_tree *one, const struct ws_tree *two, const char **why)
{
	const char *const words[] = {"g++", "-MD", "-MF", WS_COMPILE_DEPFILE, "-Wdate-time",
		"-fno-canonical-system-headers", "-I", folders[0], "-I", folders[1], "-I", folders[2], "-c",
		"src/a.cpp", "-o", "a.o", NULL};
	const char **argv = WS_NEW_N(w->a, const char *, WS_LEN(words));
	memcpy(argv, words, sizeof(words));
	static const char *const env[] = {"LANG=C", "PATH=/usr/bin:/bin", "TMPDIR={work}/tmp", NULL};
	static const char *const outputs[] = {"a.o"};
	static const char *const seeds[] = {"src/a.cpp"};
	static const char *const search[] = {"/usr/include/c++/12", "/usr/include"};
	struct ws_mount *mounts = WS_NEW_N(w->a, struct ws_mount, 3);
	mounts[0] = (struct ws_mount){"src", src->path, src};
	mounts[1] = (struct ws_mount){"one", one->path, one};
	mounts[2] = (struct ws_mount){"two", two->path, two};
	struct ws_action *action = WS_NEW(w->a, struct ws_action);
	*action = (struct ws_action){
		.subject = "a.cpp",
		.unit = "a.cpp",
		.stage = "compile",
		.variant = "",
		.tool = {"g++", "/usr/bin/g++", "f00d"},
		.argv = argv,
		.env = env,
		.mounts = mounts,
		.mount_count = 3,
		.outputs = outputs,
		.output_count = 1,
		.seeds = seeds,
		.seed_count = 1,
		.search = search,
		.search_count = WS_LEN(search),
		.find_reads = ws_headers_reads,
		.need = {.cpus = 1, .rss_bytes = 1 << 20},
	};
	struct ws_err err;
	struct ws_run_summary summary;
	struct ws_graph *graph = ws_graph_make(w->a);
	struct ws_node *node = ws_graph_add(graph, action);
	if (!ws_engine_run(&w->engine, graph, &summary, &err)) {
		return ws_arena_strdup(w->a, node->failure ? node->failure->text : err.text);
	}
	*why = node->why;
	return summary.ran ? "ran" : "hit";
}

static const char *
compile(struct world *w, const struct ws_tree *src, const struct ws_tree *one,
	const struct ws_tree *two, const char **why)
{
	static const char *const folders[] = {"one", "two", "/usr/include"};
	return compile_in(w, folders, src, one, two, why);
}

WS_TEST(an_unread_header_may_change)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(w, "a.cpp", "#include <x.h>\nint f() { return X; }\n");
	const struct ws_tree *one = TREE(w, "y.h", "1");
	const struct ws_tree *two = TREE(w, "x.h", "#define X 1\n", "Python.h", "3.11");
	assert_string_equal(compile(w, src, one, two, &why), "ran");
	assert_string_equal(compile(w, src, one, two, &why), "hit");
	/* A second Python whose headers this unit never reads. */
	two = TREE(w, "x.h", "#define X 1\n", "Python.h", "3.12");
	assert_string_equal(compile(w, src, one, two, &why), "hit");
	two = TREE(w, "x.h", "#define X 2\n", "Python.h", "3.12");
	assert_string_equal(compile(w, src, one, two, &why), "ran");
	assert_string_equal(why, "'two/x.h' changed");
	tear_down(w);
}

WS_TEST(a_second_python_that_is_read_compiles_again)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(w, "a.cpp", "#include <Python.h>\nint f() { return V; }\n");
	const struct ws_tree *one = TREE(w, "y.h", "");
	assert_string_equal(compile(w, src, one, TREE(w, "Python.h", "#define V 11\n"), &why), "ran");
	assert_string_equal(compile(w, src, one, TREE(w, "Python.h", "#define V 12\n"), &why), "ran");
	assert_string_equal(compile(w, src, one, TREE(w, "Python.h", "#define V 11\n"), &why), "hit");
	tear_down(w);
}

WS_TEST(a_header_that_shadows_another_compiles_again)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(w, "a.cpp", "#include <x.h>\nint f() { return X; }\n");
	const struct ws_tree *two = TREE(w, "x.h", "#define X 1\n");
	assert_string_equal(compile(w, src, TREE(w, "y.h", ""), two, &why), "ran");
	assert_string_equal(
		compile(w, src, TREE(w, "y.h", "", "x.h", "#define X 2\n"), two, &why), "ran");
	assert_string_equal(why, "'one/x.h' is there now");
	tear_down(w);
}

WS_TEST(a_header_that_shadows_a_system_header_compiles_again)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(w, "a.cpp", "#include <stddef.h>\nsize_t f;\n");
	const struct ws_tree *two = TREE(w, "x.h", "");
	assert_string_equal(compile(w, src, TREE(w, "y.h", ""), two, &why), "ran");
	assert_string_equal(
		compile(w, src, TREE(w, "stddef.h", "typedef unsigned size_t;\n"), two, &why), "ran");
	assert_string_equal(why, "'one/stddef.h' is there now");
	tear_down(w);
}

WS_TEST(a_quoted_include_found_elsewhere_is_shadowed_by_a_neighbour)
{
	struct world *w = set_up(a);
	const char *why;
	static const char text[] = "#include \"x.h\"\nint f() { return X; }\n";
	const struct ws_tree *one = TREE(w, "y.h", "");
	const struct ws_tree *two = TREE(w, "x.h", "#define X 1\n");
	assert_string_equal(compile(w, TREE(w, "a.cpp", text), one, two, &why), "ran");
	assert_string_equal(compile(w, TREE(w, "a.cpp", text, "z.h", ""), one, two, &why), "hit");
	assert_string_equal(
		compile(w, TREE(w, "a.cpp", text, "x.h", "#define X 2\n"), one, two, &why), "ran");
	assert_string_equal(why, "'src/x.h' is there now");
	tear_down(w);
}

WS_TEST(an_answer_to_has_include_that_changes_compiles_again)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(w, "a.cpp",
		"#define HAS(x) __has_include(x)\n#if HAS(<opt.h>)\nint f() { return 1; }\n#else\n"
		"int f() { return 2; }\n#endif\n");
	const struct ws_tree *one = TREE(w, "y.h", "");
	assert_string_equal(compile(w, src, one, TREE(w, "x.h", ""), &why), "ran");
	assert_string_equal(compile(w, src, one, TREE(w, "x.h", "", "opt.h", ""), &why), "ran");
	assert_string_equal(why, "'two/opt.h' is there now");
	/* It asked whether, not what. */
	assert_string_equal(compile(w, src, one, TREE(w, "x.h", "", "opt.h", "text"), &why), "hit");
	assert_string_equal(compile(w, src, one, TREE(w, "x.h", "x"), &why), "hit");
	tear_down(w);
}

WS_TEST(a_computed_include_is_shadowed_too)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src =
		TREE(w, "a.cpp", "#define H <d/x.h>\n#include H\nint f() { return X; }\n");
	const struct ws_tree *two = TREE(w, "d/x.h", "#define X 1\n");
	assert_string_equal(compile(w, src, TREE(w, "y.h", ""), two, &why), "ran");
	assert_string_equal(compile(w, src, TREE(w, "d/x.h", "#define X 2\n"), two, &why), "ran");
	assert_string_equal(why, "'one/d/x.h' is there now");
	tear_down(w);
}

/* two/include/x.h does not lie in two/inc: "ude/x.h" of an earlier folder has nothing to do with
 * it. */
WS_TEST(a_folder_whose_name_begins_alike_is_another)
{
	struct world *w = set_up(a);
	const char *why;
	static const char *const folders[] = {"one", "two/inc", "two/include"};
	const struct ws_tree *src =
		TREE(w, "a.cpp", "#define H <x.h>\n#include H\nint f() { return X; }\n");
	const struct ws_tree *two = TREE(w, "inc/y.h", "", "include/x.h", "#define X 1\n");
	const struct ws_tree *one = TREE(w, "y.h", "");
	assert_string_equal(compile_in(w, folders, src, one, two, &why), "ran");
	one = TREE(w, "y.h", "", "ude/x.h", "#define X 2\n");
	assert_string_equal(compile_in(w, folders, src, one, two, &why), "hit");
	tear_down(w);
}

WS_TEST(the_time_of_the_build_is_never_cached)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(w, "a.cpp", "const char *t = __TIME__;\n");
	const struct ws_tree *one = TREE(w, "y.h", "");
	assert_string_equal(compile(w, src, one, one, &why), "ran");
	assert_string_equal(compile(w, src, one, one, &why), "ran");
	/* Mentioned, but not expanded: that does not count. */
	src = TREE(w, "a.cpp", "#define T __TIME__\nint x;\n");
	assert_string_equal(compile(w, src, one, one, &why), "ran");
	assert_string_equal(compile(w, src, one, one, &why), "hit");
	tear_down(w);
}

WS_TEST(a_question_that_cannot_be_listed_counts_only_for_the_same_trees)
{
	struct world *w = set_up(a);
	const char *why;
	const struct ws_tree *src = TREE(
		w, "a.cpp", "#define H <opt.h>\n#if __has_include(H)\nint x = 1;\n#else\nint x;\n#endif\n");
	const struct ws_tree *one = TREE(w, "y.h", "");
	assert_string_equal(compile(w, src, one, one, &why), "ran");
	assert_string_equal(compile(w, src, one, one, &why), "hit");
	assert_string_equal(compile(w, src, one, TREE(w, "opt.h", ""), &why), "ran");
	tear_down(w);
}

/* Bytes; the sanitizers' allocator always says 0. */
static size_t
in_use(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* 200 headers that each ask for all others, along eight folders: 320,000 candidates, as many as
 * half of a unit with torch/extension.h has. The cache keeps one name for each header and folder.
 * */
WS_TEST(a_trace_keeps_what_it_notes_and_no_more)
{
	enum { HEADERS = 200, FOLDERS = 8 };
	struct ws_err err;
	struct ws_reads reads = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf deps = {0};
	const char *work = ws_test_dir(a);
	const char *search[FOLDERS];
	for (size_t i = 0; i < FOLDERS; i++) {
		search[i] = ws_arena_printf(a, "a_folder_with_a_long_name/%zu", i);
		assert_ok(ws_fs_mkdirs(ws_path_join(a, work, search[i], NULL), &err), err);
	}
	for (size_t i = 0; i < HEADERS; i++) {
		ws_buf_printf(&text, "#include <a_header_with_a_long_name_%zu.h>\n", i);
	}
	ws_buf_puts(&deps, "unit.o:");
	for (size_t i = 0; i < HEADERS; i++) {
		const char *name =
			ws_arena_printf(a, "%s/a_header_with_a_long_name_%zu.h", search[FOLDERS - 1], i);
		ws_buf_printf(&deps, " %s", name);
		assert_ok(
			ws_fs_write(ws_path_join(a, work, name, NULL), text.data, text.len, 0644, &err), err);
	}
	const char *depfile = ws_path_join(a, work, WS_COMPILE_DEPFILE, NULL);
	assert_ok(ws_fs_write(depfile, deps.data, deps.len, 0644, &err), err);
	const struct ws_action action = {.search = search, .search_count = FOLDERS};
	size_t before = in_use();
	assert_ok(ws_headers_reads(&action, work, "no-log", a, &reads, &err), err);
	size_t kept = in_use() - before;
	assert_int_equal(reads.files.len, HEADERS);
	assert_int_equal(reads.absent.len, HEADERS * (FOLDERS - 1));
	assert_true(kept < (size_t)2 << 20);
}
