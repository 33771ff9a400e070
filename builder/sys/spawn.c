/* spawn.c - posix_spawn with a new group, a clean signal mask and no inherited descriptors.
 * glibc's posix_spawn reports a failing exec to the parent, so "not found" never looks like
 * an exit status. */
#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
add_stream(posix_spawn_file_actions_t *actions, int fd, int as)
{
	if (fd < 0) {
		posix_spawn_file_actions_addopen(actions, as, "/dev/null", O_RDWR, 0);
	} else {
		posix_spawn_file_actions_adddup2(actions, fd, as);
	}
}

static int
spawn_now(const struct ws_spawn *spawn, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	short group = spawn->is_in_our_group ? 0 : POSIX_SPAWN_SETPGROUP;
	posix_spawnattr_setflags(
		&attributes, (short)(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	add_stream(&actions, spawn->in, STDIN_FILENO);
	add_stream(&actions, spawn->out, STDOUT_FILENO);
	add_stream(&actions, spawn->err, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	if (spawn->dir) {
		posix_spawn_file_actions_addchdir_np(&actions, spawn->dir);
	}
	int code = posix_spawn(pid, spawn->program, &actions, &attributes,
		(char *const *)(uintptr_t)spawn->argv, (char *const *)(uintptr_t)spawn->env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return code;
}

bool
ws_spawn_start(const struct ws_spawn *spawn, struct ws_child *child, struct ws_err *err)
{
	pid_t pid;
	int code = spawn_now(spawn, &pid);
	if (code != 0) {
		errno = code;
		return ws_err_sys(err, WS_ERR_BUILD, "cannot start '%s'", spawn->program);
	}
	ws_limit(pid, &spawn->limits);
	child->pid = pid;
	child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (child->pidfd < 0) {
		ws_err_sys(err, WS_ERR_INTERNAL, "cannot watch '%s'", spawn->program);
		ws_spawn_signal(child, SIGKILL);
		ws_spawn_reap(child);
		return false;
	}
	fcntl(child->pidfd, F_SETFD, FD_CLOEXEC);
	return true;
}

static uint64_t
milliseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000;
}

struct ws_exit
ws_spawn_reap(struct ws_child *child)
{
	struct rusage used = {0};
	siginfo_t ended;
	int status = 0;
	while (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
	}
	/* What it left behind must not outlive it. Until it is reaped the group's number is its own. */
	ws_spawn_signal(child, SIGKILL);
	while (wait4(child->pid, &status, 0, &used) < 0 && errno == EINTR) {
	}
	if (child->pidfd >= 0) {
		close(ws_take_fd(&child->pidfd));
	}
	return (struct ws_exit){
		.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.cpu_ms = milliseconds(used.ru_utime) + milliseconds(used.ru_stime),
		.max_rss_bytes = (uint64_t)used.ru_maxrss * 1024,
	};
}

void
ws_spawn_signal(const struct ws_child *child, int signal)
{
	kill(-child->pid, signal);
}

/* Reads a small file of /proc; "" when it is gone. */
static void
read_small(const char *path, char *text, size_t size)
{
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, size - 1) : 0;
	text[got > 0 ? got : 0] = '\0';
}

static uint64_t
resident_bytes(pid_t pid)
{
	char path[64], text[128];
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	read_small(path, text, sizeof(text));
	const char *second = strchr(text, ' '); /* "size resident shared ...", in pages: proc(5) */
	return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Compilers are single-threaded trees a few deep; the depth bound only stops a fork bomb. */
static uint64_t
tree_bytes(pid_t pid, unsigned depth)
{
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	read_small(path, text, sizeof(text));
	uint64_t sum = resident_bytes(pid);
	for (char *next = text; *next && depth < 16;) {
		char *end;
		long child = strtol(next, &end, 10);
		if (end == next) {
			break;
		}
		sum += tree_bytes((pid_t)child, depth + 1);
		next = end;
	}
	return sum;
}

uint64_t
ws_spawn_rss_bytes(pid_t pid)
{
	return tree_bytes(pid, 0);
}
