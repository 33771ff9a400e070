/* mknod, a symbol from glibc 2.33 on; before, <sys/stat.h> had it call __xmknod. */
int __xmknod(int version, const char *path, unsigned mode, unsigned long *device);
int mknod(const char *path, unsigned mode, unsigned long device);

int
mknod(const char *path, unsigned mode, unsigned long device)
{
	return __xmknod(0, path, mode, &device);
}
