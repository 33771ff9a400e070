#include "net/body.h"

#include "base/crypto.h"
#include "base/fs.h"

#include <string.h>
#include <unistd.h>

uint64_t
ws_body_length(const struct ws_body *body)
{
	uint64_t length = 0;
	for (size_t i = 0; i < body->count; i++) {
		length += body->pieces[i].length_bytes;
	}
	return length;
}

static void
leave_file(struct ws_body_reader *r)
{
	if (r->fd >= 0) {
		close(r->fd);
		r->fd = -1;
	}
	ws_hasher_drop(r->hasher);
	r->hasher = NULL;
}

void
ws_body_rewind(struct ws_body_reader *r)
{
	leave_file(r);
	r->number = 0;
	r->done = 0;
}

static ptrdiff_t
read_piece(struct ws_body_reader *r, const struct ws_piece *piece, void *to, size_t len)
{
	if (piece->bytes) {
		memcpy(to, (const char *)piece->bytes + r->done, len);
		return (ptrdiff_t)len;
	}
	if (r->fd < 0 && (r->fd = ws_fs_open_regular(piece->path, 0, NULL, NULL)) < 0) {
		return -1;
	}
	ssize_t got = pread(r->fd, to, len, (off_t)(piece->offset + r->done));
	return got > 0 ? got : -1;
}

/* What was read is what it should be, as far as that is known: at the end of the piece. */
static bool
is_expected(struct ws_body_reader *r, const struct ws_piece *piece, const void *bytes, size_t len)
{
	if (!piece->sha256) {
		return true;
	}
	r->hasher = r->hasher ? r->hasher : ws_hasher_make();
	ws_hasher_add(r->hasher, bytes, len);
	if (r->done + len < piece->length_bytes) {
		return true;
	}
	struct ws_digest digest = ws_hasher_finish(r->hasher);
	r->hasher = NULL;
	return ws_digest_is(&digest, piece->sha256);
}

ptrdiff_t
ws_body_read(struct ws_body_reader *r, void *to, size_t room)
{
	while (r->number < r->body->count && r->done == r->body->pieces[r->number].length_bytes) {
		leave_file(r);
		r->number++;
		r->done = 0;
	}
	if (r->number == r->body->count || room == 0) {
		return 0;
	}
	const struct ws_piece *piece = &r->body->pieces[r->number];
	uint64_t left = piece->length_bytes - r->done;
	ptrdiff_t got = read_piece(r, piece, to, left < room ? (size_t)left : room);
	if (got > 0 && !is_expected(r, piece, to, (size_t)got)) {
		return -1;
	}
	r->done += got > 0 ? (uint64_t)got : 0;
	return got;
}
