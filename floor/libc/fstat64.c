/* fstat64, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __fxstat64. */
#include "../stat.h"

int __fxstat64(int version, int fd, void *into);
int fstat64(int fd, void *into);

int
fstat64(int fd, void *into)
{
	return __fxstat64(STAT_VERSION, fd, into);
}
