#include "kit/cuda/nvcc.h"

#include "base/fs.h"
#include "kit/cuda/parts.h"
#include "store/results.h"
#include "sys/child.h"

/* Changes when what is remembered does. */
#define DRYRUN_MEMORY "wheelsmith.nvcc-dryrun/1"

/* ---- reading ---- */

/* One character of a word behind a backslash, or as it is. False where a shell would read more into
 * it. */
static bool
read_character(const char **at, const char *end, bool quoted, struct ws_buf *word)
{
	const char *c = *at;
	if (*c == '\\' && c + 1 < end) {
		bool escapes = !quoted || strchr("\"\\$`", c[1]);
		ws_buf_putc(word, escapes ? c[1] : '\\');
		*at += escapes ? 2 : 1;
		return true;
	}
	bool variable = *c == '$' && !ws_starts_with(c, "$CICC_PATH/");
	if (variable || *c == '`' || (!quoted && strchr(";|&<>()*?[]{}~!#'\n", *c))) {
		return false;
	}
	ws_buf_putc(word, *c);
	*at += 1;
	return true;
}

/* Appends the words of @a text. False where a shell would do more. */
static bool
split(struct ws_str text, struct ws_arena *a, ws_dryrun_words *words)
{
	WS_AUTO_BUF struct ws_buf word = {0};
	const char *at = text.s, *end = text.s + text.n;
	for (;;) {
		while (at < end && strchr(" \t", *at)) {
			at++;
		}
		if (at == end) {
			return true;
		}
		bool quoted = false;
		ws_buf_clear(&word);
		while (at < end && (quoted || !strchr(" \t", *at))) {
			if (*at == '"') {
				quoted = !quoted;
				at++;
			} else if (!read_character(&at, end, quoted, &word)) {
				return false;
			}
		}
		if (quoted) {
			return false;
		}
		*ws_vec_push(words, a) = ws_buf_copy(&word, a);
	}
}

bool
ws_dryrun_read(
	const char *printed, struct ws_arena *a, ws_dryrun_commands *commands, const char **why)
{
	static const char mark[] = "#$ ";
	for (struct ws_str rest = ws_str_of(printed); rest.s;) {
		struct ws_str line = ws_str_trim(ws_str_cut(&rest, '\n'));
		if (line.n < strlen(mark) || memcmp(line.s, mark, strlen(mark)) != 0) {
			continue;
		}
		line = (struct ws_str){line.s + strlen(mark), line.n - strlen(mark)};
		size_t n = 0;
		while (n < line.n && (line.s[n] == '_' || (line.s[n] >= 'A' && line.s[n] <= 'Z'))) {
			n++;
		}
		/* "CICC_PATH=...", "rm x.fatbin", "-- Filter Dependencies -- > x.d" */
		if ((n > 0 && n < line.n && line.s[n] == '=')
			|| (line.n > 3 && (memcmp(line.s, "rm ", 3) == 0 || memcmp(line.s, "-- ", 3) == 0))) {
			continue;
		}
		ws_dryrun_words words = {0};
		if (!split(line, a, &words) || words.len == 0) {
			*why = ws_arena_printf(
				a, "a shell would do more with '%.*s'", (int)(line.n < 60 ? line.n : 60), line.s);
			return false;
		}
		*ws_vec_push(commands, a) = words;
	}
	*why = commands->len > 0 ? NULL : "nvcc names no commands";
	return commands->len > 0;
}

/* ---- asking ---- */

static void
replace_all(const char *text, const char *from, const char *to, struct ws_buf *out)
{
	for (const char *hit; (hit = strstr(text, from)); text = hit + strlen(from)) {
		ws_buf_add(out, text, (size_t)(hit - text));
		ws_buf_puts(out, to);
	}
	ws_buf_puts(out, text);
}

bool
ws_dryrun_ask(const struct ws_cuda_kit *kit, const struct ws_hostcc *cxx, const char *const *words,
	const struct ws_store *store, struct ws_buf *printed, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf raw = {0}, named = {0};
	const char *nvcc = ws_cuda_part_find(kit->path, WS_CUDA_NVCC, a);
	ws_dryrun_words argv = {0};
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, DRYRUN_MEMORY);
	ws_hasher_add_field(h, kit->fingerprint);
	ws_hasher_add_field(h, cxx->fingerprint);
	*ws_vec_push(&argv, a) = nvcc;
	*ws_vec_push(&argv, a) = "--dryrun";
	for (; *words; words++) {
		ws_hasher_add_field(h, *words);
		*ws_vec_push(&argv, a) = ws_same(*words, "{cxx}") ? cxx->path : *words;
	}
	*ws_vec_push(&argv, a) = NULL;
	struct ws_digest key = ws_hasher_finish(h);
	if (ws_results_get(store, key.hex, printed)) {
		return true;
	}
	ws_buf_clear(printed);
	/* nvcc asks the compiler for its release. */
	struct ws_child_order order = {.argv = argv.at, .with_stderr = true};
	if (!ws_child_ask(&order, &raw, err)) {
		return ws_err_wrap(err, "asking '%s' for its commands", nvcc);
	}
	/* Paths become the names that every host has. */
	replace_all(ws_buf_text(&raw), kit->path, "cuda", &named);
	const char *path =
		ws_arena_printf(a, "\"%s\"/%s", ws_path_dir(a, cxx->path), ws_path_base(cxx->path));
	replace_all(ws_buf_text(&named), path, "\"{cxx}\"", printed);
	ws_results_put(store, key.hex, printed, NULL); /* else it is asked again */
	return true;
}

/* ---- the release ---- */

/* "Cuda compilation tools, release 12.4, V12.4.131" */
bool
ws_nvcc_ask_release(const char *root, struct ws_arena *a, const char **version,
	const char **release, struct ws_err *err)
{
	const char *const argv[] = {ws_path_join(a, root, "bin/nvcc", NULL), "--version", NULL};
	struct ws_child_order command = {.argv = argv, .with_stderr = true};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_child_ask(&command, &answer, err)) {
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

typedef WS_VEC(const char *) folder_list;

/* The folders of words like "-I/x" and "-isystem" "/x". */
static void
read_words(struct ws_str text, const char *root, struct ws_arena *a, folder_list *folders)
{
	static const char *const options[] = {"-isystem", "-I"};
	ws_dryrun_words words = {0};
	size_t len = strlen(root);
	split(text, a, &words);
	for (size_t i = 0; i < words.len; i++) {
		size_t k = 0;
		while (k < WS_LEN(options) && !ws_starts_with(words.at[i], options[k])) {
			k++;
		}
		const char *rest = k < WS_LEN(options) ? words.at[i] + strlen(options[k]) : NULL;
		if (!rest || (!rest[0] && i + 1 == words.len)) {
			continue;
		}
		const char *folder = ws_path_normal(a, rest[0] ? rest : words.at[++i]);
		bool inside =
			strncmp(folder, root, len) == 0 && (folder[len] == '\0' || folder[len] == '/');
		*ws_vec_push(folders, a) = inside ? ws_arena_printf(a, "cuda%s", folder + len) : folder;
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
