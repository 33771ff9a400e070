/* lstat64, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __lxstat64. */
#include "../stat.h"

int __lxstat64(int version, const char *path, void *into);
int lstat64(const char *path, void *into);

int
lstat64(const char *path, void *into)
{
	return __lxstat64(STAT_VERSION, path, into);
}
