#include "config/indexes.h"

#include "config/values.h"

#include <string.h>

struct by_role {
	const char *const *main, *const *torch, *const *prebuilt;
	size_t main_count, torch_count, prebuilt_count;
};

static bool
is_url(const struct ws_json *value)
{
	return value->kind == WS_JSON_STRING;
}

static bool
read_url(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_type_url.read(r, value, into);
}

/* What has no scheme is a folder's path. */
static bool
read_place(struct ws_reader *r, const struct ws_json *value, void *into)
{
	bool is_folder = value->kind == WS_JSON_STRING && !strstr(value->text, "://");
	return (is_folder ? &ws_type_path : &ws_type_url)->read(r, value, into);
}

static const struct ws_type type_place = {.name = "a URL or a folder",
	.plural = "URLs or folders",
	.size = sizeof(const char *),
	.read = read_place,
	.alone = is_url};

static const struct ws_type type_url = {.name = "a URL",
	.plural = "URLs",
	.size = sizeof(const char *),
	.read = read_url,
	.alone = is_url};

static const struct ws_field fields[] = {
	{WS_MANY(struct by_role, main, main_count, "default", type_url),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
	{WS_MANY(struct by_role, torch, torch_count, "torch", type_url),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
	{WS_MANY(struct by_role, prebuilt, prebuilt_count, "prebuilt", type_place),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
};
static const struct ws_table table = {"indexes by role", fields, WS_LEN(fields)};

static bool
read_indexes(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_index_roles *list = into;
	struct by_role read = {0};
	if (!ws_object_read(r, value, &table, &read)) {
		return false;
	}
	const struct ws_index_role all[] = {
		{"default", read.main, read.main_count},
		{"torch", read.torch, read.torch_count},
		{"prebuilt", read.prebuilt, read.prebuilt_count},
	};
	struct ws_index_role *roles = WS_NEW_N(r->a, struct ws_index_role, WS_LEN(all));
	for (size_t i = 0; i < WS_LEN(all); i++) {
		if (all[i].urls) {
			roles[list->count++] = all[i];
		}
	}
	list->at = roles;
	return true;
}

const struct ws_type ws_type_indexes = WS_OBJECTS(struct ws_index_roles, read_indexes);
