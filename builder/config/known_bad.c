/* known_bad.c - what rules mean is model/condition.h's. */
#include "config/known_bad.h"

#include "base/arena.h"
#include "config/condition.h"
#include "config/values.h"

static const struct ws_field fields[] = {
	{WS_ONE(struct ws_shared_bad, package, "package", ws_type_package)},
	{WS_ONE(struct ws_shared_bad, versions, "version", ws_type_range)},
	{WS_ONE(struct ws_shared_bad, label, "label", ws_type_line)},
	{WS_ONE(struct ws_shared_bad, rule.when, "when", ws_type_condition)},
	{WS_ONE(struct ws_shared_bad, rule.gcc, "gcc", ws_type_number)},
	{WS_ONE(struct ws_shared_bad, rule.why, "why", ws_type_line), .flags = WS_FIELD_REQUIRED,
		.example = "\"wrong results\""},
	{WS_ONE(struct ws_shared_bad, rule.see, "see", ws_type_url), .flags = WS_FIELD_REQUIRED,
		.example = "\"https://example.org/issues/1\""},
};
static const struct ws_table table = {"a known-bad rule", fields, WS_LEN(fields)};

static bool
read_rule(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_shared_bad *bad = into;
	bad->rule.when = WS_CONDITION_ANY;
	if (!ws_object_read(r, value, &table, bad)) {
		return false;
	}
	if (!bad->label && ws_condition_is_empty(&bad->rule.when)) {
		return ws_json_err(r->doc, value, r->err, "a known-bad rule needs 'when' or 'label'");
	}
	return !(bad->label && bad->rule.gcc)
		|| ws_json_err(r->doc, value, r->err, "'gcc' is about building, 'label' about wheels");
}

static const struct ws_type type_rule = WS_OBJECTS(struct ws_shared_bad, read_rule);

static const struct ws_field top_fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{.key = "as_of", .type = &ws_type_ignored},
	{WS_MANY(struct ws_facts, shared_bad, shared_bad_count, "rules", type_rule),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table top = {"the known-bad rules", top_fields, WS_LEN(top_fields)};

bool
ws_known_bad_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = "/", .a = a, .err = err};
	return ws_object_read(&r, doc->root, &top, facts);
}

void
ws_known_bad_add(struct ws_recipe *recipe, const struct ws_facts *facts, struct ws_arena *a)
{
	WS_VEC(struct ws_known_bad) rules = {0};
	WS_VEC(struct ws_shared_bad) wheels = {0};
	for (size_t i = 0; i < recipe->known_bad_count; i++) {
		*ws_vec_push(&rules, a) = recipe->known_bad[i];
	}
	for (size_t i = 0; i < facts->shared_bad_count; i++) {
		const struct ws_shared_bad *bad = &facts->shared_bad[i];
		if (!ws_shared_bad_concerns(bad, recipe->name, &recipe->version)) {
			continue;
		}
		if (bad->label) {
			*ws_vec_push(&wheels, a) = *bad;
		} else {
			*ws_vec_push(&rules, a) = bad->rule;
		}
	}
	recipe->known_bad = rules.at;
	recipe->known_bad_count = rules.len;
	recipe->bad_wheels = wheels.at;
	recipe->bad_wheel_count = wheels.len;
}
