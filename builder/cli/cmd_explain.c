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
read_text(struct ws_session *s, struct ws_finder *finder, struct ws_err *err)
{
	const char *word = s->words.len > 0 ? s->words.at[0] : "-";
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

static void
print_page(const struct ws_out *out, const struct ws_explanation *e, size_t count)
{
	struct ws_page page = ws_page_begin(out);
	for (size_t i = 0; i < count; i++, e++) {
		ws_out_result(out, "%s", i > 0 ? "\n" : "");
		ws_page_row(&page, i == 0 ? "cause" : "also", "%s", e->cause);
		for (size_t k = 0; k < e->evidence_count; k++) {
			ws_page_line(&page, WS_PAGE_MORE, "%s", e->evidence[k]);
		}
		ws_page_row(&page, "found", "line %zu:  %s", e->found.line, e->found.text);
		ws_page_label(&page, "cure");
		for (size_t k = 0; k < e->cure_count; k++) {
			ws_page_line(&page, WS_PAGE_PLAIN, "%s", e->cures[k]);
		}
		if (e->reported) {
			ws_page_row(&page, "reported", "%s", e->reported);
		}
	}
	if (count == 0) {
		ws_out_result(out, "this text has no known error\n");
	}
}

struct result {
	const char *version;
	struct ws_explanation *explanations;
	size_t count;
};

static const struct ws_field capture_fields[] = {
	WS_VALUE("name", struct ws_capture, name, WS_ALWAYS, NULL),
	WS_VALUE("value", struct ws_capture, value, WS_ALWAYS, NULL),
};
static const struct ws_table capture_table = {NULL, capture_fields, WS_LEN(capture_fields)};

#define ROW struct ws_explanation
static const struct ws_field row_fields[] = {
	WS_VALUE("sign", ROW, sign, WS_ALWAYS, "its name in matrix/facts/signs.json"),
	WS_VALUE("cause", ROW, cause, WS_ALWAYS, NULL),
	WS_LIST("evidence", ROW, evidence, evidence_count, WS_ALWAYS, "the reasons, a line each"),
	WS_LIST("cures", ROW, cures, cure_count, WS_ALWAYS, "steps that help, a line each"),
	WS_VALUE("line", ROW, found.line, WS_ALWAYS, "number of the line with the sign, from 1"),
	WS_VALUE("text", ROW, found.text, WS_ALWAYS, "that line, or the part around the sign"),
	WS_MAP("captures", ROW, found.captures, found.count, capture_table, WS_ALWAYS,
		"captures of the sign's pattern, by name"),
	WS_VALUE("reported", ROW, reported, WS_OR_NULL, "a thread about it: OWNER/REPOSITORY#NUMBER"),
};
static const struct ws_table row_table = {"explanation", row_fields, WS_LEN(row_fields)};

static const struct ws_field result_fields[] = {
	WS_FIXED("schema", "wheelsmith.explain/1"),
	WS_VALUE("wheelsmith", struct result, version, WS_ALWAYS, "version of the program"),
	WS_LIST_OF("explanations", struct result, explanations, count, row_table, WS_ALWAYS,
		"the most causal first; empty: the text has no known error"),
};
const struct ws_table ws_explain_result_table = {NULL, result_fields, WS_LEN(result_fields)};

bool
ws_cmd_explain(struct ws_session *s, struct ws_err *err)
{
	struct ws_signs signs;
	struct ws_recipe_catalog catalog;
	struct result result = {.version = WS_VERSION};
	const struct ws_found_sign *found;
	struct ws_usage usage = {
		.command = "explain",
		.synopsis = "[TEXT|FILE|-]",
		.summary = "Explains errors of installing or importing CUDA extensions, and how to solve\n"
				   "them. Reads TEXT, a log FILE, or standard input. Exits 1 for unknown errors.",
		.most = 1,
	};
	if (!ws_command_options(s, &usage, err) || !ws_session_open_facts(s, err)
		|| !ws_signs_read(s->data.facts, s->a, &signs, err)
		|| !ws_session_list_recipes(s, &catalog, err)) {
		return false;
	}
	const struct ws_explaining with = {
		.facts = &s->facts,
		.exports = ws_path_join(s->a, s->data.facts, "exports", NULL),
		.catalog = &catalog,
		.recipes = s->globals.recipes,
	};
	ws_limit(0, &reader);
	struct ws_finder *finder = ws_finder_open(&signs, s->a);
	if (!read_text(s, finder, err)) {
		return false;
	}
	result.count = ws_finder_end(finder, &found);
	result.explanations = WS_NEW_N(s->a, struct ws_explanation, result.count);
	for (size_t i = 0; i < result.count; i++) {
		if (!ws_explain(&with, &found[i], s->a, &result.explanations[i], err)) {
			return false;
		}
	}
	if (s->globals.json) {
		ws_session_print_json(s, &ws_explain_result_table, &result);
	} else {
		print_page(&s->out, result.explanations, result.count);
	}
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return result.count > 0;
}
