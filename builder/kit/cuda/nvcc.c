/* nvcc.c - two questions. The form of a dry run: lines "#$ NAME=value", then "#$ command" (measured
 * on 11.8 to 13.5). */
#include "kit/cuda/nvcc.h"

#include "base/fs.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/child.h"

#include <string.h>

static bool
ask(const char *const *argv, struct ws_buf *answer, struct ws_err *err)
{
	struct ws_child_order command = {.argv = argv, .with_stderr = true};
	ws_buf_clear(answer);
	return ws_child_ask(&command, answer, err);
}

/* ---- the release ---- */

/* "Cuda compilation tools, release 12.4, V12.4.131" */
bool
ws_nvcc_ask_release(const char *root, struct ws_arena *a, const char **version,
	const char **release, struct ws_err *err)
{
	const char *const argv[] = {ws_path_join(a, root, "bin/nvcc", NULL), "--version", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(argv, &answer, err)) {
		return ws_err_wrap(err, "asking nvcc of '%s' for its release", root);
	}
	static const char digits[] = "0123456789.";
	const char *text = ws_buf_text(&answer);
	const char *first = strstr(text, "release ");
	const char *second = first ? strstr(first, ", V") : NULL;
	if (!second) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' does not answer like nvcc", argv[0]);
	}
	first += strlen("release ");
	second += strlen(", V");
	*version = ws_arena_copy(a, first, strspn(first, digits));
	*release = ws_arena_copy(a, second, strspn(second, digits));
	return true;
}

/* ---- the include folders ---- */

/* The next word; quotes hold one together, as in a shell. False at the end. */
static bool
next_word(const char **at, struct ws_buf *word)
{
	const char *c = *at + strspn(*at, " \t");
	ws_buf_clear(word);
	if (!*c) {
		return false;
	}
	for (bool quoted = false; *c && (quoted || !strchr(" \t", *c)); c++) {
		if (*c == '"') {
			quoted = !quoted;
		} else {
			ws_buf_putc(word, *c);
		}
	}
	*at = c;
	return true;
}

static const char *
canonical(const char *folder, const char *root, struct ws_arena *a)
{
	const char *normal = ws_path_normal(a, folder);
	size_t len = strlen(root);
	if (strncmp(normal, root, len) != 0 || (normal[len] && normal[len] != '/')) {
		return normal;
	}
	return ws_arena_printf(a, "cuda%s", normal + len);
}

typedef WS_VEC(const char *) folder_list;

/* What a word like "-I/x" or "-isystem" names: the rest of it, or the next word. False for others. */
static bool
next_folder(const char **words, struct ws_buf *word)
{
	static const char *const options[] = {"-isystem", "-I"};
	for (size_t i = 0; i < WS_LEN(options); i++) {
		size_t len = strlen(options[i]);
		if (!ws_starts_with(ws_buf_text(word), options[i])) {
			continue;
		}
		if (word->len == len) {
			return next_word(words, word);
		}
		memmove(word->data, word->data + len, word->len - len + 1);
		word->len -= len;
		return true;
	}
	return false;
}

static void
read_words(const char *words, const char *root, struct ws_arena *a, folder_list *folders)
{
	WS_AUTO_BUF struct ws_buf word = {0};
	while (next_word(&words, &word)) {
		if (next_folder(&words, &word)) {
			*ws_vec_push(folders, a) = canonical(ws_buf_text(&word), root, a);
		}
	}
}

/* -I goes before -isystem for the compiler, whichever stands first. */
const char *const *
ws_nvcc_read_include(const char *printed, const char *root, struct ws_arena *a, size_t *count)
{
	static const char *const names[] = {"#$ INCLUDES=", "#$ SYSTEM_INCLUDES="};
	folder_list folders = {0};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		for (struct ws_str rest = ws_str_of(printed); rest.s;) {
			const char *line = ws_str_copy(ws_str_cut(&rest, '\n'), a);
			if (ws_starts_with(line, names[i])) {
				read_words(line + strlen(names[i]), root, a, &folders);
			}
		}
	}
	*count = folders.len;
	return folders.at;
}

static const char *
last_line(const struct ws_buf *answer, struct ws_arena *a)
{
	const char *text = ws_str_copy(ws_str_trim(ws_buf_str(answer)), a);
	const char *line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

bool
ws_nvcc_ask_include(const char *root, const char *cxx, struct ws_arena *a,
	const char *const **folders, size_t *count, struct ws_err *err)
{
	const char *nvcc = ws_path_join(a, root, "bin/nvcc", NULL);
	const char *const argv[] = {nvcc, "--dryrun", "-ccbin", cxx, "-c", "x.cu", "-o", "x.o", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(argv, &answer, err)) {
		ws_err_wrap(err, "asking '%s' with '%s' for its header folders", nvcc, cxx);
		return ws_err_cure(err, "it said: %s", last_line(&answer, a));
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const char *const *found = ws_nvcc_read_include(ws_buf_text(&answer), root, scratch, count);
	const char **kept = WS_NEW_N(a, const char *, *count + 1);
	for (size_t i = 0; i < *count; i++) {
		kept[i] = ws_arena_strdup(a, found[i]);
	}
	*folders = kept;
	return true;
}
