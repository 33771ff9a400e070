/* cmd_explain.c - wheelsmith explain: reads the text of an error, prints its meaning. The text is
 * untrusted: files that it names are not run, and this process limits itself before reading. */
#include "base/fs.h"
#include "cli/session.h"
#include "explain/explain.h"
#include "report/page.h"

#include <errno.h>
#include <fcntl.h>

/* Measured: a log of 100 MB takes 2.0 s and 15 MB, a symbol of all torch releases 0.1 s and 22
 * MB. */
static const struct ws_limits reader = {.memory_bytes = (uint64_t)512 << 20, .cpu_s = 60};

struct explaining {
	struct ws_session *s;
	struct ws_signs signs;
	struct ws_recipe_catalog catalog;
	struct ws_explaining with;
	const struct ws_found_sign *found;
	struct ws_explanation *explanations;
	size_t count;
};

static bool
parse(struct ws_session *s, int argc, const char *const *argv, ws_words *words, struct ws_err *err)
{
	struct ws_usage usage = {
		.command = "explain",
		.synopsis = "[TEXT|FILE|-]",
		.summary = "Explains errors of installing or importing CUDA extensions, and how to solve\n"
				   "them. Reads TEXT, a log FILE, or standard input. Exits 1 for unknown errors.",
		.most = 1,
	};
	return ws_command_options(s, &usage, argc, argv, words, err);
}

static bool
read_stream(int fd, const char *name, struct ws_finder *finder, struct ws_err *err)
{
	char bytes[16384];
	ssize_t got;
	while ((got = read(fd, bytes, sizeof(bytes))) != 0) {
		if (got < 0 && errno != EINTR) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", name);
		}
		if (got > 0) {
			ws_finder_add(finder, bytes, (size_t)got);
		}
	}
	return true;
}

/* A word that is the name of a file is read as that file. */
static bool
read_text(struct ws_session *s, const ws_words *words, struct ws_finder *finder, struct ws_err *err)
{
	const char *word = words->len > 0 ? words->at[0] : "-";
	if (strcmp(word, "-") == 0) {
		if (isatty(STDIN_FILENO)) {
			ws_out_note(&s->out, "paste the error, then press Ctrl-D\n");
		}
		return read_stream(STDIN_FILENO, "standard input", finder, err);
	}
	if (strchr(word, '\n') || !ws_fs_exists(word)) {
		bool is_path = !strpbrk(word, " \n:") && strpbrk(word, "./");
		if (is_path) {
			ws_out_note(&s->out, "there is no file '%s': the word itself is explained\n", word);
		}
		ws_finder_add(finder, word, strlen(word));
		return true;
	}
	WS_AUTO_FD int fd = ws_fs_open_regular(word, 0, NULL, err);
	return fd >= 0 && read_stream(fd, word, finder, err);
}

static bool
open_means(struct explaining *x, struct ws_err *err)
{
	struct ws_session *s = x->s;
	if (!ws_session_open_facts(s, err) || !ws_signs_read(s->data.facts, s->a, &x->signs, err)
		|| !ws_session_list_recipes(s, NULL, &x->catalog, err)) {
		return false;
	}
	x->with = (struct ws_explaining){
		.facts = &s->facts,
		.exports = ws_path_join(s->a, s->data.facts, "exports", NULL),
		.catalog = &x->catalog,
		.recipes = s->globals.recipes,
	};
	return true;
}

static bool
explain(struct explaining *x, struct ws_err *err)
{
	x->explanations = WS_NEW_N(x->s->a, struct ws_explanation, x->count);
	for (size_t i = 0; i < x->count; i++) {
		if (!ws_explain(&x->with, &x->found[i], x->s->a, &x->explanations[i], err)) {
			return false;
		}
	}
	return true;
}

/* ---- what is printed ---- */

static void
print_one(struct ws_page *page, const struct ws_explanation *e, bool first)
{
	ws_page_label(page, first ? "cause" : "also");
	ws_page_line(page, WS_PAGE_PLAIN, "%s", e->cause);
	for (size_t i = 0; i < e->evidence_count; i++) {
		ws_page_line(page, WS_PAGE_MORE, "%s", e->evidence[i]);
	}
	ws_page_label(page, "found");
	ws_page_line(page, WS_PAGE_PLAIN, "line %zu:  %s", e->found->line, e->found->text);
	ws_page_label(page, "cure");
	for (size_t i = 0; i < e->cure_count; i++) {
		ws_page_line(page, WS_PAGE_PLAIN, "%s", e->cures[i]);
	}
	if (e->found->sign->from) {
		ws_page_label(page, "reported");
		ws_page_line(page, WS_PAGE_PLAIN, "%s", e->found->sign->from);
	}
}

static void
print_page(const struct explaining *x)
{
	struct ws_page page = ws_page_begin(&x->s->out, 0);
	for (size_t i = 0; i < x->count; i++) {
		ws_out_result(&x->s->out, "%s", i > 0 ? "\n" : "");
		print_one(&page, &x->explanations[i], i == 0);
	}
	if (x->count == 0) {
		ws_out_result(&x->s->out, "this text has no known error\n");
	}
}

struct capture {
	const char *name, *value;
};

/* An explanation as --json prints it. */
struct row {
	const char *sign, *cause, *text, *reported;
	const char *const *evidence, *const *cures;
	size_t evidence_count, cure_count, capture_count;
	uint64_t line;
	const struct capture *captures;
};

struct result {
	const char *version;
	struct row *rows;
	size_t count;
};

static const struct ws_field capture_fields[] = {
	WS_VALUE("name", struct capture, name, WS_ALWAYS, NULL),
	WS_VALUE("value", struct capture, value, WS_ALWAYS, NULL),
};
static const struct ws_table capture_table = {NULL, capture_fields, WS_LEN(capture_fields)};

static const struct ws_field row_fields[] = {
	WS_VALUE("sign", struct row, sign, WS_ALWAYS, "its name in matrix/facts/signs.json"),
	WS_VALUE("cause", struct row, cause, WS_ALWAYS, NULL),
	WS_LIST(
		"evidence", struct row, evidence, evidence_count, WS_ALWAYS, "the reasons, a line each"),
	WS_LIST("cures", struct row, cures, cure_count, WS_ALWAYS, "steps that help, a line each"),
	WS_VALUE("line", struct row, line, WS_ALWAYS, "number of the line with the sign, from 1"),
	WS_VALUE("text", struct row, text, WS_ALWAYS, "that line, or the part around the sign"),
	WS_MAP("captures", struct row, captures, capture_count, capture_table, WS_ALWAYS,
		"captures of the sign's pattern, by name"),
	WS_VALUE(
		"reported", struct row, reported, WS_OR_NULL, "a thread about it: OWNER/REPOSITORY#NUMBER"),
};
static const struct ws_table row_table = {"explanation", row_fields, WS_LEN(row_fields)};

static const struct ws_field result_fields[] = {
	WS_FIXED("schema", "wheelsmith.explain/1"),
	WS_VALUE("wheelsmith", struct result, version, WS_ALWAYS, "version of the program"),
	WS_LIST_OF("explanations", struct result, rows, count, row_table, WS_ALWAYS,
		"the most causal first; empty: the text has no known error"),
};
const struct ws_table ws_explain_result_table = {NULL, result_fields, WS_LEN(result_fields)};

static struct row
make_row(const struct ws_explanation *e, struct ws_arena *a)
{
	struct capture *captures = WS_NEW_N(a, struct capture, e->found->count + 1);
	for (size_t i = 0; i < e->found->count; i++) {
		captures[i] = (struct capture){e->found->names[i], e->found->values[i]};
	}
	return (struct row){
		.sign = e->found->sign->name,
		.cause = e->cause,
		.text = e->found->text,
		.reported = e->found->sign->from,
		.evidence = e->evidence,
		.cures = e->cures,
		.evidence_count = e->evidence_count,
		.cure_count = e->cure_count,
		.line = e->found->line,
		.captures = captures,
		.capture_count = e->found->count,
	};
}

static void
print_json(const struct explaining *x)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct row *rows = WS_NEW_N(x->s->a, struct row, x->count + 1);
	for (size_t i = 0; i < x->count; i++) {
		rows[i] = make_row(&x->explanations[i], x->s->a);
	}
	struct result result = {WS_VERSION, rows, x->count};
	ws_table_text(&ws_explain_result_table, &result, WS_JSON_PRETTY, &text);
	ws_out_result(&x->s->out, "%s", ws_buf_text(&text));
}

bool
ws_cmd_explain(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct explaining x = {.s = s};
	ws_words words = {0};
	if (!parse(s, argc, argv, &words, err)) {
		return err->kind == WS_ERR_NONE;
	}
	if (!open_means(&x, err)) {
		return false;
	}
	ws_limit(0, &reader);
	struct ws_finder *finder = ws_finder_open(&x.signs, s->a);
	if (!read_text(s, &words, finder, err)) {
		return false;
	}
	x.count = ws_finder_end(finder, &x.found);
	if (!explain(&x, err)) {
		return false;
	}
	if (s->globals.json) {
		print_json(&x);
	} else {
		print_page(&x);
	}
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return x.count > 0;
}
