/* patch.c - making the change that a patch describes. Reading patches is patch_read.c's. */
#include "fetch/patch.h"

#include <stdarg.h>
#include <string.h>

bool
ws_patch_err(const struct ws_patch_file *patch, const struct ws_patch_change *change,
	struct ws_err *err, const char *format, ...)
{
	char text[400];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	ws_err_set(err, WS_ERR_CONFIG, "%s", text);
	return ws_err_at(
		err, patch->name, patch->text, change->offset, strcspn(patch->text + change->offset, "\n"));
}

/* Cuts the next line with its newline off @a rest. */
static struct ws_str
cut_line(struct ws_str *rest)
{
	const char *end = rest->n ? memchr(rest->s, '\n', rest->n) : NULL;
	size_t len = end ? (size_t)(end - rest->s) + 1 : rest->n;
	struct ws_str line = {rest->s, len};
	*rest = (struct ws_str){rest->s + len, rest->n - len};
	return line;
}

/* Where a change is being made. */
struct work {
	const struct ws_patch_file *patch;
	const struct ws_patch_change *change;
	size_t hunk;          /* from 0 */
	struct ws_str before; /* what of the file is left */
	uint64_t line;        /* number of its first line */
	struct ws_buf *after;
};

static bool
mismatch(const struct work *w, size_t offset, struct ws_str found, struct ws_err *err)
{
	if (found.n == 0) {
		ws_err_set(err, WS_ERR_CONFIG, "hunk %zu of '%s' does not match: the file ends at line %ju",
			w->hunk + 1, w->change->path, (uintmax_t)w->line - 1);
	} else {
		found = ws_str_trim(found);
		found.n = found.n > 100 ? 100 : found.n;
		ws_err_set(err, WS_ERR_CONFIG, "hunk %zu of '%s' does not match line %ju, which is '%.*s'",
			w->hunk + 1, w->change->path, (uintmax_t)w->line, WS_STR_ARGS(found));
	}
	ws_err_at(err, w->patch->name, w->patch->text, offset, strcspn(w->patch->text + offset, "\n"));
	return ws_err_cure(err, "make the patch again for this version of the sources");
}

/* One line of a hunk; @a ends: it stands without a newline at the end of the file. */
static bool
apply_line(struct work *w, struct ws_str line, bool ends, struct ws_err *err)
{
	char mark = line.n ? line.s[0] : ' ';
	struct ws_str text = {line.s + (line.n > 0), line.n - (line.n > 0)};
	if (mark != '+') {
		struct ws_str rest = w->before;
		struct ws_str found = cut_line(&rest);
		bool same = found.n == text.n + !ends && memcmp(found.s, text.s, text.n) == 0
			&& (ends || found.s[text.n] == '\n');
		if (!same) {
			return mismatch(w, (size_t)(line.s - w->patch->text), found, err);
		}
		w->before = rest;
		w->line++;
	}
	if (mark != '-') {
		ws_buf_add(w->after, text.s, text.n);
		if (!ends) {
			ws_buf_putc(w->after, '\n');
		}
	}
	return true;
}

static bool
apply_hunk(struct work *w, const struct ws_patch_hunk *hunk, struct ws_err *err)
{
	uint64_t first = hunk->from + (hunk->from_count == 0);
	for (; w->line < first; w->line++) {
		struct ws_str line = cut_line(&w->before);
		if (line.n == 0) {
			return mismatch(w, hunk->offset, line, err);
		}
		ws_buf_add(w->after, line.s, line.n);
	}
	struct ws_str rest = hunk->body;
	for (size_t i = 0; i < hunk->line_count; i++) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		bool ends = rest.s && rest.n > 0 && rest.s[0] == '\\';
		if (line.n > 0 && line.s[0] == '\\') {
			continue;
		}
		if (!apply_line(w, line, ends, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_patch_apply(const struct ws_patch_file *patch, const struct ws_patch_change *change,
	struct ws_str before, struct ws_buf *after, struct ws_err *err)
{
	struct work w = {patch, change, 0, before, 1, after};
	ws_buf_clear(after);
	for (; w.hunk < change->hunk_count; w.hunk++) {
		if (!apply_hunk(&w, &change->hunks[w.hunk], err)) {
			return false;
		}
	}
	ws_buf_add(after, w.before.s, w.before.n);
	if (change->kind == WS_PATCH_DELETES && after->len > 0) {
		return ws_patch_err(patch, change, err,
			"'%s' is deleted, but has lines that the patch does not", change->path);
	}
	return true;
}
