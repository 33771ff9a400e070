/* test_elf_stub.c - stubs are what three linkers take, and their bytes never change. */

#include "base/crypto.h"
#include "compile.h"
#include "elf/elf.h"
#include "elf/stub.h"

#include <dlfcn.h>

/* The names that torch's own BuildExtension links, in its order; file name and SONAME. */
static const char *const libraries[][2] = {
	{"libc10.so", "libc10.so"},
	{"libtorch.so", "libtorch.so"},
	{"libtorch_cpu.so", "libtorch_cpu.so"},
	{"libtorch_python.so", "libtorch_python.so"},
	{"libcudart.so", "libcudart.so.12"},
	{"libc10_cuda.so", "libc10_cuda.so"},
	{"libtorch_cuda.so", "libtorch_cuda.so"},
};

static void
write_stubs(const char *dir, struct ws_arena *a)
{
	struct ws_err err = {0};
	for (size_t i = 0; i < WS_LEN(libraries); i++) {
		WS_AUTO_BUF struct ws_buf b = {0};
		assert_ok(ws_elf_stub(&(struct ws_stub){.soname = libraries[i][1]}, &b, &err), err);
		assert_ok(
			ws_fs_write(ws_path_join(a, dir, libraries[i][0], NULL), b.data, b.len, 0644, &err),
			err);
	}
}

static void
link_with(const char *linker, struct ws_arena *a)
{
	if (!ws_fs_exists(ws_arena_printf(a, "/usr/bin/ld.%s", linker))) {
		if (getenv("WS_CI")) {
			fail_msg("this test cannot run: no ld.%s", linker);
		}
		skip();
	}
	const char *dir = ws_test_dir(a);
	write_stubs(dir, a);
	const char *flags[] = {"-Wl,--no-as-needed", "-L.", "-lc10", "-ltorch", "-ltorch_cpu",
		"-ltorch_python", "-lcudart", "-lc10_cuda", "-ltorch_cuda",
		ws_arena_printf(a, "-fuse-ld=%s", linker), NULL};
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(
		ws_test_library(a, dir, "m.cc.so", "int wanted(); int f() { return wanted(); }", flags), a,
		&err);
	assert_ok(elf, err);
	assert_true(elf->needed_count >= WS_LEN(libraries));
	for (size_t i = 0; i < WS_LEN(libraries); i++) {
		assert_string_equal(elf->needed[i], libraries[i][1]);
	}
}

WS_TEST(gnu_ld_records_the_names_in_order)
{
	link_with("bfd", a);
}

WS_TEST(gold_records_the_names_in_order)
{
	link_with("gold", a);
}

WS_TEST(lld_records_the_names_in_order)
{
	link_with("lld", a);
}

WS_TEST(the_bytes_are_pinned)
{
	/* They are inputs of link keys: a new digest here means that every link runs again. */
	static const char *const digests[][2] = {
		{"libc10.so", "564ff2baac2f24056d801e57022a368f1789c4bdff8abab74d6536e6f990b888"},
		{"libcudart.so.12", "35cc4ec5936b35422a56d3faacf3841ea6fba195dce818468c2d85e119d4a281"},
	};
	for (size_t i = 0; i < WS_LEN(digests); i++) {
		struct ws_err err = {0};
		WS_AUTO_BUF struct ws_buf b = {0};
		ws_buf_puts(&b, "before");
		assert_ok(ws_elf_stub(&(struct ws_stub){.soname = digests[i][0]}, &b, &err), err);
		struct ws_digest digest = ws_digest_bytes(b.data + 6, b.len - 6);
		assert_string_equal(digest.hex, digests[i][1]);
	}
}

WS_TEST(readelf_and_the_loader_take_a_stub)
{
	const char *dir = ws_test_dir(a);
	write_stubs(dir, a);
	const char *path = ws_path_join(a, dir, "libc10.so", NULL);
	const char *const argv[] = {"readelf", "-a", "-W", "--lint", path, NULL};
	const char *text = ws_test_run(a, argv, dir);
	assert_contains(text, "Library soname: [libc10.so]");
	assert_null(strstr(text, "arning"));
	assert_null(strstr(text, "rror"));
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fail_msg("%s", dlerror());
	}
	dlclose(handle);
}

/* An older libc: memcpy has its first version, an object has a size, and __libc_single_threaded is
 * not there. */
static const struct ws_stub_symbol older[] = {
	{.name = "memcpy", .version = "GLIBC_2.2.5"},
	{.name = "environ", .version = "GLIBC_2.2.5", .size = 8},
	{.name = "secure_getenv", .version = "GLIBC_2.17"},
	{.name = "counter", .version = "GLIBC_2.17", .size = 4, .tls = true},
};

WS_TEST_ERR(a_link_takes_the_versions_of_a_stub)
{
	const char *dir = ws_test_dir(a);
	struct ws_stub stub = {.soname = "libc.so.6"};
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < WS_LEN(older); i++) {
		*ws_vec_push(&stub.symbols, a) = older[i];
	}
	assert_ok(ws_elf_stub(&stub, &b, &err), err);
	assert_ok(ws_fs_write(ws_path_join(a, dir, "libc.so", NULL), b.data, b.len, 0644, &err), err);
	const char *const lint[] = {"readelf", "-a", "-W", "--lint", "libc.so", NULL};
	assert_null(strstr(ws_test_run(a, lint, dir), "arning"));
	static const char *const linkers[] = {"bfd", "gold", "lld"};
	for (size_t i = 0; i < WS_LEN(linkers); i++) {
		const char *name = ws_arena_printf(a, "m-%s.cc.so", linkers[i]);
		const char *flags[] = {"-fno-builtin", "-L.", "-nodefaultlibs", "-lc",
			ws_arena_printf(a, "-fuse-ld=%s", linkers[i]), NULL};
		const char *made = ws_test_library(a, dir, name,
			"extern \"C\" { extern char **environ; extern __thread int counter; int memcpy();"
			"int secure_getenv(); extern char __libc_single_threaded; }"
			"char f() { return memcpy() + secure_getenv() + (environ != 0) + counter"
			"+ __libc_single_threaded; }",
			flags);
		const char *const argv[] = {"readelf", "-W", "--dyn-syms", made, NULL};
		const char *text = ws_test_run(a, argv, dir);
		assert_contains(text, "memcpy@GLIBC_2.2.5");
		assert_contains(text, "environ@GLIBC_2.2.5");
		assert_contains(text, "secure_getenv@GLIBC_2.17");
		assert_contains(text, "counter@GLIBC_2.17");
		assert_null(strstr(text, "__libc_single_threaded@"));
	}
}

WS_TEST_ERR(a_stub_for_another_machine_says_so)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_stub stub = {.soname = "libc10.so", .machine = 183};
	assert_ok(ws_elf_stub(&stub, &b, &err), err);
	assert_string_equal(ws_machine_of(b.data, b.len, a), "aarch64");
}

WS_TEST_ERR(names_that_are_none_are_refused)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	assert_fails(ws_elf_stub(&(struct ws_stub){.soname = ""}, &b, &err), err, WS_ERR_INTERNAL);
	assert_fails(ws_elf_stub(&(struct ws_stub){.soname = "a/b"}, &b, &err), err, WS_ERR_INTERNAL);
	char longer[300] = {0};
	memset(longer, 'x', 299);
	assert_fails(ws_elf_stub(&(struct ws_stub){.soname = longer}, &b, &err), err, WS_ERR_INTERNAL);
	assert_int_equal(b.len, 0);
}
