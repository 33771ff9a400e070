/* condition.c - whether a condition holds is model/condition.c's. */
#include "config/condition.h"

#include "base/text.h"
#include "config/values.h"

#include <string.h>

static bool
parse_archs(
	struct ws_reader *r, const struct ws_json *value, const char *text, struct ws_arch_set *set)
{
	const char *why;
	if (ws_arch_set_parse(text, r->a, set, &why)) {
		return true;
	}
	ws_json_err(r->doc, value, r->err, "'%s' names no architecture", text);
	return ws_err_cure(r->err, "%s", why);
}

static bool
read_archs(struct ws_reader *r, const struct ws_json *value, void *into)
{
	WS_AUTO_BUF struct ws_buf all = {0};
	bool list = value->kind == WS_JSON_ARRAY;
	if (list && !value->first) {
		return ws_json_err(r->doc, value, r->err, "'%s' is an empty list", r->key);
	}
	const struct ws_json *item = list ? value->first : value;
	for (; item; item = list ? item->next : NULL) {
		const char *text = ws_text_of(r, item, "an architecture");
		if (!text || !parse_archs(r, item, text, into)) {
			return false;
		}
		ws_buf_printf(&all, "%s%s", all.len > 0 ? ";" : "", text);
	}
	return parse_archs(r, value, ws_buf_copy(&all, r->a), into);
}

static bool
read_abi(struct ws_reader *r, const struct ws_json *value, void *into)
{
	bool known = value->kind == WS_JSON_NUMBER
		&& (strcmp(value->text, "0") == 0 || strcmp(value->text, "1") == 0);
	if (!known) {
		return ws_json_err(r->doc, value, r->err, "'%s' takes 0 or 1", r->key);
	}
	*(int *)into = value->text[0] - '0';
	return true;
}

static bool
read_either(struct ws_reader *r, const struct ws_json *value, void *into)
{
	*(int *)into = value->truth;
	return ws_expect(r, value, WS_JSON_BOOL, "true or false");
}

static bool
read_platform(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a platform");
	const struct ws_machine *machine = ws_machine_named(text);
	*(const struct ws_machine **)into = machine;
	if (!text || machine) {
		return machine;
	}
	ws_json_err(r->doc, value, r->err, "no wheels are made for platform '%s'", text);
	return ws_err_cure(r->err, "take " WS_MACHINES);
}

static const struct ws_field fields[] = {WS_CONDITION_FIELDS(struct ws_condition, )};
static const struct ws_table table = {"a condition", fields, WS_LEN(fields)};

static bool
read_condition(struct ws_reader *r, const struct ws_json *value, void *into)
{
	*(struct ws_condition *)into = WS_CONDITION_ANY;
	if (!ws_object_read(r, value, &table, into)) {
		return false;
	}
	return value->first || ws_json_err(r->doc, value, r->err, "'%s' names no axis", r->key);
}

const struct ws_type ws_type_archs =
	WS_VALUES(struct ws_arch_set, "an architecture", "architectures", read_archs);
const struct ws_type ws_type_abi = WS_VALUES(int, "0 or 1", "0 and 1", read_abi);
const struct ws_type ws_type_platform =
	WS_VALUES(struct ws_machine *, "a platform", "platforms", read_platform);
const struct ws_type ws_type_either = WS_VALUES(int, "true or false", "booleans", read_either);
const struct ws_type ws_type_condition =
	WS_VALUES(struct ws_condition, "a condition", "conditions", read_condition);
