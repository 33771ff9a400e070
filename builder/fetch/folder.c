#include "base/arena.h"
#include "base/fs.h"
#include "fetch/source_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FILE_MOST ((uint64_t)2 << 30) /* no source is larger; a sparse file may be */
#define MOST_SURVEYED ((uint64_t)1 << 30)

struct copy {
	struct ws_members members;
	struct ws_source_tree *into;
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
			return ws_source_tree_end_file(c->into, err);
		}
		left -= (uint64_t)got;
		if (!ws_source_tree_bytes(c->into, chunk, (size_t)got, err)) {
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
	if (is_repository(entry->name)) {
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
		|| !ws_source_tree_begin_member(c->into, &member, err)) {
		return false;
	}
	return member.kind != WS_MEMBER_FILE || copy_file(c, entry, err);
}

bool
ws_folder_copy(const char *path, struct ws_source_tree *into, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct copy c = {.into = into};
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
