/* test_report_page.c - labelled lines at several widths. */
#include "test.h"

#include "report/page.h"

struct paper {
	FILE *file;
	char *text;
	size_t len;
	struct ws_out out;
};

static struct ws_page
open_page(struct paper *p, unsigned width)
{
	*p = (struct paper){0};
	p->file = open_memstream(&p->text, &p->len);
	p->out = (struct ws_out){.out = p->file, .err = p->file, .columns = width};
	return ws_page_begin(&p->out);
}

static void
assert_paper(struct paper *p, const char *expected)
{
	fclose(p->file);
	assert_string_equal(p->text, expected);
	free(p->text);
}

WS_TEST(labels_marks_and_more)
{
	struct paper p;
	struct ws_page page = open_page(&p, 80);
	ws_page_label(&page, "store");
	ws_page_line(&page, WS_PAGE_PLAIN, "/home/%s", "x");
	ws_page_line(&page, WS_PAGE_ADVICE, "it is small");
	ws_page_line(&page, WS_PAGE_MORE, "make it larger");
	ws_page_label(&page, "compilers");
	ws_page_line(&page, WS_PAGE_WRONG, "none");
	assert_paper(&p,
		"store         /home/x\n"
		"            ! it is small\n"
		"                make it larger\n"
		"compilers   x none\n");
}

WS_TEST(long_lines_are_broken_at_blanks)
{
	struct paper p;
	struct ws_page page = open_page(&p, 40);
	ws_page_label(&page, "host");
	ws_page_line(&page, WS_PAGE_ADVICE, "one two three four five six seven eight");
	ws_page_line(&page, WS_PAGE_PLAIN, "/a/path/that/is/much/too/long/for/any/line and more");
	ws_page_line(&page, WS_PAGE_PLAIN, "install it:  apt-get install a b");
	ws_page_line(&page, WS_PAGE_MORE, "one two three four five six");
	ws_page_line(&page, WS_PAGE_PLAIN, "12345678901234567890123456");
	ws_page_line(&page, WS_PAGE_PLAIN, "1234567890 12345678901234 6");
	assert_paper(&p,
		"host        ! one two three four five\n"
		"                six seven eight\n"
		"              /a/path/that/is/much/too/long/for/any/line\n"
		"                and more\n"
		"              install it:\n"
		"                apt-get install a b\n"
		"                one two three four five\n"
		"                  six\n"
		"              12345678901234567890123456\n"
		"              1234567890 12345678901234\n"
		"                6\n");
}

WS_TEST(characters_are_counted_and_made_harmless)
{
	struct paper p;
	struct ws_page page = open_page(&p, 40);
	ws_page_line(&page, WS_PAGE_PLAIN, "ääääääääää ääääääääää äääää xx");
	ws_page_line(&page, WS_PAGE_PLAIN,
		"a\033[2J\n\tb\xff\xc2\x9b"
		"c");
	ws_page_line(&page, WS_PAGE_PLAIN, "%s", "");
	assert_paper(&p,
		"              ääääääääää ääääääääää\n"
		"                äääää xx\n"
		"              a?[2J??b??c\n"
		"              \n");
}

WS_TEST(widths_are_reasonable)
{
	static const unsigned widths[][2] = {{10, 40}, {1000, 120}, {66, 66}, {0, 80}};
	for (size_t i = 0; i < WS_LEN(widths); i++) {
		struct paper p;
		assert_int_equal(open_page(&p, widths[i][0]).width, widths[i][1]);
		fclose(p.file);
		free(p.text);
	}
}
