/* stat64, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __xstat64. */
#include "../stat.h"

int __xstat64(int version, const char *path, void *into);
int stat64(const char *path, void *into);

int
stat64(const char *path, void *into)
{
	return __xstat64(STAT_VERSION, path, into);
}
