/* pthread_rwlock_clockwrlock, glibc 2.30: libstdc++'s waits by the steady clock. */
#include "../clock.h"

int pthread_rwlock_timedwrlock(void *lock, const struct moment *deadline);
int pthread_rwlock_clockwrlock(void *lock, int clock, const struct moment *deadline);

int
pthread_rwlock_clockwrlock(void *lock, int clock, const struct moment *deadline)
{
	struct moment real = in_realtime(clock, deadline);
	return pthread_rwlock_timedwrlock(lock, &real);
}
