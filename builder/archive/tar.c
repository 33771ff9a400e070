/* tar.c - the door to libarchive's writer; its reader's is unpack.c. */
#include "archive/tar.h"

#include "base/crypto.h"
#include "base/fs.h"

#include <archive.h>
#include <archive_entry.h>

#include <errno.h>
#include <locale.h>

#define PIECE_BYTES ((size_t)64 << 10)

struct ws_tar {
	struct archive *archive;
	const char *name;
	int fd;
	int fault; /* errno of a write that failed; 0: none did */
	bool given_up;
	locale_t utf8; /* libarchive converts names through the locale of the thread */
};

/* The message of libarchive, or of the disk when a write failed. */
static bool
fail(const struct ws_tar *tar, struct ws_err *err)
{
	const char *why = archive_error_string(tar->archive);
	errno = tar->fault;
	return tar->fault ? ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", tar->name)
					  : ws_err_set(err, WS_ERR_IO, "cannot write '%s': %s", tar->name,
						  why ? why : "the archive was not written");
}

/* libarchive leaks memory when its callback reports a failed write. So `fault` keeps the error,
 * and each call here checks it afterwards. */
static la_ssize_t
read_packed(struct archive *archive WS_UNUSED, void *self, const void *bytes, size_t len)
{
	struct ws_tar *tar = self;
	if (!tar->given_up && !tar->fault && !ws_fs_write_all(tar->fd, bytes, len)) {
		tar->fault = errno;
	}
	return (la_ssize_t)len;
}

struct ws_tar *
ws_tar_begin(int fd, const char *name, struct ws_arena *a, struct ws_err *err)
{
	struct ws_tar *tar = WS_NEW(a, struct ws_tar);
	tar->name = ws_arena_strdup(a, name);
	tar->fd = fd;
	tar->archive = archive_write_new();
	tar->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	/* ARCHIVE_WARN: libarchive would run a program as the filter. */
	if (!tar->archive || archive_write_set_format_pax_restricted(tar->archive) != ARCHIVE_OK
		|| archive_write_add_filter_zstd(tar->archive) != ARCHIVE_OK
		|| archive_write_set_bytes_in_last_block(tar->archive, 1) != ARCHIVE_OK) {
		ws_err_set(err, WS_ERR_INTERNAL, "this libarchive cannot write all that is needed (%s)",
			archive_version_details());
	} else if (archive_write_open(tar->archive, tar, NULL, read_packed, NULL) == ARCHIVE_OK) {
		return tar;
	} else {
		fail(tar, err);
	}
	ws_tar_drop(tar);
	return NULL;
}

/* A member's header; @a target is a link's, else NULL. */
static bool
open_member(struct ws_tar *tar, const char *name, const char *target, bool executable,
	uint64_t size, struct ws_err *err)
{
	struct archive_entry *entry = archive_entry_new();
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, target ? AE_IFLNK : AE_IFREG);
	archive_entry_set_perm(entry, target ? 0777 : executable ? 0755 : 0644);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_mtime(entry, 0, 0);
	if (target) {
		archive_entry_set_symlink(entry, target);
	}
	locale_t before = tar->utf8 ? uselocale(tar->utf8) : (locale_t)0;
	bool written = archive_write_header(tar->archive, entry) == ARCHIVE_OK;
	if (tar->utf8) {
		uselocale(before);
	}
	archive_entry_free(entry);
	return (written && !tar->fault) || fail(tar, err);
}

static bool
write_piece(struct ws_tar *tar, const void *bytes, size_t len, struct ws_err *err)
{
	la_ssize_t put = archive_write_data(tar->archive, bytes, len);
	return (put >= 0 && (size_t)put == len && !tar->fault) || fail(tar, err);
}

bool
ws_tar_add(struct ws_tar *tar, const char *name, const void *bytes, size_t len, struct ws_err *err)
{
	return open_member(tar, name, NULL, false, len, err) && write_piece(tar, bytes, len, err);
}

bool
ws_tar_add_file(struct ws_tar *tar, const char *name, const char *path, bool executable,
	const char *sha256, struct ws_err *err)
{
	struct stat status;
	char piece[PIECE_BYTES];
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, &status, err);
	if (fd < 0 || !open_member(tar, name, NULL, executable, (uint64_t)status.st_size, err)) {
		return false;
	}
	struct ws_hasher *h = ws_hasher_make();
	ssize_t got;
	bool written = true;
	while (written && ((got = read(fd, piece, sizeof(piece))) > 0 || (got < 0 && errno == EINTR))) {
		if (got > 0) {
			ws_hasher_add(h, piece, (size_t)got);
			written = write_piece(tar, piece, (size_t)got, err);
		}
	}
	struct ws_digest digest = ws_hasher_finish(h);
	if (!written || got != 0) {
		return written && ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
	}
	if (!ws_digest_is(&digest, sha256)) {
		ws_err_set(err, WS_ERR_IO, "'%s' is damaged: its sha256 is %s", path, digest.hex);
		return ws_err_cure(err, "run it again: what is damaged in the store is made again");
	}
	return true;
}

bool
ws_tar_add_link(struct ws_tar *tar, const char *name, const char *target, struct ws_err *err)
{
	return open_member(tar, name, target, false, 0, err);
}

bool
ws_tar_finish(struct ws_tar *tar, struct ws_err *err)
{
	bool closed = archive_write_close(tar->archive) == ARCHIVE_OK;
	return (closed && !tar->fault) || fail(tar, err);
}

void
ws_tar_drop(struct ws_tar *tar)
{
	if (!tar) {
		return;
	}
	tar->given_up = true; /* else an unfinished archive would still be written */
	archive_write_free(tar->archive);
	if (tar->utf8) {
		freelocale(tar->utf8);
	}
}
