/* setup_value.c - a small evaluator over words. Every function appends what it understands. Work is
 * counted, so a text that plays tricks ends. What names stand for is setup_names.c's. */
#include "draft/setup_value.h"

#include "base/buf.h"

#include <string.h>

#define MOST_WORK 1000000
#define MOST_WORDS 20000
#define DEEPEST 60

static const struct ws_python_word *
word_at(const struct ws_setup *s, size_t i)
{
	return &s->text.words[i];
}

static bool
is(const struct ws_setup *s, size_t i, const char *word)
{
	return ws_python_is(&s->text, i, word);
}

static bool
is_any(const struct ws_setup *s, size_t i, const char *const *words, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		if (is(s, i, words[k])) {
			return true;
		}
	}
	return false;
}

size_t
ws_setup_find(const struct ws_setup *s, struct ws_setup_range range, const char *word)
{
	size_t i = range.from;
	while (i < range.to && !is(s, i, word)) {
		i = ws_python_skip(&s->text, i);
	}
	return i < range.to ? i : range.to;
}

bool
ws_setup_cut(struct ws_setup *s, struct ws_setup_range *rest, const char *separator,
	struct ws_setup_range *part)
{
	if (rest->from >= rest->to || s->work >= MOST_WORK) {
		return false;
	}
	size_t at = ws_setup_find(s, *rest, separator);
	s->work += at - rest->from;
	*part = (struct ws_setup_range){rest->from, at};
	rest->from = at < rest->to ? at + 1 : rest->to;
	return true;
}

static void
push(struct ws_setup *s, ws_setup_words *out, const char *text, bool conditional)
{
	if (out->len < MOST_WORDS && ++s->work < MOST_WORK) {
		*ws_vec_push(out, s->a) = (struct ws_setup_word){text, conditional};
	}
}

static const char *
join(struct ws_setup *s, const char *x, const char *y)
{
	bool slash = x[0] && y[0] && y[0] != '/' && x[strlen(x) - 1] != '/';
	return ws_arena_printf(s->a, "%s%s%s", x, slash ? "/" : "", y);
}

/* The first word that @a range gives; NULL when there is none. */
static const char *
first_of(struct ws_setup *s, struct ws_setup_range range)
{
	ws_setup_words words = {0};
	ws_setup_value(s, range, &words);
	return words.len > 0 ? words.at[0].text : NULL;
}

/* What stands in braces in an f-string: a plain name is looked up. */
static const char *
format_value(struct ws_setup *s, struct ws_str name, size_t at)
{
	static const char unknown[] = {WS_SETUP_UNKNOWN, '\0'};
	ws_setup_words words = {0};
	ws_setup_look_up(s, ws_str_copy(ws_str_trim(name), s->a), at, NULL, &words);
	return words.len > 0 ? words.at[0].text : unknown;
}

/* "{cwd}/csrc", the word at @a at. */
static const char *
format(struct ws_setup *s, size_t at)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (const char *c = word_at(s, at)->text; *c; c++) {
		size_t len = strcspn(c, "}");
		if (*c == '{' && c[1] != '{' && c[len] == '}') {
			ws_buf_puts(&b, format_value(s, (struct ws_str){c + 1, len - 1}, at));
			c += len;
		} else {
			ws_buf_putc(&b, *c);
			c += (*c == '{' || *c == '}') && c[1] == *c;
		}
	}
	return ws_buf_copy(&b, s->a);
}

/* Literals that stand side by side are one. Returns behind them. */
static size_t
take_strings(struct ws_setup *s, struct ws_setup_range range, ws_setup_words *out)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	size_t i = range.from;
	for (; i < range.to && word_at(s, i)->kind == WS_PYTHON_STRING; i++) {
		ws_buf_puts(&b, word_at(s, i)->formatted ? format(s, i) : word_at(s, i)->text);
	}
	push(s, out, ws_buf_copy(&b, s->a), false);
	return i;
}

/* Behind "a.b.c": the last name is @a last. */
static size_t
take_name(const struct ws_setup *s, struct ws_setup_range range, size_t *last)
{
	size_t i = range.from;
	*last = i++;
	while (i + 1 < range.to && is(s, i, ".") && word_at(s, i + 1)->kind == WS_PYTHON_NAME) {
		*last = i + 1;
		i += 2;
	}
	return i;
}

/* The parts' first words, joined as a path. */
static const char *
join_parts(struct ws_setup *s, struct ws_setup_range rest, const char *separator)
{
	const char *path = NULL;
	struct ws_setup_range part;
	while (ws_setup_cut(s, &rest, separator, &part)) {
		const char *one = first_of(s, part);
		path = one && path ? join(s, path, one) : one ? one : path;
	}
	return path;
}

static void
call(struct ws_setup *s, size_t callee, struct ws_setup_range arguments, ws_setup_words *out)
{
	static const char *const silent[] = {
		"getenv", "get", "check_output", "run", "len", "int", "bool", "print", "open", "Version"};
	if (is(s, callee, "join")) {
		const char *path = join_parts(s, arguments, ",");
		if (path) {
			push(s, out, path, false);
		}
	} else if (!is_any(s, callee, silent, WS_LEN(silent))) {
		ws_setup_value(s, arguments, out);
	}
}

/* `.glob("*.cu")`, `.joinpath("x")` behind a path; other methods and attributes change nothing. */
static void
take_methods(struct ws_setup *s, struct ws_setup_range range, size_t start, ws_setup_words *out)
{
	static const char *const joining[] = {"glob", "joinpath", "rglob"};
	size_t i = range.from;
	while (i < range.to) {
		if (is(s, i, ".") && is_any(s, i + 1, joining, WS_LEN(joining)) && is(s, i + 2, "(")) {
			size_t behind = ws_python_skip(&s->text, i + 2);
			const char *more =
				first_of(s, (struct ws_setup_range){i + 3, behind > 0 ? behind - 1 : i + 3});
			if (more && out->len > start) {
				out->at[start].text = join(s, out->at[start].text, more);
			}
			i = behind;
		} else {
			i = ws_python_skip(&s->text, i);
		}
	}
}

/* A name, a call, a literal, something in brackets, and what hangs on it. */
static void
primary(struct ws_setup *s, struct ws_setup_range range, ws_setup_words *out)
{
	size_t start = out->len, i = range.from, last;
	const struct ws_python_word *word = word_at(s, i);
	if (word->kind == WS_PYTHON_STRING) {
		i = take_strings(s, range, out);
	} else if (is(s, i, "*")) {
		ws_setup_value(s, (struct ws_setup_range){i + 1, range.to}, out);
		return;
	} else if (word->kind == WS_PYTHON_OP) {
		i = ws_python_skip(&s->text, i);
		if ((is(s, range.from, "(") || is(s, range.from, "[") || is(s, range.from, "{"))
			&& i <= range.to) {
			ws_setup_value(s, (struct ws_setup_range){range.from + 1, i - 1}, out);
		}
	} else {
		i = take_name(s, range, &last);
		if (i < range.to && is(s, i, "(")) {
			size_t behind = ws_python_skip(&s->text, i);
			call(s, last, (struct ws_setup_range){i + 1, behind - 1}, out);
			i = behind;
		} else if (is(s, range.from, "__file__")) {
			push(s, out, "", false);
		} else {
			bool keyed =
				is(s, i, "[") && i + 1 < range.to && word_at(s, i + 1)->kind == WS_PYTHON_STRING;
			ws_setup_look_up(
				s, word->text, range.from, keyed ? word_at(s, i + 1)->text : NULL, out);
		}
	}
	take_methods(s, (struct ws_setup_range){i, range.to}, start, out);
}

/* A + B: lists one after the other; a text that continues a path is joined to it. */
static void
sum(struct ws_setup *s, struct ws_setup_range range, ws_setup_words *out)
{
	struct ws_setup_range part;
	size_t start = out->len;
	while (ws_setup_cut(s, &range, "+", &part)) {
		ws_setup_words words = {0};
		ws_setup_value(s, part, &words);
		bool one = words.len == 1 && part.from < part.to
			&& word_at(s, part.from)->kind == WS_PYTHON_STRING;
		if (one && out->len > start && words.at[0].text[0] == '/') {
			struct ws_setup_word *before = &out->at[out->len - 1];
			before->text = join(s, before->text, words.at[0].text);
			continue;
		}
		for (size_t i = 0; i < words.len; i++) {
			push(s, out, words.at[i].text, words.at[i].conditional);
		}
	}
}

/* A if C else B. What C says of the platform decides; else both, under a condition. */
static void
choice(struct ws_setup *s, struct ws_setup_range range, size_t at, ws_setup_words *out)
{
	size_t other = ws_setup_find(s, (struct ws_setup_range){at, range.to}, "else");
	size_t start = out->len;
	enum ws_setup_platform platform = ws_setup_condition(&s->text, at + 1, other);
	if (platform != WS_SETUP_OTHER) {
		ws_setup_value(s, (struct ws_setup_range){range.from, at}, out);
	}
	if (platform != WS_SETUP_OURS && other < range.to) {
		ws_setup_value(s, (struct ws_setup_range){other + 1, range.to}, out);
	}
	for (size_t i = start; i < out->len && platform == WS_SETUP_ANY; i++) {
		out->at[i].conditional = true;
	}
}

/* [x for x in y if z]: y. */
static void
comprehension(struct ws_setup *s, struct ws_setup_range range, size_t at, ws_setup_words *out)
{
	size_t in = ws_setup_find(s, (struct ws_setup_range){at, range.to}, "in");
	struct ws_setup_range tail = {in + 1, range.to};
	tail.to = ws_setup_find(s, tail, "if");
	ws_setup_value(s, tail, out);
}

/* The operators that stand outside of brackets, the loosest first. */
enum joint { JOINT_FOR, JOINT_COMMA, JOINT_IF, JOINT_PLUS, JOINT_SLASH, JOINTS };

static void
evaluate(struct ws_setup *s, struct ws_setup_range range, ws_setup_words *out)
{
	static const char *const joints[JOINTS] = {"for", ",", "if", "+", "/"};
	size_t at[JOINTS] = {0}; /* the first of each, from 1 */
	for (size_t i = range.from; i < range.to; i = ws_python_skip(&s->text, i)) {
		for (size_t k = 0; k < JOINTS; k++) {
			at[k] = at[k] == 0 && is(s, i, joints[k]) ? i + 1 : at[k];
		}
	}
	struct ws_setup_range part;
	if (at[JOINT_FOR] > 0) {
		comprehension(s, range, at[JOINT_FOR] - 1, out);
	} else if (at[JOINT_COMMA] > 0) {
		while (ws_setup_cut(s, &range, ",", &part)) {
			ws_setup_value(s, part, out);
		}
	} else if (at[JOINT_IF] > 0) {
		choice(s, range, at[JOINT_IF] - 1, out);
	} else if (at[JOINT_PLUS] > 0) {
		sum(s, range, out);
	} else if (at[JOINT_SLASH] > 0) {
		const char *path = join_parts(s, range, "/");
		if (path) {
			push(s, out, path, false);
		}
	} else {
		primary(s, range, out);
	}
}

/* True when there is something to do, and leave to do it. */
static bool
begin(struct ws_setup *s, struct ws_setup_range range)
{
	if (range.from >= range.to || range.to > s->text.count || s->depth == DEEPEST
		|| s->work >= MOST_WORK) {
		return false;
	}
	s->work += range.to - range.from;
	s->depth++;
	return true;
}

void
ws_setup_value(struct ws_setup *s, struct ws_setup_range range, ws_setup_words *out)
{
	if (begin(s, range)) {
		evaluate(s, range, out);
		s->depth--;
	}
}

/* The value of `"key": value` in a dict's braces, or of `key=value` in dict(...). */
static bool
find_key(
	struct ws_setup *s, struct ws_setup_range inside, const char *key, struct ws_setup_range *value)
{
	struct ws_setup_range part;
	while (ws_setup_cut(s, &inside, ",", &part)) {
		bool named = part.from + 1 < part.to && strcmp(word_at(s, part.from)->text, key) == 0;
		if (named && (is(s, part.from + 1, ":") || is(s, part.from + 1, "="))) {
			*value = (struct ws_setup_range){part.from + 2, part.to};
			return true;
		}
	}
	return false;
}

static void
evaluate_of(struct ws_setup *s, struct ws_setup_range range, const char *key, ws_setup_words *out)
{
	size_t open = range.from + is(s, range.from, "dict");
	struct ws_setup_range inside = {open + 1, ws_python_skip(&s->text, open) - 1}, value;
	if (is(s, open, "{") || (open > range.from && is(s, open, "("))) {
		if (find_key(s, inside, key, &value)) {
			ws_setup_value(s, value, out);
		}
	} else if (word_at(s, range.from)->kind == WS_PYTHON_NAME && range.to == range.from + 1) {
		ws_setup_look_up(s, word_at(s, range.from)->text, range.from, key, out);
	} else {
		ws_setup_value(s, range, out);
	}
}

void
ws_setup_value_of(
	struct ws_setup *s, struct ws_setup_range range, const char *key, ws_setup_words *out)
{
	if (begin(s, range)) {
		evaluate_of(s, range, key, out);
		s->depth--;
	}
}
