/* mapping.c - open, fstat, mmap. */
#include "elf/mapping.h"

#include "base/attr.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

bool
ws_mapping_open(const char *path, const char *name, size_t least, struct ws_mapping *mapping,
	struct ws_err *err)
{
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer */
	struct stat status;
	*mapping = (struct ws_mapping){0};
	if (fd < 0 || fstat(fd, &status) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", name);
	}
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)least) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is not an ELF file", name);
	}
	size_t len = (size_t)status.st_size;
	const void *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		return ws_err_sys(err, WS_ERR_IO, "cannot map '%s'", name);
	}
	*mapping = (struct ws_mapping){bytes, len};
	return true;
}

void
ws_mapping_close(struct ws_mapping *mapping)
{
	if (mapping->bytes) {
		munmap((void *)(uintptr_t)mapping->bytes, mapping->len);
	}
	*mapping = (struct ws_mapping){0};
}

void
ws_mapping_forget(const struct ws_mapping *mapping)
{
	if (mapping->bytes) {
		madvise((void *)(uintptr_t)mapping->bytes, mapping->len, MADV_DONTNEED);
	}
}
