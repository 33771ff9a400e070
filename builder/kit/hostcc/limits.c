/* limits.c - reading crt/host_config.h. The file is not preprocessed: two conditions are found
 * by their shape, which is the same in the 17 toolkits from 11.7 to 13.5 (each was preprocessed for
 * gcc 4 to 21 and clang 2 to 27 and agreed). What looks like them and is not:
 *   - the comments behind #endif repeat the conditions;
 *   - __HORIZON__ has its own clang limit since 12.4, another one in 13.4 and 13.5;
 *   - __GRCO_CLANG_COMPILER__ has one written with '>' since 12.2. */
#include "base/text.h"
#include "kit/hostcc/hostcc.h"

#include <string.h>

#define LONGEST ((size_t)1 << 20)

/* Copies @a text without comments and with lines that end in a backslash joined. */
static void
simplify(const char *text, struct ws_buf *b)
{
	for (const char *at = text; *at;) {
		const char *end;
		if (strncmp(at, "/*", 2) == 0) {
			end = strstr(at + 2, "*/");
			at = end ? end + 2 : at + strlen(at);
			ws_buf_putc(b, ' ');
		} else if (strncmp(at, "//", 2) == 0) {
			at += strcspn(at, "\n");
		} else if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
			at += at[1] == '\r' ? 3 : 2;
		} else {
			ws_buf_putc(b, *at++);
		}
	}
}

static void
skip_blanks(struct ws_str *rest)
{
	while (rest->n > 0 && (rest->s[0] == ' ' || rest->s[0] == '\t')) {
		rest->s++;
		rest->n--;
	}
}

/* Takes @a token off the front of @a rest, blanks around it not counting. */
static bool
skip_token(struct ws_str *rest, const char *token)
{
	skip_blanks(rest);
	size_t len = strlen(token);
	if (rest->n < len || memcmp(rest->s, token, len) != 0) {
		return false;
	}
	*rest = (struct ws_str){rest->s + len, rest->n - len};
	skip_blanks(rest);
	return true;
}

/* Takes a major version off the front of @a rest. */
static bool
read_major(struct ws_str *rest, unsigned *major)
{
	size_t digits = 0;
	unsigned value = 0;
	while (digits < rest->n && digits < 4 && ws_is_digit(rest->s[digits])) {
		value = value * 10 + (unsigned)(rest->s[digits++] - '0');
	}
	if (digits == 0 || digits > 3) {
		return false;
	}
	*rest = (struct ws_str){rest->s + digits, rest->n - digits};
	*major = value;
	return true;
}

/* "__GNUC__ > 13" and nothing else. */
static bool
is_gcc_limit(struct ws_str condition, unsigned *max)
{
	return skip_token(&condition, "__GNUC__") && skip_token(&condition, ">")
		&& read_major(&condition, max) && ws_str_trim(condition).n == 0;
}

/* Somewhere in @a condition: "(__clang_major__ OPERATOR N)". */
static bool
has_clang_bound(struct ws_str condition, const char *operator, unsigned * bound)
{
	for (struct ws_str rest = condition; rest.n > 0; rest.s++, rest.n--) {
		struct ws_str at = rest;
		if (skip_token(&at, "(") && skip_token(&at, "__clang_major__") && skip_token(&at, operator)
			&& read_major(&at, bound) && skip_token(&at, ")")) {
			return true;
		}
	}
	return false;
}

/* "(__clang_major__ >= 18) || (__clang_major__ < 3) || ..." */
static bool
is_clang_limit(struct ws_str condition, struct ws_hostcc_limits *limits)
{
	unsigned over, min;
	if (!has_clang_bound(condition, ">=", &over) || !has_clang_bound(condition, "<", &min)
		|| over <= min) {
		return false;
	}
	limits->clang_min = min;
	limits->clang_max = over - 1;
	return true;
}

/* What was found so far, and the conditions that are open. */
struct reading {
	WS_VEC(struct ws_str) open;
	struct ws_hostcc_limits limits;
	unsigned gcc_seen, clang_seen; /* how many conditions had the shape */
};

static void
enter(struct reading *r, struct ws_str condition, struct ws_arena *a)
{
	struct ws_str around = r->open.len > 0 ? r->open.at[r->open.len - 1] : ws_str_of("");
	r->gcc_seen += is_gcc_limit(condition, &r->limits.gcc_max);
	if (skip_token(&around, "defined(__clang__)")) {
		r->clang_seen += is_clang_limit(condition, &r->limits);
	}
	*ws_vec_push(&r->open, a) = condition;
}

/* The letters at the front of @a rest. */
static struct ws_str
read_word(struct ws_str *rest)
{
	struct ws_str word = {rest->s, 0};
	while (word.n < rest->n && rest->s[word.n] >= 'a' && rest->s[word.n] <= 'z') {
		word.n++;
	}
	*rest = (struct ws_str){rest->s + word.n, rest->n - word.n};
	return word;
}

/* False when a line ends or turns a condition and none is open. */
static bool
read_line(struct reading *r, struct ws_str line, struct ws_arena *a)
{
	if (!skip_token(&line, "#")) {
		return true;
	}
	struct ws_str word = read_word(&line);
	if (ws_str_is(word, "if")) {
		enter(r, ws_str_trim(line), a);
	} else if (ws_str_is(word, "ifdef") || ws_str_is(word, "ifndef")) {
		*ws_vec_push(&r->open, a) = ws_str_of("");
	} else if (ws_str_is(word, "endif") || ws_str_is(word, "elif") || ws_str_is(word, "else")) {
		if (r->open.len == 0) {
			return false;
		}
		/* Behind #elif and #else the condition of the #if does not hold. */
		r->open.at[r->open.len - 1] = ws_str_of("");
		r->open.len -= ws_str_is(word, "endif");
	}
	return true;
}

bool
ws_hostcc_limits_parse(const char *text, struct ws_hostcc_limits *limits, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf plain = {0};
	struct reading r = {0};
	bool nested = strnlen(text, LONGEST + 1) <= LONGEST;
	if (nested) {
		simplify(text, &plain);
	}
	struct ws_str rest = ws_buf_str(&plain);
	while (rest.s && nested) {
		nested = read_line(&r, ws_str_cut(&rest, '\n'), a);
	}
	if (!nested || r.open.len > 0 || r.gcc_seen != 1 || r.clang_seen > 1) {
		ws_err_set(err, WS_ERR_BUILD,
			"this host_config.h has no known form: the compilers it allows are unknown");
		return ws_err_cure(err, "expected one '#if __GNUC__ > N', found %u", r.gcc_seen);
	}
	*limits = r.limits;
	return true;
}
