/* options.c - the door to popt: makes its table, and turns its errors into ours. */
#include "cli/options.h"

#include "base/text.h"

#include <popt.h>

#define HELP_VALUE 1 /* rows have larger values; with 0 popt would store by itself */

/* A unit of numbers and its factor. */
struct unit {
	char letter;
	uint64_t factor;
};

/* @plain: the factor of a number without a unit; 0: a unit is required. */
static bool
parse_units(
	const char *text, const struct unit *units, size_t count, uint64_t plain, uint64_t *value)
{
	char *end;
	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	double number = strtod(text, &end);
	uint64_t factor = plain;
	for (size_t i = 0; i < count && *end; i++) {
		if ((*end | 0x20) == units[i].letter) {
			factor = units[i].factor;
			end++;
			break;
		}
	}
	if (factor != plain && strcmp(end, "iB") == 0) {
		end += 2;
	}
	double product = number * (double)factor;
	if (*end != '\0' || !(product >= 1 && product < 0x1p63)) {
		return false;
	}
	*value = (uint64_t)product;
	return true;
}

bool
ws_options_size(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {{'k', (uint64_t)1 << 10}, {'m', (uint64_t)1 << 20},
		{'g', (uint64_t)1 << 30}, {'t', (uint64_t)1 << 40}};
	return parse_units(text, units, WS_LEN(units), 0, bytes);
}

bool
ws_options_duration(const char *text, uint64_t *ms)
{
	static const struct unit units[] = {{'m', 60000}, {'h', 3600000}, {'s', 1000}};
	return parse_units(text, units, WS_LEN(units), 1000, ms);
}

static const struct ws_option *
row_at(const struct ws_usage *usage, size_t index)
{
	return index < usage->option_count ? &usage->options[index]
									   : &usage->common[index - usage->option_count];
}

static bool
takes_argument(const struct ws_option *row)
{
	return row->kind != WS_OPTION_FLAG && row->kind != WS_OPTION_COUNT;
}

static bool
convert(const struct ws_option *row, const char *text, struct ws_arena *a, struct ws_err *err)
{
	if (takes_argument(row) && !text[0] && strcmp(row->argument, "TEXT") != 0) { /* "$UNSET" */
		return ws_err_set(err, WS_ERR_USAGE, "--%s needs a value; '' is empty", row->name);
	}
	switch (row->kind) {
	case WS_OPTION_FLAG:
		*(bool *)row->value = true;
		return true;
	case WS_OPTION_COUNT:
		++*(unsigned *)row->value;
		return true;
	case WS_OPTION_TEXT:
		*(const char **)row->value = ws_arena_strdup(a, text);
		return true;
	case WS_OPTION_LIST:
		*ws_vec_push((ws_words *)row->value, a) = ws_arena_strdup(a, text);
		return true;
	case WS_OPTION_NUMBER: {
		uint64_t number;
		if (ws_str_to_u64(ws_str_of(text), &number) && number >= 1 && number <= 100000) {
			*(unsigned *)row->value = (unsigned)number;
			return true;
		}
		return ws_err_set(
			err, WS_ERR_USAGE, "--%s: '%s' is not a number from 1 to 100000", row->name, text);
	}
	case WS_OPTION_SIZE:
		if (ws_options_size(text, row->value)) {
			return true;
		}
		ws_err_set(err, WS_ERR_USAGE, "--%s: '%s' is not a size with its unit", row->name, text);
		return ws_err_cure(err, "write it like this: --%s 8G, --%s 512M", row->name, row->name);
	case WS_OPTION_SECONDS:
		return ws_options_duration(text, row->value)
			|| ws_err_set(
				err, WS_ERR_USAGE, "--%s: '%s' is not a time (90, 10m, 2h)", row->name, text);
	}
	return false;
}

static bool
read_rows(const struct ws_usage *usage, poptContext context, struct ws_arena *a, struct ws_err *err)
{
	int code;
	while ((code = poptGetNextOpt(context)) > 0) {
		if (code == HELP_VALUE) {
			*err = (struct ws_err){0};
			return false;
		}
		WS_AUTO_FREE char *text = poptGetOptArg(context);
		if (!convert(row_at(usage, (size_t)code - HELP_VALUE - 1), text, a, err)) {
			return false;
		}
	}
	const char *bad = poptBadOption(context, POPT_BADOPTION_NOALIAS);
	if (code == -1) {
		return true;
	}
	if (code == POPT_ERROR_NOARG) {
		return ws_err_set(err, WS_ERR_USAGE, "%s needs a value", bad);
	}
	if (code == POPT_ERROR_UNWANTEDARG) {
		return ws_err_set(err, WS_ERR_USAGE, "%s takes no value", bad);
	}
	ws_err_set(err, WS_ERR_USAGE, "unknown option '%s'", bad);
	size_t count = usage->option_count + usage->common_count;
	const char **names = WS_NEW_N(a, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		names[i] = row_at(usage, i)->name;
	}
	const char *word = bad + strspn(bad, "-");
	const char *near = ws_suggest(ws_arena_copy(a, word, strcspn(word, "=")), names, count);
	if (near && bad[0] == '-' && bad[1] == '-') {
		ws_err_cure(err, "did you mean --%s?", near);
	}
	return ws_err_cure(err, "`wheelsmith%s%s --help` lists the options",
		usage->command[0] ? " " : "", usage->command);
}

static bool
check_count(const struct ws_usage *usage, const ws_words *words, struct ws_err *err)
{
	struct ws_str lines = ws_str_of(usage->synopsis);
	if (words->len > usage->most) {
		return ws_err_set(err, WS_ERR_USAGE, "unexpected argument '%s'", words->at[usage->most]);
	}
	for (size_t i = 0; i < words->len; i++) {
		if (!words->at[i][0]) {
			return ws_err_set(err, WS_ERR_USAGE, "argument %zu is empty", i + 1);
		}
	}
	if (words->len >= usage->least) {
		return true;
	}
	ws_err_set(err, WS_ERR_USAGE, "`wheelsmith %s` needs more arguments", usage->command);
	while (lines.s) {
		struct ws_str line = ws_str_cut(&lines, '\n');
		ws_err_cure(err, "usage: wheelsmith %s %.*s", usage->command, WS_STR_ARGS(line));
	}
	return false;
}

bool
ws_options_parse(const struct ws_usage *usage, int argc, const char *const *argv,
	bool first_word_ends, struct ws_arena *a, ws_words *words, struct ws_err *err)
{
	size_t count = usage->option_count + usage->common_count;
	struct poptOption *table = WS_NEW_N(a, struct poptOption, count + 2);
	for (size_t i = 0; i < count; i++) {
		const struct ws_option *row = row_at(usage, i);
		table[i].longName = row->name;
		table[i].shortName = row->letter;
		table[i].argInfo = takes_argument(row) ? POPT_ARG_STRING : POPT_ARG_NONE;
		table[i].val = (int)i + HELP_VALUE + 1;
	}
	table[count].longName = "help";
	table[count].shortName = 'h';
	table[count].argInfo = POPT_ARG_NONE;
	table[count].val = HELP_VALUE;
	unsigned flags = first_word_ends ? POPT_CONTEXT_POSIXMEHARDER : 0;
	poptContext context = poptGetContext(NULL, argc, (const char **)(uintptr_t)argv, table, flags);
	bool read = read_rows(usage, context, a, err);
	const char **rest = read ? poptGetArgs(context) : NULL;
	for (; rest && *rest; rest++) {
		*ws_vec_push(words, a) = ws_arena_strdup(a, *rest);
	}
	poptFreeContext(context);
	return read && (first_word_ends || check_count(usage, words, err));
}

void
ws_options_help(const struct ws_usage *usage, const struct ws_out *out)
{
	struct ws_str lines = ws_str_of(usage->synopsis);
	const char *lead = "usage:";
	while (lines.s) {
		struct ws_str line = ws_str_cut(&lines, '\n');
		ws_out_result(out, "%s wheelsmith %s%s%.*s\n", lead, usage->command,
			usage->command[0] ? " " : "", WS_STR_ARGS(line));
		lead = "      ";
	}
	ws_out_result(out, "%s\n", usage->summary);
	for (size_t i = 0; i < usage->option_count; i++) {
		char left[40];
		char letter[8] = "    ";
		if (usage->options[i].letter) {
			snprintf(letter, sizeof(letter), "-%c, ", usage->options[i].letter);
		}
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, usage->options[i].name,
			usage->options[i].argument ? " " : "",
			usage->options[i].argument ? usage->options[i].argument : "");
		ws_out_result(out, "  %-25s %s\n", left, usage->options[i].help);
	}
	if (usage->command[0]) {
		ws_out_result(out, "Common options: wheelsmith --help; more: man wheelsmith-%.*s\n",
			(int)strcspn(usage->command, " "), usage->command);
	}
}

/* ---- completion ---- */

/* Values that never change: by the option that takes them, or by the name of its argument. */
static const struct {
	const char *name, *words;
} values[] = {
	{"cxx11abi", "auto 0 1"},
	{"debug-info", "lines full none"},
	{"executor", "local remote remote,local"},
	{"glibc", "2.17 2.28 2.31 2.34 host"},
	{"kits", "host archive"},
	{"platform", "x86_64 aarch64"},
	{"policy", "prefer-prebuilt prefer-build prebuilt-only build-only"},
	{"update", "all torch cuda"},
	{"DIR", ":folders"},
	{"FILE", ":files"},
	{"WHEEL", ":files"},
};

static void
offer_words(const char *words, const char *before, const struct ws_out *out)
{
	struct ws_str rest = ws_str_of(words);
	while (rest.s) {
		struct ws_str word = ws_str_cut(&rest, ' ');
		ws_out_result(out, "%s%.*s\n", *word.s == ':' ? "" : before, WS_STR_ARGS(word));
	}
}

static bool
offer_values(struct ws_str name, const char *before, const struct ws_out *out)
{
	for (size_t i = 0; i < WS_LEN(values); i++) {
		if (ws_str_is(name, values[i].name)) {
			offer_words(values[i].words, before, out);
			return true;
		}
	}
	return false;
}

/* The option with an argument that @a word is: "-m", "--matrix"; with @a equals "--matrix=...". */
static const struct ws_option *
find_row(const struct ws_usage *usage, const char *word, bool equals)
{
	for (size_t i = 0; i < usage->option_count + usage->common_count; i++) {
		const struct ws_option *row = row_at(usage, i);
		size_t len = strlen(row->name);
		bool is_long = ws_starts_with(word, "--") && strncmp(word + 2, row->name, len) == 0
			&& word[2 + len] == (equals ? '=' : '\0');
		bool is_short =
			!equals && row->letter && word[0] == '-' && word[1] == row->letter && !word[2];
		if (takes_argument(row) && (is_long || is_short)) {
			return row;
		}
	}
	return NULL;
}

/* Files or folders, where the synopsis has such an argument that does not belong to an option. */
static void
offer_arguments(const struct ws_usage *usage, const struct ws_out *out)
{
	struct ws_str rest = ws_str_of(usage->synopsis), before = {0};
	while (rest.s) {
		struct ws_str word = {rest.s, strcspn(rest.s, " \n")};
		rest.s = word.s[word.n] ? word.s + word.n + 1 : NULL;
		struct ws_str name = word;
		while (name.n > 0 && strchr("[].", name.s[name.n - 1])) {
			name.n--;
		}
		if (!(before.n > 2 && memchr(before.s, '-', 2)) && offer_values(name, "", out)) {
			return;
		}
		before = word;
	}
}

bool
ws_options_complete(
	const struct ws_usage *usage, int argc, const char *const *argv, const struct ws_out *out)
{
	const char *word = argv[argc - 1], *before = "";
	const struct ws_option *row = argc > 2 ? find_row(usage, argv[argc - 2], false) : NULL;
	char prefix[40];
	if (!row && argc > 1 && (row = find_row(usage, word, true))) {
		snprintf(prefix, sizeof(prefix), "--%s=", row->name);
		before = prefix;
	}
	if (row) {
		if (!offer_values(ws_str_of(row->name), before, out)) {
			offer_values(ws_str_of(row->argument), before, out);
		}
	} else if (argc == 1) {
		ws_out_result(out, "%s\n", word);
	} else if (word[0] == '-') {
		for (size_t i = 0; i < usage->option_count + usage->common_count; i++) {
			const struct ws_option *offered = row_at(usage, i);
			if (offered->letter) {
				ws_out_result(out, "-%c\t%s\n", offered->letter, offered->help);
			}
			ws_out_result(out, "--%s\t%s\n", offered->name, offered->help);
		}
		ws_out_result(out, "-h\tshow help\n--help\tshow help\n");
	} else if (usage->parts && argc == 2) {
		offer_words(usage->parts, "", out);
	} else {
		offer_arguments(usage, out);
	}
	return row != NULL;
}
