/* arc4random_buf, glibc 2.36. */
#include <errno.h>

long getrandom(void *to, unsigned long len, unsigned flags);
void abort(void) __attribute__((noreturn));
void arc4random_buf(void *to, unsigned long len);

void
arc4random_buf(void *to, unsigned long len)
{
	for (char *at = to; len > 0;) {
		long got = getrandom(at, len, 0);
		if (got < 0 && errno != EINTR) {
			abort(); /* as the real one: no random numbers are worse than no program */
		}
		at += got > 0 ? got : 0;
		len -= got > 0 ? (unsigned long)got : 0;
	}
}
