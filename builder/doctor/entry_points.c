/* entry_points.c - one child for each group; what it said before it ended counts. */
#include "doctor/entry_points.h"

#include "base/json.h"
#include "base/str.h"
#include "sys/capture.h"

#include <string.h>

/* Importing torch took 3 s on 2 cores; Triton compiles what it has not compiled before. */
#define TIMEOUT_MS 240000

static const char *const words[] = {"works", "imported", "absent", "fails", "wrong"};

const char *
ws_entry_state_word(enum ws_entry_state state)
{
	return words[state];
}

/* One line of the answer; others are not the script's. */
static void
read_line(struct ws_str line, const char *group, struct ws_arena *a, ws_entry_points *found)
{
	struct ws_json_doc doc;
	if (!ws_json_parse("entry_points.py", line.s, line.n, WS_JSON_STRICT, a, &doc, NULL)) {
		return;
	}
	const char *name = ws_json_text(doc.root, "name"), *state = ws_json_text(doc.root, "state");
	for (size_t i = 0; name && state && i < WS_LEN(words); i++) {
		if (strcmp(state, words[i]) == 0) {
			*ws_vec_push(found, a) = (struct ws_entry_point){
				group, name, (enum ws_entry_state)i, ws_json_text(doc.root, "text")};
		}
	}
}

static const char *const *
arguments(const struct ws_entry_asking *asking, const char *group, const char *const *models,
	struct ws_arena *a)
{
	WS_VEC(const char *) argv = {0};
	*ws_vec_push(&argv, a) = asking->interpreter;
	*ws_vec_push(&argv, a) =
		"-E"; /* PYTHON* variables have no say; the environment's own files do */
	*ws_vec_push(&argv, a) = "-B";
	*ws_vec_push(&argv, a) = asking->script;
	*ws_vec_push(&argv, a) = group;
	for (size_t i = 0; models && models[i]; i++) {
		*ws_vec_push(&argv, a) = models[i];
	}
	ws_vec_push(&argv, a);
	return argv.at;
}

static void
ask_group(const struct ws_entry_asking *asking, const char *group, const char *const *models,
	struct ws_arena *a, ws_entry_points *found)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	struct ws_err err = {0};
	const struct ws_capture command = {
		.argv = arguments(asking, group, models, a),
		.env = asking->env,
		.timeout_ms = TIMEOUT_MS,
	};
	bool done = ws_capture_run(&command, &answer, &err);
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s && rest.n > 0) {
		read_line(ws_str_cut(&rest, '\n'), group, a, found);
	}
	if (!done) {
		const char *last = found->len > 0 && strcmp(found->at[found->len - 1].group, group) == 0
			? ws_arena_printf(a, "after %s", found->at[found->len - 1].name)
			: "its first function";
		*ws_vec_push(found, a) =
			(struct ws_entry_point){group, last, WS_ENTRY_FAILS, ws_arena_strdup(a, err.text)};
	}
}

void
ws_entry_points_ask(const struct ws_entry_asking *asking, const char *const *models,
	struct ws_arena *a, ws_entry_points *found)
{
	static const char *const groups[] = {"flash-attn", "causal-conv1d", "mamba-ssm"};
	for (size_t i = 0; i < WS_LEN(groups); i++) {
		ask_group(asking, groups[i], NULL, a, found);
	}
	ask_group(asking, "transformers", models, a, found);
}
