/* err.c - composing error values. out.c prints them. */
#include "base/err.h"

#include "base/text.h"

#include <errno.h>

/* Formats into a fixed field; what does not fit ends in "...". No terminal obeys what is in it, and
 * no name in it begins a line, unless it has @a lines. */
WS_PRINTF(4, 0)
static void
format_into(char *field, size_t size, bool lines, const char *format, va_list values)
{
	int len = vsnprintf(field, size, format, values);
	if (len >= 0 && (size_t)len >= size) {
		memcpy(field + size - 4, "...", 4);
	}
	ws_utf8_make_plain(field, lines);
}

WS_PRINTF(3, 4)
static void
append(char *field, size_t size, const char *format, ...)
{
	size_t used = strlen(field);
	va_list values;
	va_start(values, format);
	format_into(field + used, size - used, true, format, values);
	va_end(values);
}

bool
ws_err_set(struct ws_err *err, enum ws_err_kind kind, const char *format, ...)
{
	if (!err) {
		return false;
	}
	struct ws_err fresh = {.kind = kind};
	va_list values;
	va_start(values, format);
	format_into(fresh.text, sizeof(fresh.text), false, format, values);
	va_end(values);
	*err = fresh;
	return false;
}

bool
ws_err_sys(struct ws_err *err, enum ws_err_kind kind, const char *format, ...)
{
	int code = errno;
	if (!err) {
		return false;
	}
	struct ws_err fresh = {.kind = kind, .os = code};
	va_list values;
	va_start(values, format);
	format_into(fresh.text, sizeof(fresh.text) - 100, false, format, values);
	va_end(values);
	append(fresh.text, sizeof(fresh.text), ": %s", strerror(code));
	*err = fresh;
	if (code == ENOSPC || code == EDQUOT) {
		ws_err_cure_code(err, WS_CURE_FREE_SPACE, NULL);
	} else if (code == EROFS) {
		ws_err_cure_code(err, WS_CURE_READ_ONLY, NULL);
	} else if (code == EMFILE) {
		err->kind = WS_ERR_IO;
		ws_err_cure(err, "raise the limit:  ulimit -n 4096");
	}
	return false;
}

bool
ws_err_wrap(struct ws_err *err, const char *format, ...)
{
	if (!err) {
		return false;
	}
	char inner[sizeof(err->text)];
	memcpy(inner, err->text, sizeof(inner));
	va_list values;
	va_start(values, format);
	format_into(err->text, sizeof(err->text), false, format, values);
	va_end(values);
	append(err->text, sizeof(err->text), ": %s", inner);
	return false;
}

bool
ws_err_cure(struct ws_err *err, const char *format, ...)
{
	if (!err) {
		return false;
	}
	size_t used = strlen(err->cure);
	if (used + 8 > sizeof(err->cure)) {
		return false;
	}
	va_list values;
	va_start(values, format);
	format_into(err->cure + used, sizeof(err->cure) - used - 1, false, format, values);
	va_end(values);
	append(err->cure, sizeof(err->cure), "\n");
	return false;
}

const char *const ws_cure_words[] = {
	[WS_CURE_FREE_SPACE] = "free-space",
	[WS_CURE_READ_ONLY] = "read-only",
	[WS_CURE_OUTPUT] = "output",
	[WS_CURE_STORE] = "store",
	[WS_CURE_TORCH] = "torch",
	[WS_CURE_CUDA] = "cuda",
	[WS_CURE_PYTHON] = "python",
	[WS_CURE_ARCH] = "arch",
	[WS_CURE_INDEX] = "index",
	[WS_CURE_DEBIAN_MIRROR] = "debian-mirror",
	[WS_CURE_KITS_ARCHIVE] = "kits-archive",
	[WS_CURE_FETCH] = "fetch",
	[WS_CURE_LOCK] = "lock",
	[WS_CURE_ASK_AGAIN] = "ask-again",
	[WS_CURE_LOCK_UPDATE] = "lock-update",
	[WS_CURE_UNLOCKED] = "unlocked",
	[WS_CURE_RECIPE] = "recipe",
	[WS_CURE_FIRST_SIGNATURE] = "first-signature",
	[WS_CURE_SYNC] = "sync",
	[WS_CURE_ACTION_TIMEOUT] = "action-timeout",
};

bool
ws_err_cure_code(struct ws_err *err, enum ws_cure code, const char *subject)
{
	for (size_t i = 0; err && i < err->cure_count; i++) {
		if (err->cures[i].code == code) {
			return false;
		}
	}
	if (err && err->cure_count < WS_ERR_CURES) {
		err->cures[err->cure_count].code = code;
		err->cures[err->cure_count].subject[0] = '\0';
		append(err->cures[err->cure_count].subject, sizeof(err->cures->subject), "%s",
			subject ? subject : "");
		err->cure_count++;
	}
	return false;
}

bool
ws_err_has_cure(const struct ws_err *err)
{
	return err->cure[0] || err->cure_count > 0;
}

/* The most of @n bytes that does not end within a character. */
static size_t
whole(const char *text, size_t n)
{
	size_t end = 0;
	while (end < n) {
		size_t len = ws_utf8_len(text + end, strnlen(text + end, 4));
		len = len ? len : 1;
		if (end + len > n) {
			break;
		}
		end += len;
	}
	return end;
}

/* "user:password@" as in a URL, in a line that is shown: stars in its place, as wide. A password
 * that was not quoted for a URL may hold '/' and '@': what is hidden ends at the last '@' of the
 * word. */
static void
hide_logins(char *line)
{
	static const char ends[] = " \t\"'";
	for (char *at = strchr(line, '@'); at; at = strchr(at + 1, '@')) {
		char *start = at;
		while (start > line && !strchr(ends, start[-1])) {
			start--;
		}
		for (char *more = at; *more && !strchr(ends, *more); more++) {
			at = *more == '@' ? more : at;
		}
		char *host = strstr(start, "//");
		start = host && host < at ? host + 2 : start;
		if (memchr(start, ':', (size_t)(at - start))) {
			memset(start, '*', (size_t)(at - start));
		}
	}
}

/* Shows a line: the fault is at byte @before of it. A long line is shown from a little before the
 * fault, whole characters only. */
static void
put_excerpt(struct ws_err *err, unsigned number, const char *text, size_t before, size_t len)
{
	size_t n = strlen(text), skip = before > 60 ? before - 40 : 0;
	skip = whole(text, skip < n ? skip : n);
	size_t shown = whole(text + skip, n - skip > 100 ? 100 : n - skip);
	/* Tabs become single blanks so that the caret stands below what it means. */
	char line[104];
	for (size_t i = 0; i < shown; i++) {
		char c = text[skip + i];
		line[i] = (unsigned char)c < ' ' ? ' ' : c;
	}
	line[shown] = '\0';
	before = before - skip < shown ? before - skip : shown;
	unsigned width = ws_utf8_columns(line + before, len < shown - before ? len : shown - before);
	err->excerpt[0] = '\0';
	append(err->excerpt, sizeof(err->excerpt), "%5u | %s%s\n", number, skip ? "..." : "", line);
	append(err->excerpt, sizeof(err->excerpt), "      | %s%*s^", skip ? "   " : "",
		(int)ws_utf8_columns(line, before), "");
	for (unsigned i = 1; i < width; i++) {
		append(err->excerpt, sizeof(err->excerpt), "~");
	}
	append(err->excerpt, sizeof(err->excerpt), "\n");
}

bool
ws_err_at(struct ws_err *err, const char *file, const char *text, size_t offset, size_t len)
{
	if (!err) {
		return false;
	}
	unsigned number = 1, column = 1;
	size_t start = 0;
	for (size_t i = 0; i < offset && text[i]; i++) {
		number += text[i] == '\n';
		start = text[i] == '\n' ? i + 1 : start;
	}
	size_t end = start + strcspn(text + start, "\n"), before = offset - start;
	end -= end > start && text[end - 1] == '\r';
	WS_AUTO_FREE char *line = strndup(text + start, end - start);
	if (!line) {
		abort();
	}
	hide_logins(line);
	for (size_t i = 0; i < before; column++) {
		size_t step = ws_utf8_len(line + i, before - i);
		i += step ? step : 1;
	}
	err->place[0] = '\0';
	append(err->place, sizeof(err->place), "%s:%u:%u", file, number, column);
	put_excerpt(err, number, line, before, len);
	return false;
}

int
ws_err_exit_code(enum ws_err_kind kind)
{
	static const int codes[] = {
		[WS_ERR_NONE] = 0,
		[WS_ERR_NEGATIVE] = 1,
		[WS_ERR_USAGE] = 2,
		[WS_ERR_CONFIG] = 3,
		[WS_ERR_FETCH] = 4,
		[WS_ERR_BUILD] = 5,
		[WS_ERR_IO] = 5,
		[WS_ERR_VERIFY] = 6,
		[WS_ERR_UNKNOWN] = 7,
		[WS_ERR_PUBLISH] = 8,
		[WS_ERR_EXCLUDED] = 9,
		[WS_ERR_INTERNAL] = 70,
		[WS_ERR_STOPPED] = 75,
		[WS_ERR_INTERRUPTED] = 130,
	};
	return codes[kind];
}

enum ws_err_kind
ws_err_kind_of(int exit_code)
{
	enum ws_err_kind found = WS_ERR_INTERNAL;
	for (enum ws_err_kind kind = WS_ERR_NEGATIVE; kind <= WS_ERR_INTERRUPTED; kind++) {
		found = ws_err_exit_code(kind) == exit_code ? kind : found;
	}
	return found;
}

bool
ws_err_is_stop(const struct ws_err *err)
{
	return err->kind == WS_ERR_STOPPED || err->kind == WS_ERR_INTERRUPTED;
}

const char *
ws_err_print(const struct ws_err *err, char *text)
{
	text[0] = '\0';
	append(text, WS_ERR_PRINTED, "%s%serror: %s\n%s", err->place, err->place[0] ? ": " : "",
		err->text, err->excerpt);
	for (const char *line = err->cure; *line;) {
		size_t len = strcspn(line, "\n");
		append(text, WS_ERR_PRINTED, "       %.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
	for (size_t i = 0; i < err->cure_count; i++) {
		append(text, WS_ERR_PRINTED, "       (cure: %s%s%s)\n", ws_cure_words[err->cures[i].code],
			err->cures[i].subject[0] ? " " : "", err->cures[i].subject);
	}
	return text;
}
