/* sweep.c - finds processes by /proc/PID/cwd. */
#include "sys/sweep.h"

#include "sys/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool
works_below(const char *pid, const char *dir)
{
	char path[64], folder[PATH_MAX];
	snprintf(path, sizeof(path), "/proc/%.20s/cwd", pid);
	ssize_t len = readlink(path, folder, sizeof(folder) - 1);
	if (len < 0) {
		return false;
	}
	folder[len] = '\0';
	size_t below = strlen(dir);
	return strncmp(folder, dir, below) == 0
		&& (folder[below] == '/' || folder[below] == '\0'
			|| strcmp(folder + below, " (deleted)") == 0);
}

static unsigned
sweep_once(const char *dir)
{
	WS_AUTO_DIR DIR *proc = opendir("/proc");
	unsigned found = 0;
	const struct dirent *entry;
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		if (pid > 1 && pid != getpid() && works_below(entry->d_name, dir)) {
			kill(pid, SIGKILL);
			found++;
		}
	}
	return found;
}

/* Until so many rounds in a row have found no process. */
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
	/* Every child was waited for: no process is between fork and chdir. */
	sweep_until(dir, 1);
	/* A byte through the pipe: the work is done, later processes there are not ours to kill. */
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
	close(ws_take_fd(&child.pidfd)); /* it ends after us; init reaps it */
	return ws_take_fd(&writer);
}
