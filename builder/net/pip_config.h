/**
 * pip_config.h - the indexes in pip's settings
 *
 * Environment variables and pip.conf, with pip's own precedence (pip's documentation, topic
 * "Configuration"): global files, the user's, the virtual environment's, PIP_CONFIG_FILE, the
 * environment; [install] over [global]. Everything else in those files is left alone.
 */
#ifndef WS_NET_PIP_CONFIG_H
#define WS_NET_PIP_CONFIG_H

#include "base/user_env.h"

/** NULL or 0: not said. */
struct ws_pip_config {
	const char *index_url;
	const char *const *extra_urls;
	size_t extra_count;
	const char *cert;
	/* Where that was said: "PIP_INDEX_URL", "/etc/pip.conf". */
	const char *index_from, *extra_from, *cert_from;
};

/** What cannot be read or understood is passed over, as long as pip would look elsewhere too. */
struct ws_pip_config ws_pip_config_read(const struct ws_user_env *env, struct ws_arena *a);

#endif
