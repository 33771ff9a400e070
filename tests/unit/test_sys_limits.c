/* test_sys_limits.c - names that expand to gigabytes, or for years, in a process that is
 * limited. */
#include "test.h"

#include "elf/demangle.h"
#include "sys/spawn.h"

#include <signal.h>
#include <sys/wait.h>

/* f(A<i>, A<S0, S0>, A<S1, S1>, ...): each argument twice as long as the one before. */
static const char *
make_bomb(unsigned doublings, struct ws_arena *a)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	WS_AUTO_BUF struct ws_buf name = {0};
	ws_buf_puts(&name, "_Z1f1AIiE");
	for (unsigned i = 0; i < doublings; i++) {
		ws_buf_printf(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
	}
	return ws_buf_copy(&name, a);
}

/* How a limited process ends that reads the bomb; 0: it was left as it was. */
static int
read_limited(unsigned doublings, uint64_t data_bytes, unsigned cpu_s, struct ws_arena *a)
{
	const char *bomb = make_bomb(doublings, a);
	pid_t child = fork();
	if (child == 0) {
		ws_limit(0, &(struct ws_limits){.memory_bytes = data_bytes, .cpu_s = cpu_s});
		_exit(strcmp(ws_demangle(bomb, a), bomb) == 0 ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

WS_TEST(a_name_that_needs_too_much_memory_stays_as_it_is)
{
	assert_int_equal(read_limited(23, 64 << 20, 60, a), 0);
}

WS_TEST(a_name_that_takes_too_long_ends_the_process)
{
	int status = read_limited(35, 64 << 20, 1, a);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGXCPU);
}
