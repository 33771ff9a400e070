/* atexit, which glibc links statically (libc_nonshared.a): what it registers belongs to the library that asks. */
extern void *__dso_handle __attribute__((visibility("hidden")));
int __cxa_atexit(void (*call)(void *), void *with, void *library);
int atexit(void (*call)(void));

int
atexit(void (*call)(void))
{
	return __cxa_atexit((void (*)(void *))(void *)call, 0, &__dso_handle);
}
