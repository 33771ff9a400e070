/* cmd_shell.c - wheelsmith shell: a shell in the folder and environment of a cell's command, with
 * the command as ./run. */
#include "base/fs.h"
#include "cli/selecting.h"
#include "make/products.h"
#include "report/status.h"

#include <fnmatch.h>

struct shelling {
	struct ws_selecting selecting;
	const char *cell, *unit;
	bool keep_work;
};

static bool
parse(struct ws_session *s, struct shelling *sh, struct ws_err *err)
{
	const struct ws_option own[] = {
		{"unit", 'u', WS_OPTION_TEXT, &sh->unit, "NAME", "which command: a file's name, or a glob"},
		{"offline", 0, WS_OPTION_FLAG, &sh->selecting.offline, NULL, "use no network"},
		{"keep-work", 0, WS_OPTION_FLAG, &sh->keep_work, NULL, "keep the folder afterwards"},
	};
	const struct ws_usage usage = {
		.command = "shell",
		.synopsis = "CELL --matrix FILE [options]\nCELL PKG[==V]... (--here | --torch V) [options]",
		.summary = "Opens a shell for a command of a cell: the first without a result, or --unit.",
		WS_OPTIONS(own),
		.least = 1,
	};
	if (!ws_selecting_options(s, &sh->selecting, &usage, err)) {
		return false;
	}
	sh->cell = *s->words.at++; /* packages follow */
	s->words.len--;
	return ws_selecting_finish(s, &sh->selecting, err);
}

/* The first node without a result among those that match @unit. */
static const struct ws_node *
choose(const struct ws_made *made, const char *unit, struct ws_err *err)
{
	/* Whether @unit is the name of a command, and not a pattern. */
	bool named = false;
	for (size_t i = 0; unit && i < made->nodes.len && !named; i++) {
		named = strcmp(unit, made->nodes.at[i]->action->subject) == 0;
	}
	const struct ws_node *first = NULL;
	for (size_t i = 0; i < made->nodes.len; i++) {
		const struct ws_node *node = made->nodes.at[i];
		const char *subject = node->action->subject;
		bool meant = !unit || (named ? strcmp(unit, subject) == 0 : fnmatch(unit, subject, 0) == 0);
		if (meant && node->state == WS_NODE_RUNNABLE) {
			return node;
		}
		first = first || !meant ? first : node;
	}
	if (!first) {
		ws_err_set(err, WS_ERR_USAGE, "this cell has no command '%s'", unit);
		return NULL;
	}
	if (first->state == WS_NODE_WAITING) {
		ws_err_set(
			err, WS_ERR_BUILD, "inputs of '%s' have not been built yet", first->action->subject);
		ws_err_cure(err, "build the cell first, or choose one of its units: --unit NAME");
		return NULL;
	}
	return first;
}

/* The user's variables, overridden by the command's. HOME stays the user's; PATH is the command's
 * and then the user's. ./run itself uses only the command's. */
static const char *const *
make_environment(const struct ws_user_env *user, const char *const *own, struct ws_arena *a)
{
	WS_VEC(const char *) vars = {0};
	const struct ws_user_env command = {.vars = own};
	for (const char *const *var = user->vars; var && *var; var++) {
		const char *name = ws_arena_copy(a, *var, strcspn(*var, "="));
		if (ws_same(name, "HOME") || !ws_user_env_get(&command, name)) {
			*ws_vec_push(&vars, a) = *var;
		}
	}
	for (; *own; own++) {
		const char *path = ws_starts_with(*own, "PATH=") ? ws_user_env_get(user, "PATH") : NULL;
		if (!ws_starts_with(*own, "HOME=")) {
			*ws_vec_push(&vars, a) = path ? ws_arena_printf(a, "%s:%s", *own, path) : *own;
		}
	}
	ws_vec_push(&vars, a);
	return vars.at;
}

/* The user's shell, in the command's folder and with its variables. */
static bool
run_shell(struct ws_session *s, const struct ws_action *action, const char *dir, struct ws_err *err)
{
	const char *own = ws_user_env_get(&s->env, "SHELL");
	const char *const argv[] = {own ? own : "/bin/sh", NULL};
	struct ws_child child;
	if (!isatty(STDIN_FILENO)) {
		ws_out_result(&s->out, "%s\n", dir);
		return true;
	}
	ws_out_note(&s->out, "%s\n./run runs the command; exit ends this shell\n", dir);
	const struct ws_spawn shell = {
		.program = argv[0],
		.argv = argv,
		.env = make_environment(&s->env, ws_action_words(action, action->env, dir, s->a), s->a),
		.dir = dir,
		.is_in_our_group = true,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.err = STDERR_FILENO,
	};
	if (!ws_spawn_start(&shell, &child, err)) {
		return ws_err_cure(err, "it is named by the variable SHELL");
	}
	ws_spawn_reap(&child);
	return true;
}

static bool
open_folder(
	struct ws_session *s, const struct shelling *sh, const struct ws_node *node, struct ws_err *err)
{
	struct ws_work work = {.store = &s->store};
	char *dir = ws_fs_temp_dir(ws_store_path(&s->store, s->a, "work"), "shell-", s->a, err);
	if (!dir || !ws_work_prepare(&work, node->action, node->made, dir, err)) {
		return false;
	}
	/* ./run: the command as in a build; further arguments are passed to it. */
	WS_AUTO_BUF struct ws_buf script = {0};
	const struct ws_action *action = node->action;
	const char *const *argv = ws_action_words(action, action->argv, dir, s->a);
	const char *const *env = ws_action_words(action, action->env, dir, s->a);
	ws_buf_printf(&script, "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit\nexec env -i");
	for (size_t i = 0; env[i]; i++) {
		ws_buf_putc(&script, ' ');
		ws_buf_put_quoted(&script, env[i]);
	}
	ws_buf_putc(&script, ' ');
	ws_buf_put_quoted(&script, ws_action_program(action, dir, s->a));
	for (size_t i = 1; argv[i]; i++) {
		ws_buf_putc(&script, ' ');
		ws_buf_put_quoted(&script, argv[i]);
	}
	ws_buf_puts(&script, " \"$@\"\n");
	if (!ws_fs_write(ws_path_join(s->a, dir, "run", NULL), script.data, script.len, 0755, err)) {
		return false;
	}
	bool done = run_shell(s, node->action, dir, err);
	/* Without a terminal the folder is the result, so it stays. */
	if (isatty(STDIN_FILENO) && !sh->keep_work) {
		ws_sweep_now(dir);
		return ws_fs_remove(dir, done ? err : NULL) && done;
	}
	return done;
}

bool
ws_cmd_shell(struct ws_session *s, struct ws_err *err)
{
	struct shelling sh = {.selecting.whole = true};
	const struct ws_context *ctx = &sh.selecting.ctx;
	if (!parse(s, &sh, err) || !ws_selecting_plan(s, &sh.selecting, true, err)) {
		return false;
	}
	const struct ws_cell *cell = ws_plan_find(&sh.selecting.sel.plan, sh.cell, err);
	if (!cell) {
		return false;
	}
	if (!cell->product) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' is excluded: %s", cell->name, cell->why);
	}
	struct ws_graph *graph = ws_graph_make(s->a);
	struct ws_made made;
	struct ws_resolver *resolver = ws_resolver_open(ctx, &sh.selecting.sel.pins, &cell->product, 1);
	struct ws_engine engine = {.store = &s->store, .ledger = s->ledger};
	bool done = ws_products_add(ctx, resolver, cell->product, graph, &made, err);
	if (done) {
		ws_engine_look(&engine, graph);
	}
	ws_status_clear(s->status);
	const struct ws_node *node = done ? choose(&made, sh.unit, err) : NULL;
	return node && open_folder(s, &sh, node, err);
}
