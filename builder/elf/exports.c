/* exports.c - reads a list line by line. */
#include "elf/exports.h"

#include "base/zst.h"

#define LONGEST_LINE 65536 /* torch's longest name has 1,995 bytes */

struct list {
	struct ws_exports seen;
	const char *path;
	const char *python; /* NULL: none asked for */
	struct ws_arena *a;
	struct ws_zst *packed;
	struct ws_buf text; /* unpacked and not yet read */
	size_t at;          /* where the next line begins in it */
	bool held;          /* the next call returns the line before `at` again */
	struct ws_str line; /* the last one read */
	char *library;      /* of the current block */
	char *version;      /* of the names that come; NULL: none */
	bool skipped;       /* the block is another Python's */
	enum ws_export_kind kind;
	bool sized;         /* they are objects, whose size follows the name */
	uint64_t left;      /* names of this kind still to come */
	uint64_t size;      /* of the last one */
	struct ws_buf name; /* the last one, for the next one's prefix */
};

static bool
damaged(const struct list *x, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_IO, "'%s' is not a list of exports, or is damaged", x->path);
	return ws_err_cure(err, "install wheelsmith again, or run ./dev exports in its sources");
}

static bool
next_line(struct list *x, struct ws_err *err)
{
	if (x->held) {
		x->held = false;
		return true;
	}
	char *end;
	while (!(end = x->text.len > x->at ? memchr(x->text.data + x->at, '\n', x->text.len - x->at)
									   : NULL)) {
		size_t rest = x->text.len - x->at;
		if (rest > 0) {
			memmove(x->text.data, x->text.data + x->at, rest);
		}
		x->text.len = rest;
		x->at = 0;
		if (!ws_zst_read(x->packed, &x->text, err)) {
			return false;
		}
		if (x->text.len == rest || rest > LONGEST_LINE) {
			return damaged(x, err);
		}
	}
	x->line = (struct ws_str){x->text.data + x->at, (size_t)(end - x->text.data) - x->at};
	x->at += x->line.n + 1;
	return true;
}

/* Is the line "word value"? Then @value is the rest. */
static bool
is_item(struct ws_str line, const char *word, struct ws_str *value)
{
	return ws_str_is(ws_str_cut(&line, ' '), word) && (*value = line).s;
}

static bool
open_list(struct list *x, struct ws_err *err)
{
	struct ws_exports *seen = &x->seen;
	struct ws_str value;
	WS_VEC(const char *) pythons = {0};
	if (!next_line(x, err)) {
		return false;
	}
	if (!ws_str_is(x->line, WS_EXPORTS_SCHEMA)) {
		return damaged(x, err);
	}
	while (next_line(x, err)) {
		if (is_item(x->line, "torch", &value)) {
			seen->release = ws_str_copy(value, x->a);
		} else if (is_item(x->line, "python", &value)) {
			*ws_vec_push(&pythons, x->a) = ws_str_copy(value, x->a);
		} else if (!is_item(x->line, "wheel", &value)) { /* source wheels, for people */
			x->held = true;
			seen->pythons = pythons.at;
			seen->python_count = pythons.len;
			return !x->python || !seen->release
				|| ws_is_among(x->python, seen->pythons, seen->python_count)
				|| ws_err_set(err, WS_ERR_UNKNOWN, "torch %s has no wheel for '%s'; it has: %s",
					seen->release, x->python, ws_join(pythons.at, pythons.len, " ", x->a));
		}
	}
	return false;
}

struct ws_exports *
ws_exports_open(const char *path, const char *python, struct ws_arena *a, struct ws_err *err)
{
	struct list *x = WS_NEW(a, struct list);
	x->path = ws_arena_strdup(a, path);
	x->python = ws_arena_strdup(a, python);
	x->a = a;
	x->packed = ws_zst_open(path, a, err);
	if (!x->packed || !open_list(x, err)) {
		ws_exports_close(&x->seen);
		return NULL;
	}
	return &x->seen;
}

void
ws_exports_close(struct ws_exports *list)
{
	if (!list) {
		return;
	}
	struct list *x = (struct list *)list;
	ws_zst_close(x->packed);
	ws_buf_release(&x->text);
	ws_buf_release(&x->name);
}

/* "12<TAB>suffix": the name that follows the last one. "12<TAB>suffix<TAB>8" of an object. */
static bool
read_name(struct list *x, struct ws_err *err)
{
	if (!next_line(x, err)) {
		return false;
	}
	struct ws_str suffix = x->line;
	struct ws_str digits = ws_str_cut(&suffix, '\t');
	uint64_t shared;
	struct ws_str size = suffix;
	x->size = 0;
	if (x->sized && suffix.s) {
		suffix = ws_str_cut(&size, '\t');
	}
	if (!suffix.s || !ws_str_to_u64(digits, &shared)
		|| (x->sized && !(size.s && ws_str_to_u64(size, &x->size))) || shared > x->name.len
		|| shared + suffix.n > LONGEST_LINE) {
		return damaged(x, err);
	}
	x->name.len = (size_t)shared;
	ws_buf_add(&x->name, suffix.s, suffix.n);
	x->left--;
	return true;
}

/* Reads a line that is not a name. *@found: it is a result. */
static bool
read_item(struct list *x, struct ws_export *line, bool *found, struct ws_err *err)
{
	struct ws_str value;
	*found = false;
	if (!next_line(x, err)) {
		return false;
	}
	if (is_item(x->line, "library", &value)) {
		/* "library NAME" or "library NAME PYTHON" */
		x->library = ws_str_copy(ws_str_cut(&value, ' '), x->a);
		x->version = NULL;
		x->skipped = value.s && !(x->python && ws_str_is(value, x->python));
		return true;
	}
	if (is_item(x->line, "version", &value)) {
		x->version = ws_str_copy(value, x->a);
		return true;
	}
	bool plain = is_item(x->line, "names", &value);
	x->sized = is_item(x->line, "objects", &value);
	if (plain || x->sized || is_item(x->line, "tls", &value)) {
		x->kind = plain || x->sized ? WS_EXPORT_NAME : WS_EXPORT_TLS;
		ws_buf_clear(&x->name);
		return (x->library && ws_str_to_u64(value, &x->left)) || damaged(x, err);
	}
	bool needed = is_item(x->line, "needed", &value);
	if (needed || is_item(x->line, "internals", &value)) {
		ws_buf_clear(&x->name);
		ws_buf_add(&x->name, value.s, value.n);
		line->kind = needed ? WS_EXPORT_NEEDED : WS_EXPORT_INTERNALS;
		*found = true;
		return x->library || damaged(x, err);
	}
	line->kind = WS_EXPORT_END;
	*found = true;
	x->skipped = false;
	x->held = true; /* and again, should the caller ask again */
	bool ended = ws_str_is(x->line, "end") && (x->seen.release || x->library);
	return ended || damaged(x, err);
}

bool
ws_exports_next(struct ws_exports *list, struct ws_export *line, struct ws_err *err)
{
	struct list *x = (struct list *)list;
	bool found;
	do {
		if (x->left > 0) {
			found = true;
			line->kind = x->kind;
			if (!read_name(x, err)) {
				return false;
			}
		} else if (!read_item(x, line, &found, err)) {
			return false;
		}
	} while (!found || x->skipped);
	line->library = x->library;
	line->version = x->version;
	line->text = ws_buf_text(&x->name);
	line->len = x->name.len;
	line->size = x->size;
	return true;
}
