/* test_cli_selecting.c - each cure by code in the words of who asked: options typed, or a matrix
 * written. */
#include "test.h"

#include "cli/selecting.h"

static const struct {
	enum ws_cure code;
	const char *subject, *options, *matrix;
} rows[] = {
	{WS_CURE_FREE_SPACE, NULL,
		"free some space there, or use another folder: --store DIR, -o DIR\n", NULL},
	{WS_CURE_READ_ONLY, NULL,
		"that file system is read-only; use another folder: --store DIR, -o DIR\n", NULL},
	{WS_CURE_OUTPUT, NULL, "choose another folder: -o DIR\n", NULL},
	{WS_CURE_STORE, NULL, "name a folder for the store: --store DIR, or WHEELSMITH_STORE\n", NULL},
	{WS_CURE_TORCH, "2.5.1", "name the torch release: --torch 2.5.1\n",
		"name the torch release: \"torch\": [\"2.5.1\"]\n"},
	{WS_CURE_CUDA, "12.4", "name the CUDA version: --cuda 12.4\n",
		"name the CUDA version: \"cuda\": [\"12.4\"]\n"},
	{WS_CURE_PYTHON, "/a/python3", "name the Python: --python /a/python3\n",
		"name the Python: \"python\": [\"/a/python3\"]\n"},
	{WS_CURE_ARCH, "8.6", "name the architectures: --arch 8.6\n",
		"name the architectures: \"arch\": [\"8.6\"]\n"},
	{WS_CURE_INDEX, NULL, "name an index or a mirror: --index URL\n", NULL},
	{WS_CURE_INDEX, "torch", "name an index with other builds: --index torch=URL\n",
		"name an index with other builds: \"indexes\": {\"torch\": [URL]}\n"},
	{WS_CURE_DEBIAN_MIRROR, NULL, "name a Debian mirror:  --debian-mirror URL\n", NULL},
	{WS_CURE_KITS_ARCHIVE, NULL,
		"--kits archive assembles a complete toolkit in the store and installs no package\n", NULL},
	{WS_CURE_FETCH, NULL, "fetch first, with a network:  wheelsmith fetch p==1 --torch 2.5.1\n",
		"fetch first, with a network:  wheelsmith fetch --matrix m.json\n"},
	{WS_CURE_LOCK, NULL,
		"if that release exists, add it to the lock:  wheelsmith lock p==1 --torch 2.5.1\n",
		"if that release exists, add it to the lock:  wheelsmith lock --matrix m.json\n"},
	{WS_CURE_LOCK_UPDATE, "tiny",
		"if the change is intended:  wheelsmith lock p==1 --torch 2.5.1 --update tiny\n",
		"if the change is intended:  wheelsmith lock --matrix m.json --update tiny\n"},
	{WS_CURE_UNLOCKED, NULL, "or build without --locked\n", NULL},
	{WS_CURE_RECIPE, "demo==1.0",
		"draft one:  wheelsmith recipe new demo==1.0 -o recipes/\n"
		"and build with it:  wheelsmith build p==1 --torch 2.5.1 --recipes recipes\n",
		"draft one:  wheelsmith recipe new demo==1.0 -o recipes/\n"
		"and build with it:  wheelsmith build --matrix m.json --recipes recipes\n"},
	{WS_CURE_ACTION_TIMEOUT, NULL, "if it needs more time: --action-timeout SECONDS\n", NULL},
};

WS_TEST(a_cure_is_worded_for_its_caller)
{
	struct ws_selecting typed = {0};
	*ws_vec_push(&typed.typed.packages, a) = "p==1";
	*ws_vec_push(&typed.typed.axes[WS_AXIS_TORCH], a) = "2.5.1";
	struct ws_selecting written = {.options.matrix = "m.json"};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_session s = {.a = a, .selecting = &typed};
		struct ws_err err = {0};
		ws_err_cure_code(&err, rows[i].code, rows[i].subject);
		ws_cures_word(&s, &err);
		assert_string_equal(err.cure, rows[i].options);
		assert_int_equal(err.cure_count, 0);
		s.selecting = &written;
		err = (struct ws_err){0};
		ws_err_cure_code(&err, rows[i].code, rows[i].subject);
		ws_cures_word(&s, &err);
		assert_string_equal(err.cure, rows[i].matrix ? rows[i].matrix : rows[i].options);
	}
}

/* `doctor` selects nothing. */
WS_TEST(a_cure_without_a_selection_names_the_command)
{
	struct ws_session s = {.a = a};
	struct ws_err err = {.cure = "first\n"};
	ws_err_cure_code(&err, WS_CURE_FETCH, NULL);
	ws_cures_word(&s, &err);
	assert_string_equal(err.cure, "first\nfetch first, with a network:  wheelsmith fetch\n");
}
