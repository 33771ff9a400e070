/* byte_source.c - pread in pieces. */
#include "base/byte_source.h"

#include "base/fs.h"

#include <errno.h>

static bool
read_spans(
	struct ws_byte_source *self, const struct ws_span *spans, size_t count, struct ws_err *err)
{
	const struct ws_file_source *file = (const struct ws_file_source *)self;
	char chunk[65536];
	for (const struct ws_span *span = spans; span < spans + count; span++) {
		if (span->offset > self->size || span->len > self->size - span->offset) {
			return ws_err_set(err, WS_ERR_IO, "'%s' ends at byte %ju, before what was asked for",
				self->name, (uintmax_t)self->size);
		}
		for (uint64_t done = 0; done < span->len;) {
			uint64_t left = span->len - done;
			size_t step = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
			ssize_t got = pread(file->fd, chunk, step, (off_t)(span->offset + done));
			if (got < 0 && errno == EINTR) {
				continue;
			}
			if (got < 0) {
				return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", self->name);
			}
			if (got == 0) {
				return ws_err_set(
					err, WS_ERR_IO, "'%s' became shorter while it was read", self->name);
			}
			if (!span->take(span->self, chunk, (size_t)got, err)) {
				return false;
			}
			done += (uint64_t)got;
		}
	}
	struct stat now;
	const struct stat *then = &file->opened;
	if (fstat(file->fd, &now) < 0 || now.st_size != then->st_size
		|| now.st_mtim.tv_sec != then->st_mtim.tv_sec
		|| now.st_mtim.tv_nsec != then->st_mtim.tv_nsec) {
		return ws_err_set(err, WS_ERR_IO, "'%s' changed while it was read", self->name);
	}
	return true;
}

bool
ws_file_source_open(const char *path, struct ws_file_source *file, struct ws_err *err)
{
	*file = (struct ws_file_source){.fd = -1};
	file->fd = ws_fs_open_regular(path, 0, &file->opened, err);
	if (file->fd < 0) {
		return false;
	}
	file->source = (struct ws_byte_source){
		.name = path, .size = (uint64_t)file->opened.st_size, .read = read_spans};
	return true;
}

void
ws_file_source_close(struct ws_file_source *file)
{
	if (file->source.read && file->fd >= 0) {
		close(file->fd);
	}
	*file = (struct ws_file_source){.fd = -1};
}
