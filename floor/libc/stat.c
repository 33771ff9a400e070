/* stat, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __xstat. */
#include "../stat.h"

int __xstat(int version, const char *path, void *into);
int stat(const char *path, void *into);

int
stat(const char *path, void *into)
{
	return __xstat(STAT_VERSION, path, into);
}
