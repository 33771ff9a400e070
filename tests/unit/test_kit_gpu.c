/* test_kit_gpu.c - nvidia-smi as a script on a PATH of the test's own. The plain answers are what
 * driver 580.159.04 printed on a host with one H200. */
#include "test.h"

#include "base/fs.h"
#include "kit/cuda/gpu.h"

/* A folder with an nvidia-smi that prints @a gpus or @a users and ends with @a code. */
static const char *
make_smi(struct ws_arena *a, const char *gpus, const char *users, int code)
{
	const char *dir = ws_test_dir(a);
	const char *script = ws_arena_printf(a,
		"#!/bin/sh\n"
		"[ \"$2\" = --format=csv,noheader ] || exit 3\n"
		"case $1 in\n"
		"--query-gpu=index,name,compute_cap,memory.total,driver_version) cat <<'END'\n%sEND\n;;\n"
		"--query-compute-apps=pid,process_name,used_memory) cat <<'END'\n%sEND\n;;\n"
		"*) exit 4 ;;\nesac\nexit %d\n",
		gpus, users, code);
	const char *path = ws_path_join(a, dir, "nvidia-smi", NULL);
	struct ws_err err;
	assert_ok(ws_fs_write(path, script, strlen(script), 0755, &err), err);
	return dir;
}

static void
list_gpus(const char *root, const char *path, struct ws_arena *a, struct ws_gpus *found)
{
	const char *const vars[] = {path ? ws_arena_printf(a, "PATH=%s", path) : NULL, NULL};
	ws_gpu_list(&(struct ws_user_env){vars, root, NULL}, a, found);
}

static struct ws_gpus
list(struct ws_arena *a, const char *gpus, const char *users, int code)
{
	struct ws_gpus found;
	list_gpus("/nowhere", make_smi(a, gpus, users, code), a, &found);
	return found;
}

WS_TEST(one_device_and_who_uses_it)
{
	struct ws_gpus gpus = list(
		a, "0, NVIDIA H200, 9.0, 143771 MiB, 580.159.04\n", "435, /tmp/holds? a gpu, 518 MiB\n", 0);
	assert_int_equal(gpus.count, 1);
	assert_null(gpus.why_none);
	assert_string_equal(gpus.driver, "580.159.04");
	assert_int_equal(gpus.at[0].index, 0);
	assert_string_equal(gpus.at[0].name, "NVIDIA H200");
	assert_int_equal(gpus.at[0].arch.number, 90);
	assert_false(gpus.at[0].arch.ptx);
	assert_true(gpus.at[0].memory_bytes == (uint64_t)143771 << 20);
	assert_int_equal(gpus.user_count, 1);
	assert_int_equal(gpus.users[0].pid, 435);
	assert_string_equal(gpus.users[0].name, "/tmp/holds? a gpu");
	assert_true(gpus.users[0].memory_bytes == (uint64_t)518 << 20);
}

WS_TEST(several_devices_keep_their_order)
{
	struct ws_gpus gpus = list(a,
		"0, NVIDIA A10, 8.6, 23028 MiB, 550.54\n1, NVIDIA B200, 10.0, 183359 MiB, 550.54\n", "", 0);
	assert_int_equal(gpus.count, 2);
	assert_int_equal(gpus.at[0].arch.number, 86);
	assert_int_equal(gpus.at[1].arch.number, 100);
	assert_int_equal(gpus.at[1].index, 1);
	assert_int_equal(gpus.user_count, 0);
}

WS_TEST(unknown_values_are_left_open)
{
	struct ws_gpus gpus = list(a, "0, Odd, with, commas, 7.5, [N/A], 470.1\n",
		"7, [Not Found], [N/A]\n8, /a, b, 12 MiB\n", 0);
	assert_int_equal(gpus.count, 1);
	assert_string_equal(gpus.at[0].name, "Odd, with, commas");
	assert_true(gpus.at[0].memory_bytes == 0);
	assert_int_equal(gpus.user_count, 2);
	assert_string_equal(gpus.users[0].name, "[Not Found]");
	assert_true(gpus.users[0].memory_bytes == 0);
	assert_string_equal(gpus.users[1].name, "/a, b");
}

WS_TEST(without_the_program_no_device_is_reported)
{
	struct ws_gpus gpus;
	list_gpus("/nowhere", "/nowhere/bin:relative::", a, &gpus);
	assert_null(gpus.program);
	assert_int_equal(gpus.count, 0);
	assert_contains(gpus.why_none, "no nvidia-smi");
	list_gpus("/nowhere", NULL, a, &gpus);
	assert_contains(gpus.why_none, "no nvidia-smi");
}

/* As the kernel modules of 535 (closed) and 580 (open) write them. */
WS_TEST(without_the_program_the_driver_s_files_are_read)
{
	const char *root = ws_test_dir(a);
	struct ws_gpus gpus;
	ws_test_file(a, root, "proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
		"GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
		0644);
	list_gpus(root, NULL, a, &gpus);
	assert_string_equal(gpus.driver, "535.104.05");
	assert_int_equal(gpus.seen_count, 0);
	assert_contains(gpus.why_none, "driver 535.104.05 lists 0 devices");
	ws_test_file(a, root, "proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n",
		0644);
	ws_test_file(a, root, "proc/driver/nvidia/gpus/0000:65:00.0/information",
		"Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 79\nGPU UUID: \t GPU-0\n", 0644);
	ws_test_file(a, root, "proc/driver/nvidia/gpus/0000:66:00.0/registry", "Binary: \"\"\n", 0644);
	list_gpus(root, NULL, a, &gpus);
	assert_string_equal(gpus.driver, "580.95.05");
	assert_int_equal(gpus.seen_count, 1);
	assert_string_equal(gpus.seen[0], "NVIDIA H100 80GB HBM3");
	assert_int_equal(gpus.count, 0);
	assert_contains(gpus.why_none, "lists 1 device");
}

WS_TEST(it_is_found_below_usr_bin)
{
	const char *root = ws_test_dir(a);
	const char *bin = ws_path_join(a, root, "usr/bin", NULL);
	const char *made = make_smi(a, "0, NVIDIA L4, 8.9, 23034 MiB, 555\n", "", 0);
	struct ws_err err;
	assert_ok(ws_fs_mkdirs(bin, &err), err);
	assert_ok(ws_fs_copy(ws_path_join(a, made, "nvidia-smi", NULL),
				  ws_path_join(a, bin, "nvidia-smi", NULL), 0755, &err),
		err);
	struct ws_gpus gpus;
	list_gpus(root, "/nowhere", a, &gpus);
	assert_int_equal(gpus.count, 1);
	assert_int_equal(gpus.at[0].arch.number, 89);
}

WS_TEST(a_driver_that_fails_is_quoted)
{
	struct ws_gpus gpus = list(a,
		"\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", "", 9);
	assert_int_equal(gpus.count, 0);
	assert_contains(gpus.why_none, "exited with 9: NVIDIA-SMI has failed");
	gpus = list(a, "Field \"compute_cap\" is not a valid field to query.\n", "", 2);
	assert_contains(gpus.why_none, "exited with 2: Field \"compute_cap\" is not a valid");
	gpus = list(a, "", "", 9);
	assert_contains(gpus.why_none, "exited with 9");
	gpus = list(a, "No devices were found\n", "", 0);
	assert_contains(gpus.why_none, "said: No devices were found");
	gpus = list(a, "", "", 0);
	assert_contains(gpus.why_none, "lists none");
}

WS_TEST(hostile_output_harms_nothing)
{
	const char *const lines[] = {"\n", ",\n", ",,,,\n", "0\n", "0,,,,\n", "-1, x, 9.0, 1 MiB, d\n",
		"0, x, 9, 1 MiB, d\n", "0, x, 9.10, 1 MiB, d\n", "0, x, 0.0, 1 MiB, d\n",
		"0, x, 99999999999999999999.0, 1 MiB, d\n", "0, x, 9.0a, 1 MiB, d\n", "9.0, 1 MiB, d\n",
		"99999999, x, 9.0, 1 MiB, d\n", "0x0, x, 9.0, 1 MiB, d\n"};
	for (size_t i = 0; i < WS_LEN(lines); i++) {
		struct ws_gpus gpus = list(a, lines[i], lines[i], 0);
		assert_int_equal(gpus.count, 0);
		assert_non_null(gpus.why_none);
	}
	struct ws_gpus gpus = list(a, "0, \033[2Jx\377, 9.0, 99999999999 MiB, d\ne\n",
		"0, x, 1 MiB\n1, \033]0;y\007, 1 MiB\n, , \n,\n2147483648, z, 1 MiB\n", 0);
	assert_int_equal(gpus.count, 1);
	assert_string_equal(gpus.at[0].name, "?[2Jx?");
	assert_true(gpus.at[0].memory_bytes == 0);
	assert_int_equal(gpus.user_count, 1);
	assert_string_equal(gpus.users[0].name, "?]0;y?");
}

WS_TEST(a_flood_is_refused)
{
	const char *dir = ws_test_dir(a);
	static const char script[] =
		"#!/bin/sh\nyes '0, x, 9.0, 1 MiB, d' | head -c 20000000\nexit 0\n";
	struct ws_err err;
	assert_ok(
		ws_fs_write(ws_path_join(a, dir, "nvidia-smi", NULL), script, strlen(script), 0755, &err),
		err);
	struct ws_gpus gpus;
	list_gpus("/nowhere", dir, a, &gpus);
	assert_int_equal(gpus.count, 0);
	assert_contains(gpus.why_none, "printed more than 4096 KiB");
}
