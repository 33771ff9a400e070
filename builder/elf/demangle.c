/* demangle.c - __cxa_demangle of libstdc++ (C++ ABI, section 3.4), then shortening of its text
 * with brackets matched. Text that does not match stays as it is. */
#include "elf/demangle.h"

#include "base/text.h"

#define LONGEST_NAME 8192
#define LONGEST_TEXT 65536
#define DEEPEST 100 /* nested template argument lists */

/* <cxxabi.h> is for C++ only. */
char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

/* An argument list that is open while the text is copied. */
struct list {
	size_t comma; /* place of the comma before its last argument in the output; 0: none */
	size_t outer; /* number of open ( [ { at its start */
	bool of_std;  /* a template of std:: */
};

struct shortening {
	struct ws_buf *out;
	struct list lists[DEEPEST];
	size_t depth; /* open lists */
	size_t round; /* open ( [ { */
};

const char *
ws_demangle(const char *name, struct ws_arena *a)
{
	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > LONGEST_NAME) {
		return ws_arena_strdup(a, name);
	}
	int status;
	WS_AUTO_FREE char *text = __cxa_demangle(name, NULL, NULL, &status);
	if (status != 0 || !text || strlen(text) > LONGEST_TEXT) {
		return ws_arena_strdup(a, name);
	}
	return ws_arena_strdup(a, text);
}

/* Does the template name that ends the output begin with "std::"? */
static bool
ends_in_std_name(const struct ws_buf *out)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";
	size_t start = out->len;
	while (start > 0 && strchr(word, out->data[start - 1])) {
		start--;
	}
	return out->len - start > 5 && memcmp(out->data + start, "std::", 5) == 0;
}

/* "std::basic_string<char>" at the end becomes "std::string"; also streams and views. */
static void
shorten_basic(struct ws_buf *out)
{
	static const char argument[] = "<char>";
	if (!ws_ends_with(out->data, argument)) {
		return;
	}
	size_t end = out->len - strlen(argument);
	size_t start = end;
	while (start > 0 && out->data[start - 1] != ':' && out->data[start - 1] != ' ') {
		start--;
	}
	static const char basic[] = "basic_";
	if (start < 2 || !ws_starts_with(out->data + start, basic)) {
		return;
	}
	size_t kept = end - start - strlen(basic);
	memmove(out->data + start, out->data + start + strlen(basic), kept);
	ws_buf_cut(out, start + kept);
}

/* Removes a complete argument that is only a default. */
static void
end_argument(struct shortening *s, const struct list *list)
{
	static const char *const defaults[] = {"std::allocator<", "std::char_traits<", "std::less<",
		"std::hash<", "std::equal_to<", "std::default_delete<"};
	for (size_t i = 0; i < WS_LEN(defaults) && list->comma && list->of_std; i++) {
		if (ws_starts_with(s->out->data + list->comma + 2, defaults[i])) {
			ws_buf_cut(s->out, list->comma);
			return;
		}
	}
}

/* Copies one character and counts brackets. False when they do not match. */
static bool
step(struct shortening *s, char c)
{
	struct list *list = s->depth ? &s->lists[s->depth - 1] : NULL;
	bool top = list && list->outer == s->round;
	if (c == '<') {
		if (s->depth == DEEPEST) {
			return false;
		}
		s->lists[s->depth++] = (struct list){.outer = s->round, .of_std = ends_in_std_name(s->out)};
	} else if (c == '>' && !ws_ends_with(ws_buf_text(s->out), "-")) {
		if (!top) {
			return false;
		}
		s->depth--;
		end_argument(s, list);
		if (ws_ends_with(s->out->data, " ")) { /* "> >" */
			ws_buf_cut(s->out, s->out->len - 1);
		}
		ws_buf_putc(s->out, '>');
		shorten_basic(s->out);
		return true;
	} else if (c == ',' && top) {
		end_argument(s, list);
		list->comma = s->out->len;
	} else if (strchr("([{", c)) {
		s->round++;
	} else if (strchr(")]}", c)) {
		if (top || s->round == 0) {
			return false;
		}
		s->round--;
	}
	ws_buf_putc(s->out, c);
	return true;
}

const char *
ws_demangle_short(const char *name, struct ws_arena *a)
{
	const char *text = ws_demangle(name, a);
	WS_AUTO_BUF struct ws_buf out = {0};
	struct shortening s = {.out = &out};
	static const char word[] = "operator";
	for (const char *at = text; *at; at++) {
		if (ws_starts_with(at, word)) {
			size_t len = strlen(word) + strspn(at + strlen(word), "<>=-");
			ws_buf_add(&out, at, len);
			at += len - 1;
		} else if (!step(&s, *at)) {
			return text;
		}
	}
	return s.depth == 0 && out.len > 0 ? ws_buf_copy(&out, a) : text;
}
