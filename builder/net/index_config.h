/**
 * index_config.h - the package indexes and certificates to use
 *
 * Each role ("default", "torch", "prebuilt") has the indexes of the first of these sources that
 * names it:
 *
 * 1. --index
 * 2. the matrix
 * 3. the user's configuration
 * 4. WHEELSMITH_INDEX
 * 5. pip's settings
 * 6. uv's variables (not uv.toml)
 * 7. the index that pip used when this program was configured
 *
 * pip's settings are read here, from pip.conf and the environment: `pip config list` would answer
 * the same, but takes 0.4 s and needs a pip. cli/net_oracle.bats compares both.
 *
 * Also the certificates and the netrc that pip and curl would use. URLs may contain logins: print
 * them with ws_url_shown only. An entry of the role "prebuilt" may be a folder: its absolute path.
 */
#ifndef WS_NET_INDEX_CONFIG_H
#define WS_NET_INDEX_CONFIG_H

#include "base/user_env.h"
#include "model/matrix.h"
#include "net/index.h"

/** The sources. All may be empty. */
struct ws_index_sources {
	const char *const *options; /**< of the command line: "URL" or "ROLE=URL" each */
	size_t option_count;
	const char *options_from;           /**< the name of that option */
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
	const char *unread;     /**< a uv.toml while no other source names an index; NULL: none */
};

/**
 * WS_ERR_CONFIG if one of our own sources names something that is not an http or https URL. Entries
 * of pip and uv that cannot be used here (folders) are skipped.
 */
bool ws_index_config_read(const struct ws_index_sources *sources, struct ws_arena *a,
	struct ws_index_config *config, struct ws_err *err);

/** The indexes set for this role itself; NULL: none. */
const struct ws_index_choice *ws_index_config_choice(
	const struct ws_index_config *config, const char *role);

/** The entry is a folder, not a URL. */
bool ws_index_place_is_folder(const char *place);

/**
 * The indexes of this role, then the default ones. All of them are searched if the role has its
 * own, because those add builds to the default index. NULL stands for "default". May be empty.
 */
struct ws_index_list ws_index_config_list(
	const struct ws_index_config *config, const char *role, struct ws_arena *a);

#endif
