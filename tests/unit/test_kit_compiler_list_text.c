/* The compilers of a remote host: a written list is read again, and a malformed one is refused. */
#include "test.h"

#include "kit/hostcc/compiler_list_text.h"

#define ONE "1111111111111111111111111111111111111111111111111111111111111111"

static const char *const search[] = {"/usr/include/c++/12", "/usr/include"};
static const struct ws_host_file files[] = {{"/usr/bin/a b", ONE}};

static struct ws_compiler_list
host_with_two(struct ws_arena *a)
{
	struct ws_compiler_list host = {.glibc = "2.36"};
	struct ws_hostcc gcc = {.kind = WS_HOSTCC_GCC,
		.path = "/usr/bin/g++-12",
		.major = 12,
		.version = "12.2.0",
		.machine = "x86_64-linux-gnu",
		.fingerprint = ONE,
		.search = search,
		.search_count = WS_LEN(search),
		.libraries = search,
		.library_count = 1,
		.files = files,
		.file_count = WS_LEN(files)};
	struct ws_hostcc clang = gcc;
	gcc.c_path = "/usr/bin/gcc-12";
	gcc.c_fingerprint = ONE;
	gcc.c_search = search + 1;
	gcc.c_search_count = 1;
	clang.kind = WS_HOSTCC_CLANG;
	clang.path = "/usr/bin/clang++-14";
	clang.major = 14;
	*ws_vec_push(&host.compilers, a) = gcc;
	*ws_vec_push(&host.compilers, a) = clang;
	return host;
}

WS_TEST(a_host_is_read_as_it_was_told)
{
	WS_AUTO_BUF struct ws_buf text = {0}, again = {0};
	struct ws_compiler_list host = host_with_two(a), read;
	ws_compiler_list_write(&host, &text);
	assert_true(ws_compiler_list_read(ws_buf_str(&text), a, &read, NULL));
	assert_string_equal(read.glibc, "2.36");
	assert_int_equal(read.compilers.len, 2);
	const struct ws_hostcc *gcc = &read.compilers.at[0], *clang = &read.compilers.at[1];
	assert_int_equal(gcc->kind, WS_HOSTCC_GCC);
	assert_int_equal(gcc->major, 12);
	assert_string_equal(gcc->search[1], "/usr/include");
	assert_string_equal(gcc->files[0].path, "/usr/bin/a b");
	assert_string_equal(gcc->c_path, "/usr/bin/gcc-12");
	assert_int_equal(clang->kind, WS_HOSTCC_CLANG);
	assert_null(clang->c_path);
	assert_int_equal(clang->c_search_count, 0);
	ws_compiler_list_write(&read, &again);
	assert_int_equal(again.len, text.len);
	assert_memory_equal(again.data, text.data, text.len);
	for (size_t cut = 0; cut < text.len; cut++) { /* a compiler that is not whole is none */
		struct ws_compiler_list part;
		if (ws_compiler_list_read((struct ws_str){text.data, cut}, a, &part, NULL)) {
			for (size_t i = 0; i < part.compilers.len; i++) {
				assert_true(part.compilers.at[i].file_count > 0);
			}
		}
	}
}

/* Fields with '|' for the NUL. */
static bool
is_taken(const char *fields, struct ws_arena *a)
{
	struct ws_compiler_list host;
	struct ws_err err;
	size_t len = strlen(fields);
	char *text = ws_arena_copy(a, fields, len);
	for (size_t i = 0; i < len; i++) {
		text[i] = text[i] == '|' ? '\0' : text[i];
	}
	return ws_compiler_list_read((struct ws_str){text, len}, a, &host, &err);
}

#define HOST "wheelsmith.host/1 2.36|"
#define REST \
	"version 12.2.0|machine x86_64-linux-gnu|fingerprint " ONE "|search /usr/include|file " ONE \
	" /usr/bin/x|"

WS_TEST(a_text_of_the_wrong_form_is_refused)
{
	assert_true(is_taken(HOST, a)); /* without a compiler */
	assert_true(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST, a));
	assert_false(is_taken("", a));
	assert_false(is_taken("gcc /usr/bin/g++|major 12|" REST, a));
	assert_false(is_taken(HOST "gcc g++|major 12|" REST, a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|" REST, a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 0|" REST, a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST "file x /usr/bin/x|", a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST "file " ONE " x|", a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST "fingerprint x|", a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST "c /usr/bin/gcc|", a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST "search /a\nb|", a));
	assert_false(is_taken(HOST "gcc /usr/bin/g++|major 12|" REST "what else|", a));
	assert_false(is_taken(HOST "no_blank|", a));
	assert_false(is_taken(HOST "not ended", a));
}
