/* test_judge_order.c - the key of a verdict has the contents of files and the order, but no folder
 * of a host or a store; and the findings that our own modules may have. Findings are tested in
 * test_verify_judge.c. */

#include "compile.h"
#include "judge/order.h"

/* The inputs of a check, each in a folder of its own below @dir. */
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

static const char one[] = "1111111111111111111111111111111111111111111111111111111111111111";
static const char two[] = "2222222222222222222222222222222222222222222222222222222222222222";

/* Members of an order for a wheel. */
struct saying {
	const char *name, *required, *torch, *python_tag, *archs, *driver, *glibc;
};

static const struct saying usual = {.name = "tiny-1.0-cp311-cp311-linux_x86_64.whl",
	.required = "tiny._C",
	.torch = "2.11.0",
	.python_tag = "cp311",
	.archs = "8.6"};

static void
fill_place(struct ws_judge_place *place, const struct place *p, const struct saying *saying,
	struct ws_arena *a)
{
	const char *why;
	*place = (struct ws_judge_place){.lists = &p->list,
		.list_count = 1,
		.python_tag = saying->python_tag,
		.python = p->python,
		.libraries = p->libraries,
		.driver = saying->driver,
		.glibc = saying->glibc};
	place->library_count = WS_LEN(p->libraries);
	assert_true(ws_arch_set_parse(saying->archs, a, &place->archs, &why));
}

/* The base key of an order in the store of @p; the program is there, too. @made is the digest of
 * each linked module. */
static struct ws_digest
key_of(
	const struct place *p, const struct ws_judge_order *order, const char *made, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, p->dir, "store", NULL), a, &store, &err), err);
	const char *program = ws_path_join(a, p->dir, "bin/wheelsmith", NULL);
	const struct ws_action *action = ws_judge_action(order, &store, program, a, &err);
	assert_ok(action != NULL, err);
	const char *digests[8] = {0};
	for (size_t i = 0; i < action->input_count; i++) {
		digests[i] = action->inputs[i].from ? made : NULL;
	}
	struct ws_cache cache = {.store = &store, .names = {.ledger = store.ledger, .a = a}};
	struct ws_digest base;
	assert_ok(ws_cache_base(&cache, action, digests, &base, &err), err);
	ws_store_close(&store);
	return base;
}

/* The key of an order for our own modules. */
static struct ws_digest
key_in(const struct place *p, const char *module_digest, struct ws_arena *a)
{
	struct ws_node link = {.id = 1};
	struct ws_judge_module module = {.module = "m", .link = &link, .imported = true};
	struct ws_wheel_place place = {.torch = "2.11.0"};
	fill_place(&place.place, p, &usual, a);
	struct ws_judge_order order = {.subject = "tiny 1.0",
		.unit = "tiny",
		.group = "tiny-1.0",
		.modules = &module,
		.module_count = 1,
		.places = &place,
		.place_count = 1};
	return key_of(p, &order, module_digest, a);
}

/* The key of an order for a wheel. */
static struct ws_digest
key_of_wheel(
	const struct place *p, const char *digest, const struct saying *saying, struct ws_arena *a)
{
	struct ws_wheel_place place = {.torch = saying->torch};
	fill_place(&place.place, p, saying, a);
	struct ws_judge_order order = {.name = saying->name,
		.digest = digest,
		.required = &saying->required,
		.required_count = 1,
		.places = &place,
		.place_count = 1,
		.subject = "a wheel",
		.unit = "tiny/verify",
		.group = "a cell"};
	return key_of(p, &order, NULL, a);
}

WS_TEST(folders_are_not_in_the_key)
{
	struct place here = make_place(a), elsewhere = make_place(a);
	assert_string_not_equal(here.dir, elsewhere.dir);
	assert_string_equal(key_in(&here, one, a).hex, key_in(&elsewhere, one, a).hex);
}

WS_TEST(inputs_are_in_the_key)
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

WS_TEST(all_that_a_verdict_on_a_wheel_depends_on_is_in_the_key)
{
	struct place here = make_place(a), upgraded = make_place(a);
	struct saying others[7] = {usual, usual, usual, usual, usual, usual, usual};
	others[0].name = "tiny-1.0-cp312-cp312-linux_x86_64.whl";
	others[1].required = "tiny";
	others[2].torch = "2.10.0";
	others[3].python_tag = "cp312";
	others[4].archs = "8.6;9.0";
	others[5].driver = "550.54.14";
	others[6].glibc = "2.28";
	struct ws_digest before = key_of_wheel(&here, one, &usual, a);
	assert_string_equal(key_of_wheel(&here, one, &usual, a).hex, before.hex);
	assert_string_not_equal(key_of_wheel(&here, two, &usual, a).hex, before.hex);
	for (size_t i = 0; i < WS_LEN(others); i++) {
		assert_string_not_equal(key_of_wheel(&here, one, &others[i], a).hex, before.hex);
	}
	/* The host's libraries are others now, or another host has the store. */
	write_in(upgraded.dir, "lib/libc.so.6", "a newer libc", a);
	assert_string_not_equal(key_of_wheel(&upgraded, one, &usual, a).hex, before.hex);
}

/* A place that has nothing, and one where what is not read is not there. */
#define NOTHING "{\"torch\": null, \"lists\": [], \"libraries\": []}"
#define NOTHING_ELSE \
	"{\"torch\": \"2.11.0\", \"lists\": [], \"libraries\": [], \"folders\": [\"/nowhere\"]}"

/* The child's work in the folder @dir with one module: is it accepted, and what is printed. */
static bool
accepts_at(const char *dir, const char *places, const char *source, const char *const *flags,
	const char *archs, const char **said, struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *order = ws_arena_printf(a,
		"{\"schema\": \"" WS_JUDGE_VERSION "\", \"subject\": \"tiny 1.0\", \"archs\": \"%s\","
		" \"modules\": [{\"module\": \"m\", \"cuda\": %s, \"imported\": false}],"
		" \"places\": [%s]}",
		archs ? archs : "", archs ? "true" : "false", places);
	write_in(dir, "order.json", order, a);
	assert_ok(ws_fs_mkdirs(ws_path_join(a, dir, "mod", NULL), &err), err);
	ws_test_library(a, ws_path_join(a, dir, "mod", NULL), "0.so", source, flags);
	static const char *const argv[] = {WS_PROGRAM, "internal", "verify", NULL};
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_child_order command = {
		.argv = argv, .dir = dir, .limits.timeout_ms = 60000, .with_stderr = true};
	bool fine = ws_child_ask(&command, &out, &err);
	*said = ws_buf_copy(&out, a);
	if (!ws_fs_exists(ws_path_join(a, dir, WS_VERDICT_FILE, NULL))) {
		fail_msg("no verdict: %s", *said);
	}
	return fine;
}

static bool
accepts_in(const char *places, const char *source, const char *const *flags, const char *archs,
	const char **said, struct ws_arena *a)
{
	return accepts_at(ws_test_dir(a), places, source, flags, archs, said, a);
}

static bool
accepts(const char *source, const char *const *flags, const char *archs, const char **said,
	struct ws_arena *a)
{
	return accepts_in(NOTHING, source, flags, archs, said, a);
}

WS_TEST(a_module_of_unknown_verdict_is_refused)
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
	/* In every place of the order. */
	assert_false(accepts_in(NOTHING_ELSE ", " NOTHING, "int x;", flags, NULL, &said, a));
	assert_contains(said, "in torch 2.11.0:\nfails   m needs the library 'libnowhere.so'");
	assert_contains(said, "error: tiny 1.0 would not load");
}

#define TORCH(release) \
	"{\"torch\": \"" release "\", \"libraries\": [], \"lists\": [\"" WS_SOURCE_DATA_DIR \
	"/matrix/facts/exports/torch-" release ".zst\"]}"

WS_TEST(the_platform_tag_is_true_in_every_place)
{
	/* torch 2.5.1's own libgomp has another name, so there the system is asked for it. */
	static const char *const places[] = {TORCH("2.11.0"), TORCH("2.11.0") ", " TORCH("2.5.1")};
	static const char *const tags[] = {"manylinux_2_5_x86_64", "linux_x86_64"};
	static const char *const bare[] = {"-nostdlib", NULL};
	const char *said, *libraries = ws_test_dir(a);
	ws_test_library(a, libraries, "libgomp.so.1", "int y;", bare);
	const char *flags[] = {"-nostdlib", ws_arena_printf(a, "-L%s", libraries), "-Wl,--no-as-needed",
		"-l:libgomp.so.1", NULL};
	for (size_t i = 0; i < WS_LEN(places); i++) {
		const char *dir = ws_test_dir(a);
		struct ws_json_doc verdict;
		struct ws_err err = {0};
		(void)accepts_at(dir, places[i], "int x;", flags, NULL, &said, a);
		assert_ok(ws_json_read(ws_path_join(a, dir, WS_VERDICT_FILE, NULL), WS_JSON_STRICT, a,
					  &verdict, &err),
			err);
		const struct ws_json *measured = ws_json_find(verdict.root, "measured");
		assert_string_equal(ws_json_text(measured, "platform"), tags[i]);
	}
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
