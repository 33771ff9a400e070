/* fstatat, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __fxstatat. */
#include "../stat.h"

int __fxstatat(int version, int fd, const char *path, void *into, int flags);
int fstatat(int fd, const char *path, void *into, int flags);

int
fstatat(int fd, const char *path, void *into, int flags)
{
	return __fxstatat(STAT_VERSION, fd, path, into, flags);
}
