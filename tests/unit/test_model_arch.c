/* test_model_arch.c - arch sets in every spelling we read and write. */
#include "test.h"

#include "model/arch.h"

static struct ws_arch_set
must_parse(const char *text, struct ws_arena *a)
{
	struct ws_arch_set set;
	const char *why = NULL;
	if (!ws_arch_set_parse(text, a, &set, &why)) {
		fail_msg("'%s': %s", text, why);
	}
	return set;
}

WS_TEST(sets_are_sorted_merged_and_written)
{
	static const struct {
		const char *text, *canonical, *name, *label;
	} sets[] = {
		{"8.6", "8.6", "sm86", "sm.86"},
		{"8.0;9.0+PTX", "8.0;9.0+PTX", "sm80+90ptx", "sm.80.90ptx"},
		{"9.0+PTX 8.0", "8.0;9.0+PTX", "sm80+90ptx", "sm.80.90ptx"},
		{"10.0;8.0;9.0", "8.0;9.0;10.0", "sm80+90+100", "sm.80.90.100"},
		{"9.0a;9.0", "9.0;9.0a", "sm90+90a", "sm.90.90a"},
		{"10.0f;10.0a;10.0", "10.0;10.0a;10.0f", "sm100+100a+100f", "sm.100.100a.100f"},
		{"9.0a+PTX", "9.0a+PTX", "sm90aptx", "sm.90aptx"},
		{"8.0;8.0", "8.0", "sm80", "sm.80"},
		{"8.0+PTX;8.0", "8.0+PTX", "sm80ptx", "sm.80ptx"},
		{"12.1", "12.1", "sm121", "sm.121"},
	};
	for (size_t i = 0; i < WS_LEN(sets); i++) {
		struct ws_arch_set set = must_parse(sets[i].text, a);
		assert_string_equal(ws_arch_set_text(&set, a), sets[i].canonical);
		assert_string_equal(ws_arch_set_name(&set, a), sets[i].name);
		assert_string_equal(ws_arch_set_label(&set, a), sets[i].label);
		struct ws_arch_set again = must_parse(sets[i].canonical, a);
		assert_true(ws_arch_set_eq(&set, &again));
	}
}

WS_TEST(a_word_that_torch_refuses_gives_the_right_spelling)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"8.0,9.0", "write \"8.0;9.0\""},
		{"8.0;", "write \"8.0\""},
		{";8.0", "write \"8.0\""},
		{"8.0; 9.0", "write \"8.0;9.0\""},
		{"9.0+ptx", "write \"9.0+PTX\""},
		{"90", "write \"9.0\""},
		{"sm_90a", "write \"9.0a\""},
		{"compute_120;sm80", "write \"8.0;12.0\""},
		{"9.0A", "write \"9.0a\""},
		{"", "no architecture is named; write one like \"8.6\" or \"8.0;9.0+PTX\""},
		{" ; ", "no architecture is named; write one like \"8.6\" or \"8.0;9.0+PTX\""},
		{"hopper",
			"'hopper' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"8.0;All",
			"'All' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"8", "'8' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"0.8", "'0.8' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"8.60", "'8.60' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"100.0",
			"'100.0' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"9.0x", "'9.0x' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
		{"+PTX", "'+PTX' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\""},
	};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		struct ws_arch_set set;
		const char *why = NULL;
		if (ws_arch_set_parse(bad[i].text, a, &set, &why)) {
			fail_msg("'%s' was taken", bad[i].text);
		}
		assert_string_equal(why, bad[i].why);
	}
}

WS_TEST(sets_differ_in_any_member)
{
	static const char *const different[] = {"8.0", "9.0", "8.0;9.0", "9.0a", "9.0f", "9.0+PTX"};
	for (size_t i = 0; i < WS_LEN(different); i++) {
		for (size_t j = 0; j < WS_LEN(different); j++) {
			struct ws_arch_set x = must_parse(different[i], a);
			struct ws_arch_set y = must_parse(different[j], a);
			assert_int_equal(ws_arch_set_eq(&x, &y), i == j);
		}
	}
}

WS_TEST(flags_of_nvcc_are_in_order)
{
	struct ws_arch_set set = must_parse("10.0f;9.0a+PTX;8.0", a);
	size_t count;
	const char *const *flags = ws_arch_set_gencode(&set, a, &count);
	assert_int_equal(count, 4);
	assert_string_equal(flags[0], "-gencode=arch=compute_80,code=sm_80");
	assert_string_equal(flags[1], "-gencode=arch=compute_90a,code=sm_90a");
	assert_string_equal(flags[2], "-gencode=arch=compute_90a,code=compute_90a");
	assert_string_equal(flags[3], "-gencode=arch=compute_100f,code=sm_100f");
	assert_null(flags[4]);
}
