/* at_quick_exit, which glibc links statically (libc_nonshared.a). */
extern void *__dso_handle __attribute__((visibility("hidden")));
int __cxa_at_quick_exit(void (*call)(void *), void *library);
int at_quick_exit(void (*call)(void));

int
at_quick_exit(void (*call)(void))
{
	return __cxa_at_quick_exit((void (*)(void *))(void *)call, &__dso_handle);
}
