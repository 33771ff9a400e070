/* record_file.c - lines of RECORD as text. Knows nothing of zips. */
#include "wheel/record_file.h"

#include "base/fs.h"

#include <inttypes.h>
#include <limits.h>

void
ws_record_add(
	struct ws_buf *record, const char *path, const struct ws_digest *digest, uint64_t size)
{
	bool quoted = strpbrk(path, ",\"") != NULL;
	ws_buf_puts(record, quoted ? "\"" : "");
	for (const char *c = path; *c; c++) {
		ws_buf_puts(record, *c == '"' ? "\"" : "");
		ws_buf_putc(record, *c);
	}
	ws_buf_puts(record, quoted ? "\"" : "");
	if (!digest) {
		ws_buf_puts(record, ",,\n");
		return;
	}
	char base64[WS_DIGEST_BASE64];
	ws_digest_base64(digest, base64);
	ws_buf_printf(record, ",sha256=%s,%" PRIu64 "\n", base64, size);
}

/* ---- reading ---- */

/* Where the reader is. */
struct cursor {
	struct ws_str rest;
	unsigned line; /* from 1 */
	bool is_installed;
	struct ws_arena *a;
};

static bool
fail(const struct cursor *c, struct ws_err *err, const char *what)
{
	return ws_err_set(err, WS_ERR_FETCH, "line %u of RECORD %s", c->line, what);
}

static void
skip(struct cursor *c, size_t n)
{
	c->rest.s += n;
	c->rest.n -= n;
}

static bool
is_at(const struct cursor *c, size_t at, char byte)
{
	return at < c->rest.n && c->rest.s[at] == byte;
}

/* A field between quotes, where two of them stand for one. */
static bool
read_quoted(struct cursor *c, struct ws_str *field)
{
	size_t end = 1;
	while (end < c->rest.n && (!is_at(c, end, '"') || is_at(c, end + 1, '"'))) {
		end += is_at(c, end, '"') ? 2 : 1;
	}
	if (end >= c->rest.n) {
		return false;
	}
	char *text = ws_arena_alloc(c->a, end);
	size_t len = 0;
	for (size_t at = 1; at < end; at++) {
		text[len++] = c->rest.s[at];
		at += is_at(c, at, '"');
	}
	*field = (struct ws_str){text, len};
	skip(c, end + 1);
	return true;
}

/* Up to the next ',' or the end of the line, which stay. */
static bool
read_field(struct cursor *c, struct ws_str *field)
{
	if (is_at(c, 0, '"')) {
		return read_quoted(c, field);
	}
	size_t len = 0;
	while (len < c->rest.n && !memchr(",\r\n\"", c->rest.s[len], 4)) {
		len++;
	}
	*field = (struct ws_str){c->rest.s, len};
	skip(c, len);
	return !is_at(c, 0, '"');
}

/* URL-safe base64 without padding; the two bits that are left over must be 0. */
static bool
read_sha256(struct ws_str text, struct ws_digest *digest)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	if (text.n != WS_DIGEST_BASE64 - 1) {
		return false;
	}
	unsigned bits = 0;
	unsigned held = 0;
	size_t len = 0;
	for (size_t i = 0; i < text.n; i++) {
		const char *at = text.s[i] ? strchr(digits, text.s[i]) : NULL;
		if (!at) {
			return false;
		}
		bits = bits << 6 | (unsigned)(at - digits);
		held += 6;
		for (; held >= 4; held -= 4) {
			unsigned nibble = bits >> (held - 4) & 15;
			if (len < 64) {
				digest->hex[len++] = "0123456789abcdef"[nibble];
			}
		}
	}
	digest->hex[64] = '\0';
	return len == 64 && (bits & 3) == 0;
}

bool
ws_record_is_own(struct ws_str path)
{
	static const char *const names[] = {
		".dist-info/RECORD", ".dist-info/RECORD.jws", ".dist-info/RECORD.p7s"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		size_t len = strlen(names[i]);
		if (path.n > len && memcmp(path.s + path.n - len, names[i], len) == 0
			&& !memchr(path.s, '/', path.n - len)) {
			return true;
		}
	}
	return false;
}

static bool
read_entry(struct cursor *c, struct ws_record_entry *entry, struct ws_err *err)
{
	struct ws_str fields[3];
	for (size_t i = 0; i < WS_LEN(fields); i++) {
		bool good = read_field(c, &fields[i]);
		/* The line ends with "\n", "\r\n", or the text. */
		size_t len = i < 2 || !is_at(c, 0, '\r') ? 1 : 2;
		if (!good || !(is_at(c, len - 1, i < 2 ? ',' : '\n') || (i == 2 && c->rest.n == 0))) {
			return fail(c, err, "is not three fields between commas");
		}
		skip(c, len < c->rest.n ? len : c->rest.n);
	}
	struct ws_str path = fields[0], hash = fields[1], size = fields[2];
	char inside[PATH_MAX] = "";
	if (path.n == 0 || path.n >= sizeof(inside) || memchr(path.s, '\0', path.n)) {
		return fail(c, err, "names no path inside the wheel");
	}
	memcpy(inside, path.s, path.n);
	inside[path.n] = '\0';
	if (!c->is_installed && !ws_path_is_inside(inside)) {
		return fail(c, err, "names no path inside the wheel");
	}
	*entry = (struct ws_record_entry){.path = path};
	if (hash.n == 0 && size.n == 0 && (c->is_installed || ws_record_is_own(path))) {
		return true;
	}
	struct ws_str algorithm = ws_str_cut(&hash, '=');
	if (!ws_str_is(algorithm, "sha256") || !hash.s || !read_sha256(hash, &entry->digest)) {
		return fail(c, err, "has no SHA-256");
	}
	return ws_str_to_u64(size, &entry->size) || fail(c, err, "has no size");
}

bool
ws_record_read(struct ws_str text, bool installed, struct ws_arena *a, ws_record_take take,
	void *self, struct ws_err *err)
{
	for (struct cursor c = {text, 1, installed, a}; c.rest.n > 0; c.line++) {
		struct ws_record_entry entry;
		if (!read_entry(&c, &entry, err) || !take(self, &entry, err)) {
			return false;
		}
	}
	return true;
}
