/* completion.c - which commands there are, what they accept, and what their values are. The scripts
 * are completion_bash.c's, completion_zsh.c's and completion_fish.c's. */
#include "cli/completion.h"

#include "base/str.h"
#include "model/matrix.h"

#include <string.h>

/* How values are completed: by what the help calls them, or by the option that takes them. */
struct row {
	const char *name;
	struct ws_value value;
};

static const struct row rows[] = {
	{"--arch", {WS_VALUE_ASK, "arch"}},
	{"--cuda", {WS_VALUE_ASK, "cuda"}},
	{"--cxx11abi", {WS_VALUE_WORDS, "auto 0 1"}},
	{"--kits", {WS_VALUE_WORDS, "host archive"}},
	{"--python", {WS_VALUE_ASK, "python"}},
	{"--torch", {WS_VALUE_ASK, "torch"}},
	{"--update", {WS_VALUE_WORDS, "all torch cuda"}},
	{"CELL", {WS_VALUE_ASK, "cells"}},
	{"CELLS", {WS_VALUE_ASK, "cells"}},
	{"DIR", {WS_VALUE_FOLDERS, NULL}},
	{"FILE", {WS_VALUE_FILES, NULL}},
	{"PATH", {WS_VALUE_FILES, NULL}},
	{"PKG==V", {WS_VALUE_ASK, "packages"}},
};

static struct ws_value
find_row(const char *name)
{
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return rows[i].value;
		}
	}
	return (struct ws_value){0};
}

static const char *
policies(struct ws_arena *a)
{
	const char *words = "";
	for (int i = 0; i <= WS_POLICY_BUILD_ONLY; i++) {
		words =
			ws_arena_printf(a, "%s%s%s", words, i ? " " : "", ws_policy_name((enum ws_policy)i));
	}
	return words;
}

struct ws_value
ws_completion_value(const struct ws_option *option, struct ws_arena *a)
{
	if (!option->argument) {
		return (struct ws_value){0};
	}
	if (strcmp(option->name, "policy") == 0) {
		return (struct ws_value){WS_VALUE_WORDS, policies(a)};
	}
	struct ws_value value = find_row(option->argument);
	return value.kind == WS_VALUE_ANY ? find_row(ws_arena_printf(a, "--%s", option->name)) : value;
}

/* A line of a synopsis names its words first: "CELL --matrix FILE", "[--fetch] FILE...". */
static struct ws_value
value_of_words(const struct ws_usage *usage, struct ws_arena *a)
{
	struct ws_str lines = ws_str_of(usage->most > 0 ? usage->synopsis : NULL);
	while (lines.s) {
		struct ws_str line = ws_str_cut(&lines, '\n');
		struct ws_str word = ws_str_cut(&line, ' ');
		while (word.n > 0 && word.s[0] == '[') {
			word = ws_str_cut(&line, ' ');
		}
		while (word.n > 0 && word.s[word.n - 1] == '.') {
			word.n--;
		}
		struct ws_value value = find_row(ws_str_copy(word, a));
		if (value.kind != WS_VALUE_ANY) {
			return value;
		}
	}
	return (struct ws_value){0};
}

struct collecting {
	struct ws_usage_taker taker;
	struct ws_arena *a;
	struct ws_completed *into;
	const char *parts;
};

static void
take_usage(struct ws_usage_taker *self, const struct ws_usage *usage)
{
	struct collecting *c = (struct collecting *)self;
	struct ws_option *options = WS_NEW_N(c->a, struct ws_option, usage->option_count);
	if (usage->option_count > 0) {
		memcpy(options, usage->options, usage->option_count * sizeof(*options));
	}
	c->into->options = options;
	c->into->option_count = usage->option_count;
	c->into->words = value_of_words(usage, c->a);
	c->parts = usage->parts;
}

/* Runs a command for its usage alone. @a part: "check" of "recipe check", or NULL. Returns its parts. */
static const char *
ask(struct ws_session *s, const struct ws_command *command, const char *part,
	struct ws_completed *into)
{
	struct collecting c = {.taker.take = take_usage, .a = s->a, .into = into};
	const char *argv[] = {command->name, part, NULL};
	struct ws_err none = {0};
	s->usage_taker = &c.taker;
	command->run(s, part ? 2 : 1, argv, &none);
	s->usage_taker = NULL;
	return c.parts;
}

static void
add_command(struct ws_session *s, const struct ws_command *command, struct ws_completions *all)
{
	struct ws_completed whole = {.name = command->name, .help = command->help};
	struct ws_str rest = ws_str_of(ask(s, command, NULL, &whole));
	WS_VEC(struct ws_command) parts = {0};
	WS_VEC(struct ws_completed) inner = {0};
	while (rest.s) {
		const char *part = ws_str_copy(ws_str_cut(&rest, ' '), s->a);
		struct ws_completed *one = ws_vec_push(&inner, s->a);
		one->name = ws_arena_printf(s->a, "%s %s", command->name, part);
		*ws_vec_push(&parts, s->a) = (struct ws_command){.name = part};
		ask(s, command, part, one);
	}
	whole.parts = parts.at;
	whole.part_count = parts.len;
	*ws_vec_push(&all->at, s->a) = whole;
	for (size_t i = 0; i < inner.len; i++) {
		*ws_vec_push(&all->at, s->a) = inner.at[i];
	}
}

void
ws_completion_collect(struct ws_session *s, struct ws_completions *all)
{
	static const struct ws_option own[] = {
		{"version", 0, WS_OPTION_FLAG, NULL, NULL, "the version"},
	};
	WS_VEC(struct ws_command) listed = {0};
	all->common = ws_session_options(s, &all->common_count);
	*ws_vec_push(&all->at, s->a) =
		(struct ws_completed){.name = "", .options = own, .option_count = WS_LEN(own)};
	for (size_t i = 0; i < s->command_count; i++) {
		if (s->commands[i].help) {
			*ws_vec_push(&listed, s->a) = s->commands[i];
			add_command(s, &s->commands[i], all);
		}
	}
	all->at.at[0].parts = listed.at;
	all->at.at[0].part_count = listed.len;
}
