/* test_elf_elf.c - libraries made by the host's compiler, the host's own, and broken ones. */

#include "compile.h"
#include "elf/elf.h"
#include "elf/stub.h"

#include <elf.h>

static bool
find(const struct ws_elf *elf, const char *name, struct ws_elf_symbol *symbol)
{
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, symbol);) {
		if (strcmp(symbol->name, name) == 0) {
			return true;
		}
	}
	return false;
}

WS_TEST_ERR(needed_and_exported_names_of_a_library)
{
	static const char source[] =
		"#include <stdio.h>\n"
		"__thread int slot; int value; extern int other(void); extern int maybe(void)\n"
		"__attribute__((weak)); extern __thread int wanted_slot;\n"
		"static int chosen(void) { return 1; }\n"
		"static int (*choose(void))(void) { return chosen; }\n"
		"int late(void) __attribute__((ifunc(\"choose\")));\n"
		"int work(void) { puts(\"\"); return other() + (maybe ? maybe() : 0) + wanted_slot; }\n"
		"__attribute__((weak)) int loose(void) { return 2; }\n";
	static const char *const flags[] = {
		"-Wl,-rpath,$ORIGIN/../lib", "-Wl,--enable-new-dtags", "-Wl,--no-as-needed", "-lm", NULL};
	const char *dir = ws_test_dir(a);
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, dir, "libone.so", source, flags), a, &err);
	assert_ok(elf, err);
	assert_string_equal(elf->soname, "libone.so");
	assert_string_equal(elf->runpath, "$ORIGIN/../lib");
	assert_null(elf->rpath);
	assert_true(elf->needed_count >= 2);
	assert_string_equal(elf->needed[0], "libm.so.6");
	assert_string_equal(elf->needed[1], "libc.so.6");

	struct ws_elf_symbol symbol;
	assert_true(find(elf, "slot", &symbol));
	assert_true(symbol.defined && symbol.type == WS_ELF_TLS && !symbol.version);
	assert_true(find(elf, "wanted_slot", &symbol));
	assert_true(!symbol.defined && symbol.type == WS_ELF_TLS);
	assert_true(find(elf, "value", &symbol));
	assert_true(symbol.defined && symbol.type == WS_ELF_OBJECT);
	assert_true(find(elf, "late", &symbol));
	assert_int_equal(symbol.type, WS_ELF_IFUNC);
	assert_true(find(elf, "loose", &symbol));
	assert_true(symbol.defined && symbol.binding == WS_ELF_WEAK);
	assert_true(find(elf, "maybe", &symbol));
	assert_true(!symbol.defined && symbol.binding == WS_ELF_WEAK);
	assert_true(find(elf, "puts", &symbol));
	assert_non_null(symbol.version);
	assert_string_equal(symbol.version->name, "GLIBC_2.2.5");
	assert_string_equal(symbol.version->library, "libc.so.6");
	assert_false(find(elf, "chosen", &symbol));
}

WS_TEST_ERR(unique_symbols_and_versions_of_its_own)
{
	static const char source[] = "template <class T> struct box { static int one; };\n"
								 "template <class T> int box<T>::one = 1;\n"
								 "int take() { return ++box<int>::one; }\n"
								 "extern \"C\" int first() { return 1; }\n";
	static const char map[] = "V_1 { global: *; };\n";
	const char *dir = ws_test_dir(a);
	assert_ok(ws_fs_write(ws_path_join(a, dir, "map", NULL), map, strlen(map), 0644, &err), err);
	static const char *const flags[] = {"-Wl,--version-script,map", NULL};
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, dir, "libtwo.cc.so", source, flags), a, &err);
	assert_ok(elf, err);
	struct ws_elf_symbol symbol;
	assert_true(find(elf, "_ZN3boxIiE3oneE", &symbol));
	assert_int_equal(symbol.binding, WS_ELF_UNIQUE);
	assert_true(find(elf, "first", &symbol));
	assert_non_null(symbol.version);
	assert_string_equal(symbol.version->name, "V_1");
	assert_null(symbol.version->library);
}

WS_TEST_ERR(only_a_relocation_has_a_name_looked_for)
{
	static const char source[] =
		"__asm__(\".globl idle\"); int busy(void); int f(void) { return busy(); }";
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, ws_test_dir(a), "lib6.so", source, NULL), a, &err);
	assert_ok(elf, err);
	struct ws_elf_symbol symbol;
	assert_true(find(elf, "idle", &symbol));
	assert_true(!symbol.defined && !symbol.asked);
	assert_true(find(elf, "busy", &symbol));
	assert_true(!symbol.defined && symbol.asked);
}

/* The loader reads no section header; what only those tell is then not there. */
WS_TEST_ERR(a_file_without_sections_is_the_same_library)
{
	static const char source[] =
		"__attribute__((section(\".mine\"), used)) const char s[] = \"here\";"
		"int busy(void); int f(void) { return busy(); }";
	static const char *const styles[] = {"-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv"};
	const char *dir = ws_test_dir(a);
	for (size_t i = 0; i < WS_LEN(styles); i++) {
		WS_AUTO_BUF struct ws_buf b = {0};
		const char *flags[] = {styles[i], NULL};
		const char *path = ws_test_library(a, dir, "lib7.so", source, flags);
		assert_ok(ws_fs_read(path, &b, &err), err);
		memset(b.data + 40, 0, 8);       /* e_shoff */
		memset(b.data + 58, 0, 64 - 58); /* sizes and numbers of sections */
		WS_AUTO_ELF struct ws_elf *elf = ws_elf_open_bytes("x", b.data, b.len, a, &err);
		assert_ok(elf, err);
		struct ws_elf_symbol symbol;
		assert_string_equal(elf->soname, "lib7.so");
		assert_true(find(elf, "f", &symbol) && symbol.defined);
		assert_true(find(elf, "busy", &symbol) && symbol.asked);
		assert_null(ws_elf_section(elf, ".mine").s);
	}
}

WS_TEST_ERR(a_section_that_no_segment_has_there_is_a_decoy)
{
	static const char source[] =
		"__attribute__((section(\".mine\"), used)) const char s[] = \"here\";";
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *path = ws_test_library(a, ws_test_dir(a), "lib8.so", source, NULL);
	assert_ok(ws_fs_read(path, &b, &err), err);
	for (size_t at = 0; at + 8 < b.len; at++) {
		Elf64_Shdr *section = (Elf64_Shdr *)(void *)(b.data + at);
		bool aligned = at % 8 == 0 && at + sizeof(*section) <= b.len;
		if (aligned && section->sh_size == 5 && section->sh_type == SHT_PROGBITS) {
			section->sh_offset -= 1;
		}
	}
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open_bytes("x", b.data, b.len, a, &err);
	assert_ok(elf, err);
	assert_null(ws_elf_section(elf, ".mine").s);
}

WS_TEST_ERR(symbols_that_the_loader_only_counts_are_reported)
{
	const char *dir = ws_test_dir(a);
	static const char *const executable[] = {"-Wl,-z,execstack", NULL};
	WS_AUTO_ELF struct ws_elf *plain =
		ws_elf_open(ws_test_library(a, dir, "lib9.so", "int x;", NULL), a, &err);
	assert_ok(plain, err);
	assert_false(plain->exec_stack || plain->relr || plain->static_tls);
	WS_AUTO_ELF struct ws_elf *stack =
		ws_elf_open(ws_test_library(a, dir, "lib10.so", "int x;", executable), a, &err);
	assert_ok(stack, err);
	assert_true(stack->exec_stack);
	static const char *const fixed[] = {"-ftls-model=initial-exec", NULL};
	WS_AUTO_ELF struct ws_elf *tls =
		ws_elf_open(ws_test_library(a, dir, "lib11.so",
						"static __thread int x; int *f(void) { return &x; }", fixed),
			a, &err);
	assert_ok(tls, err);
	assert_true(tls->static_tls && tls->tls_bytes == 4);
}

WS_TEST_ERR(a_fifo_is_not_waited_for)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "pipe.so", NULL);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_fails(ws_elf_open(path, a, &err), err, WS_ERR_FETCH);
}

WS_TEST_ERR(sections_are_borrowed_bytes)
{
	static const char source[] =
		"__attribute__((section(\".mine\"), used)) const char s[] = \"here\";"
		"int zeros[1000];";
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open(ws_test_library(a, ws_test_dir(a), "lib3.so", source, NULL), a, &err);
	assert_ok(elf, err);
	struct ws_str mine = ws_elf_section(elf, ".mine");
	assert_int_equal(mine.n, 5);
	assert_memory_equal(mine.s, "here", 5);
	assert_null(ws_elf_section(elf, ".bss").s);
	assert_null(ws_elf_section(elf, ".nothing").s);
}

WS_TEST_ERR(an_executable_can_be_read_too)
{
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open("/proc/self/exe", a, &err);
	assert_ok(elf, err);
	assert_null(elf->soname);
	assert_true(elf->needed_count > 1);
	assert_string_equal(ws_elf_library_name(elf), "exe");
}

WS_TEST_ERR(a_file_that_is_not_a_library_for_a_supported_machine_is_refused)
{
	const char *dir = ws_test_dir(a);
	assert_fails(ws_elf_open("/nonexistent/x.so", a, &err), err, WS_ERR_IO);
	assert_fails(ws_elf_open(dir, a, &err), err, WS_ERR_FETCH);
	const char *fifo = ws_path_join(a, dir, "fifo.so", NULL);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_fails(ws_elf_open(fifo, a, &err), err, WS_ERR_FETCH);
	static const char text[100] = "not an elf file";
	assert_fails(ws_elf_open_bytes("x", text, sizeof(text), a, &err), err, WS_ERR_FETCH);
	assert_fails(ws_elf_open_bytes("x", text, 3, a, &err), err, WS_ERR_FETCH);

	WS_AUTO_BUF struct ws_buf b = {0};
	const char *path = ws_test_library(a, dir, "lib4.so", "int x;", NULL);
	assert_ok(ws_fs_read(path, &b, &err), err);
	b.data[18] = 21; /* e_machine: PowerPC */
	assert_fails(ws_elf_open_bytes("x", b.data, b.len, a, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "machine 21");
	b.data[18] = 62;
	b.data[16] = 1; /* e_type: an object file */
	assert_fails(ws_elf_open_bytes("x", b.data, b.len, a, &err), err, WS_ERR_FETCH);
	b.data[16] = 3;
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open_bytes("x", b.data, b.len, a, &err);
	assert_ok(elf, err);
}

WS_TEST_ERR(a_thousand_needed_libraries_are_refused)
{
	/* Work for each pair of libraries must not be done for millions of pairs. */
	const char *dir = ws_test_dir(a);
	WS_AUTO_BUF struct ws_buf names = {0};
	for (unsigned i = 0; i < 1100; i++) {
		WS_AUTO_BUF struct ws_buf stub = {0};
		const char *name = ws_arena_printf(a, "lib%u.so", i);
		assert_ok(ws_elf_stub(&(struct ws_stub){.soname = name}, &stub, &err), err);
		const char *path = ws_path_join(a, dir, name, NULL);
		assert_ok(ws_fs_write(path, stub.data, stub.len, 0644, &err), err);
		ws_buf_printf(&names, "%s\n", name);
	}
	const char *list = ws_path_join(a, dir, "list", NULL);
	assert_ok(ws_fs_write(list, names.data, names.len, 0644, &err), err);
	static const char *const flags[] = {"-Wl,--no-as-needed", "@list", NULL};
	const char *path = ws_test_library(a, dir, "all.so", "int x;", flags);
	assert_fails(ws_elf_open(path, a, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "more than 1024 libraries");
}

/* Every byte of the headers and tables of a small library, changed in four ways: anything may be
 * said about the file but nothing outside of it may be read (the sanitizers watch). */
WS_TEST_ERR(damage_is_survived)
{
	const char *path = ws_test_library(
		a, ws_test_dir(a), "lib5.so", "#include <stdio.h>\nvoid f(void) { puts(\"\"); }", NULL);
	WS_AUTO_BUF struct ws_buf b = {0};
	assert_ok(ws_fs_read(path, &b, &err), err);
	size_t opened = 0;
	for (size_t i = 0; i < b.len; i++) {
		if (i > 0x600 && i < b.len - 0x800) {
			continue;
		}
		static const unsigned char flips[] = {0xff, 0x80, 0x01, 0x10};
		for (size_t f = 0; f < WS_LEN(flips); f++) {
			WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
			b.data[i] = (char)(b.data[i] ^ flips[f]);
			WS_AUTO_ELF struct ws_elf *elf = ws_elf_open_bytes("x", b.data, b.len, scratch, &err);
			struct ws_elf_symbol symbol;
			for (size_t at = 0; elf && ws_elf_next_symbol(elf, &at, &symbol);) {
				opened += strlen(symbol.name) > 0;
			}
			if (elf) {
				ws_elf_section(elf, ".text");
			}
			b.data[i] = (char)(b.data[i] ^ flips[f]);
		}
	}
	assert_true(opened > 1000);
	for (size_t len = 0; len < b.len; len += 37) {
		WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
		/* A copy, so that reading past the end is seen. */
		WS_AUTO_FREE char *cut = malloc(len + 1);
		memcpy(cut, b.data, len);
		WS_AUTO_ELF struct ws_elf *elf = ws_elf_open_bytes("x", cut, len, scratch, &err);
		assert_true(elf == NULL || len > 64);
	}
}
