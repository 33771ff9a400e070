/**
 * user.h - the user's configuration: $XDG_CONFIG_HOME/wheelsmith/config.json
 *
 * {"store": "~/big/store", "store_bytes": 50000000000, "indexes": {"default": "https://..."},
 * "debian_mirror": "https://...",
 *  "redist": "https://...", "recipes": ["~/recipes"], "policy": "prefer-build", "remote": {...}}:
 * every key may be left out. Options and the matrix go before it.
 */
#ifndef WS_CONFIG_USER_H
#define WS_CONFIG_USER_H

#include "base/json.h"
#include "base/user_env.h"
#include "config/shared.h"
#include "model/matrix.h"

struct ws_user_config {
	const char *path;     /**< of the file; NULL: there is none */
	const char *store;    /**< absolute; NULL */
	uint64_t store_bytes; /**< a build makes room in a larger store; 0: no limit */
	const char *debian_mirror;
	const char *redist; /**< a mirror of NVIDIA's redistributables; NULL: their own server */
	const struct ws_index_role *indexes;
	size_t index_count;
	const char *const *recipes; /**< folders, absolute; searched after the matrix's */
	size_t recipe_count;
	enum ws_policy policy; /**< for matrices that name none */
	struct ws_user_remote remote;
};

/** "<XDG_CONFIG_HOME or ~/.config>/wheelsmith/config.json"; NULL when there is no home. */
const char *ws_user_config_path(const struct ws_user_env *env, struct ws_arena *a);

/** Reads @a path; a file that is not there, or NULL, gives the defaults. "~/" is @a home; NULL. */
bool ws_user_config_read(const char *path, const char *home, struct ws_arena *a,
	struct ws_user_config *config, struct ws_err *err);

/** From a document, whose texts it borrows. */
bool ws_user_config_parse(const struct ws_json_doc *doc, const char *folder, const char *home,
	struct ws_arena *a, struct ws_user_config *config, struct ws_err *err);

#endif
