/* test_compile_log_says.c - what drivers say of their children, as they say it. */
#include "test.h"

#include "compile/extension_target.h"

WS_TEST(phrases_of_drivers_are_known)
{
	static const struct {
		const char *tail;
		enum ws_log_says says;
	} rows[] = {
		{"g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
			WS_LOG_SAYS_KILLED},
		{"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n", WS_LOG_SAYS_KILLED},
		{"nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n",
			WS_LOG_SAYS_CRASHED},
		{"a.cpp:1: internal compiler error: Segmentation fault\n", WS_LOG_SAYS_CRASHED},
		{"Killed\n", WS_LOG_SAYS_KILLED},
		{"x\nKilled\n", WS_LOG_SAYS_KILLED},
		{"a.cpp:1:1: error: 'Killed' was not declared\n", WS_LOG_SAYS_NOTHING},
		{"", WS_LOG_SAYS_NOTHING},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		assert_int_equal(ws_compile_log_says(rows[i].tail), rows[i].says);
	}
}
