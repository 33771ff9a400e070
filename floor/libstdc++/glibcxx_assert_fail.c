/* std::__glibcxx_assert_fail(), GLIBCXX_3.4.30: -D_GLIBCXX_ASSERTIONS in g++ 12. */
extern void *stderr;
int fprintf(void *file, const char *format, ...);
void abort(void) __attribute__((noreturn));
void _ZSt21__glibcxx_assert_failPKciS0_S0_(
	const char *file, int line, const char *function, const char *condition);

void
_ZSt21__glibcxx_assert_failPKciS0_S0_(
	const char *file, int line, const char *function, const char *condition)
{
	if (file && function && condition) {
		fprintf(stderr, "%s:%d: %s: Assertion '%s' failed.\n", file, line, function, condition);
	}
	abort();
}
