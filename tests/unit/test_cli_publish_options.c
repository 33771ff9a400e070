/* test_cli_publish_options.c - every option of publish with every kind of index: accepted, or
 * refused with one line. */
#include "test.h"

#include "cli/publish_options.h"

enum { FOLDER, STORE, PLACES };

static const char *const targets[] = {"idx", "s3://bucket/team"};

/* A command line that is right except for the option under test. */
static struct ws_publish_options
options_to(int place, bool wheels, struct ws_arena *a)
{
	struct ws_publish_options o = {.to = targets[place]};
	if (wheels) {
		*ws_vec_push(&o.sources, a) = "dist";
	}
	return o;
}

#define IN_FOLDER "an index in a folder"
#define IN_STORE "an object store (s3://...)"

#define AT(member) offsetof(struct ws_publish_options, member)
static const struct {
	const char *option;
	enum { NOTHING, TEXT, NUMBER, FLAG, LIST } kind; /* of its member */
	size_t at;
	bool wheels;                 /* also given */
	const char *refused[PLACES]; /* the place that the option is for; NULL: accepted */
} rows[] = {
	{"", NOTHING, 0, true, {NULL, NULL}},
	{"--login", TEXT, AT(login), true, {IN_STORE, NULL}},
	{"--key", TEXT, AT(key), true, {NULL, NULL}},
	{"--key", TEXT, AT(key), false, {NULL, NULL}},
	{"--trust", TEXT, AT(trust), true, {NULL, NULL}},
	{"--sign-unsigned", FLAG, AT(sign_unsigned), true, {NULL, NULL}},
	{"--valid", NUMBER, AT(valid_days), true, {NULL, NULL}},
	{"--snapshots", NUMBER, AT(keep), true, {NULL, IN_FOLDER}},
	{"--force", FLAG, AT(force), true, {NULL, NULL}},
	{"--require-gpu-check", LIST, AT(gpu_checks), true, {NULL, NULL}},
	{"--variants", FLAG, AT(variants), true, {NULL, IN_FOLDER}},
	{"--variants", FLAG, AT(variants), false, {NULL, IN_FOLDER}},
	{"--verify", FLAG, AT(verify), false, {NULL, IN_FOLDER}},
	{"--rollback", TEXT, AT(roll_back), false, {NULL, IN_FOLDER}},
	{"--title", TEXT, AT(title), true, {NULL, NULL}},
	{"--title", TEXT, AT(title), false, {NULL, NULL}},
	{"--yank", TEXT, AT(yank), false, {NULL, NULL}},
	{"--yank", TEXT, AT(yank), true, {NULL, NULL}},
	{"--unyank", TEXT, AT(unyank), false, {NULL, NULL}},
};

static void
add(struct ws_publish_options *o, const char *option, struct ws_arena *a)
{
	size_t i = 0;
	while (strcmp(rows[i].option, option) != 0) {
		i++;
	}
	void *member = (char *)o + rows[i].at;
	if (rows[i].kind == TEXT) {
		*(const char **)member = "x";
	} else if (rows[i].kind == NUMBER) {
		*(unsigned *)member = 1;
	} else if (rows[i].kind == FLAG) {
		*(bool *)member = true;
	} else if (rows[i].kind == LIST) {
		*ws_vec_push((ws_words *)member, a) = "x";
	}
}

WS_TEST(each_option_applies_to_the_places_of_its_row)
{
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		for (int place = 0; place < PLACES; place++) {
			struct ws_publish_options o = options_to(place, rows[i].wheels, a);
			struct ws_err err = {0};
			add(&o, rows[i].option, a);
			if (strcmp(rows[i].option, "--yank") == 0) {
				o.reason = "wrong";
			}
			if (strcmp(rows[i].option, "--sign-unsigned") == 0 && !rows[i].refused[place]) {
				o.key = "key";
			}
			const char *refused = rows[i].refused[place];
			bool accepted = ws_publish_options_check(&o, a, &err);
			if (accepted != !refused) {
				fail_msg("%s with %s: %s", rows[i].option, targets[place], err.text);
			}
			if (refused) {
				assert_int_equal(err.kind, WS_ERR_USAGE);
				assert_string_equal(
					err.text, ws_arena_printf(a, "%s is for %s", rows[i].option, refused));
			}
		}
	}
}

/* A yank without a reason would be the unyank. */
WS_TEST(a_yank_needs_a_reason_and_excludes_an_unyank_in_every_place)
{
	static const struct {
		const char *yank, *unyank, *reason, *error;
	} cases[] = {
		{"x==1", NULL, NULL, "--yank needs --reason TEXT"},
		{"x==1", "x==1", "y", "--yank and --unyank exclude each other"},
		{"x==1", "x==1", NULL, "--yank and --unyank exclude each other"},
		{NULL, "x==1", "y", "--reason is for --yank"},
		{NULL, NULL, "y", "--reason is for --yank"},
	};
	for (int place = 0; place < PLACES; place++) {
		for (size_t i = 0; i < WS_LEN(cases); i++) {
			struct ws_publish_options o = options_to(place, true, a);
			o.yank = cases[i].yank;
			o.unyank = cases[i].unyank;
			o.reason = cases[i].reason;
			struct ws_err err = {0};
			assert_false(ws_publish_options_check(&o, a, &err));
			assert_string_equal(err.text, cases[i].error);
		}
	}
}

WS_TEST(tasks_exclude_each_other_and_wheels)
{
	static const char *const tasks[] = {"--verify", "--rollback"};
	for (size_t i = 0; i < WS_LEN(tasks); i++) {
		static const char *const others[] = {"--yank", "--unyank", "--variants", "wheels"};
		for (size_t j = 0; j < WS_LEN(others); j++) {
			bool wheels = strcmp(others[j], "wheels") == 0;
			struct ws_publish_options o = options_to(FOLDER, wheels, a);
			struct ws_err err = {0};
			add(&o, tasks[i], a);
			add(&o, wheels ? "" : others[j], a);
			assert_false(ws_publish_options_check(&o, a, &err));
			assert_non_null(strstr(err.text, "are separate tasks"));
		}
	}
	struct ws_publish_options both = {.to = "idx", .verify = true, .roll_back = "@2026-11-21.1"};
	struct ws_publish_options key = {.new_key = "key"}, none = {.to = NULL};
	struct ws_err err = {0};
	assert_false(ws_publish_options_check(&both, a, &err));
	assert_ok(ws_publish_options_check(&key, a, &err), err);
	assert_false(ws_publish_options_check(&none, a, &err));
	assert_string_equal(err.text, "no index named: give --to FOLDER");
}

WS_TEST(no_wheels_is_an_error_in_every_place)
{
	for (int place = 0; place < PLACES; place++) {
		struct ws_publish_options o = options_to(place, false, a);
		struct ws_err err = {0};
		assert_false(ws_publish_options_check(&o, a, &err));
		assert_string_equal(err.text, "no wheels named: give folders that have some");
	}
}

/* URLs are normalised: a ".." could address another bucket. */
WS_TEST(unsafe_addresses_and_logins_are_refused)
{
	static const char *const bad[] = {"s3://bucket/../../x", "s3://../x", "s3://bucket/./x",
		"s3://bucket/a/..", "s3://.", "s3:///x", "s3://bucket/te@m", "s3://bucket//x",
		"s3://bucket/x?y", "s3://", "ftp://host/x", "https://host.example/legacy/"};
	static const char *const logins[] = {"s3://u:sekret@bucket/team", "s3://u:sek/ret@bucket/team"};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		struct ws_publish_options o = options_to(FOLDER, true, a);
		struct ws_err err = {0};
		o.to = bad[i];
		assert_false(ws_publish_options_check(&o, a, &err));
		assert_int_equal(err.kind, WS_ERR_USAGE);
	}
	for (size_t i = 0; i < WS_LEN(logins); i++) {
		struct ws_publish_options o = options_to(FOLDER, true, a);
		struct ws_err err = {0};
		o.to = logins[i];
		assert_false(ws_publish_options_check(&o, a, &err));
		assert_non_null(strstr(err.text, "could read a login in the URL"));
		assert_null(strstr(err.text, "sek"));
	}
}

WS_TEST(a_package_server_is_for_twine)
{
	struct ws_publish_options o = options_to(FOLDER, true, a);
	struct ws_err err = {0};
	o.to = "https://u:sekret@host.example/legacy/";
	assert_false(ws_publish_options_check(&o, a, &err));
	assert_string_equal(
		err.text, "--to 'https://host.example/legacy/' is not a folder or s3://BUCKET/PREFIX");
	assert_string_equal(err.cure,
		"for a package server:  twine upload --repository-url https://host.example/legacy/ "
		"dist/*.whl\n");
}
