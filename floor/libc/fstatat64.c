/* fstatat64, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __fxstatat64. */
#include "../stat.h"

int __fxstatat64(int version, int fd, const char *path, void *into, int flags);
int fstatat64(int fd, const char *path, void *into, int flags);

int
fstatat64(int fd, const char *path, void *into, int flags)
{
	return __fxstatat64(STAT_VERSION, fd, path, into, flags);
}
