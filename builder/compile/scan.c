/* scan.c - one pass over a text. Lines are joined as gcc joins them: blanks may follow the
 * backslash. Constructions that compilers read differently, or only with some options, are odd:
 * trigraphs, a lone carriage return, an unterminated raw string. */
#include "compile/asks.h"

static const char trigraph[] = "a trigraph";
static const char raw_string[] = "a raw string that compilers read differently";

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\0';
}

static bool
is_word(char c)
{
	return ws_is_letter(c) || ws_is_digit(c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* A line end or continuation that only some compilers or options recognise; NULL: none. */
static const char *
odd_line_end(struct ws_str text)
{
	const char *end = text.s + text.n;
	for (const char *p = text.s; (p = memchr(p, '\r', (size_t)(end - p))); p++) {
		if (p + 1 == end || p[1] != '\n') {
			return "a carriage return alone";
		}
	}
	for (const char *p = text.s; (p = memmem(p, (size_t)(end - p),
									  "?"
									  "?/",
									  3));
		 p += 3) {
		size_t blanks = 3;
		while (p + blanks < end && (is_blank(p[blanks]) || p[blanks] == '\r')) {
			blanks++;
		}
		if (p + blanks < end && p[blanks] == '\n') {
			return trigraph;
		}
	}
	return NULL;
}

struct ws_scan
ws_scan_begin(struct ws_str text)
{
	static const char mark[] = "\xEF\xBB\xBF";
	struct ws_scan s = {.at = text.s, .end = text.s + text.n};
	if (text.n == 0) {
		return s;
	}
	s.odd = odd_line_end(text);
	if (text.n >= 3 && memcmp(text.s, mark, 3) == 0) {
		s.at += 3;
	}
	return s;
}

/* The next character after line continuations, which are a backslash, blanks and a newline; '\0' at
 * the end of the text. */
static char
peek(struct ws_scan *s)
{
	while (s->at < s->end && *s->at == '\\') {
		const char *p = s->at + 1;
		while (p < s->end && (is_blank(*p) || *p == '\r')) {
			p++;
		}
		if (p == s->end || *p != '\n') {
			break;
		}
		s->at = p + 1;
	}
	return s->at < s->end ? *s->at : '\0';
}

/* Skips one character; keeps it in the line of a directive. */
static void
advance(struct ws_scan *s, bool keep)
{
	if (keep) {
		ws_buf_putc(&s->line, *s->at);
	}
	s->at++;
}

static bool
at_end(struct ws_scan *s)
{
	return peek(s) == '\0' && s->at >= s->end;
}

static bool
at_newline(struct ws_scan *s)
{
	return at_end(s) || *s->at == '\n';
}

/* After a slash: skips a comment, which counts as a blank. False: not a comment. */
static bool
skip_comment(struct ws_scan *s)
{
	char kind = peek(s);
	if (kind == '/') {
		while (!at_newline(s)) {
			s->at++;
		}
		return true;
	}
	if (kind != '*') {
		return false;
	}
	s->at++;
	for (char before = '\0'; !at_end(s); s->at++) {
		char c = *s->at;
		if (before == '*' && c == '/') {
			s->at++;
			return true;
		}
		before = c;
	}
	return true;
}

/* After R": skips to )delimiter" without joining lines. False: this end is missing or, in a
 * directive (@a keep), on a later line. */
static bool
read_raw_string(struct ws_scan *s, bool keep)
{
	char close[20] = ")";
	size_t len = 1;
	const char *p = s->at;
	for (; p < s->end && *p != '(' && len <= 17; p++) {
		if (is_blank(*p) || strchr(")\\\"\n\r", *p)) {
			return false;
		}
		close[len++] = *p;
	}
	if (p == s->end || *p != '(' || len > 17) {
		return false;
	}
	close[len++] = '"';
	const char *end = memmem(p, (size_t)(s->end - p), close, len);
	if (!end || (keep && memchr(p, '\n', (size_t)(end - p)))) {
		return false;
	}
	end += len;
	if (keep) {
		ws_buf_add(&s->line, s->at, (size_t)(end - s->at));
	}
	s->at = end;
	return true;
}

/* Reads a word and, after a string prefix, the string. */
static void
read_word(struct ws_scan *s, bool keep)
{
	char word[4] = "";
	size_t len = 0;
	const char *begin = s->at;
	for (char c; is_word(c = peek(s)); advance(s, keep)) {
		if (len < sizeof(word)) {
			word[len] = c;
		}
		len++;
	}
	bool raw = len >= 1 && len <= 3 && word[len - 1] == 'R'
		&& (len == 1 || (len == 2 && strchr("LuU", word[0])) || memcmp(word, "u8", 2) == 0);
	if (!raw || peek(s) != '"') {
		return;
	}
	bool whole = (size_t)(s->at - begin) == len; /* the prefix is on one line */
	advance(s, keep);
	if (!whole || !read_raw_string(s, keep)) {
		s->odd = raw_string;
		s->at = s->end;
	}
}

/* Reads one token or blank, in a directive (@a keep) or between directives. */
static void
read_token(struct ws_scan *s, bool keep)
{
	char c = *s->at;
	if (c == '/') {
		s->at++;
		c = skip_comment(s) ? ' ' : c;
		s->in_line = s->in_line || c == '/';
		if (keep) {
			ws_buf_putc(&s->line, c);
		}
		return;
	}
	s->in_line = s->in_line || !(is_blank(c) || c == '\r');
	if (ws_is_digit(c)) {
		/* The quote in 1'000 does not start a character. */
		for (char before = '0'; is_word(c = peek(s)) || c == '.' || c == '\''
			 || ((c == '+' || c == '-') && strchr("eEpP", before));
			 before = c) {
			if (c == '\'' && s->at + 1 < s->end && !is_word(s->at[1])) {
				return;
			}
			advance(s, keep);
		}
	} else if (is_word(c)) {
		read_word(s, keep);
	} else {
		advance(s, keep);
		/* A string or character ends at the end of the line. */
		bool ends = c != '"' && c != '\'';
		while (!ends && !at_newline(s)) {
			char next = *s->at;
			advance(s, keep);
			ends = next == c;
			if (next == '\\' && !at_newline(s)) {
				advance(s, keep);
			}
		}
	}
}

static void
skip_blanks(struct ws_scan *s)
{
	for (;;) {
		char c = peek(s);
		if (s->at < s->end && is_blank(c)) {
			s->at++;
		} else if (c == '/') {
			const char *slash = s->at++;
			if (!skip_comment(s)) {
				s->at = slash;
				return;
			}
		} else {
			return;
		}
	}
}

/* After '#': reads the line. True if it concerns headers. */
static bool
read_directive(struct ws_scan *s, struct ws_directive *directive)
{
	static const struct {
		const char *word;
		enum ws_directive_kind kind;
	} known[] = {
		{"include", WS_DIRECTIVE_INCLUDE},
		{"import", WS_DIRECTIVE_INCLUDE},
		{"__include_macros", WS_DIRECTIVE_INCLUDE},
		{"include_next", WS_DIRECTIVE_INCLUDE_NEXT},
		{"if", WS_DIRECTIVE_CONDITION},
		{"elif", WS_DIRECTIVE_CONDITION},
		{"define", WS_DIRECTIVE_DEFINE},
		{"embed", WS_DIRECTIVE_ODD},
		{"pragma", WS_DIRECTIVE_ODD},
	};
	ws_buf_clear(&s->line);
	skip_blanks(s);
	while (is_word(peek(s)) && s->at < s->end) {
		advance(s, true);
	}
	size_t name = s->line.len, i = 0;
	while (i < WS_LEN(known) && !ws_str_is(ws_buf_str(&s->line), known[i].word)) {
		i++;
	}
	enum ws_directive_kind kind = i < WS_LEN(known) ? known[i].kind : WS_DIRECTIVE_ODD;
	if (kind == WS_DIRECTIVE_INCLUDE || kind == WS_DIRECTIVE_INCLUDE_NEXT) {
		/* "<a/b.h>" is one name, even if it looks like a comment inside. */
		skip_blanks(s);
		bool inside = peek(s) == '<';
		while (inside && !at_newline(s)) {
			inside = *s->at != '>';
			advance(s, true);
		}
	}
	while (!at_newline(s)) {
		read_token(s, true);
	}
	*directive = (struct ws_directive){kind, {ws_buf_text(&s->line) + name, s->line.len - name}};
	if (i == WS_LEN(known) || strcmp(known[i].word, "pragma") != 0) {
		return i < WS_LEN(known);
	}
	/* "GCC dependency" checks a file's time, "GCC pch_preprocess" reads a file. */
	struct ws_str rest = ws_str_trim(directive->text);
	bool gcc = ws_str_is(ws_str_cut(&rest, ' '), "GCC");
	const char *first = gcc && rest.s ? ws_str_trim(rest).s : "";
	return gcc && rest.s
		&& (strncmp(first, "dependency", 10) == 0 || strncmp(first, "pch_preprocess", 14) == 0);
}

/* True at a "#" or "%:" that starts a directive; skips it. */
static bool
skip_introducer(struct ws_scan *s, char c)
{
	const char *at = s->at;
	if (s->in_line || (c != '#' && c != '%')) {
		return false;
	}
	s->at++;
	if (c == '%' && peek(s) != ':') {
		s->at = at;
		return false;
	}
	s->at += c == '%';
	return true;
}

bool
ws_scan_next(struct ws_scan *s, struct ws_directive *directive)
{
	while (!s->odd && !at_end(s)) {
		char c = *s->at;
		if (c == '\n') {
			s->in_line = false;
			s->at++;
		} else if (skip_introducer(s, c)) {
			if (read_directive(s, directive)) {
				return true;
			}
		} else {
			if (c == '?' && !s->in_line && s->end - s->at > 2
				&& memcmp(s->at,
					   "?"
					   "?=",
					   3)
					== 0) {
				s->odd = trigraph;
			}
			read_token(s, false);
		}
	}
	if (!s->odd) {
		return false;
	}
	*directive = (struct ws_directive){WS_DIRECTIVE_ODD, ws_str_of(s->odd)};
	s->odd = NULL;
	return true;
}

bool
ws_scan_name(struct ws_str *text, struct ws_str *name, bool *angle)
{
	struct ws_str rest = *text;
	while (rest.n > 0 && (is_blank(rest.s[0]) || rest.s[0] == '\r')) {
		rest = (struct ws_str){rest.s + 1, rest.n - 1};
	}
	if (rest.n < 3 || (rest.s[0] != '<' && rest.s[0] != '"')) {
		return false;
	}
	*angle = rest.s[0] == '<';
	const char *end = memchr(rest.s + 1, *angle ? '>' : '"', rest.n - 1);
	if (!end || end == rest.s + 1) {
		return false;
	}
	*name = (struct ws_str){rest.s + 1, (size_t)(end - rest.s - 1)};
	*text = (struct ws_str){end + 1, rest.n - name->n - 2};
	return true;
}
