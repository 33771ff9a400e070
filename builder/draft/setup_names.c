/* setup_names.c - what a name of a setup.py stands for: the lines above its use that assign to it. A
 * name only sees lines above its own, so none stands for itself. */
#include "draft/setup_value.h"

#include <limits.h>
#include <string.h>

static bool
is(const struct ws_setup *s, size_t i, const char *word)
{
	return ws_python_is(&s->text, i, word);
}

static bool
adds(const struct ws_setup *s, size_t i)
{
	static const char *const adders[] = {"append", "extend", "insert", "update"};
	for (size_t k = 0; k < WS_LEN(adders); k++) {
		if (is(s, i, ".") && is(s, i + 1, adders[k]) && is(s, i + 2, "(")) {
			return true;
		}
	}
	return false;
}

/* A line `NAME = ...`, `NAME += ...`, `NAME.append(...)`, `NAME["key"] = ...`. */
struct assignment {
	const struct ws_setup_line *line;
	const char *key; /* of NAME["key"]; NULL */
	bool replaces;   /* =; else it adds */
	struct ws_setup_range value;
};

static bool
read_assignment(const struct ws_setup *s, const struct ws_setup_line *line, const char *name,
	struct assignment *found)
{
	size_t i = line->from;
	if (!is(s, i, name)) {
		return false;
	}
	*found = (struct assignment){.line = line, .value.to = line->to};
	i++;
	if (is(s, i, "[") && i + 1 < line->to && s->text.words[i + 1].kind == WS_PYTHON_STRING) {
		found->key = s->text.words[i + 1].text;
		i = ws_python_skip(&s->text, i);
	}
	if (adds(s, i)) {
		found->value = (struct ws_setup_range){i + 3, ws_python_skip(&s->text, i + 2) - 1};
		return true;
	}
	if (is(s, i, ":")) { /* with a type */
		i = ws_setup_find(s, (struct ws_setup_range){i, line->to}, "=");
	}
	found->replaces = is(s, i, "=");
	found->value.from = i + 1;
	return found->replaces || is(s, i, "+=");
}

/* Whole assignments replace what was before, unless they stand under conditions of their own. */
void
ws_setup_look_up(
	struct ws_setup *s, const char *name, size_t use, const char *key, ws_setup_words *out)
{
	size_t start = out->len;
	unsigned conditions = UINT_MAX; /* of the assignment that counts */
	s->work += s->lines.count;
	for (size_t i = 0; i < s->lines.count && s->lines.at[i].to <= use; i++) {
		const struct ws_setup_line *line = &s->lines.at[i];
		struct assignment found;
		if (line->elsewhere || !read_assignment(s, line, name, &found)
			|| (found.key && (!key || strcmp(found.key, key) != 0))) {
			continue;
		}
		bool maybe = line->conditions > conditions;
		if (found.replaces && !maybe) {
			out->len = start;
			conditions = line->conditions;
		}
		size_t before = out->len;
		if (key && !found.key) {
			ws_setup_value_of(s, found.value, key, out);
		} else {
			ws_setup_value(s, found.value, out);
		}
		for (size_t k = before; k < out->len; k++) {
			out->at[k].conditional = out->at[k].conditional || maybe;
		}
	}
}
