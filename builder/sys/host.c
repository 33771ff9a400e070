/* host.c - sources: proc(5), cgroups(7), Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/memory.rst of the kernel, os-release(5). */
#include "sys/host.h"

#include "base/fs.h"

#include <inttypes.h>
#include <sched.h>

static const char *
read_text(const char *root, const char *path, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	if (!ws_fs_read_at_most(ws_arena_printf(a, "%s%s", root, path), 1 << 20, &b, NULL)) {
		return NULL;
	}
	return ws_buf_copy(&b, a);
}

/* A number in a file of one line; "max" and a missing file are UINT64_MAX. */
static uint64_t
read_limit(const char *folder, const char *name, struct ws_arena *a)
{
	const char *text = read_text(folder, ws_arena_printf(a, "/%s", name), a);
	uint64_t value;
	return text && ws_str_to_u64(ws_str_trim(ws_str_of(text)), &value) ? value : UINT64_MAX;
}

/* The number after "name" at the start of a line, as in /proc/meminfo and memory.stat. */
static bool
find_field(const char *text, const char *name, uint64_t *value)
{
	size_t len = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && (line[len] == ' ' || line[len] == ':')) {
			*value = strtoull(line + len + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

static uint64_t
meminfo_bytes(const struct ws_host *host, const char *field, struct ws_arena *a)
{
	const char *text = read_text(host->root, "/proc/meminfo", a);
	uint64_t kib = 0;
	return text && find_field(text, field, &kib) ? kib * 1024 : 0;
}

/* The path of our group for one controller: "N:list:/path" (v1) or "0::/path" (v2). */
static const char *
group_of(const struct ws_host *host, const char *controller, struct ws_arena *a)
{
	const char *text = read_text(host->root, "/proc/self/cgroup", a);
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		ws_str_cut(&line, ':');
		struct ws_str list = ws_str_cut(&line, ':');
		if (!line.s) {
			continue;
		}
		bool found = !controller && list.n == 0;
		while (controller && list.s && !found) {
			found = ws_str_is(ws_str_cut(&list, ','), controller);
		}
		if (found) {
			return ws_str_copy(line, a);
		}
	}
	return NULL;
}

/* Tightens memory and cores to the limits of one group. A file that is missing sets none: version 1
 * has a folder for each controller. */
static void
look(struct ws_host *host, const char *folder, bool v2, struct ws_arena *a)
{
	uint64_t limit = read_limit(folder, v2 ? "memory.max" : "memory.limit_in_bytes", a);
	if (limit < host->memory_bytes) {
		host->memory_bytes = limit;
		host->memory_group = folder;
		host->group_is_v2 = v2;
	}
	uint64_t quota_us = UINT64_MAX, period_us = 0;
	const char *quota = read_text(folder, "/cpu.max", a); /* "max 100000" or "200000 100000" */
	if (!v2) {
		quota_us = read_limit(folder, "cpu.cfs_quota_us", a); /* -1: not a number, no limit */
		period_us = read_limit(folder, "cpu.cfs_period_us", a);
	} else if (quota && quota[0] != 'm') {
		char *end;
		quota_us = strtoull(quota, &end, 10);
		period_us = strtoull(end, NULL, 10);
	}
	if (period_us == 0 || period_us == UINT64_MAX || quota_us >= UINT64_MAX / 2) {
		return;
	}
	uint64_t cores = (quota_us + period_us - 1) / period_us;
	if (cores > 0 && cores < host->cores) {
		host->cores = (unsigned)cores;
	}
}

/* NAME=value or NAME="value" of os-release(5). */
static const char *
release_field(const char *text, const char *name, struct ws_arena *a)
{
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		if (!ws_str_is(ws_str_cut(&line, '='), name) || !line.s) {
			continue;
		}
		if (line.n >= 2 && (line.s[0] == '"' || line.s[0] == '\'')) {
			line.s++;
			line.n -= 2;
		}
		return ws_str_copy(line, a);
	}
	return "";
}

struct ws_host
ws_host_read(const char *root, struct ws_arena *a)
{
	static const struct {
		const char *controller, *mount;
	} groups[] = {{NULL, "/sys/fs/cgroup"}, {"memory", "/sys/fs/cgroup/memory"},
		{"cpu", "/sys/fs/cgroup/cpu"}};
	struct ws_host host = {.root = ws_arena_strdup(a, root), .cores = 1};
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
		host.cores = (unsigned)CPU_COUNT(&set);
	}
	host.memory_bytes = meminfo_bytes(&host, "MemTotal", a);
	for (size_t i = 0; i < WS_LEN(groups); i++) {
		/* Our group's folder, and each one above it that exists. */
		const char *group = group_of(&host, groups[i].controller, a);
		const char *top = ws_arena_printf(a, "%s%s", root, groups[i].mount);
		char *path = ws_arena_printf(a, "%s%s", top, group ? group : "");
		for (size_t len = SIZE_MAX; group && len > strlen(top);) {
			len = strlen(path);
			while (len > strlen(top) && path[len - 1] == '/') {
				path[--len] = '\0';
			}
			if (ws_fs_is_dir(path)) {
				look(&host, ws_arena_strdup(a, path), i == 0, a);
			}
			if (len > strlen(top)) {
				*strrchr(path, '/') = '\0';
			}
		}
	}
	const char *release = read_text(root, "/etc/os-release", a);
	host.distribution = release_field(release, "ID", a);
	host.distribution_like = release_field(release, "ID_LIKE", a);
	host.pretty_name = release_field(release, "PRETTY_NAME", a);
	return host;
}

uint64_t
ws_host_available_bytes(const struct ws_host *host)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	uint64_t available = meminfo_bytes(host, "MemAvailable", a), cache = 0;
	const char *folder = host->memory_group;
	bool v2 = host->group_is_v2;
	uint64_t used = folder ? read_limit(folder, v2 ? "memory.current" : "memory.usage_in_bytes", a)
						   : UINT64_MAX;
	if (used == UINT64_MAX) {
		return available;
	}
	/* Page cache that can be dropped does not count as use. */
	const char *stat = read_text(folder, "/memory.stat", a);
	if (stat) {
		find_field(stat, v2 ? "inactive_file" : "total_inactive_file", &cache);
	}
	used = used > cache ? used - cache : 0;
	uint64_t left = host->memory_bytes > used ? host->memory_bytes - used : 0;
	return left < available ? left : available;
}

/* ---- distributions ---- */

static const struct {
	const char *id;
	enum ws_distro distro;
} known[] = {
	{"debian", WS_DISTRO_DEBIAN},
	{"ubuntu", WS_DISTRO_DEBIAN},
	{"rhel", WS_DISTRO_RHEL},
	{"centos", WS_DISTRO_RHEL},
	{"rocky", WS_DISTRO_RHEL},
	{"almalinux", WS_DISTRO_RHEL},
	{"ol", WS_DISTRO_RHEL},
	{"fedora", WS_DISTRO_FEDORA},
	{"amzn", WS_DISTRO_FEDORA},
	{"suse", WS_DISTRO_SUSE},
	{"opensuse", WS_DISTRO_SUSE},
	{"sles", WS_DISTRO_SUSE},
	{"arch", WS_DISTRO_ARCH},
	{"alpine", WS_DISTRO_ALPINE},
};

static enum ws_distro
find(struct ws_str id)
{
	for (size_t i = 0; i < WS_LEN(known); i++) {
		if (ws_str_is(id, known[i].id)) {
			return known[i].distro;
		}
	}
	return WS_DISTRO_UNKNOWN;
}

enum ws_distro
ws_distro_of(const struct ws_host *host)
{
	enum ws_distro distro = find(ws_str_of(host->distribution));
	struct ws_str rest = ws_str_of(host->distribution_like);
	while (rest.s && distro == WS_DISTRO_UNKNOWN) {
		distro = find(ws_str_cut(&rest, ' '));
	}
	return distro;
}
