/* The name under which <stdio.h> of glibc 2.38 calls vsscanf. */
#include <stdarg.h>

int vsscanf(const char *text, const char *format, va_list words);
int __isoc23_vsscanf(const char *text, const char *format, va_list words);

int
__isoc23_vsscanf(const char *text, const char *format, va_list words)
{
	return vsscanf(text, format, words);
}
