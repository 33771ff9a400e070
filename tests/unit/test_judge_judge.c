/* test_judge_judge.c - what the key of a check is made of: contents, and none of the folders that a host
 * or a store keeps them in; and what of the judge's findings a module of ours may have. What is found is
 * test_verify_judge.c's. */
#include "test.h"

#include "base/out.h"
#include "compile.h"
#include "engine/cache.h"
#include "judge/judge.h"

/* What a check reads, each file in a folder of its own below @dir. */
struct place {
	const char *dir;
	const char *list, *python, *libraries[2];
};

static const char *
write_in(const char *dir, const char *name, const char *text, struct ws_arena *a)
{
	struct ws_err err;
	const char *path = ws_path_join(a, dir, name, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	return path;
}

static struct place
make_place(struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	return (struct place){.dir = dir,
		.list = write_in(dir, "lists/torch.zst", "list", a),
		.python = write_in(dir, "bin/python3.11", "python", a),
		.libraries = {write_in(dir, "lib/libc.so.6", "libc", a),
			write_in(dir, "cuda/libcudart.so.13", "cudart", a)}};
}

/* The base key of a check in the store of @p, by a wheelsmith that lies there too. */
static struct ws_digest
key_in(const struct place *p, const char *module_digest, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, p->dir, "store", NULL), a, &store, &err), err);
	struct ws_node link = {.id = 1};
	struct ws_judge_module module = {.module = "m", .link = &link, .imported = true};
	struct ws_judge_order order = {.subject = "tiny 1.0",
		.unit = "tiny",
		.group = "tiny-1.0",
		.modules = &module,
		.module_count = 1,
		.place = {.lists = &p->list,
			.list_count = 1,
			.python_tag = "cp311",
			.python = p->python,
			.libraries = p->libraries,
			.library_count = WS_LEN(p->libraries)}};
	const char *program = ws_path_join(a, p->dir, "bin/wheelsmith", NULL);
	const struct ws_action *action = ws_judge_action(&order, &store, program, a, &err);
	assert_ok(action != NULL, err);
	const char *made[8] = {0};
	for (size_t i = 0; i < action->input_count; i++) {
		made[i] = action->inputs[i].from ? module_digest : NULL;
	}
	struct ws_cache cache = {.store = &store, .names = {.ledger = store.ledger, .a = a}};
	struct ws_digest base;
	assert_ok(ws_cache_base(&cache, action, made, &base, &err), err);
	ws_store_close(&store);
	return base;
}

static const char one[] = "1111111111111111111111111111111111111111111111111111111111111111";
static const char two[] = "2222222222222222222222222222222222222222222222222222222222222222";

WS_TEST(where_things_lie_is_not_in_the_key)
{
	struct place here = make_place(a), elsewhere = make_place(a);
	assert_string_not_equal(here.dir, elsewhere.dir);
	assert_string_equal(key_in(&here, one, a).hex, key_in(&elsewhere, one, a).hex);
}

WS_TEST(what_is_read_is_in_the_key)
{
	static const char *const files[] = {
		"lists/torch.zst", "bin/python3.11", "lib/libc.so.6", "cuda/libcudart.so.13"};
	struct place here = make_place(a);
	struct ws_digest before = key_in(&here, one, a);
	assert_string_not_equal(key_in(&here, two, a).hex, before.hex);
	for (size_t i = 0; i < WS_LEN(files); i++) {
		struct place other = make_place(a);
		write_in(other.dir, files[i], "another", a);
		assert_string_not_equal(key_in(&other, one, a).hex, before.hex);
	}
}

/* The child's work in a folder with one module: is it accepted, and what is printed. */
static bool
accepts(const char *source, const char *const *flags, const char *archs, const char **said,
	struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	struct ws_err err = {0};
	const char *order = ws_arena_printf(a,
		"{\"schema\": \"wheelsmith.check/7\", \"subject\": \"tiny 1.0\", \"archs\": \"%s\", "
		"\"lists\": [],"
		" \"libraries\": [], \"modules\": [{\"module\": \"m\", \"cuda\": %s, \"imported\": "
		"false}]}",
		archs ? archs : "", archs ? "true" : "false");
	write_in(dir, "order.json", order, a);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, dir, "mod", NULL), &err), err);
	ws_test_library(a, ws_path_join(a, dir, "mod", NULL), "0.so", source, flags);
	static const char *const argv[] = {WS_PROGRAM, "internal", "check", NULL};
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_capture command = {
		.argv = argv, .dir = dir, .timeout_ms = 60000, .with_stderr = true};
	bool fine = ws_capture_run(&command, &out, &err);
	*said = ws_buf_copy(&out, a);
	return fine;
}

WS_TEST(what_is_not_known_to_load_is_refused)
{
	static const char *const bare[] = {"-nostdlib", NULL};
	static const char *const more[] = {
		"-nostdlib", "-L.", "-Wl,--no-as-needed", "-l:libnowhere.so", NULL};
	const char *said;
	assert_true(accepts("int x;", bare, NULL, &said, a));
	const char *dir = ws_test_dir(a);
	ws_test_library(a, dir, "libnowhere.so", "int y;", bare);
	const char *flags[] = {more[0], ws_arena_printf(a, "-L%s", dir), more[2], more[3], NULL};
	assert_false(accepts("int x;", flags, NULL, &said, a));
	assert_contains(said, "unknown m needs the library 'libnowhere.so'");
	assert_contains(said, "error: tiny 1.0 is not known to load");
}

WS_TEST(code_is_for_the_archs_that_were_asked_for_and_no_others)
{
	static const char source[] =
		"__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n"
		".incbin \\\"" WS_TESTS_DIR "/fuzz/corpus/fatbin/none_75_90ptx\\\"\\n.previous\\n\");";
	static const char *const bare[] = {"-nostdlib", NULL};
	static const char *const others[] = {"7.5", "9.0+PTX", "7.5;9.0", "7.5;8.0;9.0+PTX"};
	const char *said;
	assert_true(accepts(source, bare, "7.5;9.0+PTX", &said, a));
	for (size_t i = 0; i < WS_LEN(others); i++) {
		assert_false(accepts(source, bare, others[i], &said, a));
		assert_contains(said, "m has code for 7.5;9.0+PTX, not for ");
	}
	assert_false(accepts("int x;", bare, "7.5", &said, a));
	assert_contains(said, "m has code for no GPU, not for 7.5");
}
