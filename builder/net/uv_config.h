/**
 * uv_config.h - what uv was told about indexes
 *
 * UV_DEFAULT_INDEX, UV_INDEX_URL, UV_INDEX, UV_EXTRA_INDEX_URL and uv.toml of the user and the host
 * (uv's documentation, "Package indexes" and "Configuration files"). Of TOML only as much as those
 * keys need; indexes marked explicit serve single packages of a project and are left out.
 */
#ifndef WS_NET_UV_CONFIG_H
#define WS_NET_UV_CONFIG_H

#include "net/user_env.h"

struct ws_uv_config {
	const char *default_url;       /**< NULL: not said */
	const char *const *extra_urls; /**< uv asks them before the default one, in this order */
	size_t extra_count;
	const char *from; /**< where the first of these was said; NULL: nowhere */
};

struct ws_uv_config ws_uv_config_read(const struct ws_user_env *env, struct ws_arena *a);

#endif
