/* reads_manifest.c - writing and checking. Names never contain newlines: trees and dependency
 * files refuse them. */
#include "engine/reads_manifest.h"

#include "base/fs.h"
#include "base/zst.h"
#include "engine/worker_files.h"
#include "store/cas.h"

static void
write_names(char kind, ws_name_list names, struct ws_buf *text)
{
	names.len = ws_sort_once(names.at, names.len);
	for (size_t i = 0; i < names.len; i++) {
		ws_buf_printf(text, "%c %s\n", kind, names.at[i]);
	}
}

bool
ws_manifest_write(const struct ws_reads *reads, const struct ws_action *action,
	struct ws_names *names, struct ws_buf *text, struct ws_err *err)
{
	ws_name_list files = reads->files;
	files.len = ws_sort_once(files.at, files.len);
	for (size_t i = 0; i < files.len; i++) {
		const char *digest = ws_names_digest(names, action, files.at[i]);
		if (!digest) {
			return ws_err_set(err, WS_ERR_BUILD, "'%s' read '%s', which does not exist any more",
				action->subject, files.at[i]);
		}
		ws_buf_printf(text, "f %s %s\n", digest, files.at[i]);
	}
	write_names('a', reads->absent, text);
	write_names('p', reads->present, text);
	write_names('d', reads->folders, text);
	if (reads->opaque) {
		ws_buf_printf(text, "o %s\n", reads->opaque);
	}
	return true;
}

#define ONE_BLOCK 4096
#define LARGEST ((size_t)64 << 20)

bool
ws_manifest_put(const struct ws_store *store, struct ws_str text, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf packed = {0};
	if (text.n > ONE_BLOCK) {
		if (!ws_zst_pack(text, WS_ZST_FAST, &packed, err)) {
			return false;
		}
		text = ws_buf_str(&packed);
	}
	*size = text.n;
	return ws_cas_put(store, text.s, text.n, digest, err);
}

bool
ws_manifest_get(
	const struct ws_store *store, const char *digest, struct ws_buf *text, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!ws_cas_read(store, digest, &bytes, err)) {
		return false;
	}
	if (ws_zst_is_frame(ws_buf_str(&bytes))) {
		return ws_zst_unpack(ws_buf_str(&bytes), LARGEST, text, err);
	}
	ws_buf_add(text, bytes.data, bytes.len);
	return true;
}

bool
ws_manifest_is_opaque(struct ws_str text)
{
	while (text.s && text.n > 0) {
		struct ws_str line = ws_str_cut(&text, '\n');
		if (line.n > 2 && line.s[0] == 'o') {
			return true;
		}
	}
	return false;
}

void
ws_manifest_merge(struct ws_str all, struct ws_buf *text)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_name_list lines = {0};
	while (all.s && all.n > 0) {
		*ws_vec_push(&lines, a) = ws_str_copy(ws_str_cut(&all, '\n'), a);
	}
	lines.len = ws_sort_once(lines.at, lines.len);
	for (size_t i = 0; i < lines.len; i++) {
		ws_buf_printf(text, "%s\n", lines.at[i]);
	}
}

static const char unreported[] = "no worker has reported '%s'";

/* Checks one line; NULL: it holds, else the format of the reason. */
static const char *
line_fails(struct ws_str line, bool outside_only, const struct ws_action *action,
	struct ws_names *names, struct ws_arena *a, const char **name)
{
	char kind = line.n > 2 ? line.s[0] : '?';
	size_t skip = kind == 'f' ? 2 + 64 + 1 : 2;
	if (!memchr("fapdo", kind, 5) || line.n <= skip) {
		*name = "";
		return "the manifest is damaged";
	}
	*name = ws_arena_copy(a, line.s + skip, line.n - skip);
	if (outside_only && !ws_names_is_outside(action, *name)) {
		return NULL;
	}
	if (kind == 'o') {
		return NULL;
	}
	if (ws_names_is_unknown(action, *name, kind == 'f')) {
		return unreported;
	}
	if (kind == 'a') {
		return ws_names_exists(names, action, *name) ? "'%s' is there now" : NULL;
	}
	if (kind == 'p') {
		return ws_names_exists(names, action, *name) ? NULL : "'%s' does not exist any more";
	}
	if (kind == 'd') {
		return ws_names_is_folder(action, *name) ? NULL : "'%s' is not a folder any more";
	}
	const char *digest = ws_names_digest(names, action, *name);
	if (!digest) {
		return "'%s' does not exist any more";
	}
	return memcmp(digest, line.s + 2, 64) == 0 ? NULL : "'%s' changed";
}

static const char *
format_reason(const char *reason, const char *name, struct ws_arena *a)
{
	const char *mark = strstr(reason, "%s");
	return mark
		? ws_arena_printf(a, "%.*s%s%s", (int)(mark - reason), reason, name, mark + strlen("%s"))
		: reason;
}

bool
ws_manifest_holds(struct ws_str text, bool outside_only, const struct ws_action *action,
	struct ws_names *names, struct ws_arena *a, const char **why)
{
	ws_name_list unknown = {0};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	ws_arena_alloc(scratch, 1); /* so that rewinding keeps the first block */
	struct ws_arena_mark mark = ws_arena_mark(scratch);
	while (text.s && text.n > 0) {
		ws_arena_rewind(scratch, mark);
		struct ws_str line = ws_str_cut(&text, '\n');
		const char *name;
		const char *reason = line_fails(line, outside_only, action, names, scratch, &name);
		if (reason == unreported) {
			*ws_vec_push(&unknown, a) = ws_arena_strdup(a, name);
		} else if (reason) {
			if (why) {
				*why = format_reason(reason, name, a);
			}
			return false;
		}
	}
	for (size_t i = 0; i < unknown.len; i++) { /* the manifest may hold: ask the workers */
		ws_worker_files_want(action->platform, unknown.at[i]);
	}
	if (unknown.len > 0 && why) {
		*why = format_reason(unreported, unknown.at[0], a);
	}
	return unknown.len == 0;
}
