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

/* The value of the option at @a argv, and its number of arguments; 0: not such an option. */
static size_t
read_option(const char *const *argv, enum option *option, const char **value)
{
	for (size_t i = 0; i < WS_LEN(options); i++) {
		size_t len = strlen(options[i].word);
		if (strncmp(argv[0], options[i].word, len) != 0) {
			continue;
		}
		bool handed = ws_same(argv[1], "-Xcompiler") || ws_same(argv[1], "--compiler-options");
		size_t next = handed ? 2 : 1;
		*option = options[i].option;
		*value = argv[0][len] ? argv[0] + len : argv[next];
		return argv[0][len] ? 1 : *value ? next + 1 : 0;
	}
	return 0;
}

bool
ws_search_is_same(const char *work, const char *x, const char *y, struct ws_arena *a)
{
	struct stat one, two;
	return stat(ws_path_join(a, work, x, NULL), &one) == 0
		&& stat(ws_path_join(a, work, y, NULL), &two) == 0 && one.st_dev == two.st_dev
		&& one.st_ino == two.st_ino;
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
	ws_name_list_add(&search.folders, lists[QUOTE].at, lists[QUOTE].len, a);
	search.quote_count = search.folders.len;
	for (size_t i = 0; i < lists[NORMAL].len; i++) {
		bool again = false;
		for (size_t j = 0; j < lists[SYSTEM].len && !again; j++) {
			again = ws_search_is_same(work, lists[NORMAL].at[i], lists[SYSTEM].at[j], a);
		}
		if (!again) {
			*ws_vec_push(&search.folders, a) = lists[NORMAL].at[i];
		}
	}
	ws_name_list_add(&search.folders, lists[SYSTEM].at, lists[SYSTEM].len, a);
	ws_name_list_add(&search.folders, lists[AFTER].at, lists[AFTER].len, a);
	return search;
}

/* ---- dependency files ---- */

/* The next word of a rule, unquoted; NULL at its end. Blanks and line continuations are between
 * words. A backslash counts only before a blank, '#' or a newline. */
static const char *
read_word(const char **at, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf word = {0};
	const char *c = *at;
	bool inside = false;
	for (; *c && *c != '\n' && *c != '\r'; c++) {
		size_t joined = c[0] != '\\' ? 0 : c[1] == '\n' ? 1 : c[1] == '\r' && c[2] == '\n' ? 2 : 0;
		if (joined > 0 || *c == ' ' || *c == '\t') {
			if (inside) {
				break;
			}
			c += joined;
			continue;
		}
		inside = true;
		if ((c[0] == '\\' && (c[1] == ' ' || c[1] == '#')) || (c[0] == '$' && c[1] == '$')) {
			c++;
		}
		ws_buf_putc(&word, *c);
	}
	*at = c;
	return inside ? ws_buf_copy(&word, a) : NULL;
}

bool
ws_depfile_parse(const char *text, struct ws_arena *a, ws_name_list *names, struct ws_err *err)
{
	const char *at = text, *word;
	bool in_targets = true;
	while ((word = read_word(&at, a))) {
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
