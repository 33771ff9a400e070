/* std::__throw_out_of_range_fmt(), GLIBCXX_3.4.20: what at() of a vector throws. */
#include <stdarg.h>

int vsnprintf(char *to, unsigned long size, const char *format, va_list words);
void _ZSt20__throw_out_of_rangePKc(const char *what) __attribute__((noreturn));
void _ZSt24__throw_out_of_range_fmtPKcz(const char *format, ...);

void
_ZSt24__throw_out_of_range_fmtPKcz(const char *format, ...)
{
	char what[512];
	va_list words;
	va_start(words, format);
	/* Its formats are %zu and similar integers only. */
	vsnprintf(what, sizeof(what), format, words);
	va_end(words);
	_ZSt20__throw_out_of_rangePKc(what);
}
