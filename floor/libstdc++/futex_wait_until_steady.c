/* std::__atomic_futex_unsigned_base::_M_futex_wait_until_steady(), GLIBCXX_3.4.29: <future> waits by the steady clock. */
#include "../clock.h"

_Bool
_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *self, unsigned *word, unsigned value, _Bool limited, long seconds, long nanoseconds);
_Bool
_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *self, unsigned *word, unsigned value, _Bool limited, long seconds, long nanoseconds);

_Bool
_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
	void *self, unsigned *word, unsigned value, _Bool limited, long seconds, long nanoseconds)
{
	struct moment deadline = {seconds, nanoseconds};
	if (limited) {
		deadline = in_realtime(1, &deadline);
	}
	return _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
		self, word, value, limited, deadline.seconds, deadline.nanoseconds);
}
