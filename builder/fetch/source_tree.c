#include "fetch/source_tree.h"

#include "base/arena.h"
#include "base/fs.h"

#include <string.h>

/* The specification of git-LFS pointers (git-lfs docs/spec.md): this line comes first. */
#define LFS_LINE "version https://git-lfs.github.com/spec/v1"
#define LFS_LONGEST 1024

/* A file that some patch names. */
struct held {
	const char *path;
	bool exists;
	bool executable;
	struct ws_buf bytes; /* released with the tree */
};

struct ws_source_tree {
	const struct ws_source_tree_plan *plan;
	struct ws_arena *a; /* its own */
	struct ws_tree_builder *builder;
	const char *strip;    /* NULL: not known yet; "" or "folder/" */
	struct ws_map held;   /* path -> struct held */
	struct held *filling; /* the file that comes now, when it is held */
	const char *path;     /* of the file that comes now */
	char head[sizeof(LFS_LINE)];
	uint64_t bytes; /* of the file that comes now, so far */
};

struct ws_source_tree *
ws_source_tree_begin(const struct ws_store *store, const struct ws_source_tree_plan *plan,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_source_tree *s = WS_NEW(a, struct ws_source_tree);
	s->plan = plan;
	s->a = ws_arena_make();
	s->builder = ws_tree_begin(store, plan->tree, s->a, err);
	if (!s->builder) {
		ws_arena_drop(s->a);
		return NULL;
	}
	if (plan->strip) {
		s->strip = plan->strip[0] ? ws_arena_printf(s->a, "%s/", plan->strip) : "";
	}
	for (size_t i = 0; i < plan->patch_count; i++) {
		for (size_t k = 0; k < plan->patches[i].count; k++) {
			const char *path = plan->patches[i].changes[k].path;
			struct held *held = WS_NEW(s->a, struct held);
			held->path = path;
			if (!ws_map_get(&s->held, path)) {
				ws_map_put(&s->held, path, held, s->a);
			}
		}
	}
	return s;
}

static void
release(struct ws_source_tree *s)
{
	for (size_t i = 0; i < s->held.count; i++) {
		struct held *held = ws_map_get(&s->held, s->held.slots[i].key);
		ws_buf_release(&held->bytes);
	}
	ws_arena_drop(s->a);
}

void
ws_source_tree_abandon(struct ws_source_tree *s)
{
	if (s) {
		ws_tree_abandon(s->builder);
		release(s);
	}
}

/* The name in the tree. The first member decides what the single top folder is. */
static const char *
strip(struct ws_source_tree *s, const char *name, struct ws_err *err)
{
	if (!s->strip) {
		size_t top = strcspn(name, "/");
		s->strip = ws_arena_printf(s->a, "%.*s/", (int)top, name);
	}
	size_t len = strlen(s->strip);
	if (strncmp(name, s->strip, len) == 0) {
		return name + len;
	}
	ws_err_set(err, WS_ERR_FETCH, "'%s' holds '%s' next to its top folder '%.*s'", s->plan->from,
		name, (int)len - 1, s->strip);
	ws_err_cure(err, "say in the recipe what to take off: \"strip\": \"\" for nothing");
	return NULL;
}

static bool
open_file(struct ws_source_tree *s, const char *path, bool executable, struct ws_err *err)
{
	s->path = ws_arena_strdup(s->a, path);
	s->bytes = 0;
	s->filling = ws_map_get(&s->held, path);
	if (!s->filling) {
		return ws_tree_open_file(s->builder, path, executable, err);
	}
	s->filling->exists = true;
	s->filling->executable = executable;
	return true;
}

/* A hard link becomes a file of its own. */
static bool
copy_hard_link(struct ws_source_tree *s, const char *path, const char *target, struct ws_err *err)
{
	struct held *held = ws_map_get(&s->held, target);
	const struct ws_tree_entry *entry = ws_tree_added(s->builder, target);
	WS_AUTO_BUF struct ws_buf bytes = {0};
	bool executable;
	if (held && held->exists) {
		ws_buf_add(&bytes, ws_buf_text(&held->bytes), held->bytes.len);
		executable = held->executable;
	} else if (entry && entry->kind != WS_TREE_LINK) {
		executable = entry->kind == WS_TREE_EXECUTABLE;
		const char *from = ws_path_join(s->a, ws_tree_folder(s->builder), target, NULL);
		if (!ws_fs_read(from, &bytes, err)) {
			return false;
		}
	} else {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' holds '%s', a hard link without a target",
			s->plan->from, path);
	}
	return open_file(s, path, executable, err)
		&& ws_source_tree_bytes(s, ws_buf_text(&bytes), bytes.len, err)
		&& ws_source_tree_end_file(s, err);
}

static bool
add_link(struct ws_source_tree *s, const char *path, const char *target, struct ws_err *err)
{
	if (ws_map_get(&s->held, path)) {
		return ws_err_set(err, WS_ERR_CONFIG, "a patch changes '%s', which is a link in '%s'", path,
			s->plan->from);
	}
	return ws_tree_add_link(s->builder, path, target, err);
}

bool
ws_source_tree_begin_member(
	struct ws_source_tree *s, const struct ws_member *member, struct ws_err *err)
{
	if (member->kind == WS_MEMBER_FOLDER) {
		return true;
	}
	const char *path = strip(s, member->name, err);
	if (!path) {
		return false;
	}
	const char *target;
	switch (member->kind) {
	case WS_MEMBER_LINK:
		return add_link(s, path, member->target, err);
	case WS_MEMBER_HARD_LINK:
		target = strip(s, member->target, err);
		return target && copy_hard_link(s, path, target, err);
	case WS_MEMBER_FILE:
	case WS_MEMBER_FOLDER:
		break;
	}
	return open_file(s, path, member->executable, err);
}

bool
ws_source_tree_bytes(struct ws_source_tree *s, const void *bytes, size_t len, struct ws_err *err)
{
	if (ws_stop_asked(s->plan->stop)) {
		return ws_stop_err(s->plan->stop, err);
	}
	if (s->bytes < sizeof(s->head)) {
		size_t room = sizeof(s->head) - (size_t)s->bytes;
		memcpy(s->head + s->bytes, bytes, len < room ? len : room);
	}
	s->bytes += len;
	if (s->filling) {
		ws_buf_add(&s->filling->bytes, bytes, len);
		return true;
	}
	return ws_tree_write(s->builder, bytes, len, err);
}

static bool
is_compiled(const char *path)
{
	static const char *const suffixes[] = {
		".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp"};
	for (size_t i = 0; i < WS_LEN(suffixes); i++) {
		if (ws_ends_with(path, suffixes[i])) {
			return true;
		}
	}
	return false;
}

bool
ws_source_tree_end_file(struct ws_source_tree *s, struct ws_err *err)
{
	bool pointer = s->bytes > strlen(LFS_LINE) && s->bytes <= LFS_LONGEST
		&& memcmp(s->head, LFS_LINE, strlen(LFS_LINE)) == 0;
	if (pointer && is_compiled(s->path)) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' in '%s' is a git-LFS pointer, not the file", s->path,
			s->plan->from);
		return ws_err_cure(err, "use an archive or a folder that has the file itself");
	}
	return s->filling || ws_tree_close_file(s->builder, NULL, err);
}

static bool
apply_change(struct ws_source_tree *s, const struct ws_patch_file *patch,
	const struct ws_patch_change *change, struct ws_err *err)
{
	struct held *held = ws_map_get(&s->held, change->path);
	bool creates = change->kind == WS_PATCH_CREATES;
	if (creates == held->exists) {
		return ws_patch_err(patch, change, err, "'%s' %s in '%s'", change->path,
			creates ? "is already there" : "does not exist", s->plan->from);
	}
	struct ws_buf after = {0};
	if (!ws_patch_apply(patch, change, ws_buf_str(&held->bytes), &after, err)) {
		ws_buf_release(&after);
		return false;
	}
	ws_buf_release(&held->bytes);
	held->bytes = after;
	held->exists = change->kind != WS_PATCH_DELETES;
	held->executable = change->executable >= 0 ? change->executable : held->executable;
	return true;
}

static bool
add_held(struct ws_source_tree *s, struct ws_err *err)
{
	for (size_t i = 0; i < s->plan->patch_count; i++) {
		const struct ws_patch_file *patch = &s->plan->patches[i];
		for (size_t k = 0; k < patch->count; k++) {
			if (!apply_change(s, patch, &patch->changes[k], err)) {
				return false;
			}
		}
	}
	for (size_t i = 0; i < s->held.count; i++) {
		const struct held *held = s->held.slots[i].value;
		if (held->exists
			&& !ws_tree_add_file(s->builder, held->path, ws_buf_text(&held->bytes), held->bytes.len,
				held->executable, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_source_tree_commit(
	struct ws_source_tree *s, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err)
{
	if (!add_held(s, err)) {
		ws_source_tree_abandon(s);
		return false;
	}
	bool fine = ws_tree_commit(s->builder, a, tree, err);
	release(s);
	return fine;
}
