/* pthread_mutex_clocklock, glibc 2.30: libstdc++'s waits by the steady clock. */
#include "../clock.h"

int pthread_mutex_timedlock(void *lock, const struct moment *deadline);
int pthread_mutex_clocklock(void *lock, int clock, const struct moment *deadline);

int
pthread_mutex_clocklock(void *lock, int clock, const struct moment *deadline)
{
	struct moment real = in_realtime(clock, deadline);
	return pthread_mutex_timedlock(lock, &real);
}
