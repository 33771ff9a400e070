#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static bool
set_stream(int fd, int as)
{
	if (fd < 0) {
		fd = open("/dev/null", O_RDWR);
	}
	return fd == as ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, as) == as;
}

/* Our own descriptors are closed by the exec. Linux before 5.9: close the first thousand of
 * others. */
static void
close_from(unsigned first)
{
	if (syscall(SYS_close_range, first, ~0U, 0) != 0) {
		for (unsigned fd = first; fd < 1024; fd++) {
			close((int)fd);
		}
	}
}

/* In the child, which has the parent's memory until it executes: system calls alone. Returns
 * errno. */
static int
execute(const struct ws_spawn *spawn)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	for (int number = 1; number < NSIG; number++) {
		sigaction(number, &usual, NULL); /* KILL and STOP stay as they are */
	}
	if (!spawn->is_in_our_group) {
		setpgid(0, 0);
	}
	if (set_stream(spawn->in, STDIN_FILENO) && set_stream(spawn->out, STDOUT_FILENO)
		&& set_stream(spawn->err, STDERR_FILENO) && (!spawn->dir || chdir(spawn->dir) == 0)) {
		sigset_t none;
		sigemptyset(&none);
		close_from(STDERR_FILENO + 1);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execve(spawn->program, (char *const *)(uintptr_t)spawn->argv,
			(char *const *)(uintptr_t)spawn->env);
	}
	return errno;
}

/* No signal while two processes share the memory: a handler in the child would write to ours. */
static int
spawn_now(const struct ws_spawn *spawn, pid_t *pid)
{
	sigset_t all, before;
	volatile int code = 0;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	*pid = vfork();
	if (*pid == 0) {
		code = execute(spawn);
		_exit(127);
	}
	code = *pid < 0 ? errno : code;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (*pid > 0 && code != 0) {
		waitpid(*pid, NULL, 0);
	}
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
	/* Processes that the child started must not outlive it. Until the reap the group's number
	 * cannot be reused. */
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

/* Compilers are single-threaded trees a few deep; the depth bound only stops a fork bomb. */
static uint64_t
tree_bytes(pid_t pid, unsigned depth)
{
	char path[64], text[4096];
	uint64_t sum = 0;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	read_small(path, text, sizeof(text));
	const char *second = strchr(text, ' '); /* "size resident shared ...", in pages: proc(5) */
	if (second) {
		sum = strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	read_small(path, text, sizeof(text));
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

/* ---- limits ---- */

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

/* ---- sweeping ---- */

static unsigned
sweep_once(const char *dir)
{
	WS_AUTO_DIR DIR *proc = opendir("/proc");
	unsigned found = 0;
	size_t below = strlen(dir);
	const struct dirent *entry;
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		char path[64], folder[PATH_MAX] = "";
		snprintf(path, sizeof(path), "/proc/%.20s/cwd", entry->d_name);
		if (pid > 1 && pid != getpid() && readlink(path, folder, sizeof(folder) - 1) > 0
			&& strncmp(folder, dir, below) == 0
			&& (folder[below] == '/' || folder[below] == '\0'
				|| strcmp(folder + below, " (deleted)") == 0)) {
			kill(pid, SIGKILL);
			found++;
		}
	}
	return found;
}

/* Repeats until @quiet_rounds rounds in a row found no process. */
static unsigned
sweep_until(const char *dir, unsigned quiet_rounds)
{
	unsigned sum = 0;
	for (unsigned quiet = 0, rounds = 0; rounds < 100; rounds++) {
		unsigned found = sweep_once(dir);
		sum += found;
		quiet = found ? 0 : quiet + 1;
		if (quiet == quiet_rounds) {
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
	}
	return sum;
}

unsigned
ws_sweep_now(const char *dir)
{
	/* A child between fork and chdir is not below the folder yet: look again, a little later. */
	return sweep_until(dir, 3);
}

void
ws_sweep_wait(int fd, const char *dir)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	char byte;
	ssize_t got;
	do {
		got = read(fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got == 0) {
		ws_sweep_now(dir);
	}
}

void
ws_sweep_end(int fd, const char *dir)
{
	/* All children were reaped: no process is between fork and chdir. */
	sweep_until(dir, 1);
	/* The byte ends the sweeper: later processes below the folder belong to others. */
	while (write(fd, "", 1) < 0 && errno == EINTR) {
	}
	close(fd);
}

int
ws_sweep_start(const char *program, const char *dir, struct ws_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		ws_err_sys(err, WS_ERR_INTERNAL, "cannot make a pipe");
		return -1;
	}
	WS_AUTO_FD int reader = ends[0];
	WS_AUTO_FD int writer = ends[1];
	const char *const argv[] = {"wheelsmith", "internal", "sweep", dir, NULL};
	const char *const env[] = {"LANG=C", NULL};
	struct ws_spawn spawn = {
		.program = program,
		.argv = argv,
		.env = env,
		.dir = "/",
		.in = reader,
		.out = -1,
		.err = -1,
	};
	struct ws_child child;
	if (!ws_spawn_start(&spawn, &child, err)) {
		return -1;
	}
	close(ws_take_fd(&child.pidfd)); /* the sweeper ends after us; init reaps it */
	return ws_take_fd(&writer);
}
