/* text.c - views, buffers, UTF-8, fields, suggestions. */
#include "base/text.h"

struct ws_str
ws_str_of(const char *text)
{
	return (struct ws_str){text, text ? strlen(text) : 0};
}

bool
ws_str_is(struct ws_str str, const char *text)
{
	return ws_str_eq(str, ws_str_of(text));
}

bool
ws_str_eq(struct ws_str x, struct ws_str y)
{
	return x.n == y.n && (x.n == 0 || memcmp(x.s, y.s, x.n) == 0);
}

int
ws_str_cmp(struct ws_str x, struct ws_str y)
{
	size_t shared = x.n < y.n ? x.n : y.n;
	int order = shared ? memcmp(x.s, y.s, shared) : 0;
	return order ? order : (x.n > y.n) - (x.n < y.n);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct ws_str
ws_str_trim(struct ws_str str)
{
	while (str.n > 0 && is_blank(str.s[0])) {
		str.s++;
		str.n--;
	}
	while (str.n > 0 && is_blank(str.s[str.n - 1])) {
		str.n--;
	}
	return str;
}

struct ws_str
ws_str_cut(struct ws_str *rest, char separator)
{
	const char *end = rest->n ? memchr(rest->s, separator, rest->n) : NULL;
	struct ws_str part = *rest;
	if (!end) {
		*rest = (struct ws_str){NULL, 0};
		return part;
	}
	part.n = (size_t)(end - rest->s);
	rest->s = end + 1;
	rest->n -= part.n + 1;
	return part;
}

bool
ws_str_to_u64(struct ws_str str, uint64_t *value)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < str.n; i++) {
		unsigned digit = (unsigned)(unsigned char)str.s[i] - '0';
		if (digit > 9 || __builtin_mul_overflow(sum, (uint64_t)10, &sum)
			|| __builtin_add_overflow(sum, (uint64_t)digit, &sum)) {
			return false;
		}
	}
	*value = sum;
	return str.n > 0;
}

char *
ws_str_copy(struct ws_str str, struct ws_arena *a)
{
	return ws_arena_copy(a, str.s, str.n);
}

char *
ws_lower_all(char *text)
{
	for (char *c = text; *c; c++) {
		*c = ws_lower(*c);
	}
	return text;
}

bool
ws_has_control(const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			return true;
		}
	}
	return false;
}

bool
ws_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool
ws_ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text);
	size_t tail = strlen(suffix);
	return len >= tail && memcmp(text + len - tail, suffix, tail) == 0;
}

bool
ws_same(const char *x, const char *y)
{
	return x == y || (x && y && strcmp(x, y) == 0);
}

bool
ws_is_among(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ws_same(text, list[i])) {
			return true;
		}
	}
	return false;
}

int
ws_word_index(const char *const *words, const char *text)
{
	int i = 0;
	while (words[i] && !ws_same(words[i], text)) {
		i++;
	}
	return words[i] ? i : -1;
}

char *
ws_join(const char *const *texts, size_t count, const char *separator, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf all = {0};
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&all, "%s%s", i > 0 ? separator : "", texts[i]);
	}
	return ws_buf_copy(&all, a);
}

int
ws_cmp_strings(const void *x, const void *y)
{
	const char *const *left = x;
	const char *const *right = y;
	return strcmp(*left, *right);
}

size_t
ws_sort_once(const char **list, size_t count)
{
	size_t kept = 0;
	if (count > 1) {
		qsort(list, count, sizeof(*list), ws_cmp_strings);
	}
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || strcmp(list[i], list[kept - 1]) != 0) {
			list[kept++] = list[i];
		}
	}
	return kept;
}

/* ---- buffers ---- */

char *
ws_buf_reserve(struct ws_buf *b, size_t more)
{
	if (more >= SIZE_MAX / 4 - b->len) {
		abort();
	}
	size_t wanted = b->len + more + 1;
	if (wanted > b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 256;
		cap = cap < wanted ? wanted : cap;
		char *data = realloc(b->data, cap);
		if (!data) {
			ws_out_of_memory();
		}
		b->data = data;
		b->cap = cap;
	}
	b->data[b->len + more] = '\0';
	return b->data + b->len;
}

void
ws_buf_add(struct ws_buf *b, const void *bytes, size_t len)
{
	char *end = ws_buf_reserve(b, len);
	if (len > 0) {
		memcpy(end, bytes, len);
	}
	b->len += len;
}

void
ws_buf_puts(struct ws_buf *b, const char *text)
{
	ws_buf_add(b, text, strlen(text));
}

void
ws_buf_putc(struct ws_buf *b, char c)
{
	ws_buf_add(b, &c, 1);
}

void
ws_buf_printf(struct ws_buf *b, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	va_list again;
	va_copy(again, values);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len > 0) {
		char *end = ws_buf_reserve(b, (size_t)len);
		vsnprintf(end, (size_t)len + 1, format, values);
		b->len += (size_t)len;
	}
	va_end(values);
}

void
ws_buf_cut(struct ws_buf *b, size_t len)
{
	if (len < b->len) {
		b->len = len;
		b->data[len] = '\0';
	}
}

void
ws_buf_clear(struct ws_buf *b)
{
	b->len = 0;
	if (b->data) {
		b->data[0] = '\0';
	}
}

void
ws_buf_put_quoted(struct ws_buf *b, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
	if (word[0] && word[strspn(word, plain)] == '\0') {
		ws_buf_puts(b, word);
		return;
	}
	ws_buf_putc(b, '\'');
	for (; *word; word++) {
		ws_buf_puts(b, *word == '\'' ? "'\\'" : "");
		ws_buf_putc(b, *word);
	}
	ws_buf_putc(b, '\'');
}

const char *
ws_buf_text(const struct ws_buf *b)
{
	return b->data ? b->data : "";
}

struct ws_str
ws_buf_str(const struct ws_buf *b)
{
	return (struct ws_str){b->data, b->len};
}

char *
ws_buf_copy(const struct ws_buf *b, struct ws_arena *a)
{
	return ws_arena_copy(a, b->data, b->len);
}

void
ws_buf_release(struct ws_buf *b)
{
	free(b->data);
	*b = (struct ws_buf){0};
}

/* ---- UTF-8 ---- */

static bool
within(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

size_t
ws_utf8_len(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	if (n == 0) {
		return 0;
	}
	unsigned char lead = u[0];
	if (lead < 0x80) {
		return 1;
	}
	size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (!within(lead, 0xc2, 0xf4) || n < len) {
		return 0;
	}
	/* The second byte's range rules out long forms, surrogates and what is above U+10FFFF. */
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
	if (!within(u[1], low, high)) {
		return 0;
	}
	for (size_t i = 2; i < len; i++) {
		if (!within(u[i], 0x80, 0xbf)) {
			return 0;
		}
	}
	return len;
}

unsigned
ws_utf8_columns(const char *s, size_t n)
{
	static const struct {
		uint32_t first, last;
		unsigned columns;
	} ranges[] = {{0x300, 0x36f, 0}, {0x1100, 0x115f, 2}, {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0},
		{0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
		{0xfe30, 0xfe6f, 2}, {0xff01, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
		{0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2}};
	static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned sum = 0;
	while (n > 0) {
		size_t len = ws_utf8_len(s, n);
		uint32_t code = (unsigned char)s[0] & lead[len];
		unsigned columns = 1;
		for (size_t i = 1; i < len; i++) {
			code = code << 6 | ((unsigned char)s[i] & 0x3f);
		}
		for (size_t i = 0; i < WS_LEN(ranges); i++) {
			if (code >= ranges[i].first && code <= ranges[i].last) {
				columns = ranges[i].columns;
			}
		}
		sum += columns;
		len = len ? len : 1;
		s += len;
		n -= len;
	}
	return sum;
}

/* U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool
turns_text(const char *s, size_t len)
{
	const unsigned char *c = (const unsigned char *)s;
	if (len == 2) {
		return c[0] == 0xd8 && c[1] == 0x9c;
	}
	return len == 3 && c[0] == 0xe2
		&& ((c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xa8 && c[2] <= 0xae)))
			|| (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

void
ws_utf8_make_plain(char *text, bool lines)
{
	char *end = text;
	for (size_t left = strlen(text); left > 0;) {
		size_t len = ws_utf8_len(text, left);
		unsigned char c = (unsigned char)text[0];
		bool control =
			c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)text[1] < 0xa0); /* C0, C1 */
		if ((len == 0 || control || turns_text(text, len))
			&& !(lines && (*text == '\n' || *text == '\t'))) {
			*end++ = '?';
		} else {
			memmove(end, text, len);
			end += len;
		}
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	*end = '\0';
}

/* ---- fields ---- */

void
ws_fields_add(struct ws_buf *text, const char *kind, const char *value)
{
	if (value) {
		ws_buf_printf(text, "%s %s%c", kind, value, '\0');
	}
}

void
ws_fields_add_pair(struct ws_buf *text, const char *kind, const char *first, const char *second)
{
	ws_buf_printf(text, "%s %s %s%c", kind, first, second, '\0');
}

void
ws_fields_add_all(struct ws_buf *text, const char *kind, const char *const *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ws_fields_add(text, kind, values[i]);
	}
}

void
ws_fields_add_number(struct ws_buf *text, const char *kind, uint64_t number)
{
	ws_buf_printf(text, "%s %ju%c", kind, (uintmax_t)number, '\0');
}

bool
ws_fields_take(struct ws_str *text, struct ws_arena *a, const char **kind, const char **value)
{
	const char *end = text->n > 0 ? memchr(text->s, '\0', text->n) : NULL;
	if (!end) {
		return false;
	}
	char *field = ws_arena_copy(a, text->s, (size_t)(end - text->s));
	char *blank = strchr(field, ' ');
	if (!blank) {
		return false;
	}
	text->n -= (size_t)(end + 1 - text->s);
	text->s = end + 1;
	*blank = '\0';
	*kind = field;
	*value = blank + 1;
	return true;
}

bool
ws_fields_cut(const char *pair, struct ws_arena *a, const char **first, const char **second)
{
	const char *blank = strchr(pair, ' ');
	*first = blank ? ws_arena_copy(a, pair, (size_t)(blank - pair)) : NULL;
	*second = blank ? blank + 1 : NULL;
	return blank != NULL;
}

/* ---- spelling suggestions ---- */

#define LONGEST 64

static unsigned
distance(const char *x, size_t n, const char *y, size_t m)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];
	for (size_t j = 0; j <= m; j++) {
		last[j] = (unsigned)j;
	}
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned differs = ws_lower(x[i - 1]) != ws_lower(y[j - 1]);
			unsigned shorter = last[j] < row[j - 1] ? last[j] + 1 : row[j - 1] + 1;
			row[j] = last[j - 1] + differs < shorter ? last[j - 1] + differs : shorter;
			if (i > 1 && j > 1 && ws_lower(x[i - 1]) == ws_lower(y[j - 2])
				&& ws_lower(x[i - 2]) == ws_lower(y[j - 1]) && before[j - 2] + 1 < row[j]) {
				row[j] = before[j - 2] + 1;
			}
		}
		unsigned *spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[m];
}

const char *
ws_suggest(const char *word, const char *const *candidates, size_t count)
{
	size_t len = strlen(word);
	unsigned nearest = (unsigned)(len + 2) / 3 + 1;
	const char *best = NULL;
	if (len >= LONGEST) {
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		size_t other = strlen(candidates[i]);
		if (other >= LONGEST) {
			continue;
		}
		unsigned d = distance(word, len, candidates[i], other);
		if (d < nearest) {
			nearest = d;
			best = candidates[i];
		}
	}
	return best;
}
