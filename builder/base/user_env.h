/**
 * user_env.h - the user's environment variables and files, as a value
 *
 * cli/ takes the environment once and passes it down. Other code does not read it, so a test can
 * pass another home and another host.
 */
#ifndef WS_BASE_USER_ENV_H
#define WS_BASE_USER_ENV_H

#include "base/text.h"

struct ws_ledger;

struct ws_user_env {
	const char *const *vars; /**< "NAME=value", NULL-terminated; NULL: none */
	const char *root;        /**< "" or the folder below which every file is looked for */
	struct ws_ledger
		*ledger; /**< caches answers of programs (store/answer_cache.h); NULL: no cache */
};

/** The value; NULL when it is unset or empty, or @a env is NULL. Borrowed from vars. */
const char *ws_user_env_get(const struct ws_user_env *env, const char *name);

/** $XDG_CONFIG_HOME, else ~/.config; NULL without a home. */
const char *ws_user_env_config_home(const struct ws_user_env *env, struct ws_arena *a);

/** A text file of at most 1 MiB; NULL when it cannot be read. @a path is without root. */
const char *ws_user_env_read(const struct ws_user_env *env, const char *path, struct ws_arena *a);

/** The words of a text that white space separates. */
const char *const *ws_user_env_words(const char *text, struct ws_arena *a, size_t *count);

#endif
