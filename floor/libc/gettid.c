/* gettid, glibc 2.30. */
long syscall(long number, ...);
int gettid(void);

int
gettid(void)
{
#ifdef __x86_64__
	return (int)syscall(186);
#else
	return (int)syscall(178);
#endif
}
