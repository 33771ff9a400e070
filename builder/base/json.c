/* json.c - reading JSON: a recursive descent that notes the place of each value, decodes strings
 * and reports what it expected. Grammar: RFC 8259. Relaxed texts may have comments of both kinds
 * and trailing commas. json_write.c writes. */
#include "base/json.h"

#include "base/fs.h"

#include <strings.h>

#define LARGEST_FILE ((size_t)64 << 20)
#define DEEPEST 100
#define MOST_VALUES 1000000 /* a hostile page costs at most some 200 MB */

/* A text that a message shows is cut there. */
#define SHOWN(len) ((len) > 60 ? 60 : (int)(len))

struct scan {
	struct ws_json_doc *doc;
	size_t at; /* the next byte */
	bool relaxed;
	unsigned depth;
	size_t values;
	struct ws_arena *a;
	struct ws_err *err;
};

WS_PRINTF(5, 0)
static bool
fail_at(const struct ws_json_doc *doc, size_t offset, size_t len, struct ws_err *err,
	const char *format, va_list values)
{
	char text[sizeof(err->text)];
	vsnprintf(text, sizeof(text), format, values);
	ws_err_set(err, WS_ERR_CONFIG, "%s", text);
	return ws_err_at(err, doc->name, doc->text, offset, len);
}

WS_PRINTF(4, 5)
static bool
fail(const struct scan *s, size_t offset, size_t len, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	fail_at(s->doc, offset, len, s->err, format, values);
	va_end(values);
	return false;
}

/* The next byte; '\0' at the end only, since the text holds none. */
static char
peek(const struct scan *s)
{
	return s->doc->text[s->at];
}

/* Bytes of what looks like one word or number: letters, digits, '_', '+', '-', '.'. */
static size_t
word_len(const char *text)
{
	size_t len = 0;
	while (ws_is_letter(text[len]) || ws_is_digit(text[len])
		|| (text[len] && strchr("_+-.", text[len]))) {
		len++;
	}
	return len;
}

/* "expected X, found Y" at the next byte; Y is a whole word where there is one. */
static bool
expected(const struct scan *s, const char *what)
{
	const char *next = s->doc->text + s->at;
	size_t len = word_len(next);
	if (*next == '\0') {
		return fail(s, s->at, 1, "expected %s, found the end of the text", what);
	}
	if (*next == '"') {
		return fail(s, s->at, 1, "expected %s, found a string", what);
	}
	if ((unsigned char)*next < ' ') {
		return fail(s, s->at, 1, "expected %s, found byte 0x%02x", what, (unsigned)*next);
	}
	if (len == 0) {
		len = ws_utf8_len(next, s->doc->len - s->at);
	}
	return fail(s, s->at, len, "expected %s, found '%.*s'", what, SHOWN(len), next);
}

/* ---- tokens ---- */

/* Moves over white space and comments. */
static bool
skip_space(struct scan *s)
{
	for (;;) {
		s->at += strspn(s->doc->text + s->at, " \t\r\n");
		const char *text = s->doc->text + s->at;
		if (*text != '/') {
			return true;
		}
		const char *end = text + strcspn(text, "\n");
		if (text[1] != '/' && text[1] != '*') {
			return fail(s, s->at, 1, "expected '//' or '/*', found a single '/'");
		}
		if (text[1] == '*') {
			end = strstr(text + 2, "*/");
			if (!end) {
				return fail(s, s->at, 2, "comment is not closed");
			}
			end += 2;
		}
		if (!s->relaxed) {
			return fail(s, s->at, (size_t)(end - text), "comment where plain JSON is wanted");
		}
		s->at += (size_t)(end - text);
	}
}

/* The value of four hexadecimal digits, or -1. */
static int
hex4(const char *text)
{
	int value = 0;
	for (size_t i = 0; i < 4; i++) {
		int digit = ws_hex_digit(text[i]);
		if (digit < 0) {
			return -1;
		}
		value = value * 16 + digit;
	}
	return value;
}

/* Length of "\uXXXX" at byte @at of the text; of two of them for a character beyond U+FFFF. 0: a
 * mistake. */
static size_t
unicode_len(const struct scan *s, size_t at)
{
	const char *here = s->doc->text + at;
	int unit = hex4(here + 2), second;
	if (unit < 0) {
		fail(s, at, 2, "expected four hexadecimal digits after '\\u'");
	} else if (unit == 0) {
		fail(s, at, 6, "'\\u0000' is not allowed in a text");
	} else if (unit >= 0xdc00 && unit <= 0xdfff) {
		fail(s, at, 6, "'%.6s' is the second half of a character without its first", here);
	} else if (unit < 0xd800 || unit > 0xdbff) {
		return 6;
	} else {
		second = here[6] == '\\' && here[7] == 'u' ? hex4(here + 8) : -1;
		if (second >= 0xdc00 && second <= 0xdfff) {
			return 12;
		}
		fail(s, at, 6, "'%.6s' is the first half of a character without its second", here);
	}
	return 0;
}

/* The text between two quotes, whose escapes are right. */
static const char *
decode(const char *in, size_t len, struct ws_arena *a)
{
	static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
	char *text = ws_arena_alloc(a, len + 1), *out = text;
	for (const char *end = in + len; in < end;) {
		if (*in != '\\') {
			*out++ = *in++;
		} else if (in[1] != 'u') {
			const char *name = strchr(names, in[1]);
			*out++ = name ? values[name - names] : in[1];
			in += 2;
		} else {
			uint32_t code = (uint32_t)hex4(in + 2);
			in += 6;
			if (code >= 0xd800 && code <= 0xdbff) {
				code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)hex4(in + 2) - 0xdc00);
				in += 6;
			}
			unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
			*out++ = (char)(lead[more] | code >> (6 * more));
			while (more-- > 0) {
				*out++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
			}
		}
	}
	return text;
}

static bool
scan_string(struct scan *s, const char **value)
{
	const char *text = s->doc->text;
	size_t start = s->at, at = start + 1;
	while (text[at] != '"') {
		unsigned char c = (unsigned char)text[at];
		if (c == '\n' || c == '\r' || c == '\0') {
			return fail(s, start, at - start, "string is not closed on its line");
		}
		if (c < ' ') {
			fail(s, at, 1, "control character 0x%02x in a string", c);
			return ws_err_cure(s->err, "write \\u%04x", c);
		}
		char escaped = c == '\\' ? text[at + 1] : '\0';
		if (c == '\\' && escaped != 'u' && (!escaped || !strchr("\"\\/bfnrt", escaped))) {
			fail(s, at, escaped ? 2 : 1, "unknown escape in a string");
			return ws_err_cure(s->err, "a backslash itself is written \\\\");
		}
		size_t len = escaped == 'u' ? unicode_len(s, at) : escaped ? 2 : 1;
		if (len == 0) {
			return false;
		}
		at += len;
	}
	*value = decode(text + start + 1, at - start - 1, s->a);
	s->at = at + 1;
	return true;
}

static size_t
digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

static bool
scan_number(struct scan *s, const char **value)
{
	const char *text = s->doc->text + s->at, *p = text + (*text == '-');
	size_t digits = digits_at(p), word = word_len(text);
	bool good = digits > 0 && (digits == 1 || *p != '0');
	p += digits;
	if (good && *p == '.') {
		digits = digits_at(p + 1);
		good = digits > 0;
		p += digits + 1;
	}
	if (good && (*p == 'e' || *p == 'E')) {
		p += 1 + (p[1] == '+' || p[1] == '-');
		digits = digits_at(p);
		good = digits > 0;
		p += digits;
	}
	size_t len = (size_t)(p - text);
	if (!good || len != word) {
		fail(s, s->at, word, "'%.*s' is not a number", SHOWN(word), text);
		return ws_err_cure(s->err, "write \"%.*s\" in quotes if it is a text", SHOWN(word), text);
	}
	*value = ws_arena_copy(s->a, text, len);
	s->at += len;
	return true;
}

/* true, false, null; else a word that should have been one of them, or a string. */
static bool
scan_word(struct scan *s, struct ws_json *value)
{
	static const struct {
		const char *word;
		enum ws_json_kind kind;
		bool truth;
	} words[] = {
		{"null", WS_JSON_NULL, false},
		{"false", WS_JSON_BOOL, false},
		{"true", WS_JSON_BOOL, true},
	};
	const char *text = s->doc->text + s->at;
	size_t len = word_len(text);
	for (size_t i = 0; i < WS_LEN(words); i++) {
		bool same_len = strlen(words[i].word) == len;
		if (same_len && strncmp(text, words[i].word, len) == 0) {
			value->kind = words[i].kind;
			value->truth = words[i].truth;
			s->at += len;
			return true;
		}
		if (same_len && strncasecmp(text, words[i].word, len) == 0) {
			expected(s, "a value");
			return ws_err_cure(s->err, "write %s in lower case", words[i].word);
		}
	}
	expected(s, "a value");
	if (len > 0 || *text == '\'') {
		ws_err_cure(s->err, "use double quotes for strings");
	}
	return false;
}

/* ---- values ---- */

static bool scan_value(struct scan *s, struct ws_json *value);

static bool
scan_members(struct scan *s, struct ws_json *value)
{
	bool object = value->kind == WS_JSON_OBJECT;
	char closer = object ? '}' : ']';
	struct ws_json **link = &value->first;
	s->at++;
	if (!skip_space(s)) {
		return false;
	}
	while (peek(s) != closer) {
		struct ws_json *member = WS_NEW(s->a, struct ws_json);
		if (object && peek(s) != '"') {
			return expected(
				s, value->count ? "a key in double quotes" : "a key in double quotes or '}'");
		}
		member->key_offset = object ? s->at : 0;
		if (object && (!scan_string(s, &member->key) || !skip_space(s))) {
			return false;
		}
		if (object && peek(s) != ':') {
			return expected(s, "':' after the key");
		}
		s->at += object;
		if (!skip_space(s) || !scan_value(s, member) || !skip_space(s)) {
			return false;
		}
		size_t comma = s->at;
		if (peek(s) != closer && peek(s) != ',') {
			return expected(s, object ? "',' or '}'" : "',' or ']'");
		}
		s->at += peek(s) == ',';
		if (s->at > comma && !skip_space(s)) {
			return false;
		}
		if (s->at > comma && !s->relaxed && peek(s) == closer) {
			return fail(s, comma, 1, "comma after the last value");
		}
		*link = member;
		link = &member->next;
		value->count++;
	}
	s->at++;
	return true;
}

static bool
scan_nested(struct scan *s, struct ws_json *value)
{
	if (s->depth == DEEPEST) {
		return fail(s, s->at, 1, "nested more than %d deep", DEEPEST);
	}
	s->depth++;
	if (!scan_members(s, value)) {
		/* The text ends, or a key follows where the list should have ended. */
		bool open = peek(s) == '\0' || (peek(s) == ':' && value->kind == WS_JSON_ARRAY);
		if (open && s->err && s->err->cure[0] == '\0') {
			struct ws_err opened = {0};
			ws_err_at(&opened, s->doc->name, s->doc->text, value->offset, 1);
			ws_err_cure(
				s->err, "the '%c' at %s is not closed", s->doc->text[value->offset], opened.place);
		}
		return false;
	}
	s->depth--;
	return true;
}

static bool
scan_value(struct scan *s, struct ws_json *value)
{
	bool done;
	char c = peek(s);
	if (++s->values > MOST_VALUES) {
		return fail(s, s->at, 1, "more than %d values", MOST_VALUES);
	}
	value->offset = s->at;
	if (c == '{' || c == '[') {
		value->kind = c == '{' ? WS_JSON_OBJECT : WS_JSON_ARRAY;
		done = scan_nested(s, value);
	} else if (c == '"') {
		value->kind = WS_JSON_STRING;
		done = scan_string(s, &value->text);
	} else if (ws_is_digit(c) || c == '-' || c == '+' || c == '.') {
		value->kind = WS_JSON_NUMBER;
		done = scan_number(s, &value->text);
	} else {
		done = scan_word(s, value);
	}
	value->len = s->at - value->offset;
	return done;
}

/* ---- a text ---- */

static int
cmp_keys(const void *x, const void *y)
{
	const struct ws_json *one = *(const struct ws_json *const *)x;
	const struct ws_json *two = *(const struct ws_json *const *)y;
	int order = strcmp(one->key, two->key);
	return order ? order
				 : (one->key_offset > two->key_offset) - (one->key_offset < two->key_offset);
}

/* The first member whose key stands before it already; @a earlier is that one. */
static const struct ws_json *
find_twice(const struct ws_json *object, const struct ws_json **earlier)
{
	WS_AUTO_FREE const struct ws_json **sorted = calloc(object->count, sizeof(*sorted));
	const struct ws_json *twice = NULL;
	size_t count = 0;
	if (!sorted) {
		ws_out_of_memory();
	}
	for (WS_JSON_EACH(member, object)) {
		sorted[count++] = member;
	}
	qsort(sorted, count, sizeof(*sorted), cmp_keys);
	for (size_t i = 1; i < count; i++) {
		bool same = strcmp(sorted[i]->key, sorted[i - 1]->key) == 0;
		if (same && (!twice || sorted[i]->key_offset < twice->key_offset)) {
			twice = sorted[i];
			*earlier = sorted[i - 1];
		}
	}
	return twice;
}

static bool
check_keys(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err)
{
	const struct ws_json *earlier, *twice = NULL;
	if (value->kind == WS_JSON_OBJECT && value->count > 1) {
		twice = find_twice(value, &earlier);
	}
	if (twice) {
		struct ws_err first = {0};
		ws_err_at(&first, doc->name, doc->text, earlier->key_offset, 1);
		ws_json_err_key(doc, twice, err, "key '%s' is repeated", twice->key);
		return ws_err_cure(err, "the first is at %s", first.place);
	}
	for (WS_JSON_EACH(child, value)) {
		if (child->first && !check_keys(doc, child, err)) {
			return false;
		}
	}
	return true;
}

/* Parses doc->text; the arena has it already. */
static bool
parse(struct ws_json_doc *doc, enum ws_json_flags flags, struct ws_arena *a, struct ws_err *err)
{
	struct scan s = {.doc = doc, .relaxed = flags & WS_JSON_RELAXED, .a = a, .err = err};
	/* Only UTF-8 without NUL: afterwards '\0' means the end, and messages may quote the text. */
	for (size_t at = 0, len; at < doc->len; at += len) {
		len = ws_utf8_len(doc->text + at, doc->len - at);
		unsigned char c = (unsigned char)doc->text[at];
		if (len == 0) {
			return fail(&s, at, 1, "byte 0x%02x is not UTF-8", c);
		}
		if (c == '\0') {
			return fail(&s, at, 1, "NUL byte");
		}
	}
	doc->root = WS_NEW(a, struct ws_json);
	if (!skip_space(&s) || !scan_value(&s, doc->root) || !skip_space(&s)) {
		return false;
	}
	return peek(&s) == '\0' ? check_keys(doc, doc->root, err) : expected(&s, "the end of the text");
}

/* Copies the text, less a byte order mark. */
static void
keep_text(
	const char *name, const char *text, size_t len, struct ws_arena *a, struct ws_json_doc *doc)
{
	bool marked = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
	text += marked ? 3 : 0;
	len -= marked ? 3 : 0;
	*doc = (struct ws_json_doc){
		.name = ws_arena_strdup(a, name), .text = ws_arena_copy(a, text, len), .len = len};
}

bool
ws_json_parse(const char *name, const char *text, size_t len, enum ws_json_flags flags,
	struct ws_arena *a, struct ws_json_doc *doc, struct ws_err *err)
{
	keep_text(name, text, len, a, doc);
	return parse(doc, flags, a, err);
}

bool
ws_json_read(const char *path, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_json_doc *doc, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	if (!ws_fs_read_at_most(path, LARGEST_FILE, &b, err)) {
		return false;
	}
	keep_text(path, ws_buf_text(&b), b.len, a, doc);
	ws_buf_release(&b);
	return parse(doc, flags, a, err);
}

const struct ws_json *
ws_json_find(const struct ws_json *object, const char *key)
{
	if (!object || object->kind != WS_JSON_OBJECT) {
		return NULL;
	}
	for (WS_JSON_EACH(member, object)) {
		if (strcmp(member->key, key) == 0) {
			return member;
		}
	}
	return NULL;
}

const struct ws_json *
ws_json_at(const struct ws_json *value, const char *path)
{
	struct ws_str rest = ws_str_of(path);
	while (value && rest.s) {
		struct ws_str name = ws_str_cut(&rest, '/');
		uint64_t left = UINT64_MAX;
		bool list = value->kind == WS_JSON_ARRAY && ws_str_to_u64(name, &left);
		const struct ws_json *child = list || value->kind == WS_JSON_OBJECT ? value->first : NULL;
		while (child && (list ? left-- > 0 : !ws_str_is(name, child->key))) {
			child = child->next;
		}
		if (!child) {
			break;
		}
		value = child;
	}
	return value;
}

const char *
ws_json_text(const struct ws_json *object, const char *key)
{
	const struct ws_json *member = ws_json_find(object, key);
	return member && member->kind == WS_JSON_STRING ? member->text : NULL;
}

bool
ws_json_is_true(const struct ws_json *object, const char *key)
{
	const struct ws_json *value = ws_json_find(object, key);
	return value && value->kind == WS_JSON_BOOL && value->truth;
}

bool
ws_json_u64(const struct ws_json *object, const char *key, uint64_t *value)
{
	const struct ws_json *member = ws_json_find(object, key);
	return member && member->kind == WS_JSON_NUMBER
		&& ws_str_to_u64(ws_str_of(member->text), value);
}

const char *const ws_json_kind_words[] = {
	[WS_JSON_NULL] = "null",
	[WS_JSON_BOOL] = "a boolean",
	[WS_JSON_NUMBER] = "a number",
	[WS_JSON_STRING] = "a string",
	[WS_JSON_ARRAY] = "a list",
	[WS_JSON_OBJECT] = "an object",
};

bool
ws_json_err(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err,
	const char *format, ...)
{
	/* Mark only the bracket of a list or an object that is not empty. */
	va_list values;
	va_start(values, format);
	fail_at(doc, value->offset, value->first ? 1 : value->len, err, format, values);
	va_end(values);
	return false;
}

bool
ws_json_err_key(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err,
	const char *format, ...)
{
	const char *key = doc->text + value->key_offset;
	size_t len = 1;
	while (value->key && key[len] != '"' && key[len] != '\0') {
		len += key[len] == '\\' ? 2 : 1;
	}
	va_list values;
	va_start(values, format);
	fail_at(doc, value->key_offset, value->key ? len + 1 : 1, err, format, values);
	va_end(values);
	return false;
}
