/**
 * user_env.h - the environment and files of whoever runs us, as a value
 *
 * cli/ takes the environment once and hands it down; nothing else in the program asks for it, so a
 * test can show another home and another host. Reads; decides nothing.
 */
#ifndef WS_BASE_USER_ENV_H
#define WS_BASE_USER_ENV_H

#include "base/arena.h"
#include "base/text.h"

struct ws_ledger;

struct ws_user_env {
	const char *const *vars; /**< "NAME=value", NULL-terminated; NULL: none */
	const char *root;        /**< "" or the folder below which every file is looked for */
	struct ws_ledger
		*ledger; /**< remembers what its programs say (store/answer_cache.h); NULL: nothing does */
};

/** NULL when it is not set or empty, or @a env is NULL. Borrowed from vars. */
const char *ws_user_env_get(const struct ws_user_env *env, const char *name);

/** HOME; NULL when it is not set. */
const char *ws_user_env_home(const struct ws_user_env *env);

/** $XDG_CONFIG_HOME, else ~/.config; NULL without a home. */
const char *ws_user_env_config_home(const struct ws_user_env *env, struct ws_arena *a);

/** A text file of at most 1 MiB; NULL when it cannot be read. @a path is without root. */
const char *ws_user_env_read(const struct ws_user_env *env, const char *path, struct ws_arena *a);

/** The words of a text that white space separates. */
const char *const *ws_user_env_words(const char *text, struct ws_arena *a, size_t *count);

#endif
