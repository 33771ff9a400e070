/* install.c - the names gcc's packages have. Debian and Ubuntu: g++-N, some N a release. RHEL
 * and its like: gcc-c++ and gcc-toolset-N-gcc-c++. Fedora and SUSE: gccN-c++. Arch: gccN. Alpine has
 * one gcc a release. */
#include "kit/hostcc/install.h"

#include "base/fs.h"
#include "kit/distro.h"
#include "sys/capture.h"
#include "sys/host.h"

#include <dirent.h>
#include <string.h>

static bool
takes_gcc(const struct ws_hostcc_wish *wish, unsigned major)
{
	return ws_hostcc_fits(&(struct ws_hostcc){.kind = WS_HOSTCC_GCC, .major = major}, wish);
}

/* The newest major that fits; 0 when none does. */
static unsigned
newest_wanted(const struct ws_hostcc_wish *wish)
{
	unsigned major = wish->limits.gcc_max;
	while (major > 0 && !takes_gcc(wish, major)) {
		major--;
	}
	return major;
}

typedef WS_VEC(unsigned) major_list;

/* N of every package "g++-N" that apt knows. */
static void
ask_apt(const struct ws_host *host, struct ws_arena *a, major_list *majors)
{
	const char *program = ws_arena_printf(a, "%s/usr/bin/apt-cache", host->root);
	const char *const argv[] = {program, "pkgnames", "g++-", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_capture_run(&(struct ws_capture){.argv = argv}, &answer, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s) {
		struct ws_str name = ws_str_cut(&rest, '\n');
		uint64_t major;
		if (name.n > 4 && memcmp(name.s, "g++-", 4) == 0
			&& ws_str_to_u64((struct ws_str){name.s + 4, name.n - 4}, &major) && major < 1000) {
			*ws_vec_push(majors, a) = (unsigned)major;
		}
	}
}

/* Without lists (a container image) apt knows only what is installed. */
static bool
has_apt_lists(const struct ws_host *host, struct ws_arena *a)
{
	WS_AUTO_DIR DIR *dir = opendir(ws_arena_printf(a, "%s/var/lib/apt/lists", host->root));
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (strstr(entry->d_name, "_Packages")) {
			return true;
		}
	}
	return false;
}

static void
cure_debian(const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (!has_apt_lists(host, a)) {
		ws_err_cure(err,
			"install one, if this release has it:  apt-get update && apt-get install g++-%u",
			newest_wanted(wish));
		return;
	}
	major_list majors = {0};
	ask_apt(host, a, &majors);
	unsigned best = 0, lowest = 0;
	for (size_t i = 0; i < majors.len; i++) {
		unsigned major = majors.at[i];
		best = takes_gcc(wish, major) && major > best ? major : best;
		lowest = lowest == 0 || major < lowest ? major : lowest;
	}
	if (best > 0) {
		ws_err_cure(err, "install one:  apt-get install g++-%u", best);
	} else if (lowest > wish->limits.gcc_max) {
		ws_err_cure(err, "%s has none to install: its oldest is g++-%u", host->pretty_name, lowest);
	} else {
		ws_err_cure(err, "%s has none to install", host->pretty_name);
	}
}

void
ws_hostcc_install_cure(
	const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err)
{
	unsigned n = newest_wanted(wish);
	if (n == 0) {
		return;
	}
	switch (ws_distro_of(host)) {
	case WS_DISTRO_DEBIAN:
		cure_debian(wish, host, err);
		break;
	case WS_DISTRO_RHEL:
		ws_err_cure(err, "install one:  dnf install gcc-toolset-%u-gcc-c++", n);
		ws_err_cure(err, "which there are:  dnf list gcc-c++ 'gcc-toolset-*-gcc-c++'");
		break;
	case WS_DISTRO_FEDORA:
		ws_err_cure(err, "install one:  dnf install gcc%u-c++", n);
		ws_err_cure(err, "which there are:  dnf list 'gcc*-c++'");
		break;
	case WS_DISTRO_SUSE:
		ws_err_cure(err, "install one:  zypper install gcc%u-c++", n);
		ws_err_cure(err, "which there are:  zypper search 'gcc*-c++'");
		break;
	case WS_DISTRO_ARCH:
		ws_err_cure(err, "install one:  pacman -S gcc%u", n);
		ws_err_cure(err, "which there are:  pacman -Ss '^gcc[0-9]*$'");
		break;
	case WS_DISTRO_ALPINE:
		ws_err_cure(err, "Alpine has one gcc a release:  apk add g++  (apk policy g++ says which)");
		break;
	case WS_DISTRO_UNKNOWN:
		ws_err_cure(err, "install gcc %u; a g++-%u on PATH or in /usr/bin is found", n, n);
		break;
	}
}
