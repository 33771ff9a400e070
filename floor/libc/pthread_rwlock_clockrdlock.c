/* pthread_rwlock_clockrdlock, glibc 2.30: libstdc++'s waits by the steady clock. */
#include "../clock.h"

int pthread_rwlock_timedrdlock(void *lock, const struct moment *deadline);
int pthread_rwlock_clockrdlock(void *lock, int clock, const struct moment *deadline);

int
pthread_rwlock_clockrdlock(void *lock, int clock, const struct moment *deadline)
{
	struct moment real = in_realtime(clock, deadline);
	return pthread_rwlock_timedrdlock(lock, &real);
}
