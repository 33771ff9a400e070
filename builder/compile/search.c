/* search.c - reads search folders from arguments, and dependency files. recipe/command_rules.h
 * refuses other arguments that make a compiler read files. */
#include "base/fs.h"
#include "compile/header_reads.h"

enum option {
	QUOTE,
	NORMAL,
	SYSTEM,
	AFTER,
	FORCED,
	DEFINE,
	OPTION_COUNT,
};

/* "-Ix", "-I x"; nvcc accepts longer names for the last ones, and hands arguments to other
 * programs. */
static const struct {
	const char *word;
	enum option option;
} options[] = {
	{"-iquote", QUOTE},
	{"-isystem", SYSTEM},
	{"-idirafter", AFTER},
	{"-include", FORCED},
	{"-imacros", FORCED},
	{"-I", NORMAL},
	{"-D", DEFINE},
};

static bool
hands_on(const char *word)
{
	return strcmp(word, "-Xcompiler") == 0 || strcmp(word, "--compiler-options") == 0;
}

/* The value of the option at @a argv, and its number of arguments; 0: not such an option. */
static size_t
read_option(const char *const *argv, enum option *option, const char **value)
{
	for (size_t i = 0; i < WS_LEN(options); i++) {
		size_t len = strlen(options[i].word);
		if (strncmp(argv[0], options[i].word, len) != 0) {
			continue;
		}
		*option = options[i].option;
		size_t next = argv[1] && hands_on(argv[1]) ? 2 : 1;
		*value = argv[0][len] ? argv[0] + len : argv[next];
		return argv[0][len] ? 1 : *value ? next + 1 : 0;
	}
	return 0;
}

static bool
is_same(const char *work, const char *x, const char *y, struct ws_arena *a)
{
	struct stat one, two;
	return stat(ws_path_join(a, work, x, NULL), &one) == 0
		&& stat(ws_path_join(a, work, y, NULL), &two) == 0 && one.st_dev == two.st_dev
		&& one.st_ino == two.st_ino;
}

static void
add_all(ws_name_list *to, const ws_name_list *from, struct ws_arena *a)
{
	for (size_t i = 0; i < from->len; i++) {
		*ws_vec_push(to, a) = from->at[i];
	}
}

struct ws_search
ws_search_read(const struct ws_action *action, const char *work, struct ws_arena *a)
{
	ws_name_list lists[OPTION_COUNT] = {0};
	for (const char *const *word = action->argv; word && *word;) {
		enum option option;
		const char *value;
		size_t taken = read_option(word, &option, &value);
		if (taken) {
			*ws_vec_push(&lists[option], a) = value;
		}
		word += taken ? taken : 1;
	}
	for (size_t i = 0; i < action->search_count; i++) {
		/* Folders of a toolkit are in a mount: nvcc adds them after -I. */
		enum option option = action->search[i][0] == '/' ? SYSTEM : NORMAL;
		*ws_vec_push(&lists[option], a) = action->search[i];
	}
	struct ws_search search = {.forced = lists[FORCED], .defines = lists[DEFINE]};
	add_all(&search.folders, &lists[QUOTE], a);
	search.quote_count = search.folders.len;
	for (size_t i = 0; i < lists[NORMAL].len; i++) {
		bool again = false;
		for (size_t j = 0; j < lists[SYSTEM].len && !again; j++) {
			again = is_same(work, lists[NORMAL].at[i], lists[SYSTEM].at[j], a);
		}
		if (!again) {
			*ws_vec_push(&search.folders, a) = lists[NORMAL].at[i];
		}
	}
	add_all(&search.folders, &lists[SYSTEM], a);
	add_all(&search.folders, &lists[AFTER], a);
	return search;
}

/* ---- dependency files ---- */

/* Skips blanks and line continuations; false at the end of the rule. */
static bool
skip_blanks(const char **at)
{
	for (;;) {
		if (**at == ' ' || **at == '\t') {
			(*at)++;
		} else if ((*at)[0] == '\\' && (*at)[1] == '\n') {
			*at += 2;
		} else if ((*at)[0] == '\\' && (*at)[1] == '\r' && (*at)[2] == '\n') {
			*at += 3;
		} else {
			return **at != '\0' && **at != '\n' && **at != '\r';
		}
	}
}

/* Reads one word and unquotes it. A backslash counts only before a blank, '#' or a newline. */
static const char *
read_word(const char **at, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf word = {0};
	for (; **at && !strchr(" \t\r\n", **at); (*at)++) {
		const char *c = *at;
		if (c[0] == '\\' && (c[1] == '\n' || (c[1] == '\r' && c[2] == '\n'))) {
			break;
		}
		if ((c[0] == '\\' && (c[1] == ' ' || c[1] == '#')) || (c[0] == '$' && c[1] == '$')) {
			(*at)++;
		}
		ws_buf_putc(&word, **at);
	}
	return ws_buf_copy(&word, a);
}

bool
ws_depfile_parse(const char *text, struct ws_arena *a, ws_name_list *names, struct ws_err *err)
{
	const char *at = text;
	bool in_targets = true;
	while (skip_blanks(&at)) {
		const char *word = read_word(&at, a);
		if (!in_targets) {
			*ws_vec_push(names, a) = word;
		} else if (strcmp(word, ":") == 0 || ws_ends_with(word, ":")) {
			in_targets = false;
		}
	}
	return !in_targets || ws_err_set(err, WS_ERR_BUILD, "the dependency file holds no rule");
}

bool
ws_depfile_is_input(const struct ws_action *action, const char *name)
{
	for (size_t i = 0; i < action->input_count; i++) {
		if (strcmp(action->inputs[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}
