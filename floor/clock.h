/* clock.h - converts a deadline of any clock to CLOCK_REALTIME, which the older calls use */
struct moment {
	long seconds, nanoseconds;
};

int clock_gettime(int clock, struct moment *now);

static inline struct moment
in_realtime(int clock, const struct moment *deadline)
{
	struct moment now, real;
	if (clock == 0) {
		return *deadline;
	}
	clock_gettime(clock, &now);
	clock_gettime(0, &real);
	real.seconds += deadline->seconds - now.seconds;
	real.nanoseconds += deadline->nanoseconds - now.nanoseconds;
	while (real.nanoseconds < 0) {
		real.nanoseconds += 1000000000;
		real.seconds--;
	}
	while (real.nanoseconds >= 1000000000) {
		real.nanoseconds -= 1000000000;
		real.seconds++;
	}
	return real;
}
