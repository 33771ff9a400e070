/* typed.c - writes a matrix from options as JSON and parses it like a file. */
#include "cli/typed.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "config/matrix.h"

#include <string.h>
#include <unistd.h>

void
ws_typed_axes(const struct ws_typed *options, struct ws_typed_axis axes[WS_TYPED_AXES])
{
	const struct ws_typed_axis all[WS_TYPED_AXES] = {
		{"torch", &options->torch},
		{"python", &options->python},
		{"arch", &options->arch},
		{"cuda", &options->cuda},
		{"platform", &options->platform},
		{"cxx11abi", &options->cxx11abi},
	};
	memcpy(axes, all, sizeof(all));
}

const char *
ws_typed_python(const struct ws_user_env *env, const char *text, struct ws_arena *a)
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

/* The value as in a matrix: "13" becomes 13.0, a program's name its path. */
static void
write_value(struct ws_json_writer *w, const struct ws_user_env *env, const char *key,
	const char *text, struct ws_arena *a)
{
	bool is_number = text[0] && !text[strspn(text, "0123456789")];
	if (strcmp(key, "cxx11abi") == 0 && is_number) {
		ws_json_add_u64(w, NULL, (uint64_t)atoi(text));
	} else if (strcmp(key, "cuda") == 0 && is_number) {
		ws_json_add_text(w, NULL, ws_arena_printf(a, "%s.0", text));
	} else {
		ws_json_add_text(
			w, NULL, strcmp(key, "python") == 0 ? ws_typed_python(env, text, a) : text);
	}
}

static void
write_list(struct ws_json_writer *w, const struct ws_user_env *env, const char *key,
	const ws_words *words, struct ws_arena *a)
{
	ws_json_open_list(w, key);
	for (size_t i = 0; i < words->len; i++) {
		write_value(w, env, key, words->at[i], a);
	}
	ws_json_close(w);
}

static const char *
write_matrix(const struct ws_typed *options, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	struct ws_typed_axis axes[WS_TYPED_AXES];
	ws_typed_axes(options, axes);
	ws_json_open_object(w, NULL);
	write_list(w, options->env, "packages", &options->packages, a);
	for (size_t i = 0; i < WS_TYPED_AXES; i++) {
		if (axes[i].words->len > 0) {
			write_list(w, options->env, axes[i].key, axes[i].words, a);
		}
	}
	if (options->torch.len == 0) {
		ws_json_add_text(w, "torch", "installed");
	}
	ws_json_finish(w, WS_JSON_COMPACT, &text);
	return ws_buf_copy(&text, a);
}

static bool
check_given(const struct ws_typed *options, struct ws_err *err)
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
	for (size_t i = 0; options->here && i < options->platform.len; i++) {
		const char *platform = options->platform.at[i];
		if (!ws_same(platform, host)) {
			ws_err_set(
				err, WS_ERR_USAGE, "--here selects this host, which is %s, not %s", host, platform);
			return ws_err_cure(err, "name the target: --torch 2.11.0 --python 3.12 --arch 9.0");
		}
	}
	if (!options->here && options->torch.len == 0) {
		ws_err_set(err, WS_ERR_USAGE, "no torch selected: give --here or --torch V");
		ws_err_cure(err, "--here: the torch installed in python3, for this host's GPU");
		return ws_err_cure(err, "or name them: --torch 2.5.1 --python 3.11 --arch 8.6");
	}
	return true;
}

bool
ws_typed_matrix(
	const struct ws_typed *options, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err)
{
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	if (!check_given(options, err)) {
		return false;
	}
	const char *text = write_matrix(options, a);
	char *folder = getcwd(NULL, 0);
	bool done = ws_json_parse("", text, strlen(text), WS_JSON_STRICT, a, doc, err)
		&& ws_matrix_parse(doc, folder ? ws_arena_strdup(a, folder) : "",
			ws_user_env_home(options->env), a, m, err);
	free(folder);
	if (!done && err) {
		/* The text is ours: do not print places in it. */
		err->kind = WS_ERR_USAGE;
		err->place[0] = err->excerpt[0] = '\0';
	}
	m->doc = NULL;
	m->path = NULL;
	return done;
}
