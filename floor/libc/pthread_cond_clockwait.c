/* pthread_cond_clockwait, glibc 2.30: libstdc++'s waits by the steady clock. */
#include "../clock.h"

int pthread_cond_timedwait(void *condition, void *mutex, const struct moment *deadline);
int pthread_cond_clockwait(void *condition, void *mutex, int clock, const struct moment *deadline);

int
pthread_cond_clockwait(void *condition, void *mutex, int clock, const struct moment *deadline)
{
	struct moment real = in_realtime(clock, deadline);
	return pthread_cond_timedwait(condition, mutex, &real);
}
