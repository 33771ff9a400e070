/* test_cli_publish_options.c - every option of publish with every kind of index: accepted, or one
 * line says why not. */
#include "test.h"

#include "cli/publish_options.h"

enum { FOLDER, STORE, SERVER, PLACES };

static const char *const targets[] = {"idx", "s3://bucket/team", "https://host.example/legacy/"};

/* A command line that is right but for the option that is tried. */
static struct ws_publish_options
options_to(int place, bool wheels, struct ws_arena *a)
{
	struct ws_publish_options o = {.to = targets[place]};
	if (wheels) {
		*ws_vec_push(&o.sources, a) = "dist";
	}
	return o;
}

#define OURS "an index in a folder or in an object store (s3://...)"
#define AWAY "an object store (s3://...) or a server (https://...)"
#define ALONE "an index in a folder"
#define HTTP "a server (https://...)"

/* NULL: accepted; else for what the option is. */
static const struct {
	const char *option;
	bool wheels; /* they are named as well */
	const char *refused[PLACES];
} rows[] = {
	{"", true, {NULL, NULL, NULL}},
	{"--login", true, {AWAY, NULL, NULL}},
	{"--check-url", true, {HTTP, HTTP, NULL}},
	{"--key", true, {NULL, NULL, OURS}},
	{"--key", false, {NULL, NULL, OURS}},
	{"--trust", true, {NULL, NULL, OURS}},
	{"--sign-unsigned", true, {NULL, NULL, OURS}},
	{"--valid", true, {NULL, NULL, OURS}},
	{"--snapshots", true, {NULL, ALONE, ALONE}},
	{"--force", true, {NULL, NULL, NULL}},
	{"--require-gpu-check", true, {NULL, NULL, NULL}},
	{"--variants", true, {NULL, ALONE, ALONE}},
	{"--variants", false, {NULL, ALONE, ALONE}},
	{"--verify", false, {NULL, ALONE, ALONE}},
	{"--rollback", false, {NULL, ALONE, ALONE}},
	{"--title", true, {NULL, NULL, OURS}},
	{"--title", false, {NULL, NULL, OURS}},
	{"--yank", false, {NULL, NULL, OURS}},
	{"--yank", true, {NULL, NULL, OURS}},
	{"--unyank", false, {NULL, NULL, OURS}},
};

static void
add(struct ws_publish_options *o, const char *option, struct ws_arena *a)
{
	const struct {
		const char *name;
		const char **text;
		unsigned *number;
		bool *flag;
		ws_words *list;
	} members[] = {
		{"--login", &o->login, NULL, NULL, NULL},
		{"--check-url", &o->check_url, NULL, NULL, NULL},
		{"--key", &o->key, NULL, NULL, NULL},
		{"--trust", &o->trust, NULL, NULL, NULL},
		{"--rollback", &o->roll_back, NULL, NULL, NULL},
		{"--title", &o->title, NULL, NULL, NULL},
		{"--yank", &o->yank, NULL, NULL, NULL},
		{"--unyank", &o->unyank, NULL, NULL, NULL},
		{"--reason", &o->reason, NULL, NULL, NULL},
		{"--valid", NULL, &o->valid_days, NULL, NULL},
		{"--snapshots", NULL, &o->keep, NULL, NULL},
		{"--force", NULL, NULL, &o->force, NULL},
		{"--sign-unsigned", NULL, NULL, &o->sign_unsigned, NULL},
		{"--variants", NULL, NULL, &o->variants, NULL},
		{"--verify", NULL, NULL, &o->verify, NULL},
		{"--require-gpu-check", NULL, NULL, NULL, &o->gpu_checks},
	};
	for (size_t i = 0; i < WS_LEN(members); i++) {
		if (strcmp(members[i].name, option) != 0) {
			continue;
		}
		if (members[i].text) {
			*members[i].text = "x";
		} else if (members[i].number) {
			*members[i].number = 1;
		} else if (members[i].flag) {
			*members[i].flag = true;
		} else {
			*ws_vec_push(members[i].list, a) = "x";
		}
		return;
	}
	assert_string_equal(option, "");
}

WS_TEST(each_option_is_for_the_kinds_of_index_that_it_names)
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

/* Without a reason it would take a yank back. */
WS_TEST(a_yank_needs_its_reason_and_excludes_an_unyank_wherever_the_index_is)
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
	for (int place = 0; place < SERVER; place++) {
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

WS_TEST(nothing_to_publish_is_said_wherever_the_index_is)
{
	for (int place = 0; place < PLACES; place++) {
		struct ws_publish_options o = options_to(place, false, a);
		struct ws_err err = {0};
		assert_false(ws_publish_options_check(&o, a, &err));
		assert_string_equal(err.text, "no wheels named: give folders that have some");
	}
}

/* URLs are made shorter on the way: a ".." would lead to another bucket. */
WS_TEST(addresses_that_lead_elsewhere_or_have_a_login_are_refused)
{
	static const char *const bad[] = {"s3://bucket/../../x", "s3://../x", "s3://bucket/./x",
		"s3://bucket/a/..", "s3://.", "s3:///x", "s3://bucket/te@m", "s3://bucket//x",
		"s3://bucket/x?y", "s3://", "ftp://host/x"};
	static const char *const logins[] = {"s3://u:sekret@bucket/team", "s3://u:sek/ret@bucket/team",
		"https://u:sekret@host.example/legacy/"};
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
		assert_non_null(strstr(err.text, "a login in the URL would be seen by others"));
		assert_null(strstr(err.text, "sek"));
	}
}
