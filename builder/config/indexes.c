/* indexes.c - see indexes.h. */
#include "config/indexes.h"

#include "config/values.h"

struct by_role {
	const char *const *main, *const *torch;
	size_t main_count, torch_count;
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
	struct ws_index_role *roles = WS_NEW_N(r->a, struct ws_index_role, 2);
	if (read.main) {
		roles[list->count++] = (struct ws_index_role){"default", read.main, read.main_count};
	}
	if (read.torch) {
		roles[list->count++] = (struct ws_index_role){"torch", read.torch, read.torch_count};
	}
	list->at = roles;
	return true;
}

const struct ws_type ws_type_indexes = WS_OBJECTS(struct ws_index_roles, read_indexes);
