/* recipe_metadata.c - the Python part of a wheel and its METADATA. Writing it is wheel/. */
#include "config/recipe_parts.h"
#include "config/values.h"
#include "model/recipe.h"
#include "model/wheel_name.h"

#include <string.h>

static bool
read_python_file(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char **path = into;
	if (!ws_type_inside.read(r, value, path)) {
		return false;
	}
	return ws_ends_with(*path, ".py")
		|| ws_json_err(r->doc, value, r->err, "'%s' is not a .py file", *path);
}

static const struct ws_type type_python_file =
	WS_VALUES(char *, "a path", "paths", read_python_file);

#define PATHS(owner, member, json_key, value_type) \
	{ \
		WS_MANY(owner, member##s, member##_count, json_key, value_type), \
			.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE \
	}

static const struct ws_field part_fields[] = {
	{WS_ONE(struct ws_python_part, root, "root", ws_type_folder)},
	PATHS(struct ws_python_part, package, "packages", ws_type_inside),
	PATHS(struct ws_python_part, module, "modules", type_python_file),
	{WS_MANY(struct ws_python_part, data, data_count, "data", ws_type_inside),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
	{WS_MANY(struct ws_python_part, exclude, exclude_count, "exclude", ws_type_inside),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
};
static const struct ws_table part_table = {"the Python part", part_fields, WS_LEN(part_fields)};

static bool
read_python_part(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_python_part *part = into;
	if (!ws_object_read(r, value, &part_table, part)) {
		return false;
	}
	if (strcmp(part->root, ".") == 0) {
		part->root = "";
	}
	return part->package_count + part->module_count > 0
		|| ws_json_err(r->doc, value, r->err, "the Python part needs 'packages' or 'modules'");
}

/* PEP 508: a name, then anything; what follows is checked where it is used. */
static bool
read_requirement(struct ws_reader *r, const struct ws_json *value, void *into)
{
	if (!ws_type_line.read(r, value, into)) {
		return false;
	}
	size_t len = strcspn(value->text, " <>=!~;[(@");
	const char *name = ws_arena_copy(r->a, value->text, len);
	return ws_is_package_name(name)
		|| ws_json_err(r->doc, value, r->err, "'%s' is not a requirement", value->text);
}

static const struct ws_type type_requirement =
	WS_VALUES(char *, "a requirement", "requirements", read_requirement);

/* Into the whole metadata: {"dev": ["pytest"]} as "dev", "pytest". */
static bool
read_extras(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_metadata *metadata = into;
	if (!ws_expect(r, value, WS_JSON_OBJECT, "an object like {\"dev\": [\"pytest\"]}")) {
		return false;
	}
	size_t count = 0;
	for (WS_JSON_EACH(extra, value)) {
		r->key = extra->key;
		if (!ws_is_package_name(extra->key)) {
			return ws_json_err_key(
				r->doc, extra, r->err, "'%s' is not an extra's name", extra->key);
		}
		if (!ws_expect(r, extra, WS_JSON_ARRAY, "a list of requirements")) {
			return false;
		}
		count += 2 * extra->count;
	}
	const char **pairs = WS_NEW_N(r->a, const char *, count);
	for (WS_JSON_EACH(extra, value)) {
		for (WS_JSON_EACH(item, extra)) {
			pairs[metadata->extra_count++] = ws_package_normal(extra->key, r->a);
			if (!read_requirement(r, item, &pairs[metadata->extra_count++])) {
				return false;
			}
		}
	}
	metadata->extras = pairs;
	return true;
}

/* Into the whole metadata: {"Repository": "https://..."} as "Repository", "https://...". */
static bool
read_project_urls(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_metadata *metadata = into;
	if (!ws_expect(r, value, WS_JSON_OBJECT, "an object like {\"Repository\": \"https://...\"}")) {
		return false;
	}
	const char **pairs = WS_NEW_N(r->a, const char *, 2 * value->count);
	for (WS_JSON_EACH(member, value)) {
		r->key = member->key;
		pairs[metadata->project_url_count++] = member->key;
		if (!ws_type_url.read(r, member, &pairs[metadata->project_url_count++])) {
			return false;
		}
	}
	metadata->project_urls = pairs;
	return true;
}

static const struct ws_type type_extras = WS_OBJECTS(struct ws_metadata, read_extras);
static const struct ws_type type_project_urls = WS_OBJECTS(struct ws_metadata, read_project_urls);

#define LINE(member) \
	{ \
		WS_ONE(struct ws_metadata, member, #member, ws_type_line) \
	}

static const struct ws_field metadata_fields[] = {
	LINE(summary),
	LINE(author),
	LINE(author_email),
	{WS_ONE(struct ws_metadata, home_page, "home_page", ws_type_url)},
	{.key = "project_urls", .type = &type_project_urls},
	LINE(license),
	LINE(license_expression),
	PATHS(struct ws_metadata, license_file, "license_files", ws_type_inside),
	PATHS(struct ws_metadata, classifier, "classifiers", ws_type_line),
	PATHS(struct ws_metadata, keyword, "keywords", ws_type_line),
	PATHS(struct ws_metadata, require, "requires", type_requirement),
	{.key = "extras", .type = &type_extras},
	{WS_ONE(struct ws_metadata, description_file, "description_file", ws_type_inside)},
};
static const struct ws_table metadata_table = {
	"metadata", metadata_fields, WS_LEN(metadata_fields)};

/* PEP 639: with License-Expression neither License nor a license classifier may stand. */
static bool
check_license(struct ws_reader *r, const struct ws_json *value, const struct ws_metadata *metadata)
{
	if (!metadata->license_expression) {
		return true;
	}
	if (metadata->license) {
		return ws_json_err_key(r->doc, ws_json_find(value, "license"), r->err,
			"'license' and 'license_expression' exclude each other");
	}
	const struct ws_json *classifiers = ws_json_find(value, "classifiers");
	const struct ws_json *item = classifiers ? classifiers->first : NULL;
	for (; item; item = item->next) {
		if (ws_starts_with(item->text, "License ::")) {
			return ws_json_err(r->doc, item, r->err,
				"a license classifier and 'license_expression' exclude each other");
		}
	}
	return true;
}

static bool
read_metadata(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_object_read(r, value, &metadata_table, into) && check_license(r, value, into);
}

const struct ws_type ws_type_python_part = WS_OBJECTS(struct ws_python_part, read_python_part);
const struct ws_type ws_type_metadata = WS_OBJECTS(struct ws_metadata, read_metadata);
