/* byte_source.c - pread in pieces. */
#include "base/byte_source.h"

#include "base/fs.h"

#include <errno.h>

static bool
read_span(const struct ws_file_source *file, const struct ws_span *span, struct ws_err *err)
{
	const char *path = file->source.name;
	uint64_t size = file->source.size;
	if (span->offset > size || span->len > size - span->offset) {
		return ws_err_set(err, WS_ERR_IO, "'%s' ends at byte %ju, before what was asked for", path,
			(uintmax_t)size);
	}
	char chunk[65536];
	for (uint64_t done = 0; done < span->len;) {
		uint64_t left = span->len - done;
		size_t step = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t got = pread(file->fd, chunk, step, (off_t)(span->offset + done));
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
		}
		if (got == 0) {
			return ws_err_set(err, WS_ERR_IO, "'%s' became shorter while it was read", path);
		}
		if (!span->take(span->self, chunk, (size_t)got, err)) {
			return false;
		}
		done += (uint64_t)got;
	}
	return true;
}

static bool
read_spans(
	struct ws_byte_source *self, const struct ws_span *spans, size_t count, struct ws_err *err)
{
	const struct ws_file_source *file = (const struct ws_file_source *)self;
	for (size_t i = 0; i < count; i++) {
		if (!read_span(file, &spans[i], err)) {
			return false;
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
