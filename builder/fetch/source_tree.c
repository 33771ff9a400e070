#include "fetch/source_tree.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>

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

struct making {
	struct ws_unpack_sink sink;
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

static void
release(struct making *s)
{
	for (size_t i = 0; i < s->held.count; i++) {
		struct held *held = ws_map_get(&s->held, s->held.slots[i].key);
		ws_buf_release(&held->bytes);
	}
	ws_arena_drop(s->a);
}

void
ws_source_tree_abandon(struct ws_unpack_sink *into)
{
	if (into) {
		ws_tree_abandon(((struct making *)into)->builder);
		release((struct making *)into);
	}
}

/* The name in the tree. The first member decides what the single top folder is. */
static const char *
strip(struct making *s, const char *name, struct ws_err *err)
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
open_file(struct making *s, const char *path, bool executable, struct ws_err *err)
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

static bool
add_bytes(struct ws_unpack_sink *into, const void *bytes, size_t len, struct ws_err *err)
{
	struct making *s = (struct making *)into;
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
end_file(struct ws_unpack_sink *into, struct ws_err *err)
{
	static const char *const compiled[] = {
		".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp"};
	struct making *s = (struct making *)into;
	bool pointer = s->bytes > strlen(LFS_LINE) && s->bytes <= LFS_LONGEST
		&& memcmp(s->head, LFS_LINE, strlen(LFS_LINE)) == 0;
	for (size_t i = 0; i < WS_LEN(compiled) && pointer; i++) {
		if (ws_ends_with(s->path, compiled[i])) {
			ws_err_set(err, WS_ERR_FETCH, "'%s' in '%s' is a git-LFS pointer, not the file",
				s->path, s->plan->from);
			return ws_err_cure(err, "use an archive or a folder that has the file itself");
		}
	}
	return s->filling || ws_tree_close_file(s->builder, NULL, err);
}

/* A hard link becomes a file of its own. */
static bool
copy_hard_link(struct making *s, const char *path, const char *target, struct ws_err *err)
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
		&& add_bytes(&s->sink, ws_buf_text(&bytes), bytes.len, err) && end_file(&s->sink, err);
}

static bool
begin_member(struct ws_unpack_sink *into, const struct ws_member *member, struct ws_err *err)
{
	struct making *s = (struct making *)into;
	if (member->kind == WS_MEMBER_FOLDER) {
		return true;
	}
	const char *path = strip(s, member->name, err);
	if (!path) {
		return false;
	}
	if (member->kind == WS_MEMBER_HARD_LINK) {
		const char *target = strip(s, member->target, err);
		return target && copy_hard_link(s, path, target, err);
	}
	if (member->kind != WS_MEMBER_LINK) {
		return open_file(s, path, member->executable, err);
	}
	if (ws_map_get(&s->held, path)) {
		return ws_err_set(err, WS_ERR_CONFIG, "a patch changes '%s', which is a link in '%s'", path,
			s->plan->from);
	}
	return ws_tree_add_link(s->builder, path, member->target, err);
}

struct ws_unpack_sink *
ws_source_tree_begin(const struct ws_store *store, const struct ws_source_tree_plan *plan,
	struct ws_arena *a, struct ws_err *err)
{
	struct making *s = WS_NEW(a, struct making);
	s->sink = (struct ws_unpack_sink){NULL, begin_member, add_bytes, end_file};
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
	return &s->sink;
}

static bool
apply_change(struct making *s, const struct ws_patch_file *patch,
	const struct ws_patch_change *change, struct ws_err *err)
{
	struct held *held = ws_map_get(&s->held, change->path);
	bool creates = change->kind == WS_PATCH_CREATES;
	if (creates == held->exists) {
		return ws_patch_err(patch, change->offset, err, "'%s' %s in '%s'", change->path,
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

bool
ws_source_tree_commit(
	struct ws_unpack_sink *into, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err)
{
	struct making *s = (struct making *)into;
	bool done = true;
	for (size_t i = 0; i < s->plan->patch_count; i++) {
		const struct ws_patch_file *patch = &s->plan->patches[i];
		for (size_t k = 0; k < patch->count && done; k++) {
			done = apply_change(s, patch, &patch->changes[k], err);
		}
	}
	for (size_t i = 0; i < s->held.count && done; i++) {
		const struct held *held = s->held.slots[i].value;
		done = !held->exists
			|| ws_tree_add_file(s->builder, held->path, ws_buf_text(&held->bytes), held->bytes.len,
				held->executable, err);
	}
	if (!done) {
		ws_source_tree_abandon(into);
		return false;
	}
	done = ws_tree_commit(s->builder, a, tree, err);
	release(s);
	return done;
}

/* ---- a local folder ---- */

#define FILE_MOST ((uint64_t)2 << 30) /* no source is larger; a sparse file may be */
#define MOST_SURVEYED ((uint64_t)1 << 30)

struct copy {
	struct ws_members members;
	struct ws_unpack_sink *into;
	bool whole;
};

/* A part named ".git", folder or file (a work tree has a file). */
static bool
is_repository(const char *name)
{
	for (struct ws_str rest = ws_str_of(name); rest.s;) {
		if (ws_str_is(ws_str_cut(&rest, '/'), ".git")) {
			return true;
		}
	}
	return false;
}

static bool
copy_file(struct copy *c, const struct ws_fs_entry *entry, struct ws_err *err)
{
	uint64_t left = (uint64_t)entry->status.st_size;
	if (left > FILE_MOST) {
		ws_members_refuse(&c->members, err, "amount", entry->name,
			"it has %ju bytes, more than the %ju that a file of sources may have", (uintmax_t)left,
			(uintmax_t)FILE_MOST);
		return ws_err_cure(err, "move it away, or name a folder that holds the sources alone");
	}
	WS_AUTO_FD int fd = ws_fs_open_regular(entry->path, O_NOFOLLOW, NULL, err);
	if (fd < 0 || !ws_members_add_bytes(&c->members, entry->name, left, err)) {
		return false;
	}
	char chunk[65536];
	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", entry->path);
		}
		if ((uint64_t)got > left || (got == 0 && left > 0)) {
			return ws_err_set(err, WS_ERR_IO, "'%s' changed while it was copied", entry->path);
		}
		if (got == 0) {
			return c->into->end(c->into, err);
		}
		left -= (uint64_t)got;
		if (!c->into->bytes(c->into, chunk, (size_t)got, err)) {
			return false;
		}
	}
}

static bool
copy_one(void *self, const struct ws_fs_entry *entry, struct ws_err *err)
{
	struct copy *c = self;
	struct ws_member member = {.name = entry->name};
	char target[4096] = "";
	if (!c->whole && is_repository(entry->name)) {
		return true;
	}
	switch (entry->status.st_mode & S_IFMT) {
	case S_IFREG:
		member.kind = WS_MEMBER_FILE;
		member.executable = entry->status.st_mode & 0111;
		break;
	case S_IFDIR:
		member.kind = WS_MEMBER_FOLDER;
		break;
	case S_IFLNK:
		member.kind = WS_MEMBER_LINK;
		member.target = target;
		if (readlink(entry->path, target, sizeof(target) - 1) < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read the link '%s'", entry->path);
		}
		break;
	default:
		return ws_members_refuse(
			&c->members, err, "type", entry->name, "it is a device, a pipe or a socket");
	}
	if (!ws_members_enter(&c->members, &member, err)
		|| !ws_members_check_link(&c->members, &member, err)
		|| !c->into->begin(c->into, &member, err)) {
		return false;
	}
	return member.kind != WS_MEMBER_FILE || copy_file(c, entry, err);
}

bool
ws_folder_copy(const char *path, bool whole, struct ws_unpack_sink *into, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct copy c = {.into = into, .whole = whole};
	if (!ws_fs_is_dir(path)) {
		return ws_err_set(err, WS_ERR_CONFIG, "the source folder '%s' does not exist", path);
	}
	c.members = ws_members_begin(path, 0, NULL, a);
	return ws_fs_walk(path, copy_one, &c, err);
}

/* ---- without copying ---- */

struct survey {
	struct ws_arena *a;
	struct ws_ledger *ledger;
	uint64_t bytes;
	WS_VEC(struct ws_tree_entry) entries;
};

static bool
survey_one(void *self, const struct ws_fs_entry *found, struct ws_err *err WS_UNUSED)
{
	struct survey *s = self;
	struct ws_digest digest;
	char target[4096] = "";
	if (is_repository(found->name) || S_ISDIR(found->status.st_mode)) {
		return true;
	}
	struct ws_tree_entry entry = {.path = ws_arena_strdup(s->a, found->name)};
	if (S_ISLNK(found->status.st_mode)) {
		entry.kind = WS_TREE_LINK;
		entry.value = target;
		if (readlink(found->path, target, sizeof(target) - 1) < 0) {
			return false;
		}
	} else {
		s->bytes += (uint64_t)found->status.st_size;
		if (!S_ISREG(found->status.st_mode) || s->bytes > MOST_SURVEYED
			|| !ws_ledger_file_digest(s->ledger, found->path, &digest)) {
			return false;
		}
		entry.kind = found->status.st_mode & 0111 ? WS_TREE_EXECUTABLE : WS_TREE_FILE;
		entry.value = digest.hex;
	}
	entry.value = ws_arena_strdup(s->a, entry.value);
	*ws_vec_push(&s->entries, s->a) = entry;
	return true;
}

bool
ws_folder_digest(const char *path, struct ws_ledger *ledger, struct ws_digest *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct survey s = {.a = a, .ledger = ledger};
	if (!ws_fs_is_dir(path) || !ws_fs_walk(path, survey_one, &s, NULL)) {
		return false;
	}
	*digest = ws_tree_digest(s.entries.at, s.entries.len);
	return true;
}
