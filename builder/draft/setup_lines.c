/* setup_lines.c - a stack of open blocks. Names of other platforms are found as parts of words:
 * IS_HIP_EXTENSION, torch.version.hip, sys.platform == "win32". */
#include "draft/setup_lines.h"

#include "base/vec.h"

#include <string.h>
#include <strings.h>

/* True when a part of @a word, cut at '_' and '.', names a platform that is not ours. */
static bool
names_other_platform(const char *word)
{
	static const char *const others[] = {"hip", "rocm", "win32", "windows", "win", "nt", "darwin",
		"macos", "osx", "msvc", "xpu", "mps", "musa", "npu", "sycl"};
	while (*word) {
		size_t len = strcspn(word, "_.");
		for (size_t i = 0; i < WS_LEN(others); i++) {
			if (strlen(others[i]) == len && strncasecmp(word, others[i], len) == 0) {
				return true;
			}
		}
		word += len + (word[len] != '\0');
	}
	return false;
}

enum ws_setup_platform
ws_setup_condition(const struct ws_python_text *text, size_t from, size_t to)
{
	bool and_or_or = false, has_or = false, plain = false, denied = false;
	bool names = false, negated = false; /* of the part that stands between two and/or */
	for (size_t i = from; i <= to; i++) {
		bool ends = i == to || ws_python_is(text, i, "and") || ws_python_is(text, i, "or");
		if (ends) {
			plain = plain || (names && !negated);
			denied = denied || (names && negated);
			names = negated = false;
			and_or_or = and_or_or || i < to;
			has_or = has_or || (i < to && ws_python_is(text, i, "or"));
		} else if (ws_python_is(text, i, "not") || ws_python_is(text, i, "!=")) {
			negated = true;
		} else if (text->words[i].kind != WS_PYTHON_OP) {
			names = names || names_other_platform(text->words[i].text);
		}
	}
	if (plain) {
		return has_or ? WS_SETUP_ANY : WS_SETUP_OTHER;
	}
	return denied && !and_or_or ? WS_SETUP_OURS : WS_SETUP_ANY;
}

/* A block that is open at some line. */
struct block {
	unsigned indent; /* of the line that opened it */
	bool elsewhere;
	unsigned conditions;
};

/* The last `if` or `elif` at an indentation: what its `else` means. */
struct question {
	unsigned indent;
	enum ws_setup_platform platform;
};

struct reader {
	const struct ws_python_text *text;
	struct ws_arena *a;
	WS_VEC(struct ws_setup_line) lines;
	WS_VEC(struct block) blocks;
	WS_VEC(struct question) questions;
};

static enum ws_setup_platform
last_question(struct reader *r, unsigned indent)
{
	while (r->questions.len > 0 && r->questions.at[r->questions.len - 1].indent > indent) {
		r->questions.len--;
	}
	if (r->questions.len == 0 || r->questions.at[r->questions.len - 1].indent < indent) {
		return WS_SETUP_ANY;
	}
	return r->questions.at[--r->questions.len].platform;
}

/* Opens the block of a line that begins one. */
static void
open_block(struct reader *r, const struct ws_setup_line *line, unsigned indent)
{
	static const char *const loose[] = {"for", "while", "except"};
	const char *word = r->text->words[line->from].text;
	struct block block = {indent, line->elsewhere, line->conditions};
	bool elif = strcmp(word, "elif") == 0;
	enum ws_setup_platform before =
		elif || strcmp(word, "else") == 0 ? last_question(r, indent) : WS_SETUP_ANY;
	if (elif || strcmp(word, "if") == 0) {
		enum ws_setup_platform platform = ws_setup_condition(r->text, line->from + 1, line->to);
		block.elsewhere = block.elsewhere || platform == WS_SETUP_OTHER;
		block.conditions += platform == WS_SETUP_ANY;
		*ws_vec_push(&r->questions, r->a) = (struct question){indent, platform};
	} else if (strcmp(word, "else") == 0) {
		block.conditions += before == WS_SETUP_ANY;
	}
	block.elsewhere = block.elsewhere || before == WS_SETUP_OURS;
	for (size_t i = 0; i < WS_LEN(loose); i++) {
		block.conditions += strcmp(word, loose[i]) == 0;
	}
	*ws_vec_push(&r->blocks, r->a) = block;
}

static void
add_line(struct reader *r, size_t from, size_t to)
{
	struct ws_setup_line line = {.from = from, .to = to};
	unsigned indent = r->text->words[from].indent;
	while (r->blocks.len > 0 && r->blocks.at[r->blocks.len - 1].indent >= indent) {
		r->blocks.len--;
	}
	if (r->blocks.len > 0) {
		const struct block *block = &r->blocks.at[r->blocks.len - 1];
		line.elsewhere = block->elsewhere;
		line.conditions = block->conditions;
	}
	*ws_vec_push(&r->lines, r->a) = line;
	if (ws_python_is(r->text, to - 1, ":")) {
		open_block(r, &line, indent);
	}
}

struct ws_setup_lines
ws_setup_lines_read(const struct ws_python_text *text, struct ws_arena *a)
{
	struct reader r = {.text = text, .a = a};
	size_t from = 0;
	for (size_t i = 0; i < text->count; i++) {
		if (text->words[i].kind == WS_PYTHON_END) {
			if (i > from) {
				add_line(&r, from, i);
			}
			from = i + 1;
		}
	}
	return (struct ws_setup_lines){r.lines.at, r.lines.len};
}
