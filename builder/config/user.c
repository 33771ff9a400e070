/* user.c - the table of the user's configuration. */
#include "config/user.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/indexes.h"
#include "config/policy.h"
#include "config/values.h"

/* What the table fills; the list of indexes is taken apart afterwards. */
struct written {
	struct ws_user_config config;
	struct ws_index_roles indexes;
};

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_ONE(struct written, config.store, "store", ws_type_path)},
	{WS_ONE(struct written, config.store_bytes, "store_bytes", ws_type_size)},
	{WS_ONE(struct written, indexes, "indexes", ws_type_indexes)},
	{WS_ONE(struct written, config.debian_mirror, "debian_mirror", ws_type_url)},
	{WS_ONE(struct written, config.redist, "redist", ws_type_url)},
	{WS_MANY(struct written, config.recipes, config.recipe_count, "recipes", ws_type_path),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"~/recipes\"]"},
	{WS_ONE(struct written, config.policy, "policy", ws_type_policy)},
	{WS_ONE(struct written, config.remote, "remote", ws_type_user_remote)},
};
static const struct ws_table table = {"the configuration", fields, WS_LEN(fields)};

const char *
ws_user_config_path(const struct ws_user_env *env, struct ws_arena *a)
{
	const char *folder = ws_user_env_config_home(env, a);
	return folder ? ws_path_join(a, folder, "wheelsmith/config.json", NULL) : NULL;
}

bool
ws_user_config_parse(const struct ws_json_doc *doc, const char *folder, const char *home,
	struct ws_arena *a, struct ws_user_config *config, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = folder, .home = home, .a = a, .err = err};
	struct written written = {.config.path = doc->name};
	if (!ws_object_read(&r, doc->root, &table, &written)) {
		return false;
	}
	*config = written.config;
	config->indexes = written.indexes.at;
	config->index_count = written.indexes.count;
	return true;
}

bool
ws_user_config_read(const char *path, const char *home, struct ws_arena *a,
	struct ws_user_config *config, struct ws_err *err)
{
	struct ws_document document;
	*config = (struct ws_user_config){0};
	if (!path || !ws_fs_exists(path)) {
		return true;
	}
	return ws_document_read(path, "configuration", a, &document, err)
		&& ws_user_config_parse(document.doc, document.folder, home, a, config, err);
}
