#include "publish/yank.h"

#include <string.h>

static bool
is_meant(const struct ws_index_entry *entry, const char *what, struct ws_arena *a)
{
	const char *sign = strstr(what, "==");
	struct ws_version version;
	if (!sign) {
		return strcmp(entry->file, what) == 0
			|| (entry->variant && strcmp(entry->variant->file, what) == 0);
	}
	const char *name = ws_package_normal(ws_arena_copy(a, what, (size_t)(sign - what)), a);
	const struct ws_version *own = &entry->name.version;
	return strcmp(name, entry->name.distribution) == 0 && ws_version_parse(sign + 2, a, &version)
		&& (version.local ? ws_version_cmp(&version, own) : ws_version_cmp_public(&version, own))
		== 0;
}

size_t
ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason, bool *edited,
	struct ws_arena *a)
{
	size_t meant = 0;
	for (size_t i = 0; i < catalog->entries.len; i++) {
		struct ws_index_entry *entry = &catalog->entries.at[i];
		if (is_meant(entry, what, a)) {
			*edited = *edited || !ws_same(entry->yanked, reason);
			entry->yanked = reason;
			meant++;
		}
	}
	return meant;
}
