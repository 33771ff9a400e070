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

#include "base/table.h"
#include "base/user_env.h"
#include "model/matrix.h"

/** "remote": the server through which results are shared. */
enum ws_remote_access {
	WS_REMOTE_READ,
	WS_REMOTE_WRITE,
	WS_REMOTE_NONE, /**< no results: it only runs actions */
};

struct ws_user_remote {
	const char *endpoint;                      /**< without a final slash; NULL: no sharing */
	const char *instance;                      /**< of a gRPC server; NULL: none */
	const char *certificate, *certificate_key; /**< files, for TLS by gRPC; NULL: none */
	enum ws_remote_access access;
	const char *headers;      /**< file, absolute; NULL */
	const char *key;          /**< likewise; never NULL with WRITE */
	const char *const *trust; /**< files; at least one, unless there is a key, or NONE */
	size_t trust_count;
	const char *const *properties; /**< of workers that run actions, "NAME=VALUE" */
	size_t property_count;
	unsigned slots; /**< how many actions are there at once; 0: not said */
};

struct ws_user_config {
	const char *path;     /**< of the file; NULL: there is none */
	const char *store;    /**< absolute; NULL */
	uint64_t store_bytes; /**< a build makes room in a larger store; 0: no limit */
	const char *debian_mirror;
	const char *redist; /**< a mirror of NVIDIA's redistributables; NULL: their own server */
	struct ws_index_roles indexes;
	const char *const *recipes; /**< folders, absolute; searched after the matrix's */
	size_t recipe_count;
	enum ws_policy policy; /**< for matrices that name none */
	struct ws_user_remote remote;
};

/** "<XDG_CONFIG_HOME or ~/.config>/wheelsmith/config.json"; NULL without a home folder. */
const char *ws_user_config_path(const struct ws_user_env *env, struct ws_arena *a);

/** Reads @a path; a file that is not there, or NULL, gives the defaults. "~/" is @a home; NULL. */
bool ws_user_config_read(const char *path, const char *home, struct ws_arena *a,
	struct ws_user_config *config, struct ws_err *err);

/** From a document, whose texts it borrows. */
bool ws_user_config_parse(const struct ws_json_doc *doc, const char *folder, const char *home,
	struct ws_arena *a, struct ws_user_config *config, struct ws_err *err);

#endif
