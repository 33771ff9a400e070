/* The name under which <stdio.h> of glibc 2.38 calls sscanf. */
#include <stdarg.h>

int vsscanf(const char *text, const char *format, va_list words);
int __isoc23_sscanf(const char *text, const char *format, ...);

int
__isoc23_sscanf(const char *text, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	int count = vsscanf(text, format, words);
	va_end(words);
	return count;
}
