/* limits.c - setrlimit(2). RLIMIT_DATA counts private writable memory (Linux 4.7 and newer); RLIMIT_AS
 * would count mapped libraries of 1 GB as well. */
#include "sys/limits.h"

#include <sys/resource.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
static const bool limits_memory = false;
#else
static const bool limits_memory = true;
#endif

void
ws_limit_self(uint64_t data_bytes, unsigned cpu_s)
{
	struct rlimit data = {.rlim_cur = data_bytes, .rlim_max = data_bytes};
	struct rlimit cpu = {.rlim_cur = cpu_s, .rlim_max = cpu_s + 1};
	struct rlimit no_core = {0};
	if (limits_memory) {
		setrlimit(RLIMIT_DATA, &data);
	}
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &no_core);
}

bool
ws_limit_stack(uint64_t least, uint64_t wanted)
{
	struct rlimit stack;
	if (getrlimit(RLIMIT_STACK, &stack) < 0 || stack.rlim_cur == RLIM_INFINITY
		|| stack.rlim_cur >= wanted) {
		return true;
	}
	stack.rlim_cur = stack.rlim_max < wanted ? stack.rlim_max : wanted;
	return setrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur >= least;
}
