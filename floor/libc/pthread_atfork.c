/* pthread_atfork, which glibc links statically (libc_nonshared.a). */
extern void *__dso_handle __attribute__((visibility("hidden")));
int __register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

int
pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return __register_atfork(prepare, parent, child, &__dso_handle);
}
