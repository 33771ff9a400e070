/* lstat, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __lxstat. */
#include "../stat.h"

int __lxstat(int version, const char *path, void *into);
int lstat(const char *path, void *into);

int
lstat(const char *path, void *into)
{
	return __lxstat(STAT_VERSION, path, into);
}
