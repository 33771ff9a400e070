/* test_sys_host.c - other machines, as files: control groups of both versions, quotas, releases. */
#include "test.h"

#include "base/fs.h"
#include "sys/host.h"

#define GIB ((uint64_t)1 << 30)

static void
put(struct ws_arena *a, const char *root, const char *path, const char *text)
{
	struct ws_err err;
	const char *file = ws_arena_printf(a, "%s/%s", root, path);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, file), &err), err);
	assert_ok(ws_fs_write(file, text, strlen(text), 0644, &err), err);
}

static const char *
machine(struct ws_arena *a)
{
	const char *root = ws_test_dir(a);
	put(a, root, "proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n");
	return root;
}

WS_TEST(a_plain_machine_has_what_it_has)
{
	struct ws_host host = ws_host_read(machine(a), a);
	assert_true(host.memory_bytes == 16 * GIB);
	assert_null(host.memory_group);
	assert_true(ws_host_available_bytes(&host) == 8 * GIB);
	assert_true(host.cores >= 1);
	assert_string_equal(host.distribution, "");
}

WS_TEST(groups_of_version_2_limit_from_any_level)
{
	const char *root = machine(a);
	put(a, root, "proc/self/cgroup", "0::/a/b\n");
	put(a, root, "sys/fs/cgroup/a/memory.max", "4294967296\n");
	put(a, root, "sys/fs/cgroup/a/memory.current", "3221225472\n");
	put(a, root, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1073741824\n");
	put(a, root, "sys/fs/cgroup/a/b/memory.max", "max\n");
	put(a, root, "sys/fs/cgroup/a/b/cpu.max", "100000 100000\n");
	struct ws_host host = ws_host_read(root, a);
	assert_true(host.memory_bytes == 4 * GIB);
	assert_true(host.group_is_v2);
	assert_int_equal(host.cores, 1);
	/* 4 GiB less 3 used, of which 1 is page cache that can go. */
	assert_true(ws_host_available_bytes(&host) == 2 * GIB);
}

WS_TEST(groups_of_version_1_limit_by_controller)
{
	const char *root = machine(a);
	put(a, root, "proc/self/cgroup",
		"9:cpu,cpuacct:/box\n4:memory:/box/inner\n1:name=systemd:/x\n");
	put(a, root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put(a, root, "sys/fs/cgroup/memory/box/memory.limit_in_bytes", "2147483648\n");
	put(a, root, "sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1610612736\n");
	put(a, root, "sys/fs/cgroup/memory/box/memory.stat",
		"cache 5\ntotal_inactive_file 536870912\n");
	put(a, root, "sys/fs/cgroup/memory/box/inner/memory.limit_in_bytes", "9223372036854771712\n");
	put(a, root, "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
	put(a, root, "sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
	struct ws_host host = ws_host_read(root, a);
	assert_true(host.memory_bytes == 2 * GIB);
	assert_false(host.group_is_v2);
	assert_int_equal(host.cores, 1);
	assert_true(ws_host_available_bytes(&host) == GIB);
}

WS_TEST(without_a_quota_the_limit_is_absent)
{
	const char *root = machine(a);
	put(a, root, "proc/self/cgroup", "9:cpu:/\n");
	put(a, root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	put(a, root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	struct ws_host plain = ws_host_read(machine(a), a), host = ws_host_read(root, a);
	assert_int_equal(host.cores, plain.cores);
}

WS_TEST(the_distribution_is_known_by_its_file)
{
	const char *root = machine(a);
	put(a, root, "etc/os-release", "PRETTY_NAME=\"Alma 9\"\nID=almalinux\nID_LIKE='rhel fedora'\n");
	struct ws_host host = ws_host_read(root, a);
	assert_string_equal(host.distribution, "almalinux");
	assert_string_equal(host.distribution_like, "rhel fedora");
	assert_string_equal(host.pretty_name, "Alma 9");
}
