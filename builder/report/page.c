/* page.c - breaking lines. Everything that is printed is one column wide. */
#include "report/page.h"

#include "base/text.h"

#include <sys/ioctl.h>

#define INDENT 14 /* where text begins: label, mark, a blank */
#define DEEPER 2  /* more for the rest of a broken line */

struct ws_page
ws_page_begin(const struct ws_out *out)
{
	struct winsize size;
	unsigned width = out->columns;
	int fd = width ? -1 : fileno(out->out);
	if (!width) {
		width = fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
	}
	width = width < 40 ? 40 : width > 120 ? 120 : width;
	return (struct ws_page){.out = out, .width = width, .label = ""};
}

void
ws_page_label(struct ws_page *page, const char *label)
{
	page->label = label;
}

/* Where to break @a text so that at most @a room columns stand before: at the last two blanks, else
 * at the last one, else behind the word that is too long. */
static size_t
find_break(struct ws_str text, unsigned room)
{
	size_t most = 0; /* bytes of the first characters */
	for (unsigned i = 0; i < room && most < text.n; i++) {
		size_t len = ws_utf8_len(text.s + most, text.n - most);
		most += len ? len : 1;
	}
	if (most == text.n) {
		return text.n;
	}
	size_t one = 0, two = 0;
	for (size_t i = 1; i <= most; i++) {
		if (text.s[i] == ' ' && text.s[i - 1] != ' ') {
			one = i;
			two = i + 1 < text.n && text.s[i + 1] == ' ' ? i : two;
		}
	}
	if (two >= most / 3 && two > 0) {
		return two;
	}
	for (size_t i = most; one == 0 && i <= text.n; i++) {
		one = i == text.n || text.s[i] == ' ' ? i : 0;
	}
	return one;
}

WS_PRINTF(3, 0)
static void
print_line(struct ws_page *page, enum ws_page_mark mark, const char *format, va_list values)
{
	static const char *const marks[] = {"", "!", "x", ""};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *plain = ws_arena_vprintf(a, format, values);
	ws_utf8_make_plain(plain, false);
	struct ws_str rest = ws_str_of(plain);
	const char *sign = marks[mark];
	unsigned indent = INDENT + (mark == WS_PAGE_MORE ? DEEPER : 0), further = indent + DEEPER;
	do {
		size_t len = find_break(rest, page->width - indent);
		struct ws_str part = {rest.s, len};
		while (part.n > 0 && part.s[part.n - 1] == ' ') {
			part.n--;
		}
		ws_out_result(page->out, "%-*s%-*s%.*s\n", INDENT - 2, page->label,
			(int)(indent - (INDENT - 2)), sign, WS_STR_ARGS(part));
		page->label = "";
		rest = (struct ws_str){rest.s + len, rest.n - len};
		while (rest.n > 0 && rest.s[0] == ' ') {
			rest.s++;
			rest.n--;
		}
		sign = "";
		indent = further;
	} while (rest.n > 0);
}

void
ws_page_line(struct ws_page *page, enum ws_page_mark mark, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	print_line(page, mark, format, values);
	va_end(values);
}

void
ws_page_row(struct ws_page *page, const char *label, const char *format, ...)
{
	va_list values;
	page->label = label;
	va_start(values, format);
	print_line(page, WS_PAGE_PLAIN, format, values);
	va_end(values);
}
