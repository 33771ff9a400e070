/* complete.c - answers to a shell that completes: what only the recipes, the facts and a matrix know.
 * Says nothing when it knows nothing. Declared in completion.h. */
#include "base/fs.h"
#include "base/str.h"
#include "cli/completion.h"
#include "cli/selecting.h"
#include "config/matrix.h"
#include "config/recipes.h"

#include <string.h>

struct asked {
	struct ws_session *s;
	const char *matrix; /* NULL: none was named */
};

/* The value of --NAME or -LETTER on a line that may be half typed; NULL. */
static const char *
value_on_line(int argc, const char *const *argv, const char *name, char letter)
{
	size_t len = strlen(name);
	const char *value = NULL;
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];
		bool is_short = letter && word[0] == '-' && word[1] == letter && word[2] == '\0';
		bool is_long = ws_starts_with(word, "--") && strncmp(word + 2, name, len) == 0;
		if (is_long && word[2 + len] == '=') {
			value = word + 3 + len;
		} else if ((is_short || (is_long && word[2 + len] == '\0')) && i + 1 < argc) {
			value = argv[i + 1];
		}
	}
	return value;
}

/* A shell has not expanded what is on the line yet. */
static const char *
path_on_line(struct ws_arena *a, const char *path)
{
	const char *home = getenv("HOME");
	if (path && home && ws_starts_with(path, "~/")) {
		return ws_path_join(a, home, path + 2, NULL);
	}
	return path;
}

/* ---- topics ---- */

static bool
print_cells(struct asked *q, struct ws_err *err)
{
	struct ws_session *s = q->s;
	struct ws_selecting selecting = {.options.matrix = q->matrix};
	struct ws_context ctx;
	struct ws_selection sel;
	selecting.options.recipes = s->globals.recipes;
	if (!q->matrix) {
		return true;
	}
	if (!ws_session_open_store(s, err)) {
		return false;
	}
	ws_selecting_context(s, &selecting, &ctx);
	if (!ws_selection_make(&ctx, &s->user, &selecting.options, &sel, err)) {
		return false;
	}
	for (size_t i = 0; i < sel.plan.cell_count; i++) {
		ws_out_result(&s->out, "%s\n", sel.plan.cells[i]->name);
	}
	return true;
}

/* The folder that a matrix names for its recipes; NULL when there is none, or no matrix. */
static const char *
recipes_of(const struct asked *q)
{
	struct ws_matrix matrix;
	bool read = q->matrix && ws_matrix_read(q->matrix, q->s->a, &matrix, NULL);
	return read ? matrix.recipes : NULL;
}

static bool
print_packages(struct asked *q, struct ws_err *err)
{
	struct ws_session *s = q->s;
	struct ws_recipe_shelf shelf;
	size_t count;
	const char *const *folders = ws_data_recipe_folders(&s->data, s->globals.recipes, recipes_of(q),
		s->user.recipes, s->user.recipe_count, s->a, &count);
	if (!ws_recipes_list(folders, count, s->a, &shelf, err)) {
		return false;
	}
	for (size_t i = 0; i < shelf.count; i++) {
		ws_out_result(&s->out, "%s==%s\n", shelf.files[i].name, shelf.files[i].version.text);
	}
	return true;
}

static bool
print_torch(struct asked *q, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &q->s->facts;
	ws_out_result(&q->s->out, "installed\n");
	for (size_t i = 0; i < facts->torch_count; i++) {
		ws_out_result(&q->s->out, "%s\n", facts->torch[i].version.text);
	}
	return true;
}

static bool
print_cuda(struct asked *q, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &q->s->facts;
	ws_out_result(&q->s->out, "auto\n");
	for (size_t i = 0; i < facts->cuda_count; i++) {
		ws_out_result(&q->s->out, "%s\n", facts->cuda[i].version.text);
	}
	return true;
}

/* All Pythons for which some torch has wheels. */
static bool
print_python(struct asked *q, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &q->s->facts;
	WS_VEC(const char *) told = {0};
	ws_out_result(&q->s->out, "host\n");
	for (size_t i = 0; i < facts->torch_count; i++) {
		for (size_t j = 0; j < facts->torch[i].python_count; j++) {
			const char *text = ws_python_version_text(&facts->torch[i].pythons[j], q->s->a);
			size_t known = 0;
			while (known < told.len && strcmp(told.at[known], text) != 0) {
				known++;
			}
			if (known == told.len) {
				*ws_vec_push(&told, q->s->a) = text;
				ws_out_result(&q->s->out, "%s\n", text);
			}
		}
	}
	return true;
}

/* Names of sets, and what the newest toolkit can compile for. */
static bool
print_arch(struct asked *q, struct ws_err *err WS_UNUSED)
{
	const struct ws_facts *facts = &q->s->facts;
	ws_out_result(&q->s->out, "host\n");
	for (size_t i = 0; i < facts->alias_count; i++) {
		ws_out_result(&q->s->out, "%s\n", facts->aliases[i].name);
	}
	const struct ws_arch_set *archs =
		facts->cuda_count > 0 ? &facts->cuda[facts->cuda_count - 1].archs : NULL;
	for (size_t i = 0; archs && i < archs->count; i++) {
		ws_out_result(&q->s->out, "%s\n", ws_arch_text(&archs->at[i], q->s->a));
	}
	return true;
}

struct topic {
	const char *name;
	bool (*print)(struct asked *q, struct ws_err *err);
};

static const struct topic topics[] = {
	{"arch", print_arch},
	{"cells", print_cells},
	{"cuda", print_cuda},
	{"packages", print_packages},
	{"python", print_python},
	{"torch", print_torch},
};

bool
ws_complete_print(
	struct ws_session *s, const char *topic, int argc, const char *const *argv, struct ws_err *err)
{
	struct asked q = {.s = s};
	q.matrix = path_on_line(s->a, value_on_line(argc, argv, "matrix", 'm'));
	s->globals.recipes = path_on_line(s->a, value_on_line(argc, argv, "recipes", 0));
	s->globals.store = path_on_line(s->a, value_on_line(argc, argv, "store", 0));
	for (size_t i = 0; i < WS_LEN(topics); i++) {
		if (strcmp(topics[i].name, topic) == 0) {
			return ws_session_open_facts(s, err) && topics[i].print(&q, err);
		}
	}
	return ws_err_set(err, WS_ERR_USAGE, "nothing is known about '%s'", topic);
}
