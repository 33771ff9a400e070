/* fstat, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __fxstat. */
#include "../stat.h"

int __fxstat(int version, int fd, void *into);
int fstat(int fd, void *into);

int
fstat(int fd, void *into)
{
	return __fxstat(STAT_VERSION, fd, into);
}
