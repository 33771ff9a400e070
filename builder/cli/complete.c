/* complete.c - finds out which command a half-typed line belongs to and what comes next. The usage
 * of a command is asked from the command itself, so no option is forgotten. Filtering by what was
 * typed, and quoting, is the shell's. */
#include "cli/complete.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "cli/selecting.h"
#include "config/matrix.h"

#include <string.h>

/* A line that is completed, and where in it we are. */
struct line {
	struct ws_session *s;
	const char *const *words;
	size_t count;             /* with the half-typed one, the last */
	const char *const *parts; /* commands that may come next */
	const char *const *helps; /* of parts; entries may be NULL */
	size_t part_count;
	const struct ws_option *options; /* of the command; NULL: none yet */
	size_t option_count;
	const struct ws_option *common;
	size_t common_count;
	const char *synopsis; /* NULL: the command takes no words */
	const char *matrix;   /* NULL: none is on the line */
};

static void
offer(const struct line *line, const char *before, const char *word, const char *help)
{
	ws_out_result(&line->s->out, "%s%s%s%s\n", before, word, help ? "\t" : "", help ? help : "");
}

/* ---- values that the facts, the recipes and a matrix know ---- */

static bool
offer_cells(struct line *line, const char *before, struct ws_err *err)
{
	struct ws_session *s = line->s;
	struct ws_selecting selecting = {.options.matrix = line->matrix};
	struct ws_context ctx;
	struct ws_selection sel;
	selecting.options.recipes = s->globals.recipes;
	if (!line->matrix) {
		return true;
	}
	if (!ws_session_open_store(s, true, err)) {
		return false;
	}
	ws_selecting_context(s, &selecting, s->a, &ctx);
	if (!ws_selection_read(&ctx, &s->user, &selecting.options, &sel, err)
		|| !ws_selection_plan(&ctx, &selecting.options, &sel, err)) {
		return false;
	}
	for (size_t i = 0; i < sel.plan.cell_count; i++) {
		offer(line, before, sel.plan.cells[i]->name, NULL);
	}
	return true;
}

/* The folder that a matrix names for its recipes; NULL when there is none, or no matrix. */
static const char *
recipes_of(const struct line *line)
{
	struct ws_matrix matrix;
	bool read = line->matrix
		&& ws_matrix_read(line->matrix, ws_user_env_home(&line->s->env), line->s->a, &matrix, NULL);
	return read ? matrix.recipes : NULL;
}

static bool
offer_packages(struct line *line, const char *before, struct ws_err *err)
{
	struct ws_session *s = line->s;
	struct ws_recipe_catalog catalog;
	if (!ws_session_list_recipes(s, recipes_of(line), &catalog, err)) {
		return false;
	}
	for (size_t i = 0; i < catalog.count; i++) {
		offer(line, before,
			ws_arena_printf(s->a, "%s==%s", catalog.files[i].name, catalog.files[i].version.text),
			NULL);
	}
	return true;
}

static bool
offer_torch(struct line *line, const char *before, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &line->s->facts;
	offer(line, before, "installed", NULL);
	for (size_t i = 0; i < facts->torch_count; i++) {
		offer(line, before, facts->torch[i].version.text, NULL);
	}
	return true;
}

static bool
offer_cuda(struct line *line, const char *before, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &line->s->facts;
	offer(line, before, "auto", NULL);
	for (size_t i = 0; i < facts->cuda_count; i++) {
		offer(line, before, facts->cuda[i].version.text, NULL);
	}
	return true;
}

/* All Pythons for which some torch has wheels. */
static bool
offer_python(struct line *line, const char *before, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &line->s->facts;
	struct ws_map known = {0};
	offer(line, before, "host", NULL);
	for (size_t i = 0; i < facts->torch_count; i++) {
		for (size_t j = 0; j < facts->torch[i].python_count; j++) {
			const char *text = ws_python_version_text(&facts->torch[i].pythons[j], line->s->a);
			if (ws_map_add(&known, text, line->s->a)) {
				offer(line, before, text, NULL);
			}
		}
	}
	return true;
}

/* Names of sets, and what the newest toolkit can compile for. */
static bool
offer_arch(struct line *line, const char *before, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &line->s->facts;
	offer(line, before, "host", NULL);
	for (size_t i = 0; i < facts->alias_count; i++) {
		offer(line, before, facts->aliases[i].name, NULL);
	}
	const struct ws_arch_set *archs =
		facts->cuda_count > 0 ? &facts->cuda[facts->cuda_count - 1].archs : NULL;
	for (size_t i = 0; archs && i < archs->count; i++) {
		offer(line, before, ws_arch_text(&archs->at[i], line->s->a), NULL);
	}
	return true;
}

static bool
offer_policy(struct line *line, const char *before, struct ws_err *err WS_UNUSED)
{
	for (int i = 0; i <= WS_POLICY_BUILD_ONLY; i++) {
		offer(line, before, ws_policy_name((enum ws_policy)i), NULL);
	}
	return true;
}

/* What is known of a value: by what the help calls it, or by the option that takes it. Either who
 * offers it, or words separated by blanks. */
static const struct {
	const char *name;
	bool (*offer)(struct line *line, const char *before, struct ws_err *err);
	const char *words;
} values[] = {
	{"--arch", offer_arch, NULL},
	{"--cuda", offer_cuda, NULL},
	{"--cxx11abi", NULL, "auto 0 1"},
	{"--debug-info", NULL, "none lines full"},
	{"--glibc", NULL, "2.17 2.28 2.31 2.34 host"},
	{"--kits", NULL, "host archive"},
	{"--platform", NULL, "x86_64 aarch64"},
	{"--policy", offer_policy, NULL},
	{"--python", offer_python, NULL},
	{"--torch", offer_torch, NULL},
	{"--update", NULL, "all torch cuda"},
	{"CELL", offer_cells, NULL},
	{"CELLS", offer_cells, NULL},
	{"DIR", NULL, ":folders"},
	{"FILE", NULL, ":files"},
	{"PKG[==V]", offer_packages, NULL},
	{"WHEEL", NULL, ":files"},
};

/* False with @err empty: nothing is known by that name. */
static bool
offer_value(struct line *line, const char *name, const char *before, struct ws_err *err)
{
	for (size_t i = 0; i < WS_LEN(values); i++) {
		if (strcmp(values[i].name, name) != 0) {
			continue;
		}
		if (values[i].offer) {
			return ws_session_open_facts(line->s, err) && values[i].offer(line, before, err);
		}
		struct ws_str rest = ws_str_of(values[i].words);
		while (rest.s) {
			const char *word = ws_str_copy(ws_str_cut(&rest, ' '), line->s->a);
			offer(line, word[0] == ':' ? "" : before, word, NULL);
		}
		return true;
	}
	return false;
}

/* ---- where on the line we are ---- */

struct asking {
	struct ws_usage_taker taker;
	struct line *line;
};

/* Only options outlive the call as they are; their rows do not. */
static void
read_usage(struct ws_usage_taker *self, const struct ws_usage *usage)
{
	struct line *line = ((struct asking *)self)->line;
	struct ws_arena *a = line->s->a;
	struct ws_option *options = WS_NEW_N(a, struct ws_option, usage->option_count + 1);
	if (usage->option_count > 0) {
		memcpy(options, usage->options, usage->option_count * sizeof(*options));
	}
	line->options = options;
	line->option_count = usage->option_count;
	line->synopsis = usage->most > 0 ? usage->synopsis : NULL;
	WS_VEC(const char *) parts = {0};
	struct ws_str rest = ws_str_of(usage->parts);
	while (rest.s) {
		*ws_vec_push(&parts, a) = ws_str_copy(ws_str_cut(&rest, ' '), a);
	}
	line->parts = parts.at;
	line->helps = NULL;
	line->part_count = parts.len;
}

/* Runs a command for its usage alone; @part: "check" of "recipe check", or NULL. */
static void
ask_usage(struct line *line, const struct ws_command *command, const char *part)
{
	struct asking asking = {.taker.take = read_usage, .line = line};
	const char *argv[] = {command->name, part, NULL};
	struct ws_err none = {0};
	line->s->usage_taker = &asking.taker;
	command->run(line->s, part ? 2 : 1, argv, &none);
	line->s->usage_taker = NULL;
}

/* "-m", "--matrix", "--matrix=..."; NULL for anything else. */
static const struct ws_option *
find_option(const struct line *line, const char *word)
{
	for (size_t i = 0; i < line->option_count + line->common_count; i++) {
		const struct ws_option *row =
			i < line->option_count ? &line->options[i] : &line->common[i - line->option_count];
		size_t len = strlen(row->name);
		bool is_long = ws_starts_with(word, "--") && strncmp(word + 2, row->name, len) == 0
			&& (word[2 + len] == '\0' || word[2 + len] == '=');
		bool is_short = row->letter && word[0] == '-' && word[1] == row->letter && !word[2];
		if (is_long || is_short) {
			return row;
		}
	}
	return NULL;
}

/* A shell has not expanded what is on the line yet. */
static const char *
expand_home(struct ws_session *s, const char *path)
{
	const char *home = ws_user_env_home(&s->env);
	return home && ws_starts_with(path, "~/") ? ws_path_join(s->a, home, path + 2, NULL) : path;
}

/* Options that decide what the others may be. */
static void
apply_value(struct line *line, const struct ws_option *option, const char *value)
{
	value = expand_home(line->s, value);
	if (strcmp(option->name, "matrix") == 0) {
		line->matrix = value;
	} else if (option->value == &line->s->globals.recipes) {
		line->s->globals.recipes = value;
	} else if (option->value == &line->s->globals.store) {
		line->s->globals.store = value;
	}
}

static void
read_part(struct line *line, const struct ws_command **command, const char *word)
{
	for (size_t i = 0; i < line->part_count; i++) {
		if (strcmp(line->parts[i], word) != 0) {
			continue;
		}
		for (size_t j = 0; !*command && j < line->s->command_count; j++) {
			if (strcmp(line->s->commands[j].name, word) == 0) {
				*command = &line->s->commands[j];
				ask_usage(line, *command, NULL);
				return;
			}
		}
		ask_usage(line, *command, word);
		return;
	}
}

/* Walks to the last word; returns the option whose value that is, or NULL. */
static const struct ws_option *
walk(struct line *line)
{
	const struct ws_command *command = NULL;
	const struct ws_option *open = NULL;
	for (size_t i = 0; i + 1 < line->count; i++) {
		const char *word = line->words[i];
		const struct ws_option *option = open ? NULL : find_option(line, word);
		const char *equals = option ? strchr(word, '=') : NULL;
		if (open) {
			apply_value(line, open, word);
			open = NULL;
		} else if (option && option->argument && equals) {
			apply_value(line, option, equals + 1);
		} else if (option && option->argument) {
			open = option;
		} else if (!option) {
			read_part(line, &command, word);
		}
	}
	return open;
}

/* ---- answers ---- */

static bool
offer_of_option(
	struct line *line, const struct ws_option *option, const char *before, struct ws_err *err)
{
	const char *name = ws_arena_printf(line->s->a, "--%s", option->name);
	return offer_value(line, option->argument, before, err) || err->kind != WS_ERR_NONE
		|| offer_value(line, name, before, err);
}

static void
offer_options(const struct line *line, const struct ws_option *options, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (options[i].letter) {
			char letter[3] = {'-', options[i].letter, '\0'};
			offer(line, "", letter, options[i].help);
		}
		offer(line, "--", options[i].name, options[i].help);
	}
}

/* A line of a synopsis names its words first: "CELL --matrix FILE", "[--fetch] FILE...". */
static bool
offer_words(struct line *line, struct ws_err *err)
{
	struct ws_str lines = ws_str_of(line->synopsis);
	while (lines.s) {
		struct ws_str text = ws_str_cut(&lines, '\n');
		struct ws_str word = ws_str_cut(&text, ' ');
		while (word.n > 0 && word.s[0] == '[') {
			word = ws_str_cut(&text, ' ');
		}
		while (word.n > 0 && word.s[word.n - 1] == '.') {
			word.n--;
		}
		if (offer_value(line, ws_str_copy(word, line->s->a), "", err) || err->kind != WS_ERR_NONE) {
			break;
		}
	}
	return err->kind == WS_ERR_NONE;
}

static bool
answer(struct line *line, struct ws_err *err)
{
	const struct ws_option *open = walk(line);
	const char *word = line->words[line->count - 1];
	const char *equals = strchr(word, '=');
	const struct ws_option *option = equals && !open ? find_option(line, word) : NULL;
	if (open) {
		return offer_of_option(line, open, "", err);
	}
	if (option && option->argument) {
		size_t len = (size_t)(equals - word) + 1;
		return offer_of_option(line, option, ws_arena_copy(line->s->a, word, len), err);
	}
	if (word[0] == '-') {
		offer_options(line, line->options, line->option_count);
		offer_options(line, line->common, line->common_count);
		offer(line, "", "-h", "show help");
		offer(line, "", "--help", "show help");
		return true;
	}
	for (size_t i = 0; i < line->part_count; i++) {
		offer(line, "", line->parts[i], line->helps ? line->helps[i] : NULL);
	}
	return line->part_count > 0 || offer_words(line, err);
}

bool
ws_complete(struct ws_session *s, size_t count, const char *const *words, struct ws_err *err)
{
	static const struct ws_option own[] = {
		{"version", 'V', WS_OPTION_FLAG, NULL, NULL, "the version"},
	};
	const char **names = WS_NEW_N(s->a, const char *, s->command_count + 1);
	const char **helps = WS_NEW_N(s->a, const char *, s->command_count + 1);
	struct line line = {.s = s, .words = words, .count = count, .parts = names, .helps = helps};
	line.options = own;
	line.option_count = WS_LEN(own);
	line.common = ws_session_options(s, &line.common_count);
	for (size_t i = 0; i < s->command_count; i++) {
		if (s->commands[i].help) {
			names[line.part_count] = s->commands[i].name;
			helps[line.part_count++] = s->commands[i].help;
		}
	}
	return count == 0 || answer(&line, err);
}
