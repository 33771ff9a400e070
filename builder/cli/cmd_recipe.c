/* cmd_recipe.c - `wheelsmith recipe`: which half of it was meant. */
#include "cli/cmd_recipe.h"

static const struct ws_usage usage = {
	.command = "recipe",
	.synopsis = "check [--fetch] FILE...\nnew NAME[==V] [-o FILE] [--git]\n"
				"update NAME[==V] [-o FILE]\nlist [NAME]",
	.summary = "Says whether a recipe is right, writes the draft of one, lists them.\n"
			   "  check    compares recipes with their sources\n"
			   "  new      writes a draft from what the package index has of a version\n"
			   "  update   writes the recipe of a newer version from the last one\n"
			   "  list     lists the recipes\n"
			   "`wheelsmith recipe check --help` and `wheelsmith recipe new --help` say more.",
	.parts = "check new update list",
};

bool
ws_cmd_recipe(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	const char *half = argc > 1 ? argv[1] : "";
	if (strcmp(half, "check") == 0) {
		return ws_cmd_recipe_check(s, argc - 1, argv + 1, err);
	}
	if (strcmp(half, "new") == 0) {
		return ws_cmd_recipe_new(s, argc - 1, argv + 1, err);
	}
	if (strcmp(half, "update") == 0) {
		return ws_cmd_recipe_update(s, argc - 1, argv + 1, err);
	}
	if (strcmp(half, "list") == 0) {
		return ws_cmd_recipe_list(s, argc - 1, argv + 1, err);
	}
	ws_words words = {0};
	if (s->completes || strcmp(half, "--help") == 0 || strcmp(half, "-h") == 0) {
		struct ws_usage own = usage;
		ws_command_options(s, &own, argc, argv, &words, err);
		return true;
	}
	if (half[0]) {
		ws_err_set(err, WS_ERR_USAGE, "wheelsmith recipe does not know '%s'", half);
	} else {
		ws_err_set(err, WS_ERR_USAGE, "wheelsmith recipe: check, new, update or list is missing");
	}
	return ws_err_cure(err, "`wheelsmith recipe --help` lists them");
}
