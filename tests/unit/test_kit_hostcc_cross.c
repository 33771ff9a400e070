/* test_kit_hostcc_cross.c - compilers for another machine, by a script that answers as one does and
 * the real one. */
#include "test.h"

#include "base/fs.h"
#include "kit/hostcc/hostcc.h"

static void
put(struct ws_arena *a, const char *folder, const char *name, const char *machine)
{
	struct ws_err err;
	const char *path = ws_path_join(a, folder, name, NULL);
	const char *text = ws_arena_printf(
		a, "#!/bin/sh\necho 'Target: %s'\necho 'gcc version 12.2.0 (x)'\n", machine);
	assert_ok(ws_fs_write(path, text, strlen(text), 0755, &err), err);
}

WS_TEST(compilers_for_a_different_machine_are_listed_apart)
{
	const char *folder = ws_test_dir(a);
	ws_hostcc_list own = {0}, cross = {0};
	put(a, folder, "aarch64-linux-gnu-g++-12", "aarch64-linux-gnu");
	put(a, folder, "aarch64-linux-gnu-gcc-12", "aarch64-linux-gnu");
	put(a, folder, "riscv64-linux-gnu-g++-12", "riscv64-linux-gnu");
	ws_hostcc_list_all(NULL, "/nowhere", folder, NULL, a, &own);
	ws_hostcc_list_cross(NULL, "/nowhere", folder, a, &cross);
	assert_int_equal(own.len, 0);
	assert_int_equal(cross.len, 1);
	assert_string_equal(ws_path_base(cross.at[0].path), "aarch64-linux-gnu-g++-12");
	assert_ptr_equal(ws_hostcc_machine(&cross.at[0]), ws_machine_named("aarch64"));
}

WS_TEST(the_machine_is_the_first_part_of_a_compiler_s_target)
{
	struct ws_hostcc cc = {.machine = "x86_64-pc-linux-gnu"};
	assert_string_equal(ws_hostcc_machine(&cc)->name, "x86_64");
	cc.machine = "aarch64-conda-linux-gnu";
	assert_string_equal(ws_hostcc_machine(&cc)->name, "aarch64");
	cc.machine = "riscv64-linux-gnu";
	assert_null(ws_hostcc_machine(&cc));
	cc.machine = "an-architecture-of-a-very-long-name";
	assert_null(ws_hostcc_machine(&cc));
}
