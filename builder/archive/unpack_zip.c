/* unpack_zip.c - entries become members; a link is one once its target came. */
#include "archive/file_source.h"
#include "archive/unpack.h"
#include "archive/zip.h"

#include <string.h>

struct unpack {
	struct ws_zip_sink sink; /* first */
	struct ws_unpack_sink *to;
	struct ws_members members;
	struct ws_member member; /* the one that comes now */
	struct ws_buf target;    /* of a link */
	bool wanted;
	struct ws_arena *a;
};

static bool
begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err)
{
	struct unpack *u = (struct unpack *)self;
	u->member = (struct ws_member){
		.name = ws_member_plain_name(entry->name, u->a),
		.kind = entry->is_dir ? WS_MEMBER_FOLDER
			: entry->is_link  ? WS_MEMBER_LINK
							  : WS_MEMBER_FILE,
		.executable = !entry->is_link && entry->mode & 0111,
	};
	if (!ws_members_enter(&u->members, &u->member, err)) {
		return false;
	}
	ws_buf_clear(&u->target);
	u->wanted = !u->to->wants || u->to->wants(u->to, &u->member);
	return !u->wanted || entry->is_link || u->to->begin(u->to, &u->member, err);
}

static bool
bytes(struct ws_zip_sink *self, const void *data, size_t len, struct ws_err *err)
{
	struct unpack *u = (struct unpack *)self;
	if (!u->wanted) {
		return true;
	}
	if (u->member.kind == WS_MEMBER_LINK) {
		ws_buf_add(&u->target, data, len);
		return true;
	}
	return ws_members_add_bytes(&u->members, u->member.name, len, err)
		&& u->to->bytes(u->to, data, len, err);
}

static bool
end(struct ws_zip_sink *self, struct ws_err *err)
{
	struct unpack *u = (struct unpack *)self;
	if (!u->wanted || u->member.kind == WS_MEMBER_FOLDER) {
		return true;
	}
	if (u->member.kind == WS_MEMBER_FILE) {
		return u->to->end(u->to, err);
	}
	u->member.target = ws_buf_text(&u->target);
	if (strlen(u->member.target) != u->target.len) {
		return ws_members_refuse(
			&u->members, err, "link", u->member.name, "a zero byte in its target");
	}
	return ws_members_check_link(&u->members, &u->member, err)
		&& u->to->begin(u->to, &u->member, err);
}

bool
ws_unpack_zip(const char *path, const char *name, const struct ws_member_limits *limits,
	struct ws_unpack_sink *sink, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_FILE_SOURCE struct ws_file_source file;
	if (!ws_file_source_open(path, &file, err)) {
		return false;
	}
	file.source.name = name;
	struct ws_zip zip;
	struct ws_zip_limits of_sources = {.is_sources = true};
	if (!ws_zip_open(&file.source, &of_sources, a, &zip, err)) {
		return false;
	}
	const struct ws_zip_entry **all = WS_NEW_N(a, const struct ws_zip_entry *, zip.count);
	for (size_t i = 0; i < zip.count; i++) {
		all[i] = &zip.entries[i];
	}
	struct unpack u = {.sink = {begin, bytes, end}, .to = sink, .a = a};
	u.members = ws_members_begin(name, file.source.size, limits, a);
	bool fine = ws_zip_read(&zip, all, zip.count, WS_ZIP_GAP_BYTES, &u.sink, err);
	ws_buf_release(&u.target);
	return fine;
}
