/* generate.c - one run is a folder: inputs in, the script, then a walk that sorts what lies
 * there. */
#include "fetch/generate.h"

#include "base/arena.h"
#include "base/fs.h"
#include "sys/child.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#define LINES_SHOWN 6 /* of what a script said before it failed */

static const struct ws_limits limits = {.memory_bytes = (uint64_t)4 << 30,
	.cpu_s = 300,
	.timeout_ms = 600000,
	.answer_bytes = (size_t)4 << 20};

/* One run; the second is compared with the first. */
struct run {
	const struct ws_generator *generator;
	const struct ws_tree *sources;
	struct ws_arena *a;
	const char *folder;
	WS_VEC(const char *) paths;
	WS_VEC(struct ws_digest) digests;
};

static bool
is_input(const struct ws_generator *g, const char *path)
{
	bool is = strcmp(path, g->script) == 0;
	for (size_t i = 0; i < g->input_count; i++) {
		is = is || fnmatch(g->inputs[i], path, 0) == 0;
	}
	return is;
}

/* Links are left out: what they lead to can be named itself. */
static bool
lay_inputs(const struct run *run, struct ws_err *err)
{
	struct ws_arena *a = run->a;
	for (size_t i = 0; i < run->sources->count; i++) {
		const struct ws_tree_entry *entry = &run->sources->entries[i];
		const char *to = ws_path_join(a, run->folder, entry->path, NULL);
		if (entry->kind != WS_TREE_LINK && is_input(run->generator, entry->path)
			&& !(ws_fs_mkdirs(ws_path_dir(a, to), err)
				&& ws_fs_copy(
					ws_path_join(a, run->sources->path, entry->path, NULL), to, 0600, err))) {
			return false;
		}
	}
	for (size_t i = 0; i < run->generator->output_count; i++) {
		const char *to = ws_path_join(a, run->folder, run->generator->outputs[i], NULL);
		if (!ws_fs_mkdirs(ws_path_dir(a, to), err)) {
			return false;
		}
	}
	return true;
}

/* The end of what it said: a traceback's last line tells most. */
static const char *
last_lines(const struct ws_buf *said, struct ws_arena *a)
{
	struct ws_str text = ws_str_trim(ws_buf_str(said));
	size_t from = text.n;
	for (unsigned lines = 0; from > 0; from--) {
		if (text.s[from - 1] == '\n' && ++lines == LINES_SHOWN) {
			break;
		}
	}
	return ws_arena_copy(a, text.s + from, text.n - from);
}

static bool
run_script(const struct run *run, struct ws_stop *stop, struct ws_err *err)
{
	const struct ws_generator *g = run->generator;
	WS_AUTO_BUF struct ws_buf said = {0};
	WS_VEC(const char *) words = {0};
	const char *const python[] = {"/usr/bin/env", "python3", "-E", "-s", "-S", "-B", g->script};
	for (size_t i = 0; i < WS_LEN(python); i++) {
		*ws_vec_push(&words, run->a) = python[i];
	}
	for (size_t i = 0; i < g->argument_count; i++) {
		*ws_vec_push(&words, run->a) = g->arguments[i];
	}
	*ws_vec_push(&words, run->a) = NULL;
	const struct ws_child_order order = {
		.argv = words.at,
		.dir = run->folder,
		.with_stderr = true,
		.no_network = true,
		.limits = limits,
		.name = ws_arena_printf(run->a, "'%s'", g->script),
		.stop = stop,
	};
	if (ws_child_ask(&order, &said, err)) {
		return true;
	}
	if (said.len > 0 && !ws_err_is_stop(err)) {
		ws_err_cure(err, "%s", last_lines(&said, run->a));
	}
	return false;
}

static bool
fail(const struct run *run, struct ws_err *err, const char *what, const char *path)
{
	return ws_err_set(
		err, WS_ERR_CONFIG, "the generator '%s' %s '%s'", run->generator->script, what, path);
}

static bool
is_output(const struct ws_generator *g, const char *path)
{
	bool is = false;
	for (size_t i = 0; i < g->output_count; i++) {
		is = is || fnmatch(g->outputs[i], path, FNM_PATHNAME) == 0;
	}
	return is;
}

static bool
check_input(
	const struct run *run, const char *path, const struct ws_digest *digest, struct ws_err *err)
{
	const struct ws_tree_entry *entry = ws_tree_lookup(run->sources, path);
	return (entry && ws_digest_is(digest, entry->value))
		|| fail(run, err, "changes its input", path);
}

static bool
sort_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err)
{
	struct run *run = self;
	struct ws_digest digest;
	if (S_ISDIR(entry->status.st_mode)) {
		return true;
	}
	if (!S_ISREG(entry->status.st_mode)) {
		return fail(run, err, "makes what is not a file:", entry->name);
	}
	if (!ws_digest_file(entry->path, &digest, NULL, err)) {
		return false;
	}
	if (ws_tree_lookup(run->sources, entry->name)) {
		return is_input(run->generator, entry->name)
			? check_input(run, entry->name, &digest, err)
			: fail(run, err, "writes a file that the sources have:", entry->name);
	}
	if (!is_output(run->generator, entry->name)) {
		fail(run, err, "writes a file that the recipe does not name:", entry->name);
		return ws_err_cure(err, "if it is wanted, write it into the generator's 'outputs'");
	}
	*ws_vec_push(&run->paths, run->a) = ws_arena_strdup(run->a, entry->name);
	*ws_vec_push(&run->digests, run->a) = digest;
	return true;
}

static bool
check_outputs(const struct run *run, struct ws_err *err)
{
	for (size_t i = 0; i < run->generator->output_count; i++) {
		bool found = false;
		for (size_t j = 0; j < run->paths.len; j++) {
			found =
				found || fnmatch(run->generator->outputs[i], run->paths.at[j], FNM_PATHNAME) == 0;
		}
		if (!found) {
			return fail(run, err, "does not write", run->generator->outputs[i]);
		}
	}
	return true;
}

static bool
run_once(struct run *run, const struct ws_fetch *fetch, struct ws_err *err)
{
	run->folder =
		ws_fs_temp_dir(ws_store_path(fetch->store, run->a, "partial"), "made-", run->a, err);
	return run->folder && lay_inputs(run, err) && run_script(run, fetch->stop, err)
		&& ws_fs_walk(run->folder, sort_file, run, err) && check_outputs(run, err);
}

static bool
compare(const struct run *one, const struct run *two, struct ws_err *err)
{
	for (size_t i = 0; i < one->paths.len || i < two->paths.len; i++) {
		bool both = i < one->paths.len && i < two->paths.len
			&& strcmp(one->paths.at[i], two->paths.at[i]) == 0;
		if (!both || !ws_digest_is(&one->digests.at[i], two->digests.at[i].hex)) {
			const struct run *longer = i < one->paths.len ? one : two;
			fail(one, err, "gives another file each time that it runs:", longer->paths.at[i]);
			return ws_err_cure(err, "nothing of it is kept; a patch can make it steady");
		}
	}
	return true;
}

bool
ws_generate(const struct ws_fetch *fetch, const struct ws_generator *generator,
	const struct ws_tree *sources, struct ws_arena *a, struct ws_generated *made,
	struct ws_err *err)
{
	struct run one = {.generator = generator, .sources = sources, .a = a};
	struct run two = one;
	*made = (struct ws_generated){0};
	const struct ws_tree_entry *script = ws_tree_lookup(sources, generator->script);
	if (!script || script->kind == WS_TREE_LINK) {
		return ws_err_set(err, WS_ERR_CONFIG, "the generator '%s' is not a file of the sources",
			generator->script);
	}
	bool done =
		run_once(&one, fetch, err) && run_once(&two, fetch, err) && compare(&one, &two, err);
	if (two.folder) {
		ws_fs_remove(two.folder, NULL);
	}
	*made = (struct ws_generated){one.folder, one.paths.at, one.paths.len};
	return done;
}

void
ws_generated_remove(struct ws_generated *made)
{
	if (made->folder) {
		ws_fs_remove(made->folder, NULL);
	}
}
