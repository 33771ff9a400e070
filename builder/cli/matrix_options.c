/* matrix_options.c - makes a matrix from options and reads it like a file. */
#include "cli/matrix_options.h"

#include "base/fs.h"
#include "config/matrix.h"

const char *const ws_axis_keys[WS_AXES] = {
	"torch", "python", "arch", "cuda", "platform", "cxx11abi"};

const char *
ws_matrix_options_python(const struct ws_user_env *env, const char *text, struct ws_arena *a)
{
	bool is_name = ws_starts_with(text, "python") && !strchr(text, '/');
	struct ws_str rest = ws_str_of(is_name ? ws_user_env_get(env, "PATH") : NULL);
	while (rest.s) {
		const char *folder = ws_str_copy(ws_str_cut(&rest, ':'), a);
		const char *path = ws_path_join(a, folder, text, NULL);
		if (folder[0] == '/' && access(path, X_OK) == 0) {
			return path;
		}
	}
	return text;
}

static struct ws_json *
append(struct ws_json *parent, struct ws_json child, struct ws_arena *a)
{
	struct ws_json **end = &parent->first;
	while (*end) {
		end = &(*end)->next;
	}
	*end = WS_NEW(a, struct ws_json);
	**end = child;
	parent->count++;
	return *end;
}

/* Appends a key of the matrix. "13" of CUDA becomes "13.0", the name of a Python its path. */
static void
append_list(struct ws_json *matrix, const struct ws_user_env *env, const char *key,
	const ws_words *words, struct ws_arena *a)
{
	struct ws_json *list = append(matrix, (struct ws_json){.kind = WS_JSON_ARRAY, .key = key}, a);
	for (size_t i = 0; i < words->len; i++) {
		const char *text = words->at[i];
		struct ws_json value = {.kind = WS_JSON_STRING, .text = text};
		bool is_number = text[0] && !text[strspn(text, "0123456789")];
		if (is_number && strcmp(key, "cxx11abi") == 0) {
			value.kind = WS_JSON_NUMBER;
		} else if (is_number && strcmp(key, "cuda") == 0) {
			value.text = ws_arena_printf(a, "%s.0", text);
		} else if (strcmp(key, "python") == 0) {
			value.text = ws_matrix_options_python(env, text, a);
		}
		append(list, value, a);
	}
}

/* The matrix as if it had been parsed from a file. */
static struct ws_json *
make_matrix(const struct ws_matrix_options *options, struct ws_arena *a)
{
	struct ws_json *matrix = WS_NEW(a, struct ws_json);
	matrix->kind = WS_JSON_OBJECT;
	append_list(matrix, options->env, "packages", &options->packages, a);
	for (size_t i = 0; i < WS_AXES; i++) {
		if (options->axes[i].len > 0) {
			append_list(matrix, options->env, ws_axis_keys[i], &options->axes[i], a);
		}
	}
	if (options->axes[WS_AXIS_TORCH].len == 0 && options->here) {
		append(matrix,
			(struct ws_json){.kind = WS_JSON_STRING, .key = "torch", .text = "installed"}, a);
	}
	return matrix;
}

bool
ws_matrix_options_read(const struct ws_matrix_options *options, struct ws_matrix *m,
	struct ws_arena *a, struct ws_err *err)
{
	const char *first = options->packages.len > 0 ? options->packages.at[0] : NULL;
	if (!first) {
		ws_err_set(err, WS_ERR_USAGE, "no matrix and no package given");
		return ws_err_cure(err, "give --matrix FILE, or a package: NAME==VERSION --here");
	}
	if (!strstr(first, "==") && ws_ends_with(first, ".json")) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' is not a package", first);
		return ws_err_cure(err, "a matrix is given by an option: --matrix %s", first);
	}
	const char *host = ws_machine_host()->name;
	const ws_words *platforms = &options->axes[WS_AXIS_PLATFORM];
	for (size_t i = 0; options->here && i < platforms->len; i++) {
		const char *platform = platforms->at[i];
		if (!ws_same(platform, host)) {
			ws_err_set(
				err, WS_ERR_USAGE, "--here selects this host, which is %s, not %s", host, platform);
			return ws_err_cure(err, "name the target: --torch 2.11.0 --python 3.12 --arch 9.0");
		}
	}
	if (!options->here && options->axes[WS_AXIS_TORCH].len == 0
		&& options->axes[WS_AXIS_CUDA].len == 0) {
		ws_err_set(err, WS_ERR_USAGE, "no torch selected: give --here or --torch V");
		ws_err_cure(err, "--here: the torch installed in python3, for this host's GPU");
		ws_err_cure(err, "or name them: --torch 2.5.1 --python 3.11 --arch 8.6");
		return ws_err_cure(err, "for a package that does not use torch: --cuda 12.4 --arch 8.6");
	}
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	*doc = (struct ws_json_doc){.name = "", .text = "", .root = make_matrix(options, a)};
	char *folder = getcwd(NULL, 0);
	bool done = ws_matrix_parse(doc, folder ? ws_arena_strdup(a, folder) : "",
		ws_user_env_get(options->env, "HOME"), a, m, err);
	free(folder);
	if (!done && err) {
		/* Options have no line and column. */
		err->kind = WS_ERR_USAGE;
		err->place[0] = err->excerpt[0] = '\0';
	}
	m->doc = NULL;
	m->path = NULL;
	return done;
}
