/* patch.c - making the change that a patch describes. Reading patches is patch_read.c's. */
#include "fetch/patch.h"

#include "base/fs.h"

/* A patch being read. */
struct reader {
	struct ws_patch_file *patch;
	size_t len; /* of its text */
	struct ws_arena *a;
	struct ws_str rest;
	struct ws_str line; /* the current one, without its newline; s is NULL at the end */
	WS_VEC(struct ws_patch_change) changes;
	WS_VEC(struct ws_patch_hunk) hunks; /* of the current change */
};

bool
ws_patch_err(
	const struct ws_patch_file *patch, size_t offset, struct ws_err *err, const char *format, ...)
{
	char text[1000];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	ws_err_set(err, WS_ERR_CONFIG, "%s", text);
	return ws_err_at(err, patch->name, patch->text, offset, strcspn(patch->text + offset, "\n"));
}

static size_t
offset_of(const struct reader *r)
{
	return r->line.s ? (size_t)(r->line.s - r->patch->text) : r->len;
}

static void
next(struct reader *r)
{
	r->line = (struct ws_str){0};
	if (r->rest.s && r->rest.n > 0) {
		r->line = ws_str_cut(&r->rest, '\n');
	}
}

static bool
line_starts(const struct reader *r, const char *prefix)
{
	size_t len = strlen(prefix);
	return r->line.s && r->line.n >= len && memcmp(r->line.s, prefix, len) == 0;
}

/* "--- a/path<tab>date": the path without its side; NULL path for /dev/null. */
static bool
read_path(struct reader *r, const char *side, const char **path, struct ws_err *err)
{
	struct ws_str text = {r->line.s + 4, r->line.n - 4};
	const char *tab = memchr(text.s, '\t', text.n);
	text.n = tab ? (size_t)(tab - text.s) : text.n;
	*path = NULL;
	if (ws_str_is(text, "/dev/null")) {
		return true;
	}
	if (text.n < 3 || memcmp(text.s, side, 2) != 0) {
		return ws_patch_err(r->patch, offset_of(r), err, "the path '%.*s' does not start with '%s'",
			WS_STR_ARGS(text), side);
	}
	*path = ws_str_copy((struct ws_str){text.s + 2, text.n - 2}, r->a);
	return ws_path_is_inside(*path)
		|| ws_patch_err(r->patch, offset_of(r), err,
			"the path '%s' leaves the source folder or is not plain", *path);
}

/* A number, and ",count" if there; count 1 else. */
static bool
read_range(struct ws_str *text, char sign, uint64_t *line, uint64_t *count)
{
	if (text->n == 0 || text->s[0] != sign) {
		return false;
	}
	text->s++;
	text->n--;
	struct ws_str range = ws_str_cut(text, ' ');
	struct ws_str number = ws_str_cut(&range, ',');
	*count = 1;
	return text->s && ws_str_to_u64(number, line) && (!range.s || ws_str_to_u64(range, count))
		&& *line < SIZE_MAX / 4 && *count < SIZE_MAX / 4;
}

/* The lines of a hunk, by its counts. */
static bool
read_body(struct reader *r, const char *path, struct ws_patch_hunk *hunk, uint64_t to_count,
	struct ws_err *err)
{
	uint64_t from_left = hunk->from_count;
	const char *start = r->rest.s;
	for (next(r);; next(r)) {
		/* Some editors take the blank off an empty line. */
		char mark = r->line.s ? (r->line.n ? r->line.s[0] : ' ') : '\0';
		if (mark == '\\' && hunk->line_count > 0) {
			hunk->line_count++;
			continue;
		}
		if (from_left == 0 && to_count == 0) {
			break;
		}
		bool takes = mark == ' ' || mark == '-', gives = mark == ' ' || mark == '+';
		if ((!takes && !gives) || (takes && from_left == 0) || (gives && to_count == 0)) {
			return ws_patch_err(r->patch, offset_of(r), err,
				"hunk %zu of '%s' has other lines than its '@@' line counts", r->hunks.len, path);
		}
		from_left -= takes;
		to_count -= gives;
		hunk->line_count++;
	}
	size_t end = offset_of(r);
	hunk->body = (struct ws_str){start, (size_t)(r->patch->text + end - start)};
	/* "-- " is how git ends a mail. */
	bool goes_on = line_starts(r, "+") || line_starts(r, " ")
		|| (line_starts(r, "-") && !line_starts(r, "-- ") && !line_starts(r, "--- "));
	return !goes_on
		|| ws_patch_err(r->patch, offset_of(r), err,
			"hunk %zu of '%s' has more lines than its '@@' line counts", r->hunks.len, path);
}

static bool
read_hunks(struct reader *r, const char *path, struct ws_err *err)
{
	uint64_t last = 0;
	while (line_starts(r, "@@ ")) {
		struct ws_str text = {r->line.s + 3, r->line.n - 3};
		uint64_t to, to_count;
		struct ws_patch_hunk *hunk = ws_vec_push(&r->hunks, r->a);
		hunk->offset = offset_of(r);
		if (!read_range(&text, '-', &hunk->from, &hunk->from_count)
			|| !read_range(&text, '+', &to, &to_count)
			|| !(text.n >= 2 && memcmp(text.s, "@@", 2) == 0)) {
			return ws_patch_err(
				r->patch, offset_of(r), err, "this is not a '@@ -line,count +line,count @@'");
		}
		uint64_t first = hunk->from + (hunk->from_count == 0);
		if (first <= last || hunk->from_count + to_count == 0) {
			return ws_patch_err(r->patch, offset_of(r), err,
				"hunk %zu of '%s' is empty or not behind the one before it", r->hunks.len, path);
		}
		last = first + hunk->from_count - 1;
		if (!read_body(r, path, hunk, to_count, err)) {
			return false;
		}
	}
	return true;
}

/* "--- a/x", "+++ b/x" and the hunks. */
static bool
read_files(struct reader *r, struct ws_patch_change *change, struct ws_err *err)
{
	const char *from, *to;
	if (!read_path(r, "a/", &from, err)) {
		return false;
	}
	next(r);
	if (!line_starts(r, "+++ ")) {
		return ws_patch_err(
			r->patch, offset_of(r), err, "a '+++' line should follow the '---' line");
	}
	if (!read_path(r, "b/", &to, err)) {
		return false;
	}
	const char *path = to ? to : from;
	if (!path || (from && to && strcmp(from, to) != 0)
		|| (change->path && strcmp(change->path, path) != 0)) {
		return ws_patch_err(
			r->patch, offset_of(r), err, "the two paths differ; renames are not applied");
	}
	enum ws_patch_kind kind = !from ? WS_PATCH_CREATES : !to ? WS_PATCH_DELETES : WS_PATCH_CHANGES;
	if (change->path && change->kind != kind) {
		return ws_patch_err(
			r->patch, offset_of(r), err, "'%s' is both changed and created or deleted", path);
	}
	change->path = path;
	change->kind = kind;
	next(r);
	if (!line_starts(r, "@@ ")) {
		return ws_patch_err(r->patch, offset_of(r), err, "a '@@' line should follow");
	}
	return read_hunks(r, path, err);
}

/* "diff --git a/x b/x": both halves are the same path, which may hold spaces. */
static bool
read_git_path(struct reader *r, struct ws_patch_change *change, struct ws_err *err)
{
	struct ws_str text = {r->line.s + strlen("diff --git "), r->line.n - strlen("diff --git ")};
	size_t half = text.n / 2;
	if (text.n < 7 || text.n % 2 == 0 || memcmp(text.s, "a/", 2) != 0 || text.s[half] != ' '
		|| memcmp(text.s + half + 1, "b/", 2) != 0
		|| memcmp(text.s + 2, text.s + half + 3, half - 2) != 0) {
		return ws_patch_err(r->patch, offset_of(r), err,
			"the two paths differ or are not plain; renames are not applied");
	}
	change->path = ws_arena_copy(r->a, text.s + 2, half - 2);
	return ws_path_is_inside(change->path)
		|| ws_patch_err(r->patch, offset_of(r), err,
			"the path '%s' leaves the source folder or is not plain", change->path);
}

/* A mode of git: a regular file's, or none of our business. */
static bool
read_mode(struct reader *r, size_t prefix, struct ws_patch_change *change, struct ws_err *err)
{
	struct ws_str mode = {r->line.s + prefix, r->line.n - prefix};
	if (!ws_str_is(mode, "100644") && !ws_str_is(mode, "100755")) {
		return ws_patch_err(
			r->patch, offset_of(r), err, "'%s' is not a regular file in this patch", change->path);
	}
	change->executable = ws_str_is(mode, "100755");
	return true;
}

/* git's lines between "diff --git" and "---". */
static bool
read_git_header(struct reader *r, struct ws_patch_change *change, struct ws_err *err)
{
	static const char *const foreign[] = {
		"rename ", "copy ", "similarity ", "dissimilarity ", "GIT binary patch", "Binary files "};
	for (next(r); r->line.s && !line_starts(r, "--- ") && !line_starts(r, "diff --git "); next(r)) {
		for (size_t i = 0; i < WS_LEN(foreign); i++) {
			if (line_starts(r, foreign[i])) {
				return ws_patch_err(r->patch, offset_of(r), err,
					"'%s': renames, copies and binary patches are not applied", change->path);
			}
		}
		if (line_starts(r, "new file mode ")) {
			change->kind = WS_PATCH_CREATES;
			if (!read_mode(r, strlen("new file mode "), change, err)) {
				return false;
			}
		} else if (line_starts(r, "new mode ")) {
			if (!read_mode(r, strlen("new mode "), change, err)) {
				return false;
			}
		} else if (line_starts(r, "deleted file mode ")) {
			change->kind = WS_PATCH_DELETES;
		} else if (!line_starts(r, "old mode ") && !line_starts(r, "index ")) {
			break; /* an empty file, or a bit, and then the next mail */
		}
	}
	return true;
}

bool
ws_patch_parse(const char *name, const char *text, size_t len, struct ws_arena *a,
	struct ws_patch_file *patch, struct ws_err *err)
{
	*patch = (struct ws_patch_file){.name = name, .text = text};
	struct reader r = {.patch = patch, .len = len, .a = a, .rest = {text, len}};
	if (memchr(text, '\0', len)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' holds a zero byte; it is not a patch", name);
	}
	for (next(&r); r.line.s;) {
		struct ws_patch_change change = {.executable = -1, .offset = offset_of(&r)};
		if (!line_starts(&r, "diff --git ") && !line_starts(&r, "--- ")) {
			next(&r);
			continue;
		}
		memset(&r.hunks, 0, sizeof(r.hunks));
		if (line_starts(&r, "diff --git ")
			&& (!read_git_path(&r, &change, err) || !read_git_header(&r, &change, err))) {
			return false;
		}
		if (line_starts(&r, "--- ") && !read_files(&r, &change, err)) {
			return false;
		}
		change.hunks = r.hunks.at;
		change.hunk_count = r.hunks.len;
		for (size_t i = 0; i < r.changes.len; i++) {
			if (strcmp(r.changes.at[i].path, change.path) == 0) {
				return ws_patch_err(
					patch, change.offset, err, "'%s' is repeated in the patch", change.path);
			}
		}
		*ws_vec_push(&r.changes, a) = change;
	}
	if (r.changes.len == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' holds no change in unified format", name);
	}
	patch->changes = r.changes.at;
	patch->count = r.changes.len;
	return true;
}

/* ---- applying ---- */

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
		ws_patch_err(w->patch, offset, err,
			"hunk %zu of '%s' does not match: the file ends at line %ju", w->hunk + 1,
			w->change->path, (uintmax_t)w->line - 1);
	} else {
		found = ws_str_trim(found);
		found.n = found.n > 100 ? 100 : found.n;
		ws_patch_err(w->patch, offset, err,
			"hunk %zu of '%s' does not match line %ju, which is '%.*s'", w->hunk + 1,
			w->change->path, (uintmax_t)w->line, WS_STR_ARGS(found));
	}
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
		return ws_patch_err(patch, change->offset, err,
			"'%s' is deleted, but has lines that the patch does not", change->path);
	}
	return true;
}
