/* unpack.c - the door to libarchive's reader. members.c decides which members are allowed; zip.c
 * reads zips. */
#include "archive/unpack.h"

#include "archive/zip.h"
#include "base/fs.h"

#include <archive.h>
#include <archive_entry.h>

#include <errno.h>
#include <locale.h>

/* ---- zipped sources ---- */

struct zip_unpack {
	struct ws_zip_sink sink; /* first */
	struct ws_unpack_sink *to;
	struct ws_members members;
	struct ws_member member; /* the one that comes now */
	struct ws_buf target;    /* of a link */
	bool wanted;
	struct ws_arena *a;
};

static bool
begin_entry(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err)
{
	struct zip_unpack *u = (struct zip_unpack *)self;
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
take_bytes(struct ws_zip_sink *self, const void *data, size_t len, struct ws_err *err)
{
	struct zip_unpack *u = (struct zip_unpack *)self;
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
end_entry(struct ws_zip_sink *self, struct ws_err *err)
{
	struct zip_unpack *u = (struct zip_unpack *)self;
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

static bool
unpack_zip(const char *path, const char *name, const struct ws_member_limits *limits,
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
	struct zip_unpack u = {.sink = {begin_entry, take_bytes, end_entry}, .to = sink, .a = a};
	u.members = ws_members_begin(name, file.source.size, limits, a);
	bool fine = ws_zip_read(&zip, all, zip.count, WS_ZIP_GAP_BYTES, &u.sink, err);
	ws_buf_release(&u.target);
	return fine;
}

/* ---- tar archives and Debian packages ---- */

#define PIECE_BYTES ((size_t)64 << 10)

struct unpack {
	struct archive *outer; /* the file */
	struct archive *inner; /* data.tar in a .deb, else NULL */
	struct ws_members members;
	struct ws_arena *a;
	struct ws_unpack_sink *sink;
	char packed[PIECE_BYTES];   /* of data.tar, on its way to the inner reader */
	char contents[PIECE_BYTES]; /* of a member */
};

bool
ws_unpack_format_of(const char *file, enum ws_unpack_format *format)
{
	static const char *const tars[] = {
		".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar"};
	for (size_t i = 0; i < WS_LEN(tars); i++) {
		if (ws_ends_with(file, tars[i])) {
			*format = WS_UNPACK_TAR;
			return true;
		}
	}
	*format = ws_ends_with(file, ".deb") ? WS_UNPACK_DEB : WS_UNPACK_ZIP;
	return *format == WS_UNPACK_DEB || ws_ends_with(file, ".zip");
}

/* Reports the message of libarchive. */
static bool
refuse_format(struct unpack *u, struct archive *archive, const char *name, struct ws_err *err)
{
	const char *why = archive_error_string(archive);
	return ws_members_refuse(
		&u->members, err, "format", name, "%s", why ? why : "it cannot be read");
}

/*
 * Each call returns ARCHIVE_WARN when libarchive would run a program to decode. An archive of
 * unknown origin must not start programs.
 */
static struct archive *
make_reader(enum ws_unpack_format format, struct ws_err *err)
{
	struct archive *archive = archive_read_new();
	if (archive && format == WS_UNPACK_DEB
			? archive_read_support_format_ar(archive) == ARCHIVE_OK
			: archive && archive_read_support_format_tar(archive) == ARCHIVE_OK
				&& archive_read_support_filter_gzip(archive) == ARCHIVE_OK
				&& archive_read_support_filter_bzip2(archive) == ARCHIVE_OK
				&& archive_read_support_filter_xz(archive) == ARCHIVE_OK
				&& archive_read_support_filter_lzma(archive) == ARCHIVE_OK
				&& archive_read_support_filter_zstd(archive) == ARCHIVE_OK) {
		return archive;
	}
	archive_read_free(archive);
	ws_err_set(err, WS_ERR_INTERNAL, "this libarchive cannot decode all that is needed (%s)",
		archive_version_details());
	return NULL;
}

/* Bytes of data.tar, for the inner reader. */
static la_ssize_t
read_outer(struct archive *inner, void *self, const void **bytes)
{
	struct unpack *u = self;
	la_ssize_t got = archive_read_data(u->outer, u->packed, sizeof(u->packed));
	if (got < 0) {
		archive_set_error(inner, EIO, "%s", archive_error_string(u->outer));
		return -1;
	}
	*bytes = u->packed;
	return got;
}

/* Goes to data.tar.* and opens it: deb(5), members debian-binary, control.tar.*, data.tar.*. */
static bool
open_data(struct unpack *u, struct ws_err *err)
{
	struct archive_entry *entry;
	const char *name = NULL;
	while (!name || !ws_starts_with(name, "data.tar")) {
		int code = archive_read_next_header(u->outer, &entry);
		if (code == ARCHIVE_EOF) {
			return ws_members_refuse(&u->members, err, "format", NULL, "it holds no data.tar");
		}
		if (code < ARCHIVE_WARN) {
			return refuse_format(u, u->outer, NULL, err);
		}
		name = archive_entry_pathname(entry);
	}
	u->inner = make_reader(WS_UNPACK_TAR, err);
	return u->inner
		&& (archive_read_open(u->inner, u, NULL, read_outer, NULL) == ARCHIVE_OK
			|| refuse_format(u, u->inner, NULL, err));
}

static bool
read_kind(
	struct unpack *u, struct archive_entry *entry, struct ws_member *member, struct ws_err *err)
{
	const char *hard_link = archive_entry_hardlink(entry);
	if (hard_link) {
		member->kind = WS_MEMBER_HARD_LINK;
		member->target = ws_member_plain_name(hard_link, u->a);
		return member->target
			|| ws_members_refuse(&u->members, err, "link", member->name, "a hard link to itself");
	}
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		member->kind = WS_MEMBER_FILE;
		member->executable = archive_entry_perm(entry) & 0111;
		return true;
	case AE_IFLNK:
		member->kind = WS_MEMBER_LINK;
		member->target = archive_entry_symlink(entry);
		return member->target
			|| ws_members_refuse(&u->members, err, "link", member->name, "it has no target");
	case AE_IFDIR:
		member->kind = WS_MEMBER_FOLDER;
		return true;
	default:
		return ws_members_refuse(&u->members, err, "type", member->name,
			"it is a device, a pipe, a socket or something unknown");
	}
}

/* A file's contents: to the sink the first time, else only compared with what came then. */
static bool
read_contents(struct unpack *u, struct archive *archive, const struct ws_member *member,
	struct ws_member_seen *seen, struct ws_err *err)
{
	bool first = !seen->again;
	struct ws_hasher *h = ws_hasher_make();
	bool fine = true;
	la_ssize_t got = 0;
	char *piece = u->contents;
	while (fine && (got = archive_read_data(archive, piece, PIECE_BYTES)) > 0) {
		ws_hasher_add(h, piece, (size_t)got);
		fine = ws_members_add_bytes(&u->members, member->name, (uint64_t)got, err)
			&& (!first || u->sink->bytes(u->sink, piece, (size_t)got, err));
	}
	struct ws_digest digest = ws_hasher_finish(h);
	if (!fine || got < 0) {
		return fine && refuse_format(u, archive, member->name, err);
	}
	if (first) {
		seen->digest = digest;
		seen->taken = true;
		return u->sink->end(u->sink, err);
	}
	return ws_digest_eq(&digest, &seen->digest)
		|| ws_members_refuse(
			&u->members, err, "duplicate", member->name, "its contents were others before");
}

static bool
read_member(
	struct unpack *u, struct archive *archive, struct archive_entry *entry, struct ws_err *err)
{
	const char *raw = archive_entry_pathname(entry);
	if (!raw) {
		return ws_members_refuse(&u->members, err, "name-text", NULL, "a name is not readable");
	}
	struct ws_member member = {.name = ws_member_plain_name(raw, u->a)};
	if (!member.name) {
		return true;
	}
	struct ws_member_seen *seen = NULL;
	if (!read_kind(u, entry, &member, err)
		|| !(seen = ws_members_enter(&u->members, &member, err))) {
		return false;
	}
	if (u->sink->wants && !u->sink->wants(u->sink, &member)) {
		return true;
	}
	return ws_members_check_link(&u->members, &member, err)
		&& (seen->again || u->sink->begin(u->sink, &member, err))
		&& (member.kind != WS_MEMBER_FILE || read_contents(u, archive, &member, seen, err));
}

static bool
read_members(struct unpack *u, int fd, enum ws_unpack_format format, struct ws_err *err)
{
	u->outer = make_reader(format, err);
	if (!u->outer) {
		return false;
	}
	if (archive_read_open_fd(u->outer, fd, PIECE_BYTES) != ARCHIVE_OK) {
		return refuse_format(u, u->outer, NULL, err);
	}
	if (format == WS_UNPACK_DEB && !open_data(u, err)) {
		return false;
	}
	struct archive *archive = u->inner ? u->inner : u->outer;
	struct archive_entry *entry;
	int code;
	while (
		(code = archive_read_next_header(archive, &entry)) >= ARCHIVE_WARN && code != ARCHIVE_EOF) {
		if (!read_member(u, archive, entry, err)) {
			return false;
		}
	}
	return code == ARCHIVE_EOF || refuse_format(u, archive, NULL, err);
}

bool
ws_unpack(const char *path, const char *name, enum ws_unpack_format format,
	const struct ws_member_limits *limits, struct ws_unpack_sink *sink, struct ws_err *err)
{
	if (format == WS_UNPACK_ZIP) {
		return unpack_zip(path, name, limits, sink, err);
	}
	struct stat status;
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, &status, err);
	if (fd < 0) {
		return false;
	}
	/* libarchive converts names through the locale; this thread's shall be UTF-8 meanwhile. */
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;

	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct unpack *u = WS_NEW(a, struct unpack);
	u->a = a;
	u->sink = sink;
	u->members = ws_members_begin(name, (uint64_t)status.st_size, limits, a);
	bool fine = read_members(u, fd, format, err);
	archive_read_free(u->inner);
	archive_read_free(u->outer);

	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
	return fine;
}
