/* cmd_recipe.c - `wheelsmith recipe`: which part of it was meant. */
#include "cli/session.h"

bool
ws_cmd_recipe(struct ws_session *s, struct ws_err *err)
{
	static const struct {
		const char *name;
		ws_command_run_fn run;
	} parts[] = {
		{"check", ws_cmd_recipe_check},
		{"new", ws_cmd_recipe_new},
		{"update", ws_cmd_recipe_update},
		{"list", ws_cmd_recipe_list},
	};
	struct ws_usage usage = {
		.command = "recipe",
		.synopsis = "check [--fetch] FILE...\nnew NAME[==V] [-o FILE] [--git URL | --folder DIR]\n"
					"update NAME[==V] [-o FILE] [--git URL@COMMIT]\nlist [NAME]",
		.summary = "Says whether a recipe is right, writes the draft of one, lists them.\n"
				   "  check    compares recipes with their sources\n"
				   "  new      writes a draft from what the package index has of a version\n"
				   "  update   writes the recipe of a newer version from the last one\n"
				   "  list     lists the recipes\n"
				   "`wheelsmith recipe check --help` and `wheelsmith recipe new --help` say more.",
		.parts = "check new update list",
	};
	const char *word = s->argc > 1 ? s->argv[1] : "";
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		if (strcmp(word, parts[i].name) == 0) {
			s->argc--;
			s->argv++;
			return parts[i].run(s, err);
		}
	}
	if (s->completes || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		return ws_command_options(s, &usage, err);
	}
	if (word[0]) {
		ws_err_set(err, WS_ERR_USAGE, "wheelsmith recipe does not know '%s'", word);
	} else {
		ws_err_set(err, WS_ERR_USAGE, "wheelsmith recipe: check, new, update or list is missing");
	}
	return ws_err_cure(err, "`wheelsmith recipe --help` lists them");
}
