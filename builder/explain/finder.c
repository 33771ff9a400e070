/* finder.c - a window moves over the text. A sign is looked for where it can begin with enough of
 * the text behind it to end; what is left is the beginning of the next window. */
#include "explain/finder.h"

#include <string.h>

#define WINDOW 131072
#define BEFORE 16384 /* stays for a capture that opens a pattern, and for the line it stands in */
#define AFTER 32768  /* the longest match: three captures and the text between them */
#define LINE_MOST 300

enum escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,   /* ESC */
	ESCAPE_CONTROL, /* ESC [, up to a letter */
	ESCAPE_STRING,  /* ESC ], up to BEL or ESC \ */
};

struct ws_finder {
	struct ws_arena *a;
	const struct ws_signs *signs;
	struct ws_found_sign *found; /* one for each sign; line 0: not yet */
	size_t len, from;            /* of the window: bytes, and where looking goes on */
	size_t lines, gone;          /* before the window: line breaks, bytes */
	enum escape escape;
	char window[WINDOW];
};

struct ws_finder *
ws_finder_open(const struct ws_signs *signs, struct ws_arena *a)
{
	struct ws_finder *f = WS_NEW(a, struct ws_finder);
	f->a = a;
	f->signs = signs;
	f->found = WS_NEW_N(a, struct ws_found_sign, signs->count);
	return f;
}

static size_t
count_lines(const char *text, size_t len)
{
	size_t count = 0;
	for (const char *end = text + len; (text = memchr(text, '\n', (size_t)(end - text))); text++) {
		count++;
	}
	return count;
}

/* The line in which the match stands: of a long one the part around it. */
static const char *
line_around(const struct ws_finder *f, const struct ws_match *match)
{
	size_t start = match->at, end = match->at;
	while (start > 0 && f->window[start - 1] != '\n' && match->at - start < LINE_MOST / 2) {
		start--;
	}
	while (end < f->len && f->window[end] != '\n' && end - start < LINE_MOST) {
		end++;
	}
	return ws_str_copy(ws_str_trim((struct ws_str){f->window + start, end - start}), f->a);
}

static void
add_found(struct ws_finder *f, size_t sign, const struct ws_match *match)
{
	struct ws_found_sign *found = &f->found[sign];
	found->sign = &f->signs->at[sign];
	found->line = f->lines + count_lines(f->window, match->at) + 1;
	found->at = f->gone + match->at;
	found->end = found->at + match->len;
	found->text = line_around(f, match);
	found->count = match->count;
	for (size_t i = 0; i < match->count; i++) {
		found->names[i] = ws_str_copy(match->captures[i].name, f->a);
		found->values[i] = ws_str_copy(match->captures[i].text, f->a);
	}
}

/* Looks in the window for what begins before @until. */
static void
search(struct ws_finder *f, size_t until)
{
	const struct ws_str text = {f->window, f->len};
	for (size_t i = 0; i < f->signs->count; i++) {
		const struct ws_sign *sign = &f->signs->at[i];
		struct ws_match match;
		for (size_t t = 0; t < sign->text_count && f->found[i].line == 0; t++) {
			if (ws_pattern_find(sign->texts[t], text, f->from, &match) && match.at < until) {
				add_found(f, i, &match);
			}
		}
	}
}

static void
move(struct ws_finder *f)
{
	size_t until = f->len - AFTER;
	search(f, until);
	size_t gone = until - BEFORE;
	f->lines += count_lines(f->window, gone);
	f->gone += gone;
	f->len -= gone;
	f->from = BEFORE;
	memmove(f->window, f->window + gone, f->len);
}

/* Passes over control sequences (ECMA-48); a text that is cut inside one loses its rest of the
 * line. */
static bool
is_escaped(struct ws_finder *f, char c)
{
	switch (f->escape) {
	case ESCAPE_NONE:
		f->escape = c == '\033' ? ESCAPE_BEGUN : ESCAPE_NONE;
		return c == '\033';
	case ESCAPE_BEGUN:
		f->escape = c == '[' ? ESCAPE_CONTROL : c == ']' ? ESCAPE_STRING : ESCAPE_NONE;
		return c != '\n';
	case ESCAPE_CONTROL:
		f->escape = (c >= '@' && c <= '~') || c == '\n' ? ESCAPE_NONE : ESCAPE_CONTROL;
		return c != '\n';
	case ESCAPE_STRING:
		f->escape = c == '\a' || c == '\n' ? ESCAPE_NONE
			: c == '\033'                  ? ESCAPE_BEGUN
										   : ESCAPE_STRING;
		return c != '\n';
	}
	return false;
}

void
ws_finder_add(struct ws_finder *f, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];
		if (is_escaped(f, c)) {
			continue;
		}
		bool is_control = (unsigned char)c < ' ' && c != '\n';
		f->window[f->len++] = is_control || c == 0x7f ? ' ' : c;
		if (f->len == WINDOW) {
			move(f);
		}
	}
}

/* A sign that stands in the words of one before it says less: "Python.h" and any header. */
static bool
is_said(const struct ws_found_sign *before, size_t count, const struct ws_found_sign *found)
{
	for (size_t i = 0; i < count; i++) {
		if (found->at < before[i].end && before[i].at < found->end) {
			return true;
		}
	}
	return false;
}

size_t
ws_finder_end(struct ws_finder *f, const struct ws_found_sign **found)
{
	size_t count = 0;
	search(f, f->len);
	for (size_t i = 0; i < f->signs->count; i++) {
		if (f->found[i].line > 0 && !is_said(f->found, count, &f->found[i])) {
			f->found[count++] = f->found[i];
		}
	}
	*found = f->found;
	return count;
}
