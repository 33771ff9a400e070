/**
 * index_config.h - which indexes to ask, and whom to trust
 *
 * By role ("default", "torch", "prebuilt"), each role from the first of: --index, the matrix, the
 * user's configuration, WHEELSMITH_INDEX, pip, uv's variables (not uv.toml), the index that pip
 * named when this program was configured. Also the certificates and the netrc that pip and curl
 * would use. URLs may hold credentials: show them with ws_url_shown only. Of the role "prebuilt" a
 * place may be a folder instead: its absolute path.
 */
#ifndef WS_NET_INDEX_CONFIG_H
#define WS_NET_INDEX_CONFIG_H

#include "base/user_env.h"
#include "model/matrix.h"
#include "net/index.h"

/** What was said, and where. All may be empty. */
struct ws_index_sources {
	const char *const *options; /**< typed by a person: "URL" or "ROLE=URL" each */
	size_t option_count;
	const char *options_from;           /**< what those are called: the option */
	const struct ws_index_role *matrix; /**< "indexes" of the matrix */
	size_t matrix_count;
	const struct ws_index_role *user; /**< "indexes" of the user's configuration */
	size_t user_count;
	struct ws_user_env env;
};

/** One role's indexes. */
struct ws_index_choice {
	const char *role;
	const char *const *urls;
	size_t count;
	const char *from; /**< "--index", "the matrix", "PIP_INDEX_URL", "/etc/pip.conf", ... */
};

struct ws_index_config {
	const struct ws_index_choice *choices; /**< "default" is always there, unless none is known */
	size_t count;
	const char *ca_path; /**< NULL: libcurl's own */
	const char *ca_from; /**< "SSL_CERT_FILE", ..., a distribution's own path; NULL with ca_path */
	const char *netrc_path; /**< NETRC; NULL: ~/.netrc */
	const char *unread;     /**< a uv.toml that is there while nobody else names an index; NULL */
};

/**
 * WS_ERR_CONFIG when one of our own sources names something that is not an http or https URL; what
 * pip and uv can use and we cannot (folders) is passed over.
 */
bool ws_index_config_read(const struct ws_index_sources *sources, struct ws_arena *a,
	struct ws_index_config *config, struct ws_err *err);

/** What was said for this role itself; NULL: nothing. */
const struct ws_index_choice *ws_index_config_choice(
	const struct ws_index_config *config, const char *role);

/** A place is a folder, not a URL. */
bool ws_index_place_is_folder(const char *place);

/**
 * Where files of this role are: the role's own indexes, then the default ones. The list asks all of
 * them when the role has its own, because those add builds to what the default index has. NULL
 * stands for "default". Empty when no index is known.
 */
struct ws_index_list ws_index_config_list(
	const struct ws_index_config *config, const char *role, struct ws_arena *a);

/** The indexes in pip's settings. NULL or 0: not set. */
struct ws_pip_config {
	const char *index_url;
	const char *const *extra_urls;
	size_t extra_count;
	const char *cert;
	const char *index_from, *extra_from, *cert_from; /**< "PIP_INDEX_URL", "/etc/pip.conf" */
};

/**
 * Reads pip.conf and the environment in pip's order (pip's documentation, "Configuration"): global
 * files, the user's, the virtual environment's, PIP_CONFIG_FILE, the environment; [install] before
 * [global]. `pip config list` would answer the same, but takes 0.4 s and needs a pip. Files that
 * cannot be read or understood are skipped, as by pip.
 */
struct ws_pip_config ws_pip_config_read(const struct ws_user_env *env, struct ws_arena *a);

#endif
