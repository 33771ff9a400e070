/* The flags that are dropped from a recipe, and the flags that nvcc gets. */
#include "test.h"

#include "base/arena.h"
#include "base/text.h"
#include "compile/extension_target.h"

static const char *
dropped(const char *text, struct ws_size_options size, struct ws_arena *a)
{
	ws_name_list words = {0};
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		*ws_vec_push(&words, a) = ws_str_copy(ws_str_cut(&rest, ' '), a);
	}
	ws_size_flags_drop(&words, &size);
	const char *left = "";
	for (size_t i = 0; i < words.len; i++) {
		left = ws_arena_printf(a, "%s%s%s", left, i ? " " : "", words.at[i]);
	}
	return left;
}

WS_TEST(debug_info_is_asked_for)
{
	static const char words[] = "-O3 -g -lineinfo -Xcompiler -g --ptxas-options=-v -Xptxas -v "
								"--ptxas-options=-v,-O2 -Xcompiler -fno-x -gencode arch=a,code=b";
	assert_string_equal(dropped(words, (struct ws_size_options){.debug_info = WS_DEBUG_NONE}, a),
		"-O3 --ptxas-options=-v,-O2 -Xcompiler -fno-x -gencode arch=a,code=b");
	assert_string_equal(dropped(words, (struct ws_size_options){.debug_info = WS_DEBUG_LINES}, a),
		"-O3 -lineinfo --ptxas-options=-v -Xptxas -v --ptxas-options=-v,-O2 -Xcompiler -fno-x "
		"-gencode arch=a,code=b");
	assert_string_equal(
		dropped(words, (struct ws_size_options){.debug_info = WS_DEBUG_FULL}, a), words);
}

WS_TEST(how_to_compress_is_never_the_recipes_word)
{
	static const char words[] = "--compress-mode=size -compress-mode=balance --compress-mode speed "
								"-Xfatbin -compress-all -Xfatbin=--compress-all --no-compress -O3";
	for (int info = WS_DEBUG_NONE; info <= (int)WS_DEBUG_FULL; info++) {
		struct ws_size_options size = {.debug_info = (enum ws_debug_info)info};
		assert_string_equal(dropped(words, size, a), "-O3");
	}
	/* Other words for fatbinary stay. */
	assert_string_equal(
		dropped("-Xfatbin -cuda", (struct ws_size_options){0}, a), "-Xfatbin -cuda");
	assert_string_equal(dropped("-Xfatbin", (struct ws_size_options){0}, a), "-Xfatbin");
}

WS_TEST(nvcc_gets_the_flags_that_its_toolkit_supports)
{
	static const struct {
		struct ws_size_options size;
		const char *words;
	} cases[] = {
		{{.compress = WS_COMPRESS_NONE}, ""},
		{{.compress = WS_COMPRESS_ALL}, "-Xfatbin -compress-all "},
		{{.compress = WS_COMPRESS_SIZE}, "--compress-mode=size "},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		ws_name_list words = {0};
		const char *reported = "";
		ws_size_flags_add_nvcc(&words, &cases[i].size, a);
		for (size_t k = 0; k < words.len; k++) {
			reported = ws_arena_printf(a, "%s%s ", reported, words.at[k]);
		}
		assert_string_equal(reported, cases[i].words);
	}
}
