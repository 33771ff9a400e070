/**
 * cmd_recipe.h - the subcommands new, update, check and list of `wheelsmith recipe`
 */
#ifndef WS_CLI_CMD_RECIPE_H
#define WS_CLI_CMD_RECIPE_H

#include "cli/session.h"

struct ws_draft_base;

/** `recipe check FILE...` */
bool ws_cmd_recipe_check(
	struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/** Its JSON. */
extern const struct ws_table ws_recipe_check_table;

/** `recipe new NAME==V [-o FILE]` */
bool ws_cmd_recipe_new(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/** `recipe update NAME[==V] [-o FILE]` */
bool ws_cmd_recipe_update(
	struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/** `recipe new` of @a wanted, NAME==V, that goes on from @a base. @a to, @a git: its options; NULL:
 * not given. */
bool ws_recipe_update(struct ws_session *s, const char *wanted, const char *to, const char *git,
	const struct ws_draft_base *base, struct ws_err *err);

/** `recipe list [NAME]` */
bool ws_cmd_recipe_list(
	struct ws_session *s, int argc, const char *const *argv, struct ws_err *err);

/** Its JSON. */
extern const struct ws_table ws_recipe_list_table;

#endif
