/* limits.c - setrlimit(2). RLIMIT_DATA counts private writable memory (Linux 4.7 and newer);
 * RLIMIT_AS would count mapped libraries of 1 GB as well. */
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
ws_limit(pid_t pid, const struct ws_limits *limits)
{
	struct rlimit data = {.rlim_cur = limits->memory_bytes, .rlim_max = limits->memory_bytes};
	struct rlimit cpu = {.rlim_cur = limits->cpu_s, .rlim_max = limits->cpu_s + 1};
	struct rlimit no_core = {0};
	if (limits->memory_bytes && limits_memory) {
		prlimit(pid, RLIMIT_DATA, &data, NULL);
	}
	if (limits->cpu_s) {
		prlimit(pid, RLIMIT_CPU, &cpu, NULL);
		prlimit(pid, RLIMIT_CORE, &no_core, NULL);
	}
}

bool
ws_limit_raise(int resource, uint64_t least, uint64_t wanted)
{
	struct rlimit now;
	if (getrlimit((__rlimit_resource_t)resource, &now) < 0 || now.rlim_cur == RLIM_INFINITY
		|| now.rlim_cur >= wanted) {
		return true;
	}
	now.rlim_cur = now.rlim_max < wanted ? now.rlim_max : wanted;
	return setrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_cur >= least;
}
