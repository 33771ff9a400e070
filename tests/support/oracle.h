/**
 * oracle.h - reading tests/cases/<kind>/<file>.txt
 *
 * Lines of fields between tabs, as the oracle scripts beside this file write them; '#' starts a
 * comment. "\t", "\n", "\\" and "\xNN" stand for single characters.
 */
#ifndef WS_TESTS_SUPPORT_ORACLE_H
#define WS_TESTS_SUPPORT_ORACLE_H

#include "base/fs.h"

/** Most fields a line may have. */
#define ORACLE_FIELDS 8

struct oracle_line {
	unsigned number;                  /**< in its file, from 1 */
	const char *field[ORACLE_FIELDS]; /**< unescaped; NULL beyond the last */
};

static inline char *
oracle_unescape(struct ws_str text, struct ws_arena *a)
{
	char *out = ws_arena_alloc(a, text.n + 1);
	size_t len = 0;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.s[i];
		if (c == '\\' && i + 1 < text.n) {
			char escape = text.s[++i];
			c = escape == 't' ? '\t' : escape == 'n' ? '\n' : escape;
			if (escape == 'x' && i + 2 < text.n) {
				char digits[] = {text.s[i + 1], text.s[i + 2], '\0'};
				c = (char)strtol(digits, NULL, 16);
				i += 2;
			}
		}
		out[len++] = c;
	}
	return out;
}

/** Calls @a take for every line; returns how many there were. Each line has its own arena. */
static inline size_t
oracle_read(const char *path, void (*take)(const struct oracle_line *line, struct ws_arena *a))
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err;
	assert_ok(ws_fs_read(path, &b, &err), err);
	struct ws_str rest = ws_buf_str(&b);
	size_t count = 0;
	for (unsigned number = 1; rest.s; number++) {
		struct ws_str text = ws_str_cut(&rest, '\n');
		if (text.n == 0 || text.s[0] == '#') {
			continue;
		}
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		struct oracle_line line = {.number = number};
		for (size_t i = 0; i < ORACLE_FIELDS && text.s; i++) {
			line.field[i] = oracle_unescape(ws_str_cut(&text, '\t'), a);
		}
		take(&line, a);
		count++;
	}
	return count;
}

#endif
