/* asks.c - a macro is a header name if its whole body is one. It asks if its body is
 * __has_include of its parameter, or __has_include alone. All definitions of a name count. Other
 * constructions are unknown: pasted words, names built from macros. */
#include "compile/asks.h"

enum body {
	BODY_OTHER,
	BODY_ANGLE, /* <x>, or starts like that: searched as <...> */
	BODY_QUOTE, /* "x" */
	BODY_ALIAS, /* another macro */
};

struct ws_macro {
	enum body body;
	bool whole; /* the body is nothing else, and the macro has no parameters */
	struct ws_str text;
	struct ws_macro *next; /* another definition */
};

#define MOST_ALIASES 8

/* ---- words of a directive ---- */

static bool
is_letter(char c)
{
	return ws_is_letter(c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool
is_word(char c)
{
	return is_letter(c) || ws_is_digit(c);
}

static void
skip(struct ws_str *text, size_t count)
{
	text->s += count;
	text->n -= count;
}

static void
skip_blanks(struct ws_str *text)
{
	while (text->n > 0 && strchr(" \t\f\v\r", text->s[0])) {
		skip(text, 1);
	}
}

static bool
skip_char(struct ws_str *text, char c)
{
	skip_blanks(text);
	bool found = text->n > 0 && text->s[0] == c;
	if (found) {
		skip(text, 1);
	}
	return found;
}

static bool
read_word(struct ws_str *text, struct ws_str *word)
{
	skip_blanks(text);
	*word = (struct ws_str){text->s, 0};
	while (word->n < text->n && is_word(text->s[word->n])) {
		word->n++;
	}
	if (word->n == 0 || !is_letter(word->s[0])) {
		return false;
	}
	skip(text, word->n);
	return true;
}

static bool
is_empty(struct ws_str text)
{
	skip_blanks(&text);
	return text.n == 0;
}

/* ---- notes ---- */

static void
report_unknown(struct ws_asks *asks, enum ws_unknown kind, const char *file, const char *what)
{
	asks->taker->unknown(asks->taker, kind, file, what);
}

static void
report_name(
	struct ws_asks *asks, enum ws_ask_kind kind, bool angle, struct ws_str name, const char *file)
{
	asks->taker->take(asks->taker, (struct ws_ask){kind, angle, name, file});
}

static void
note_indirect(struct ws_asks *asks, struct ws_indirect what)
{
	what.name = (struct ws_str){ws_str_copy(what.name, asks->a), what.name.n};
	*ws_vec_push(&asks->indirect, asks->a) = what;
}

static void
note_word(struct ws_map *set, struct ws_str word, struct ws_arena *a)
{
	struct ws_arena_mark mark = ws_arena_mark(a);
	bool known = ws_map_get(set, ws_str_copy(word, a)) != NULL;
	ws_arena_rewind(a, mark);
	if (!known) {
		ws_map_add(set, ws_str_copy(word, a), a);
	}
}

/* The context of a word: a directive, or the macro that it defines. */
struct place {
	struct ws_asks *asks;
	const char *file;    /* NULL in a macro's body, which asks wherever it is used */
	const char *shown;   /* of the file, for messages */
	struct ws_str macro; /* the macro that is defined */
	struct ws_str parameters;
	struct ws_str before; /* the previous word */
	bool after_call;      /* after a ')' */
	bool is_code;         /* a macro with statements: no condition can use it */
};

static const char computed_question[] = "__has_include of a name that only the preprocessor knows";

/* Reads the argument of __has_include. */
static void
read_question(struct place *p, enum ws_ask_kind kind, struct ws_str *text)
{
	struct ws_str rest = *text, word, name;
	bool angle;
	if (!skip_char(&rest, '(')) {
		/* `#define HAS __has_include`, as in xxhash.h. */
		if (kind == WS_ASK_EXISTS && p->macro.n > 0 && p->parameters.n == 0 && p->before.n == 0
			&& !p->after_call && is_empty(rest)) {
			note_word(&p->asks->askers, p->macro, p->asks->a);
		} else if (!ws_str_is(p->before, "defined")) {
			report_unknown(p->asks, WS_UNKNOWN_QUESTION, p->shown, computed_question);
		}
		return;
	}
	if (ws_scan_name(&rest, &name, &angle)) {
		bool closed = skip_char(&rest, ')');
		if (!closed) {
			report_unknown(p->asks, WS_UNKNOWN_QUESTION, p->shown, computed_question);
		} else if (p->file) {
			report_name(p->asks, kind, angle, name, p->file);
		} else if (angle) {
			note_indirect(p->asks, (struct ws_indirect){kind, NULL, NULL, NULL, name});
		} else {
			report_name(p->asks, kind, angle, name, NULL);
		}
		*text = rest;
		return;
	}
	if (!read_word(&rest, &word) || !skip_char(&rest, ')')) {
		report_unknown(p->asks, WS_UNKNOWN_QUESTION, p->shown, computed_question);
		return;
	}
	bool is_parameter = false;
	for (struct ws_str list = p->parameters, found; list.n > 0 && !is_parameter;) {
		bool read = read_word(&list, &found);
		is_parameter = read && ws_str_eq(found, word);
		if (!read && list.n > 0) {
			skip(&list, 1);
		}
	}
	if (is_parameter) {
		note_word(&p->asks->askers, p->macro, p->asks->a);
	} else {
		const char *macro = ws_str_copy(word, p->asks->a);
		note_indirect(p->asks, (struct ws_indirect){kind, p->file, NULL, macro, {"", 0}});
	}
	*text = rest;
}

/* Reads the argument of any other word in a condition: `HAS(<x>)`, `HAS(MACRO)`. */
static void
read_call(struct place *p, struct ws_str called, struct ws_str *text)
{
	struct ws_str rest = *text, name, word;
	bool angle;
	if (ws_str_is(called, "defined")) {
		return;
	}
	if (!skip_char(&rest, '(')) {
		if (!ws_str_is(p->before, "defined")) {
			note_word(&p->asks->uncalled, called, p->asks->a);
		}
		return;
	}
	*text = rest;
	const char *asker = ws_str_copy(called, p->asks->a);
	struct ws_indirect call = {WS_ASK_EXISTS, p->file, asker, NULL, {"", 0}};
	if (ws_scan_name(&rest, &name, &angle) && skip_char(&rest, ')')) {
		*text = rest;
		if (angle) {
			call.asker = NULL;
			call.name = name;
			note_indirect(p->asks, call);
		} else {
			report_name(p->asks, WS_ASK_EXISTS, angle, name, p->file);
		}
		return;
	}
	rest = *text;
	if (read_word(&rest, &word) && skip_char(&rest, ')')) {
		call.macro = ws_str_copy(word, p->asks->a);
	}
	note_indirect(p->asks, call);
}

/* Reads the words of a condition (with @a p->file) or of a macro's body. */
static void
read_words(struct place *p, struct ws_str text)
{
	static const char longest[] = "__has_include_next";
	while (text.n > 0) {
		struct ws_str word, name;
		bool angle;
		skip_blanks(&text);
		if (read_word(&text, &word)) {
			/* The internal spelling is that of gcc 5 to 9. */
			bool next =
				ws_str_is(word, "__has_include_next") || ws_str_is(word, "__has_include_next__");
			/* ## could complete "__has_". */
			bool piece = ws_str_is(word, "__has_embed")
				|| (word.n > 2 && word.n < strlen(longest) && memcmp(word.s, longest, word.n) == 0);
			if (next || ws_str_is(word, "__has_include") || ws_str_is(word, "__has_include__")) {
				read_question(p, next ? WS_ASK_EXISTS_NEXT : WS_ASK_EXISTS, &text);
			} else if (piece && !p->is_code) {
				report_unknown(p->asks, WS_UNKNOWN_QUESTION, p->shown, computed_question);
			} else if (p->file) {
				read_call(p, word, &text);
			} else {
				note_word(&p->asks->uncalled, word, p->asks->a);
			}
			p->before = word;
			p->after_call = false;
			continue;
		}
		if (text.n == 0) {
			return;
		}
		char c = text.s[0];
		if (ws_is_digit(c)) {
			while (text.n > 0 && (is_word(text.s[0]) || text.s[0] == '.' || text.s[0] == '\'')) {
				skip(&text, 1);
			}
			continue;
		}
		skip(&text, 1);
		struct ws_str rest = text;
		if (c == '"' || c == '\'') { /* a string or character, to its end */
			for (char last = '\0'; text.n > 0 && last != c;) {
				last = text.s[0];
				skip(&text, last == '\\' && text.n > 1 ? 2 : 1);
			}
		} else if (c == '(' && p->after_call && ws_scan_name(&rest, &name, &angle)) {
			report_unknown(p->asks, WS_UNKNOWN_QUESTION, p->shown, computed_question);
		}
		if (c != '(') {
			p->before = (struct ws_str){"", 0};
		}
		p->after_call = c == ')';
	}
}

static void
read_include(struct ws_asks *asks, enum ws_ask_kind kind, const char *file, struct ws_str text)
{
	struct ws_str name, word;
	bool angle;
	if (ws_scan_name(&text, &name, &angle)) {
		report_name(asks, kind, angle, name, file);
	} else if (read_word(&text, &word)) {
		const char *macro = ws_str_copy(word, asks->a);
		note_indirect(asks, (struct ws_indirect){kind, file, NULL, macro, {"", 0}});
	} else if (!is_empty(text)) {
		report_unknown(asks, WS_UNKNOWN_INCLUDE, file, "#include of something that is not a name");
	}
}

static void
add_macro(struct ws_asks *asks, struct ws_str name, bool function, struct ws_str text)
{
	static struct ws_macro other = {.body = BODY_OTHER};
	struct ws_str value, rest = text;
	bool angle;
	enum body body = BODY_OTHER;
	if (ws_scan_name(&rest, &value, &angle)) {
		body = angle ? BODY_ANGLE : is_empty(rest) ? BODY_QUOTE : BODY_OTHER;
	} else if (read_word(&text, &value)) {
		body = is_empty(text) ? BODY_ALIAS : BODY_OTHER;
		rest = text;
	}
	bool whole = is_empty(rest);
	struct ws_macro *macro = &other;
	const char *key = ws_str_copy(name, asks->a);
	struct ws_macro *before = ws_map_get(&asks->macros, key);
	if (before == &other) {
		return;
	}
	if (body != BODY_OTHER) {
		macro = WS_NEW(asks->a, struct ws_macro);
		*macro = (struct ws_macro){.body = body, .whole = whole && !function, .next = before};
		macro->text = (struct ws_str){ws_str_copy(value, asks->a), value.n};
	}
	ws_map_put(&asks->macros, key, macro, asks->a);
}

static void
read_define(struct ws_asks *asks, const char *file, struct ws_str text)
{
	struct place p = {.asks = asks, .shown = file, .before = {"", 0}};
	if (!read_word(&text, &p.macro)) {
		return;
	}
	p.parameters = (struct ws_str){text.s, 0};
	if (text.n > 0 && text.s[0] == '(') {
		const char *end = memchr(text.s, ')', text.n);
		p.parameters.n = end ? (size_t)(end - text.s) + 1 : text.n;
		skip(&text, p.parameters.n);
	}
	p.is_code = memchr(text.s, ';', text.n) || memchr(text.s, '{', text.n);
	add_macro(asks, p.macro, p.parameters.n > 0, text);
	read_words(&p, text);
}

void
ws_asks_define(struct ws_asks *asks, const char *word)
{
	const char *body = strchr(word, '=');
	const char *text = body
		? ws_arena_printf(asks->a, "%.*s %s", (int)(body - word), word, body + 1)
		: ws_arena_printf(asks->a, "%s 1", word);
	read_define(asks, "the command line", ws_str_of(text));
}

void
ws_asks_scan(struct ws_asks *asks, const char *file, struct ws_str text)
{
	struct ws_scan scan = ws_scan_begin(text);
	struct ws_directive d;
	while (ws_scan_next(&scan, &d)) {
		struct place p = {.asks = asks, .file = file, .shown = file, .before = {"", 0}};
		switch (d.kind) {
		case WS_DIRECTIVE_INCLUDE:
			read_include(asks, WS_ASK_INCLUDE, file, d.text);
			break;
		case WS_DIRECTIVE_INCLUDE_NEXT:
			read_include(asks, WS_ASK_INCLUDE_NEXT, file, d.text);
			break;
		case WS_DIRECTIVE_CONDITION:
			read_words(&p, d.text);
			break;
		case WS_DIRECTIVE_DEFINE:
			read_define(asks, file, d.text);
			break;
		case WS_DIRECTIVE_ODD:
			report_unknown(asks, WS_UNKNOWN_QUESTION, file, ws_str_copy(d.text, asks->a));
			break;
		}
	}
	ws_buf_release(&scan.line);
}

/* ---- names given by macros ---- */

/* True if a word in <...> is a macro; gcc defines "linux" and "unix". */
static bool
is_made_of_macros(struct ws_asks *asks, struct ws_str name)
{
	while (name.n > 0) {
		struct ws_str word;
		if (!read_word(&name, &word)) {
			skip(&name, name.n > 0);
			continue;
		}
		const char *text = ws_str_copy(word, asks->a);
		if (ws_map_get(&asks->macros, text) || strcmp(text, "linux") == 0
			|| strcmp(text, "unix") == 0 || ws_starts_with(text, "__")) {
			return true;
		}
	}
	return false;
}

static void
resolve_literal(struct ws_asks *asks, const struct ws_indirect *what, struct ws_str name)
{
	if (is_made_of_macros(asks, name)) {
		report_unknown(asks, WS_UNKNOWN_QUESTION, what->file, computed_question);
	} else {
		report_name(asks, what->kind, true, name, what->file);
	}
}

static void
resolve_macro(
	struct ws_asks *asks, const struct ws_indirect *what, const char *name, unsigned depth)
{
	bool include = what->kind == WS_ASK_INCLUDE || what->kind == WS_ASK_INCLUDE_NEXT;
	enum ws_unknown unknown = include ? WS_UNKNOWN_INCLUDE : WS_UNKNOWN_QUESTION;
	const char *shown =
		include ? "#include of a name that only the preprocessor knows" : computed_question;
	const struct ws_macro *macro = ws_map_get(&asks->macros, name);
	/* An undefined name does not compile, unless the compiler defines it: __FILE__. */
	if (!macro && ws_starts_with(name, "__")) {
		report_unknown(asks, unknown, what->file, shown);
	}
	for (; macro; macro = macro->next) {
		if (macro->body == BODY_ANGLE && !include && macro->whole) {
			resolve_literal(asks, what, macro->text);
		} else if (macro->body == BODY_ANGLE && include) {
			/* Such a name is searched whatever it is, as long as its folder is in the text. */
			if (memmem(macro->text.s, macro->text.n, "..", 2)) {
				report_unknown(
					asks, WS_UNKNOWN_INCLUDE, what->file, "#include of a computed name with '..'");
			}
		} else if (macro->body == BODY_QUOTE && macro->whole) {
			report_name(asks, what->kind, false, macro->text, what->file);
		} else if (macro->body == BODY_ALIAS && macro->whole && depth < MOST_ALIASES) {
			resolve_macro(asks, what, macro->text.s, depth + 1);
		} else {
			report_unknown(asks, unknown, what->file, shown);
		}
	}
}

void
ws_asks_finish(struct ws_asks *asks)
{
	for (size_t i = 0; i < asks->indirect.len; i++) {
		const struct ws_indirect *what = &asks->indirect.at[i];
		if (what->asker && !ws_map_get(&asks->askers, what->asker)) {
			continue;
		}
		if (what->macro) {
			resolve_macro(asks, what, what->macro, 0);
		} else if (what->name.n > 0) {
			resolve_literal(asks, what, what->name);
		} else {
			report_unknown(asks, WS_UNKNOWN_QUESTION, what->file, computed_question);
		}
	}
	for (size_t i = 0; i < asks->askers.count; i++) {
		const char *asker = asks->askers.slots[i].key;
		if (ws_map_get(&asks->uncalled, asker)) {
			report_unknown(asks, WS_UNKNOWN_QUESTION, NULL, computed_question);
		}
	}
}
