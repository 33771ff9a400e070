/* nvcc.c - two questions. */
#include "kit/cuda/nvcc.h"

#include "base/fs.h"
#include "base/text.h"
#include "kit/cuda/dryrun.h"
#include "store/answer_cache.h"

#include <string.h>

static bool
ask(struct ws_ledger *ledger, const char *const *argv, struct ws_buf *answer, struct ws_err *err)
{
	struct ws_child_order command = {.argv = argv, .with_stderr = true};
	ws_buf_clear(answer);
	return ws_answer_cache_ask(ledger, &command, answer, err);
}

/* ---- the release ---- */

/* "Cuda compilation tools, release 12.4, V12.4.131" */
bool
ws_nvcc_ask_release(const char *root, struct ws_arena *a, const char **version,
	const char **release, struct ws_err *err)
{
	const char *const argv[] = {ws_path_join(a, root, "bin/nvcc", NULL), "--version", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(NULL, argv, &answer, err)) {
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

/* The folders of words like "-I/x" and "-isystem" "/x". */
static void
read_words(struct ws_str text, const char *root, struct ws_arena *a, folder_list *folders)
{
	static const char *const options[] = {"-isystem", "-I"};
	ws_dryrun_words words = {0};
	ws_dryrun_split(text, a, &words);
	for (size_t i = 0; i < words.len; i++) {
		for (size_t k = 0; k < WS_LEN(options); k++) {
			const char *rest = words.at[i] + strlen(options[k]);
			if (!ws_starts_with(words.at[i], options[k]) || (!rest[0] && i + 1 == words.len)) {
				continue;
			}
			*ws_vec_push(folders, a) = canonical(rest[0] ? rest : words.at[++i], root, a);
			break;
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
				read_words(ws_str_of(line + strlen(names[i])), root, a, &folders);
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
ws_nvcc_ask_include(const char *root, const char *cxx, struct ws_ledger *ledger, struct ws_arena *a,
	const char *const **folders, size_t *count, struct ws_err *err)
{
	const char *nvcc = ws_path_join(a, root, "bin/nvcc", NULL);
	const char *const argv[] = {nvcc, "--dryrun", "-ccbin", cxx, "-c", "x.cu", "-o", "x.o", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ask(ledger, argv, &answer, err)) {
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
