/* test_compile_link.c - real links: the changes that cause a new link, and the allowed link flags.
 * */
#include "test.h"

#include "base/fs.h"
#include "compile/extension_target.h"
#include "engine/engine.h"
#include "sys/child.h"

#include <time.h>

struct world {
	struct ws_store store;
	struct ws_work work;
	struct ws_host host;
	struct ws_budget budget;
	struct ws_hostcc cxx;
	const char *folder;
	struct ws_arena *a;
};

static struct world *
set_up(struct ws_arena *a)
{
	struct ws_err err;
	struct world *w = WS_NEW(a, struct world);
	w->a = a;
	w->folder = ws_test_dir(a);
	assert_ok(ws_store_open(ws_path_join(a, w->folder, "store", NULL), a, &w->store, &err), err);
	assert_ok(ws_work_open(&w->store, NULL, a, &w->work, &err), err);
	assert_ok(ws_hostcc_ask(NULL, "/usr/bin/g++", a, &w->cxx, &err), err);
	assert_ok(ws_hostcc_open(&w->cxx, w->store.ledger, a, &err), err);
	w->host = ws_host_read("", a);
	w->budget = ws_budget_make(&w->host, 2, 0);
	return w;
}

static void
tear_down(struct world *w)
{
	ws_work_close(&w->work, false);
	ws_store_close(&w->store);
}

/* "<folder>/a/libx.so" with a function that gives @a value; .a likewise. */
static void
make_library(const struct world *w, const char *name, int value)
{
	struct ws_err err;
	WS_AUTO_BUF struct ws_buf out = {0};
	const char *path = ws_path_join(w->a, w->folder, name, NULL);
	const char *source = ws_arena_printf(w->a, "%s.cpp", path);
	const char *object = ws_arena_printf(w->a, "%s.o", path);
	const char *text = ws_arena_printf(w->a, "int x() { return %d; }\n", value);
	assert_ok(ws_fs_mkdirs(ws_path_dir(w->a, path), &err), err);
	assert_ok(ws_fs_write(source, text, strlen(text), 0644, &err), err);
	const char *const compile[] = {"/usr/bin/g++", "-fPIC", "-c", source, "-o", object, NULL};
	const char *const link[] = {"/usr/bin/g++", "-shared", object, "-o", path, NULL};
	const char *const pack[] = {"/usr/bin/ar", "rcs", path, object, NULL};
	const char *const *const steps[] = {compile, ws_ends_with(path, ".a") ? pack : link};
	for (size_t i = 0; i < WS_LEN(steps); i++) {
		struct ws_child_order command = {.argv = steps[i], .with_stderr = true};
		assert_ok(ws_child_ask(&command, &out, &err), err);
	}
	nanosleep(
		&(struct timespec){.tv_nsec = 9000000}, NULL); /* what is as young as a run is not kept */
}

static const struct ws_tree *
sources(const struct world *w, const char *map)
{
	struct ws_err err;
	static const char unit[] =
		"int x();\nextern \"C\" int f() { return x(); }\nint g() { return 1; }\n";
	struct ws_tree_builder *b = ws_tree_begin(&w->store, "t", w->a, &err);
	assert_ok(ws_tree_add_file(b, "a.cpp", unit, strlen(unit), false, &err), err);
	assert_ok(ws_tree_add_file(b, "x.map", map, strlen(map), false, &err), err);
	struct ws_tree *tree = WS_NEW(w->a, struct ws_tree);
	assert_ok(ws_tree_commit(b, w->a, tree, &err), err);
	return tree;
}

/* Compiles a.cpp and links it; "ran" or "hit" of the link, or the failure. */
static const char *
link_with(struct world *w, const struct ws_tree *tree, const struct ws_flags *flags,
	const char **why, char digest[65])
{
	static const struct ws_unit unit = {.path = "a.cpp", .kind = WS_UNIT_CXX};
	static const struct ws_recipe_module module = {.units = &unit, .unit_count = 1, .cxx = true};
	static const struct ws_recipe recipe = {.name = "demo", .version = {.text = "1.0"}};
	static const struct ws_extension extension = {.module = "demo._C", .binding = WS_BINDING_C_ABI};
	struct ws_target *target = WS_NEW(w->a, struct ws_target);
	*target = (struct ws_target){.recipe = &recipe,
		.extension = &extension,
		.flags = *flags,
		.source = tree,
		.cxx = &w->cxx,
		.linker = &w->cxx,
		.group = "demo"};
	struct ws_err err;
	struct ws_run_summary summary;
	struct ws_graph *graph = ws_graph_make(w->a);
	struct ws_node **unit_node = WS_NEW(w->a, struct ws_node *);
	unit_node[0] = ws_graph_add(graph, ws_target_compile(target, &unit, NULL, w->a));
	const struct ws_action *action =
		ws_target_link(target, &w->store, &module, unit_node, w->a, &err);
	assert_non_null(action);
	struct ws_node *node = ws_graph_add(graph, action);
	struct ws_engine engine = {.store = &w->store,
		.ledger = w->store.ledger,
		.runner = ws_local_runner(&w->work, &w->host, NULL, w->a),
		.work = &w->work,
		.budget = &w->budget};
	if (!ws_engine_run(&engine, graph, &summary, &err)) {
		const struct ws_err *failure =
			unit_node[0]->failure ? unit_node[0]->failure : node->failure;
		return ws_arena_strdup(w->a, failure ? failure->text : err.text);
	}
	*why = node->why;
	memcpy(digest, node->result.outputs[0].hex, 65);
	return node->outcome == WS_OUTCOME_HIT ? "hit" : "ran";
}

WS_TEST(a_library_that_changes_or_comes_first_links_again)
{
	struct world *w = set_up(a);
	const char *why = NULL;
	char first[65], again[65];
	const char *one = ws_arena_printf(a, "-L%s/one", w->folder);
	const char *const link[] = {one, "-L", ws_path_join(a, w->folder, "two", NULL), "-lx"};
	const struct ws_flags flags = {.link = link, .link_count = WS_LEN(link)};
	const struct ws_tree *tree = sources(w, "");
	make_library(w, "two/libx.a", 1);
	assert_string_equal(link_with(w, tree, &flags, &why, first), "ran");
	assert_string_equal(link_with(w, tree, &flags, &why, again), "hit");
	make_library(w, "two/libx.a", 2);
	assert_string_equal(link_with(w, tree, &flags, &why, again), "ran");
	assert_contains(why, "two/libx.a' changed");
	assert_string_not_equal(first, again);
	make_library(w, "two/libx.so", 3);
	assert_string_equal(link_with(w, tree, &flags, &why, first), "ran");
	assert_contains(why, "two/libx.so' is there now");
	make_library(w, "one/libx.a", 4);
	assert_string_equal(link_with(w, tree, &flags, &why, again), "ran");
	assert_contains(why, "one/libx.a' is there now");
	assert_string_not_equal(first, again);
	tear_down(w);
}

/* A different libc makes a different module, so the inputs that the driver adds are recorded. */
WS_TEST(a_link_depends_on_the_libraries_of_the_system)
{
	struct ws_err err;
	struct ws_reads reads = {0};
	const char *work = ws_test_dir(a);
	static const char deps[] = "module.so: obj/0.o /usr/lib/gcc/x/12/../../../libc.so tmp/x.o\n";
	assert_ok(
		ws_fs_write(ws_path_join(a, work, WS_LINK_DEPFILE, NULL), deps, strlen(deps), 0644, &err),
		err);
	static const struct ws_input inputs[] = {{.name = "obj/0.o"}, {.name = "tmp/x.o"}};
	static const char *const argv[] = {"g++", NULL},
							 *const search[] = {"/usr/lib/none", "/usr/lib"};
	const struct ws_action action = {.subject = "module.so",
		.argv = argv,
		.inputs = inputs,
		.input_count = 2,
		.search = search,
		.search_count = 2};
	assert_ok(ws_link_reads(&action, work, "no-log", a, &reads, &err), err);
	assert_int_equal(reads.files.len, 1);
	assert_string_equal(reads.files.at[0], "/usr/lib/libc.so");
	assert_int_equal(reads.absent.len, 2);
	assert_string_equal(reads.absent.at[0], "/usr/lib/none/libc.so");
	assert_string_equal(reads.absent.at[1], "/usr/lib/none/libc.a");
	assert_ok(ws_fs_remove(ws_path_join(a, work, WS_LINK_DEPFILE, NULL), &err), err);
	assert_false(ws_link_reads(&action, work, "no-log", a, &reads, &err));
}

WS_TEST(a_version_script_of_the_sources_is_found_and_followed)
{
	struct world *w = set_up(a);
	const char *why = NULL;
	char first[65], again[65];
	static const char *const link[] = {"-Wl,--version-script=src/x.map"};
	const struct ws_flags flags = {.link = link, .link_count = 1};
	const struct ws_tree *tree = sources(w, "{ global: f; local: *; };\n");
	assert_string_equal(link_with(w, tree, &flags, &why, first), "ran");
	assert_string_equal(link_with(w, tree, &flags, &why, again), "hit");
	tree = sources(w, "{ global: f; _Z1gv; local: *; };\n");
	assert_string_equal(link_with(w, tree, &flags, &why, again), "ran");
	assert_string_equal(why, "'src/x.map' changed");
	assert_string_not_equal(first, again);
	tear_down(w);
}

WS_TEST(link_time_optimisation_works)
{
	struct world *w = set_up(a);
	const char *why = NULL;
	char digest[65];
	static const char *const words[] = {"-flto"};
	const struct ws_flags flags = {.cxx = words, .cxx_count = 1, .link = words, .link_count = 1};
	const struct ws_tree *tree = sources(w, "");
	assert_string_equal(link_with(w, tree, &flags, &why, digest), "ran");
	assert_string_equal(link_with(w, tree, &flags, &why, digest), "hit");
	tear_down(w);
}

WS_TEST(a_warning_of_our_stubs_does_not_become_an_error)
{
	struct world *w = set_up(a);
	const char *why = NULL;
	char digest[65];
	static const char *const words[] = {"-Werror", "-DT=__DATE__", "-include", "src/x.map"};
	const struct ws_flags flags = {.cxx = words, .cxx_count = WS_LEN(words)};
	const struct ws_tree *tree = sources(w, "const char *when = T;\n");
	assert_string_equal(link_with(w, tree, &flags, &why, digest), "ran");
	tear_down(w);
}

WS_TEST(a_stub_that_cannot_be_stored_is_an_error)
{
	struct ws_err err = {0};
	struct ws_hostcc cxx = {.path = "/usr/bin/g++", .fingerprint = "f00d"};
	static const struct ws_recipe recipe = {.name = "demo", .version = {.text = "1.0"}};
	static const struct ws_extension extension = {
		.module = "demo._C", .binding = WS_BINDING_TORCH_LIBRARY};
	static const struct ws_torch_kit torch = {.path = "/torch"};
	static const struct ws_tree tree = {.path = "/src"};
	struct ws_target target = {.recipe = &recipe,
		.extension = &extension,
		.torch = &torch,
		.source = &tree,
		.cxx = &cxx,
		.linker = &cxx};
	static const struct ws_recipe_module module = {.cxx = true};
	struct ws_store store = {.path = "/proc/nowhere"};
	assert_null(ws_target_link(&target, &store, &module, NULL, a, &err));
	assert_int_equal(err.kind, WS_ERR_IO);
}
