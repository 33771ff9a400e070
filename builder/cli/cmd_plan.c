/* cmd_plan.c - wheelsmith plan: the decision about every cell, and why. Only --resolve and
 * --against URL use the network. */
#include "cli/selecting.h"
#include "net/url.h"
#include "report/plan_text.h"

struct planning {
	struct ws_selecting selecting;
	const char *why;
	bool github, strict, resolve;
	unsigned slurm, kubernetes; /* tasks; 0: not asked for */
};

/* 0: neither --slurm nor --kubernetes is given. */
static unsigned
job_tasks(const struct planning *p)
{
	return p->slurm ? p->slurm : p->kubernetes;
}

/* A job builds a whole matrix from a file, with the lock beside it. */
static bool
check_cluster(const struct ws_session *s, const struct planning *p, struct ws_err *err)
{
	const char *asked = p->slurm ? "--slurm" : "--kubernetes";
	unsigned tasks = job_tasks(p);
	const struct {
		bool given;
		const char *option;
	} others[] = {
		{p->slurm && p->kubernetes, "--kubernetes"},
		{p->github, "--github"},
		{p->why, "--why"},
		{s->globals.json, "--json"},
		{p->selecting.shard, "--shard"},
		{p->selecting.only.len > 0, "--only"},
	};
	if (tasks == 0) {
		return true;
	}
	for (size_t i = 0; i < WS_LEN(others); i++) {
		if (others[i].given) {
			return ws_err_set(
				err, WS_ERR_USAGE, "%s and %s exclude each other", asked, others[i].option);
		}
	}
	if (tasks > WS_MOST_SHARDS) {
		return ws_err_set(
			err, WS_ERR_USAGE, "%s: there are %d tasks at most", asked, WS_MOST_SHARDS);
	}
	return p->selecting.options.matrix
		|| ws_err_set(err, WS_ERR_USAGE, "%s needs a matrix in a file: --matrix FILE", asked);
}

static bool
parse(struct ws_session *s, struct planning *p, struct ws_err *err)
{
	const struct ws_option own[] = {
		{"against", 0, WS_OPTION_TEXT, &p->selecting.against, "INDEX",
			"skip what is published there: a folder, a URL"},
		{"why", 0, WS_OPTION_TEXT, &p->why, "CELL", "explain the decision about one cell"},
		{"resolve", 0, WS_OPTION_FLAG, &p->resolve, NULL, "fetch and judge prebuilt wheels first"},
		{"strict", 0, WS_OPTION_FLAG, &p->strict, NULL, "a cell that cannot be built is an error"},
		{"github", 0, WS_OPTION_FLAG, &p->github, NULL, "a job matrix for GitHub Actions"},
		{"slurm", 0, WS_OPTION_NUMBER, &p->slurm, "N", "a Slurm job of N tasks"},
		{"kubernetes", 0, WS_OPTION_NUMBER, &p->kubernetes, "N", "a Kubernetes job of N tasks"},
		{"jobs", 'j', WS_OPTION_NUMBER, &p->selecting.jobs, "N",
			"predict for at most N commands at once"},
		{"memory", 0, WS_OPTION_SIZE, &p->selecting.memory_bytes, "SIZE",
			"predict for this much memory: 8G, 512M"},
	};
	const struct ws_usage usage = {
		.command = "plan",
		.summary = "Shows the decision about every cell, why, and what it costs.",
		WS_OPTIONS(own),
	};
	return ws_selecting_options(s, &p->selecting, &usage, err) && check_cluster(s, p, err)
		&& ws_selecting_finish(s, &p->selecting, err);
}

static bool
print(struct ws_session *s, const struct planning *p, struct ws_err *err)
{
	const struct ws_selection *sel = &p->selecting.sel;
	WS_AUTO_BUF struct ws_buf text = {0};
	if (p->why) {
		const struct ws_cell *cell = ws_plan_find(&sel->plan, p->why, err);
		if (!cell) {
			return false;
		}
		struct ws_err cures = {0};
		ws_why_write(sel->input, cell, &text, &cures);
		ws_cures_word(s, &cures);
		ws_buf_puts(&text, cures.cure);
	} else if (p->github) {
		size_t jobs = ws_plan_github_write(&sel->plan, &text);
		if (jobs > WS_GITHUB_JOBS) {
			ws_out_warn(&s->out,
				"these are %zu jobs, and GitHub takes %d at most: plan parts with --shard", jobs,
				WS_GITHUB_JOBS);
		}
	} else if (job_tasks(p) > 0) {
		const struct ws_cluster cluster = {
			.tasks = job_tasks(p),
			.cores = p->selecting.jobs,
			.memory_bytes = p->selecting.memory_bytes,
			.build = ws_selecting_command(s, &p->selecting, "build", true),
			.lock = ws_selecting_command(s, &p->selecting, "lock", true),
		};
		char *plain = ws_arena_strdup(s->a, cluster.build);
		ws_utf8_make_plain(plain, false);
		/* YAML ends a line at U+0085, U+2028 and U+2029 too. */
		if (strcmp(plain, cluster.build) != 0) {
			return ws_err_set(err, WS_ERR_USAGE,
				"a job cannot name a file with control characters, or one that is not UTF-8");
		}
		/* Others may read the job, so logins are left out. */
		bool left_out = false;
		for (size_t i = 0; i < s->globals.indexes.len; i++) {
			left_out = left_out || ws_url_has_login(s->globals.indexes.at[i]);
		}
		if (left_out) {
			ws_out_warn(&s->out,
				"the job leaves out an index with a login: set WHEELSMITH_INDEX where its "
				"tasks run");
		}
		(p->slurm ? ws_plan_slurm_write : ws_plan_kubernetes_write)(&sel->plan, &cluster, &text);
	} else if (s->globals.json) {
		ws_plan_json_write(&sel->plan, &text);
	} else {
		struct ws_out here = ws_out_standard(&s->env);
		ws_plan_table_write(&sel->plan,
			isatty(STDOUT_FILENO) ? (here.width ? here.width : s->out.width) : 0, &text);
	}
	ws_out_result(&s->out, "%s", ws_buf_text(&text));
	return true;
}

bool
ws_cmd_plan(struct ws_session *s, struct ws_err *err)
{
	struct planning p = {.selecting.options.candidates = true};
	if (!parse(s, &p, err)) {
		return false;
	}
	p.selecting.options.resolve = p.resolve;
	p.selecting.options.builds_elsewhere = p.github || job_tasks(&p) > 0;
	if (!ws_selecting_plan(s, &p.selecting, p.resolve, err) || !print(s, &p, err)) {
		return false;
	}
	/* --strict: an exclusion is a mistake unless the matrix itself demands it. */
	const struct ws_plan *plan = &p.selecting.sel.plan;
	for (size_t i = 0; p.strict && i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		if (cell->decision == WS_DECISION_EXCLUDED && cell->rule != WS_RULE_MATRIX) {
			ws_err_set(err, WS_ERR_CONFIG, "'%s' cannot be: %s", cell->name, cell->why);
			return ws_err_cure(
				err, "exclude it in the matrix, with its reason, or plan without --strict");
		}
	}
	return true;
}
