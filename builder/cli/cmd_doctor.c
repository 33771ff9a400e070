/* cmd_doctor.c - wheelsmith doctor: opens what doctor/ needs, and prints its rows. */
#include "cli/selecting.h"
#include "doctor/doctor.h"

/* A version selects the interpreter that a build would use. */
static bool
find_python(struct ws_doctor *d, struct ws_err *err)
{
	struct ws_python_tag tag;
	struct ws_python_kit kit;
	if (!d->python || !ws_python_tag_parse(d->python, &tag)) {
		d->python = d->python ? ws_matrix_options_python(d->env, d->python, d->a) : NULL;
		return true;
	}
	if (!ws_python_find(d->env, &tag, d->a, &kit, err)) {
		return false;
	}
	d->python = kit.interpreter;
	return true;
}

/* Each file by itself: a mistake in one must not hide the rows of the others. */
static void
read_data(struct ws_session *s, struct ws_rows *rows)
{
	struct ws_err err;
	if (!ws_user_config_read(ws_user_config_path(&s->env, s->a), ws_user_env_get(&s->env, "HOME"),
			s->a, &s->user, &err)) {
		ws_rows_problem_err(rows, WS_PROBLEM_BLOCKS, &err);
		s->user = (struct ws_user_config){0};
	}
	if (!ws_data_locate(NULL, s->a, &s->data, &err)
		|| !ws_facts_read(s->data.facts, s->a, &s->facts, &err)) {
		ws_rows_problem_err(rows, WS_PROBLEM_BLOCKS, &err);
		s->facts = (struct ws_facts){0};
	}
	s->host = ws_host_read("", s->a);
}

static void
word(void *self, struct ws_err *err)
{
	ws_cures_word(self, err);
}

static const struct ws_fetch *
open_store(void *self, struct ws_err *err)
{
	struct ws_session *s = self;
	return ws_session_open_net(s, NULL, true, err) ? &s->fetch : NULL;
}

static const struct ws_server *
open_server(void *self, struct ws_err *err)
{
	struct ws_session *s = self;
	return ws_session_open_server(s, err) ? s->server : NULL;
}

bool
ws_cmd_doctor(struct ws_session *s, struct ws_err *err)
{
	struct ws_doctor d = {
		.a = s->a,
		.env = &s->env,
		.program = s->program,
		.data = &s->data,
		.facts = &s->facts,
		.host = &s->host,
		.open = open_store,
		.self = s,
		.rows = {.a = s->a,
			.home = ws_user_env_get(&s->env, "HOME"),
			.part = "host",
			.word = word,
			.self = s},
	};
	struct ws_recipe_catalog catalog = {0};
	struct ws_err indexes_err = {0};
	bool remote = false;
	const struct ws_option options[] = {
		{"python", 0, WS_OPTION_TEXT, &d.python, "V", "this Python alone, and its CUDA extensions"},
		{"model", 0, WS_OPTION_TEXT, &d.model, "FILE",
			"a config.json: which kernels that model needs"},
		{"remote", 0, WS_OPTION_FLAG, &remote, NULL,
			"ask the server of shared results what it can"},
	};
	struct ws_usage usage = {
		.command = "doctor",
		.synopsis = "[--python V] [--model FILE] [--remote]",
		.summary =
			"Looks at this host: memory, store, compilers and which CUDA takes them, CUDA\n"
			"toolkits, Pythons, torch, GPUs and who uses them, indexes. Changes nothing.\n"
			"Exits 0, or 1 when nothing can be built until something is there, or when what\n"
			"--python has installed, or the server of --remote, does not work.",
		WS_OPTIONS(options),
	};
	if (!ws_command_options(s, &usage, err) || !find_python(&d, err)) {
		return false;
	}
	read_data(s, &d.rows);
	d.store = ws_session_store_path(s);
	d.recipes = s->globals.recipes;
	ws_session_list_recipes(s, &catalog, NULL); /* without recipes the cures name no package */
	d.catalog = &catalog;
	d.indexes = ws_session_read_indexes(s, NULL, &indexes_err) ? &s->indexes : NULL;
	d.indexes_err = &indexes_err;
	d.mirror = ws_session_debian_mirror(s, &d.mirror_from);
	d.redist = s->user.redist;
	d.remote = &s->user.remote;
	d.open_server = remote ? open_server : NULL;
	ws_doctor_look(&d);
	if (ws_stop_asked(&s->stop)) {
		return ws_stop_err(&s->stop, err);
	}
	(s->globals.json ? ws_rows_print_json : ws_rows_print_page)(&d.rows, &s->out);
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return ws_rows_count(&d.rows, WS_PROBLEM_BLOCKS) == 0
		&& ws_rows_count(&d.rows, WS_PROBLEM_FAILS) == 0;
}
